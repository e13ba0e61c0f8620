"""Train the vision Transformer on digits of 8 × 8 grey levels.

    python -m attention.training.digits --out assets/models/vit-digits [--steps N]

The digits are scikit-learn's copy of the test part of the UCI set "Optical Recognition of Handwritten Digits" (Alpaydin
and Kaynak 1998). scikit-learn is needed only here, not to show the finished model.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray as Array
from transformers import ViTConfig, ViTForImageClassification

from attention.training.loop import Batch, optimise, read_arguments, report, save

SEED = 2020
STEPS = 3000
BATCH = 64
PEAK_RATE = 2e-3
HELD_OUT_SHARE = 5  # one in this many pictures of every digit is never trained on
LARGEST_GREY = 16
NOISE = 1.0  # standard deviation, in grey levels


@dataclass(frozen=True, slots=True)
class Digits:
    """Pictures of grey levels from 0 (paper) to 16 (ink), and their digits."""

    pictures: Float[Array, "N 8 8"]
    labels: Int[Array, " N"]


def read_digits() -> tuple[Digits, Digits]:
    """Return the training pictures and the held-out ones, a fifth of each digit."""
    from sklearn.datasets import load_digits

    pictures, labels = load_digits(return_X_y=True)
    pictures = pictures.reshape(-1, 8, 8).astype(np.float32)
    order = np.random.default_rng(SEED).permutation(len(labels))
    of_each_digit = [order[labels[order] == digit] for digit in range(10)]
    held_out = np.sort(np.concatenate([rows[::HELD_OUT_SHARE] for rows in of_each_digit]))
    kept = np.setdiff1d(order, held_out)
    return Digits(pictures[kept], labels[kept]), Digits(pictures[held_out], labels[held_out])


def normalised(pictures: Float[Array, "*N 8 8"]) -> Float[Array, "*N 8 8"]:
    """Map grey levels from 0 to 16 to −1 to 1: ``(x/16 - 0.5) / 0.5``."""
    return (pictures / LARGEST_GREY - 0.5) / 0.5


def build_model() -> ViTForImageClassification:
    """Make the model with random weights: 16 patches of 2 × 2, 3 layers, 4 heads of 12 numbers."""
    config = ViTConfig(
        image_size=8,
        patch_size=2,
        num_channels=1,
        hidden_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=96,
        initializer_range=0.1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        id2label={digit: str(digit) for digit in range(10)},
        label2id={str(digit): digit for digit in range(10)},
    )
    return ViTForImageClassification(config)


def train(digits: Digits, steps: int, seed: int = SEED) -> tuple[ViTForImageClassification, list[float]]:
    """Train a new model; return it and the loss of each step."""
    torch.manual_seed(seed)
    model = build_model()
    losses = optimise(model, _batches(digits, seed), steps=steps, peak_rate=PEAK_RATE)
    return model, losses


def _guesses(model: Any, digits: Digits) -> Int[Array, " N"]:
    with torch.inference_mode():
        logits = model(pixel_values=_pixels(digits.pictures)).logits
    return np.asarray(logits.argmax(dim=-1).numpy())


def _batches(digits: Digits, seed: int) -> Iterator[Batch]:
    """Yield batches of pictures, slightly shifted and noisy, without end."""
    rng = np.random.default_rng(seed)
    while True:
        chosen = rng.integers(len(digits.labels), size=BATCH)
        yield {
            "pixel_values": _pixels(_varied(digits.pictures[chosen], rng)),
            "labels": torch.from_numpy(digits.labels[chosen]),
        }


def _varied(pictures: Float[Array, "N 8 8"], rng: np.random.Generator) -> Float[Array, "N 8 8"]:
    """Shift each picture by at most one pixel in either direction, over blank paper, and add noise."""
    padded = np.pad(pictures, ((0, 0), (1, 1), (1, 1)))
    rows, columns = rng.integers(3, size=(2, len(pictures), 1)) + np.arange(8)[None, None]
    shifted = padded[np.arange(len(pictures))[:, None, None], rows[:, :, None], columns[:, None, :]]
    noise = NOISE * rng.standard_normal(shifted.shape, dtype=np.float32)
    return np.clip(shifted + noise, 0, LARGEST_GREY)


def _pixels(pictures: Float[Array, "N 8 8"]) -> torch.Tensor:
    return torch.from_numpy(normalised(pictures)[:, None])


# -------------------------------------------------------------------------------------------- the card


def _card_numbers(
    model: Any, trained_on: Digits, held_out: Digits, losses: list[float], seconds: float
) -> dict[str, Any]:
    guesses = _guesses(model, held_out)
    wrong = guesses != held_out.labels
    return {
        "script": "python -m attention.training.digits",
        "seed": SEED,
        "steps": len(losses),
        "batch_size": BATCH,
        "training_pictures": len(trained_on.labels),
        "seconds": round(seconds),
        "training_loss": round(float(np.mean(losses[-50:])), 4),
        "held_out_pictures": len(held_out.labels),
        "held_out_accuracy": round(float(np.mean(~wrong)), 4),
        "mistakes": [
            {"digit": int(digit), "guess": int(guess)}
            for digit, guess in zip(held_out.labels[wrong], guesses[wrong], strict=True)
        ],
        "licence": "MIT",
    }


def _told(numbers: dict[str, Any]) -> dict[str, Any]:
    mistakes = ", ".join(f"{mistake['digit']} read as {mistake['guess']}" for mistake in numbers["mistakes"])
    return {"mistaken": mistakes or "none", "held_out_share": HELD_OUT_SHARE, "noise": NOISE}


def main() -> None:
    """Train the model, measure it, and write its weights and card."""
    arguments = read_arguments("Train the vision Transformer on digits.", STEPS)
    kept, held_out = read_digits()
    started = time.process_time()
    model, losses = train(kept, arguments.steps)
    seconds = time.process_time() - started
    numbers = _card_numbers(model, kept, held_out, losses, seconds)
    save("vit-digits", arguments.out, model, numbers, _told(numbers))
    report(f"right on {numbers['held_out_accuracy']:.1%} of {numbers['held_out_pictures']} held-out digits")


if __name__ == "__main__":
    main()
