"""The defaults of a bare link, against the record and transformers' eager attention."""

import re
from dataclasses import replace

import numpy as np
import pytest

from attention.core import reading
from attention.core.masks import MASK_NAMES
from attention.lesson.head_context import HeadContext
from attention.lesson.initial_selection import first_place, first_word, openings, tell_choice, tell_opening
from attention.models import get_info
from tests.loaded import load
from tests.unit.lesson.telling import TOY, facts_in, rounded, trace_of

BY_HAND = {key: opening for key, opening in openings().items() if key[1] != "*"}
CAT, ANIMAL, WIDE = (
    "The cat sat on the mat",
    "The animal didn't cross the street because it was too tired",
    "The animal didn't cross the street because it was too wide",
)


def opened(model, text, mask="none"):
    trace = trace_of(model, text, mask)
    return HeadContext(trace, *first_place(trace.info, text), first_word(trace))


def eager_weights(eager_bert, trace, layer, head):
    import torch

    ids = torch.tensor([[token.token_id for token in trace.tokens]])
    with torch.inference_mode():
        return eager_bert(input_ids=ids, output_attentions=True).attentions[layer][0, head].numpy()


@pytest.mark.parametrize("text", reading.TEXT.examples)
def test_each_example_opens_bert_at_a_head_that_was_chosen_for_it_with_its_caption(minilm, eager_bert, text):
    scene, opening = opened(minilm, text), BY_HAND["minilm-l6", text]
    weights = eager_weights(eager_bert, scene.trace, scene.layer, scene.head)
    facts = facts_in(tell_opening(scene), opening.caption)
    ways = zip(("", "other_"), opening.pairs, strict=False)
    for name, (row, key) in ways:
        assert facts[f"{name}query"] == scene.names[row]
        assert facts[f"{name}key"] == scene.key_names[key]
        # The caption of a single pair leaves its weight to the sentence before.
        assert facts.get(f"{name}weight", rounded(weights[row, key])) == rounded(weights[row, key])
        assert weights[row].argmax() == key
    assert scene.word in {row for row, _ in opening.pairs}


@pytest.mark.parametrize(("model_id", "text"), BY_HAND)
def test_what_was_chosen_by_hand_is_there_and_its_caption_is_borne_out(model_id, text):
    scene = opened(load(model_id), text)
    assert scene.focus.word is not None
    assert bool(tell_opening(scene)) == bool(BY_HAND[model_id, text].caption)


def test_it_finds_the_animal_when_that_is_tired_and_hardly_when_it_is_wide(minilm):
    tired, wide = opened(minilm, ANIMAL), opened(minilm, WIDE)
    assert (tired.layer, tired.head, tired.word) == (wide.layer, wide.head, wide.word) == (3, 1, 10)
    found = [scene.steps.weights[10, 2] for scene in (tired, wide)]
    assert found == pytest.approx([0.64, 0.27], abs=0.005)


def test_no_caption_is_told_of_another_head_or_word_or_where_the_mask_makes_it_untrue(minilm):
    scene = opened(minilm, CAT)
    told = [word for word in range(len(scene.tokens)) if tell_opening(replace(scene, word=word))]
    assert told == [1, 5]
    assert not tell_opening(HeadContext(scene.trace, scene.layer, scene.head + 1, scene.word))
    # The articles can no longer see the nouns, which come later.
    causal = opened(minilm, CAT, "causal")
    assert (causal.layer, causal.head, causal.word) == (scene.layer, scene.head, scene.word)
    assert not tell_opening(causal)


@pytest.mark.parametrize(
    "text",
    [
        "Two small birds sing",
        "Hello, big world!",
        "unbelievable tokenizers, again",
        "Grandfather's old violin sounded sad",
        "I’ve a cat’s toy",
    ],
)
@pytest.mark.parametrize("mask", MASK_NAMES)
def test_another_sentence_opens_the_row_with_the_most_weight_between_two_full_words(minilm, text, mask):
    scene = opened(minilm, text, mask)
    # Where a word of two letters or more begins, but not right after an apostrophe.
    begins = {match.start() for match in re.finditer(r"(?<![’'])\b\w\w+", text)}
    full = [token.position for token in scene.tokens if token.typed and token.start in begins]
    weights = {(row, key): scene.steps.weights[row, key] for row in full for key in full if row != key}
    assert scene.word == max(weights, key=weights.get)[0]


@pytest.mark.parametrize("text", ["cat's", "A cat's", "I'm a cat"])
def test_a_full_word_is_in_focus_first_though_it_meets_no_other(minilm, text):
    scene = opened(minilm, text)
    assert scene.names[scene.word] == "cat"


@pytest.mark.parametrize("text", ["s t", "I'm a b c", "L'Afrique"])
def test_where_there_is_no_full_word_any_other_is_in_focus_first(minilm, text):
    scene = opened(minilm, text)
    assert scene.tokens[scene.word].typed.isalnum()


def test_the_first_token_of_a_decoder_which_all_may_see_does_not_make_a_row_telling(smollm2):
    scene = opened(smollm2, "The old house by the sea is empty")
    beyond = scene.steps.weights[:, 1:].copy()
    np.fill_diagonal(beyond[1:], 0)
    assert scene.word == np.unravel_index(beyond.argmax(), beyond.shape)[0]
    assert scene.steps.weights[scene.word, 0] < scene.steps.weights[:, 0].max()


@pytest.mark.parametrize("text", ["def f(x):\n    return x", "cat a b", "dog I x"])
def test_a_decoders_first_word_which_sees_only_itself_is_not_in_focus_first(smollm2, text):
    assert opened(smollm2, text).word > 0


@pytest.mark.parametrize("text", ["cat", "!", "[MASK]", "😀", "?! ...", "zyzzyvas", "the cat"])
@pytest.mark.parametrize("mask", MASK_NAMES)
def test_where_no_two_words_meet_the_first_one_is_in_focus(minilm, text, mask):
    for model in (TOY, minilm):
        scene = opened(model, text, mask)
        assert scene.focus.word is not None
        if text != "the cat":
            assert scene.word == min(token.position for token in scene.tokens if token.word == scene.focus.word)


def test_which_word_is_in_focus_first_does_not_depend_on_the_head(minilm):
    info = get_info("minilm-l6")
    assert first_place(info, "Two small birds sing") == first_place(info, "") != (info.default_layer, info.default_head)
    assert first_place(TOY.info, CAT) == (TOY.info.default_layer, TOY.info.default_head)


@pytest.mark.parametrize(
    ("how", "model_id", "text"),
    [
        ("for this", "translator-fr-en", "le chat noir dort "),
        ("with a pronoun", "minilm-l6", "The dog ran because it was late"),
        ("not for this", "minilm-l6", "Two small birds sing"),
        ("by default", "toy", "The dog ran"),
    ],
)
def test_it_is_told_for_which_text_the_head_that_opens_was_picked(how, model_id, text):
    assert how in tell_choice(get_info(model_id), text)
