"""The labs' training times on one core, and the results.

An induction head must appear from every start, with two layers only; and a small Transformer must learn the story.
"""

from __future__ import annotations

import statistics
import time

import pytest
import torch

from attention.core.messages import messages
from attention.page.labs.train_one import LEAST
from attention.training.induction import train
from attention.training.induction_results import JOB, N_STARTS, PLACES, STEPS
from attention.training.writing import train as train_on
from attention.training.writing_results import DEPTHS, bundled
from attention.training.writing_results import JOB as WRITING

UPPER, SINGLE = PLACES.index((0, 1)), PLACES.index((1, 0))
# The accuracy on second halves with two layers, and with one.
RIGHT, WRONG = 0.9, 0.5


@pytest.fixture
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _is_well(last):
    """The second layer has an induction head and uses it; one layer has none, and does no better than chance."""
    two, one = last.hits
    return last.scores[UPPER].max() > LEAST > last.scores[SINGLE].max() and two >= RIGHT and one <= WRONG


@pytest.mark.usefixtures("_one_thread")
def test_an_induction_head_appears_from_every_start(report):
    lasts, times = [], []
    for seed in range(1, N_STARTS + 1):
        start = time.perf_counter()
        *_, last = train(seed)
        times.append(time.perf_counter() - start)
        lasts.append(last)
    n_failed = sum(not _is_well(last) for last in lasts)
    what = f"starts of {N_STARTS} from which two layers do not learn to look back, or one does"
    report.compare("Training", what, n_failed, 0, "")
    report.compare("Training", "the longest training, of both networks", max(times), JOB.most_seconds / 2, " s")
    report.add("Training", "  the median of all", f"{statistics.median(times):.0f} s")
    report.add(
        "Training", "  right in second halves, two layers, at least", f"{min(last.hits[0] for last in lasts):.1%}"
    )
    report.add("Training", "  right in second halves, one layer, at most", f"{max(last.hits[1] for last in lasts):.1%}")
    report.add(
        "Training", "  prefix matching, two layers, at least", f"{min(last.scores[UPPER].max() for last in lasts):.2f}"
    )
    report.add(
        "Training", "  prefix matching, one layer, at most", f"{max(last.scores[SINGLE].max() for last in lasts):.2f}"
    )
    assert n_failed == 0


@pytest.mark.usefixtures("_one_thread")
def test_how_far_smaller_weights_get(report):
    *_, last = train(1, spread=0.02)
    report.add("Training", "projections that begin at 0.02: right in second halves, two layers", f"{last.hits[0]:.1%}")
    assert last.step == STEPS


@pytest.mark.usefixtures("_one_thread")
@pytest.mark.parametrize("n_layers", DEPTHS)
def test_the_story_is_learnt_in_time(report, n_layers):
    start = time.perf_counter()
    found = list(train_on(bundled(), n_layers))
    took = time.perf_counter() - start
    best = min(float(each.losses[1]) for each in found)
    what = messages("{n} layer", "{n} layers", n_layers)
    report.compare("Training", f"the story, {what}", took, WRITING.most_seconds, " s")
    report.compare("Training", "  loss held out, at its best, in nats", best, round(found[0].unigram, 2), "", digits=2)
    report.add("Training", "  loss on what is learnt from, at the end", f"{found[-1].losses[0]:.2f}")
    assert best < found[0].unigram
