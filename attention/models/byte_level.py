"""Byte-level tokens, as in GPT-2 and many later decoders: pieces of a text's UTF-8 bytes.

Their vocabulary writes each byte as one printable character: a space is ``Ġ``, and ``é`` is two characters (Radford et
al. 2019, section 2.2). Here they are decoded to the user's text.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby

from attention.core.words import SPACE, is_punctuation_mark

# Makes white space inside tokens visible.
_VISIBLE = str.maketrans({" ": SPACE, "\n": "↵", "\t": "⇥", "\r": "␍"})
# Control characters and direction marks, which a model may write.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def shown(token: str) -> str:
    r"""Return a token for display: its text with visible white space, and incomplete characters as bytes.

    >>> shown("Ġcat"), shown("Ċ"), shown("Ã©"), shown("ĠðŁĺ")
    ('␣cat', '↵', 'é', '␣\\xf0\\x9f\\x98')
    """
    return visible(_bytes_of(token).decode("utf-8", "backslashreplace"))


def visible(text: str) -> str:
    r"""Return a token's text with visible white space and control characters.

    >>> visible("a b\n\x00")
    'a␣b↵\\x00'
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text.translate(_VISIBLE))


def text_of(token: str) -> str | None:
    """Return a token's text; None if it is an incomplete character.

    >>> text_of("ĠParis"), text_of("ðŁĺ")
    (' Paris', None)
    """
    try:
        return _bytes_of(token).decode("utf-8")
    except UnicodeDecodeError:
        return None


def word_starts(text: str) -> list[int]:
    """Return, for each character of a text, where its word begins; a punctuation mark is a word.

    >>> word_starts("It's on")
    [0, 0, 2, 3, 4, 5, 5]
    """
    starts: list[int] = []
    for kind, characters in groupby(text, _kind):
        begin, size = len(starts), len(list(characters))
        starts += [begin] * size if kind == "word" else range(begin, begin + size)
    return starts


def _kind(character: str) -> str:
    if character.isspace():
        return "space"
    return "mark" if is_punctuation_mark(character) else "word"


def _bytes_of(token: str) -> bytes:
    table = _bytes_by_character()
    return b"".join(table.get(character) or character.encode() for character in token)


@cache
def _bytes_by_character() -> dict[str, bytes]:
    """Return the byte of each character of the vocabulary: itself if printable; others are written from 256."""
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in visible]
    characters = {byte: chr(byte) for byte in visible} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    return {character: bytes([byte]) for byte, character in characters.items()}
