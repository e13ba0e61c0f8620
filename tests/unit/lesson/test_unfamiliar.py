"""A text in a language that the model hardly knows is reported; an English one, however rare its words, is not."""

import pytest

from attention.core.words import words_of
from attention.experiments import corpus
from attention.lesson.initial_selection import first_word, telling_word
from attention.lesson.unfamiliar import tell_unfamiliar
from tests.loaded import load

STRANGE = [
    "Ich habe gestern einen grossen Hund gesehen",
    "Je suis allé au marché avec ma soeur",
    "Kissat nukkuvat sohvalla koko päivän",
    "Кошка сидела на ковре",
]
PLAIN = [
    "Colorless green ideas sleep furiously",
    "Photosynthesis converts carbon dioxide",
    "The unbelievableness of antidisestablishmentarianism frightened Przybylski",
    "Two birds",
]


@pytest.mark.parametrize("text", STRANGE)
@pytest.mark.parametrize("model", ["minilm-l6", "smollm2-135m"])
def test_it_is_said_of_another_language_with_the_number_of_unknown_words(model, text):
    trace = load(model).trace(text)
    words = [each for each in words_of(trace.tokens) if not each.is_special]
    told = tell_unfamiliar(trace)
    cut = sum(len(each.positions) > 1 for each in words)
    assert f" of {len(words)} words" in told
    assert cut <= int(told.partition(" of ")[0].rpartition(" ")[2])


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("model", ["minilm-l6", "smollm2-135m", "toy"])
def test_nothing_is_said_of_english_however_rare_its_words(model, text):
    assert tell_unfamiliar(load(model).trace(text)) == ""


def test_no_sentence_of_the_bundled_english_ones_is_taken_for_another_language():
    model = load("minilm-l6")
    assert not [text for text in corpus.sentences()[::20] if tell_unfamiliar(model.trace(text))]


@pytest.mark.parametrize("text", ["Ich habe gestern einen grossen Hund gesehen", "ja Przybylski frightened Mary"])
def test_a_whole_word_is_in_focus_and_no_piece_of_one(text):
    trace = load("minilm-l6").trace(text)
    pieces = {position for each in words_of(trace.tokens) if len(each.positions) > 1 for position in each.positions}
    assert pieces
    assert {first_word(trace), telling_word(trace)}.isdisjoint(pieces)
