"""A decoder's prediction of the next token, after the last layer and, by the logit lens, after every other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attention.core.messages import message
from attention.core.steps import softmax
from attention.core.text import as_typed
from attention.core.trace import Trace
from attention.figures.format import number
from attention.lesson.prose import fact, lesson, word
from attention.models.base import NextToken

N_CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate for the next token: its label, and the text it adds (None if it cannot be typed)."""

    label: str
    text: str | None
    probability: float


@dataclass(frozen=True, slots=True)
class LayerGuess:
    """The prediction after a layer, and the probability and rank (from 1) of the final answer there."""

    layer: int
    label: str
    probability: float
    answer_probability: float
    answer_rank: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """The most likely tokens after the last layer, the prediction after each layer, and the size of the vocabulary."""

    candidates: tuple[Candidate, ...]
    layers: tuple[LayerGuess, ...]
    n_vocabulary: int

    @property
    def since(self) -> int:
        """The layer from which on the final answer ranks first."""
        wrong = [guess.layer for guess in self.layers if guess.answer_rank > 1]
        return max(wrong, default=-1) + 1


def forecast(found: NextToken, text: str) -> Forecast:
    """Return the predictions, ``p = softmax(logits)``.

    Args:
        found: logits of shape (L+1, V).
        text: the text that they continue; a token that leaves it unchanged adds nothing.
    """
    probabilities = softmax(found.logits)
    order = np.argsort(-probabilities[-1], kind="stable")[:N_CANDIDATES]
    answer = int(order[0])
    candidates = tuple(
        Candidate(found.labels[token], _addition(found.texts[token], text), float(probabilities[-1, token]))
        for token in order
    )
    firsts, ranks = found.logits.argmax(axis=-1), (found.logits > found.logits[:, [answer]]).sum(axis=-1) + 1
    layers = tuple(
        LayerGuess(layer, found.labels[first], float(row[first]), float(row[answer]), int(rank))
        for layer, (first, row, rank) in enumerate(zip(firsts, probabilities, ranks, strict=True))
    )
    return Forecast(candidates, layers, found.logits.shape[1])


def _addition(addition: str | None, text: str) -> str | None:
    """Return the text of an appended token; None if it would be altered."""
    return addition if addition and as_typed(text + addition) == text + addition else None


def formula(trace: Trace) -> str:
    """Return the probabilities' formula in LaTeX; x is the last token's vector, W_U the unembedding."""
    norm = _norm_name(trace)
    last = rf"\mathrm{{{norm}}}(x_T)" if norm else "x_T"
    return rf"p = \mathrm{{softmax}}\big({last} \, W_U\big)"


def _norm_name(trace: Trace) -> str:
    if trace.structure is not None:
        return trace.structure.final_norm
    # All norms of a decoder are of the same kind.
    norm = [*trace.attended.values()][-1].norm
    return "" if norm is None else norm.name


def last_row(trace: Trace) -> int:
    """Return the position of the token from whose vector the prediction is read."""
    return max(position for position, token in enumerate(trace.tokens) if not token.is_padding)


def tell_next(found: Forecast, trace: Trace) -> str:
    """Return as HTML which token comes next."""
    best = found.candidates[0]
    text = lesson("next-token/best", best=word(best.label), probability=fact(best.probability))
    return text + (lesson("next-token/cut") if trace.cut is not None else "")


def tell_source(found: Forecast, trace: Trace) -> str:
    """Return as HTML how the prediction is read from the last row."""
    norm = _norm_name(trace)
    read = lesson(
        "next-token/normed" if norm else "next-token/bare",
        layers=trace.info.n_layers,
        norm=norm,
        last=word(trace.tokens[last_row(trace)].text),
    )
    return read + lesson("next-token/words", vocabulary=f"{found.n_vocabulary:,}")


def tell_lens(found: Forecast) -> str:
    """Explain the logit lens as HTML, with the layer from which the answer ranks first."""
    best, since = word(found.candidates[0].label), found.since or message("0 (embedding)")
    return lesson("next-token/lens") + lesson("next-token/lens-since", since=since, best=best)


def lens_table(found: Forecast) -> dict[str, list[str]]:
    """Return the predictions as columns, with a row for each layer, the last layer first."""
    best, rows = found.candidates[0].label, found.layers[::-1]
    return {
        message("after layer"): [str(guess.layer) if guess.layer else message("0 (embedding)") for guess in rows],
        message("first"): [guess.label for guess in rows],
        message("its probability"): [number(guess.probability) for guess in rows],
        message("probability of {best}", best=best): [number(guess.answer_probability) for guess in rows],
        message("rank of {best}", best=best): [str(guess.answer_rank) for guess in rows],
    }
