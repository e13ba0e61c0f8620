"""The first step: statements about the tokens."""

import re

import pytest

from attention.lesson.steps import step_of
from tests.unit.lesson.telling import TEXT, facts_in, pattern_of, shown


def test_tokens_are_counted_and_the_word_in_focus_has_its_place(scene_of):
    scene = scene_of("minilm-l6", at=3)
    told = step_of("tokens").words(scene)
    assert facts_in(told, "tokens/words") == {
        "model": "MiniLM",
        "tokens": "8 tokens",
        "focus": "sat",
        "position": 3,
    }
    assert facts_in(told, "tokens/special") == {"specials": "[CLS], [SEP]"}
    assert pattern_of("tokens/padding").search(shown(told)) is None


def test_what_the_toy_says_of_a_word_is_its_word_part(scene_of):
    scene = scene_of("toy", at=1)
    facts = facts_in(step_of("tokens").words(scene), "tokens/words-features")
    said = dict(re.findall(r"([a-z ]+?) (\d\.\d\d)(?:, |$)", facts.pop("features")))
    assert facts == {"model": "Toy", "tokens": "6 tokens", "focus": "cat", "position": 1}
    features = dict(zip(scene.info.feature_names, scene.trace.embeddings.words[1], strict=True))
    assert {name: float(value) for name, value in said.items()} == {n: v for n, v in features.items() if v}


def test_a_word_that_was_cut_is_told_with_its_pieces(scene_of):
    scene = scene_of("minilm-l6", "Unbelievable zyzzyvas", at=2)
    facts = facts_in(step_of("tokens").words(scene), "tokens/pieces")
    pieces = [token.text for token in scene.tokens if token.typed in "zyzzyvas" and token.typed]
    assert facts == {"word": "zyzzyvas", "pieces": " + ".join(pieces)}
    assert len(pieces) > 1


def test_a_token_that_was_typed_is_not_said_to_be_the_models_own(scene_of):
    told = step_of("tokens").words(scene_of("minilm-l6", "the [MASK] sat"))
    assert facts_in(told, "tokens/special") == {"specials": "[CLS], [SEP]"}
    assert pattern_of("tokens/special-mask").search(shown(told))


def test_padding_is_told(scene_of):
    told = step_of("tokens").words(scene_of("minilm-l6", mask="padding"))
    assert facts_in(told, "tokens/special")["specials"] == "[CLS], [SEP], [PAD]"
    assert facts_in(told, "tokens/padding") == {"pad": "[PAD]", "times": "3 times"}


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en"])
def test_padding_is_no_part_of_the_sentence_and_what_is_written_is_no_sentence(scene_of, model_id):
    text = "le chat noir dort" if model_id == "translator-fr-en" else TEXT
    name = "tokens/words-features" if model_id == "toy" else "tokens/words"
    without, padded = (scene_of(model_id, text, mask=mask) for mask in ("none", "padding"))
    assert len(padded.tokens) > len(without.tokens)
    for scene in (without, padded):
        assert facts_in(step_of("tokens").words(scene), name)["tokens"] == f"{len(without.tokens)} tokens"
    if model_id == "translator-fr-en":
        cross = scene_of(model_id, text, mask="padding", part="cross", at=1)
        assert facts_in(step_of("tokens").words(cross), "tokens/words-cross")["keys"] == len(without.tokens)
        written = scene_of(model_id, text, part="decoder", at=1)
        told = step_of("tokens").words(written)
        assert facts_in(told, "tokens/words-written")["tokens"] == f"{len(written.tokens[1:])} tokens"
        assert facts_in(told, "tokens/words-written")["first"] == written.tokens[0].text
        assert "sentence" not in shown(told)


def test_what_bert_does_not_know_is_told_as_it_was_typed(scene_of):
    told = step_of("tokens").words(scene_of("minilm-l6", "the 🦖 sat"))
    assert facts_in(told, "tokens/unknown") == {"typed": "“🦖”"}
