"""The calculated costs of attention, against values by hand; and laws fitted to measurements."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.experiments.costs import LENGTHS, LLAMA, NEW, WAYS, Point, curves, growth, points
from attention.lesson.savings import PRESETS

K = 1024


def test_the_sizes_of_llama_3_8b_give_the_weights_that_it_is_known_to_have():
    # Not multiplied for a token: the embedding, and two norms in each layer and a final one.
    rest = LLAMA.n_vocabulary * LLAMA.d_model + (2 * LLAMA.n_layers + 1) * LLAMA.d_model
    assert LLAMA.per_token + rest == 8_030_261_248


def test_other_pages_have_the_same_sizes_of_it():
    (other,) = (each for each in PRESETS if each.name == "Llama 3 8B")
    names = ("n_layers", "n_heads", "n_key_value_heads", "d_model", "d_head")
    assert [getattr(LLAMA, name) for name in names] == [getattr(other, name) for name in names]


@pytest.mark.parametrize(
    ("tokens", "scores", "cache", "looking"),
    [
        # 32 × 32 heads × 1,024²; 131,072 bytes for each token; 2 × 32 × 32 × 128 = 262,144 for each token.
        (K, 2**30, 2**27, 2**28),
        (128 * K, 2**44, 2**34, 2**35),
        (K * K, 2**50, 2**37, 2**38),
    ],
)
def test_a_text_of_1k_128k_and_1m_tokens(tokens, scores, cache, looking):
    assert LLAMA.scores(tokens) == scores
    assert LLAMA.cache(tokens) == cache
    assert LLAMA.looking_back(tokens) == looking


def test_without_grouped_queries_the_cache_is_four_times_as_large():
    own = replace(LLAMA, n_key_value_heads=32)
    assert (LLAMA.cache(1), own.cache(1)) == (131_072, 524_288)
    # W_K and W_V are four times as large, too: 4096 × 4096 each, and not 4096 × 1024.
    assert own.projections - LLAMA.projections == 32 * 2 * 4096 * 3072


def test_looking_back_is_even_with_all_else_where_both_are_the_same():
    # In a layer: W_Q and W_O, W_K and W_V, and three matrices of the feed-forward network; then the vocabulary.
    layers = 32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    assert LLAMA.per_token == layers + 128_256 * 4096 == 7_504_658_432
    assert LLAMA.even == 28_628
    assert LLAMA.looking_back(28_628) == LLAMA.per_token


@given(st.floats(0.5, 3), st.floats(1e-6, 1e3), st.integers(3, 12))
def test_the_power_of_a_law_is_found(power, factor, count):
    lengths = 2 ** np.arange(count)
    found = growth(lengths, factor * lengths**power)
    assert found.exponent == pytest.approx(power, abs=1e-6)


def test_only_the_longer_half_counts():
    lengths = np.array(LENGTHS)
    # What is done but once is most of it where texts are short.
    amounts = np.where(lengths < 512, 7.0, lengths.astype(float) ** 2)
    found = growth(lengths, amounts)
    assert (found.first, found.last) == (512, 4096)
    assert found.exponent == pytest.approx(2)
    assert growth(np.array(NEW), np.array(NEW) ** 2)[1:] == (128, 512)
    assert growth(lengths[:2], amounts[:2]) is None


def test_points_come_back_from_frames_and_curves_are_in_order():
    measured = [
        Point("fused", 128, 0.5, 70, 1e-7),
        Point("explicit", 64, 0.25, 50),
        Point("explicit", 32, 0.125, 40),
    ]
    assert points([{"share": np.float64(1)} | each.arrays() for each in measured]) == tuple(measured)
    found = curves(measured)
    assert list(found) == ["explicit", "fused"]
    np.testing.assert_array_equal(found["explicit"].lengths, [32, 64])
    np.testing.assert_array_equal(found["explicit"].seconds, [0.125, 0.25])
    np.testing.assert_array_equal(found["explicit"].cut(1).n_bytes, [40])
    np.testing.assert_array_equal(found["fused"].differences, [1e-7])
    assert set(found) < set(WAYS)
