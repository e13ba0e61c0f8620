"""What a person typed, made safe to tokenise, to log nothing of, and to put into a link."""

from __future__ import annotations

import unicodedata

# A link must hold the text: browsers and proxies take about 8,000 bytes, and the longest model here
# takes 512 tokens, which are about 2,500 characters of English.
MAX_CHARACTERS = 2500

# Marks that turn the direction of everything after them, on this page too.
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: str) -> str:
    """Return the text on one line: control characters become spaces, lone surrogates U+FFFD.

    Letters of every script, emoji and their zero-width joiners stay. Marks that override the
    direction of writing go, runs of white space become one space, and the ends are trimmed.
    """
    return " ".join("".join(map(_clean_character, text)).split())


def shorten(text: str) -> tuple[str, bool]:
    """Cut the text to ``MAX_CHARACTERS``; the flag says whether anything was cut."""
    return text[:MAX_CHARACTERS].rstrip(), len(text) > MAX_CHARACTERS


def _clean_character(character: str) -> str:
    if character in _DIRECTION_MARKS:
        return ""
    match unicodedata.category(character):
        case "Cc" | "Zl" | "Zp":
            return " "
        case "Cs":
            return "\ufffd"
        case _:
            return character
