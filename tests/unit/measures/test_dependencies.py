"""How well heads find the syntactic heads of words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core import masks
from attention.measures.dependencies import OFFSETS, Parse, best_offset, dependency_accuracy
from tests.plain_loops import random_weights, seeds

# The old dog slept
PARSE = Parse((2, 2, 3, None), ("det", "amod", "nsubj", "root"))


def pointing(*targets):
    """Weights of a head in which each word looks at one other, and half as much at itself."""
    weights = np.eye(len(targets)) * 0.6
    weights[range(len(targets)), targets] += 0.4
    return weights


def test_dependency_accuracy_by_hand():
    always, next_word, never = pointing(2, 2, 3, 0), pointing(1, 2, 3, 0), pointing(3, 0, 0, 0)
    weights = np.stack([always, next_word, never])
    scores = dependency_accuracy([(weights, PARSE)])
    assert {relation: (score.count, score.accuracy.tolist()) for relation, score in scores.items()} == {
        "det": (1, [1, 0, 0]),
        "amod": (1, [1, 1, 0]),
        "nsubj": (1, [1, 1, 0]),
        "all": (3, [1, pytest.approx(2 / 3), 0]),
    }


def test_from_head_to_dependent_the_columns_are_asked():
    weights = pointing(2, 2, 3, 0).T
    forward = dependency_accuracy([(weights, PARSE)])
    backward = dependency_accuracy([(weights, PARSE)], direction="head to dependent")
    assert float(backward["all"].accuracy) == 1
    assert float(forward["all"].accuracy) < 1


def test_sentences_of_any_length_are_added_up():
    short = Parse((1, None), ("det", "root"))
    heads = [(np.stack([pointing(2, 2, 3, 0)] * 2), PARSE), (np.stack([pointing(1, 0), np.eye(2)]), short)]
    scores = dependency_accuracy(iter(heads))
    assert (scores["det"].count, scores["det"].accuracy.tolist()) == (2, [1, 0.5])
    assert (scores["all"].count, scores["all"].accuracy.tolist()) == (4, [1, 0.75])


def test_a_word_that_sees_no_other_is_a_miss():
    causal = random_weights(0, 2, 2, mask=masks.causal(2))
    parses = [Parse((1, None), ("det", "root")), Parse((None, 0), ("root", "dobj"))]
    blind = [dependency_accuracy([(weights, parses[1])]) for weights in (np.zeros((2, 2)), np.eye(2))]
    assert [float(score["dobj"].accuracy) for score in blind] == [0, 0]
    assert float(dependency_accuracy([(causal, parses[0])])["det"].accuracy) == 0
    assert float(dependency_accuracy([(causal, parses[1])])["dobj"].accuracy) == 1


def test_the_possessive_mark_speaks_for_its_word():
    # John 's book fell; her book
    parse = Parse((2, 0, 3, None), ("poss", "possessive", "nsubj", "root"))
    weights = pointing(1, 2, 3, 0)
    assert float(dependency_accuracy([(weights, parse)])["poss"].accuracy) == 1
    assert best_offset([parse])["poss"].offset == 1
    pronoun = Parse((1, None), ("poss", "root"))
    assert float(dependency_accuracy([(pointing(1, 0), pronoun)])["poss"].accuracy) == 1


def test_the_best_fixed_offset_by_hand():
    other = Parse((1, None, 3, 1), ("nsubj", "root", "det", "dobj"))
    best = best_offset([PARSE, other])
    assert {relation: (score.count, score.offset, score.accuracy) for relation, score in best.items()} == {
        "det": (2, 1, 0.5),  # distances 2 and 1: the first offset of equally good ones
        "amod": (1, 1, 1),
        "nsubj": (2, 1, 1),
        "dobj": (1, -2, 1),
        "all": (6, 1, pytest.approx(4 / 6)),
    }


@given(seeds, st.integers(2, 6))
def test_an_offset_is_as_good_as_a_head_that_looks_there(seed, n_words):
    rng = np.random.default_rng(seed)
    heads = tuple(int(rng.choice([j for j in range(n_words) if j != i])) for i in range(n_words))
    parse = Parse(heads, tuple(rng.choice(["det", "dobj"], n_words).tolist()))
    attention = np.stack([np.eye(n_words, k=offset) for offset in OFFSETS])
    scores, best = dependency_accuracy([(attention, parse)]), best_offset([parse])
    assert scores.keys() == best.keys()
    for relation, score in scores.items():
        assert best[relation].accuracy == score.accuracy.max()
        assert best[relation].offset == OFFSETS[score.accuracy.argmax()]


def test_a_parse_is_checked():
    with pytest.raises(ValueError, match="got 1 and 2"):
        Parse((1, None), ("det",))
    for head in (0, 2, -1):
        with pytest.raises(ValueError, match="another word of 2"):
            Parse((head, None), ("det", "root"))
    with pytest.raises(ValueError, match=r"weights.*\(4, 4\)"):
        dependency_accuracy([(np.ones((3, 3)), PARSE)])
