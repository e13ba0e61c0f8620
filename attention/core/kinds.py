"""The uses of attention and the builds of models: all that is said or offered differently for each, in one object.

No other module asks which of them it is dealing with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attention.core.masks import MaskName
from attention.core.messages import message

__all__ = ["CROSS", "DECODER", "ENCODER", "ENCODER_DECODER", "SELF", "WRITTEN", "Build", "Second", "Side", "Use"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the token rows that take part: a name for its table, its label and its caption."""

    name: str = "tokens"
    label: str = message("Tokens")
    caption: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """One use of attention (Vaswani et al. 2017, section 3.2.3)."""

    # The tokens that attend and, if they are not the same, those that are attended to.
    sides: tuple[Side, ...] = (Side(),)
    # The letter of the vectors from which keys and values are projected.
    source: str = "X"
    # Whether it is in the part of the model that reads what the user gives it.
    is_reading: bool = True
    # Whether rows and columns are the same tokens, so that heads can be labelled by their patterns.
    has_patterns: bool = True
    # Whether the lesson still has to explain how its tokens were cut into pieces.
    has_pieces: bool = True
    # The number of tokens at the beginning that the model did not choose itself.
    n_given: int = 0
    # The lesson which says that later tokens are hidden, whatever the mask; empty if they are not.
    hides_later: str = ""
    # What a user may choose instead of it.
    others: str = message("another model")
    # Whether what is attended to is something else: then it is part of a step's shapes.
    looks_elsewhere: bool = False
    # By the key of a step: its own formula in LaTeX, the lesson that replaces the step's lessons, and one that follows
    # them.
    formulas: Mapping[str, str] = field(default_factory=dict)
    lessons: Mapping[str, str] = field(default_factory=dict)
    asides: Mapping[str, str] = field(default_factory=dict)
    # The lessons that do not fit it, and the names of those that replace them.
    variants: Mapping[str, str] = field(default_factory=dict)

    def lesson(self, name: str) -> str:
        """Return the name of the lesson that replaces ``name``, which is written for self-attention, or ``name``."""
        return self.variants.get(name, name)


# A text that attends to itself, as in an encoder or in a decoder-only model.
SELF = Use()

# What the decoder of an encoder–decoder writes, attending to itself.
WRITTEN = Use(
    is_reading=False,
    n_given=1,
    hides_later="mask/written",
    asides={"tokens": "tokens/decoder"},
    variants={"tokens/words": "tokens/words-written"},
)

# What stands in the formulas of cross-attention.
_READ, _WRITTEN = message("read"), message("written")
_DECODER, _OUTPUT = message("decoder"), message("encoder's output")

# What is written attends to what was read.
CROSS = Use(
    sides=(
        Side(caption=message("What is written asks")),
        Side("read", message("Tokens that were read"), message("What was read is asked")),
    ),
    source="Z",
    is_reading=False,
    has_patterns=False,
    has_pieces=False,
    others=message("encoder or decoder, or another model"),
    formulas={
        "tokens": rf"{{\text{{{_READ}}} \to s_1, \dots, s_m}} \quad\allowbreak "
        rf"{{\text{{{_WRITTEN}}} \to t_1, \dots, t_n}}",
        "embed": rf"X = \text{{{_DECODER}}} \quad Z = \text{{{_OUTPUT}}}",
    },
    lessons={"embed": "embed/words-cross"},
    asides={"softmax": "softmax/cross-next"},
    looks_elsewhere=True,
    variants={
        "tokens/words": "tokens/words-cross",
        "qkv/words": "qkv/words-cross",
        "qkv/words-unknown": "qkv/words-unknown-cross",
        "mask/none": "mask/cross",
        "mask/nothing": "mask/cross",
        "embed/cell-deeper": "embed/cell-cross",
        "savings/at-once": "savings/at-once-cross",
    },
)


@dataclass(frozen=True, slots=True)
class Second:
    """What a second text means to a model: its field on the page, and whether both texts are read as one.

    In ``placeholder``, {model} stands for the model's name.
    """

    label: str
    placeholder: str
    help: str
    is_joined: bool
    # Whether the field is shown wherever the model is, not only once such a text has been chosen.
    is_everywhere: bool


_SENTENCE = Second(
    message("Second sentence"),
    message("None: the first sentence is read alone"),
    message("Two sentences that the model reads as one text, with its own sign between them. Leave it empty for none."),
    is_joined=True,
    is_everywhere=False,
)
_TARGET = Second(
    message("What the decoder writes"),
    message("Left empty, {model} writes it itself", model="{model}"),
    message("The decoder reads these words one after another, and looks at the sentence above with each of them."),
    is_joined=False,
    is_everywhere=True,
)


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """How a model is built (encoder, decoder or both), and what that changes in what is offered and said."""

    # What each mask is called: a decoder always hides later tokens, so that "none" would be untrue. Links use the
    # masks' own names.
    mask_names: Mapping[MaskName, str] = field(
        default_factory=lambda: {"none": message("none"), "causal": message("causal"), "padding": message("padding")}
    )
    mask_help: str = message(
        "none: every token sees all · causal: no token sees what comes later · padding: [PAD] is added and hidden"
    )
    # The lesson which says that later tokens are hidden, whatever the mask; empty if they are not.
    hides_later: str = ""
    # Whether it predicts the next token.
    says_next: bool = False
    second: Second = _SENTENCE
    # The lessons with what one has to know when looking at its heads alone, and when comparing two texts.
    of_heads: str = ""
    of_changes: str = ""


ENCODER = Build()

DECODER = Build(
    mask_names={
        "none": message("causal (its own)"),
        "causal": message("causal"),
        "padding": message("causal, padding"),
    },
    mask_help=message(
        "This model always hides what comes later: both causal masks are the same · "
        "padding: more tokens are added and hidden"
    ),
    hides_later="mask/decoder",
    says_next=True,
    of_changes="compare/decoder",
)

ENCODER_DECODER = Build(second=_TARGET, of_heads="models/encoder-only")
