"""What it saves that query heads share keys and values: weights and cache, worked out from a model's sizes."""

from __future__ import annotations

from dataclasses import dataclass

from attention.lesson.prose import lesson, word

__all__ = ["PRESETS", "Costs", "Sizes", "costs", "savings_table", "tell_savings"]

# A number in the cache is stored in 16 bits.
BYTES_PER_NUMBER = 2
# The number of groups where a model has none of its own: that of Llama 3.
USUAL_GROUPS = 8


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a model that its attention costs depend on, and where they were published."""

    name: str
    n_layers: int
    n_heads: int
    n_key_value_heads: int
    d_model: int
    d_head: int
    context: int
    source: str

    @property
    def variants(self) -> dict[str, int]:
        """The numbers of key/value heads to compare: one for each query head, one for each group, one for all."""
        is_grouped = 1 < self.n_key_value_heads < self.n_heads
        groups = self.n_key_value_heads if is_grouped else USUAL_GROUPS
        return {"multi-head": self.n_heads, "grouped": groups, "multi-query": 1}


PRESETS = (
    Sizes("SmolLM2 135M", 30, 9, 3, 576, 64, 8192, "its configuration file"),
    Sizes("Llama 3 8B", 32, 32, 8, 4096, 128, 8192, "Grattafiori et al. 2024, table 3"),
    Sizes("GPT-3 175B", 96, 96, 96, 12288, 128, 2048, "Brown et al. 2020, table 2.1"),
)


@dataclass(frozen=True, slots=True)
class Costs:
    """Weights of all layers' attention, in numbers, and the key/value cache, in bytes."""

    W_Q: int
    W_K: int
    W_V: int
    W_O: int
    bytes_per_token: int
    bytes_per_context: int

    @property
    def weights(self) -> int:
        """All four matrices of all layers."""
        return self.W_Q + self.W_K + self.W_V + self.W_O


def costs(sizes: Sizes, n_key_value_heads: int) -> Costs:
    """Work out what attention costs with so many key/value heads.

    With L layers, H query heads, G key/value heads, D numbers per head and M per token: W_Q and W_O have
    ``L·M·H·D`` numbers each, W_K and W_V ``L·M·G·D``, and the cache has ``2·L·G·D`` per token
    (Ainslie et al. 2023, section 2).
    """
    own = sizes.n_layers * sizes.d_model * sizes.n_heads * sizes.d_head
    shared = sizes.n_layers * sizes.d_model * n_key_value_heads * sizes.d_head
    per_token = 2 * sizes.n_layers * n_key_value_heads * sizes.d_head * BYTES_PER_NUMBER
    return Costs(own, shared, shared, own, per_token, per_token * sizes.context)


def savings_table(sizes: Sizes) -> dict[str, list[str]]:
    """Return the costs as columns, one for each variant, the model's own marked."""
    names = ("key/value heads", "W_Q", "W_K", "W_V", "W_O", "all four, all layers")
    table = {"": [*names, "cache per token", f"cache of {sizes.context:,} tokens"]}
    for name, n_groups in sizes.variants.items():
        found = costs(sizes, n_groups)
        numbers = (n_groups, found.W_Q, found.W_K, found.W_V, found.W_O, found.weights)
        title = f"{name} (its own)" if n_groups == sizes.n_key_value_heads else name
        caches = (found.bytes_per_token, found.bytes_per_context)
        table[title] = [f"{number:,}" for number in numbers] + [_size(n_bytes) for n_bytes in caches]
    return table


def tell_savings(sizes: Sizes) -> str:
    """Return as HTML what the sizes are and what is compared."""
    (own,) = (name for name, n_groups in sizes.variants.items() if n_groups == sizes.n_key_value_heads)
    return lesson(
        "savings",
        model=word(sizes.name),
        layers=sizes.n_layers,
        heads=sizes.n_heads,
        d_head=sizes.d_head,
        d_model=f"{sizes.d_model:,}",
        context=f"{sizes.context:,}",
        source=sizes.source,
        own=f"<b>{own}</b>",
    )


def _size(n_bytes: int) -> str:
    """Return bytes in the largest unit of which there is at least one."""
    for exponent, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if n_bytes >= 1024**exponent:
            return f"{n_bytes / 1024**exponent:,.1f} {unit}"
    return f"{n_bytes} bytes"
