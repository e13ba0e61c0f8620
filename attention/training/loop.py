"""The training loop of the bundled models."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import torch

WARM_UP = 0.1  # the share of the steps in which the learning rate rises
LARGEST_GRADIENT = 1.0
REPORT_EVERY = 200

# The arguments of a transformers model, including the labels.
Batch = dict[str, torch.Tensor]


def optimise(model: Any, batches: Iterator[Batch], *, steps: int, peak_rate: float) -> list[float]:
    """Train with AdamW (Loshchilov and Hutter 2019), linear warm-up and cosine decay; return the losses."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=peak_rate, betas=(0.9, 0.98), weight_decay=0.01)
    losses = []
    model.train()
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = peak_rate * _share_of_peak((step + 1) / steps)
        loss = model(**next(batches)).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
        optimiser.step()
        losses.append(loss.item())
        if (step + 1) % REPORT_EVERY == 0:
            report(f"step {step + 1} of {steps}: loss {sum(losses[-REPORT_EVERY:]) / REPORT_EVERY:.4f}")
    model.eval()
    return losses


def report(line: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _share_of_peak(progress: float) -> float:
    if progress < WARM_UP:
        return progress / WARM_UP
    return 0.5 * (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP)))
