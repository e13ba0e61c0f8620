"""*Train one and watch*: displays of a training against its numbers, and a model's score against plain loops."""

import re
from datetime import UTC, datetime

import numpy as np
import pytest

from attention.lesson.head_context import HeadContext
from attention.measures.induction import scores_of
from attention.page.blocks import Picture, Setting, Table, Work
from attention.page.labs.train_one import LAB
from attention.training.induction_results import EXAMPLE, HALF, JOB, N_HEADS, N_TOKENS, PLACES, SYLLABLES
from attention.training.jobs import Run
from tests.drawn import current, traces
from tests.fresh import OfJob
from tests.loaded import load
from tests.unit.labs.seen import one, prose
from tests.unit.labs.seen import shown as lab_shown
from tests.unit.saying import says

TWICE = "Four grey geese cross, four grey geese rest"
BEGAN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


class Runs(OfJob):
    def __init__(self, trace=None, **status):
        super().__init__(JOB, **status)
        self.trace = trace

    def prefix_matching(self):
        return scores_of(self.trace)


def frames(n, best=0.9):
    numbers, n_tokens = np.random.default_rng(0), len(EXAMPLE)
    for index in range(n):
        weights = np.tril(numbers.random((len(PLACES), N_HEADS, n_tokens, n_tokens))).astype(np.float32)
        scores = 0.3 * numbers.random((len(PLACES), N_HEADS)).astype(np.float32)
        scores[1, 2] = best * index / (n - 1)
        yield {
            "share": np.float64(index / (n - 1)),
            "step": np.int64(25 * index),
            "losses": (4 * numbers.random((2, 2))).astype(np.float32),
            "hits": numbers.random(2).astype(np.float32),
            "scores": scores,
            "weights": weights / weights.sum(axis=-1, keepdims=True),
        }


def run(n=5, ending="done", **more):
    return Run(("--seed", "3"), "", BEGAN, tuple(frames(n, **more)), ending, 21.4)


def shown(runs, scene=None, **knobs):
    return lab_shown(LAB, scene, runs, **knobs)


def test_before_any_training_the_page_invites_to_one():
    blocks = shown(Runs(), start=6)
    work = one(blocks, Work, "train")
    assert (work.label, work.arguments, work.share, work.is_off) == ("Train", ("--seed", "7"), None, False)
    assert "Nothing" in work.told
    assert [block.key for block in blocks if isinstance(block, Picture)] == ["sequence", "untrained"]


@pytest.mark.parametrize("knobs", [{}, {"checkpoint": 3}, {"watched": 6}])
def test_before_the_answer_the_heads_are_those_that_have_learnt_nothing(knobs):
    last = run()
    blocks = shown(Runs(last=last), is_answered=False, **knobs)
    first = last.frames[0]["weights"]
    assert len(one(blocks, Setting, "checkpoint").options) == 1
    thumbs = one(blocks, Picture, "trained_heads").figure.heads
    for thumb, weights in zip(thumbs, first.reshape(-1, *first.shape[2:]), strict=True):
        np.testing.assert_array_equal(np.tril(thumb.weights), np.tril(weights))
    drawn = one(blocks, Picture, "trained_weights").figure.values
    assert any(np.array_equal(drawn, weights) for weights in first.reshape(-1, *first.shape[2:]))
    assert not [block for block in blocks if isinstance(block, Table)]
    assert not re.search(r"\d\.\d", prose(blocks))


def test_while_it_goes_on_the_newest_checkpoint_is_shown_and_whoever_started_it_can_stop_it():
    going = run(4, ending="")
    for is_own in (True, False):
        blocks = shown(Runs(now=going, last=run(), is_own=is_own))
        work = one(blocks, Work, "train")
        assert (work.share, work.is_off, bool(work.stops)) == (1.0, False, is_own)
        assert "step 75 of" in work.told
        assert one(blocks, Setting, "checkpoint").value == 3


@pytest.mark.parametrize(
    ("status", "told", "stops"),
    [
        ({"is_busy": True}, "Something else", False),
        ({"is_busy": True, "n_waiting": 1}, "1 visitor is waiting", False),
        ({"is_busy": True, "n_waiting": 3, "place": 2}, "number 2 of 3", True),
        ({"now": run(4, ending=""), "n_waiting": 2}, "2 visitors are waiting", False),
        # Who waits behind somebody else's training leaves the queue: the training goes on.
        ({"now": run(4, ending=""), "n_waiting": 1, "place": 1}, "number 1 of 1", True),
    ],
)
def test_while_something_goes_on_one_can_wait_and_the_length_of_the_queue_is_told(status, told, stops):
    work = one(shown(Runs(**status)), Work, "train")
    assert told in work.told
    assert not work.is_off
    assert bool(work.stops) == stops


@pytest.mark.parametrize(
    ("ending", "told"),
    [("done", "in 21 s"), ("stopped", "stopped after 21 s"), ("late", "time ran out"), ("failed", "failed")],
)
def test_the_last_training_is_shown_with_its_date_and_how_it_ended(ending, told):
    work = one(shown(Runs(last=run(ending=ending))), Work, "train")
    assert told in work.told
    assert f"{BEGAN.astimezone():%Y-%m-%d %H:%M}" in work.told
    assert work.label == "Train again"


@pytest.mark.parametrize("at", [None, 0, 2, 40])
def test_what_is_said_of_a_checkpoint_is_what_was_measured_there(at):
    last = run()
    blocks = shown(Runs(last=last), checkpoint=at)
    here = last.frames[-1 if at is None else min(at, 4)]
    told = prose(blocks)
    assert f"After {int(here['step'])} steps" in told
    (loss, loss_one), (hits, hits_one) = here["losses"][:, 1], here["hits"]
    assert says(told, f"{loss:.2f}", f"{loss_one:.2f}")
    assert says(told, f"{np.log(N_TOKENS):.2f}")
    assert says(told, f"{hits:.0%}", f"{hits_one:.0%}")
    score = here["scores"][1].max()
    if score > 0.5:
        assert says(told, "3", f"{score:.2f}")
        before = max(np.diagonal(here["weights"][0], -1, axis1=1, axis2=2).mean(axis=-1))
        assert says(told, f"{before:.2f}")
    else:
        assert f"the best is {score:.2f}" in told
    assert f"{here['scores'][2].max():.2f}" in told


@pytest.mark.parametrize("watched", [None, 0, 5, 11])
def test_the_head_that_is_watched_is_drawn(watched):
    last = run()
    blocks = shown(Runs(last=last), watched=watched)
    index = 6 if watched is None else watched
    drawn = one(blocks, Picture, "trained_weights").figure
    own = last.frames[-1]["weights"][index // N_HEADS, index % N_HEADS]
    np.testing.assert_array_equal(np.tril(drawn.values), np.tril(own))
    assert np.isneginf(drawn.drawn[np.triu_indices(len(EXAMPLE), 1)]).all()
    matched = np.mean([own[HALF + place, place + 1] for place in range(HALF)])
    assert f"it gives {matched:.2f} of its weight" in prose(blocks)
    assert one(blocks, Picture, "trained_heads").figure.current == index


def test_the_curves_and_the_table_have_every_checkpoint():
    last = run()
    blocks = shown(Runs(last=last))
    table = one(blocks, Table, "checkpoints_table").make()
    assert table["step"] == ["0", "25", "50", "75", "100"]
    scores = one(blocks, Picture, "trained_scores").figure
    assert len(traces(scores)) == len(PLACES) * N_HEADS
    assert [current(trace) for trace in traces(scores) if current(trace) is not None] == [4]
    found = np.array(table["Two layers, layer 2, head 3: prefix matching"], dtype=float)
    np.testing.assert_allclose(found, [frame["scores"][1, 2] for frame in last.frames], rtol=1e-6)
    for index, n_layers in enumerate((2, 1)):
        losses = one(blocks, Picture, f"losses_{n_layers}").figure
        wanted = np.array([frame["losses"][index] for frame in last.frames])
        np.testing.assert_allclose([trace.y for trace in losses.figure.data], wanted.T, rtol=1e-6)


def test_the_question_is_answered_by_the_sequence():
    guess = LAB.guess(None)
    (right,) = guess.right
    token = re.search(r"second “(?:<[^>]+>)*(\w+)", guess.question)[1]
    names = [SYLLABLES[each] for each in EXAMPLE]
    assert guess.answers[right].startswith(names[names.index(token) + 1])
    assert names[HALF + names.index(token) + 1] == names[names.index(token) + 1]


@pytest.mark.parametrize("model", ["toy", "minilm-l6", "smollm2-135m"])
def test_the_score_of_a_model_is_what_plain_loops_give(model):
    trace = load(model).trace(TWICE)
    blocks = shown(Runs(trace), HeadContext(trace, 0, 1, 3))
    table = one(blocks, Table, "yours_table").make()
    texts = [token.text for token in trace.tokens]
    n_heads = trace.info.n_heads
    for layer, head in ((0, 1), (len(trace.layers) - 1, n_heads - 1)):
        weights, sums = trace.layers[layer].head(head).weights, []
        for query in range(len(texts)):
            keys = [key + 1 for key in range(query) if texts[key] == texts[query]]
            if keys:
                sums.append(weights[query, keys].sum())
        assert float(table["prefix matching"][layer * n_heads + head]) == pytest.approx(np.mean(sums), abs=1e-6)
    best = max(map(float, table["prefix matching"]))
    assert says(prose(blocks), f"{best:.2f}")


@pytest.mark.parametrize(
    ("model", "text", "told"),
    [
        ("toy", "Two small birds sing", "Type something twice, such as “the cat sat, the cat sat”."),
        # It knows no English.
        ("translator-fr-en", "le chat noir dort", "Type something twice."),
        ("vit-digits", None, "Choose a model that reads text"),
    ],
)
def test_where_nothing_comes_twice_the_page_says_what_to_do(model, text, told):
    trace = load(model).trace(text or load(model).info.reading.first)
    assert told in prose(shown(Runs(trace), HeadContext(trace, 0, 0, 0)))


def test_a_text_that_looks_at_another_one_has_no_such_score():
    trace = load("translator-fr-en").trace("le chat noir dort").part("cross")
    assert "nothing repeats" in prose(shown(Runs(trace), HeadContext(trace, 0, 0, 0)))
