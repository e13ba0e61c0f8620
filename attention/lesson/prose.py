"""Lesson texts: Markdown files with places for facts, filled so that nothing typed is ever interpreted."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import Template

import numpy as np
from markdown_it import MarkdownIt
from numpy import ndarray as Array

from attention.figures.format import number, scientific

__all__ = ["SMALLEST_TOLD", "exact", "fact", "length", "lesson", "listed", "small", "typed", "word"]

LESSONS = Path(__file__).resolve().parents[2] / "assets" / "lessons"

# What would be written as 0.00 is not worth a look.
SMALLEST_TOLD = 0.005
# Longer words are shortened in sentences; the pictures and tables show them whole.
MAX_WORD = 32


def word(text: str) -> str:
    """Return a typed word as HTML: escaped, shortened, with its own direction of writing."""
    return typed(text if len(text) <= MAX_WORD else f"{text[:MAX_WORD]}…")


def typed(text: str) -> str:
    """Return a text as HTML, whole: escaped, with its own direction of writing."""
    return f"<bdi>{html.escape(text)}</bdi>"


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them: ``a``, ``a and b``, ``a, b and c``.

    Raises:
        ValueError: there is none.
    """
    *before, last = words
    return f"{', '.join(before)} and {last}" if before else last


def fact(value: float) -> str:
    """Return a number as it stands on the pictures."""
    return f"<b>{number(value)}</b>"


def exact(value: float, decimals: int = 4) -> str:
    """Return a number with more digits, for sums that a reader may check."""
    return f"<b>{number(value, decimals)}</b>"


def length(vector: Array) -> str:
    """Return how long a vector is."""
    return fact(float(np.linalg.norm(vector)))


def small(value: float) -> str:
    """Return a difference between two computations."""
    return scientific(value)


def lesson(name: str, **facts: str | int) -> str:
    """Return a lesson text as HTML, with facts (HTML already, see ``word`` and ``fact``) in their places.

    Raises:
        KeyError: a place in the text has no fact.
    """
    return Template(_rendered(name)).substitute(facts)


@cache
def _rendered(name: str) -> str:
    # The files are ours, so their HTML (the colours of q, k and v) is kept.
    return MarkdownIt("commonmark", {"html": True}).render((LESSONS / f"{name}.md").read_text("utf-8"))
