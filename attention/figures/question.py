"""A question as the plain data of its component: what can be answered and, once it is, what is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from attention.figures.click_schema import Parts, is_index

__all__ = ["MAX_PERCENT", "SHOW", "Answer", "Question", "Shape", "Verdict"]

# How a question is answered: with one of several answers, or by sharing 100% among all of them.
Shape = Literal["one", "shares"]
Verdict = Literal["right", "close", "other", "shown"]
MAX_PERCENT = 100
SHOW = "show"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to the question of this mark: an index, a percentage for each answer, or nothing.

    Nothing was answered by a user who asked to be shown the answer.
    """

    mark: str
    given: tuple[int, ...] = ()

    def written(self) -> str:
        """Return it as a link has it."""
        return "-".join((self.mark, *(map(str, self.given) if self.given else [SHOW])))


@dataclass(frozen=True, slots=True)
class TouchQuestion:
    """An answer, the wish to be shown it, or the wish to be asked again, about another word or the same."""

    mark: str
    n_answers: int
    shape: Shape
    next_word: int | None
    acts: tuple[str, ...] = ("choose", "share", "show", "next", "again")

    def said(self, act: str, value: object) -> Parts | None:
        """Return what was answered, or which word is asked about next; to be asked again, no answer."""
        if act == "show":
            return {"answer": Answer(self.mark).written()}
        if act == "again":
            return {"answer": None}
        if act == "next":
            return None if self.next_word is None else {"word": str(self.next_word)}
        given = self._given(act, value)
        return None if given is None else {"answer": Answer(self.mark, given).written()}

    def _given(self, act: str, value: object) -> tuple[int, ...] | None:
        if act == "choose" and self.shape == "one" and is_index(value, self.n_answers):
            return (value,)
        if act != "share" or self.shape != "shares" or not isinstance(value, list) or len(value) != self.n_answers:
            return None
        return tuple(value) if all(is_index(share, MAX_PERCENT + 1) for share in value) and any(value) else None


@dataclass(frozen=True, slots=True)
class Question:
    """What can be answered; of what is true, a browser hears nothing before ``answer`` is there.

    Attributes:
        mark: what tells this question from all others.
        label: what it is about, for those who hear it.
        answers: what can be answered.
        shape: how.
        answer: what was answered.
        verdict: what that is worth.
        right: the indices of the answers that are right.
        shares: what is true in percent, of shares.
        next_word: the word to be asked about next, where there is another one.
        stays: whether it is as large once it is answered, so that what stands below does not move.
    """

    component: ClassVar[str] = "question"

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

    @property
    def touch(self) -> TouchQuestion:
        """An answer."""
        return TouchQuestion(self.mark, len(self.answers), self.shape, self.next_word)

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw it."""
        known: dict[str, Any] = {}
        if self.answer is not None:
            known = {
                "given": list(self.answer.given),
                "verdict": self.verdict,
                "right": list(self.right),
                "shares": [round(share, 1) for share in self.shares],
                "canGoOn": self.next_word is not None,
            }
        return {
            "mark": self.mark,
            "label": self.label,
            "answers": list(self.answers),
            "shape": self.shape,
            "stays": self.stays,
            **known,
        }
