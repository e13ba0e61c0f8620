"""Prefix matching: by hand, against plain loops, and for heads with known scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core.steps import softmax
from attention.measures.induction import after_earlier_copies, prefix_matching

TOKENS = st.lists(st.integers(0, 5), min_size=1, max_size=12)


def test_a_score_worked_out_by_hand():
    # a b c a b: the second a should look at the first b, and the second b at c.
    tokens = np.array([0, 1, 2, 0, 1])
    weights = np.zeros((5, 5))
    weights[3] = [0.1, 0.7, 0.1, 0.1, 0]
    weights[4] = [0.2, 0.3, 0.4, 0.1, 0]
    assert prefix_matching(weights, tokens) == pytest.approx((0.7 + 0.4) / 2)


def test_what_follows_several_copies_is_added_up():
    tokens = np.array([0, 1, 0, 2, 0])
    weights = np.zeros((5, 5))
    weights[2, 1] = 0.5
    weights[4, [1, 3]] = 0.25, 0.25
    assert prefix_matching(weights, tokens) == pytest.approx(0.5)


@given(TOKENS, st.integers(0, 2**32 - 1))
def test_it_is_what_plain_loops_give(tokens, seed):
    n = len(tokens)
    scores = np.random.default_rng(seed).standard_normal((n, n)) + np.triu(np.full((n, n), -np.inf), 1)
    weights, sums = softmax(scores), []
    for query in range(n):
        found = [weights[query, key + 1] for key in range(query) if tokens[key] == tokens[query]]
        if found:
            sums.append(sum(found))
    score = prefix_matching(weights, np.array(tokens))
    assert score == pytest.approx(np.mean(sums) if sums else 0)
    assert 0 <= score <= 1 + 1e-9


def test_heads_of_which_the_score_is_known():
    tokens = np.tile(np.arange(25), 4)
    n = len(tokens)
    look_back = np.eye(n, k=-24)  # from the second time on, at what came next the last time
    one_back = np.eye(n, k=-1)
    even = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
    scores = prefix_matching(np.stack([look_back, one_back, even]), tokens)
    assert scores[:2] == pytest.approx([1, 0])
    copies = [(query // 25) / (query + 1) for query in range(25, n)]
    assert scores[2] == pytest.approx(np.mean(copies))


def test_nothing_comes_before_the_first_token():
    assert not after_earlier_copies(np.array([3, 3, 3]))[:, 0].any()
    assert prefix_matching(np.ones((1, 1)), np.array([3])) == 0
