"""The training loop of the bundled models, and how a trained one is saved with its card."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import transformers

from attention.core.paths import ASSETS

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


def read_arguments(purpose: str, steps: int) -> argparse.Namespace:
    """Return ``out`` and ``steps`` of the command line, and make runs repeatable and quiet."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--steps", type=int, default=steps)
    transformers.utils.logging.disable_progress_bar()
    # With several threads, the last digits of sums would differ between machines.
    torch.set_num_threads(1)
    return parser.parse_args()


def save(name: str, out: Path, model: Any, numbers: dict[str, Any], told: dict[str, Any]) -> None:
    """Write a model's weights, the numbers that the app quotes, and the card of this name with these and ``told``."""
    model.save_pretrained(out)
    # Saved readable by its owner only, but a container may run as another user.
    (out / "model.safetensors").chmod(0o644)
    (out / "card.json").write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")
    card = (ASSETS / "cards" / f"{name}.md").read_text(encoding="utf-8")
    (out / "README.md").write_text(card.format_map(numbers | told), encoding="utf-8")


def _share_of_peak(progress: float) -> float:
    if progress < WARM_UP:
        return progress / WARM_UP
    return 0.5 * (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP)))
