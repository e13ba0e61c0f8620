"""The cards of the models that were trained here: what was measured on data held out from their training."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from attention.core.trace import Part
from attention.models import bundled, weights

__all__ = ["Card", "DigitsCard", "TranslatorCard", "card_of"]

_FILE = "card.json"


@dataclass(frozen=True, slots=True)
class TranslatorCard:
    """How well a translator does on held-out sentences, from 0 to 1; layers and heads are counted from 0.

    ``alignment[layer][head]`` is how often the largest cross-attention weight of that head is on the right French word,
    over all English content words, in the row that predicts the word.
    """

    n_words: int
    n_sentences: int
    exact_match: float
    n_content_words: int
    alignment: tuple[tuple[float, ...], ...]
    best_layer: int
    best_head: int
    # The use of attention in which the alignment was measured.
    part: Part = "cross"


@dataclass(frozen=True, slots=True)
class DigitsCard:
    """How well a digit reader does on held-out pictures, from 0 to 1."""

    n_pictures: int
    accuracy: float


@dataclass(frozen=True, slots=True)
class Card:
    """What was measured for a model; None for what was not."""

    translator: TranslatorCard | None = None
    digits: DigitsCard | None = None


def card_of(model_id: str) -> Card:
    """Return the card beside a model's weights; an empty one if there is none."""
    entry = bundled.find(model_id)
    source = None if entry is None else entry.weights
    if source is None or source.package or _FILE not in source.companions:
        return Card()
    found: dict[str, Any] = json.loads((weights.own_folder(source) / _FILE).read_text("utf-8"))
    return Card(
        translator=_translator(found) if "alignment_predicting" in found else None,
        digits=_digits(found) if "held_out_accuracy" in found else None,
    )


def _translator(card: dict[str, Any]) -> TranslatorCard:
    return TranslatorCard(
        n_words=card["french_words"],
        n_sentences=card["held_out_sentences"],
        exact_match=card["exact_match"],
        n_content_words=card["content_words"],
        alignment=tuple(map(tuple, card["alignment_predicting"])),
        best_layer=card["best_layer"],
        best_head=card["best_head"],
    )


def _digits(card: dict[str, Any]) -> DigitsCard:
    return DigitsCard(card["held_out_pictures"], card["held_out_accuracy"])
