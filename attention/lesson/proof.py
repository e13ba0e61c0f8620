"""The proof: the numbers computed here compared with the model's own, link by link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from attention.core.messages import message, messages
from attention.core.trace import Difference, LayerTrace, Trace, tolerance
from attention.figures.format import scientific
from attention.lesson.prose import lesson, word

# Relative to the model's largest number there, or to a row's sum of 1. Rounding to float32 changes a number by up to
# 6e-8 of itself. In a sum of n products, computed in two orders, such errors grow with √n: to between 5e-7 and 4e-6
# for n from 64 to 4,096.
TOLERANCE = 1e-5

# In order of computation, from a layer's input to ΔE.
LinkName = Literal["queries", "keys", "values", "outputs", "added"]
LINK_NAMES: tuple[LinkName, ...] = get_args(LinkName)
_LABELS: dict[LinkName, str] = {
    "queries": message("queries"),
    "keys": message("keys"),
    "values": message("values"),
    "outputs": message("the heads' outputs"),
    "added": message("attention output ΔE"),
}


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the chain: its formula, and its largest difference from the model's own; None if unknown."""

    name: LinkName
    made_of: str
    found: Difference | None
    tolerance: float = TOLERANCE

    @property
    def holds(self) -> bool:
        """Whether the difference is within the tolerance, or unknown."""
        return self.found is None or self.found.relative <= self.tolerance

    @property
    def label(self) -> str:
        """What is compared."""
        return _LABELS[self.name]


@dataclass(frozen=True, slots=True)
class Proof:
    """The largest differences between our numbers and the model's own, over all layers, heads and tokens."""

    links: tuple[Link, ...]
    largest_row_error: float
    n_masked_rows: int = 0
    tolerance: float = TOLERANCE  # of its links: more for a model in bfloat16 or float16

    @classmethod
    def of_outputs(cls, found: Difference, largest_row_error: float) -> Proof:
        """Return the proof for a run that kept only queries, keys, values and the heads' outputs."""
        known: dict[LinkName, Difference] = {"outputs": found}
        return cls(_links(known, ()), largest_row_error)

    @property
    def largest_difference(self) -> float:
        """The largest absolute difference between the heads' outputs and the model's own."""
        return next(link.found.absolute for link in self.links if link.name == "outputs" and link.found is not None)

    @property
    def holds(self) -> bool:
        """Whether every known link and every row's sum is within the tolerance."""
        return all(link.holds for link in self.links) and self.largest_row_error <= TOLERANCE

    def sentence(self, name: str) -> str:
        """Return the result in one plain sentence, for the model with this name."""
        difference = scientific(self.largest_difference)
        told = message(
            "{rows} · recomputed vs. {name}'s output: largest difference {difference}",
            rows=self.rows,
            name=name,
            difference=difference,
        )
        broken = ", ".join(link.label for link in self.links if not link.holds)
        return message("{told} · differs from {name}: {links}", told=told, name=name, links=broken) if broken else told

    @property
    def rows(self) -> str:
        """What the rows of the weights sum to."""
        if self.largest_row_error <= TOLERANCE:
            rows = message("rows sum to 1")
        else:
            rows = message("rows miss 1 by up to {error}", error=scientific(self.largest_row_error))
        if not self.n_masked_rows:
            return rows
        return messages(
            "{rows} ({n} fully masked row to 0)",
            "{rows} ({n} fully masked rows to 0)",
            self.n_masked_rows,
            rows=rows,
        )

    def table(self) -> list[tuple[str, str, str, str]]:
        """Return each link's name, formula, absolute and relative difference."""
        rows = []
        for link in self.links:
            if link.found is None:
                rows.append((link.label, link.made_of, message("unknown"), ""))
            else:
                found = scientific(link.found.absolute), scientific(link.found.relative)
                rows.append((link.label, link.made_of, *found))
        error = scientific(self.largest_row_error)
        return [*rows, (message("row sums"), message("1, or 0 if fully masked"), error, error)]


def tell_proof(name: str, proof: Proof) -> str:
    """Describe as HTML the compared quantities and the others, for the model with this name."""
    told = lesson("proof/words", tolerance=scientific(proof.tolerance))
    knows_outputs_alone = all(link.found is None for link in proof.links if link.name != "outputs")
    if not knows_outputs_alone:
        return told
    return told + lesson("proof/outputs", model=word(name))


def prove(trace: Trace) -> Proof:
    """Recompute every layer of a run from its input to ΔE, and compare it with the model's own numbers.

    Each link starts from the model's own numbers, so that a wrong link is identified and errors do not accumulate. A
    link is known only if all layers of its part recorded it.
    """
    layers = [layer for part in trace.traces for layer in part.attended.values()]
    found: dict[LinkName, Difference] = {"outputs": Difference()}
    row_error, n_masked_rows, n_known = 0.0, 0, dict.fromkeys(LINK_NAMES, 0)
    for layer in layers:
        outputs, error, n_masked = _check_heads(layer)
        row_error, n_masked_rows = float(np.maximum(row_error, error)), n_masked_rows + n_masked
        known: list[tuple[LinkName, Difference]] = [("outputs", outputs), *layer.check_projections().items()]
        for name, difference in known:
            found[name] = found.get(name, Difference()).worst(difference)
            n_known[name] += 1
    whole = {name: each for name, each in found.items() if n_known[name] == len(layers)}
    near = tolerance(trace.info.spacing)
    return Proof(_links(whole, layers, near), row_error, n_masked_rows, tolerance=near)


def _check_heads(layer: LayerTrace) -> tuple[Difference, float, int]:
    """Compare the heads' outputs; also return the largest error of a row's sum and the number of fully masked rows."""
    worst, row_error, n_masked_rows = 0.0, 0.0, 0
    # Head by head: a long text's heads together take much memory.
    for head, model_output in enumerate(layer.model_output):
        steps = layer.head(head)
        is_masked = np.isneginf(steps.masked_scores).all(axis=-1)
        n_masked_rows += int(is_masked.sum())
        # NumPy's maximum propagates NaN; Python's may drop it, and the proof must not.
        row_error = float(np.maximum(row_error, np.abs(steps.weights.sum(axis=-1) - ~is_masked).max()))
        worst = float(np.maximum(worst, np.abs(steps.head_outputs - model_output).max()))
    return Difference.within(worst, layer.model_output), row_error, n_masked_rows


def _links(
    found: dict[LinkName, Difference], layers: Sequence[LayerTrace], near: float = TOLERANCE
) -> tuple[Link, ...]:
    return tuple(Link(name, _made_of(name, layers), found.get(name), near) for name in LINK_NAMES)


def _made_of(name: LinkName, layers: Sequence[LayerTrace]) -> str:
    if name == "outputs":
        if any(layer.softcap is not None for layer in layers):
            return message("softmax({scores}, scaled, capped and masked)·{values}", scores="Q·Kᵀ", values="V")
        return message("softmax({scores}, scaled and masked)·{values}", scores="Q·Kᵀ", values="V")
    source, letter = (message("joined heads"), "O") if name == "added" else ("X", name[0].upper())
    made = f"{source}·W_{letter}"
    parts = [layer.projections for layer in layers if layer.projections is not None]
    if any(getattr(part, f"b_{letter}") is not None for part in parts):
        made += f" + b_{letter}"
    if name not in ("queries", "keys"):
        return made
    if any(layer.query_norm is not None or layer.key_norm is not None for layer in layers):
        made = message("{made}, normalised", made=made)
    is_turned = any(layer.rotary is not None for layer in layers)
    return message("{made}, rotated by position", made=made) if is_turned else made
