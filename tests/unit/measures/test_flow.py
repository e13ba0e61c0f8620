"""Attention rollout, and norms of transformed vectors."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core import masks
from attention.core.trace import LayerTrace, Projections
from attention.measures.flow import rollout, value_norms, weighted_norms
from attention.models.toy import ToyModel
from tests.plain_loops import random_weights, seeds

MODEL = ToyModel()
SENTENCE = "The cat sat on the mat"


def test_rollout_of_even_weights_is_the_published_one():
    """Unmasked: with a causal mask the first token could only keep all of itself."""
    rolled = rollout(np.full((3, 4, 4), 0.25))
    np.testing.assert_allclose(rolled[-1, 0], [0.34375, 0.21875, 0.21875, 0.21875], atol=1e-15)
    np.testing.assert_allclose(rolled[0], np.eye(4) / 2 + 1 / 8, atol=1e-15)
    causal = np.stack([random_weights(0, 4, 4, sharpness=0, mask=masks.causal(4))] * 3)
    np.testing.assert_allclose(rollout(causal)[-1, 0], [1, 0, 0, 0], atol=1e-15)


@given(seeds, st.integers(1, 3), st.integers(1, 4))
def test_rollout_adds_up_all_paths(seed, n_layers, n_tokens):
    weights = random_weights(seed, n_layers, n_tokens, n_tokens)
    rolled = rollout(weights)[-1]
    for start, end in np.ndindex(rolled.shape):
        paths = product(range(n_tokens), repeat=n_layers - 1)
        total = 0.0
        for path in paths:
            # From the top layer down to the input.
            stops = (start, *path, end)
            steps = zip(range(n_layers - 1, -1, -1), stops, stops[1:], strict=False)
            total += math.prod((weights[layer, q, k] + (q == k)) / 2 for layer, q, k in steps)
        assert rolled[start, end] == pytest.approx(total, abs=1e-12)
    np.testing.assert_allclose(rolled.sum(axis=-1), 1, atol=1e-12)


def test_a_token_that_sees_nothing_keeps_itself():
    weights = np.zeros((2, 3, 3))
    weights[:, 1:] = 1 / 3
    np.testing.assert_array_equal(rollout(weights)[-1, 0], [1, 0, 0])


def test_rollout_wants_square_matrices():
    with pytest.raises(ValueError, match=r"weights.*shape"):
        rollout(np.ones((2, 3, 4)))


@given(seeds, st.integers(1, 3), st.integers(1, 3))
def test_norms_equal_plain_loops_with_grouped_heads_too(seed, n_groups, group_size):
    rng = np.random.default_rng(seed)
    n_heads, n_queries, n_keys, d_head, d_value, d_model = n_groups * group_size, 3, 4, 2, 3, 5
    queries, keys = rng.normal(size=(n_heads, n_queries, d_head)), rng.normal(size=(n_groups, n_keys, d_head))
    values, W_O = rng.normal(size=(n_groups, n_keys, d_value)), rng.normal(size=(n_heads * d_value, d_model))
    unused = np.zeros((1, 1))
    projections = Projections(unused, unused, unused, W_O, b_O=rng.normal(size=d_model))
    layer = LayerTrace(None, queries, keys, values, None, 1.0, unused, projections=projections)

    weights, norms = layer.steps().weights, weighted_norms(layer)
    assert norms.shape == (n_heads, n_queries, n_keys)
    outputs = np.zeros((n_queries, d_model))
    for h, q, k in np.ndindex(norms.shape):
        given_vector = weights[h, q, k] * values[h // group_size, k] @ W_O[h * d_value : (h + 1) * d_value]
        assert norms[h, q, k] == pytest.approx(np.linalg.norm(given_vector), abs=1e-12)
        outputs[q] += given_vector
    # These vectors are what the layer adds to a token, all but the bias.
    np.testing.assert_allclose(outputs + projections.b_O, layer.output(), atol=1e-12)
    assert (norms <= value_norms(layer)[:, None] + 1e-12).all()


def test_norms_need_the_projections():
    layer = replace(MODEL.trace(SENTENCE).layers[0], projections=None)
    with pytest.raises(ValueError, match="projections"):
        weighted_norms(layer)
