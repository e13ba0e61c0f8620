"""Ten questions on each pupil's own sentence: permissions, and the pupil's and the teacher's view.

The class's model reads the sentences, one at a time; rooms take turns, so that a large one does not hold up others. The
right answer leaves the server only after a question is answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from attention.answer.downloads import csv_of
from attention.answer.slots import one_request
from attention.classroom import own, own_store, results
from attention.classroom.database import Database
from attention.classroom.drawing import examples_of, place_of, read, tidy
from attention.classroom.errors import RefusedError, is_full
from attention.classroom.own_store import Begun, Paper, Round
from attention.classroom.queues import BusyError, Queues
from attention.classroom.room_limits import Limits, check
from attention.classroom.store import Room, Store
from attention.core.messages import message
from attention.core.text import as_typed, clean, is_visible
from attention.lesson import steps
from attention.page.pages import STEP_BY_STEP

_N_EXAMPLES = 2


class OnTheirOwn:
    """The rounds of ten questions in this server's rooms."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._database, self._limits = database, limits
        self._queues = Queues(1, limits.waiting_sentences)

    # ------------------------------------------------------------------------------------- for the teacher

    async def told_teacher(self, code: str) -> Mapping[str, Any] | None:
        """Return a round's progress; None if there was no round."""
        found: Round | None = await self._database(own_store.round_of, code)
        if found is None:
            return None
        under_way, finished = await self._database(own_store.progress, code)
        tallies = await self._database(own_store.tallies, code)
        return {
            "number": found.number,
            "isOpen": found.is_open,
            "asksNickname": found.asks_nickname,
            "begun": sum(under_way.values()) + finished,
            "finished": finished,
            "underWay": list(under_way.items()),
            "questions": own.summary(tallies),
        }

    async def results(self, code: str) -> dict[str, Any] | None:
        """Return the counts of a round that has ended, for everyone; None if there is none."""
        told = await self.told_teacher(code)
        return None if told is None or told["isOpen"] else {"isOwn": True, "questions": told["questions"]}

    async def pupils(self, code: str) -> list[Mapping[str, Any]]:
        """Return each pupil's nickname, if asked for, and number of right answers, for the teacher only."""
        taken = await self._database(own_store.taken, code)
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
        """Return a CSV file with a row per answer, for the teacher only."""
        found: Round | None = await self._database(own_store.round_of, code)
        taken = await self._database(own_store.taken, code)
        numbers = results.numbers(await self._database(Store.asked, code), taken)
        return csv_of({**own.table(taken, None if found is not None and found.asks_nickname else numbers)})

    # ------------------------------------------------------------------------------------- for pupils

    async def invitation(self, code: str) -> Mapping[str, Any] | None:
        """Return the invitation to an open round, for all screens; None if there is no round."""
        found: Round | None = await self._database(own_store.round_of, code)
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
        """Return a pupil's questions and answers; None if there are none."""
        found: Round | None = await self._database(own_store.round_of, code)
        kept: Paper | None = None
        if found is not None and found.is_open and pupil is not None:
            kept = await self._database(own_store.paper, code, pupil)
        return None if found is None or kept is None else _seen(found.number, kept)

    async def begin(self, room: Room, pupil: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the model on a pupil's sentence, and return the questions."""
        found = await self._round(room.code, said)
        text, nickname = _sentence(said), _nickname(said) if found.asks_nickname else ""
        check(self._limits.sentences, pupil)
        check(self._limits.sentences_of_room, room.code)
        try:
            async with self._queues.turn(room.code):
                data = await run_in_threadpool(_questions, found.link, text)
        except BusyError as error:
            told = message("Many sentences are being read. Please wait.")
            raise RefusedError(503, told, is_away=True) from error
        begun: Begun = await self._database(own_store.begin, room.code, found.number, pupil, nickname, data)
        if begun == "full":
            raise is_full()
        if begun == "over":
            raise _over()
        if begun == "answered":
            return _seen(found.number, await self._database(own_store.paper, room.code, pupil))
        return _seen(found.number, Paper(data))

    async def answer(self, room: Room, pupil: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Mark an answer; the first one to each question counts."""
        found = await self._round(room.code, said)
        check(self._limits.own_answers, pupil)
        check(self._limits.own_answers_of_room, room.code)
        kept: Paper | None = await self._database(own_store.paper, room.code, pupil)
        if kept is None:
            raise RefusedError(409, message("Choose a sentence first."))
        place, given = said.get("place"), said.get("given")
        questions = kept.data["questions"]
        if not _is_index(place, len(questions)) or not isinstance(given, int):
            raise _no_answer()
        mark = own.judged(questions[place], given)
        if mark is None:
            raise _no_answer()
        counts = await self._database(own_store.mark, room.code, found.number, pupil, mark)
        if counts is None:
            raise _over()
        return {"number": found.number, "place": place, **_marked(questions[place], counts)}

    async def _round(self, code: str, said: Mapping[str, Any]) -> Round:
        found: Round | None = await self._database(own_store.round_of, code)
        if found is None or not found.is_open or said.get("number") != found.number:
            raise _over()
        return found


# ------------------------------------------------------------------------------------- a sentence


def _sentence(said: Mapping[str, Any]) -> str:
    """Return the typed sentence, or raise RefusedError."""
    typed = said.get("text")
    text = as_typed(typed) if isinstance(typed, str) else ""
    if not text:
        raise RefusedError(400, message("Type a sentence, or take a suggested one."))
    if len(text) > own.MAX_SENTENCE:
        raise RefusedError(
            400,
            message(
                "This sentence has {n} characters; at most {most} are allowed. Shorten it.",
                most=own.MAX_SENTENCE,
                n=len(text),
            ),
        )
    return text


def _nickname(said: Mapping[str, Any]) -> str:
    """Return the typed nickname on one line, or raise RefusedError."""
    typed = said.get("nickname")
    nickname = clean(typed) if isinstance(typed, str) else ""
    if not is_visible(nickname) or len(nickname) > own.MAX_NICKNAME:
        raise RefusedError(
            400,
            message(
                "Choose a nickname of at most {most} characters. Only your teacher sees it.", most=own.MAX_NICKNAME
            ),
        )
    return nickname


@one_request()
def _questions(link: str, text: str) -> dict[str, Any]:
    """Run the model on a sentence, and return the questions with all feedback."""
    pane = read(STEP_BY_STEP.address, f"{link}&{urlencode({'text': text})}")
    if pane.reason is not None:
        raise RefusedError(503, str(pane.reason))
    if pane.scene is None:
        raise RefusedError(400, pane.notices[0])
    questions = own.questions_on(pane.scene)
    if not questions:
        raise RefusedError(400, message("There is nothing to ask about this sentence. Type a longer one."))
    place = {"layer": pane.scene.layer + 1, "head": pane.scene.head + 1, "word": pane.scene.word}
    here = f"{link}&{urlencode({'text': text, **place})}"
    return {
        "sentence": pane.scene.trace.text,
        "about": place_of(pane),
        "notices": list(pane.notices),
        "questions": [{**each, "way": _way(each["seen_at"], here)} for each in questions],
    }


def _way(seen_at: str, here: str) -> str:
    """Return the address of the page that shows the answer."""
    is_step = any(step.key == seen_at for step in steps.STEPS)
    page, link = (STEP_BY_STEP.address, f"{here}&step={seen_at}") if is_step else (seen_at, here)
    return f"./{page}?{tidy(page, link)}"


# ------------------------------------------------------------------------------------- views


def _seen(number: int, kept: Paper) -> dict[str, Any]:
    """Return the questions for a pupil, with the right answers only of answered ones."""
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
    return RefusedError(400, message("Not an answer to this question."))
