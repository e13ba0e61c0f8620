"""Weights: which words get most, attention sinks, and the computation of each weight."""

import re
from dataclasses import replace

import numpy as np
import pytest

from attention.figures.matrix import Cell
from attention.lesson.head_context import HeadContext
from attention.lesson.proof import prove
from attention.lesson.steps import keys, step_of
from attention.lesson.steps.softmax import tell_weights
from tests.unit.lesson.telling import TEXT, TOY, equals, facts_in, is_told, parsed, rounded, shown


def cell_number(written):
    """The number in a cell of a table, where a 0 may say why it is one."""
    return parsed(written.removesuffix(" (masked)"))


def test_the_weights_that_are_told_are_the_two_highest_of_the_row(scene):
    head, at = scene.trace.layers[scene.layer].head(scene.head), scene.word
    row = head.weights[at]
    first, second = sorted(row, reverse=True)[:2]
    assert tell_weights(scene) in step_of("softmax").words(scene)
    if second < 0.005:
        facts = facts_in(tell_weights(scene), "softmax/weights-alone")
        rest = facts.pop("rest")
        assert rest == (rounded(1 - first) if 1 - first >= 0.005 else "less than 0.005")
        assert facts == {"focus": scene.focus.text, "best": facts["best"], "best_weight": rounded(first)}
        return
    level = [key for key, weight in enumerate(row) if f"{weight:.2f}" == f"{first:.2f}"]
    if len(level) > 1:
        facts = facts_in(tell_weights(scene), "softmax/weights-tied")
        assert set(re.findall("“(.+?)”", facts.pop("tied"))) == {scene.key_names[key] for key in level}
        assert facts == {"focus": scene.names[at], "best_weight": rounded(first)}
        return
    facts = facts_in(tell_weights(scene), "softmax/weights")
    assert facts == {
        "focus": scene.focus.text,
        "best": facts["best"],
        "best_weight": rounded(first),
        "second": facts["second"],
        "second_weight": rounded(second),
    }
    assert facts["best"] in equals(scene, row, first)
    assert facts["second"] in equals(scene, row, second)


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "smollm2-135m"])
def test_no_runner_up_is_named_whose_weight_would_be_written_as_nothing(scene_of, model_id):
    whole = scene_of(model_id, at=0)
    n_alone = 0
    for layer, head, at in np.ndindex(min(whole.info.n_layers, 6), whole.info.n_heads, len(whole.tokens)):
        scene = HeadContext(whole.trace, layer, head, at)
        told = shown(tell_weights(scene))
        assert "with 0.00" not in told
        n_alone += "All other tokens" in told
    assert n_alone > 0 or model_id == "toy"


def test_a_token_that_the_model_added_and_that_gets_most_is_told_with_its_mean_share(scene_of):
    scene = scene_of("minilm-l6", layer=5, head=8, at=3)
    weights = scene.steps.weights.astype(float)
    words = [1, 2, 4, 5, 6]
    best = max(words, key=lambda place: weights[3, place])
    assert scene.labels == ("[CLS]", "the", "cat", "sat", "on", "the", "mat", "[SEP]")
    assert weights[3].argmax() == 0
    assert facts_in(step_of("softmax").words(scene), "softmax/sink", "softmax/sink-others") == {
        "special": "[CLS]",
        "rows": "all rows",
        "share": rounded(weights[:, 0].mean()),
        "focus": "sat",
        "best_word": scene.names[best],
        "best_word_weight": rounded(weights[3, best]),
    }
    # The toy adds no tokens.
    assert "3.2" not in step_of("softmax").words(scene_of("toy"))


def test_the_first_token_of_a_decoder_is_told_to_be_a_sink_where_it_takes_most(scene_of):
    n_told = 0
    whole = scene_of("smollm2-135m", at=0)
    for layer, head, at in np.ndindex(30, 9, len(whole.tokens)):
        scene = HeadContext(whole.trace, layer, head, at)
        weights = scene.steps.weights.astype(float)
        # The first row has no choice: what it gives to itself says nothing.
        share, row = weights[1:, 0].mean(), weights[at]
        told = step_of("softmax").words(scene)
        is_sink = row.argmax() == 0 and (share > 0.5 or row[0] > 0.5)
        assert is_told("softmax/sink-first", told) == (at > 0 and is_sink)
        if not is_told("softmax/sink-first", told):
            continue
        n_told += 1
        facts = facts_in(told, "softmax/sink-first")
        assert (facts["special"], facts["share"]) == (scene.names[0], rounded(share))
        assert "more than one" in facts["rows"]
        others = [place for place in range(1, len(row)) if place != at]
        best = max(others, key=row.__getitem__)
        is_second = best == np.argsort(-row, kind="stable")[1]
        assert is_told("softmax/sink-others", told) == (row[best] >= 0.005 and not is_second)
        if is_told("softmax/sink-others", told):
            words = facts_in(told, "softmax/sink-others")
            assert words["best_word"] in equals(scene, row, row[best])
            assert words["best_word_weight"] == rounded(row[best])
    assert n_told > 300


def test_what_no_decoder_does_by_itself_is_no_sink_of_its_first_token(scene_of):
    """A causal mask that was chosen makes no decoder: nobody trained that model with it."""
    for model_id in ("toy", "minilm-l6"):
        for layer, head, at in np.ndindex(scene_of(model_id).info.n_layers, scene_of(model_id).info.n_heads, 6):
            scene = scene_of(model_id, mask="causal", layer=layer, head=head, at=at)
            assert not is_told("softmax/sink-first", step_of("softmax").words(scene))


@pytest.mark.parametrize("model_id", ["minilm-l6", "smollm2-135m"])
def test_no_punctuation_mark_is_called_a_word(scene_of, model_id):
    n_told = 0
    whole = scene_of(model_id, "Stop! Is it a cat? No, it is a dog.", at=0)
    for layer, head, at in np.ndindex(6, whole.info.n_heads, len(whole.tokens)):
        scene = HeadContext(whole.trace, layer, head, at)
        told = step_of("softmax").words(scene)
        if is_told("softmax/sink-others", told):
            n_told += 1
            best = facts_in(told, "softmax/sink-others")["best_word"]
            assert not {scene.tokens[at].typed.strip(), scene.tokens[scene.names.index(best)].typed.strip()} & set(
                "!?,."
            )
    assert n_told > 20


def test_weights_that_read_the_same_are_told_as_level():
    level, order = HeadContext(TOY.trace(TEXT), 0, 0, 2), HeadContext(TOY.trace(TEXT), 0, 0, 0)
    row = level.steps.weights[2]
    assert f"{row[1]:.2f}" == f"{row[3]:.2f}" == f"{row.max():.2f}"
    assert set(facts_in(tell_weights(level), "softmax/weights-tied")["tied"].split(" and ")) == {"“cat”", "“on”"}
    assert facts_in(tell_weights(order), "softmax/weights")["best"] == "cat"


def test_a_word_that_sees_one_word_or_none_is_told_so():
    alone = HeadContext(TOY.trace(TEXT, mask="causal"), 0, 0, 0)
    facts = facts_in(tell_weights(alone), "softmax/weights-one")
    assert facts == {"focus": "the (0)", "best": "the (0)", "best_weight": 1}
    hidden = np.zeros((6, 6), np.float32)
    hidden[2] = -np.inf
    blind = HeadContext(TOY.trace(TEXT, mask=hidden), 0, 0, 2)
    assert facts_in(tell_weights(blind), "softmax/weights-none") == {"focus": "sat", "best_weight": 0}
    for step in keys():
        assert "nan" not in step_of(step).words(blind)


def test_a_row_that_sees_nothing_is_explained_without_a_division_by_zero():
    hidden = np.zeros((6, 6), np.float32)
    hidden[2] = -np.inf
    scene = HeadContext(TOY.trace(TEXT, mask=hidden), 0, 0, 2)
    explained = step_of("softmax").detail(replace(scene, cell=Cell("weights", 2, 1)))
    assert facts_in(explained.note, "softmax/cell-no-row") == {"query": "sat"}
    assert not explained.parts.any()
    assert prove(scene.trace).holds


def test_the_softmax_table_shows_how_each_weight_comes_about(scene):
    explained = step_of("softmax").detail(step_of("softmax").opened(scene))
    hidden = np.isneginf(scene.steps.mask[scene.word])
    assert [" (masked)" in cell for cell in explained.table()["weight"]] == hidden.tolist()
    table = {name: [cell_number(value) for value in column] for name, column in explained.table().items()}
    scores = scene.steps.masked_scores[scene.word]
    names = list(table)
    assert names == ["key", "score", "− maximum", "exp", "weight"]
    shifted = scores - scores.max()
    exponentials = np.exp(shifted)
    for name, wanted, decimals in zip(
        names[1:], (scores, shifted, exponentials, exponentials / exponentials.sum()), (2, 2, 4, 4), strict=True
    ):
        assert table[name] == [rounded(value, decimals) for value in wanted]
    assert sum(table["weight"]) == pytest.approx(1, abs=1e-3)
