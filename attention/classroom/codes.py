"""The code of a room, which is read from a wall and typed on a phone, and the keys that nobody types."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

__all__ = ["ALPHABET", "LENGTH", "digest", "fits", "is_seat", "new_code", "new_key", "new_seat", "read_code"]

# No letter looks like another one (there are no digits), and without vowels no word comes about.
ALPHABET = "BCDFGHJKMNPRSTVWXZ"
LENGTH = 6
# How long the random part of a seat is, and the part that proves it.
_RANDOM, _PROOF = 16, 22
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


def new_seat(kept: str) -> str:
    """Return a random key of a pupil in the room of whose key that was kept: nobody else can make one."""
    random = secrets.token_urlsafe(_RANDOM)[:_RANDOM]
    return random + _proof(random, kept)


def is_seat(key: str, kept: str) -> bool:
    """Tell whether this is the key of a pupil in the room of whose key that was kept.

    >>> is_seat(new_seat("one room"), "one room"), is_seat(new_seat("one room"), "another")
    (True, False)
    """
    random, proof = key[:_RANDOM], key[_RANDOM:]
    return hmac.compare_digest(_proof(random, kept).encode(), proof.encode("utf-8", "replace"))


def _proof(random: str, kept: str) -> str:
    made = hmac.new(kept.encode(), random.encode("utf-8", "replace"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(made).decode()[:_PROOF]
