"""Train two attention-only networks, with two layers and with one, on sequences that repeat.

    python -m attention.training.induction --seed 1

A sequence repeats a random list of different tokens, whose length is drawn for each sequence: the first pass is
unpredictable, every later one is determined. Both networks read the same sequences for the same number of steps. They
have no feed-forward parts and no norms. Sinusoidal positions (Vaswani et al. 2017, section 3.5) are added only to the
inputs of queries and keys (Press et al. 2021, "Shortformer", section 5).

Checkpoints are written at regular intervals (see ``attention.training.jobs``).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from attention.measures.induction import prefix_matching
from attention.training.induction_results import (
    BATCH,
    EVERY,
    EXAMPLE,
    N_HEADS,
    N_SCORED,
    N_TIMES,
    N_TOKENS,
    NETWORKS,
    STEPS,
    Checkpoint,
)
from attention.training.jobs import give_way, write_frame

D_MODEL = 64
# The longest sequence measured; training sequences lie anywhere within these positions.
N_PLACES = N_SCORED * N_TIMES
LENGTH = 32
# The shortest and the longest period of a sequence.
PERIODS = (4, LENGTH // 2)
# The longest sinusoid has a wavelength of 2π times this many positions.
LONGEST = 100
# With these, an induction head appears for each of 20 seeds (tests/bench/bench_training.py).
RATE, WARM_UP = 1e-2, 20
LARGEST_GRADIENT = 1.0
# The numbers of sequences for losses and scores; no training uses this seed.
N_MEASURED, N_OF_SCORE, MEASURED_SEED = 32, 8, 10**6


class Heads(nn.Module):
    """One layer of causal heads without biases."""

    def __init__(self, spread: float) -> None:
        """Draw the projections with this standard deviation."""
        super().__init__()
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Parameter(spread * torch.randn(D_MODEL, D_MODEL)) for _ in "QKVO")

    def forward(
        self, x: Float[Tensor, "B T M"], places: Float[Tensor, "T M"]
    ) -> tuple[Float[Tensor, "B T M"], Float[Tensor, "B H T T"]]:
        """Return ΔE for each token, and the heads' weights."""
        where = x + places
        queries, keys, values = (_split(each) for each in (where @ self.W_Q, where @ self.W_K, x @ self.W_V))
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])  # (B, H, T, T)
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(diagonal=1)
        weights = scores.masked_fill(later, -math.inf).softmax(dim=-1)
        return (weights @ values).transpose(1, 2).flatten(2) @ self.W_O, weights


def _split(x: Float[Tensor, "B T M"]) -> Float[Tensor, "B H T D"]:
    return x.unflatten(-1, (N_HEADS, -1)).transpose(1, 2)


class Network(nn.Module):
    """An embedding, attention layers with residual connections, and tied output embeddings."""

    def __init__(self, n_layers: int, spread: float = D_MODEL**-0.5) -> None:
        """Draw all weights; ``spread`` is the standard deviation of the projections."""
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(N_TOKENS, D_MODEL))
        self.layers = nn.ModuleList(Heads(spread) for _ in range(n_layers))
        self.places = _sinusoids(N_PLACES)

    def forward(
        self, tokens: Int[Tensor, "B T"], first: int = 0
    ) -> tuple[Float[Tensor, "B T V"], Float[Tensor, "L B H T T"]]:
        """Return the logits and all attention weights of a sequence that begins at position ``first``."""
        x, found = self.embedding[tokens], []
        for layer in self.layers:
            added, weights = layer(x, self.places[first : first + tokens.shape[1]])
            x = x + added
            found.append(weights)
        return x @ self.embedding.T / math.sqrt(D_MODEL), torch.stack(found)


def _sinusoids(length: int) -> Float[Tensor, "T M"]:
    angles = torch.arange(length)[:, None] / LONGEST ** (torch.arange(0, D_MODEL, 2) / D_MODEL)
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


def sequences(periods: Int[Tensor, " B"], numbers: torch.Generator, length: int = LENGTH) -> Int[Tensor, "B T"]:
    """Draw a sequence for each period: this many different random tokens, repeated."""
    shuffled = torch.rand(len(periods), N_TOKENS, generator=numbers).argsort(dim=-1)
    return shuffled.gather(1, torch.arange(length) % periods[:, None])


def train(seed: int, steps: int = STEPS, every: int = EVERY, spread: float = D_MODEL**-0.5) -> Iterator[Checkpoint]:
    """Train both networks and yield a checkpoint every few steps; reproducible on one machine."""
    torch.manual_seed(seed)
    numbers = torch.Generator().manual_seed(seed)
    networks = [Network(n_layers, spread) for n_layers in NETWORKS]
    optimisers = [torch.optim.Adam(each.parameters(), lr=RATE, betas=(0.9, 0.98)) for each in networks]
    for step in range(steps + 1):
        if step % every == 0:
            yield measure(step, networks)
        tokens = sequences(torch.randint(PERIODS[0], PERIODS[1] + 1, (BATCH,), generator=numbers), numbers)
        first = int(torch.randint(N_PLACES - LENGTH + 1, (), generator=numbers))
        for network, optimiser in zip(networks, optimisers, strict=True):
            for group in optimiser.param_groups:
                group["lr"] = RATE * min(1.0, (step + 1) / WARM_UP)
            loss = _losses(network(tokens, first)[0], tokens).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), LARGEST_GRADIENT)
            optimiser.step()


def _losses(logits: Float[Tensor, "B T V"], tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T-1"]:
    return functional.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")


# -------------------------------------------------------------------------------------- what is measured


@torch.inference_mode()
def measure(step: int, networks: Sequence[Network]) -> Checkpoint:
    """Measure the networks on the same sequences in every training."""
    numbers = torch.Generator().manual_seed(MEASURED_SEED)
    halves = sequences(torch.full((N_MEASURED,), LENGTH // 2), numbers)
    scored = sequences(torch.full((N_OF_SCORE,), N_SCORED), numbers, N_PLACES)
    found = [_measured(network, halves) for network in networks]
    weights = [network(torch.tensor(EXAMPLE)[None])[1][:, 0] for network in networks]
    scores = [_scores(network, scored) for network in networks]
    return Checkpoint(
        step,
        np.array([losses for losses, _ in found], dtype=np.float32),
        np.array([hits for _, hits in found], dtype=np.float32),
        np.concatenate(scores).astype(np.float32),
        torch.cat(weights).numpy(),
    )


def _measured(network: Network, halves: Int[Tensor, "B T"]) -> tuple[tuple[float, float], float]:
    """Return both halves' losses and the accuracy on second halves, without their unpredictable first token."""
    half = LENGTH // 2
    logits, _ = network(halves)
    losses = _losses(logits, halves)
    is_right = logits[:, half:-1].argmax(dim=-1) == halves[:, half + 1 :]
    return (losses[:, : half - 1].mean().item(), losses[:, half:].mean().item()), is_right.float().mean().item()


def _scores(network: Network, scored: Int[Tensor, "B T"]) -> Float[np.ndarray, "L H"]:
    _, weights = network(scored)
    each = [prefix_matching(weights[:, index].numpy(), row.numpy()) for index, row in enumerate(scored)]
    return np.mean(each, axis=0)


def main() -> None:
    """Train, and write each checkpoint to standard output."""
    parser = argparse.ArgumentParser(description="Train two small networks of attention alone.")
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    give_way()
    torch.set_num_threads(1)
    for found in train(seed):
        share = found.step / STEPS
        write_frame(
            sys.stdout.buffer,
            share,
            step=np.int64(found.step),
            losses=found.losses,
            hits=found.hits,
            scores=found.scores,
            weights=found.weights,
        )


if __name__ == "__main__":
    main()
