"""Ten questions on each pupil's own sentence: who may ask for them and answer, and what pupil and teacher are told.

The model of the class reads the sentences, one at a time; rooms take turns, so that a large one does not hold up the
others. What is right leaves the server only once a question is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from attention.lesson import steps
from attention.messages import message
from attention.pages import STEP_BY_STEP
from attention.room import own, own_store
from attention.room.limits import Limit
from attention.room.own_store import Begun, Paper, Round
from attention.room.store import Room, Store
from attention.text import clean, is_visible
from attention.ui.downloads import csv_of
from attention.ui.gate import in_turn
from attention.ui.refusals import RefusedError
from attention.ui.room_drawing import examples_of, model_of, place_of, read, tidy

__all__ = ["Hall", "OnTheirOwn"]

# So many sentences of one room wait for the model at most.
MAX_WAITING = 200
_N_EXAMPLES = 2


class Hall(Protocol):
    """What a room offers to what happens in it."""

    async def with_store(self, act: Callable[..., Any], *arguments: object) -> Any:
        """Do something with the store, in a thread."""

    async def refresh(self, code: str) -> None:
        """Send all screens what they have not been sent."""

    def note(self, code: str) -> None:
        """Have the teacher told, soon, that something was answered."""


@dataclass(slots=True)
class _Queue:
    """The sentences of one room that wait for the model."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    n_waiting: int = 0


class OnTheirOwn:
    """The rounds of ten questions of this server's rooms."""

    def __init__(self, hall: Hall) -> None:
        """Begin with no sentence to read."""
        self._hall = hall
        self._queues: dict[str, _Queue] = {}
        self._turn = asyncio.Lock()
        self._sentences, self._answers = Limit(6, 60), Limit(20, 10)
        self._sentences_of_room, self._answers_of_room = Limit(600, 60), Limit(3_000, 10)

    # ------------------------------------------------------------------------------------- for the teacher

    async def start(self, room: Room, key: str, said: Mapping[str, Any]) -> None:
        """Begin a round, about the model that the room looks at."""
        link = await run_in_threadpool(model_of, room.page, room.link)
        await self._hall.with_store(own_store.start, room.code, key, link, said.get("asksNickname") is True)
        if room.question is not None:
            await self._hall.with_store(Store.withdraw, room.code, key)
        await self._hall.refresh(room.code)

    async def finish(self, room: Room, key: str, _: Mapping[str, Any]) -> None:
        """End a round."""
        await self._hall.with_store(own_store.finish, room.code, key)
        await self._hall.refresh(room.code)

    async def told_teacher(self, code: str) -> Mapping[str, Any] | None:
        """Return how a round goes on; None if there was none."""
        found: Round | None = await self._hall.with_store(own_store.round_of, code)
        if found is None:
            return None
        begun, finished = await self._hall.with_store(own_store.progress, code)
        tallies = await self._hall.with_store(own_store.tallies, code)
        return {
            "number": found.number,
            "isOpen": found.is_open,
            "asksNickname": found.asks_nickname,
            "begun": begun,
            "finished": finished,
            "questions": own.summary(tallies),
        }

    async def pupils(self, code: str) -> list[Mapping[str, Any]]:
        """Return each pupil's nickname, if it was asked for, and how many answers were right, for the teacher alone."""
        taken = await self._hall.with_store(own_store.taken, code)
        return [
            {
                "nickname": each.nickname,
                "right": sum(each.is_right.values()),
                "answered": len(each.is_right),
                "questions": len(each.questions),
            }
            for each in taken
        ]

    async def csv(self, code: str) -> bytes:
        """Return a row for each pupil, for the teacher alone."""
        found: Round | None = await self._hall.with_store(own_store.round_of, code)
        taken = await self._hall.with_store(own_store.taken, code)
        return csv_of({**own.table(taken, has_nicknames=found is not None and found.asks_nickname)})

    # ------------------------------------------------------------------------------------- for pupils

    async def invitation(self, code: str) -> Mapping[str, Any] | None:
        """Return what all screens are told of a round that goes on; None if there is none."""
        found: Round | None = await self._hall.with_store(own_store.round_of, code)
        if found is None or not found.is_open:
            return None
        return {
            "number": found.number,
            "asksNickname": found.asks_nickname,
            "examples": examples_of(found.link)[:_N_EXAMPLES],
            "longest": own.MAX_SENTENCE,
            "longestNickname": own.MAX_NICKNAME,
        }

    async def paper(self, code: str, pupil: str | None) -> Mapping[str, Any] | None:
        """Return a pupil's questions and what was answered; None if there are none."""
        found: Round | None = await self._hall.with_store(own_store.round_of, code)
        kept: Paper | None = None
        if found is not None and found.is_open and pupil is not None:
            kept = await self._hall.with_store(own_store.paper, code, pupil)
        return None if found is None or kept is None else _seen(found.number, kept)

    async def begin(self, room: Room, pupil: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Have the model read a pupil's sentence, and return the questions on it."""
        found = await self._round(room.code, said)
        text, nickname = _sentence(said), _nickname(said) if found.asks_nickname else ""
        if not self._sentences.takes(pupil) or not self._sentences_of_room.takes(room.code):
            raise RefusedError(429, message("That was too quick: try again in a few seconds."))
        async with self._in_turn(room.code):
            data = await run_in_threadpool(_questions, found.link, text)
        begun: Begun = await self._hall.with_store(own_store.begin, room.code, found.number, pupil, nickname, data)
        if begun == "full":
            raise RefusedError(503, message("This room is full."))
        if begun == "over":
            raise _over()
        self._hall.note(room.code)
        if begun == "answered":
            return _seen(found.number, await self._hall.with_store(own_store.paper, room.code, pupil))
        return _seen(found.number, Paper(data))

    async def answer(self, room: Room, pupil: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Mark an answer; the first one to a question counts."""
        found = await self._round(room.code, said)
        if not self._answers.takes(pupil) or not self._answers_of_room.takes(room.code):
            raise RefusedError(429, message("That was too quick: try again in a few seconds."))
        kept: Paper | None = await self._hall.with_store(own_store.paper, room.code, pupil)
        if kept is None:
            raise RefusedError(409, message("Choose a sentence first."))
        place, given = said.get("place"), said.get("given")
        questions = kept.data["questions"]
        if not _is_index(place, len(questions)) or not isinstance(given, int):
            raise _no_answer()
        mark = own.judged(questions[place], given)
        if mark is None:
            raise _no_answer()
        counts = await self._hall.with_store(own_store.mark, room.code, found.number, pupil, mark)
        if counts is None:
            raise _over()
        self._hall.note(room.code)
        return {"number": found.number, "place": place, **_marked(questions[place], counts)}

    async def _round(self, code: str, said: Mapping[str, Any]) -> Round:
        found: Round | None = await self._hall.with_store(own_store.round_of, code)
        if found is None or not found.is_open or said.get("number") != found.number:
            raise _over()
        return found

    @asynccontextmanager
    async def _in_turn(self, code: str) -> AsyncIterator[None]:
        """Wait until the model is free; of each room, one sentence waits for it, and the others for that one."""
        queue = self._queues.setdefault(code, _Queue())
        if queue.n_waiting >= MAX_WAITING:
            told = message("Many sentences are being read: yours is sent again in a few seconds.")
            raise RefusedError(503, told, is_away=True)
        queue.n_waiting += 1
        try:
            async with queue.lock, self._turn:
                yield
        finally:
            queue.n_waiting -= 1
            if not queue.n_waiting:
                self._queues.pop(code, None)


# ------------------------------------------------------------------------------------- a sentence


def _sentence(said: Mapping[str, Any]) -> str:
    """Return the sentence that was typed, on one line."""
    typed = said.get("text")
    text = clean(typed) if isinstance(typed, str) else ""
    if not text:
        raise RefusedError(400, message("Type a sentence of your own, or take one of those that are suggested."))
    if len(text) > own.MAX_SENTENCE:
        raise RefusedError(
            400,
            message(
                "Take a shorter sentence: it may have {most} characters, and this one has {n}.",
                most=own.MAX_SENTENCE,
                n=len(text),
            ),
        )
    return text


def _nickname(said: Mapping[str, Any]) -> str:
    """Return the nickname that was typed, on one line."""
    typed = said.get("nickname")
    nickname = clean(typed) if isinstance(typed, str) else ""
    if not is_visible(nickname) or len(nickname) > own.MAX_NICKNAME:
        raise RefusedError(
            400,
            message(
                "Choose a nickname of at most {most} characters: only your teacher sees it.", most=own.MAX_NICKNAME
            ),
        )
    return nickname


def _questions(link: str, text: str) -> dict[str, Any]:
    """Run the model on a sentence, and make the questions on it, with all that a pupil is told of them."""
    pane = read(STEP_BY_STEP.address, f"{link}&{urlencode({'text': text})}")
    if pane.reason is not None:
        raise RefusedError(503, str(pane.reason))
    if pane.scene is None:
        raise RefusedError(400, pane.notices[0])
    with in_turn():
        questions = own.questions_on(pane.scene)
    if not questions:
        raise RefusedError(400, message("There is nothing to ask about this sentence: type a longer one."))
    place = {"layer": pane.scene.layer + 1, "head": pane.scene.head + 1, "word": pane.scene.word}
    here = f"{link}&{urlencode({'text': text, **place})}"
    return {
        "sentence": pane.scene.trace.text,
        "about": place_of(pane),
        "notices": list(pane.notices),
        "questions": [{**each, "way": _way(each["seen_at"], here)} for each in questions],
    }


def _way(seen_at: str, here: str) -> str:
    """Return the address at which one can see what is right."""
    is_step = any(step.key == seen_at for step in steps.STEPS)
    page, link = (STEP_BY_STEP.address, f"{here}&step={seen_at}") if is_step else (seen_at, here)
    return f"./{page}?{tidy(page, link)}"


# ------------------------------------------------------------------------------------- what is told


def _seen(number: int, kept: Paper) -> dict[str, Any]:
    """Return all that a pupil may know: what is true only of the questions that are answered."""
    questions = []
    for question in kept.data["questions"]:
        given = kept.given.get(question["name"])
        questions.append({**own.seen(question), **({} if given is None else _marked(question, given))})
    told = {name: kept.data[name] for name in ("sentence", "about", "notices")}
    return {"number": number, **told, "questions": questions}


def _marked(question: Mapping[str, Any], given: int) -> dict[str, Any]:
    return {**own.marked(question, given), "way": question["way"]}


def _is_index(value: object, n: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < n


def _over() -> RefusedError:
    return RefusedError(409, message("These questions are over."))


def _no_answer() -> RefusedError:
    return RefusedError(400, message("This is no answer to the question."))
