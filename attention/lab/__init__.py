"""The same attention, written five ways, on the numbers of a page: do they agree, and how long does each take?

Each way is a short file of this folder. What is shown is the file's own text, and what is measured is that file run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention import steps
from attention.trace import LayerTrace, Projections

if TYPE_CHECKING:
    from torch import nn

__all__ = ["LabResult", "agree"]

FOLDER = Path(__file__).parent
REPEATS = 5
# The functions whose variables are shown: the entry to each file.
ENTRIES = frozenset({"attend", "forward"})

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LabResult:
    """One way to write attention: its code, the shapes in the order of its lines, how far off it is, how long it took.

    ``difference`` is the largest absolute difference from what the model itself recorded: from the one head's output
    if the code computes one head, otherwise from all heads' outputs times W_O. ``seconds`` is the shortest of a few
    runs.
    """

    name: str
    code: str
    shapes: tuple[tuple[str, Shape], ...]
    output: Float[Array, "T N"]
    difference: float
    seconds: float


def agree(layer: LayerTrace, head: int = 0) -> list[LabResult]:
    """Run every way on a layer's own inputs, weights and mask, and compare with what the model recorded.

    Args:
        layer: self-attention with as many key/value heads as query heads, and no turning by positions.
        head: the one that is written out by hand, counted from 0.

    Raises:
        ValueError: the layer is of a kind that the five ways do not cover, or its mask hides all from some word.
        IndexError: there is no such head.
    """
    projections, inputs = _checked(layer, head)
    mask = _mask(layer)
    recorded = steps.output_projection(steps.join_heads(layer.model_output), projections.W_O, projections.b_O)
    runs = {"numpy_head": (_by_hand(layer, projections, inputs, mask, head), layer.model_output[head])}
    n_heads, _, d_head = layer.queries.shape
    for name, module in _modules(projections, n_heads, d_head).items():
        runs[name] = (_in_torch(module, inputs, mask), recorded)
    return [_result(name, run, truth) for name, (run, truth) in runs.items()]


def _checked(layer: LayerTrace, head: int) -> tuple[Projections, Float[Array, "T M"]]:
    n_heads, _, d_head = layer.queries.shape
    if layer.projections is None or layer.inputs is None:
        raise ValueError("the inputs and weights of this layer are not known, so it cannot be computed anew")
    if layer.key_inputs is not None:
        raise ValueError("this layer is cross-attention, and the code is of self-attention: choose another layer")
    if layer.rotary is not None or layer.keys.shape[0] != n_heads or layer.values.shape[-1] != d_head:
        raise ValueError(
            "this model turns queries and keys by their positions or lets heads share them, and the code does "
            "neither: choose the toy or BERT"
        )
    if not np.isclose(layer.scale, d_head**-0.5):
        raise ValueError(f"the code scales by 1/√{d_head}, and this layer by {layer.scale:.4f}: choose another model")
    if not 0 <= head < n_heads:
        raise IndexError(f"head must be between 0 and {n_heads - 1}, got {head}")
    return layer.projections, layer.inputs


def _mask(layer: LayerTrace) -> Float[Array, "T T"]:
    """Return one additive mask for all heads."""
    n_tokens = layer.queries.shape[1]
    if layer.mask is None:
        return np.zeros((n_tokens, n_tokens), np.float32)
    if layer.mask.ndim == 3 and layer.mask.shape[0] != 1:
        raise ValueError("every head of this layer has a mask of its own, and the code has one for all")
    mask = np.broadcast_to(layer.mask.reshape(layer.mask.shape[-2:]), (n_tokens, n_tokens))
    if np.isneginf(mask).all(axis=-1).any():
        raise ValueError(
            "the mask hides every word from some word, and then this code divides nought by nought: show it one"
        )
    return mask.astype(np.float32)


def _by_hand(
    layer: LayerTrace, projections: Projections, inputs: Array, mask: Array, head: int
) -> Callable[[], Float[Array, "T D"]]:
    from attention.lab.numpy_head import attend

    width = layer.queries.shape[-1]
    columns = slice(head * width, (head + 1) * width)
    W_Q, W_K, W_V = (W[:, columns] for W in (projections.W_Q, projections.W_K, projections.W_V))
    b_Q, b_K, b_V = (
        np.zeros(width, np.float32) if b is None else b[columns]
        for b in (projections.b_Q, projections.b_K, projections.b_V)
    )
    return lambda: attend(inputs, W_Q, W_K, W_V, b_Q, b_K, b_V, mask)


def _modules(projections: Projections, n_heads: int, d_head: int) -> dict[str, nn.Module]:
    """Make each of the PyTorch modules, with the layer's weights in it."""
    from attention.lab import copying
    from attention.lab.fused import FusedSelfAttention
    from attention.lab.listed import ListedSelfAttention
    from attention.lab.module import SelfAttention
    from attention.lab.sdpa import SdpaSelfAttention

    sizes = projections.W_Q.shape[0], n_heads, d_head
    return {
        "module": copying.into_separate(SelfAttention(*sizes), projections),
        "fused": copying.into_fused(FusedSelfAttention(*sizes), projections),
        "listed": copying.into_listed(ListedSelfAttention(*sizes), projections),
        "sdpa": copying.into_separate(SdpaSelfAttention(*sizes), projections),
    }


def _in_torch(module: nn.Module, inputs: Array, mask: Array) -> Callable[[], Float[Array, "T M"]]:
    import torch

    # A trace's arrays are read-only, and PyTorch has no such thing.
    x, additive = torch.tensor(inputs)[None], torch.tensor(mask)

    def run() -> Float[Array, "T M"]:
        with torch.inference_mode():
            output: Array = module(x, additive)[0].numpy()
            return output

    return run


def _result(name: str, run: Callable[[], Array], truth: Array) -> LabResult:
    file = FOLDER / f"{name}.py"
    # The first run is watched, which takes time, so it is not one of those that are timed.
    output, shapes = _watched(run, str(file))
    return LabResult(
        name=name,
        code=file.read_text(encoding="utf-8"),
        shapes=shapes,
        output=output,
        difference=float(np.abs(output - truth).max()),
        seconds=min(_timed(run) for _ in range(REPEATS)),
    )


def _watched(run: Callable[[], Array], file: str) -> tuple[Array, tuple[tuple[str, Shape], ...]]:
    """Run once, and note the shape of every array that a variable of the file's own functions held."""
    shapes: dict[str, Shape] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_code.co_filename == file and frame.f_code.co_name in ENTRIES:
            for name, value in frame.f_locals.items():
                if hasattr(value, "shape"):
                    shapes.setdefault(name, tuple(value.shape))

    before = sys.getprofile()
    sys.setprofile(note)  # of this thread alone
    try:
        output = run()
    finally:
        sys.setprofile(before)
    return output, tuple(shapes.items())


def _timed(run: Callable[[], Array]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
