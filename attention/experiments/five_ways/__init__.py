"""Five implementations of the same attention, run with the same weights on the same text and compared.

A page shows the file of each. PyTorch is imported only when they run.
"""

from __future__ import annotations

import ast
import inspect
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.steps import join_heads, output_projection
from attention.core.trace import Difference, LayerTrace, Projections

if TYPE_CHECKING:
    from torch import nn


# The number of timed runs; the median counts.
N_RUNS = 15


@dataclass(frozen=True, slots=True)
class Way:
    """One implementation: its file, its name, and whether it computes one head or a whole layer."""

    file: str
    name: str
    is_one_head: bool = False

    @property
    def source(self) -> str:
        """The source code."""
        return (Path(__file__).parent / f"{self.file}.py").read_text("utf-8")


WAYS = (
    Way("numpy_head", message("One head by hand"), is_one_head=True),
    Way("module", message("A module, heads by view")),
    Way("fused", message("Fused q, k and v, with einops")),
    Way("listed", message("A list of single heads")),
    Way("sdpa", message("PyTorch's own function")),
)


@dataclass(frozen=True, slots=True)
class Result:
    """The shapes of an implementation's variables, its difference from the model's own output, and its time.

    ``difference`` refers to the output of one head, or to ΔE of all heads. If the latter was
    not recorded (``is_models_own`` is false), it is computed here from the model's head outputs and W_O.
    """

    way: Way
    output: Array
    shapes: dict[str, tuple[int, ...]]
    difference: Difference
    seconds: float
    is_models_own: bool = True


def why_not(layer: LayerTrace) -> str:
    """Return why the five implementations do not cover a layer; empty if they do."""
    normalises = layer.query_norm is not None or layer.key_norm is not None
    reasons = (
        (
            layer.key_inputs is not None,
            message("the code covers self-attention only"),
        ),
        (
            layer.inputs is None or layer.projections is None,
            message("this layer's inputs or weights are unknown"),
        ),
        (normalises, message("this model also normalises queries and keys")),
        (layer.rotary is not None, message("this model also rotates queries and keys (RoPE)")),
        (layer.bias is not None, message("this model also adds a position bias to its scores")),
        (layer.softcap is not None, message("this model also caps its scores")),
        (len(layer.keys) != len(layer.queries), message("the heads of this model share keys and values")),
        (not layer.has_usual_scale, message("this model scales its scores differently")),
    )
    return next((reason for is_so, reason in reasons if is_so), "")


def run(layer: LayerTrace, head: int) -> list[Result]:
    """Run all five on a layer's input and weights, ``head`` in one of them; raise ValueError if ``why_not(layer)``."""
    reason = why_not(layer)
    if reason:
        raise ValueError(f"this layer cannot be written in the five ways: {reason}")
    return [_run_one_head(layer, head), *(_run_module(way, layer) for way in WAYS if not way.is_one_head)]


def _run_one_head(layer: LayerTrace, head: int) -> Result:
    from attention.experiments.five_ways.numpy_head import one_head

    inputs, parts = _known(layer)
    width = layer.queries.shape[-1]
    columns = slice(head * width, (head + 1) * width)
    W_Q, W_K, W_V = (weight[:, columns] for weight in (parts.W_Q, parts.W_K, parts.W_V))
    b_Q, b_K, b_V = (bias[columns] for bias in _biases(parts)[:3])
    mask = _mask(layer)
    arguments = (inputs, W_Q, W_K, W_V, b_Q, b_K, b_V, mask[head if len(mask) > 1 else 0])
    return _measured(WAYS[0], lambda: one_head(*arguments), _shapes(one_head, *arguments), layer.model_output[head])


def _run_module(way: Way, layer: LayerTrace) -> Result:
    import torch

    inputs, parts = _known(layer)
    n_heads, _, d_head = layer.queries.shape
    module = _build(way, inputs.shape[1], n_heads, d_head)
    _copy_weights(module, parts, n_heads)
    # Copies, because PyTorch does not accept read-only arrays.
    x, mask = torch.tensor(inputs), torch.tensor(_mask(layer))
    mask = mask[0] if len(mask) == 1 else mask
    wanted = layer.added
    if wanted is None:
        wanted = output_projection(join_heads(layer.model_output), parts.W_O, parts.b_O)

    def forward() -> Array:
        with torch.inference_mode():
            result: Array = module(x, mask).numpy()
        return result

    with torch.inference_mode():
        shapes = _shapes(type(module).forward, module, x, mask)
    result = _measured(way, forward, shapes, wanted)
    return replace(result, is_models_own=layer.added is not None)


def _build(way: Way, d_model: int, n_heads: int, d_head: int) -> nn.Module:
    from attention.experiments.five_ways.fused import FusedAttention
    from attention.experiments.five_ways.listed import ListedAttention
    from attention.experiments.five_ways.module import SelfAttention
    from attention.experiments.five_ways.sdpa import LibraryAttention

    kinds: dict[str, Callable[[int, int, int], nn.Module]] = {
        "module": SelfAttention,
        "fused": FusedAttention,
        "listed": ListedAttention,
        "sdpa": LibraryAttention,
    }
    return kinds[way.file](d_model, n_heads, d_head)


def _copy_weights(module: nn.Module, parts: Projections, n_heads: int) -> None:
    """Copy the layer's weights into a module, transposed: a row of ``nn.Linear``'s weight computes one output."""
    import torch

    b_Q, b_K, b_V, b_O = _biases(parts)
    by_name = {"q": (parts.W_Q, b_Q), "k": (parts.W_K, b_K), "v": (parts.W_V, b_V)}
    fused = np.concatenate([parts.W_Q, parts.W_K, parts.W_V], axis=1), np.concatenate([b_Q, b_K, b_V])
    maps = {"out": (parts.W_O, b_O), "to_qkv": fused, **by_name}
    for name, (weight, bias) in by_name.items():
        split = zip(np.split(weight, n_heads, axis=1), np.split(bias, n_heads), strict=True)
        maps |= {f"heads.{head}.{name}": each for head, each in enumerate(split)}
    wanted = {name.removesuffix(".weight") for name in module.state_dict() if name.endswith(".weight")}
    tensors = {f"{name}.weight": torch.tensor(maps[name][0].T) for name in wanted}
    module.load_state_dict(tensors | {f"{name}.bias": torch.tensor(maps[name][1]) for name in wanted})


def _measured(way: Way, function: Callable[[], Array], shapes: dict[str, tuple[int, ...]], wanted: Array) -> Result:
    output = function()
    times = []
    for _ in range(N_RUNS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return Result(way, output, shapes, Difference.between(output, wanted), statistics.median(times))


def _shapes(function: Callable[..., Any], *arguments: Any) -> dict[str, tuple[int, ...]]:
    """Execute a function's source lines and return the shapes of its variables in order of assignment."""
    (definition,) = ast.parse(dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    lines = [line for line in definition.body if not isinstance(line, ast.Return)]
    around = function.__globals__
    names = around | dict(zip(inspect.signature(function).parameters, arguments, strict=True))
    exec(compile(ast.Module(lines, []), definition.name, "exec"), names)  # noqa: S102 - a file of this folder
    return {name: tuple(v.shape) for name, v in names.items() if name not in around and hasattr(v, "shape")}


def _known(layer: LayerTrace) -> tuple[Float[Array, "T M"], Projections]:
    assert layer.inputs is not None
    assert layer.projections is not None
    return layer.inputs, layer.projections


def _biases(parts: Projections) -> list[Array]:
    """Return the four biases, 0 where the model has none."""
    pairs = ((parts.b_Q, parts.W_Q), (parts.b_K, parts.W_K), (parts.b_V, parts.W_V), (parts.b_O, parts.W_O))
    return [np.zeros(weight.shape[1], np.float32) if bias is None else bias for bias, weight in pairs]


def _mask(layer: LayerTrace) -> Float[Array, "*H Q K"]:
    """Return the additive mask with a leading axis for heads, which may have length 1."""
    n_tokens = layer.queries.shape[1]
    if layer.mask is None:
        return np.zeros((1, n_tokens, n_tokens), np.float32)
    return layer.mask[None] if layer.mask.ndim == 2 else layer.mask
