"""Make text that a user typed safe to tokenise, display and put into a link."""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate
from urllib.parse import quote

# The models accept at most 512 tokens, about 2,500 characters of English ...
MAX_CHARACTERS = 2500
# ... and the text must fit into a link: browsers and proxies accept about 8,000 bytes in all, and a character outside
# ASCII takes 6 to 12 of them.
MAX_LINK_BYTES = 7000
# A text is cut between words if that costs at most this many characters: not every script has spaces.
MAX_WORD = 64
# The number of last characters that show where a text was cut.
MAX_ENDING = 40

# Marks that change the direction of all later text, even outside this one.
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# Invisible letters and symbols: Hangul fillers and the blank Braille pattern.
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
# The other notations of a line break, besides "\n".
_LINE_BREAK = re.compile("\r\n|[\r\u2028\u2029]")


def clean(text: str) -> str:
    """Return the text on one line: control characters become spaces, lone surrogates U+FFFD.

    Letters of every script, emoji and their zero-width joiners are kept. Marks that override the writing direction are
    removed, runs of white space become one space, and the ends are trimmed.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    return " ".join("".join(map(_clean_character, text)).split())


def is_visible(text: str) -> bool:
    """Return whether any character of a text is visible.

    >>> is_visible("Ada"), is_visible("\u200b\u3164")
    (True, False)
    """
    return any(unicodedata.category(each)[0] in "LNPS" and each not in _BLANK for each in text)


def as_typed(text: str) -> str:
    r"""Return the text with all its white space, as models read it; "" if there is nothing else.

    Line breaks are written ``\n``; control characters and marks of direction are treated as in ``clean``.

    >>> as_typed("if x:\r\n\treturn  1\x00")
    'if x:\n\treturn  1 '
    """
    if not (text.isascii() and text.isprintable()):
        text = "".join(each if each in "\n\t" else _clean_character(each) for each in _with_line_breaks(text))
    return "" if text.isspace() else text


def is_altered(text: str) -> bool:
    r"""Return whether ``as_typed`` replaces or removes more of a text than the notation of its line breaks.

    >>> is_altered("a\r\nb"), is_altered("a\x00b")
    (False, True)
    """
    return bool(kept := as_typed(text)) and kept != _with_line_breaks(text)


def _with_line_breaks(text: str) -> str:
    return _LINE_BREAK.sub("\n", text)


def shorten(text: str) -> tuple[str, bool]:
    """Cut a text between words to the length that fits into a link; return it and whether it was cut."""
    sizes = accumulate(len(quote(character, safe="")) for character in text[:MAX_CHARACTERS])
    n_kept = sum(size <= MAX_LINK_BYTES for size in sizes)
    if n_kept == len(text):
        return text, False
    border = max(text.rfind(space, 0, n_kept + 1) for space in " \n\t")
    if n_kept - border <= MAX_WORD and border > 0:
        n_kept = border
    return text[:n_kept].rstrip(), True


def last_words(text: str) -> str:
    """Return the last words of a text, at most ``MAX_ENDING`` characters, after an ellipsis.

    >>> last_words("up to here"), last_words("the last words of a text that goes on for quite some time")
    ('up to here', '… a text that goes on for quite some time')
    """
    kept = text.rstrip()
    if len(kept) <= MAX_ENDING:
        return kept
    tail = kept[-MAX_ENDING - 1 :]
    border = tail.find(" ")
    # Not every script has spaces.
    return f"… {tail[border + 1 :]}" if border >= 0 else f"…{tail[1:]}"


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
