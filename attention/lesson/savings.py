"""Savings if query heads share keys and values: weights and cache, computed from a model's sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core import steps
from attention.core.messages import message, messages
from attention.core.steps import HeadSteps
from attention.core.trace import LayerTrace, Trace
from attention.figures.matrix import Matrix
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import weight_matrix
from attention.lesson.prose import lesson, word

BYTES_PER_NUMBER = 2  # the cache has 16 bits per number
USUAL_GROUPS = 8  # Llama 3's, assumed for a model without groups


@dataclass(frozen=True, slots=True)
class Sizes:
    """A model's sizes, as far as attention's costs depend on them, and their source."""

    name: str
    n_layers: int
    n_heads: int
    n_key_value_heads: int
    d_model: int
    d_head: int
    context: int
    source: str
    d_value: int | None = None  # the width of a value; None if it is d_head
    has_matrices: bool = True  # whether queries, keys, values and output are known to come from one matrix each

    @property
    def variants(self) -> dict[str, int]:
        """The numbers of key/value heads to compare, by variant: one per query head, one per group, one for all.

        A single query head has only one variant.
        """
        if self.n_heads == 1:
            return {"single-head": 1}
        is_grouped = 1 < self.n_key_value_heads < self.n_heads
        groups = self.n_key_value_heads if is_grouped else _groups(self.n_heads)
        return {"multi-head": self.n_heads} | ({"grouped": groups} if groups > 1 else {}) | {"multi-query": 1}


def sizes_of(trace: Trace) -> Sizes:
    """Return the sizes of the layers that were run, with the number of key tokens as the context."""
    layer = next(iter(trace.attended.values()))
    (n_heads, _, d_head), d_value = layer.queries.shape, layer.values.shape[-1]
    return Sizes(
        name=trace.info.name,
        n_layers=len(trace.attended),
        n_heads=n_heads,
        n_key_value_heads=len(layer.keys),
        d_model=trace.info.d_model,
        d_head=d_head,
        context=len(trace.key_tokens),
        source=message("as run here"),
        d_value=None if d_value == d_head else d_value,
        has_matrices=layer.projections is not None,
    )


def _groups(n_heads: int) -> int:
    """Return the number of groups for a model without groups: Llama 3's, else a divisor near √H; or 1."""
    if n_heads % USUAL_GROUPS == 0 and n_heads > USUAL_GROUPS:
        return USUAL_GROUPS
    divisors = [count for count in range(2, n_heads) if n_heads % count == 0]
    return min(divisors, key=lambda count: abs(count - n_heads / count), default=1)


VARIANTS = {
    "single-head": message("single-head"),
    "multi-head": message("multi-head"),
    "grouped": message("grouped"),
    "multi-query": message("multi-query"),
}


def _table(paper: str, number: str) -> str:
    return message("{paper}, table {number}", paper=paper, number=number)


PRESETS = (
    Sizes("SmolLM2 135M", 30, 9, 3, 576, 64, 8192, message("its configuration file")),
    Sizes(
        "Llama 3 8B",
        32,
        32,
        8,
        4096,
        128,
        8192,
        _table("Grattafiori et al. 2024", "3"),
    ),
    Sizes(
        "GPT-3 175B",
        96,
        96,
        96,
        12288,
        128,
        2048,
        _table("Brown et al. 2020", "2.1"),
    ),
)


@dataclass(frozen=True, slots=True)
class Costs:
    """The weights of the attention in all layers (a count of numbers) and the key/value cache (in bytes)."""

    W_Q: int
    W_K: int
    W_V: int
    W_O: int
    bytes_per_token: int
    bytes_per_context: int

    @property
    def weights(self) -> int:
        """The size of all four matrices in all layers."""
        return self.W_Q + self.W_K + self.W_V + self.W_O


def costs(sizes: Sizes, n_key_value_heads: int) -> Costs:
    """Return the costs of attention with a given number of key/value heads.

    With L layers, H query heads, G key/value heads, d_model M, and D numbers per query and key and Dv per value: W_Q
    has ``L·M·H·D`` numbers, W_K ``L·M·G·D``, W_V ``L·M·G·Dv``, W_O ``L·M·H·Dv``, and the cache ``L·G·(D + Dv)`` per
    token (Ainslie et al. 2023, section 2, where Dv is D).
    """
    d_value = sizes.d_value or sizes.d_head
    of_queries, of_keys = sizes.n_layers * sizes.n_heads, sizes.n_layers * n_key_value_heads
    per_token = of_keys * (sizes.d_head + d_value) * BYTES_PER_NUMBER
    return Costs(
        W_Q=sizes.d_model * of_queries * sizes.d_head,
        W_K=sizes.d_model * of_keys * sizes.d_head,
        W_V=sizes.d_model * of_keys * d_value,
        W_O=sizes.d_model * of_queries * d_value,
        bytes_per_token=per_token,
        bytes_per_context=per_token * sizes.context,
    )


def savings_table(sizes: Sizes) -> dict[str, list[str]]:
    """Return the costs as columns, one for each variant, with the model's own marked."""
    of_weights = ("W_Q", "W_K", "W_V", "W_O", message("all four, all layers")) if sizes.has_matrices else ()
    of_text = message("cache of {tokens}", tokens=_tokens(sizes.context))
    table = {"": [message("key/value heads"), *of_weights, message("cache per token"), of_text]}
    for name, n_groups in sizes.variants.items():
        found = costs(sizes, n_groups)
        weights = (found.W_Q, found.W_K, found.W_V, found.W_O, found.weights) if sizes.has_matrices else ()
        title = VARIANTS[name]
        if n_groups == sizes.n_key_value_heads:
            title = message("{name}, as in the model", name=title)
        caches = (found.bytes_per_token, found.bytes_per_context)
        table[title] = [f"{number:,}" for number in (n_groups, *weights)] + [_size(n_bytes) for n_bytes in caches]
    return table


def tell_savings(sizes: Sizes) -> str:
    """Return as HTML the model's sizes and the compared variants."""
    more = "" if sizes.d_value is None else lesson("savings/values", d_value=sizes.d_value)
    more += "" if sizes.has_matrices else lesson("savings/no-matrices")
    (own,) = (name for name, n_groups in sizes.variants.items() if n_groups == sizes.n_key_value_heads)
    return (
        lesson(
            "savings/words",
            model=word(sizes.name),
            layers=messages("{n} layer", "{n} layers", sizes.n_layers),
            heads=messages("{n} query head", "{n} query heads", sizes.n_heads),
            d_head=sizes.d_head,
            d_model=f"{sizes.d_model:,}",
            context=_tokens(sizes.context),
            source=sizes.source,
            own=f"<b>{VARIANTS[own]}</b>",
        )
        + more
        + (lesson("savings/single") if len(sizes.variants) == 1 else "")
    )


def tell_cache(scene: HeadContext) -> str:
    """Return as HTML that these layers read all tokens at once; empty for a causal model."""
    if scene.attention.is_causal:
        return ""
    return lesson(scene.use.lesson("savings/at-once"), model=word(scene.info.name))


@dataclass(frozen=True, slots=True)
class Shared:
    """One layer's heads with fewer key/value heads, averaged from the model's own."""

    name: str
    n_key_value_heads: int
    weights: Float[Array, "H Q K"]
    head_outputs: Float[Array, "H Q Dv"]


def shared(scene: HeadContext) -> tuple[Shared, ...]:
    """Recompute the layer with its own key/value heads, and with each smaller number that they can be averaged to."""
    layer = scene.attention
    own = len(layer.keys)
    return tuple(
        Shared(name, count, found.weights, found.head_outputs)
        for name, count in sizes_of(scene.trace).variants.items()
        if count <= own
        for found in [_with_shared(layer, count)]
    )


def _with_shared(layer: LayerTrace, count: int) -> HeadSteps:
    keys, values = (steps.share_heads(heads, count) for heads in (layer.keys, layer.values))
    return replace(layer, keys=keys, values=values).steps()


def shared_pictures(scene: HeadContext, variants: Sequence[Shared]) -> tuple[Matrix, ...]:
    """Return the weights of the scene's head with each number of key/value heads."""
    return tuple(
        weight_matrix(
            scene,
            f"shared_{variant.n_key_value_heads}",
            _title(variant.name, variant.n_key_value_heads, len(scene.attention.keys)),
            variant.weights[scene.head],
        )
        for variant in variants
    )


def tell_shared(scene: HeadContext, variants: Sequence[Shared]) -> str:
    """Describe as HTML how far the layer's weights and outputs would change."""
    own, *others = variants
    text = lesson("savings/shared", **scene.numbers)
    for variant in others:
        change = np.linalg.norm(variant.head_outputs - own.head_outputs) / np.linalg.norm(own.head_outputs)
        text += lesson(
            "savings/shared-change",
            count=_key_value_heads(variant.n_key_value_heads),
            weight=np.abs(variant.weights[scene.head] - own.weights[scene.head]).max(),
            outputs=f"<b>{100 * float(change):.0f}</b>",
        )
    return text


def _title(name: str, count: int, own: int) -> str:
    facts = {"name": VARIANTS[name].capitalize(), "heads": _key_value_heads(count)}
    return message("{name}: {heads}, as in the model", **facts) if count == own else message("{name}: {heads}", **facts)


def _key_value_heads(count: int) -> str:
    return messages("{n} key/value head", "{n} key/value heads", count)


def _tokens(count: int) -> str:
    return messages("{number} token", "{number} tokens", count, number=f"{count:,}")


def _size(n_bytes: int) -> str:
    for exponent, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if n_bytes >= 1024**exponent:
            return f"{n_bytes / 1024**exponent:,.1f} {unit}"
    return messages("{n} byte", "{n} bytes", n_bytes)
