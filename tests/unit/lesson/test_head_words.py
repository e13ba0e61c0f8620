"""Descriptions of heads: each phrase against weights constructed to earn it."""

import numpy as np
import pytest

from attention.core.reading import TEXT
from attention.core.trace import Token
from attention.lesson.head_words import gazes, in_words, tell_groups
from attention.lesson.survey import Look, place, survey
from attention.measures.summaries import summarise_weights
from tests.loaded import load

WORDS = ["[CLS]", "the", "animal", "crossed", "the", "street", "because", "it", "was", "too", "tired", "[SEP]"]
N = len(WORDS)
IT, ANIMAL = WORDS.index("it"), WORDS.index("animal")


def tokens():
    ends = (0, N - 1)
    return [
        Token(text, text, None if place in ends else place, place, place, place in ends)
        for place, text in enumerate(WORDS)
    ]


def told(weights):
    (summary,), (gaze,) = summarise_weights(weights[None], tokens()), gazes(weights[None], tokens(), tokens())
    return in_words(summary, gaze, special=("[CLS]", "[SEP]"))


def rows(*keys_of_rows):
    """Return weights in which each row gives all to one key."""
    weights = np.zeros((N, N), np.float32)
    weights[np.arange(N), keys_of_rows] = 1
    return weights


BACK = [max(0, row - 1) for row in range(N)]


@pytest.mark.parametrize(
    ("weights", "phrase"),
    [
        (rows(*BACK), "looks one word back (1.00 of its weight)"),
        (rows(*(min(N - 1, row + 1) for row in range(N))), "looks one word ahead (1.00 of its weight)"),
        (rows(*range(N)), "looks at the word itself (1.00 of its weight)"),
        (rows(*[0] * N), "looks at [CLS], the first token (1.00 of its weight)"),
        (rows(*[N - 1] * N), "looks at [SEP], the end of the text (1.00 of its weight)"),
        (
            rows(*[5] * N),
            (
                "“it” gives the most weight to the noun “street” (1.00); "
                "over the whole sentence: most words look at “street” (1.00 of its weight)"
            ),
        ),
        (np.full((N, N), 1 / N, np.float32), "spreads its weight over many words (evenness 1.00 of 1)"),
        ((rows(*[0] * N) + rows(*[N - 1] * N)) / 2, "looks at [CLS] and [SEP] (1.00 of its weight)"),
    ],
)
def test_a_head_made_to_do_one_thing_is_said_to_do_that(weights, phrase):
    assert told(weights) == phrase


def test_the_noun_of_a_pronoun_is_named_only_where_the_pronoun_gives_it_most():
    keys = list(BACK)
    keys[IT] = ANIMAL
    assert told(rows(*keys)).startswith(
        "“it” gives the most weight to the noun “animal” (1.00); over the whole sentence: "
    )
    keys[IT] = WORDS.index("was")
    assert "“it” gives" not in told(rows(*keys))


def test_heads_are_counted_by_what_each_is_said_to_do():
    finds_noun = list(BACK)
    finds_noun[IT] = ANIMAL
    ahead, first, last = [min(N - 1, row + 1) for row in range(N)], [0] * N, [N - 1] * N
    heads = np.array([rows(*keys) for keys in (BACK, finds_noun, ahead, first, last, range(N))])
    heads = np.array([*heads, np.full((N, N), 1 / N), rows(*np.random.default_rng(0).permutation(N))], np.float32)
    told = tell_groups(summarise_weights(heads, tokens()), gazes(heads, tokens(), tokens()), TEXT, ("[CLS]", "[SEP]"))
    for found in ("back or ahead (3)", "at [CLS] / [SEP] (2)", "another pattern (1)", "many words (1)"):
        assert found in told
    assert "no single pattern (1)" in told
    assert "“animal” (1 head)" in told


def test_no_head_of_a_model_is_told_in_the_terms_of_the_rules_alone():
    surveyed = survey(load("minilm-l6").trace("The animal didn't cross the street because it was too tired"), Look())
    said = {place(summary): surveyed.in_words(place(summary)) for summary in surveyed.summaries}
    assert not [words for words in said.values() if "heterogeneous" in words or "entropy" in words]
    assert said[0, 2].startswith("looks one word back")
    assert said[3, 1].startswith("“it” gives the most weight to the noun “animal” (0.64)")
