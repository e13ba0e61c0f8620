"""The training shown on a page: its sequences, its measurements, and a hand-made network that solves the task."""

import math

import numpy as np
import pytest
import torch

from attention.training.induction import D_MODEL, LENGTH, N_PLACES, PERIODS, Network, measure, sequences, train
from attention.training.induction_results import EXAMPLE, HALF, N_HEADS, N_SCORED, N_TOKENS, PLACES, SYLLABLES

pytestmark = pytest.mark.usefixtures("_one_torch_thread")


def test_a_sequence_is_different_tokens_over_and_over():
    periods = torch.tensor([PERIODS[0], 11, PERIODS[1]])
    drawn = sequences(periods, torch.Generator().manual_seed(3)).numpy()
    assert drawn.shape == (3, LENGTH)
    for row, period in zip(drawn, periods.tolist(), strict=True):
        assert len(set(row[:period])) == period
        np.testing.assert_array_equal(row[period:], row[:-period])
        assert set(row) <= set(range(N_TOKENS))


def test_the_example_is_different_syllables_twice():
    assert len(set(SYLLABLES)) == N_TOKENS == 32
    assert len(set(EXAMPLE[:HALF])) == HALF
    np.testing.assert_array_equal(EXAMPLE[:HALF], EXAMPLE[HALF:])


def test_the_heads_are_those_of_torch():
    torch.manual_seed(0)
    network = Network(1)
    tokens = sequences(torch.tensor([12]), torch.Generator().manual_seed(1))
    logits, weights = network(tokens, 7)
    layer, x = network.layers[0], network.embedding[tokens[0]]
    where = x + network.places[7 : 7 + LENGTH]
    outputs = []
    for head in range(N_HEADS):
        at = slice(head * D_MODEL // N_HEADS, (head + 1) * D_MODEL // N_HEADS)
        q, k, v = where @ layer.W_Q[:, at], where @ layer.W_K[:, at], x @ layer.W_V[:, at]
        outputs.append(torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0])
        assert weights[0, 0, head].triu(1).abs().max() == 0
    wanted = (x + torch.cat(outputs, dim=-1) @ layer.W_O) @ network.embedding.T / D_MODEL**0.5
    torch.testing.assert_close(logits[0], wanted, atol=1e-4, rtol=1e-4)


def test_what_is_measured_of_networks_that_know_nothing():
    torch.manual_seed(0)
    networks = [Network(2), Network(1)]
    for each in networks:
        each.embedding.data.zero_()
    found = measure(0, networks)
    # All tokens are equally likely, in both halves.
    np.testing.assert_allclose(found.losses, math.log(N_TOKENS), rtol=1e-5)
    assert found.scores.shape == (len(PLACES), N_HEADS)
    assert found.scores.max() < 0.2
    assert found.weights.shape == (len(PLACES), N_HEADS, len(EXAMPLE), len(EXAMPLE))
    np.testing.assert_allclose(found.weights.sum(axis=-1), 1, atol=1e-5)


def test_a_network_whose_heads_look_back_has_the_highest_score():
    class LooksBack(Network):
        def forward(self, tokens):
            n = tokens.shape[1]
            period = {len(EXAMPLE): HALF, LENGTH: LENGTH // 2, N_PLACES: N_SCORED}[n]
            weights = torch.eye(n).roll(1 - period, dims=1).tril().expand(1, len(tokens), N_HEADS, n, n)
            seen = torch.nn.functional.one_hot(tokens, N_TOKENS).float()
            return 50 * weights[0, :, 0] @ seen, weights

    found = measure(7, [LooksBack(1), LooksBack(1)])
    np.testing.assert_allclose(found.scores, 1)
    np.testing.assert_allclose(found.hits, 1)
    assert found.losses[:, 1].max() < 1e-6 < 2 < found.losses[:, 0].min()


def test_the_same_start_gives_the_same_training():
    one, other = (list(train(5, steps=2, every=1)) for _ in range(2))
    assert [each.step for each in one] == [0, 1, 2]
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first.weights, second.weights)
        np.testing.assert_array_equal(first.losses, second.losses)
    assert not np.array_equal(one[0].weights, one[2].weights)
    assert not np.array_equal(next(train(6, steps=0)).weights, one[0].weights)
