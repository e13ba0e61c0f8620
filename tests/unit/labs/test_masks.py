"""Masks: each rule cell by cell, weights against torch's, and statements about a row against its numbers."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention.lesson.head_context import HeadContext
from attention.page.blocks import Picture, Setting
from attention.page.labs.masks import LAB, MOST_PAINTED, REACH, RULES, hidden_by
from attention.page.parameters import Grid
from tests.loaded import load
from tests.unit.labs.seen import SENTENCE, figure, one, prose, scene_of, table
from tests.unit.labs.seen import shown as lab_shown
from tests.unit.saying import says, tells

N = 9
HIDES = {
    "none": lambda query, key, reach: False,
    "causal": lambda query, key, reach: key > query,
    "padding": lambda query, key, reach: key >= N - reach,
    "window": lambda query, key, reach: abs(query - key) > reach,
    "prefix": lambda query, key, reach: key > query and key >= reach,
}


@pytest.fixture(scope="module", params=["toy", "minilm-l6", "smollm2-135m"])
def scene(request):
    return scene_of(request.param)


shown = partial(lab_shown, LAB)


@pytest.mark.parametrize("rule", HIDES)
@pytest.mark.parametrize("reach", [1, 3, 8])
def test_a_rule_hides_what_it_says(rule, reach):
    hidden = hidden_by(rule, reach, (), N)
    assert all(hidden[query, key] == HIDES[rule](query, key, reach) for query, key in product(range(N), repeat=2))


@given(st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=30))
def test_cells_that_are_pressed_an_odd_number_of_times_are_hidden(presses):
    painted = ()
    for row, column in presses:
        painted = Grid.flipped(painted, row, column)
    hidden = hidden_by("painted", 1, painted, N)
    assert all(hidden[cell] == (presses.count(cell) % 2 == 1) for cell in product(range(N), repeat=2))
    assert Grid(MOST_PAINTED).read(Grid(MOST_PAINTED).write(painted), None) == painted


@pytest.mark.parametrize("rule", RULES)
def test_the_weights_with_a_mask_are_those_of_torch(scene, rule):
    painted = (0b1, 0b110, (1 << len(scene.tokens)) - 1)
    blocks = shown(scene, rule=rule, hidden=painted)
    hidden = hidden_by(rule, REACH.default, painted, len(scene.tokens))
    scores = torch.tensor(np.asarray(scene.steps.scaled_scores, np.float64)).masked_fill(
        torch.tensor(hidden), -torch.inf
    )
    # Of a row that is hidden whole, torch says that it is not a number.
    wanted = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0).numpy()
    drawn = figure(blocks, "masked_weights")
    np.testing.assert_allclose(np.nan_to_num(drawn.values), wanted, atol=1e-6)
    np.testing.assert_array_equal(np.isneginf(figure(blocks, "mask").values), hidden)
    moved = np.linalg.norm(wanted @ scene.steps.values - scene.steps.head_outputs, axis=-1)
    rows = table(blocks, "outputs_table")
    np.testing.assert_allclose(np.array(rows["output moved by"], float), moved, atol=1e-4)
    assert rows["hidden keys"] == [str(n) for n in hidden.sum(axis=-1)]


def test_scores_and_the_output_of_a_row_are_there_before_and_after(scene):
    blocks = shown(scene, rule="window")
    own = figure(blocks, "own_scores").values
    hidden = hidden_by("window", REACH.default, (), len(scene.tokens))
    np.testing.assert_array_equal(np.isneginf(own), ~scene.visible)
    np.testing.assert_array_equal(own[scene.visible], scene.steps.scaled_scores[scene.visible])
    scores = np.asarray(scene.steps.scaled_scores[3], np.float64)
    wanted = weights_of(scores, hidden[3]) @ scene.steps.values
    before, after, difference = figure(blocks, "row_outputs").values
    np.testing.assert_allclose(before, scene.steps.head_outputs[3], atol=1e-6)
    np.testing.assert_allclose(after, wanted, atol=1e-5)
    np.testing.assert_allclose(difference, wanted - before, atol=1e-5)
    columns = list(table(blocks, "row_table").values())
    assert len(columns[0]) == scene.steps.values.shape[1]
    np.testing.assert_array_equal(np.array(columns[1:], np.float32), [before, after, difference])


def test_scores_before_and_after_have_the_same_colours(scene):
    blocks = shown(scene, rule="window")
    assert figure(blocks, "own_scores").colour_limit == figure(blocks, "mask").colour_limit


def test_what_is_said_of_a_row_is_worked_out_from_it():
    trace = load("minilm-l6").trace(SENTENCE)
    scene = HeadContext(trace, 2, 8, 4)
    told = prose(shown(scene, rule="causal"))
    scores = np.asarray(scene.steps.scaled_scores[4], np.float64)
    own = np.exp(scores) / np.exp(scores).sum()
    zeros = np.where(np.arange(len(scores)) > 4, 0, scores)
    as_zero = (np.exp(zeros) / np.exp(zeros).sum())[5:].sum()
    assert says(told, f"{own[5:].sum():.2f}")
    assert says(told, "0", f"{as_zero:.2f}")


def told_of_row(model_id, word, **knobs):
    """What is said of a row, the weights that the model itself gives it, and the scores that it has without a mask."""
    scene = scene_of(model_id, word=word)
    scores = np.asarray(scene.steps.unmasked_scores[word], np.float64)
    return prose(shown(scene, **knobs)), np.asarray(scene.steps.weights[word], np.float64), scores


def weights_of(scores, hidden):
    powers = np.where(hidden, 0, np.exp(scores))
    return powers / powers.sum()


def test_a_mask_that_opens_what_the_model_hides_says_how_much_weight_goes_there():
    told, own, scores = told_of_row("smollm2-135m", 3, rule="none")
    weights = weights_of(scores, np.zeros(len(scores), bool))
    gained, best = weights[4:].sum(), int(own.argmax())
    assert gained > 0.05
    assert says(told, len(scores) - 4, f"{gained:.2f}")
    assert says(told, f"{own[best]:.2f}", f"{weights[best]:.2f}")
    assert not tells(told, "masks/row-closed")
    assert not tells(told, "masks/row-same")


def test_a_mask_that_opens_some_keys_and_hides_others_says_both():
    told, own, scores = told_of_row("smollm2-135m", 3, rule="window", reach=2)
    hidden = np.abs(np.arange(len(scores)) - 3) > 2
    weights, best = weights_of(scores, hidden), int(own.argmax())
    assert says(told, "2", f"{weights[4:6].sum():.2f}")
    assert says(told, "1 key")
    assert says(told, f"{own[best]:.2f}", f"{weights[best]:.2f}")


def test_a_mask_that_hides_more_than_the_model_says_what_that_gives_the_others():
    told, own, scores = told_of_row("smollm2-135m", 3, rule="painted", hidden=(0, 0, 0, 0b111110010))
    hidden = np.array([False, True, False, False, *[True] * (len(scores) - 4)])
    weights = weights_of(scores, hidden)
    best = int(weights.argmax())
    assert says(told, f"{own[1]:.2f}")
    assert says(told, f"{own[best]:.2f}", f"{weights[best]:.2f}")


@pytest.mark.parametrize(
    ("model_id", "rule"),
    [("smollm2-135m", "causal"), ("minilm-l6", "none")],
)
def test_a_mask_like_the_model_s_own_changes_nothing_and_says_so(model_id, rule):
    told, *_ = told_of_row(model_id, 3, rule=rule)
    assert tells(told, "masks/row-same")
    assert not any(tells(told, other) for other in ("masks/row-opened", "masks/row-closed", "masks/row-best"))


@pytest.mark.parametrize(("model_id", "rule"), [("smollm2-135m", "none"), ("minilm-l6", "causal"), ("toy", "causal")])
def test_until_one_is_chosen_the_mask_is_one_that_changes_something(model_id, rule):
    blocks = shown(scene_of(model_id))
    assert one(blocks, Setting, "rule").value == rule
    assert figure(blocks, "moved").figure.data[0].x.max() > 0.01


def test_what_scores_of_zero_would_leave_is_never_told_as_nothing():
    scene = scene_of("toy")
    told = prose(shown(scene, rule="causal"))
    scores = np.asarray(scene.steps.unmasked_scores[3], np.float64)
    as_zero = (len(scores) - 4) / (np.exp(scores[:4]).sum() + len(scores) - 4)
    assert 0 < as_zero < 0.005
    assert says(told, "0", f"{as_zero:.1e}")
    assert says(told, f"{scores[:4].max():.2f}")


def test_outputs_that_all_stay_are_not_drawn():
    scene = HeadContext(load("toy").trace("Two birds"), 0, 1, 1)
    names = [
        {block.key for block in shown(scene, rule=rule) if isinstance(block, Picture)} for rule in ("none", "causal")
    ]
    assert ["moved" in each for each in names] == [False, True]


def test_a_row_that_is_hidden_whole_gives_nothing_and_is_told_so(scene):
    painted = (0, 0, 0, (1 << len(scene.tokens)) - 1)
    blocks = shown(scene, rule="painted", hidden=painted)
    assert "divide 0 by 0" in prose(blocks)
    assert not np.nan_to_num(figure(blocks, "masked_weights").values)[3].any()


class Runs:
    def unmasked(self):
        return load("smollm2-135m").unmasked(SENTENCE)


def test_other_rows_that_are_hidden_whole_are_named_and_many_are_counted(scene):
    n = len(scene.tokens)
    whole = (1 << n) - 1
    # The row in focus is told of by itself.
    for rows in ((scene.word,), (0,), (1, scene.word, 5), tuple(range(n))):
        painted = tuple(whole if row in rows else 0 for row in range(n))
        told = prose(shown(scene, rule="painted", hidden=painted))
        others = [scene.names[row] for row in rows if row != scene.word]
        assert tells(told, "masks/rows-all") == bool(others)
        if others[4:]:
            assert f"from {', '.join(others[:4])} and {len(others) - 4} more: such a row" in told
        elif others:
            assert f"from {' and '.join(others)}: such a row" in told


def test_a_decoder_without_its_mask_is_told_of_in_its_own_numbers():
    trace = load("smollm2-135m").trace(SENTENCE)
    found = Runs().unmasked()
    blocks = shown(HeadContext(trace, 0, 0, 2), Runs())
    told = prose(blocks)
    before, after = found.losses.mean(axis=1)
    assert says(told, f"{before:.2f}", f"{after:.2f}")
    own = load("smollm2-135m").next_token(trace).logits[-1]
    np.testing.assert_allclose(found.logits[0], own, atol=1e-3)
    assert len(table(blocks, "losses_table")["token"]) == len(trace.tokens) - 1


def test_of_a_long_text_no_mask_can_be_painted():
    scene = HeadContext(load("toy").trace("word " * (MOST_PAINTED + 1)), 0, 0, 0)
    (picture,) = [each for each in shown(scene) if isinstance(each, Picture) and each.key == "mask"]
    assert picture.brush is None
    assert not picture.is_selectable


def test_a_single_cell_is_called_little_only_if_it_has_hardly_any_weight():
    scene = scene_of("minilm-l6", layer=2, head=8)
    largest, least = (
        np.unravel_index(find(scene.steps.weights), scene.steps.weights.shape) for find in (np.argmax, np.argmin)
    )
    for (row, column), is_little in ((largest, False), (least, True)):
        told = prose(shown(scene, rule="painted", hidden=Grid.flipped((), int(row), int(column))))
        assert tells(told, "masks/little") == is_little
