"""Attention weights without their run, so without queries, keys and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.trace import Part, Trace
from attention.figures.head_view import SLACK
from attention.measures.segments import groups

# About 30 MB in a notebook.
MOST_WEIGHTS = 16_000_000

PART_NAMES: dict[Part, str] = {
    "encoder": message("encoder"),
    "decoder": message("decoder"),
    "cross": message("cross"),
}


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one use of attention, layer by layer, with their tokens.

    ``rows`` are the tokens that attend, ``columns`` those attended to; layers and heads are numbered from 0. The breaks
    are the positions at which a second sentence begins. ``hidden`` marks masked weights, if known: a weight of 0 alone
    does not tell. With ``is_numbered``, the columns are numbers, such as the offsets of a window, not tokens.
    """

    layers: tuple[Float[Array, "H Q K"], ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    layer_numbers: tuple[int, ...]
    head_numbers: tuple[int, ...]
    name: str = ""
    row_breaks: tuple[int, ...] = ()
    column_breaks: tuple[int, ...] = ()
    hidden: tuple[Bool[Array, "H Q K"], ...] | None = None
    is_numbered: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError if shapes differ, or a weight is negative or not finite."""
        wanted = (len(self.head_numbers), len(self.rows), len(self.columns))
        if not self.layers or 0 in wanted:
            raise ValueError(f"there must be a layer, a head and tokens, got {len(self.layers)} layers of {wanted}")
        for number, layer in zip(self.layer_numbers, self.layers, strict=True):
            if layer.shape != wanted:
                raise ValueError(
                    f"layer {number} must have the shape {wanted}: heads, tokens that attend, tokens attended to; "
                    f"it has {layer.shape}"
                )
            if not np.isfinite(layer).all():
                row = int((~np.isfinite(layer)).any(axis=(0, 2)).argmax())
                raise ValueError(
                    f"layer {number} has weights that are NaN or infinite, first in the row of token {row}. Softmax "
                    "gives NaN for a row in which everything is masked, such as one of padding: leave these tokens "
                    "out of the text, or set their weights to 0, as torch.nan_to_num does."
                )
            if layer.min() < -SLACK:
                raise ValueError(
                    f"weights must not be negative, and those of layer {number} are between {layer.min():.3g} and "
                    f"{layer.max():.3g}. Are they scores from before the softmax?"
                )

    @property
    def size(self) -> int:
        """The number of weights."""
        return sum(layer.size for layer in self.layers)

    @property
    def note(self) -> str:
        """How these weights differ from a softmax over tokens, and by how much; rows of 0 are fully masked."""
        sums, down = (np.concatenate([layer.sum(axis=axis).ravel() for layer in self.layers]) for axis in (-1, -2))
        told = []
        if self.is_numbered:
            told.append(message("Columns are not the {n} tokens, so they are numbered.", n=len(self.rows)))
        if (_is_off(sums) & (sums != 0)).any():
            told.append(
                message(
                    "Not a softmax over these tokens: rows sum to {least} to {most}, not to 1.",
                    least=f"{sums.min():.3g}",
                    most=f"{sums.max():.3g}",
                )
            )
            if not _is_off(down).any():
                told.append(message("Columns do sum to 1: are the arrays transposed?"))
        if (highest := max(layer.max() for layer in self.layers)) > 1 + SLACK:
            told.append(message("Weights above 1, up to {highest}, are drawn as 1.", highest=f"{highest:.3g}"))
        return " ".join([f"{self.name}:" if self.name and told else "", *told]).strip()

    def only(self, layers: Sequence[int] | None, heads: Sequence[int] | None) -> Weights:
        """Return these layers and heads, given by number (None for all); raise ValueError for unknown ones."""
        at = indices_of("layer", self.layer_numbers, layers)
        heads_at = indices_of("head", self.head_numbers, heads)

        def taken(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
            return tuple(arrays[layer][heads_at] for layer in at)

        return replace(
            self,
            layers=taken(self.layers),
            layer_numbers=tuple(self.layer_numbers[layer] for layer in at),
            head_numbers=tuple(self.head_numbers[head] for head in heads_at),
            hidden=None if self.hidden is None else taken(self.hidden),
        )


def _is_off(sums: Float[Array, " N"]) -> Bool[Array, " N"]:
    # A sum of weights in bfloat16 is off by up to 0.004.
    return np.abs(sums - 1) > 0.01


def indices_of(noun: str, numbers: Sequence[int], wanted: Sequence[int] | None) -> list[int]:
    """Return the indices of the wanted layers or heads, in order; negative ones count from the end, None is all.

    Raises:
        ValueError: one does not exist, or none is named.
    """
    if wanted is None:
        return list(range(len(numbers)))
    wanted = [numbers[number] if -len(numbers) <= number < 0 else number for number in wanted]
    missing = [number for number in wanted if number not in numbers]
    if missing or not wanted:
        raise ValueError(
            f"there is no {noun} {missing[0] if missing else '(none is named)'}: "
            f"there are {numbers[0]} to {numbers[-1]}, counted from 0"
        )
    return sorted({numbers.index(number) for number in wanted})


def of_trace(trace: Trace) -> tuple[Weights, ...]:
    """Return the weights of a recorded run, one for each use of attention."""
    if trace.decoder is None or trace.cross is None:
        return (_of_part("", trace),)
    parts: dict[Part, Trace] = {"encoder": trace, "decoder": trace.decoder, "cross": trace.cross}
    return tuple(_of_part(PART_NAMES[name], part) for name, part in parts.items())


def _of_part(name: str, trace: Trace) -> Weights:
    n_heads = trace.info.n_heads
    return Weights(
        layers=tuple(layer.steps().weights for layer in trace.attended.values()),
        rows=tuple(token.text for token in trace.tokens),
        columns=tuple(token.text for token in trace.key_tokens),
        layer_numbers=tuple(trace.attended),
        head_numbers=tuple(range(n_heads)),
        name=name,
        row_breaks=tuple(start for _, start in groups(trace.tokens) if start),
        column_breaks=tuple(start for _, start in groups(trace.key_tokens) if start),
        hidden=tuple(np.stack([layer.hidden(head) for head in range(n_heads)]) for layer in trace.attended.values()),
    )
