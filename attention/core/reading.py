"""What a model reads: text, French of a closed vocabulary, or a picture, each described by one object.

Everything in which the kinds differ is declared here; no other module distinguishes them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from attention.core import pixels
from attention.core.masks import MASK_NAMES, MaskName
from attention.core.messages import message
from attention.core.paths import ASSETS

_TYPE = message("Type a sentence above or choose an example.")


def _lines(name: str) -> tuple[str, ...]:
    return tuple((ASSETS / name).read_text("utf-8").splitlines())


def _never(_: str) -> bool:
    return False


def _whole(_: Sequence[int]) -> int:
    """Return the first token, which represents the whole."""
    return 0


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One kind of input, always written as a text; compared by identity.

    ``what`` and ``noun`` are parts of sentences: "… reads *pictures*", "this *picture* has 17 tokens"; ``unit`` names a
    piece, ``kind`` the whole. ``field`` names the input field, which ``attention.answer.fields`` draws. The first of
    the ``examples`` is the default; ``example_names`` are their labels, unless they label themselves.
    """

    name: str
    what: str
    noun: str
    kind: str
    examples: tuple[str, ...]
    placeholder: str = ""
    field: str = "sentence"
    example_names: tuple[str, ...] = ()
    unit: str = message("word")
    units: str = message("words")
    # The unit as a field label, as a part of the embedding, and in the name of the first step.
    label: str = message("Word")
    part: str = message("Token embedding")
    cut: str = message("Cut the sentence into tokens")
    # A text that counts as empty, and the page's prompt when there is nothing to read.
    blank: str = ""
    invitation: str = _TYPE
    # The available masks.
    masks: tuple[MaskName, ...] = MASK_NAMES
    # Chooses the initial focus from the first positions of words; None chooses the most informative token.
    first_focus: Callable[[Sequence[int]], int] | None = None
    # Whether a second text may follow: another sentence, or a decoder's input.
    takes_pair: bool = False
    # Whether any English sentence can be read: enables the pages with their own sentences and comparisons of models.
    takes_sentences: bool = False
    # Whether the vocabulary is closed.
    is_closed: bool = False
    # Whether its tokens lie in a picture, over which weights can be drawn.
    is_laid_out: bool = False
    # Whether a model may classify it.
    has_classes: bool = False
    # Whether its tokens are words or pieces of words.
    has_pieces: bool = True
    # Whether findings about attention sinks apply to inputs of this kind.
    has_sinks: bool = True
    # Whether a text must be of this kind.
    recognises: Callable[[str], bool] = _never
    # Maps lessons to the ones that replace them.
    variants: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def first(self) -> str:
        """The default input."""
        return self.examples[0]

    def is_same(self, other: Reading) -> bool:
        """Return whether a text of one kind can be read as the other."""
        return self is other

    def is_empty(self, text: str) -> bool:
        """Return whether a text counts as empty."""
        return text in ("", self.blank)

    def lesson(self, name: str) -> str:
        """Return the name of the lesson that replaces ``name``, or ``name``.

        >>> PICTURE.lesson("explain/words"), TEXT.lesson("explain/words")
        ('explain/words-picture', 'explain/words')
        """
        return self.variants.get(name, name)


TEXT = Reading(
    name="text",
    what=message("any text"),
    noun=message("sentence"),
    kind=message("text"),
    examples=_lines("examples.txt"),
    placeholder=message("Type a sentence"),
    takes_pair=True,
    takes_sentences=True,
)

FRENCH = Reading(
    name="french",
    what=message("a few hundred French words"),
    noun=message("sentence"),
    kind=message("text"),
    examples=_lines("examples-french.txt"),
    placeholder=message("Type a French sentence"),
    is_closed=True,
)

# Held-out pictures of digits, each with its label.
DIGITS: Mapping[str, str] = {picture: digit for digit, picture in map(str.split, _lines("digits.txt"))}

PICTURE = Reading(
    name="picture",
    what=message("pictures"),
    noun=message("picture"),
    kind=message("picture"),
    examples=tuple(DIGITS),
    example_names=tuple(DIGITS.values()),
    field="drawing",
    unit=message("patch"),
    units=message("patches"),
    label=message("Patch"),
    part=message("Patch embedding"),
    cut=message("Cut the picture into patches"),
    blank="0" * pixels.SIDE**2,
    invitation=message("Draw a digit or choose an example."),
    # Pictures have one size and no padding.
    masks=("none", "causal"),
    # The prediction is read off the first token.
    first_focus=_whole,
    is_laid_out=True,
    has_classes=True,
    has_pieces=False,
    has_sinks=False,
    recognises=pixels.is_picture,
    variants={
        "tokens/words": "tokens/words-picture",
        "embed/words": "embed/words-picture",
        "explain/words": "explain/words-picture",
        "train-one/yours-none": "train-one/yours-none-picture",
    },
)


def recognised(text: str) -> Reading:
    """Guess what kind of input a text is, if its model no longer exists."""
    return PICTURE if PICTURE.recognises(text) else TEXT
