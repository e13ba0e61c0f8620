"""The cards of the models that were trained here: what was measured on what they had not been trained on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from attention.models import weights

__all__ = ["DigitsCard", "TranslatorCard", "digits_card", "translator_card"]


@dataclass(frozen=True, slots=True)
class TranslatorCard:
    """How well the translator does on held-out sentences, from 0 to 1; layers and heads count from 0.

    ``alignment[layer][head]`` is how often that head's largest cross-attention weight is on the right French word,
    over the English content words, in the row that predicts the word.
    """

    n_words: int
    n_sentences: int
    exact_match: float
    n_content_words: int
    alignment: tuple[tuple[float, ...], ...]
    best_layer: int
    best_head: int


@dataclass(frozen=True, slots=True)
class DigitsCard:
    """How well the digit reader does on held-out pictures, from 0 to 1."""

    n_pictures: int
    accuracy: float


def translator_card() -> TranslatorCard:
    """Read the translator's card."""
    card = _read(weights.TRANSLATOR)
    return TranslatorCard(
        n_words=card["french_words"],
        n_sentences=card["held_out_sentences"],
        exact_match=card["exact_match"],
        n_content_words=card["content_words"],
        alignment=tuple(map(tuple, card["alignment_predicting"])),
        best_layer=card["best_layer"],
        best_head=card["best_head"],
    )


def digits_card() -> DigitsCard:
    """Read the digit reader's card."""
    card = _read(weights.DIGITS)
    return DigitsCard(card["held_out_pictures"], card["held_out_accuracy"])


def _read(source: weights.WeightsSource) -> dict[str, Any]:
    card: dict[str, Any] = json.loads((weights.own_folder(source) / "card.json").read_text("utf-8"))
    return card
