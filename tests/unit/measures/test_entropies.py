"""How broadly a head attends."""

import math

import numpy as np
import pytest
from hypothesis import given

from attention.core import masks
from attention.measures.entropies import entropy, normalised_entropy
from attention.measures.rows import Rows
from attention.measures.summaries import summarise_weights
from tests.plain_loops import masked_weights, random_weights, visible, words


@pytest.mark.parametrize(
    ("row", "nats"),
    [
        ([1, 0, 0, 0], 0),
        ([0.5, 0.5, 0, 0], math.log(2)),
        ([0.25] * 4, math.log(4)),
        ([0.5, 0.25, 0.125, 0.125], 1.75 * math.log(2)),
        ([0, 0, 0, 0], 0),
    ],
)
def test_entropy_by_hand(row, nats):
    found = entropy(np.array(row, np.float32))
    assert found == pytest.approx(nats, abs=1e-7)
    assert not np.signbit(found)


@given(masked_weights())
def test_entropy_lies_between_nothing_and_even(inputs):
    weights, mask, _ = inputs
    found = entropy(weights)
    normalised = normalised_entropy(found, Rows.of(weights, mask).n_visible)
    assert normalised.shape == found.shape
    for head, query in np.ndindex(found.shape):
        row = weights[head, query]
        n_keys = sum(visible(mask, head, query, key) for key in range(row.size))
        assert found[head, query] == pytest.approx(-sum(p * math.log(p) for p in row if p), abs=1e-12)
        assert 0 <= found[head, query] <= math.log(max(n_keys, 1)) + 1e-12
        wanted = found[head, query] / math.log(n_keys) if n_keys > 1 else 0
        assert normalised[head, query] == pytest.approx(wanted, abs=1e-12)


def test_even_causal_rows_are_as_broad_as_can_be_and_the_first_has_no_choice():
    weights = random_weights(0, 5, 5, sharpness=0, mask=masks.causal(5))
    n_visible = Rows.of(weights, masks.causal(5)).n_visible
    np.testing.assert_allclose(normalised_entropy(entropy(weights), n_visible), [0, 1, 1, 1, 1])
    (summary,) = summarise_weights(weights[None], words(5), masks.causal(5))
    assert summary.normalised_entropy == pytest.approx(1)
