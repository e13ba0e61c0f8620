"""An untrained head: it sees no later token, and prefers none over many draws."""

import numpy as np

from attention.experiments.untrained import untrained_weights

TOKENS = [3, 1, 4, 5, 3, 1, 4, 5]


def test_a_head_of_random_numbers_sees_what_came_and_prefers_nothing_of_it():
    drawn = np.array([untrained_weights(TOKENS, seed) for seed in range(400)])
    rows, columns = np.indices(drawn.shape[1:])
    assert not drawn[:, columns > rows].any()
    np.testing.assert_allclose(drawn.sum(axis=-1), 1, rtol=1e-5)
    even = np.where(columns <= rows, 1 / (rows + 1), 0)
    np.testing.assert_allclose(drawn.mean(axis=0), even, atol=0.04)
    # One head by itself is far from even.
    assert np.abs(drawn - even).max(axis=(1, 2)).mean() > 0.1
