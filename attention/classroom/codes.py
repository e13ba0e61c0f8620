"""Room codes, which are read from a wall and typed on a phone, and secret keys."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

# No two letters look alike (there are no digits), and without vowels no words appear.
ALPHABET = "BCDFGHJKMNPRSTVWXZ"
LENGTH = 6
# The lengths of a seat's random part and of its signature.
_RANDOM, _PROOF = 16, 22
_BETWEEN = str.maketrans("", "", " -·\u00a0")


def new_code() -> str:
    """Return a random code, one of 34 million."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def read_code(typed: str) -> str | None:
    """Return the typed code, which may be in lower case and have gaps; None if it is invalid.

    >>> read_code(" kmp-rtx ")
    'KMPRTX'
    >>> read_code("KMPRT0") is None
    True
    """
    code = typed.translate(_BETWEEN).upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


def new_key() -> str:
    """Return a random secret key."""
    return secrets.token_urlsafe(24)


def digest(key: str) -> str:
    """Return the hash of a key, which can check keys but not serve as one."""
    return hashlib.sha256(key.encode()).hexdigest()


def fits(key: str, kept: str) -> bool:
    """Tell whether a key has this hash."""
    return hmac.compare_digest(digest(key), kept)


def new_seat(kept: str) -> str:
    """Return a random pupil key for a room, signed with the hash of the room's key so that no one else can make one."""
    random = secrets.token_urlsafe(_RANDOM)[:_RANDOM]
    return random + _proof(random, kept)


def is_seat(key: str, kept: str) -> bool:
    """Tell whether this is a pupil key for the room with this hash.

    >>> is_seat(new_seat("one room"), "one room"), is_seat(new_seat("one room"), "another")
    (True, False)
    """
    random, proof = key[:_RANDOM], key[_RANDOM:]
    return hmac.compare_digest(_proof(random, kept).encode(), proof.encode("utf-8", "replace"))


def _proof(random: str, kept: str) -> str:
    made = hmac.new(kept.encode(), random.encode("utf-8", "replace"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(made).decode()[:_PROOF]
