"""Measure the cost of attention on this machine: time and memory by length, and generation with and without a KV cache.

    python -m attention.experiments.timing
    python -m attention.experiments.timing --out assets/measurement.json

It runs on one core and writes a frame for each number of tokens (see ``attention.training.jobs``) or, with ``--out``,
all of them and the machine's name to a file: the measurement a server shows before it has its own. Times are CPU times
of the process, the best of several; a decoder is timed once. Memory is the peak of PyTorch's allocator according to its
profiler, without inputs, weights, interpreter and libraries.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jaxtyping import Float

from attention.experiments.costs import D_HEAD, LENGTHS, N_HEADS, N_LAYERS, NEW, WIDTH, Machine, Measured, Point, Way
from attention.training.jobs import give_way, write_frame

if TYPE_CHECKING:
    from torch import Tensor


# Each function runs at least this often and for this many seconds.
LEAST_TIMES, ENOUGH = 3, 0.25
# The process's memory limit.
MOST_BYTES = 10**9
SEED = 0


# ------------------------------------------------------------------------------- attention against length


def explicit(q: Float[Tensor, "H T D"], k: Float[Tensor, "H T D"], v: Float[Tensor, "H T D"]) -> Float[Tensor, "H T D"]:
    """Return softmax(QKᵀ/√d)V with all scores and weights in memory at once."""
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2)  # (H, T, T)
    return scores.softmax(dim=-1) @ v


def fused(
    q: Float[Tensor, "H T D"], k: Float[Tensor, "H K D"], v: Float[Tensor, "H K D"], *, is_causal: bool = False
) -> Float[Tensor, "H T D"]:
    """Return the same from PyTorch's own function, which works in blocks (Dao et al. 2022)."""
    from torch.nn import functional

    # It computes in blocks only with a batch axis.
    queries, keys, values = (each.unsqueeze(0) for each in (q, k, v))
    return functional.scaled_dot_product_attention(queries, keys, values, is_causal=is_causal).squeeze(0)


def held_by(run: Callable[[], Tensor]) -> tuple[int, Tensor]:
    """Return the peak of newly allocated bytes during a call, and its result."""
    from torch.autograd.profiler import profile

    with profile(profile_memory=True) as recorded:
        found = run()
    assert recorded.kineto_results is not None
    events = (each for each in recorded.kineto_results.events() if each.name() == "[memory]")
    held = most = 0
    for _, change in sorted((each.start_ns(), each.nbytes()) for each in events):
        held += change
        most = max(most, held)
    return most, found


def best_of(run: Callable[[], object]) -> float:
    """Return the shortest CPU time of several calls, in seconds."""
    least, spent, times = math.inf, 0.0, 0
    while times < LEAST_TIMES or spent < ENOUGH:
        began = time.process_time()
        run()
        took = time.process_time() - began
        least, spent, times = min(least, took), spent + took, times + 1
    return least


def _measure_by_length(lengths: Sequence[int]) -> Iterator[Point]:
    import torch

    torch.manual_seed(SEED)
    # With gradients, PyTorch would keep activations for the backward pass.
    lstm = torch.no_grad()(torch.nn.LSTM(WIDTH, WIDTH).requires_grad_(requires_grad=False))
    for length in lengths:
        q, k, v = torch.randn(3, N_HEADS, length, D_HEAD)
        tokens = torch.randn(length, WIDTH)
        runs: Mapping[Way, Callable[[], Tensor]] = {
            "explicit": partial(explicit, q, k, v),
            "fused": partial(fused, q, k, v),
            "lstm": partial(_outputs, lstm, tokens),
        }
        outputs: dict[Way, Tensor] = {}
        for way, run in runs.items():
            # The profiled run doubles as a warm-up.
            n_bytes, outputs[way] = held_by(run)
            difference = float((outputs["fused"] - outputs["explicit"]).abs().max()) if way == "fused" else 0.0
            yield Point(way, length, best_of(run), n_bytes, difference)


def _outputs(lstm: Callable[[Tensor], tuple[Tensor, object]], tokens: Float[Tensor, "T M"]) -> Float[Tensor, "T M"]:
    return lstm(tokens)[0]


# ------------------------------------------------------------------------ one new token after the other


class _Layer(NamedTuple):
    """The matrices of a decoder layer with attention only."""

    W_Q: Float[Tensor, "M M"]
    W_K: Float[Tensor, "M M"]
    W_V: Float[Tensor, "M M"]
    W_O: Float[Tensor, "M M"]


def _split(x: Float[Tensor, "T M"]) -> Float[Tensor, "H T D"]:
    return x.unflatten(-1, (N_HEADS, D_HEAD)).transpose(0, 1)


def _joined(heads: Float[Tensor, "H T D"]) -> Float[Tensor, "T M"]:
    return heads.transpose(0, 1).flatten(1)


def anew(layers: Sequence[_Layer], tokens: Float[Tensor, "T M"]) -> Iterator[Float[Tensor, " M"]]:
    """Yield each new token's output vector, computed from all tokens so far."""
    for length in range(1, len(tokens) + 1):
        x = tokens[:length]
        for layer in layers:
            queries, keys, values = (_split(x @ each) for each in (layer.W_Q, layer.W_K, layer.W_V))
            x = x + _joined(fused(queries, keys, values, is_causal=True)) @ layer.W_O
        yield x[-1]


def cached(layers: Sequence[_Layer], tokens: Float[Tensor, "T M"]) -> Iterator[Float[Tensor, " M"]]:
    """Yield each new token's output vector, computed from its own vector and the KV cache."""
    kept = [tokens.new_empty(2, N_HEADS, len(tokens), D_HEAD) for _ in layers]
    for place in range(len(tokens)):
        x = tokens[place : place + 1]
        for layer, (keys, values) in zip(layers, kept, strict=True):
            query = _split(x @ layer.W_Q)
            keys[:, place : place + 1], values[:, place : place + 1] = _split(x @ layer.W_K), _split(x @ layer.W_V)
            x = x + _joined(fused(query, keys[:, : place + 1], values[:, : place + 1])) @ layer.W_O
        yield x[-1]


def _measure_generation(new: Sequence[int]) -> Iterator[Point]:
    """Measure generation of random vectors, with and without a KV cache."""
    import torch

    numbers = torch.Generator().manual_seed(SEED)
    layers = [_Layer(*torch.randn(4, WIDTH, WIDTH, generator=numbers) / math.sqrt(WIDTH)) for _ in range(N_LAYERS)]
    tokens = torch.randn(new[-1], WIDTH, generator=numbers)
    outputs = torch.stack(list(cached(layers, tokens)))
    ways: Mapping[Way, Callable[..., Iterator[Tensor]]] = {"cached": cached, "anew": anew}
    for way, read in ways.items():
        steps = read(layers, tokens)
        spent, difference = 0.0, 0.0
        for first, last in pairwise((0, *new)):
            began = time.process_time()
            found = [next(steps) for _ in range(first, last)]
            spent += time.process_time() - began
            difference = max(difference, float((torch.stack(found) - outputs[first:last]).abs().max()))
            n_bytes = 2 * N_LAYERS * last * WIDTH * tokens.itemsize if way == "cached" else 0
            yield Point(way, last, spent, n_bytes, difference)


def measure(lengths: Sequence[int] = LENGTHS, new: Sequence[int] = NEW) -> Iterator[Point]:
    """Measure attention and an LSTM for each length, then a decoder for each number of new tokens."""
    yield from _measure_by_length(lengths)
    yield from _measure_generation(new)


# ----------------------------------------------------------------------------------- in a process of its own


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))


def _machine() -> Machine:
    """Describe this machine without its host name or files."""
    import torch

    return Machine(_processor(), os.cpu_count() or 1, torch.__version__, f"{datetime.now(tz=UTC):%Y-%m-%d}")


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main() -> None:
    """Measure, and write each point to standard output, or all to a file."""
    parser = argparse.ArgumentParser(description="Measure what attention costs on this machine.")
    parser.add_argument("--out", type=Path, help="write the measurement, with the machine's name, to this file")
    out: Path | None = parser.parse_args().out
    # Keeps the profiler's messages out of the server's log.
    os.environ["KINETO_LOG_LEVEL"] = "99"
    give_way()
    _limit_memory()
    import torch

    torch.set_num_threads(1)
    if out is not None:
        out.write_text(Measured(_machine(), tuple(measure())).written(), "utf-8")
        return
    n_points = 3 * len(LENGTHS) + 2 * len(NEW)
    for done, point in enumerate(measure(), 1):
        write_frame(sys.stdout.buffer, done / n_points, **point.arrays())


if __name__ == "__main__":
    main()
