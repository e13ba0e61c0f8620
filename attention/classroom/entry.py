"""Admission to rooms: by code, with limits on wrong codes and newcomers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request

from attention.answer.hosts import secret
from attention.classroom.codes import digest, is_seat, new_seat, read_code
from attention.classroom.database import Database
from attention.classroom.errors import RefusedError
from attention.classroom.gathered import Gathered
from attention.classroom.requests import BROWSER, address_of_client, followed, is_member, taught
from attention.classroom.room_limits import Limits, check
from attention.classroom.store import Room, Store
from attention.classroom.tries import TooManyError, let_in
from attention.core.messages import message

_Found = Room | TooManyError | None


@dataclass(frozen=True, slots=True)
class Caller:
    """A browser and its address.

    Known browsers are counted separately, so that a script without cookies does not shut them out.
    """

    browser: str
    was_here: bool
    address: str

    @property
    def group(self) -> str:
        """All known browsers at one address, or all new ones."""
        return f"{self.address} {self.was_here}"

    @property
    def seat(self) -> str:
        """The browser or, if it is new, all new ones at its address."""
        return self.browser if self.was_here else self.group


class Entry:
    """Admits browsers to the rooms of all copies of the server; ``request.state.caller`` must be set."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._database, self._limits = database, limits
        self._kept_of_browsers = digest(f"browsers {secret()}")
        self._let_in: Gathered[tuple[str, Caller], _Found] = Gathered(self._let_in_together)
        self._n_before: Gathered[str, float] = Gathered(self._count_newcomers)

    def caller(self, request: Request) -> Caller:
        """Return the caller of a request; a new browser gets a key."""
        shown = request.cookies.get(BROWSER, "")
        was_here = is_seat(shown, self._kept_of_browsers)
        return Caller(shown if was_here else new_seat(self._kept_of_browsers), was_here, address_of_client(request))

    async def room(self, request: Request, typed: str) -> Room:
        """Return the room with this code; raise RefusedError if there is none, or after too many wrong codes."""
        code = read_code(typed)
        if code is not None and code in (taught(request)[0], followed(request)[0]):
            room = await self._database.room(code)
            if room is not None and is_member(request, room):
                return room
        # Malformed codes are counted, too, but not looked up.
        found = await self._let_in((code or "", request.state.caller))
        if isinstance(found, TooManyError):
            raise RefusedError(429, message("Too many wrong codes. Try again in a minute."))
        if found is None:
            told = message("No room has this code. Check its six letters.")
            raise RefusedError(404, told)
        return found

    async def seat(self, request: Request, room: Room) -> str:
        """Return a new pupil key in a room; raise RefusedError after too many newcomers from the same place."""
        caller: Caller = request.state.caller
        told = message("Too many joined at once. Try again in a few minutes.")
        check(self._limits.seats, (room.code, caller.browser), told)
        if await self._n_before(f"{room.code} {caller.group}") >= self._limits.newcomers.attempts:
            raise RefusedError(429, told)
        return new_seat(room.kept)

    async def _let_in_together(self, wanted: Sequence[tuple[str, Caller]]) -> list[_Found]:
        found: list[_Found] = await self._database(self._let_each_in, wanted)
        return found

    def _let_each_in(self, store: Store, wanted: Sequence[tuple[str, Caller]]) -> list[_Found]:
        """Return each caller's room. Attempts refused for the browser do not count against its group."""
        limits = self._limits
        by_browser = let_in(store, limits.wrong_codes, [(code, caller.browser) for code, caller in wanted])
        others = [each for each, found in zip(wanted, by_browser, strict=True) if not isinstance(found, TooManyError)]
        by_group = iter(let_in(store, limits.wrong_codes_of_group, [(code, caller.group) for code, caller in others]))
        return [found if isinstance(found, TooManyError) else next(by_group) for found in by_browser]

    async def _count_newcomers(self, groups: Sequence[str]) -> list[float]:
        """Return, for each newcomer to a room, how many of the same group came before."""
        before = await self._database(lambda store: self._limits.newcomers.add(store, Counter(groups)))
        counted: list[float] = []
        for group in groups:
            counted.append(before[group])
            before[group] += 1
        return counted
