"""A guess before a step is shown: the question and, once it is answered, the verdict with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from attention.blocks import Blocks, Notice, Picture, Prose, Section, Setting
from attention.content.pane import Pane
from attention.figures.question import Question, Verdict
from attention.lesson.guess import Guess, words_of
from attention.lesson.prose import lesson
from attention.lesson.scene import Scene
from attention.lesson.steps.base import Step
from attention.messages import message
from attention.settings import ANSWER, GUESS, WORD
from attention.view import View

__all__ = ["Asked"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a step asks of one pane, if guesses are asked for, and what was answered."""

    view: View
    scene: Scene | None = None
    guess: Guess | None = None
    verdict: Verdict | None = None

    @classmethod
    def of(cls, view: View, step: Step, pane: Pane | None) -> Self:
        """Ask, where the view says so and there is something to guess."""
        scene = None if pane is None else pane.scene
        guess = step.guess(scene) if scene is not None and view[GUESS] else None
        return cls(view, scene, guess, None if guess is None else guess.judge(view[ANSWER]))

    @property
    def is_open(self) -> bool:
        """Whether the step has to wait for an answer."""
        return self.guess is not None and self.verdict is None

    def content(self) -> Blocks:
        """Return the switch, the question and, once it is answered, the verdict."""
        switch = Setting("guess", GUESS, message("Guess first"), self.view[GUESS])
        return (switch, *self._question())

    def _question(self) -> Blocks:
        guess, scene = self.guess, self.scene
        if scene is None or not self.view[GUESS]:
            return ()
        if guess is None:
            return (Notice(message("At this step, there is nothing to guess about this word."), is_quiet=True),)
        is_known = self.verdict is not None
        question = Question(
            guess.mark,
            message("Possible answers"),
            guess.answers,
            guess.shape,
            self.view[ANSWER] if is_known else None,
            self.verdict,
            tuple(sorted(guess.right)) if is_known else (),
            tuple(100 * share for share in guess.shares) if is_known else (),
            _next_word(scene),
        )
        asked = Picture("question", question, sets={"answer": ANSWER, "word": WORD})
        told = (Prose(_told(self.verdict) + guess.reason, "detail"),) if self.verdict is not None else ()
        return (Section("guess_first", (Prose(guess.question), asked, *told), is_framed=True),)


def _told(verdict: Verdict) -> str:
    return {
        "right": lesson("guess/right"),
        "close": lesson("guess/close"),
        "other": lesson("guess/other"),
        "shown": lesson("guess/shown"),
    }[verdict]


def _next_word(scene: Scene) -> int | None:
    """Return the next word after the one in focus, and after the last the first; None if there is no other."""
    words = [position for position in words_of(scene.tokens) if position != scene.word]
    return next((position for position in words if position > scene.word), words[0] if words else None)
