"""Questions about misconceptions, made from the current text and judged by the model's record."""

from __future__ import annotations

from attention.core.messages import message
from attention.lesson import front
from attention.lesson.head_context import HeadContext
from attention.lesson.questions import heads, pairs, rows, texts
from attention.lesson.questions.base import Ready

__all__ = ["MOST", "QUESTIONS", "Ready", "ready", "that_fit"]

QUESTIONS: tuple[Ready, ...] = (
    Ready("rows", message("Which has more rows, Q or K?"), texts.rows, is_hidden=True, seen_at="qkv"),
    Ready("equal", message("Two equal words, two vectors?"), texts.equal, seen_at="embed"),
    Ready("symmetric", message("Is a score the same both ways?"), pairs.symmetric, is_hidden=True, seen_at="scores"),
    Ready("scaled", message("What the division by √d changes"), rows.scaled, is_hidden=True, seen_at="scale"),
    Ready(
        "first", message("What a causal mask leaves to the first token"), pairs.first, is_hidden=True, seen_at="masks"
    ),
    Ready("after", message("Hiding after softmax"), rows.after, seen_at="masks"),
    Ready("sums", message("What adds up to 1?"), rows.sums, is_hidden=True),
    Ready("zero", message("Does a score of 0 mean no weight?"), rows.zero),
    Ready("negative", message("The weight of a negative score"), rows.negative, is_hidden=True),
    Ready("added", message("5 more for every score"), rows.added),
    Ready("doubled", message("All scores doubled"), rows.doubled),
    Ready("even", message("Which row is more even?"), rows.even, is_hidden=True, names_words=True),
    Ready("largest", message("Highest score, largest weight?"), pairs.largest, is_hidden=True),
    Ready("itself", message("Does a token attend to itself most?"), pairs.itself, is_hidden=True),
    Ready("special", message("How much goes to special or first tokens?"), pairs.special, is_hidden=True),
    Ready(
        "longer", message("Large weight or long value?"), pairs.longer, is_hidden=True, names_words=True, seen_at="sum"
    ),
    Ready("shape", message("How many numbers leave a head?"), heads.shape, is_hidden=True, seen_at="sum"),
    Ready("mean", message("What a mean over heads hides"), heads.mean, is_hidden=True, seen_at="all_heads"),
    Ready("namesake", message("The same head in another layer"), heads.namesake, is_hidden=True, seen_at="all_heads"),
    Ready("mixed", message("Does W_O mix the heads?"), heads.mixed, is_hidden=True, seen_at="heads"),
    Ready("turned", message("Another order, no positions"), texts.turned, seen_at="positions"),
    Ready("cost", message("A text twice as long"), texts.cost, seen_at="cost"),
)

# The front page's question, for a class. No misconception is behind it, and several answers may be right or close.
MOST = Ready("most", message("Which word gets the most weight?"), front.guess, is_hidden=True, names_words=True)


def ready(name: str) -> Ready | None:
    """Return the question with this name; None if it does not exist."""
    return next((each for each in (MOST, *QUESTIONS) if each.name == name), None)


def that_fit(scene: HeadContext) -> list[Ready]:
    """Return the questions that apply to a scene."""
    return [each for each in QUESTIONS if each.make(scene) is not None]
