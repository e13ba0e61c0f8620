"""Errors of a class's requests, and the responses to them."""

from __future__ import annotations

import logging
import traceback

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from attention.classroom.store import FullError, NotYoursError, StoreError, UnusableError
from attention.core.messages import message
from attention.lesson.tasks import UnfitError

_LOGGER = logging.getLogger(__name__)


class RefusedError(Exception):
    """A refused request, with the reason as a sentence.

    If the server is only busy, ``is_away`` makes the page send the request again.
    """

    def __init__(self, status: int, sentence: str, *, is_away: bool = False) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.is_away = status, sentence, is_away


def is_full() -> RefusedError:
    """Return the error for a full room."""
    return RefusedError(503, message("This room is full."))


def not_read() -> RefusedError:
    """Return the error for a malformed body."""
    return RefusedError(400, message("The server could not read this."))


async def answer_to(request: Request, error: Exception) -> Response:
    """Respond to a failed request (an exception handler for Starlette), and log faults of the server."""
    refused = _refused(request, error)
    return JSONResponse({"told": refused.sentence, "isAway": refused.is_away}, refused.status)


def _refused(request: Request, error: Exception) -> RefusedError:
    match error:
        case RefusedError():
            return error
        case HTTPException():
            status, told = error.status_code, message("There is nothing here.")
        case UnfitError():
            status, told = 409, str(error)
        case NotYoursError():
            status, told = 403, message("Only the room's owner can do this.")
        case FullError():
            status, told = 503, message("Too many rooms are open. Try again later.")
        case UnusableError():
            _LOGGER.error("Classes cannot be kept: %s.", error)
            status, told = 503, message("No class can be held on this server now. Its log says why.")
        case StoreError():
            _LOGGER.error("The rooms cannot be reached: %s", type(error.__cause__).__name__)
            status, told = 503, message("Can't reach the class. Try again in a few seconds.")
        case _:
            # Without its message, which may quote the user's text.
            kind, where = type(error).__name__, "".join(traceback.format_tb(error.__traceback__))
            _LOGGER.error("%.100r failed with %s:\n%s", request.scope["path"].rpartition("/")[2], kind, where)
            status, told = 500, message("Something went wrong on the server. Reload the page.")
    is_away = isinstance(error, StoreError) and not isinstance(error, UnusableError)
    return RefusedError(status, told, is_away=is_away)
