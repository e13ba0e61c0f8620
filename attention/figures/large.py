"""What is common to figures with many numbers: most of them need not travel with the picture.

A browser is sent what it needs for the first look, and the address of the numbers. It asks for them as soon as the user
points at the picture, or wants to see what has not come yet.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

__all__ = ["AskAt", "Large"]

# What gives the address of the numbers with a fingerprint.
AskAt = Callable[[str], str]


class Large(ABC):
    """A figure that can be drawn before all of its numbers are there."""

    __slots__ = ()

    @property
    @abstractmethod
    def numbers(self) -> bytes:
        """The numbers that a browser may ask for."""

    @property
    def fingerprint(self) -> str:
        """A hash of these numbers, which tells whether others are found at the same address by now."""
        return hashlib.blake2b(self.numbers, digest_size=12).hexdigest()

    @abstractmethod
    def payload(self, ask_at: AskAt | None = None) -> dict[str, Any]:
        """Return what the browser needs to draw it: all of it or, with ``ask_at``, what the first look needs."""

    def asked(self, ask_at: AskAt) -> dict[str, str]:
        """Return the name of the numbers and their address, as scripts read them."""
        name = self.fingerprint
        return {"id": name, "at": ask_at(name)}
