"""All measures of every head on every text, and summaries of heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.trace import Token
from attention.core.words import Word
from attention.measures.behaviours import BEHAVIOUR_RULES, Behaviour
from attention.measures.entropies import entropy, normalised_entropy
from attention.measures.five_patterns import PatternScores, pattern_scores
from attention.measures.marks import Marks, column_shares, same_word_share, share
from attention.measures.offsets import Offsets
from attention.measures.rows import Rows

# The scores of the five patterns in measure().
PATTERN_MEASURES = tuple(field.name for field in fields(PatternScores))


@dataclass(frozen=True, slots=True)
class HeadSummary:
    """Measures of one head on one text, or on average over several; layer and head count from 0.

    Entropy is in nats, distance and offset are in tokens, everything else is from 0 to 1. ``near`` to
    ``punctuation`` are shares of all its weight (see ``share``). ``previous``, ``itself``, ``next`` and ``same_word``
    are averaged over the rows that can see such a token, because they would otherwise measure the text; 0 without any.
    ``normalised_entropy`` is averaged over the rows that can see more than one token.
    """

    layer: int
    head: int
    entropy: float
    normalised_entropy: float
    mean_distance: float
    mean_offset: float
    previous: float
    itself: float
    next: float
    near: float
    first: float
    classifier: float
    separator: float
    punctuation: float
    same_word: float
    positional: float
    pattern: PatternScores

    @classmethod
    def of(cls, layer: int, head: int, measured: Mapping[str, float]) -> Self:
        """Build a summary from one head's entries of ``measure``."""
        pattern = PatternScores(*(measured[name] for name in PATTERN_MEASURES))
        others = {name: value for name, value in measured.items() if name not in PATTERN_MEASURES}
        return cls(layer=layer, head=head, pattern=pattern, **others)

    @property
    def behaviours(self) -> tuple[Behaviour, ...]:
        """Each rule applied to the head, in the order of ``BEHAVIOUR_RULES``."""
        return tuple(Behaviour(rule, float(getattr(self, rule.measure))) for rule in BEHAVIOUR_RULES)

    @property
    def behaviour_names(self) -> tuple[str, ...]:
        """The behaviours that the head shows."""
        return tuple(behaviour.name for behaviour in self.behaviours if behaviour.passes)


# The keys of measure().
MEASURES = (*(name for name in HeadSummary.__slots__ if name not in ("layer", "head", "pattern")), *PATTERN_MEASURES)


def summarise_weights(
    weights: Float[Array, "H T T"],
    tokens: Sequence[Token | Word],
    mask: Float[Array, "*1 T T"] | None = None,
    layer: int = 0,
) -> tuple[HeadSummary, ...]:
    """Summarise the heads of one layer from their weights between tokens or words; ``mask`` has the same axes.

    Raises:
        ValueError: the weights are not between these tokens.
    """
    if weights.ndim != 3 or weights.shape[1:] != (len(tokens), len(tokens)):
        raise ValueError(
            f"weights must have shape (heads, {len(tokens)}, {len(tokens)}) for {len(tokens)} tokens, "
            f"got {weights.shape}"
        )
    marks = Marks.of([tokens])
    measured = measure(Rows.of(weights[None], mask, ~marks.padding[:, None]), marks)
    return tuple(
        HeadSummary.of(layer, head, {name: float(values[0, head]) for name, values in measured.items()})
        for head in range(len(weights))
    )


def measure(rows: Rows, marks: Marks) -> dict[str, Float[Array, "*L B H"]]:
    """Measure every head on every text of a batch; ``HeadSummary`` and ``PatternScores`` define the measures.

    Measures of offsets use weights summed by offset, measures of keys those summed by column, so that few sums run over
    all weights.
    """
    entropies, offsets, columns = entropy(rows.weights), Offsets.of(rows), column_shares(rows)
    return {
        "entropy": rows.mean(entropies),
        "normalised_entropy": rows.mean(normalised_entropy(entropies, rows.n_visible), among=rows.has_choice),
        "mean_distance": offsets.mean_distance(),
        "mean_offset": offsets.mean_offset(),
        "previous": offsets.share(-1),
        "itself": offsets.share(0),
        "next": offsets.share(1),
        "near": offsets.near(),
        "first": columns[..., 0],
        "classifier": share(columns, marks.classifier),
        "separator": share(columns, marks.separator),
        "punctuation": share(columns, marks.punctuation),
        "same_word": same_word_share(rows, marks.same_word),
        "positional": offsets.positional(rows),
        **pattern_scores(rows, columns, marks),
    }
