"""What weights tell about the flow through the layers: attention rollout, and the norms of the vectors moved."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.trace import LayerTrace, Trace

__all__ = ["rollout", "trace_rollout", "value_norms", "weighted_norms"]


def rollout(weights: Float[Array, "L T T"]) -> Float[Array, "L T T"]:
    """Return how much each input token contributes to each position after each layer, judged by weights alone.

    ``R_l = Â_l R_{l−1}`` with ``R_0 = I``, where ``Â`` is ``A + I`` divided by its row sums, A is the mean of a
    layer's heads, and I stands for the residual connection (Abnar & Zuidema 2020, section 3). For example, even
    weights over 4 unmasked tokens give, after 3 layers, .34375 for a token itself and .21875 for each other
    token: ``Â = ½ I + ½ · ¼``, hence ``⅞ · ¼`` for every token and ``⅛`` more for the token itself.

    Raises:
        ValueError: the weights are not one square matrix per layer.
    """
    if weights.ndim != 3 or weights.shape[1] != weights.shape[2]:
        raise ValueError(f"weights must have shape (layers, tokens, tokens), got {weights.shape}")
    identity = np.eye(weights.shape[1])
    rolled, current = np.empty(weights.shape), identity
    for layer, layer_weights in enumerate(weights):
        with_residual = layer_weights + identity
        current = with_residual / with_residual.sum(axis=-1, keepdims=True) @ current
        rolled[layer] = current
    return rolled


def trace_rollout(trace: Trace) -> Float[Array, "L T T"]:
    """Return the rollout of a trace, from the mean of each layer's heads; see ``rollout``."""
    return rollout(np.stack([layer.steps().weights.mean(axis=0, dtype=np.float64) for layer in trace.layers]))


def value_norms(layer: LayerTrace) -> Float[Array, "H K"]:
    """Return the norm of the vector that each token can contribute through each head: ``‖f(x)‖``.

    ``f(x) = (x W_V + b_V) W_O``, with the rows of W_O that belong to the head (Kobayashi et al. 2020,
    "Attention is Not Only a Weight"). The bias b_O belongs to no token and is left out.

    Raises:
        ValueError: the model's output projection is not known.
    """
    if layer.projections is None:
        raise ValueError("the projections of this architecture are not known, so W_O cannot be applied")
    n_heads = len(layer.queries)
    values = layer.values.repeat(n_heads // len(layer.values), axis=0)  # (H, K, Dv)
    outputs = layer.projections.W_O.reshape(n_heads, values.shape[-1], -1)  # (H, Dv, M)
    return np.linalg.norm(values @ outputs, axis=-1)


def weighted_norms(layer: LayerTrace) -> Float[Array, "H Q K"]:
    """Return the norm of the vector that each token does contribute to each other: ``‖α f(x)‖ = α ‖f(x)‖``.

    A large weight on a token with a short vector, such as [SEP] often has, contributes little (Kobayashi et al. 2020).

    Raises:
        ValueError: the model's output projection is not known.
    """
    return layer.steps().weights * value_norms(layer)[:, None, :]
