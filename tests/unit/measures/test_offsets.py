"""How far a head attends, and whether only by position."""

import numpy as np
import pytest
from hypothesis import given

from attention.measures.offsets import Offsets
from attention.measures.rows import Rows
from tests.plain_loops import adjusted_r_squared, average, counted_rows, masked_weights, random_weights, visible


def positional(weights, mask=None, counted=None):
    rows = Rows.of(weights, mask, counted)
    return Offsets.of(rows).positional(rows)


@given(masked_weights())
def test_distances_offsets_and_shares_equal_plain_loops(inputs):
    weights, mask, rows = inputs
    by_offset = Offsets.of(Rows.of(weights, mask, rows))
    measures = [
        (by_offset.mean_distance(), lambda q, k: abs(k - q)),
        (by_offset.mean_offset(), lambda q, k: k - q),
        (by_offset.near(), lambda q, k: abs(k - q) <= 1),
    ]
    for found, per_cell in measures:
        wanted = [
            average(sum(a * per_cell(q, k) for k, a in enumerate(head[q])) for q in counted_rows(head, rows))
            for head in weights
        ]
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    for offset in (-9, -1, 0, 1, 2, 9):
        wanted = [
            average(
                head[q, q + offset]
                for q in counted_rows(head, rows)
                if 0 <= q + offset < head.shape[1] and visible(mask, number, q, q + offset)
            )
            for number, head in enumerate(weights)
        ]
        np.testing.assert_allclose(by_offset.share(offset), wanted, atol=1e-12)


def test_one_head_serves_as_well_as_many():
    weights = random_weights(0, 3, 4, 4)

    def measures(heads):
        rows = Rows.of(heads)
        offsets = Offsets.of(rows)
        return np.array([offsets.mean_distance(), offsets.mean_offset(), offsets.positional(rows)])

    np.testing.assert_allclose(np.transpose([measures(head) for head in weights]), measures(weights))


@given(masked_weights())
def test_positional_score_equals_plain_loops(inputs):
    weights, mask, rows = inputs
    for head, found in enumerate(positional(weights, mask, rows)):
        cells = [
            (k - q, weights[head, q, k])
            for q in counted_rows(weights[head], rows)
            for k in range(weights.shape[2])
            if visible(mask, head, q, k)
        ]
        assert found == pytest.approx(adjusted_r_squared(cells), abs=1e-9)
