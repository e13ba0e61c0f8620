"""The two ways to tell a model the order of the words, against their papers and against transformers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention import positions


def test_sinusoidal_is_the_papers_formula():
    vectors = positions.sinusoidal(50, 16)
    for position in range(50):
        for i in range(8):
            angle = position / 10_000 ** (2 * i / 16)
            assert vectors[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-6)
            assert vectors[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-6)


def test_sinusoidal_gives_float32_of_the_asked_shape():
    vectors = positions.sinusoidal(7, 6, base=100)
    assert vectors.shape == (7, 6)
    assert vectors.dtype == np.float32
    assert positions.sinusoidal(0, 4).shape == (0, 4)


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

    np.testing.assert_allclose(positions.rotary(queries, base), wanted[0][0].numpy(), atol=2e-5)
    np.testing.assert_allclose(positions.rotary(keys, base), wanted[1][0].numpy(), atol=2e-5)


def test_rotary_turns_number_i_with_number_i_plus_half():
    x = np.array([[1.0, 0, 0, 0], [1, 0, 0, 0]])
    turned = positions.rotary(x)
    np.testing.assert_array_equal(turned[0], x[0])  # position 0 stays
    np.testing.assert_allclose(turned[1], [math.cos(1), 0, math.sin(1), 0])


def test_rotary_keeps_lengths_and_type():
    x = np.random.default_rng(0).normal(size=(3, 20, 8)).astype(np.float32)
    turned = positions.rotary(x)
    assert turned.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-5)
    assert not np.allclose(turned[:, 1:], x[:, 1:])


def test_after_rotary_the_score_depends_on_the_distance_only():
    query, key = np.random.default_rng(1).normal(size=(2, 8))
    queries, keys = (positions.rotary(np.tile(vector, (30, 1))) for vector in (query, key))
    scores = queries @ keys.T
    for distance in range(-29, 30):
        diagonal = np.diagonal(scores, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-9)
    assert np.ptp(scores[0]) > 0.1


@pytest.mark.parametrize("shape", [(4, 3), (5,)])
def test_rotary_refuses_other_shapes(shape):
    with pytest.raises(ValueError, match="must"):
        positions.rotary(np.zeros(shape))
