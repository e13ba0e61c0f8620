"""What an attention is, and what a model is built of: all that is said or offered differently, in one object each.

No other module asks which of them it has before it, but where the mathematics differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from attention.masks import MASK_NAMES, MaskName

__all__ = ["DECODER", "ENCODER", "ENCODER_DECODER", "USES", "AttentionKind", "Build", "Second", "Use"]

AttentionKind = Literal["self", "cross", "masked self"]


@dataclass(frozen=True, slots=True)
class Use:
    """One use of attention (Vaswani et al. 2017, section 3.2.3).

    ``others`` is what a user may choose instead of it.
    """

    others: str = "another model"
    # Its rows and columns are the same tokens, so that heads can be told by which of them attend to which.
    has_patterns: bool = True


USES: Mapping[AttentionKind, Use] = {
    "self": Use(),
    "masked self": Use(),
    "cross": Use(others="encoder or decoder, or another model", has_patterns=False),
}


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
    "Second sentence",
    "None: the first sentence is read alone",
    "Two sentences that the model reads as one text, with its own sign between them. Leave it empty for none.",
    is_joined=True,
    is_everywhere=False,
)
_TARGET = Second(
    "What the decoder writes",
    "Left empty, {model} writes it itself",
    "The decoder reads these words one after another, and looks at the sentence above with each of them.",
    is_joined=False,
    is_everywhere=True,
)


@dataclass(frozen=True, slots=True)
class Build:
    """What a model is built of, and what that means for all that is chosen and said of it."""

    # What each mask is called, and in a sentence: a decoder hides what comes later by itself, so that "none" would be
    # untrue of it. A link has the masks' own names.
    mask_names: Mapping[MaskName, str] = field(default_factory=lambda: {name: name for name in MASK_NAMES})
    mask_help: str = "none: all see all · causal: nobody sees what comes later · padding: [PAD] is added and hidden"
    # It says which token comes next.
    says_next: bool = False
    second: Second = _SENTENCE
    # The lessons that say what is to be known where its heads alone are looked at, and where two texts are compared.
    of_heads: str = ""
    of_changes: str = ""


ENCODER = Build()

DECODER = Build(
    mask_names={"none": "causal (its own)", "causal": "causal", "padding": "causal, padding"},
    mask_help="This model hides what comes later by itself: both causal masks are the same · "
    "padding: more tokens are added and hidden",
    says_next=True,
    of_changes="compare-decoder",
)

ENCODER_DECODER = Build(second=_TARGET, of_heads="encoder-only")
