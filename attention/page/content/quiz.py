"""A guess before a step is shown: the question and, once it is answered, the verdict with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from attention.core.messages import message
from attention.figures.question import Answer, Question, Verdict
from attention.lesson.head_context import HeadContext
from attention.lesson.quiz import Guess, verdict_words, words_of
from attention.lesson.steps.base import Step
from attention.page.blocks import Blocks, Notice, Picture, Prose, Section, cover
from attention.page.content.pane import Pane
from attention.page.parameters import Parameter
from attention.page.settings import ANSWER, GUESS, WORD
from attention.page.view import View

SECTION = "guess_first"


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, if guesses are asked for, and the answer to it.

    ``parameter`` holds the answer. ``next_word`` is the next word to ask about, if there is another. Without a
    question, there is a notice.
    """

    view: View
    is_asked: bool = False
    guess: Guess | None = None
    parameter: Parameter[Answer | None] = ANSWER
    next_word: int | None = None

    @classmethod
    def of(cls, view: View, step: Step, pane: Pane | None) -> Self:
        """Return a pane's question about a step, if the view asks for guesses."""
        if pane is None or pane.scene is None or not view[GUESS]:
            return cls(view)
        return cls(view, is_asked=True, guess=pane.guess(step), next_word=next_word(pane.scene))

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the answer; None without one."""
        return None if self.guess is None else self.guess.judge(self.view[self.parameter])

    @property
    def is_open(self) -> bool:
        """Whether the step has to wait for an answer."""
        return self.guess is not None and self.verdict is None

    def content(self) -> Blocks:
        """Return the question and, once it is answered, the verdict."""
        if not self.is_asked:
            return ()
        if self.guess is None:
            return (Notice(message("Nothing to guess here. Choose another step, word or sentence."), is_quiet=True),)
        blocks = (*self._question(self.guess, stays=False), *self._verdict_blocks(self.guess))
        return (Section(SECTION, blocks, is_framed=True, is_line=not self.is_open),)

    def in_place(self) -> Blocks:
        """Return the same with space for the verdict, so that the picture below does not move."""
        if not self.is_asked or self.guess is None:
            return self.content()
        how = message("Answer, or press “Show me”, to reveal it.")
        told = self._verdict_blocks(self.guess) or (cover("guess", how),)
        blocks = (Section("guess_asked", self._question(self.guess, stays=True)), Section("guess_told", told))
        return (Section(SECTION, blocks, is_framed=True),)

    def _verdict_blocks(self, guess: Guess) -> Blocks:
        verdict = self.verdict
        return () if verdict is None else (Prose(verdict_words(verdict) + guess.reason, "detail"),)

    def _question(self, guess: Guess, *, stays: bool) -> Blocks:
        verdict = self.verdict
        is_known = verdict is not None
        question = Question(
            guess.mark,
            guess.label,
            guess.answers,
            guess.shape,
            self.view[self.parameter] if is_known else None,
            verdict,
            tuple(sorted(guess.right)) if is_known else (),
            guess.shares if is_known else (),
            self.next_word,
            stays,
        )
        asked = Picture("question", question, sets={"answer": self.parameter, "word": WORD})
        return (Prose(guess.question), asked)


def next_word(scene: HeadContext) -> int | None:
    """Return the word after the one in focus, cyclically; None if there is no other."""
    words = [position for position in words_of(scene.tokens) if position != scene.word]
    return next((position for position in words if position > scene.word), words[0] if words else None)
