"""A question, its answers and, once it is answered, the solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from attention.figures.drawn import Drawn, Parts, is_index
from attention.figures.format import in_percent

# Choose one answer, distribute 100% among all of them, or (in a class) type a few words.
Shape = Literal["one", "shares", "words"]
Verdict = Literal["right", "close", "other", "shown"]
MAX_PERCENT = 100
SHOW = "show"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question: an index, a percentage for each answer, or nothing if the solution was requested."""

    mark: str
    given: tuple[int, ...] = ()

    def written(self) -> str:
        """Return its form in a link."""
        return "-".join((self.mark, *(map(str, self.given) if self.given else [SHOW])))


@dataclass(frozen=True, slots=True)
class Question(Drawn):
    """A question; the solution is not sent before there is an ``answer``.

    Attributes:
        mark: identifies this question.
        label: its accessible name.
        shape: how it is answered.
        answer: the user's answer.
        verdict: the assessment of the answer.
        right: the indices of the correct answers.
        shares: the true shares, which add up to 1, if ``shape`` is "shares".
        next_word: the position of the word to ask about next, if there is one.
        stays: whether it keeps its size once answered, so that nothing below it moves.
    """

    component: ClassVar[str] = "question"
    acts: ClassVar[tuple[str, ...]] = ("choose", "share", "show", "next", "again")

    mark: str
    label: str
    answers: tuple[str, ...]
    shape: Shape = "one"
    answer: Answer | None = None
    verdict: Verdict | None = None
    right: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()
    next_word: int | None = None
    stays: bool = False

    def said(self, act: str, value: object) -> Parts | None:
        """Return the answer or the next word; None as the answer asks the question again."""
        if act == "show":
            return {"answer": Answer(self.mark).written()}
        if act == "again":
            return {"answer": None}
        if act == "next":
            return None if self.next_word is None else {"word": str(self.next_word)}
        given = self._given(act, value)
        return None if given is None else {"answer": Answer(self.mark, given).written()}

    def _given(self, act: str, value: object) -> tuple[int, ...] | None:
        if act == "choose" and self.shape == "one" and is_index(value, len(self.answers)):
            return (value,)
        if act != "share" or self.shape != "shares" or not isinstance(value, list) or len(value) != len(self.answers):
            return None
        return tuple(value) if all(is_index(share, MAX_PERCENT + 1) for share in value) and any(value) else None

    def payload(self) -> dict[str, Any]:
        """Return the component's data."""
        known: dict[str, Any] = {}
        if self.answer is not None:
            known = {
                "given": list(self.answer.given),
                "verdict": self.verdict,
                "right": list(self.right),
                "shares": in_percent(self.shares),
                "canGoOn": self.next_word is not None,
            }
        return self.plain("mark label answers shape stays") | {
            **known,
        }
