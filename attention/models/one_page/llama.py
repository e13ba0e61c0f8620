"""SmolLM2, a Llama, on one page: the whole forward pass, from token IDs to next-token logits."""

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np
from numpy import ndarray as Array


def llama(
    weights: Mapping[str, Array],
    ids: Sequence[int],
    n_layers: int,
    n_heads: int,
    n_shared: int,
    base: float,
    epsilon: float,
) -> tuple[Array, list[dict[str, Array]]]:
    """Return the next-token logits after each of T tokens, and each layer's results (Touvron et al. 2023)."""
    words = weights["embed_tokens.weight"]
    d_head = words.shape[1] // n_heads

    def linear(x: Array, name: str) -> Array:
        return x @ weights[f"{name}.weight"].T

    def norm(x: Array, name: str) -> Array:
        return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + np.float32(epsilon)) * weights[f"{name}.weight"]

    # RoPE: each pair of dimensions of a query or key rotates by its own angle per position.
    angles = np.arange(len(ids))[:, None] * base ** (-np.arange(0, d_head, 2) / d_head)
    cosines, sines = (np.tile(turned, 2).astype(np.float32) for turned in (np.cos(angles), np.sin(angles)))  # (T, D)

    def turn(x: Array) -> Array:
        one, other = np.split(x, 2, axis=-1)
        return x * cosines + np.concatenate([-other, one], axis=-1) * sines

    later = np.triu(np.full((len(ids), len(ids)), -np.inf, np.float32), 1)
    x = words[ids]  # (T, M)

    layers = []
    for layer in range(n_layers):
        name = f"layers.{layer}"

        # Attention: each token attends to itself and earlier tokens; groups of heads share keys and values.
        y = norm(x, f"{name}.input_layernorm")
        q, k, v = (linear(y, f"{name}.self_attn.{part}_proj") for part in "qkv")
        q, k, v = turn(split(q, n_heads)), turn(split(k, n_shared)), split(v, n_shared)
        k, v = (each.repeat(n_heads // n_shared, axis=0) for each in (k, v))
        scores = q @ k.swapaxes(1, 2) / np.float32(sqrt(d_head)) + later  # (H, T, T)
        attended = linear(join(softmax(scores) @ v), f"{name}.self_attn.o_proj")  # (T, M)
        x = x + attended

        # The feed-forward network: each token separately, and every hidden unit with a gate.
        y = norm(x, f"{name}.post_attention_layernorm")
        gates = linear(y, f"{name}.mlp.gate_proj")
        neurons = gates / (1 + np.exp(-gates)) * linear(y, f"{name}.mlp.up_proj")  # (T, F)
        fed = linear(neurons, f"{name}.mlp.down_proj")  # (T, M)
        x = x + fed

        layers.append({"attended": attended, "neurons": neurons, "fed": fed, "out": x})
    return norm(x, "norm") @ words.T, layers


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
