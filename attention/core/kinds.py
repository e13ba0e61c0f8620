"""The uses of attention and the builds of models, each described by one object.

Everything in which they differ is declared here; no other module distinguishes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attention.core.masks import MaskName
from attention.core.messages import message


@dataclass(frozen=True, slots=True)
class Side:
    """One of the rows of tokens that take part: the name of its table, its label and its caption."""

    name: str = "tokens"
    label: str = message("Tokens")
    caption: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """One use of attention (Vaswani et al. 2017, section 3.2.3)."""

    # The tokens that attend and, if different, those attended to.
    sides: tuple[Side, ...] = (Side(),)
    # The letter of the inputs of keys and values.
    source: str = "X"
    # Whether it is in the part of the model that reads the input.
    is_reading: bool = True
    # Whether rows and columns are the same tokens, so that patterns can label heads.
    has_patterns: bool = True
    # Whether the lesson must still explain its word pieces.
    has_pieces: bool = True
    # The number of initial tokens that the model did not choose itself.
    n_given: int = 0
    # The lesson that states that later tokens are always hidden; empty if they are not.
    hides_later: str = ""
    # What a user may choose instead.
    others: str = message("another model")
    # Whether it attends to another sequence, which then appears in a step's shapes.
    looks_elsewhere: bool = False
    # By step: its own formula in LaTeX, a lesson that replaces the step's lessons, and one that follows them.
    formulas: Mapping[str, str] = field(default_factory=dict)
    lessons: Mapping[str, str] = field(default_factory=dict)
    asides: Mapping[str, str] = field(default_factory=dict)
    # Maps lessons to the ones that replace them.
    variants: Mapping[str, str] = field(default_factory=dict)

    def lesson(self, name: str) -> str:
        """Return the name of the lesson that replaces ``name``, or ``name``."""
        return self.variants.get(name, name)


# Self-attention of an encoder or decoder-only model.
SELF = Use()

# Self-attention of the decoder in an encoder–decoder.
WRITTEN = Use(
    is_reading=False,
    n_given=1,
    hides_later="mask/written",
    asides={"tokens": "tokens/decoder"},
    variants={"tokens/words": "tokens/words-written"},
)

_READ, _WRITTEN = message("source"), message("target")
_DECODER, _OUTPUT = message("decoder"), message("encoder's output")

# Cross-attention: target tokens attend to source tokens.
CROSS = Use(
    sides=(
        Side(caption=message("Queries: target tokens")),
        Side("read", message("Source tokens"), message("Keys: source tokens")),
    ),
    source="Z",
    is_reading=False,
    has_patterns=False,
    has_pieces=False,
    others=message("the encoder, the decoder or another model"),
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
        "mask/none": "mask/cross",
        "embed/cell-deeper": "embed/cell-cross",
        "savings/at-once": "savings/at-once-cross",
    },
)


@dataclass(frozen=True, slots=True)
class Second:
    """A second text: its field on the page (with {model} in ``placeholder``), and whether both are read as one."""

    label: str
    placeholder: str
    help: str
    is_joined: bool
    # Whether the field is always shown, not only once such a text has been chosen.
    is_everywhere: bool


_SENTENCE = Second(
    message("Second sentence"),
    message("Optional"),
    message("Both sentences are read as one text, with a separator between them."),
    is_joined=True,
    is_everywhere=False,
)
_TARGET = Second(
    message("Target sentence"),
    message("Empty: {model} writes it", model="{model}"),
    message("The decoder's words. Each attends to the sentence above."),
    is_joined=False,
    is_everywhere=True,
)


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """How a model is built (encoder, decoder or both), and the effect on the pages."""

    # A decoder always hides later tokens, so its "none" needs another label. Links use the masks' own names.
    mask_names: Mapping[MaskName, str] = field(
        default_factory=lambda: {"none": message("none"), "causal": message("causal"), "padding": message("padding")}
    )
    mask_help: str = message(
        "none: every token sees all · causal: no token sees later ones · padding: [PAD] is added and masked"
    )
    # The lesson that states that later tokens are always hidden; empty if they are not.
    hides_later: str = ""
    # Whether it predicts the next token.
    says_next: bool = False
    second: Second = _SENTENCE
    # Notes for pages about its heads alone, and for comparisons of two texts.
    of_heads: str = ""
    of_changes: str = ""


ENCODER = Build()

DECODER = Build(
    mask_names={
        "none": message("causal, as in the model"),
        "causal": message("causal"),
        "padding": message("causal, padding"),
    },
    mask_help=message("This model always masks later tokens · padding: [PAD] is added and masked"),
    hides_later="mask/decoder",
    says_next=True,
    of_changes="compare/decoder",
)

ENCODER_DECODER = Build(second=_TARGET, of_heads="models/encoder-only")
