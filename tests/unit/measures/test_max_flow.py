"""The maximum flow equals the minimum cut (Ford & Fulkerson 1956)."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.measures.flow import flow_to
from attention.measures.max_flow import largest_flow
from tests.plain_loops import random_weights


@given(st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=6, max_size=6))
def test_it_is_as_large_as_the_narrowest_cut_is_wide(widths):
    pipes = [
        {other: float(width) for other, width in enumerate(row) if width and other != node}
        for node, row in enumerate(widths)
    ]
    cuts = []
    for inner in product([False, True], repeat=4):
        side = (True, *inner, False)
        cuts.append(
            sum(
                width
                for node, row in enumerate(pipes)
                for other, width in row.items()
                if side[node] and not side[other]
            )
        )
    assert largest_flow(pipes, 0, 5) == pytest.approx(min(cuts))


def test_what_was_sent_may_have_to_be_taken_back():
    # The shortest way, 0-1-2-7, closes the two others, 0-3-4-2-7 and 0-1-5-6-7; without it, two units pass.
    ways = [(1, 3), (2, 5), (7,), (4,), (2,), (6,), (7,), ()]
    assert largest_flow([dict.fromkeys(others, 1.0) for others in ways], 0, 7) == 2


@pytest.mark.parametrize(("n_layers", "n_tokens"), [(6, 12), (1, 64)])
def test_through_layers_of_weights_it_is_as_large_as_networkx_says(n_layers, n_tokens):
    weights = random_weights(n_tokens, n_layers, n_tokens, n_tokens)
    pipes = nx.DiGraph()
    for layer, query, key in np.ndindex(weights.shape):
        capacity = (weights[layer, query, key] + (query == key)) / 2
        pipes.add_edge((layer, key), (layer + 1, query), capacity=capacity)
    wanted = [nx.maximum_flow_value(pipes, (0, token), (n_layers, 3)) for token in range(n_tokens)]
    np.testing.assert_allclose(flow_to(weights, 3), wanted, atol=1e-12)


def test_through_one_layer_the_flow_is_the_weight_with_the_residual():
    weights = random_weights(3, 1, 4, 4)
    np.testing.assert_allclose(flow_to(weights, 2), (weights[0, 2] + np.eye(4)[2]) / 2)
    with pytest.raises(ValueError, match=r"weights.*shape"):
        flow_to(weights[0], 2)
