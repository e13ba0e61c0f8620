"""Read requests of a class: their origin, room and body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from attention.answer.hosts import address_of_app, asked_host, base_path, is_known, named_hosts
from attention.classroom.codes import fits, is_seat, read_code
from attention.classroom.errors import RefusedError, not_read
from attention.classroom.store import NotYoursError, Room
from attention.core.messages import message

_PUPIL, _TEACHER, _HERE = "attention_pupil", "attention_class", "attention_class_here"
# A random key that distinguishes browsers behind one address; the server keeps nothing of it.
BROWSER = "attention_browser"
_A_DAY = 24 * 60 * 60


# ------------------------------------------------------------------------------------- origin


def address_of_client(request: Request) -> str:
    """Return the client's IP address."""
    return request.client.host if request.client else ""


def joined_at(request: Request) -> str:
    """Return the address at which others enter a room's code."""
    root = address_of_app(request.scope["scheme"], request.headers)
    if not root:
        raise RefusedError(400, message("The request names no host, so the room could not be found."))
    return f"{root}room"


def address_of_room(request: Request, code: str) -> str:
    """Return a room's address for others."""
    return f"{joined_at(request)}?code={code}"


def check_origin(request: Request) -> None:
    """Refuse requests from other sites' pages."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
    is_ours = origin is None or is_known(origin, asked_host(request.headers), named_hosts())
    if not is_ours or site not in ("same-origin", "none"):
        raise RefusedError(403, message("This came from another site."))


# ------------------------------------------------------------------------------------- room


def taught(request: Request) -> tuple[str | None, str]:
    """Return the code and key of the room that this browser has opened."""
    code, _, key = request.cookies.get(_TEACHER, "").partition(".")
    return read_code(code), key


def followed(request: Request) -> tuple[str | None, str]:
    """Return the code and key of the room that this browser follows."""
    code, _, key = request.cookies.get(_PUPIL, "").partition(".")
    return read_code(code), key


def is_teacher(request: Request, room: Room) -> bool:
    """Tell whether this browser has opened the room."""
    code, key = taught(request)
    return code == room.code and fits(key, room.kept)


def key_of_teacher(request: Request, room: Room) -> str:
    """Return the room's key; raise NotYoursError unless this browser has opened the room."""
    if not is_teacher(request, room):
        raise NotYoursError
    return taught(request)[1]


def seat_of(request: Request, room: Room) -> str | None:
    """Return this browser's key in a room; None if it has not joined."""
    code, key = followed(request)
    return key if code == room.code and is_seat(key, room.kept) else None


def is_member(request: Request, room: Room) -> bool:
    """Tell whether this browser has joined or opened the room."""
    return is_teacher(request, room) or seat_of(request, room) is not None


def keep_teacher(response: Response, request: Request, code: str, key: str) -> None:
    """Set the cookie with the key of the opened room."""
    keep(response, request, _TEACHER, f"{code}.{key}")
    keep(response, request, _HERE, "teaches", is_secret=False)


def keep_pupil(response: Response, request: Request, code: str, key: str) -> None:
    """Set the cookie with the pupil's key."""
    keep(response, request, _PUPIL, f"{code}.{key}")
    keep(response, request, _HERE, "follows", is_secret=False)


def forget_teacher(response: Response) -> None:
    """Delete the cookie of the opened room."""
    response.delete_cookie(_TEACHER, path=_base())


def keep(response: Response, request: Request, name: str, value: str, *, is_secret: bool = True) -> None:
    """Set a cookie for a day; the app's scripts can read it unless it is secret."""
    is_safe = request.scope["scheme"] == "https"
    response.set_cookie(name, value, max_age=_A_DAY, path=_base(), secure=is_safe, httponly=is_secret, samesite="lax")


def _base() -> str:
    return f"/{base_path()}/".replace("//", "/")


# ------------------------------------------------------------------------------------- body


async def body_of(request: Request, most: int) -> Mapping[str, Any]:
    """Return a request's body, a JSON object of at most ``most`` bytes."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > most:
            raise RefusedError(413, message("This is too long to show to a class. Shorten the text."))
    try:
        said = json.loads(found or b"{}")
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise not_read()
    return said
