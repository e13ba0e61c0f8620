"""The cards of the models trained here: measurements on held-out data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from attention.core.trace import Part
from attention.models import bundled, weights

_FILE = "card.json"


@dataclass(frozen=True, slots=True)
class TranslatorCard:
    """A translator's results on held-out sentences, from 0 to 1; layers and heads count from 0.

    ``alignment[layer][head]`` is the share of English content words whose French source gets the head's largest
    cross-attention weight at the position that predicts the word.
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
    """A digit reader's results on held-out pictures, from 0 to 1."""

    n_pictures: int
    accuracy: float


@dataclass(frozen=True, slots=True)
class Card:
    """A model's measurements; None for those not made."""

    translator: TranslatorCard | None = None
    digits: DigitsCard | None = None


def card_of(model_id: str) -> Card:
    """Return the card beside a model's weights; empty without one."""
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
