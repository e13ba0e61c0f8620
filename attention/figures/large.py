"""Figures whose exact numbers the browser fetches only when the user needs them."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from attention.figures.drawn import Drawn

# Maps a fingerprint to the address of the numbers.
AskAt = Callable[[str], str]


class Large(Drawn):
    """A figure that can be drawn before all of its numbers have arrived."""

    __slots__ = ()

    @property
    @abstractmethod
    def numbers(self) -> bytes:
        """The bytes that a browser may fetch."""

    @property
    def fingerprint(self) -> str:
        """A hash of these bytes; it detects that an address now serves other numbers."""
        return hashlib.blake2b(self.numbers, digest_size=12).hexdigest()

    @abstractmethod
    def payload(self, ask_at: AskAt | None = None) -> dict[str, Any]:
        """Return the complete data to draw or, with ``ask_at``, only the data for the first view."""

    def asked(self, ask_at: AskAt) -> dict[str, str]:
        """Return the fingerprint and the address of the numbers."""
        name = self.fingerprint
        return {"id": name, "at": ask_at(name)}
