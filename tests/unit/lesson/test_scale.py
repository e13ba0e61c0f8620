"""Scaling: the spread of the scores, and the softmax without it."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.neuron import neuron, sum_in_writing
from attention.lesson.snippets import LIBRARIES
from attention.lesson.steps import step_of
from tests.unit.lesson.telling import MASKED_PLACES, TEXT, TOY, facts_in, rounded, shown, trace_of


def test_one_token_is_said_to_be_one_and_no_mask_is_named_that_there_is_not(scene_of):
    scene = scene_of("toy", "Hello", at=0)
    told = shown(step_of("scale").words(scene))
    assert facts_in(step_of("scale").words(scene), "scale/weight-lone") == {"focus": "hello"}
    assert "mask" not in told
    assert "spread" not in told
    assert "1 tokens" not in shown(step_of("tokens").words(scene))


def test_the_spread_before_and_after_scaling_is_that_of_the_scores(scene):
    head = scene.trace.layers[scene.layer].head(scene.head)
    d_head = head.queries.shape[1]
    scores = head.queries.astype(float) @ head.keys.T.astype(float)
    assert facts_in(step_of("scale").words(scene), "scale/words", "scale/spread") == {
        "d_head": d_head,
        "divisor": rounded(np.sqrt(d_head)),
        "before": rounded(scores.std()),
        "after": rounded(scores.std() / np.sqrt(d_head)),
    }


@pytest.mark.parametrize("place", MASKED_PLACES, ids=lambda place: "-".join(map(str, place)))
def test_the_weight_without_scaling_is_torchs_softmax_of_what_the_row_may_see(scene_of, place):
    model_id, mask, part, layer, head = place
    text = "le chat noir dort" if part != "encoder" or model_id == "translator-fr-en" else TEXT
    whole = scene_of(model_id, text, mask=mask, layer=layer, head=head, at=0, part=part)
    scores = torch.tensor(whole.steps.queries) @ torch.tensor(whole.steps.keys).T
    is_padding = torch.tensor([token.is_padding for token in whole.key_tokens])
    rows, columns = scores.shape
    # In cross-attention, "causal" is about the text that is read, and hides nothing from the one that is written.
    is_causal = part != "cross" and (mask == "causal" or model_id == "smollm2-135m" or part == "decoder")
    later = torch.arange(columns) > torch.arange(rows)[:, None] if is_causal else torch.zeros(rows, columns).bool()
    hidden = later | is_padding
    without, with_it = (
        torch.softmax((scores * scale).masked_fill(hidden, -torch.inf), dim=-1)
        for scale in (1, whole.steps.queries.shape[1] ** -0.5)
    )
    for row in range(rows):
        scene = replace(whole, word=row)
        n_hidden = int(hidden[row].sum())
        told = step_of("scale").words(scene)
        if columns - n_hidden == 1:
            assert facts_in(told, "scale/weight-lone") == {"focus": scene.names[row]}
            continue
        facts = facts_in(told, "scale/weight")
        best = scene.key_names.index(facts["best"])
        assert not hidden[row, best]
        assert with_it[row, best] == pytest.approx(float(with_it[row].max()), abs=1e-5)
        assert facts["weight_unscaled"] == rounded(without[row, best])
        assert facts["weight_scaled"] == rounded(with_it[row, best])


def test_a_word_that_sees_nothing_has_no_weight_that_scaling_could_change():
    hidden = np.zeros((6, 6), np.float32)
    hidden[2] = -np.inf
    blind = HeadContext(TOY.trace(TEXT, mask=hidden), 0, 0, 2)
    assert facts_in(step_of("scale").words(blind), "scale/weight-lone") == {"focus": "sat"}


def test_a_scale_of_the_models_own_is_told(model_of):
    trace = trace_of(model_of("gpt2"), TEXT, "none")
    halved = replace(trace.layers[1], scale=trace.layers[1].scale / 2)
    told = facts_in(
        step_of("scale").words(HeadContext(replace(trace, layers=(halved,)), 0, 1, 2)),
        "scale/words-own",
        "scale/spread",
    )
    assert told["divisor"] == rounded(2 * np.sqrt(8))


def said_of_scaling(scene):
    """Everything that is said or written of the scores' scale: formulas, titles, shapes, sentences, code."""
    steps_of_it = [step_of(key) for key in ("scores", "scale", "mask", "softmax", "sum")]
    yield from (step.formula(scene) for step in steps_of_it)
    yield from (picture.title + picture.alt for step in steps_of_it for picture in step_of(step.key).matrices(scene))
    yield from (step_of(step.key).shapes(scene) for step in steps_of_it)
    yield sum_in_writing(scene, 1)
    yield neuron(scene, 1).divisor
    yield from (step_of("scale").code(CodeContext(library, scene, 2)) for library in LIBRARIES)


ROOT = re.compile(r"√|\\sqrt|d_k|dₖ")


@pytest.mark.parametrize(
    ("factor", "divisor", "heading_of_it"),
    [
        (1, None, "Make the scores smaller"),
        (0.5, "5.657", "Make the scores smaller"),
        (8**0.5, "", "Leave the scores unchanged"),
        (2 * 8**0.5, "0.5", "Make the scores larger"),
    ],
)
def test_the_root_of_the_width_is_named_only_where_scores_are_divided_by_it(model_of, factor, divisor, heading_of_it):
    trace = trace_of(model_of("gpt2"), TEXT, "none")
    layer = replace(trace.layers[1], scale=factor * trace.layers[1].scale if divisor != "" else 1.0)
    scene = HeadContext(replace(trace, layers=(layer,)), 0, 1, 2)
    said = list(said_of_scaling(scene))
    assert step_of("scale").heading(scene) == heading_of_it
    if divisor is None:
        titles = [picture.title for key in ("scale", "mask") for picture in step_of(key).matrices(scene)]
        assert titles == ["S", "S / √dₖ", "S / √dₖ + M"]
        assert r"/ \sqrt{d_k}" in step_of("scale").formula(scene)
        assert "(10×10) / √8 →" in step_of("scale").shapes(scene)
        return
    assert not [text for text in said if ROOT.search(text)]
    titles = [picture.title for key in ("scale", "mask", "softmax") for picture in step_of(key).matrices(scene)]
    scaled = f"S / {divisor}" if divisor else "S"
    assert titles == ["S", scaled, f"{scaled} + M", f"A = softmax({scaled} + M)"]
    assert neuron(scene, 1).divisor == (divisor or "1")
    if divisor:
        assert f"/ {divisor}" in step_of("scale").formula(scene)
        assert f"(10×10) / {divisor} →" in step_of("scale").shapes(scene)
        assert float(divisor) == pytest.approx(1 / layer.scale, rel=1e-3)
        assert facts_in(step_of("scale").words(scene), "scale/words-own")["divisor"] == float(divisor)


def test_the_scale_before_and_after_scaling_ends_at_the_largest_score(scene):
    before, after = step_of("scale").matrices(scene)
    assert before.colour_limit == pytest.approx(np.abs(scene.steps.scores).max())
    assert after.colour_limit == pytest.approx(np.abs(scene.steps.scaled_scores).max())
