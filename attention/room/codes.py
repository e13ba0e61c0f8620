"""The code of a room, which is read from a wall and typed on a phone, and the keys that nobody types."""

from __future__ import annotations

import hashlib
import hmac
import secrets

__all__ = ["ALPHABET", "LENGTH", "digest", "fits", "new_code", "new_key", "read_code"]

# No letter looks like another one or like a digit, and without vowels no word comes about.
ALPHABET = "BCDFGHJKMNPRSTVWXZ"
LENGTH = 6
_BETWEEN = str.maketrans("", "", " -·\u00a0")


def new_code() -> str:
    """Return a random code: one of 34 million."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def read_code(typed: str) -> str | None:
    """Return the code that was typed, in small letters or with gaps; None if it is none.

    >>> read_code(" kmp-rtx ")
    'KMPRTX'
    >>> read_code("KMPRT0") is None
    True
    """
    code = typed.translate(_BETWEEN).upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


def new_key() -> str:
    """Return a random key that nobody can guess."""
    return secrets.token_urlsafe(24)


def digest(key: str) -> str:
    """Return what is kept of a key: it tells whether a key is the right one, and cannot be used as one."""
    return hashlib.sha256(key.encode()).hexdigest()


def fits(key: str, kept: str) -> bool:
    """Tell whether this is the key of which that was kept."""
    return hmac.compare_digest(digest(key), kept)
