"""Flow through the layers: attention rollout, maximum flow, and norms of the vectors moved."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.trace import LayerTrace
from attention.measures.max_flow import largest_flow


def rollout(weights: Float[Array, "L T T"]) -> Float[Array, "L T T"]:
    """Return each input token's contribution to each position after each layer, judged by weights alone.

    ``R_l = Â_l R_{l−1}`` with ``R_0 = I``, where ``Â`` is ``A + I`` divided by its row sums, A the mean of a layer's
    heads and I the residual connection (Abnar & Zuidema 2020, section 3). For example, uniform weights over 4 unmasked
    tokens give, after 3 layers, .34375 for a token itself and .21875 for each other one: ``Â = ½ I + ½ · ¼``, hence ``⅞
    · ¼`` for every token and ``⅛`` more for the token itself.

    Raises:
        ValueError: the weights are not one square matrix per layer.
    """
    _check(weights)
    rolled, current = np.empty(weights.shape), np.eye(weights.shape[1])
    for layer, mixed in enumerate(_with_residual(weights)):
        current = mixed @ current
        rolled[layer] = current
    return rolled


def _check(weights: Array) -> None:
    if weights.ndim != 3 or weights.shape[1] != weights.shape[2]:
        raise ValueError(f"weights must have shape (layers, tokens, tokens), got {weights.shape}")


def _with_residual(weights: Float[Array, "L T T"]) -> Float[Array, "L T T"]:
    """Return ``Â``, the weights with the residual connection."""
    mixed: Array = weights + np.eye(weights.shape[1])
    return mixed / mixed.sum(axis=-1, keepdims=True)


def flow_to(weights: Float[Array, "L T T"], row: int) -> Float[Array, " T"]:
    """Return the maximum flow from each input token to one position after the last layer.

    Nodes are tokens before and after each layer; the edge from a key before a layer to a query after it has the
    capacity ``Â_qk`` of ``rollout``. Each token's flow is computed alone (Abnar & Zuidema 2020, section 3).

    Raises:
        ValueError: the weights are not one square matrix per layer.
    """
    _check(weights)
    n_layers, n_tokens, _ = weights.shape
    mixed = _with_residual(weights)
    pipes: list[dict[int, float]] = [{} for _ in range((n_layers + 1) * n_tokens)]
    for layer, query, key in zip(*map(np.ndarray.tolist, np.nonzero(mixed)), strict=True):
        pipes[layer * n_tokens + key][(layer + 1) * n_tokens + query] = float(mixed[layer, query, key])
    return np.array([largest_flow(pipes, token, n_layers * n_tokens + row) for token in range(n_tokens)])


def value_norms(layer: LayerTrace) -> Float[Array, "H K"]:
    """Return the norm of each token's transformed value in each head: ``‖f(x)‖``.

    ``f(x) = (x W_V + b_V) W_O``, with the head's rows of W_O (Kobayashi et al. 2020, "Attention is Not Only a Weight").
    The bias b_O belongs to no token and is left out.

    Raises:
        ValueError: the output projection is unknown.
    """
    if layer.projections is None:
        raise ValueError("the projections of this architecture are not known, so W_O cannot be applied")
    n_heads = len(layer.queries)
    values = layer.values.repeat(n_heads // len(layer.values), axis=0)  # (H, K, Dv)
    outputs = layer.projections.W_O.reshape(n_heads, values.shape[-1], -1)  # (H, Dv, M)
    return np.linalg.norm(values @ outputs, axis=-1)


def weighted_norms(layer: LayerTrace) -> Float[Array, "H Q K"]:
    """Return the norm of each token's contribution to each other token: ``‖α f(x)‖ = α ‖f(x)‖``.

    A large weight on a small vector, as often on [SEP], contributes little (Kobayashi et al. 2020).

    Raises:
        ValueError: the output projection is unknown.
    """
    return layer.steps().weights * value_norms(layer)[:, None, :]
