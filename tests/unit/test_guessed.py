"""Words missing from the toy's lexicon are named."""

import pytest

from attention.lesson.guessed import tell_guessed, tell_mostly_guessed
from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from attention.models import load
from attention.models.toy import TOY_INFO
from tests.unit.saying import plain, says

TOY = load("toy")


def told(text, teller=tell_guessed):
    return plain(teller(HeadContext(TOY.trace(text), 0, 1, 0)))


def test_nothing_is_said_of_words_that_are_known():
    assert told("The cat sat on the mat") == ""
    assert told("3 cats!") == ""
    assert told("42 ! 🙂") == ""


def test_one_unknown_word_in_an_ordinary_sentence_is_named_and_no_more():
    assert says(told("The quokka sat on the mat"), "Toy", "quokka")
    assert "matching meaning" not in told("The quokka sat on the mat")
    assert told("The quokka sat on the mat", tell_mostly_guessed) == ""


@pytest.mark.parametrize(
    ("text", "named", "counts"),
    [
        (
            "Кошка сидит на коврике",
            "“Кошка”, “сидит”, “на” and “коврике”.",
            "had to guess all 4 words here",
        ),
        (
            "猫坐在垫子上吗",
            "“猫”, “坐”, “在”, “垫”, “子” and 2 more.",
            "had to guess all 7 words here",
        ),
        ("The blorping zaxes", "“blorping” and “zaxes”.", "had to guess 2 of the 3 words here"),
        ("quokka Quokka QUOKKA", "“quokka”.", "had to guess all 3 words here"),
    ],
)
def test_a_text_that_was_mostly_guessed_is_told_with_its_words_and_what_that_does(text, named, counts):
    assert f"does not list {named}" in told(text)
    assert counts in told(text)
    assert "“matching meaning”" in told(text)
    assert "matching meaning" in TOY_INFO.head_names
    assert told(text, tell_mostly_guessed) in told(text)


def test_one_word_alone_is_told_as_one():
    assert says(told("quokka"), "guess", "only word")


def test_what_was_typed_is_never_interpreted():
    assert "<script" not in tell_guessed(HeadContext(TOY.trace("scriptx $words <b>zzq</b>"), 0, 1, 0)).replace(
        "<b>", ""
    )


def test_a_model_that_reads_no_lexicon_says_nothing_of_it_but_what_its_name_does_not(minilm):
    scene = HeadContext(minilm.trace("Кошка сидит"), 0, 0, 1)
    assert tell_guessed(scene) == tell_mostly_guessed(scene) == ""
    tokens, softmax = step_of("tokens"), step_of("softmax")
    words = plain(tokens.words(scene) + tokens.aside(scene))
    # Once, where one meets it.
    assert words.count("all-MiniLM-L6-v2") == 1
    assert "to compare sentences" in words
    assert "to compare sentences" not in plain(softmax.words(scene) + softmax.aside(scene))
