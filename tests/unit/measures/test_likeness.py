"""The dissimilarity of two heads."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from attention.measures.likeness import head_distance, overlaps
from tests.plain_loops import average, counted_rows, js_bits, masked_weights, random_weights


def distances(weights, rows=None):
    """The distance of every two heads."""
    return np.array([[head_distance(one, other, rows) for other in weights] for one in weights])


@pytest.mark.parametrize(
    ("p", "q", "distance"),
    [
        ([1, 0], [0, 1], 1),
        ([0.3, 0.7], [0.3, 0.7], 0),
        # H(3/4, 1/4) = 0.811278 bits, less half of H(1/2, 1/2) = 1 bit.
        ([1, 0], [0.5, 0.5], math.sqrt(0.8112781244591328 - 0.5)),
    ],
)
def test_head_distance_by_hand(p, q, distance):
    assert head_distance(np.array([p]), np.array([q])) == pytest.approx(distance, abs=1e-12)


@given(masked_weights())
def test_head_distances_equal_plain_loops_and_are_a_metric(inputs):
    weights, _, rows = inputs
    shared = set.intersection(*(set(counted_rows(head, rows)) for head in weights))
    # Distances of three heads compare only over the same rows.
    found = distances(weights, np.array([row in shared for row in range(weights.shape[1])]))
    for i, j in np.ndindex(found.shape):
        wanted = math.sqrt(max(average(js_bits(weights[i, q], weights[j, q]) for q in shared), 0))
        assert found[i, j] == pytest.approx(wanted, abs=1e-7)
    assert not found.diagonal().any()
    np.testing.assert_array_equal(found, found.T)
    assert (found >= 0).all()
    assert (found <= 1).all()
    for i, j, k in product(range(len(weights)), repeat=3):
        assert found[i, k] <= found[i, j] + found[j, k] + 1e-7


def test_equal_heads_are_at_no_distance_whatever_their_rounding():
    weights = random_weights(0, 1, 33, 33).astype(np.float32)
    assert not distances(np.concatenate([weights] * 7)).any()


@given(masked_weights())
def test_rows_overlap_by_all_but_half_of_what_differs(inputs):
    weights, _, _ = inputs
    found, differ = overlaps(weights, weights[0]), np.abs(weights - weights[0]).sum(axis=-1)
    are_both = weights.any(axis=-1) & weights[0].any(axis=-1)
    np.testing.assert_allclose(found[are_both], 1 - differ[are_both] / 2, atol=1e-6)
    # A row that is wholly masked shares nothing.
    assert not found[~are_both].any()
