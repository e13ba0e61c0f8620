"""What a person is looking at, as a link says it: every part of a view can be shared and comes back.

Layers, heads and words in a link count from 1, 1 and 0, as on the page, characters from 0 and examples from 1;
inside the program all count from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar, get_args

from attention import corpus
from attention.figures.head_view import THRESHOLDS, Side
from attention.figures.matrix import Cell
from attention.lesson import steps
from attention.lesson.survey import HIDE_NAMES, SORT_NAMES, Lines, Look, Sorting
from attention.masks import MaskName
from attention.models import bundled
from attention.reading import TEXT, Reading
from attention.segments import BLOCK_NAMES, SENTENCES, Block
from attention.text import clean, shorten
from attention.trace import PARTS, ModelInfo, Part, Token
from attention.words import is_punctuation

__all__ = [
    "DEFAULT_TEXT",
    "MAX_PINS",
    "Grammar",
    "Pane",
    "Spot",
    "View",
    "default_word",
    "masks_of",
    "other_model",
    "same_word",
    "spot_of",
    "text_notices",
    "word_at",
]

T = TypeVar("T", bound=str)

DEFAULT_TEXT = TEXT.first

# So many pinned tokens have room in a link.
MAX_PINS = 64

# The parts of a view that one page alone has, and which page that is: no other page's link says them.
_OWNERS = {"versus": "Compare", "grammar": "Syntax check"}

DEFAULT_MODEL = bundled.default().model_id


@dataclass(frozen=True, slots=True)
class Pane:
    """Where one model is looked at: layer, head, and the cell that was clicked; None is the model's default."""

    layer: int | None = None
    head: int | None = None
    cell: Cell | None = None

    def fitting(self, info: ModelInfo) -> Self:
        """Let go of a layer or a head that a model does not have, and of the cell that was opened there."""
        n_layers = max(info.n_layers, info.n_decoder_layers)
        fits = (self.layer or 0) < n_layers and (self.head or 0) < info.n_heads
        return self if fits else type(self)()

    def layer_and_head(self, info: ModelInfo) -> tuple[int, int]:
        """Return the layer and the head, the model's defaults where none was chosen."""
        layer = info.default_layer if self.layer is None else self.layer
        head = info.default_head if self.head is None else self.head
        return layer, head


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a word begins, whatever tokens a model makes of it: in which of two texts, and at which character."""

    segment: int
    start: int


@dataclass(frozen=True, slots=True)
class Grammar:
    """What is looked at of the treebank: a relation, a sentence by its number from 0, and whether rare relations are.

    Of a relation or a sentence that nobody has chosen, the page takes the first there is.
    """

    relation: str = ""
    example: int | None = None
    rare: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """One view of one sentence; equal views have equal links.

    ``pair`` is a second sentence that the model reads together with the first, ``versus`` one that it reads
    by itself, to be compared; None if nobody has chosen one yet. A link has room for all of them together.
    ``word`` is the word in focus by its place among the model's tokens. Where it was chosen among another
    model's, ``spot`` says where it is in the text. If both are None, nobody has chosen one.
    """

    text: str = DEFAULT_TEXT
    pair: str = ""
    versus: str | None = None
    model: str = DEFAULT_MODEL
    part: Part = "encoder"
    step: str = steps.STEPS[0].key
    mask: MaskName = "none"
    word: int | None = None
    spot: Spot | None = None
    pane: Pane = Pane()
    beside: bool = False
    other: Pane = Pane()
    sort: Sorting = "layer"
    look: Look = field(default_factory=Look)
    block: Block = "all"
    lines: Lines = field(default_factory=Lines)
    grammar: Grammar = Grammar()

    def with_text(self, text: str) -> Self:
        """Change the sentence: the word and the cells of the old one are let go."""
        return self._without_tokens()._with_sentences(text, self.pair, self.versus)

    def with_pair(self, pair: str) -> Self:
        """Change the second sentence of a pair: the word and the cells are let go, for other tokens follow."""
        return self._without_tokens()._with_sentences(self.text, pair, self.versus)

    def with_versus(self, versus: str | None) -> Self:
        """Change the sentence that is compared; the first one stays, and cells of the old comparison are let go."""
        return self._without_cells()._with_sentences(self.text, self.pair, versus)

    def with_step(self, step: str) -> Self:
        """Go to another step; a clicked cell belongs to its step and is let go."""
        return self if step == self.step else replace(self._without_cells(), step=step)

    def with_model(self, model: str, spot: Spot | None = None) -> Self:
        """Change the model: layers, heads and tokens of the old one are let go; ``spot`` is where its word was."""
        if model == self.model:
            return self
        lines = replace(self.lines, heads=None, pinned=None)
        return replace(self, model=model, part="encoder", word=None, spot=spot, pane=Pane(), other=Pane(), lines=lines)

    def fitting(self, info: ModelInfo, other: ModelInfo | None = None) -> Self:
        """Let go of what a model does not take: a mask, a use of attention, a second sentence, a model beside it.

        A layer and a head go where the model, or the ``other`` one beside it, has none such.
        """
        return replace(
            self,
            mask=self.mask if self.mask in masks_of(info) else "none",
            part=self.part if self.part in _parts_of(info) else "encoder",
            pair=self.pair if info.reading.takes_pair else "",
            beside=self.beside and info.reading.takes_sentences,
            pane=self.pane.fitting(info),
            other=self.other if other is None else self.other.fitting(other),
        )

    def with_mask(self, mask: MaskName, focus: Token | None = None) -> Self:
        """Change the mask; the token in focus stays, but for padding that is no longer there."""
        if mask == self.mask:
            return self
        # With padding or without it, the matrices are of other sizes.
        view = self._without_cells() if "padding" in (mask, self.mask) else self
        is_gone = focus is not None and focus.is_padding
        return replace(view, mask=mask, word=None if is_gone else view.word)

    def with_part(self, part: Part) -> Self:
        """Look at another use of attention: word, layer, head and cells were those of other tokens."""
        return self if part == self.part else replace(self._without_tokens(), part=part, pane=Pane())

    def with_word(self, word: int) -> Self:
        """Put another word in focus; the cells that were clicked belonged to the old one."""
        return replace(self._without_cells(), word=word, spot=None)

    def with_pane(self, pane: Pane) -> Self:
        """Change layer, head or cell; of another head, the lines are shown of it alone."""
        is_same = (pane.layer, pane.head) == (self.pane.layer, self.pane.head)
        return replace(self, pane=pane, lines=self.lines if is_same else replace(self.lines, heads=None))

    def with_look(self, look: Look) -> Self:
        """Look at the weights in another way; what is pinned among tokens is not where it was among words."""
        is_same = look.words == self.look.words
        return replace(self, look=look, lines=self.lines if is_same else replace(self.lines, pinned=None))

    def shown_on(self, page: str, kept: Self | None = None) -> Self:
        """Return the view as a page has it, without what belongs to other pages.

        What belongs to this page alone, and is not chosen, is as it was in ``kept``.
        """
        default = View()
        found = {name: getattr(default, name) for name in _OWNERS}
        for name in _owned_by(page):
            is_chosen = kept is None or getattr(self, name) != found[name]
            found[name] = getattr(self if is_chosen else kept, name)
        return replace(self, **found)

    def keeping(self, kept: Self, page: str) -> Self:
        """Return the view with what belongs to other pages than this one as it was in ``kept``, unless it is chosen."""
        default = View()
        others = [name for name in _OWNERS.keys() - _owned_by(page) if getattr(self, name) == getattr(default, name)]
        return replace(self, **{name: getattr(kept, name) for name in others})

    def to_query(self) -> dict[str, str]:
        """Return the parameters of the link; what is as by default is left out."""
        default = View()
        query = {} if self.text == _first_text(self.model) else {"text": self.text}
        query |= {
            name: getattr(self, name)
            for name in ("pair", "model", "part", "step", "mask", "sort", "block")
            if getattr(self, name) != getattr(default, name)
        }
        if self.versus is not None:
            query["versus"] = self.versus
        if self.word is not None:
            query["word"] = str(self.word)
        if self.spot is not None:
            query["at"] = f"{SENTENCES[self.spot.segment]}-{self.spot.start}"
        if self.look.hide != default.look.hide:
            query["hide"] = self.look.hide
        flags = {
            "beside": self.beside,
            "words": self.look.words,
            "renormalise": self.look.renormalise,
            "mean": self.lines.mean,
            "rare": self.grammar.rare,
        }
        query |= {name: "1" for name, is_on in flags.items() if is_on}
        query |= _pane_query(self.pane, "") | _pane_query(self.other, "beside_") | _lines_query(self.lines)
        return query | _grammar_query(self.grammar)

    def _without_tokens(self) -> Self:
        """Let go of all that belongs to the tokens of a text."""
        return replace(self._without_cells(), word=None, spot=None, lines=replace(self.lines, pinned=None))

    def _without_cells(self) -> Self:
        return replace(self, pane=replace(self.pane, cell=None), other=replace(self.other, cell=None))

    def _with_sentences(self, text: str, pair: str, versus: str | None) -> Self:
        """Take three sentences, each with the room that those before it leave in a link."""
        text = shorten(clean(text))[0]
        pair = _kept(clean(pair), text)
        return replace(self, text=text, pair=pair, versus=None if versus is None else _kept(clean(versus), text + pair))

    @classmethod
    def from_query(cls, query: Mapping[str, str], models: Mapping[str, ModelInfo]) -> tuple[Self, list[str]]:
        """Read a link; each parameter that makes no sense becomes the default, with a sentence that says so."""
        reader, default = _Reader(query), cls()
        model = reader.model(models, default.model)
        info = models[model]
        sentences = query.get("text", info.reading.first), query.get("pair", ""), query.get("versus")
        reader.notices += text_notices(*sentences)
        view = cls(
            model=model,
            part=reader.choice("part", _parts_of(info), default.part),
            step=reader.choice("step", steps.keys(), default.step),
            mask=reader.choice("mask", masks_of(info), default.mask),
            word=reader.count("word", 0, max(info.max_tokens for info in models.values()) - 1),
            spot=reader.spot(),
            pane=reader.pane("", info),
            beside=reader.flag("beside"),
            other=reader.pane("beside_", models[other_model(model, models)]),
            sort=reader.choice("sort", SORT_NAMES, default.sort),
            look=Look(
                words=reader.flag("words"),
                hide=reader.choice("hide", HIDE_NAMES, default.look.hide),
                renormalise=reader.flag("renormalise"),
            ),
            block=reader.choice("block", BLOCK_NAMES, default.block),
            lines=reader.lines(info),
            grammar=reader.grammar(),
        )
        view = view._with_sentences(*sentences)
        if view.pair and not view.fitting(info).pair:
            reader.notices.append(f"The link has a second sentence, which {info.name} does not take: it is left out.")
        return view.fitting(info), reader.notices


def other_model(model: str, models: Mapping[str, ModelInfo]) -> str:
    """Return the model that stands beside this one: the first of the catalogue, or the second beside the first."""
    return next(model_id for model_id in models if model_id != model)


def _first_text(model: str) -> str:
    """Return what a model reads if nobody has chosen anything, which a link to one of the project need not say."""
    entry = bundled.find(model)
    return DEFAULT_TEXT if entry is None else entry.info.reading.first


def masks_of(info: ModelInfo) -> tuple[MaskName, ...]:
    """Return the masks that a model can be run with."""
    return info.reading.masks


def _parts_of(info: ModelInfo) -> tuple[Part, ...]:
    return info.parts or PARTS[:1]


def _owned_by(page: str) -> set[str]:
    return {name for name, owner in _OWNERS.items() if owner == page}


def text_notices(text: str, pair: str = "", versus: str | None = None) -> list[str]:
    """Return a sentence for each text that was cut because a link has no room for it: where, or that none is left."""
    found, before = [], ""
    for name, sentence in (("text", text), ("second sentence", pair), ("sentence to compare", versus or "")):
        cleaned = clean(sentence)
        kept = _kept(cleaned, before)
        before += kept
        if len(kept) < len(cleaned):
            end = f"it was cut after “…{kept[-20:]}”" if kept else "it was left out"
            found.append(
                f"The {name} has {len(cleaned):,} characters, and a link has room for {len(kept):,} of them: {end}."
            )
    return found


def _kept(cleaned: str, before: str) -> str:
    """Cut a cleaned text to the room that the texts before it leave in a link."""
    return shorten(before + cleaned)[0][len(before) :]


def default_word(tokens: tuple[Token, ...], reading: Reading = TEXT) -> int:
    """Return the position of the word that is in focus first, of those of the (first) sentence."""
    starts = [token for token in tokens if token.word is not None and not token.segment and _starts_word(token, tokens)]
    # A text of nothing but punctuation marks has one of them in focus.
    words = [token for token in starts if not is_punctuation(token)] or starts
    return reading.first_focus([token.position for token in words])


def same_word(position: int, tokens: tuple[Token, ...], others: tuple[Token, ...]) -> int:
    """Return where the word at this position is in another model's tokens, by the characters that it covers."""
    spot = spot_of(tokens[position])
    return default_word(others) if spot is None else word_at(spot, others)


def spot_of(token: Token) -> Spot | None:
    """Return where in the text a token begins; None if it covers no characters, as [CLS]."""
    return None if token.start is None else Spot(token.segment, token.start)


def word_at(spot: Spot, tokens: tuple[Token, ...]) -> int:
    """Return the position of the token that covers a spot of the text, or is the last before it."""
    before = [
        token.position
        for token in tokens
        if token.segment == spot.segment and token.start is not None and token.start <= spot.start
    ]
    return before[-1] if before else default_word(tokens)


def _starts_word(token: Token, tokens: tuple[Token, ...]) -> bool:
    return token.position == 0 or tokens[token.position - 1].word != token.word


def _pane_query(pane: Pane, prefix: str) -> dict[str, str]:
    query = {}
    if pane.layer is not None:
        query[f"{prefix}layer"] = str(pane.layer + 1)
    if pane.head is not None:
        query[f"{prefix}head"] = str(pane.head + 1)
    if pane.cell is not None:
        query[f"{prefix}cell"] = f"{pane.cell.matrix}-{pane.cell.row}-{pane.cell.column}"
    return query


def _lines_query(lines: Lines) -> dict[str, str]:
    query = {}
    if lines.heads is not None:
        query["on"] = "-".join(str(head + 1) for head in lines.heads)
    if lines.threshold is not None:
        query["least"] = f"{lines.threshold:g}"
    if lines.pinned is not None:
        side, positions = lines.pinned
        query["pins"] = "-".join((side, *map(str, positions)))
    return query


def _grammar_query(grammar: Grammar) -> dict[str, str]:
    query = {"relation": grammar.relation} if grammar.relation else {}
    if grammar.example is not None:
        query["example"] = str(grammar.example + 1)
    return query


def _indices(parts: list[str]) -> tuple[int, ...] | None:
    """Read numbers in order, each once; None if one of them is none."""
    if not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts):
        return None
    return tuple(sorted(set(map(int, parts))))


def _shortly(value: str, limit: int = 96) -> str:
    return value if len(value) <= limit else f"{value[:limit]}…"


class _Reader:
    """Reads parameters one by one and collects a sentence for each bad one."""

    def __init__(self, query: Mapping[str, str]) -> None:
        self.query = query
        self.notices: list[str] = []

    def choice(self, name: str, allowed: tuple[T, ...], default: T) -> T:
        value = self.query.get(name, default)
        for option in allowed:
            if option == value:
                return option
        self._complain(name, f"{default or 'the default'} is shown; it can be {', '.join(filter(None, allowed))}")
        return default

    def model(self, models: Mapping[str, ModelInfo], default: str) -> str:
        wanted = self.query.get("model", default)
        if wanted in models:
            return wanted
        self.notices.append(
            f"The link says model={_shortly(clean(wanted))}, which is not here: {default} is shown; "
            f"here are {', '.join(models)}."
        )
        return default

    def flag(self, name: str) -> bool:
        return self.choice(name, ("0", "1"), "0") == "1"

    def count(self, name: str, low: int, high: int) -> int | None:
        value = self.query.get(name)
        if value is None:
            return None
        if value.isascii() and value.isdigit() and len(value) < 6 and low <= int(value) <= high:
            return int(value)
        self._complain(name, f"the default is shown; it can be {low} to {high}")
        return None

    def pane(self, prefix: str, info: ModelInfo) -> Pane:
        layer = self.count(f"{prefix}layer", 1, max(info.n_layers, info.n_decoder_layers))
        head = self.count(f"{prefix}head", 1, info.n_heads)
        return Pane(
            None if layer is None else layer - 1,
            None if head is None else head - 1,
            self._cell(f"{prefix}cell"),
        )

    def _cell(self, name: str) -> Cell | None:
        value = self.query.get(name)
        if value is None:
            return None
        parts = value.split("-")
        if len(parts) == 3 and all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts[1:]):
            return Cell(parts[0], int(parts[1]), int(parts[2]))
        self._complain(name, "no cell is opened; it looks like scores-3-2")
        return None

    def spot(self) -> Spot | None:
        value = self.query.get("at")
        if value is None:
            return None
        name, _, start = value.partition("-")
        if "word" in self.query:
            self._complain("at", "word= says which word is in focus")
        elif name in SENTENCES and start.isascii() and start.isdigit() and len(start) < 6:
            return Spot(SENTENCES.index(name), int(start))
        else:
            self._complain("at", "the default is shown; it looks like A-8")
        return None

    def grammar(self) -> Grammar:
        relation, treebank = self.query.get("relation", ""), corpus.annotated()
        if relation and not any(relation in sentence.relations for sentence in treebank):
            self._complain("relation", "the default is shown; it looks like dobj or nsubj")
            relation = ""
        example = self.count("example", 1, len(treebank))
        return Grammar(relation, None if example is None else example - 1, self.flag("rare"))

    def lines(self, info: ModelInfo) -> Lines:
        least = ("", *(f"{threshold:g}" for threshold in THRESHOLDS))
        chosen = self.choice("least", least, "")
        return Lines(
            heads=self._heads_on(info.n_heads),
            threshold=float(chosen) if chosen else None,
            pinned=self._pins(),
            mean=self.flag("mean"),
        )

    def _heads_on(self, n_heads: int) -> tuple[int, ...] | None:
        value = self.query.get("on")
        if value is None:
            return None
        heads = _indices(value.split("-")) if value else ()
        if heads is not None and all(1 <= head <= n_heads for head in heads):
            return tuple(head - 1 for head in heads)
        self._complain("on", f"the head that is chosen is on; it looks like 1-3, from 1 to {n_heads}")
        return None

    def _pins(self) -> tuple[Side, tuple[int, ...]] | None:
        value = self.query.get("pins")
        if value is None:
            return None
        name, *parts = value.split("-")
        positions = _indices(parts)
        for side in get_args(Side):
            if side == name and positions:
                return side, positions[:MAX_PINS]
        self._complain("pins", "nothing is pinned; it looks like query-3-5 or key-1")
        return None

    def _complain(self, name: str, fallback: str) -> None:
        shown = _shortly(clean(self.query[name]), 30)
        self.notices.append(f"The link says {name}={shown}, which is not known here: {fallback}.")
