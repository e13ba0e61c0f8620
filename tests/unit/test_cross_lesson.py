"""Texts and pictures of cross-attention, whose queries and keys are different tokens."""

import re
from dataclasses import replace

import numpy as np
import pytest

from attention.core import masks, steps
from attention.core.kinds import CROSS
from attention.core.trace import LayerTrace, Projections, Token, Trace
from attention.figures.matrix import Cell
from attention.lesson.behaviour import describe, head_table
from attention.lesson.head_context import HeadContext
from attention.lesson.heads import head_thumbs
from attention.lesson.neuron import key_picture, neuron, pair_table, sum_in_writing, value_picture
from attention.lesson.steps import keys, step_of
from attention.lesson.survey import Look, head_matrix, layer_lines, order, place, survey
from attention.lesson.tables import matrix_table
from attention.models import get_info
from tests.unit.saying import says

WRITTEN = ("<s>", "the", "black", "cat", "sleeps")
READ = ("le", "chat", "noir", "dort", "</s>", "[PAD]", "[PAD]")
N_HEADS, D_HEAD, D_MODEL = 3, 4, 12


def tokens_of(words):
    return tuple(
        Token(
            word,
            "" if word in ("<s>", "</s>", "[PAD]") else word,
            None if word in ("<s>", "</s>", "[PAD]") else position,
            position,
            position,
            is_special=word in ("<s>", "</s>", "[PAD]"),
            is_padding=word == "[PAD]",
        )
        for position, word in enumerate(words)
    )


def cross_layer(seed):
    """One layer of cross-attention with random weights; what the model itself gave is worked out with einsum."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return rng.normal(size=shape).astype(np.float32)

    inputs, sources = draw(len(WRITTEN), D_MODEL), draw(len(READ), D_MODEL)
    weights = [draw(D_MODEL, D_MODEL) / 3 for _ in range(4)]
    biases = [draw(D_MODEL) for _ in range(4)]
    mask = masks.painted(np.broadcast_to([word == "[PAD]" for word in READ], (len(WRITTEN), len(READ))))
    queries, keys, values = (
        steps.split_heads(vectors @ weight + bias, N_HEADS)
        for vectors, weight, bias in zip((inputs, sources, sources), weights[:3], biases[:3], strict=True)
    )
    exponentials = np.exp(np.einsum("hqd,hkd->hqk", queries, keys) / 2 + mask)
    output = np.einsum("hqk,hkd->hqd", exponentials / exponentials.sum(-1, keepdims=True), values)
    return LayerTrace(
        *(inputs, queries, keys, values, mask, 0.5, output),
        kind="cross",
        projections=Projections(*weights, *biases),
        key_inputs=sources,
    )


@pytest.fixture(scope="module")
def trace():
    info = replace(
        get_info("minilm-l6"),
        n_layers=2,
        n_decoder_layers=2,
        n_heads=N_HEADS,
        n_key_value_heads=N_HEADS,
        d_model=D_MODEL,
        d_head=D_HEAD,
    )
    layers = (cross_layer(1), cross_layer(2))
    return Trace("the black cat sleeps", tokens_of(WRITTEN), layers, info, memory=tokens_of(READ), use=CROSS)


@pytest.fixture(scope="module")
def scene(trace):
    return HeadContext(trace, 1, 2, 3)


def test_matrices_name_their_rows_by_what_is_written_and_their_columns_by_what_is_read(scene):
    for step in ("scores", "scale", "mask", "softmax"):
        for picture in step_of(step).matrices(scene):
            assert (picture.row_labels, picture.column_labels) == (WRITTEN, READ)
    queries, keys, values = step_of("qkv").matrices(scene)
    assert (queries.row_labels, keys.row_labels, values.row_labels) == (WRITTEN, READ, READ)
    # A source cannot be the word in focus, which asks.
    assert (queries.focus_row, keys.focus_row) == (3, None)
    assert [picture.name for picture in step_of("embed").matrices(scene)] == ["inputs", "sources"]
    contributions, _ = step_of("sum").matrices(scene)
    assert [label.split(" × ")[-1] for label in contributions.row_labels] == [*READ, "Σ output"]


@pytest.mark.parametrize("step", keys())
def test_every_step_tells_explains_and_lists_cross_attention(scene, step):
    told = step_of(step).words(scene)
    assert "cat" in told
    assert "$" not in told
    assert step_of(step).formula(scene)
    for picture in step_of(step).matrices(scene):
        table = matrix_table(picture)
        assert len(table[""]) == len(picture.row_labels)
        for corner in ((0, 0), (size - 1 for size in picture.values.shape)):
            assert step_of(step).detail(scene.with_cell(Cell(picture.name, *corner))).title


def test_the_parts_of_a_key_add_up_to_it(scene):
    _, keys, _ = step_of("qkv").matrices(scene)
    for row, column in ((0, 0), (3, 2), (6, 3)):
        explained = step_of("qkv").detail(scene.with_cell(Cell("keys", row, column)))
        bias = scene.attention.projections.b_K[2 * D_HEAD + column]
        assert explained.parts.sum() + bias == pytest.approx(keys.values[row, column], abs=1e-5)
        assert READ[row] in explained.title


def test_shapes_have_both_numbers_of_tokens(scene):
    assert step_of("scores").shapes(scene) == "Q (5×4) · Kᵀ (4×7) → S (5×7)"
    assert step_of("qkv").shapes(scene).endswith("K (7×4) and V (7×4) likewise, from Z (7×12)")
    for step in ("scale", "mask", "softmax"):
        assert "5×7" in step_of(step).shapes(scene)


@pytest.mark.parametrize("look", [Look(), Look(words=True), Look(hide="special"), Look(True, "special", True)])
def test_all_heads_are_surveyed_as_rectangles(trace, scene, look):
    surveyed = survey(trace, look)
    assert len(surveyed.summaries) == 2 * N_HEADS
    for summary in surveyed.summaries:
        weights = trace.layers[summary.layer].head(summary.head).weights.astype(np.float64)
        terms = np.where(weights > 0, -weights * np.log(np.where(weights > 0, weights, 1)), 0)
        assert summary.entropy == pytest.approx(terms.sum(axis=1).mean(), abs=1e-5)
        assert summary.largest == pytest.approx(weights.max(axis=1).mean(), abs=1e-5)
        assert summary.special == pytest.approx(weights[:, 4:].sum(axis=1).mean(), abs=1e-5)
        told = re.sub("<.*?>", "", describe(summary, surveyed.in_words(place(summary)))).lower()
        assert f"layer {summary.layer + 1}, head {summary.head + 1}" in told
    assert "pattern" not in head_table(surveyed.summaries)
    for sorting in ("layer", "entropy", "similarity"):
        groups = order(sorting, surveyed, trace, look, (0, 0)).groups
        assert sorted(head for _, heads in groups for head in heads) == [(i, j) for i in range(2) for j in range(3)]
    picture = head_matrix(scene, look, 0)
    assert picture.values.shape == (len(WRITTEN), len(READ))
    lines = layer_lines(scene, look, 0)
    assert (lines.row_labels, lines.column_labels) == (WRITTEN, READ)
    assert lines.heads[0].weights.shape == (len(WRITTEN), len(READ))


def test_small_pictures_and_the_neuron_view_name_what_is_read(scene):
    thumbs = head_thumbs(scene)
    best = READ[int(scene.steps.weights[3].argmax())]
    assert says(thumbs[2].description, "cat", best)
    data = neuron(scene, 1).payload()
    assert (data["labels"], data["queryLabels"]) == (list(READ), list(WRITTEN))
    assert "k(chat)" in key_picture(scene, 1).row_labels
    assert "v(chat)" in value_picture(scene, 1).row_labels
    assert "chat" in sum_in_writing(scene, 1)
    assert "k(chat)" in pair_table(scene, 1)


def test_a_position_bias_is_part_of_the_score_and_is_named(trace):
    bias = np.random.default_rng(5).normal(size=(N_HEADS, len(WRITTEN), len(READ))).astype(np.float32)
    layer = replace(trace.layers[0], bias=bias)
    scene = HeadContext(replace(trace, layers=(layer,)), 0, 1, 3)
    data = neuron(scene, 2)
    assert data.payload()["hasBias"]
    np.testing.assert_allclose(data.products.sum(axis=1) + bias[1, 3], data.scores, atol=1e-5)
    told = sum_in_writing(scene, 2)
    assert "position bias" in told
    assert f"{abs(float(bias[1, 3, 2])):.2f}" in told
    assert "position bias" not in sum_in_writing(HeadContext(trace, 0, 1, 3), 2)
