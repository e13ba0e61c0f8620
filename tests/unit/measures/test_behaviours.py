"""Named behaviours and their thresholds."""

from dataclasses import replace

import numpy as np

from attention.measures.marks import Marks
from attention.measures.summaries import summarise_weights
from tests.drawn_heads import ELSEWHERE, EVEN, PAIR, TO_NEXT, TO_PREVIOUS, TO_SEPARATORS, N
from tests.plain_loops import tokens_of


def behaviours(weights, tokens=PAIR):
    (summary,) = summarise_weights(weights[None], tokens)
    return summary.behaviour_names


def test_a_head_is_known_by_what_it_does():
    assert behaviours(TO_PREVIOUS) == ("previous token", "positional")
    assert behaviours(TO_NEXT) == ("next token", "positional")
    assert behaviours(TO_SEPARATORS) == ("separator sink",)
    assert behaviours(EVEN) == ("broad",)
    assert behaviours(ELSEWHERE) == ()
    to_start = np.zeros((N, N))
    to_start[:, 0] = 1
    assert behaviours(to_start) == ("start sink",)
    tokens = tokens_of("the cat saw the dog see the mat")
    same = Marks.of([tokens]).same_word[0] / 2 + np.diag([0, 1, 1, 0, 1, 1, 0, 1])
    assert "same word" in behaviours(same, tokens)


def test_a_behaviour_must_exceed_its_threshold():
    half = 0.5 * np.eye(N, k=-1) + 0.5 * np.eye(N)
    (summary,) = summarise_weights(half[None], PAIR)
    above, at = replace(summary, previous=0.51), replace(summary, previous=0.5)
    assert [summary.behaviours[0].passes for summary in (above, at)] == [True, False]
    assert (above.behaviours[0].name, above.behaviours[0].score) == ("previous token", 0.51)
