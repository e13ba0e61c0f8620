"""The limits on a class's requests: their rate, number and length."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import partial

from attention.answer.hosts import secret
from attention.classroom.errors import RefusedError
from attention.classroom.limits import Limit
from attention.classroom.tries import SharedLimit
from attention.core.messages import message


def _shared(name: str, attempts: int, seconds: float) -> SharedLimit:
    return SharedLimit(name, attempts, seconds, secret())


@dataclass(frozen=True, slots=True)
class Limits:
    """One server's limits; rates are per caller."""

    # In bytes.
    body: int = 4 * 1024
    # Per room and copy of the server: screens, and screens on walls, besides the teacher's own.
    screens: int = 1_500
    walls: int = 20
    # Per room: how many may wait for the model, or for a verdict.
    waiting_sentences: int = 200
    waiting_hand_ins: int = 40

    openings: Limit = field(default_factory=partial(Limit, 60, 3600))
    acts_of_teacher: Limit = field(default_factory=partial(Limit, 300, 60))
    # A teacher's page sends five a second; over a slow line, several may arrive together.
    points: Limit = field(default_factory=partial(Limit, 10, 2))
    answers: Limit = field(default_factory=partial(Limit, 20, 10))
    answers_of_room: Limit = field(default_factory=partial(Limit, 3_000, 10))
    hand_ins: Limit = field(default_factory=partial(Limit, 10, 60))
    hand_ins_of_room: Limit = field(default_factory=partial(Limit, 300, 60))
    sentences: Limit = field(default_factory=partial(Limit, 6, 60))
    sentences_of_room: Limit = field(default_factory=partial(Limit, 600, 60))
    own_answers: Limit = field(default_factory=partial(Limit, 20, 10))
    own_answers_of_room: Limit = field(default_factory=partial(Limit, 3_000, 10))

    # A whole class may come from one address: a browser that tries wrong codes shuts out only itself.
    wrong_codes: SharedLimit = field(default_factory=partial(_shared, "wrong codes", 30, 60))
    wrong_codes_of_group: SharedLimit = field(
        default_factory=lambda: SharedLimit("wrong codes of many", 600, 60, secret())
    )
    newcomers: SharedLimit = field(default_factory=partial(_shared, "newcomers", 3_000, 600))
    seats: Limit = field(default_factory=partial(Limit, 10, 600))


def check(limit: Limit, who: Hashable, sentence: str = "", *, is_away: bool = False) -> None:
    """Count an attempt; raise RefusedError if there were too many."""
    if not limit.takes(who):
        told = sentence or message("Too fast. Try again in a few seconds.")
        raise RefusedError(429, told, is_away=is_away)
