"""Texts about a matrix that turns from another, and the actual turn."""

import base64
import re
from dataclasses import replace

import numpy as np
import pytest

from attention.figures.matrix import MAX_CELLS, Change, Matrix
from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from attention.lesson.transitions import masking, scaling, weighing
from tests import shades
from tests.unit.saying import says

# Each step on the stage, the step before it, and the name of the matrix that it shows.
FOLLOWING = {"scale": ("scores", "scaled"), "mask": ("scale", "masked"), "softmax": ("mask", "weights")}


def shown(key, scene):
    """The matrix that a step shows, with how it came to be."""
    exhibit = step_of(key).exhibits(scene)[-1]
    return replace(exhibit.matrix, change=exhibit.change)


@pytest.mark.parametrize("key", FOLLOWING)
def test_a_matrix_comes_from_the_one_that_the_step_before_has_shown(scene, key):
    before, name = FOLLOWING[key]
    source, matrix = shown(before, scene), shown(key, scene)
    assert matrix.name == name
    assert matrix.change.source.name == source.name
    assert np.array_equal(matrix.change.source.drawn, source.drawn)
    # The browser knows by this that one has stepped from the one to the other.
    assert matrix.payload()["change"]["before"] is None or (
        matrix.payload()["change"]["before"]["values"] == source.payload()["values"]
    )


@pytest.mark.parametrize("key", FOLLOWING)
def test_a_matrix_has_the_same_scale_of_colours_wherever_it_is_seen(scene, key):
    source = shown(FOLLOWING[key][0], scene)
    assert shown(key, scene).change.source.colour_limit == source.colour_limit


def test_what_is_told_of_scaling_is_what_was_done(scene):
    change = scaling(scene)
    divisor = float(re.search(r"÷ ([\d.]+)\.$", change.told)[1])
    np.testing.assert_allclose(scene.steps.scaled_scores * divisor, scene.steps.scores, rtol=1e-2)
    np.testing.assert_allclose(scene.steps.scaled_scores * change.divisor, scene.steps.scores, rtol=1e-5)
    rows, columns = scene.steps.scores.shape
    assert change.told.startswith(f"Kept: S, {rows} × {columns}. ")


def test_what_is_told_of_the_mask_is_how_many_cells_it_hides(scene_of):
    assert masking(scene_of(mask="none")).told.endswith("Changed: nothing.")
    scene = scene_of(mask="causal")
    n, total = len(scene.tokens) * (len(scene.tokens) - 1) // 2, len(scene.tokens) ** 2
    assert masking(scene).told.endswith(f"Changed: {n} of {total} cells are now −∞.")


def test_scores_come_from_the_query_of_the_word_in_focus_and_all_keys(scene):
    matrix = shown("scores", scene)
    change, row = matrix.change, matrix.values[scene.word]
    products = change.query * change.keys
    added = 0 if change.biases is None else change.biases
    np.testing.assert_allclose(products.sum(axis=1) + added, row, rtol=1e-4, atol=1e-4)
    assert f"the sum of {products.shape[1]} products" in change.told


def test_the_last_row_of_the_weighted_values_is_what_the_values_and_weights_give(scene):
    exhibit = step_of("sum").exhibits(scene)[0]
    change, total = exhibit.change, exhibit.matrix.values[-1]
    values = change.source.values
    assert np.isnan(values[-1]).all()
    np.testing.assert_allclose(change.weights @ values[:-1], total, rtol=1e-4, atol=1e-5)
    # One scale of colours, so that one sees what is left of a row.
    assert change.source.colour_limit == exhibit.matrix.colour_limit


def test_what_is_sent_of_the_joined_heads_is_what_is_added_to_the_stream(scene):
    change = step_of("heads").exhibits(scene)[0].change
    parts = change.sent().parts
    assert parts["count"] == scene.info.n_heads
    if change.change is None:
        assert parts["change"] is None
        return
    summed = change.stream + change.change
    wanted = [np.linalg.norm(each) for each in (change.change, change.stream, summed)]
    np.testing.assert_allclose(parts["lengths"], wanted, rtol=1e-5)
    for name, vector in (("change", change.change), ("stream", change.stream), ("joined", scene.joined[scene.word])):
        limit = parts[name]["limit"]
        drawn = shades.shown(parts[name]["shades"], limit, is_signed=True)
        np.testing.assert_allclose(drawn, np.clip(vector, -limit, limit), atol=limit / 28)


def test_softmax_keeps_the_order_in_each_row_as_it_says(scene):
    assert "order in each" in weighing(scene).told
    scores, weights = scene.steps.masked_scores, scene.steps.weights
    for row in range(len(scores)):
        assert (np.diff(weights[row][np.argsort(scores[row])]) >= 0).all()


def test_where_nothing_changes_nothing_moves(scene_of):
    scene = scene_of(mask="none")
    assert not shown("mask", scene).moves
    assert shown("scale", scene).moves
    layer = replace(scene.attention, scale=1.0)
    undivided = HeadContext(replace(scene.trace, layers=(layer,)), 0, 0, 1)
    assert scaling(undivided).told.endswith("Changed: nothing.")
    assert not shown("scale", undivided).moves


def test_a_matrix_of_many_cells_does_not_move_and_says_why():
    values = np.arange(2 * MAX_CELLS, dtype=np.float32).reshape(2, -1)
    labels = tuple(map(str, range(MAX_CELLS)))

    def matrix(values, change=None):
        return Matrix("x", "X", values, ("a", "b"), labels, "rows", "columns", "signed", "", change=change)

    still = matrix(values, Change(matrix(values + 1), "divide", "Halved."))
    assert not still.moves
    assert says(still.payload()["change"]["told"], "Halved", "2,400", "1,200")
    # Where it would not move anyway, its size is no reason.
    assert matrix(values, Change(matrix(values), "mask", "Nothing.")).payload()["change"]["told"] == "Nothing."


@pytest.mark.parametrize("key", ["scores", "scale", "softmax"])
def test_of_a_long_text_the_row_in_focus_is_sent_and_seen_moving(scene_of, key):
    n = 40
    scene = scene_of("minilm-l6", " ".join(["so"] * (n - 2)), at=7)
    matrix = shown(key, scene)
    assert matrix.values.shape == (n, n)
    assert matrix.moves
    sent = matrix.payload(lambda name: name)["change"]
    assert sent["parts"]["onlyRow"] == 7
    after = np.frombuffer(base64.b64decode(sent["parts"]["after"]), "<f4")
    np.testing.assert_array_equal(after, matrix.values[7])
    if key != "scores":
        before = np.frombuffer(base64.b64decode(sent["before"]["values"]), "<f4")
        np.testing.assert_array_equal(before, matrix.change.source.values[7])
    assert says(sent["told"], "the row in focus")
    # Values fall from row to row: of one row, nothing would be seen.
    assert not shown("sum", replace(scene, word=0)).moves


def test_the_pieces_of_a_text_and_what_stands_between_them_are_the_text(scene):
    strips = step_of("tokens").strips(scene)
    for strip in strips:
        found = [piece for piece in strip.change.pieces if piece is not None]
        assert "".join(before + typed for typed, before in found) == " ".join(strip_text(strip).split())
        n_added = sum(token.is_special and token.word is None for token in strip.tokens)
        assert len(found) == len(strip.tokens) - n_added
        assert f"now {len(strip.tokens)} tokens." in strip.change.told


def strip_text(strip):
    """The text of a strip, from where its tokens say that they are in it."""
    text = ""
    for token in strip.tokens:
        if token.start is not None:
            text = text.ljust(token.start) + token.typed
    return text
