"""BERT on one page: the whole forward pass, from token IDs to the last vectors."""

from collections.abc import Mapping, Sequence
from math import erf, sqrt

import numpy as np
from numpy import ndarray as Array


def bert(
    weights: Mapping[str, Array],
    ids: Sequence[int],
    segments: Sequence[int],
    n_layers: int,
    n_heads: int,
    epsilon: float,
) -> tuple[Array, list[dict[str, Array]]]:
    """Return the last vector of each of T tokens, and each layer's results (Devlin et al. 2019)."""

    def linear(x: Array, name: str) -> Array:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(epsilon))
        return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    words, places, texts = (
        weights[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")
    )
    x = norm(words[ids] + places[: len(ids)] + texts[segments], "embeddings.LayerNorm")  # (T, M)

    layers = []
    for layer in range(n_layers):
        name = f"encoder.layer.{layer}"

        # Attention: each token attends to all tokens.
        q, k, v = (split(linear(x, f"{name}.attention.self.{part}"), n_heads) for part in ("query", "key", "value"))
        scores = q @ k.swapaxes(1, 2) / np.float32(sqrt(q.shape[-1]))  # (H, T, T)
        attended = linear(join(softmax(scores) @ v), f"{name}.attention.output.dense")  # (T, M)
        between = norm(x + attended, f"{name}.attention.output.LayerNorm")

        # The feed-forward network: each token separately.
        neurons = gelu(linear(between, f"{name}.intermediate.dense"))  # (T, 4 M)
        fed = linear(neurons, f"{name}.output.dense")  # (T, M)
        x = norm(between + fed, f"{name}.output.LayerNorm")

        layers.append({"attended": attended, "neurons": neurons, "fed": fed, "out": x})
    return x, layers


def split(x: Array, n_heads: int) -> Array:
    """(T, H·D) → (H, T, D)."""
    return x.reshape(len(x), n_heads, -1).swapaxes(0, 1)


def join(x: Array) -> Array:
    """(H, T, D) → (T, H·D)."""
    return x.swapaxes(0, 1).reshape(x.shape[1], -1)


def softmax(scores: Array) -> Array:
    """Turn scores into weights: each row is positive and sums to 1."""
    powers: Array = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def gelu(x: Array) -> Array:
    """Keep positive numbers and suppress negative ones (Hendrycks & Gimpel 2016)."""
    return x * (1 + np.vectorize(erf, otypes=[np.float32])(x / np.float32(sqrt(2)))) / 2
