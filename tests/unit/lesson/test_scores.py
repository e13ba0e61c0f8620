"""Scores: highest, lowest, and the text about a position bias."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from tests.unit.lesson.telling import TEXT, equals, facts_in, pattern_of, rounded, shown, trace_of


def test_the_best_and_the_worst_score_are_those_of_the_row(scene):
    head, at = scene.trace.layers[scene.layer].head(scene.head), scene.word
    row = head.queries[at].astype(float) @ head.keys.T.astype(float)
    facts = facts_in(step_of("scores").words(scene), "scores/words")
    assert facts == {
        "focus": scene.focus.text,
        "best": facts["best"],
        "best_score": rounded(row.max()),
        "worst": facts["worst"],
        "worst_score": rounded(row.min()),
    }
    assert facts["best"] in equals(scene, row, row.max())
    assert facts["worst"] in equals(scene, row, row.min())


@pytest.mark.parametrize("model_id", ["smollm2-135m", "translator-fr-en"])
def test_a_highest_score_that_will_be_hidden_is_said_to_be(scene_of, model_id):
    text, part = ("le chat noir dort", "decoder") if model_id == "translator-fr-en" else (TEXT, "encoder")
    n_told = 0
    for layer, head in np.ndindex(2, 4):
        whole = scene_of(model_id, text, layer=layer, head=head, at=0, part=part)
        for row in range(len(whole.tokens)):
            scene = replace(whole, word=row)
            scores = scene.steps.queries[row].astype(float) @ scene.steps.keys.T.astype(float)
            told = step_of("scores").words(scene)
            is_told = pattern_of("scores/hidden").search(shown(told)) is not None
            assert is_told == (scores.argmax() > row)
            n_told += is_told
            if is_told:
                facts = facts_in(told, "scores/hidden")
                assert facts["best"] == scene.key_names[scores.argmax()]
                assert facts["left"] == scene.key_names[scores[: row + 1].argmax()]
                assert facts["score"] == rounded(scores[: row + 1].max())
    assert n_told > 5


def test_a_bias_that_grows_from_key_to_key_is_said_to_be_that_of_alibi(model_of):
    scene = HeadContext(trace_of(model_of("bloom"), TEXT, "none"), 1, 2, 3)
    facts = facts_in(step_of("scores").words(scene), "scores/bias-of-keys")
    # transformers' own slope, in scores that are not yet divided.
    theirs = build_alibi_tensor(torch.ones(1, 2), scene.info.n_heads, torch.float32)
    slope = float(theirs[2, 0, 1]) * scene.info.d_head**0.5
    best = int(scene.steps.scores[3].argmax())
    assert float(facts["step"]) == pytest.approx(slope, rel=1e-3)
    assert facts["bias"] == rounded(slope * best)


@pytest.mark.parametrize("layer", [0, 1])
def test_a_position_bias_is_said_to_be_in_the_scores(model_of, layer):
    scene = HeadContext(trace_of(model_of("t5"), TEXT, "none"), layer, 1, 2)
    told = step_of("scores").words(scene)
    bias = scene.attention.bias[1, 2]
    best = int(scene.steps.scores[2].argmax())
    assert facts_in(told, "scores/bias")["bias"] == rounded(bias[best])
    score = float(scene.steps.queries[2] @ scene.steps.keys[best] + bias[best])
    assert facts_in(told, "scores/words")["best_score"] == rounded(score)
    assert facts_in(step_of("scale").words(scene), "scale/words-none")["d_head"] == 12
    assert " + B" in step_of("scores").formula(scene)
    assert "sqrt" not in step_of("softmax").formula(scene)
    assert [picture.title for picture in step_of("scores").matrices(scene)] == ["S = Q·Kᵀ + B"]
    assert [picture.title for picture in step_of("mask").matrices(scene)] == ["S + M"]
