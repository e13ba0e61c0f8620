"""Masks: masked cells are counted, and their reason is given."""

from dataclasses import replace

import numpy as np
import pytest

from attention.figures.matrix import Cell
from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from tests.unit.lesson.telling import TEXT, TOY, facts_in, shown
from tests.unit.saying import tells


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6"])
def test_what_a_mask_leaves_visible_is_counted(scene_of, model_id):
    n = len(scene_of(model_id).tokens)
    for mask, visible, total in (("causal", 3, n), ("padding", n, n + 3)):
        told = facts_in(step_of("mask").words(scene_of(model_id, mask=mask, at=2)), f"mask/{mask}", "mask/seen")
        assert (told["visible"], told["total"]) == (visible, total)


def test_what_a_decoder_hides_is_told_of_the_decoder_and_the_chosen_mask_of_what_is_read(scene_of):
    text = "le chat noir dort"
    for mask in ("none", "causal"):
        scene = scene_of("translator-fr-en", text, mask=mask, at=1, part="decoder")
        told = step_of("mask").words(scene)
        n = len(scene.tokens)
        wanted = {"focus": scene.names[1], "visible": 2, "total": n}
        assert facts_in(told, "mask/written", "mask/seen") == wanted
    none, causal = (scene_of("translator-fr-en", text, mask=m, layer=1, part="decoder") for m in ("none", "causal"))
    assert not np.allclose(none.steps.queries[0], causal.steps.queries[0], atol=1e-3)
    none, causal = (scene_of("smollm2-135m", mask=m, layer=9) for m in ("none", "causal"))
    np.testing.assert_array_equal(none.steps.scores, causal.steps.scores)


def test_a_mask_that_hides_nothing_is_told_so(scene_of):
    scene = HeadContext(TOY.trace(TEXT, mask=np.zeros((6, 6), np.float32)), 0, 0, 1)
    assert facts_in(step_of("mask").words(scene), "mask/none") == {"unit": "word"}
    for mask in ("none", "causal"):
        alone = step_of("mask").words(scene_of("toy", "cat", mask=mask))
        assert facts_in(alone, "mask/none") == {"unit": "word"}
        assert "tokens" not in shown(alone)


def test_a_mask_made_by_hand_is_told_with_its_own_count():
    hidden = np.zeros((6, 6), np.float32)
    hidden[2, [0, 1, 4]] = hidden[5, 3] = -np.inf
    scene = HeadContext(TOY.trace(TEXT, mask=hidden), 0, 1, 2)
    assert facts_in(step_of("mask").words(scene), "mask/painted", "mask/seen") == {
        "unit": "word",
        "focus": "sat",
        "visible": 3,
        "total": 6,
    }
    explained = step_of("mask").detail(replace(scene, cell=Cell("masked", 2, 4)))
    assert facts_in(explained.note, "mask/cell-painted", "mask/cell-hidden") == {"visible": 3, "total": 6}


def test_a_masked_cell_says_why_it_is_hidden(scene_of):
    for mask, reason in (("causal", "later"), ("padding", "padding")):
        scene = scene_of("minilm-l6", mask=mask, cell=Cell("masked", 1, 10 if mask == "padding" else 5))
        explained = step_of("mask").detail(scene)
        visible = int(np.isfinite(scene.steps.masked_scores[1]).sum())
        facts = facts_in(explained.note, f"mask/cell-{reason}", "mask/cell-hidden")
        assert (facts["visible"], facts["total"]) == (visible, len(scene.tokens))
        assert facts_in(explained.title, "mask/cell")["value"] == -np.inf
        assert np.isfinite(explained.parts).all()


@pytest.mark.parametrize(
    ("model_id", "mask", "part", "is_grey"),
    [
        ("toy", "none", "encoder", True),
        ("minilm-l6", "none", "encoder", True),
        ("toy", "causal", "encoder", False),
        ("toy", "padding", "encoder", False),
        ("smollm2-135m", "none", "encoder", False),
        ("translator-fr-en", "none", "decoder", False),
        ("translator-fr-en", "none", "cross", False),
    ],
)
def test_what_a_decoder_would_hide_is_grey_where_nothing_is_hidden_and_keeps_its_scores(
    scene_of, model_id, mask, part, is_grey
):
    scene = scene_of(model_id, "le chat noir dort", mask=mask, part=part)
    matrix = step_of("mask").exhibits(scene)[0].matrix
    assert bool(matrix.payload()["later"]) is is_grey
    for row, column in ((0, 1), (1, 1), (1, 0)):
        note = step_of("mask").detail(replace(scene, cell=Cell("masked", row, column))).note
        assert tells(note, "mask/cell-hatched") is (is_grey and column > row)
    np.testing.assert_array_equal(matrix.drawn, scene.steps.masked_scores)
    if is_grey:
        assert np.isfinite(matrix.drawn).all()
    assert not any(each.later for key in ("scale", "softmax") for each in step_of(key).matrices(scene))
