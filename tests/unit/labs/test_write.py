"""*Train it on your text*: statements about a stage against its numbers, and the privacy of texts."""

from datetime import UTC, datetime
from functools import partial

import numpy as np
import pytest

from attention.page.blocks import LongText, Notice, Picture, Setting, Table, Work
from attention.page.labs.write import LAB
from attention.training.jobs import Run
from attention.training.writing import Transformer
from attention.training.writing_results import (
    DEPTHS,
    JOB,
    LEAST,
    MOMENTS,
    MOST,
    N_HEADS,
    N_SHOWN,
    STEPS,
    WIDTH,
    bundled,
)
from tests.drawn import current
from tests.fresh import OfJob
from tests.unit.labs.seen import figure, one, prose, table
from tests.unit.labs.seen import shown as lab_shown
from tests.unit.saying import plain, says

BEGAN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
HOSTILE = "<img src=x onerror=alert(1)>&amp;\n\u05d0\u05d1 🐈"
BEGINNING = "<b> &\n🐈\u05d0" + "x" * (N_SHOWN - 8)
# On both parts of the text; on the part held out, the third is the best.
LOSSES = ((3.7, 3.6), (2.5, 2.6), (1.5, 1.75), (0.9, 2.25), (0.4, 3.0))
UNIGRAM, SIZES = 2.8, (3000, 333, 41)

shown = partial(lab_shown, LAB, None)


Runs = partial(OfJob, JOB)


def frames(n, n_layers):
    numbers = np.random.default_rng(0)
    for step, losses in list(zip(MOMENTS, LOSSES, strict=False))[:n]:
        weights = np.tril(numbers.random((n_layers, N_HEADS, N_SHOWN, N_SHOWN))).astype(np.float32)
        yield {
            "share": np.float64(step / STEPS),
            "step": np.int64(step),
            "losses": np.array(losses, dtype=np.float32),
            "written": np.array([f"{HOSTILE} as is {step}", f"{HOSTILE} bolder {step}"]),
            "copied": np.array([step + 3, step + 4]),
            "weights": weights / weights.sum(axis=-1, keepdims=True),
            "beginning": np.array(BEGINNING),
            "sizes": np.array(SIZES),
            "unigram": np.float64(UNIGRAM),
        }


def run(n=5, ending="done", n_layers=2, **more):
    return Run(("--layers", str(n_layers)), "", BEGAN, tuple(frames(n, n_layers)), ending, 21.4, **more)


# ------------------------------------------------------------------------------------------- the button


def test_before_any_training_the_page_invites_to_one():
    blocks = shown(Runs(), n_layers=3)
    work = one(blocks, Work, "train")
    assert (work.label, work.arguments, work.share, work.is_off) == ("Train", ("--layers", "3"), None, False)
    assert "Nothing" in work.told
    assert isinstance(work.text, LongText)
    assert (work.text.least, work.text.most) == (LEAST, MOST)
    assert [block.key for block in blocks if isinstance(block, Picture)] == ["characters", "parts"]
    (counts,) = figure(blocks, "characters").figure.data
    assert dict(zip(counts.hovertext, counts.x, strict=True))["e"] == bundled().count("e")


def test_in_a_file_nothing_can_be_pressed():
    assert one(shown(None), Work, "train").is_off


@pytest.mark.parametrize("is_own", [True, False])
def test_while_it_goes_on_the_newest_stage_is_shown(is_own):
    blocks = shown(Runs(now=run(4, ending=""), last=run(), is_own=is_own))
    work = one(blocks, Work, "train")
    assert (work.share, work.is_off, bool(work.stops)) == (0.1, False, is_own)
    assert says(work.told, "50", STEPS)
    assert one(blocks, Setting, "stage").value == 3


def test_what_was_wrong_with_a_text_is_said():
    blocks = shown(Runs(problem="This text is <b>too</b> short."))
    assert [block.sentence for block in blocks if isinstance(block, Notice)] == ["This text is <b>too</b> short."]
    assert not [block for block in shown(Runs()) if isinstance(block, Notice)]


# ---------------------------------------------------------------------------------------------- a stage


@pytest.mark.parametrize("at", [None, 0, 1, 2, 3, 10])
def test_what_is_said_of_a_stage_is_what_was_measured_there(at):
    last = run()
    blocks = shown(Runs(last=last), stage=at)
    index = 4 if at is None else min(at, 4)
    told, (learnt, held_out) = prose(blocks), LOSSES[index]
    assert f"After {MOMENTS[index]} steps" in told
    assert says(told, f"{learnt:.2f}", f"{held_out:.2f}", "333")
    assert says(told, "41", f"{np.log(41):.2f}")
    assert says(told, f"{UNIGRAM:.2f}")
    assert f"has {MOMENTS[index] + 3} characters" in told
    assert says(told, "25", "1.75 nats") == (index > 2)
    # Each sample as it is, and as text.
    markup = " ".join(block.html for block in blocks if hasattr(block, "html"))
    for kind in ("as is", "bolder"):
        escaped = "&lt;img src=x onerror=alert(1)&gt;&amp;amp;\n\u05d0\u05d1 🐈"
        assert f"<bdi>{escaped} {kind} {MOMENTS[index]}</bdi>" in markup
    assert "<img" not in markup


def test_where_both_parts_get_worse_nothing_is_said_of_learning_by_heart():
    last = run(3)
    worse = {**last.frames[-1], "losses": np.array([2.9, 2.9], dtype=np.float32)}
    told = prose(shown(Runs(last=Run(last.arguments, "", BEGAN, (*last.frames[:2], worse), "done", 1.0))))
    assert "overfitting" not in told
    assert "overfitting" in prose(shown(Runs(last=run())))


def test_the_curves_and_the_table_have_every_stage():
    blocks = shown(Runs(last=run()), stage=1)
    chart = figure(blocks, "losses").figure
    uniform, unigram, *measured = chart.data
    np.testing.assert_allclose(uniform.y, np.log(41))
    np.testing.assert_allclose(unigram.y, UNIGRAM)
    assert (uniform.name[-4:], unigram.name[-4:]) == (f"{np.log(41):.2f}", "2.80")
    np.testing.assert_allclose([trace.y for trace in measured], np.transpose(LOSSES), rtol=1e-6)
    assert [current(trace) for trace in measured] == [1, 1]
    # No two lines look the same.
    assert len({(trace.line.color, trace.line.dash) for trace in chart.data}) == 4
    low, high = chart.layout.yaxis.range
    assert low < 0 < np.log(41) < high < 1.05 * np.log(41)
    columns = table(blocks, "stages_table")
    assert columns["step"] == [str(step) for step in MOMENTS[:5]]
    np.testing.assert_allclose(np.array(columns["loss, held out"], dtype=float), np.transpose(LOSSES)[1], rtol=1e-6)
    assert columns["written at temperature 0.5"][2] == f"{HOSTILE} bolder 25"


@pytest.mark.parametrize(("watched", "drawn"), [(0, 0), (6, 6), (11, 7)])
def test_the_head_that_is_watched_is_drawn(watched, drawn):
    last = run()
    blocks = shown(Runs(last=last), seen_head=watched)
    weights = last.frames[-1]["weights"][drawn // N_HEADS, drawn % N_HEADS]
    matrix = figure(blocks, "written_weights")
    np.testing.assert_array_equal(np.tril(matrix.values), weights)
    assert np.isneginf(matrix.drawn[np.triu_indices(N_SHOWN, 1)]).all()
    assert "".join(matrix.row_labels) == BEGINNING
    assert figure(blocks, "written_heads").current == drawn
    previous, own = (np.diagonal(weights, offset).mean() for offset in (-1, 0))
    assert says(prose(blocks), f"{previous:.2f}", f"{own:.2f}")


# ------------------------------------------------------------------------------------- how large it is


@pytest.mark.parametrize("n_layers", DEPTHS)
def test_the_parameters_are_those_of_the_network(n_layers):
    network = Transformer(len(set(bundled())), n_layers, WIDTH)
    blocks = shown(Runs(), n_layers=n_layers)
    total = sum(each.numel() for each in network.parameters())
    attention = sum(each.numel() for layer in network.layers for each in layer.attention.parameters())
    told = prose(blocks)
    assert f"it has {total:,} parameters" in told
    assert f"{attention / total:.0%} in attention" in told
    counts = table(blocks, "counted_table")["parameters"]
    assert sum(map(int, counts)) == total
    np.testing.assert_array_equal(figure(blocks, "parts").figure.data[0].x, np.array(counts, dtype=float))


def test_the_characters_of_the_text_that_was_learnt_count():
    assert says(prose(shown(Runs(last=run()))), "41")


def test_the_question_is_answered_by_the_network():
    guess = LAB.guess(None)
    network = Transformer(len(set(bundled())), 2, WIDTH)
    parts = {
        "embedding": network.embedding,
        "output": network.output,
        "attention": [layer.attention for layer in network.layers],
        "feed-forward": [layer.feed_forward for layer in network.layers],
    }
    sizes = {
        name: sum(
            each.numel() for module in (found if isinstance(found, list) else [found]) for each in module.parameters()
        )
        for name, found in parts.items()
    }
    (right,) = guess.right
    assert set(guess.answers) == set(sizes)
    assert guess.answers[right] == max(sizes, key=sizes.get)
    assert f"{sizes['feed-forward']:,} parameters against {sizes['attention']:,}" in guess.reason
    assert f"{sum(each.numel() for each in network.parameters()):,}" in plain(guess.question)


# -------------------------------------------------------------------------------------- whose text it is


def test_no_file_is_offered_of_what_was_learnt_from_a_text_of_ones_own():
    story, own = (one(shown(Runs(last=run(is_private=is_own))), Table, "stages_table") for is_own in (False, True))
    assert (story.file, own.file) == ("stages", "")
    work = one(shown(Runs(last=run(is_private=True))), Work, "train")
    assert "your text" in work.told
