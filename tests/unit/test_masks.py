import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention.core import masks

n_tokens = st.integers(masks.N_PADDING + 1, 12)


@given(n_tokens, st.data())
def test_causal_hides_a_key_exactly_if_it_is_later(n, data):
    query, key = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    assert masks.causal(n)[query, key] == (-np.inf if key > query else 0)


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_padding_hides_the_columns_of_padding_from_every_query(is_padding):
    hidden = np.isneginf(masks.padding(is_padding))
    for row in hidden:
        assert row.tolist() == is_padding


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2)))
def test_painted_hides_exactly_the_marked_cells(hidden):
    mask = masks.painted(hidden)
    assert mask.dtype == np.float32
    np.testing.assert_array_equal(np.isneginf(mask), hidden)
    assert not mask[~hidden].any()


@given(n_tokens)
def test_build_makes_the_named_masks(n):
    np.testing.assert_array_equal(masks.build("causal", n), masks.causal(n))
    appended = [False] * (n - masks.n_padding("padding")) + [True] * masks.n_padding("padding")
    np.testing.assert_array_equal(masks.build("padding", n), masks.padding(appended))
    assert masks.build("none", n) is None
    assert masks.build(None, n) is None


def test_build_keeps_an_array_and_lets_go_of_its_memory():
    given_mask = np.array([[0, -np.inf], [0.5, 0]], np.float32)
    built = masks.build(given_mask, 2)
    np.testing.assert_array_equal(built, given_mask)
    assert not np.shares_memory(built, given_mask)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ("diagonal", "one of none, causal, padding or an array, got 'diagonal'"),
        (np.zeros((3, 2)), r"shape \(3, 3\) for 3 tokens, got \(3, 2\)"),
        (np.zeros((1, 3, 3)), r"shape \(3, 3\) for 3 tokens, got \(1, 3, 3\)"),
        (np.full((3, 3), np.nan), "got NaN"),
        (np.full((3, 3), np.inf), r"got NaN or \+inf"),
    ],
)
def test_build_says_what_is_wrong_with_a_mask(mask, message):
    with pytest.raises(ValueError, match=message):
        masks.build(mask, 3)


@given(n_tokens, st.data())
def test_a_causal_mask_with_a_hole_is_not_causal(n, data):
    key = data.draw(st.integers(1, n - 1))
    query = data.draw(st.integers(0, key - 1))
    mask = masks.causal(n)
    assert masks.is_causal(mask)
    assert masks.is_causal(np.stack([mask, mask]))
    mask[query, key] = 0
    assert not masks.is_causal(mask)
    assert not masks.is_causal(np.stack([masks.causal(n), mask]))


@pytest.mark.parametrize("mask", [None, masks.none(4), masks.causal(1), np.full((2, 3), -np.inf)])
def test_masks_that_are_not_causal(mask):
    assert not masks.is_causal(mask)


def test_a_mask_of_booleans_is_refused_since_it_would_be_added_as_ones():
    with pytest.raises(ValueError, match=r"additive.*bool"):
        masks.build(np.ones((3, 3), bool), 3)


def test_a_float_types_lowest_number_is_hidden_as_minus_infinity_is():
    lowest = np.zeros((3, 3), np.float32)
    lowest[1] = np.finfo(np.float32).min
    assert np.isneginf(masks.build(lowest, 3)[1]).all()


@given(n_tokens, st.integers(0, 14), st.data())
def test_a_window_hides_what_is_further_away_than_it_reaches(n, reach, data):
    query, key = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    assert masks.window(n, reach)[query, key] == (-np.inf if abs(query - key) > reach else 0)


@given(n_tokens, st.integers(0, 14), st.data())
def test_a_prefix_is_seen_by_all_and_what_follows_is_causal(n, length, data):
    query, key = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    assert masks.prefix(n, length)[query, key] == (0 if key < length or key <= query else -np.inf)
