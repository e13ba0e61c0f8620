"""The five patterns, on weights whose pattern is obvious."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.core import masks
from attention.measures.five_patterns import PATTERN_NAMES, PatternScores, pattern_indices
from attention.measures.summaries import summarise_weights
from tests.drawn_heads import EVEN, OWN_SEGMENT, PAIR, TO_NEXT, TO_PREVIOUS, TO_SEPARATORS, N
from tests.plain_loops import Plain, pattern_label, random_weights, seeds, words


def scores_of(weights, tokens, mask=None):
    return tuple(summary.pattern for summary in summarise_weights(weights, tokens, mask))


@pytest.mark.parametrize(
    ("weights", "label"),
    [
        (EVEN, "heterogeneous"),
        (TO_SEPARATORS, "vertical"),
        (0.6 * TO_SEPARATORS + 0.4 * EVEN, "vertical"),
        (TO_PREVIOUS, "diagonal"),
        (np.eye(N), "diagonal"),
        (0.65 * TO_PREVIOUS + 0.35 * EVEN, "diagonal"),
        (0.5 * TO_SEPARATORS + 0.5 * TO_NEXT, "vertical + diagonal"),
        (OWN_SEGMENT, "block"),
    ],
)
def test_patterns_that_the_eye_sees(weights, label):
    (scores,) = scores_of(weights[None], PAIR)
    assert scores.label == label
    assert list(scores.as_dict()) == list(PATTERN_NAMES)
    assert all(0 <= score <= 1 for score in scores.as_dict().values())


def test_there_is_no_block_in_one_segment():
    one = tuple(replace(token, segment=0) for token in PAIR)
    (scores,) = scores_of(OWN_SEGMENT[None], one)
    assert scores.block == 0
    assert scores.label == "heterogeneous"


@settings(max_examples=30)
@given(seeds, st.sampled_from(["none", "causal"]), st.sampled_from([1, 3]))
def test_pattern_scores_equal_plain_loops(seed, mask_name, sharpness):
    mask = masks.build(mask_name, N)
    weights = random_weights(seed, N, N, sharpness=sharpness, mask=mask)
    (scores,) = scores_of(weights[None], PAIR, mask)
    wanted = Plain(weights, PAIR, None if mask is None else ~np.isneginf(mask)).patterns()
    assert asdict(scores) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("n_tokens", [1, 2, 3])
def test_two_tokens_make_no_pattern(n_tokens):
    """Where neighbours are all that there is, weight on neighbours says nothing."""
    weights = np.stack([np.eye(n_tokens), np.full((n_tokens, n_tokens), 1 / n_tokens)])
    for scores in scores_of(weights, words(n_tokens)):
        assert n_tokens > 2 or scores.label == "heterogeneous"
        assert all(math.isfinite(score) for score in scores.as_dict().values())


@given(st.lists(st.tuples(*[st.sampled_from([0, 0.1, 0.3, 0.5, 0.51, 0.9])] * 4), min_size=1, max_size=20))
def test_the_label_is_the_one_of_the_rule_for_one_head_and_for_many(rows):
    wanted = [pattern_label(*row) for row in rows]
    assert [PATTERN_NAMES[index] for index in pattern_indices(*np.array(rows).T)] == wanted
    assert [PatternScores(*row, heterogeneous=0).label for row in rows] == wanted
