"""Why a request of a class is not granted."""

from __future__ import annotations

__all__ = ["RefusedError"]


class RefusedError(Exception):
    """A request that is not granted, with the sentence that says why.

    Where the server is only busy, ``is_away`` has a page send it again by itself.
    """

    def __init__(self, status: int, sentence: str, *, is_away: bool = False) -> None:
        """Keep the status of HTTP and the sentence."""
        super().__init__(sentence)
        self.status, self.sentence, self.is_away = status, sentence, is_away
