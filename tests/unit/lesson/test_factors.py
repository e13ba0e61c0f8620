"""The factors of Q, K, V and ΔE: multiplied and added here, they give the step's matrices."""

from dataclasses import replace

import numpy as np
import pytest

from attention.core.trace import PARTS
from attention.figures.matrix import Cell
from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from attention.models.toy import FEATURES
from tests.unit.lesson.telling import TEXT, facts_in, rounded, trace_of

TRIPLES = [("qkv", "Q", "queries"), ("qkv", "K", "keys"), ("qkv", "V", "values"), ("heads", "O", "change")]


def factors(scene, step, letter):
    pictures = step_of(step).matrices(scene, letter)
    return pictures[0], {picture.name: picture for picture in pictures}


def check_product(scene, step, letter, result):
    source, pictures = factors(scene, step, letter)
    product = source.values.astype(float) @ pictures[f"W_{letter}"].values
    bias = pictures.get(f"b_{letter}")
    if bias is not None:
        product += bias.values[0]
    assert source.column_labels == pictures[f"W_{letter}"].row_labels
    assert pictures[f"W_{letter}"].column_labels == pictures[result].column_labels
    if scene.attention.rotary is not None and letter in "QK":
        np.testing.assert_allclose(pictures[f"projected_{result}"].values, product, rtol=1e-4, atol=2e-4)
        product = scene.attention.turned(product.astype(np.float32))
    np.testing.assert_allclose(pictures[result].values, product, rtol=1e-4, atol=2e-4)
    # What the step shows otherwise is the same matrix.
    shown = {picture.name: picture.values for picture in step_of(step).matrices(scene)}
    assert np.array_equal(shown[result], pictures[result].values)


@pytest.mark.parametrize(("step", "letter", "result"), TRIPLES)
def test_the_product_of_the_factors_is_the_matrix_of_the_step(scene, step, letter, result):
    check_product(scene, step, letter, result)


@pytest.mark.parametrize(("step", "letter", "result"), TRIPLES)
@pytest.mark.parametrize("kind", ["gpt2", "bart", "t5", "vit", "llama"])
@pytest.mark.parametrize("part", PARTS)
def test_it_is_in_other_architectures_too(model_of, kind, part, step, letter, result):
    trace = trace_of(model_of(kind), "0123456789abcdef" * 4 if kind == "vit" else TEXT, "none")
    if part == PARTS[0] or trace.info.parts:
        check_product(HeadContext(trace.part(part), 1, 1, 1), step, letter, result)


@pytest.mark.parametrize(("step", "letter", "result"), TRIPLES)
def test_the_toys_weights_have_the_names_of_its_features(scene_of, step, letter, result):
    scene = scene_of("toy", head=2)
    weights = factors(scene, step, letter)[1][f"W_{letter}"]
    assert (weights.column_labels if letter == "O" else weights.row_labels) == FEATURES
    # With their names and numbers they are all that it takes: nothing is left out.
    assert weights.values.size == (24 if letter == "O" else 8) * len(FEATURES)


@pytest.mark.parametrize(("step", "letter", "result"), TRIPLES)
def test_a_cell_of_the_result_marks_its_column_and_is_opened_first(scene, step, letter, result):
    opened = step_of(step).opened(scene, letter)
    assert opened.cell.matrix == result
    pictures = factors(opened, step, letter)[1]
    assert pictures[f"W_{letter}"].focus_column == opened.cell.column
    # Where nothing is chosen, or what another step has, the step's own matrices are shown.
    for other in ("", "O" if step == "qkv" else "Q"):
        assert [each.name for each in step_of(step).matrices(scene, other)] == [
            each.name for each in step_of(step).matrices(scene)
        ]


@pytest.mark.parametrize(("step", "letter", "result"), TRIPLES)
def test_a_weight_is_explained_by_what_it_adds(scene, step, letter, result):
    source, pictures = factors(scene, step, letter)
    weights = pictures[f"W_{letter}"]
    row, column = np.unravel_index(np.abs(weights.values).argmax(), weights.values.shape)
    explained = step_of(step).detail(replace(scene, cell=Cell(weights.name, int(row), int(column))), letter)
    assert facts_in(explained.title, "factors/cell-weight")["value"] == rounded(weights.values[row, column])
    np.testing.assert_allclose(explained.parts, source.values[:, row] * weights.values[row, column], rtol=1e-6)
    note = facts_in(explained.note, "factors/weight")
    assert note["product"] == rounded(explained.parts[scene.word], 4)
    assert note["count"] == weights.values.shape[0]
    bias = pictures.get(f"b_{letter}")
    if bias is not None:
        explained = step_of(step).detail(replace(scene, cell=Cell(bias.name, 0, 1)), letter)
        assert facts_in(explained.title, "factors/cell-bias")["value"] == rounded(bias.values[0, 1])
        assert np.array_equal(explained.parts, bias.values[0])


def test_where_the_weights_are_not_known_there_are_no_factors(scene_of):
    scene = scene_of("toy")
    blank = replace(scene.attention, projections=None)
    unknown = HeadContext(replace(scene.trace, layers=(blank,)), 0, 0, 1)
    assert step_of("qkv").factors(unknown) == step_of("heads").factors(unknown) == {}
