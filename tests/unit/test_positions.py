"""Sinusoidal and rotary positions, against their papers and transformers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core import positions


def rotary(x, base=10_000.0):
    turns = positions.turns_of(*x.shape[-2:], base)
    return positions.apply_rotary(x, positions.Rotary(turns.cosines.astype(x.dtype), turns.sines.astype(x.dtype)))


def test_sinusoidal_is_the_papers_formula():
    vectors = positions.sinusoidal(50, 16)
    for position in range(50):
        for i in range(8):
            angle = position / 10_000 ** (2 * i / 16)
            assert vectors[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-6)
            assert vectors[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-6)


def test_the_slowest_wave_follows_the_base():
    assert positions.sinusoidal(2, 4, base=100)[1, 2] == pytest.approx(math.sin(0.1))


@pytest.mark.parametrize("width", [1, 7, -2])
def test_sinusoidal_refuses_a_width_without_pairs(width):
    with pytest.raises(ValueError, match=f"even number, got {width}"):
        positions.sinusoidal(3, width)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 40))
def test_the_product_of_two_positions_knows_only_their_distance(first, second, shift):
    vectors = positions.waves(101, [0.3, 1.1, 2.5]).astype(np.float64)
    here = vectors[first] @ vectors[second]
    there = vectors[first + shift] @ vectors[second + shift]
    assert here == pytest.approx(there, abs=1e-5)
    assert here == pytest.approx(sum(math.cos(f * (first - second)) for f in (0.3, 1.1, 2.5)), abs=1e-5)


@given(
    heads=st.integers(1, 4),
    tokens=st.integers(1, 40),
    pairs=st.integers(1, 8),
    base=st.sampled_from([100.0, 10_000.0, 500_000.0]),
    seed=st.integers(0, 2**16),
)
def test_rotary_is_transformers_rotary(heads, tokens, pairs, base, seed):
    torch = pytest.importorskip("torch")
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    config = llama.LlamaConfig(
        hidden_size=heads * 2 * pairs,
        num_attention_heads=heads,
        rope_parameters={"rope_type": "default", "rope_theta": base},
    )
    queries, keys = np.random.default_rng(seed).normal(size=(2, heads, tokens, 2 * pairs)).astype(np.float32)
    cosine, sine = llama.LlamaRotaryEmbedding(config)(torch.zeros(1), torch.arange(tokens)[None])
    wanted = llama.apply_rotary_pos_emb(torch.from_numpy(queries)[None], torch.from_numpy(keys)[None], cosine, sine)

    np.testing.assert_allclose(rotary(queries, base), wanted[0][0].numpy(), atol=2e-5)
    np.testing.assert_allclose(rotary(keys, base), wanted[1][0].numpy(), atol=2e-5)
    # Cohere pairs neighbours, and has each angle twice, side by side.
    cohere = pytest.importorskip("transformers.models.cohere.modeling_cohere")
    cosine, sine = (each[..., :pairs].repeat_interleave(2, dim=-1) for each in (cosine, sine))
    wanted, _ = cohere.apply_rotary_pos_emb(torch.from_numpy(queries)[None], torch.from_numpy(keys)[None], cosine, sine)
    turns = positions.Rotary(cosine[0, :, ::2].numpy(), sine[0, :, ::2].numpy(), adjacent=True)
    np.testing.assert_allclose(positions.apply_rotary(queries, turns), wanted[0].numpy(), atol=2e-5)


def test_a_text_that_begins_later_is_turned_as_a_longer_one_from_there_on():
    longer = positions.turns_of(300, 16)
    turns = positions.Rotary(longer.cosines[:7], longer.sines[:7])
    for place in (0, 1, 40, 293):
        found = positions.begun_at(turns, place)
        np.testing.assert_allclose(found.cosines, longer.cosines[place : place + 7], atol=3e-5)
        np.testing.assert_allclose(found.sines, longer.sines[place : place + 7], atol=3e-5)
    np.testing.assert_allclose(positions.speeds(turns), 10_000.0 ** (-np.arange(8) / 8), rtol=1e-5)


@given(st.integers(0, 60), st.integers(0, 30), st.integers(0, 2**16))
def test_a_query_moved_away_from_a_key_is_that_of_a_longer_text(distance, place, seed):
    query, key = np.random.default_rng(seed).normal(size=(2, 8)).astype(np.float32)
    found = positions.apart(query, key, positions.turns_of(2, 8), 61)
    assert found.shape == (61,)
    # Both as they are rotated in one text, the query so many places after the key.
    text = np.zeros((place + distance + 1, 8), np.float32)
    queries, keys = text.copy(), text.copy()
    queries[-1], keys[place] = query, key
    wanted = rotary(queries)[-1] @ rotary(keys)[place]
    assert found[distance] == pytest.approx(wanted, abs=1e-3)


def test_one_position_alone_does_not_tell_how_fast_anything_turns():
    with pytest.raises(ValueError, match="at least 2 positions"):
        positions.begun_at(positions.turns_of(1, 8), 3)


@pytest.mark.parametrize("n_heads", [1, 2, 8, 16, 64])
def test_slopes_are_those_of_transformers(n_heads):
    bloom = pytest.importorskip("transformers.models.bloom.modeling_bloom")
    wanted = bloom._get_alibi_slopes(n_heads, "cpu").numpy()
    np.testing.assert_allclose(positions.alibi_slopes(n_heads), wanted, rtol=1e-6)


def test_a_penalty_grows_with_the_distance_on_both_sides():
    bias = positions.alibi(0.25, 4)
    assert bias.dtype == np.float32
    assert bias.tolist() == [[-0.25 * abs(i - j) for j in range(4)] for i in range(4)]


@pytest.mark.parametrize(("n_buckets", "furthest"), [(32, 128), (16, 64), (64, 500)])
def test_buckets_are_those_of_transformers(n_buckets, furthest):
    torch = pytest.importorskip("torch")
    t5 = pytest.importorskip("transformers.models.t5.modeling_t5")
    distances = np.arange(-700, 701)
    wanted = t5.T5Attention._relative_position_bucket(
        torch.from_numpy(distances), num_buckets=n_buckets, max_distance=furthest
    )
    np.testing.assert_array_equal(positions.t5_buckets(distances, n_buckets, furthest), wanted.numpy())
