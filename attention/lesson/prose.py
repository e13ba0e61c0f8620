"""Lesson texts: sections of Markdown files whose placeholders are filled; typed text is always escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from markdown_it import MarkdownIt
from numpy import ndarray as Array

from attention.core.messages import language, message, messages
from attention.core.paths import ASSETS
from attention.figures.format import number, scientific

LESSONS = ASSETS / "lessons"

# Smaller numbers would be written as 0.00.
SMALLEST_TOLD = 0.005
_TAG = re.compile(r"<[^>]*>")
# Longer words are shortened in sentences; pictures and tables show them in full.
MAX_WORD = 32


def word(text: str) -> str:
    """Return a typed word as HTML: escaped, shortened, with its own writing direction."""
    return typed(text if len(text) <= MAX_WORD else f"{text[:MAX_WORD]}…")


def typed(text: str) -> str:
    """Return a whole text as HTML: escaped, with its own writing direction."""
    return f"<bdi>{html.escape(text)}</bdi>"


def without_tags(text: str) -> str:
    """Return a lesson text (HTML) as plain text.

    >>> without_tags("<p>What is <em>it</em>? &amp;</p>")
    'What is it? &'
    """
    return html.unescape(_TAG.sub("", text)).strip()


def listed(words: Sequence[str], most: int | None = None) -> str:
    """Return words as a list in a sentence: ``a``, ``a and b``, ``a, b and c``.

    Words beyond the first ``most`` are only counted, unless it is a single one.

    Raises:
        ValueError: there are no words.
    """
    if most is not None and len(words) > most + 1:
        words = [*words[:most], messages("{n} more", "{n} more", len(words) - most)]
    *before, last = words
    both = message("and")
    return f"{', '.join(before)} {both} {last}" if before else last


def times(count: int) -> str:
    """Return a count as an adverb: ``once``, ``2 times``."""
    return message("once") if count == 1 else messages("{n} time", "{n} times", count)


def fact(value: float | np.floating[Any]) -> str:
    """Return a number as HTML, written as in the pictures."""
    return f"<b>{number(float(value))}</b>"


def exact(value: float, decimals: int = 4) -> str:
    """Return a number as HTML with more digits, for sums that a reader may check."""
    return f"<b>{number(value, decimals)}</b>"


def length(vector: Array) -> str:
    """Return a vector's norm as HTML."""
    return fact(float(np.linalg.norm(vector)))


def small(value: float) -> str:
    """Return a rounding error with two significant digits."""
    return scientific(value)


def nonzero(value: float) -> str:
    """Return a number as HTML with enough digits that only 0 is written as 0."""
    return fact(value) if value == 0 or abs(value) >= SMALLEST_TOLD else f"<b>{small(value)}</b>"


def lesson(name: str, **facts: str | float | np.floating[Any]) -> str:
    """Return a lesson text as HTML, its placeholders filled with facts: texts are HTML already (see ``word``).

    ``tokens/pieces`` names the section ``## pieces`` of ``tokens.md``. A number with a fraction is written as in the
    pictures (see ``fact``).

    Raises:
        KeyError: the section does not exist, or a placeholder has no fact.
    """
    told = {key: fact(each) if isinstance(each, float | np.floating) else each for key, each in facts.items()}
    return Template(_rendered(name)).substitute(told)


def in_short(told: str) -> str:
    """Return the most informative sentence of a text.

    It is the first sentence with a number, or else the last, of the first paragraph with a bold number, or else of the
    first. A full stop in a typed word ends no sentence.

    >>> in_short("<p>Softmax makes weights.</p><p>Of them, <b>0.35</b> is on <bdi>St. Ives</bdi>. All add up to 1.</p>")
    '<p>Of them, <b>0.35</b> is on <bdi>St. Ives</bdi>.</p>'
    """
    paragraphs = re.findall(r"<p>(.*?)</p>", told, flags=re.DOTALL)
    if not paragraphs:
        return told
    telling = next((each for each in paragraphs if re.search(r"<(b|strong)>[−-]?\d", each)), paragraphs[0])
    sentences = re.findall(r"(?:<bdi>.*?</bdi>|.)+?(?:[.!?](?=\s+[A-Z<“])\s+|$)", telling, flags=re.DOTALL)
    numbered = (each for each in sentences if re.search(r"\d", re.sub(r"<bdi>.*?</bdi>", "", each)))
    return f"<p>{next(numbered, sentences[-1]).strip()}</p>"


def lessons() -> dict[str, str]:
    """Return all lesson texts in Markdown, by their names."""
    return {
        f"{path.stem}/{section}": text
        for path in sorted(LESSONS.glob("*.md"))
        for section, text in _sections(path.stem).items()
    }


@cache
def _rendered(name: str) -> str:
    file, _, section = name.partition("/")
    # HTML is allowed: the files are the project's own.
    return MarkdownIt("commonmark", {"html": True}).render(_sections(file)[section])


@cache
def _sections(file: str) -> dict[str, str]:
    """Return a file's sections by heading, in the server's language where translated."""
    folder = language().folder
    own = None if folder is None else folder / "lessons" / f"{file}.md"
    english = _read_sections(LESSONS / f"{file}.md")
    return english if own is None or not own.is_file() else english | _read_sections(own)


def _read_sections(path: Path) -> dict[str, str]:
    """Return a file's sections by heading, in order.

    Raises:
        ValueError: two sections have the same heading, or there is text before the first.
    """
    before, *sections = re.split(r"^## +(.+?) *$", path.read_text("utf-8"), flags=re.MULTILINE)
    names, texts = sections[::2], sections[1::2]
    if before.strip() or len(set(names)) < len(names):
        raise ValueError(f"{path.name}: each text must stand under a heading of its own, got {', '.join(names)}")
    return dict(zip(names, texts, strict=True))
