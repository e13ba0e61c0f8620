"""Train a small Transformer on a text, character by character, until it imitates the style.

    python -m attention.training.writing --layers 2 < text

A minimal pre-norm decoder (Xiong et al. 2020): an embedding, learnt positions, layers of attention and feed-forward, a
final norm, and a linear output layer. Without a text, it reads the bundled story.

Measurements and samples are written to standard output at set steps (see ``attention.training.jobs``). The text itself
is stored nowhere, and no error quotes it.
"""

from __future__ import annotations

import argparse
import math
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from attention.training.jobs import give_way, write_frame
from attention.training.writing_results import (
    BATCH,
    CONTEXT,
    DEPTHS,
    MOMENTS,
    N_HEADS,
    N_MEASURED,
    N_SHOWN,
    N_WRITTEN,
    STEPS,
    TEMPERATURES,
    WIDTH,
    Moment,
    bundled,
    divide,
    longest_copied,
    unigram,
)

SEED = 1
RATE, WARM_UP, LARGEST_GRADIENT = 5e-3, 20, 1.0
# A text this short is easily memorised (Srivastava et al. 2014; Loshchilov & Hutter 2019).
DROPOUT, DECAY = 0.1, 0.1


class Attention(nn.Module):
    """Causal attention heads."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(width, width) for _ in "QKVO")

    def forward(self, x: Float[Tensor, "B T M"]) -> tuple[Float[Tensor, "B T M"], Float[Tensor, "B H T T"]]:
        """Return ΔE for each character, and the heads' weights."""
        q, k, v = (_split(project(x)) for project in (self.W_Q, self.W_K, self.W_V))  # (B, H, T, D)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # (B, H, T, T)
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(diagonal=1)
        weights = scores.masked_fill(later, -math.inf).softmax(dim=-1)
        return self.W_O((weights @ v).transpose(1, 2).flatten(2)), weights


def _split(x: Float[Tensor, "B T M"]) -> Float[Tensor, "B H T D"]:
    return x.unflatten(-1, (N_HEADS, -1)).transpose(1, 2)


class Layer(nn.Module):
    """Attention, then a feed-forward network, each reading the residual stream through a norm and adding to it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x: Float[Tensor, "B T M"]) -> tuple[Float[Tensor, "B T M"], Float[Tensor, "B H T T"]]:
        """Return the residual stream after this layer, and the heads' weights."""
        added, weights = self.attention(self.norm_1(x))
        x = x + self.dropout(added)
        return x + self.dropout(self.feed_forward(self.norm_2(x))), weights


class Transformer(nn.Module):
    """Embedding, positions, layers, norm and output layer."""

    def __init__(self, n_symbols: int, n_layers: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n_symbols, width)
        self.positions = nn.Parameter(torch.zeros(CONTEXT, width))
        self.layers = nn.ModuleList(Layer(width) for _ in range(n_layers))
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, n_symbols)
        nn.init.normal_(self.embedding.weight, std=0.1)
        nn.init.normal_(self.positions, std=0.1)
        # All characters are about equally likely before training.
        nn.init.normal_(self.output.weight, std=0.02)
        nn.init.zeros_(self.output.bias)

    def forward(self, tokens: Int[Tensor, "B T"]) -> tuple[Float[Tensor, "B T V"], Float[Tensor, "L B H T T"]]:
        """Return the logits of the next character at each position, and all attention weights."""
        x, found = self.embedding(tokens) + self.positions[: tokens.shape[1]], []
        for layer in self.layers:
            x, weights = layer(x)
            found.append(weights)
        return self.output(self.norm(x)), torch.stack(found)


@dataclass(frozen=True, slots=True)
class Read:
    """A text as character numbers.

    Attributes:
        text: the training part.
        symbols: the characters by number.
        learnt, held_out: the two parts of the text.
        unigram: the held-out loss of the character frequencies.
    """

    text: str
    symbols: tuple[str, ...]
    learnt: Int[Tensor, " N"]
    held_out: Int[Tensor, " n"]
    unigram: float

    @classmethod
    def of(cls, text: str) -> Self:
        """Number the characters of a text."""
        symbols = sorted(set(text))
        number_of = {symbol: number for number, symbol in enumerate(symbols)}
        parts = divide(text)
        learnt, held_out = (torch.tensor([number_of[each] for each in part]) for part in parts)
        return cls(parts[0], tuple(symbols), learnt, held_out, unigram(*parts))

    def text_of(self, tokens: Int[Tensor, " N"]) -> str:
        """Decode characters."""
        return "".join(self.symbols[number] for number in tokens.tolist())


def train(text: str, n_layers: int, width: int = WIDTH, steps: int = STEPS, seed: int = SEED) -> Iterator[Moment]:
    """Train a Transformer on a text; yield measurements after certain steps; reproducible on one machine."""
    torch.manual_seed(seed)
    read = Read.of(text)
    model = Transformer(len(read.symbols), n_layers, width)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.95), weight_decay=DECAY)
    for step in range(steps + 1):
        if step in MOMENTS:
            yield measure(model, step, read)
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / WARM_UP) * (1 - step / (steps + 1))
        starts = torch.randint(len(read.learnt) - CONTEXT, (BATCH, 1))
        pieces = read.learnt[starts + torch.arange(CONTEXT + 1)]  # (B, T + 1)
        loss = _loss(model, pieces)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
        optimiser.step()


def _loss(model: Transformer, pieces: Int[Tensor, "B T+1"]) -> Float[Tensor, ""]:
    """Return the mean cross-entropy of the next characters; −1 is padding."""
    logits, _ = model(pieces[:, :-1].clamp(min=0))
    return functional.cross_entropy(logits.transpose(1, 2), pieces[:, 1:], ignore_index=-1)


# -------------------------------------------------------------------------------------- what is measured


@torch.inference_mode()
def measure(model: Transformer, step: int, read: Read) -> Moment:
    """Measure a Transformer's losses and let it write."""
    model.eval()
    losses = [loss_on(model, part) for part in (read.learnt, read.held_out)]
    _, weights = model(read.learnt[None, :N_SHOWN])
    written = tuple(map(read.text_of, write(model, read.learnt[:1])))
    model.train()
    return Moment(
        step,
        np.array(losses, dtype=np.float32),
        written,
        tuple(longest_copied(each, read.text) for each in written),
        weights[:, 0].numpy(),
        read.text[:N_SHOWN],
        (len(read.learnt), len(read.held_out), len(read.symbols)),
        read.unigram,
    )


def loss_on(model: Transformer, tokens: Int[Tensor, " N"]) -> float:
    """Return the mean loss on at most ``N_MEASURED`` pieces, spread evenly over the text."""
    filled = functional.pad(tokens, (0, -(len(tokens) - 1) % CONTEXT), value=-1)
    pieces = filled.unfold(0, CONTEXT + 1, CONTEXT)  # (N, T + 1)
    chosen = torch.linspace(0, len(pieces) - 1, min(len(pieces), N_MEASURED)).long()
    return _loss(model, pieces[chosen]).item()


def write(model: Transformer, first: Int[Tensor, " n"], n: int = N_WRITTEN, seed: int = SEED) -> Int[Tensor, "S n"]:
    """Sample a continuation at each temperature from softmax(logits / temperature)."""
    numbers = torch.Generator().manual_seed(seed)
    temperatures = torch.tensor(TEMPERATURES)[:, None]
    found = first.repeat(len(TEMPERATURES), 1)
    while found.shape[1] < n:
        logits = model(found[:, -CONTEXT:])[0][:, -1]
        drawn = torch.multinomial((logits / temperatures).softmax(dim=-1), 1, generator=numbers)
        found = torch.cat((found, drawn), dim=1)
    return found


def main() -> None:
    """Train on the text from standard input, and write each moment to standard output."""
    parser = argparse.ArgumentParser(description="Train a small Transformer on a text.")
    parser.add_argument("--layers", type=int, choices=DEPTHS, default=2)
    chosen = parser.parse_args()
    text = sys.stdin.buffer.read().decode() or bundled()
    give_way()
    torch.set_num_threads(1)
    try:
        for found in train(text, chosen.layers):
            write_frame(
                sys.stdout.buffer,
                found.step / STEPS,
                step=np.int64(found.step),
                losses=found.losses,
                written=np.array(found.written),
                copied=np.array(found.copied),
                weights=found.weights,
                beginning=np.array(found.beginning),
                sizes=np.array(found.sizes),
                unigram=np.float64(found.unigram),
            )
    except Exception as error:
        # Without its message, which may quote the text.
        sys.stderr.write(f"{type(error).__name__}:\n{''.join(traceback.format_tb(error.__traceback__))}")
        sys.exit(1)


if __name__ == "__main__":
    main()
