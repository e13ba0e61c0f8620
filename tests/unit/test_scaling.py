"""Random dot products against theory, and softmax's gradient against torch's."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention.core.steps import softmax
from attention.experiments.scaling import exponent, gradient_length, random_scores

WIDTHS = (1, 4, 16, 64, 256)


@pytest.mark.parametrize("seed", range(4))
def test_the_spread_of_ten_thousand_dot_products_grows_as_the_root_of_their_width(seed):
    scores = random_scores(WIDTHS, n_queries=1250, n_keys=8, seed=seed)
    spreads = scores.std(axis=(1, 2))
    assert exponent(WIDTHS, spreads) == pytest.approx(0.5, abs=0.02)
    np.testing.assert_allclose(spreads / np.sqrt(WIDTHS), 1, atol=0.1)
    np.testing.assert_allclose(scores.mean(axis=(1, 2)) / np.sqrt(WIDTHS), 0, atol=0.05)


def test_the_first_numbers_of_a_pair_are_the_same_for_every_width():
    some, more = random_scores((2, 8), 3, 4), random_scores((2, 8, 32), 3, 4)
    np.testing.assert_array_equal(some, more[:2])
    # What one width adds to another is independent of what was there.
    assert abs(np.corrcoef(random_scores((8, 16), 1250, 8)[0].ravel(),
               np.diff(random_scores((8, 16), 1250, 8), axis=0).ravel())[0, 1]) < 0.05  # fmt: skip


@given(st.floats(0.1, 3), st.floats(0.01, 100))
def test_the_exponent_of_a_power_is_found(power, factor):
    assert exponent(WIDTHS, [factor * width**power for width in WIDTHS]) == pytest.approx(power, rel=1e-6)


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=9))
def test_the_length_of_the_gradient_is_that_of_torchs_jacobian(scores):
    jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), torch.tensor(scores).double())
    assert gradient_length(softmax(np.array(scores))) == pytest.approx(float(jacobian.norm()), abs=1e-7)


def test_the_gradient_is_longest_where_two_share_and_gone_where_one_has_all():
    assert gradient_length(np.array([1.0, 0.0, 0.0])) == 0
    assert gradient_length(np.full(8, 1 / 8)) == pytest.approx(np.sqrt(7) / 8)
    assert gradient_length(np.zeros(5)) == 0
