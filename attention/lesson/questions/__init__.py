"""Questions about misconceptions, made from the current text and judged by the model's record."""

from __future__ import annotations

from attention.core.messages import message
from attention.lesson import front
from attention.lesson.questions import heads, pairs, rows, texts
from attention.lesson.questions.base import Ready

__all__ = ["MOST", "QUESTIONS", "Ready", "ready"]

QUESTIONS: tuple[Ready, ...] = (
    Ready("rows", message("Which has more rows, Q or K?"), texts.rows, is_hidden=True, seen_at="qkv"),
    Ready("equal", message("Same word, same vector?"), texts.equal, seen_at="embed"),
    Ready("symmetric", message("Are scores symmetric?"), pairs.symmetric, is_hidden=True, seen_at="scores"),
    Ready("scaled", message("What does dividing by √d change?"), rows.scaled, is_hidden=True, seen_at="scale"),
    Ready("first", message("The first token under a causal mask"), pairs.first, is_hidden=True, seen_at="masks"),
    Ready("after", message("Masking after softmax"), rows.after, seen_at="masks"),
    Ready("sums", message("What sums to 1?"), rows.sums, is_hidden=True),
    Ready("zero", message("Does a score of 0 mean no weight?"), rows.zero),
    Ready("negative", message("Weight of a negative score"), rows.negative, is_hidden=True),
    Ready("added", message("Adding 5 to every score"), rows.added),
    Ready("doubled", message("Doubling all scores"), rows.doubled),
    Ready("even", message("Which row is more even?"), rows.even, is_hidden=True, names_words=True),
    Ready("largest", message("Highest score, largest weight?"), pairs.largest, is_hidden=True),
    Ready("itself", message("Do tokens attend most to themselves?"), pairs.itself, is_hidden=True),
    Ready("special", message("How much weight goes to special or first tokens?"), pairs.special, is_hidden=True),
    Ready(
        "longer", message("Large weight or large value?"), pairs.longer, is_hidden=True, names_words=True, seen_at="sum"
    ),
    Ready("shape", message("What shape is a head's output?"), heads.shape, is_hidden=True, seen_at="sum"),
    Ready("mean", message("What an average over heads hides"), heads.mean, is_hidden=True, seen_at="all_heads"),
    Ready("namesake", message("Same head number, another layer"), heads.namesake, is_hidden=True, seen_at="all_heads"),
    Ready("mixed", message("Does W_O mix the heads?"), heads.mixed, is_hidden=True, seen_at="heads"),
    Ready("turned", message("Reordering without positions"), texts.turned, seen_at="positions"),
    Ready("cost", message("Doubling the text"), texts.cost, seen_at="cost"),
)

# The front page's question, for a class: not about a misconception, and several answers may be right or close.
MOST = Ready("most", message("Which word gets the most weight?"), front.guess, is_hidden=True, names_words=True)


def ready(name: str) -> Ready | None:
    """Return the question with this name; None if it does not exist."""
    return next((each for each in (MOST, *QUESTIONS) if each.name == name), None)
