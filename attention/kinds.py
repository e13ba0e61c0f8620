"""What an attention is, and what a model is built of: all that is said or offered differently, in one object each.

No other module asks which of them it has before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attention.masks import MaskName
from attention.messages import message

__all__ = ["CROSS", "DECODER", "ENCODER", "ENCODER_DECODER", "SELF", "WRITTEN", "Build", "Second", "Side", "Use"]


@dataclass(frozen=True, slots=True)
class Side:
    """A row of tokens that take part: a name for its table, and what is said of it."""

    name: str = "tokens"
    label: str = message("Tokens")
    caption: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """One use of attention (Vaswani et al. 2017, section 3.2.3)."""

    # The tokens that ask and, where they are others, those that are asked.
    sides: tuple[Side, ...] = (Side(),)
    # The letter of the vectors that keys and values are made of.
    source: str = "X"
    # Rows and columns are the same tokens, so that heads are labelled by which of them attend to which.
    has_patterns: bool = True
    # Its tokens are words or pieces of words, of which it has not been said yet how they were cut.
    has_pieces: bool = True
    # So many tokens at the beginning the model has not chosen itself.
    n_given: int = 0
    # The lesson that says that it hides what comes later, whatever the mask; empty if it does not.
    hides_later: str = ""
    # What a user may choose instead of it.
    others: str = message("another model")
    # By the key of a step: its own formula in LaTeX, the lesson that tells all of the step, one that follows the
    # others, and what is added to its shapes.
    formulas: Mapping[str, str] = field(default_factory=dict)
    lessons: Mapping[str, str] = field(default_factory=dict)
    asides: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    # The lessons that are told in another way of it, and the names of those that are told instead.
    variants: Mapping[str, str] = field(default_factory=dict)

    def lesson(self, name: str) -> str:
        """Return the name of the lesson that says of this what ``name`` says of a text that looks at itself."""
        return self.variants.get(name, name)


# A text that looks at itself, as in an encoder or in a decoder that stands alone.
SELF = Use()

# What the decoder of an encoder–decoder writes, and looks at itself.
WRITTEN = Use(
    n_given=1,
    hides_later="mask/written",
    asides={"tokens": "tokens/decoder"},
    variants={"tokens/words": "tokens/words-written"},
)

# What is written looks at what was read.
CROSS = Use(
    sides=(
        Side(caption=message("What is written asks")),
        Side("read", message("Tokens that were read"), message("What was read is asked")),
    ),
    source="Z",
    has_patterns=False,
    has_pieces=False,
    others=message("encoder or decoder, or another model"),
    formulas={
        "tokens": r"{\text{read} \to s_1, \dots, s_m} \quad\allowbreak {\text{written} \to t_1, \dots, t_n}",
        "embed": r"X = \text{decoder} \quad Z = \text{encoder's output}",
    },
    lessons={"embed": "embed/words-cross"},
    asides={"softmax": "softmax/cross-next"},
    shapes={"tokens": ", which look at {keys}", "qkv": ", of Z ({keys}×{width})"},
    variants={
        "tokens/words": "tokens/words-cross",
        "qkv/words": "qkv/words-cross",
        "mask/none": "mask/cross",
        "mask/nothing": "mask/cross",
        "embed/cell-deeper": "embed/cell-cross",
    },
)


@dataclass(frozen=True, slots=True)
class Second:
    """What a second text is to a model: its field, and whether both are read as one text.

    In ``placeholder``, {model} is the model's name.
    """

    label: str
    placeholder: str
    help: str
    is_joined: bool
    # The field is there wherever the model is, and not only where somebody has chosen such a text.
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
    """What a model is built of, and what that means for all that is chosen and said of it."""

    # What each mask is called, and in a sentence: a decoder hides what comes later by itself, so that "none" would be
    # untrue of it. A link has the masks' own names.
    mask_names: Mapping[MaskName, str] = field(
        default_factory=lambda: {"none": message("none"), "causal": message("causal"), "padding": message("padding")}
    )
    mask_help: str = message(
        "none: every token sees all · causal: no token sees what comes later · padding: [PAD] is added and hidden"
    )
    # The lesson that says that it hides what comes later, whatever the mask; empty if it does not.
    hides_later: str = ""
    # It says which token comes next.
    says_next: bool = False
    second: Second = _SENTENCE
    # The lessons that say what is to be known where its heads alone are looked at, and where two texts are compared.
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
