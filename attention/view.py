"""What a person is looking at, as a link says it: every part of a view can be shared and comes back.

Layers, heads and words in a link count from 1, 1 and 0, as on the page; inside the program all count from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from attention import masks
from attention.figures.matrix import Cell
from attention.lesson.course import STEP_KEYS
from attention.lesson.survey import HIDE_NAMES, SORT_NAMES, Look, Sorting
from attention.masks import MaskName
from attention.text import clean, shorten
from attention.trace import ModelInfo, Token

__all__ = ["DEFAULT_TEXT", "Pane", "View", "default_word", "other_model", "same_word", "text_notice"]

T = TypeVar("T", bound=str)

DEFAULT_TEXT = "The cat sat on the mat"


@dataclass(frozen=True, slots=True)
class Pane:
    """Where one model is looked at: layer, head, and the cell that was clicked; None is the model's default."""

    layer: int | None = None
    head: int | None = None
    cell: Cell | None = None

    def layer_and_head(self, info: ModelInfo) -> tuple[int, int]:
        """Return the layer and the head, the model's defaults where none was chosen."""
        layer = info.default_layer if self.layer is None else self.layer
        head = info.default_head if self.head is None else self.head
        return layer, head


@dataclass(frozen=True, slots=True)
class View:
    """One view of one sentence; equal views have equal links."""

    text: str = DEFAULT_TEXT
    model: str = "minilm-l6"
    step: str = STEP_KEYS[0]
    mask: MaskName = "none"
    word: int | None = None
    pane: Pane = Pane()
    beside: bool = False
    other: Pane = Pane()
    sort: Sorting = "layer"
    look: Look = field(default_factory=Look)

    def with_text(self, text: str) -> Self:
        """Change the sentence: the word and the cells of the old one are let go."""
        return replace(self._without_cells(), text=shorten(clean(text))[0], word=None)

    def with_step(self, step: str) -> Self:
        """Go to another step; a clicked cell belongs to its step and is let go."""
        return self if step == self.step else replace(self._without_cells(), step=step)

    def with_model(self, model: str) -> Self:
        """Change the model: layers, heads and tokens of the old one are let go."""
        return self if model == self.model else replace(self, model=model, word=None, pane=Pane(), other=Pane())

    def with_word(self, word: int) -> Self:
        """Put another word in focus; the cells that were clicked belonged to the old one."""
        return replace(self._without_cells(), word=word)

    def to_query(self) -> dict[str, str]:
        """Return the parameters of the link; what is as by default is left out."""
        default = View()
        query = {
            name: getattr(self, name)
            for name in ("text", "model", "step", "mask", "sort")
            if getattr(self, name) != getattr(default, name)
        }
        if self.word is not None:
            query["word"] = str(self.word)
        if self.look.hide != default.look.hide:
            query["hide"] = self.look.hide
        flags = {"beside": self.beside, "words": self.look.words, "renormalise": self.look.renormalise}
        query |= {name: "1" for name, is_on in flags.items() if is_on}
        return query | _pane_query(self.pane, "") | _pane_query(self.other, "beside_")

    def _without_cells(self) -> Self:
        return replace(self, pane=replace(self.pane, cell=None), other=replace(self.other, cell=None))

    @classmethod
    def from_query(cls, query: Mapping[str, str], models: Mapping[str, ModelInfo]) -> tuple[Self, list[str]]:
        """Read a link; each parameter that makes no sense becomes the default, with a sentence that says so."""
        reader, default = _Reader(query), cls()
        model = reader.choice("model", tuple(models), default.model)
        text = query.get("text", DEFAULT_TEXT)
        notice = text_notice(text)
        if notice is not None:
            reader.notices.append(notice)
        view = cls(
            text=shorten(clean(text))[0],
            model=model,
            step=reader.choice("step", STEP_KEYS, default.step),
            mask=reader.choice("mask", masks.MASK_NAMES, default.mask),
            word=reader.count("word", 0, max(info.max_tokens for info in models.values()) - 1),
            pane=reader.pane("", models[model]),
            beside=reader.flag("beside"),
            other=reader.pane("beside_", models[other_model(model, models)]),
            sort=reader.choice("sort", SORT_NAMES, default.sort),
            look=Look(
                words=reader.flag("words"),
                hide=reader.choice("hide", HIDE_NAMES, default.look.hide),
                renormalise=reader.flag("renormalise"),
            ),
        )
        return view, reader.notices


def other_model(model: str, models: Mapping[str, ModelInfo]) -> str:
    """Return the model that stands beside this one: the toy, or beside the toy the first real one."""
    real = next(model_id for model_id in models if model_id != "toy")
    return real if model == "toy" else "toy"


def text_notice(text: str) -> str | None:
    """Return a sentence that says where a text too long for a link was cut; None if it was not."""
    cleaned = clean(text)
    kept, is_cut = shorten(cleaned)
    if not is_cut:
        return None
    return (
        f"The text has {len(cleaned):,} characters, and a link has room for {len(kept):,} of them: "
        f"it was cut after “…{kept[-20:]}”."
    )


def default_word(tokens: tuple[Token, ...]) -> int:
    """Return the position of the word in the middle of the sentence, where there is most to see."""
    starts = [token.position for token in tokens if token.word is not None and _starts_word(token, tokens)]
    return starts[(len(starts) - 1) // 2] if starts else 0


def same_word(position: int, tokens: tuple[Token, ...], others: tuple[Token, ...]) -> int:
    """Return where the word at this position is in another model's tokens, by the characters that it covers."""
    start = tokens[position].start
    if start is None:
        return default_word(others)
    before = [token.position for token in others if token.start is not None and token.start <= start]
    return before[-1] if before else default_word(others)


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
        self._complain(name, f"{default} is shown; it can be {', '.join(allowed)}")
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
        layer = self.count(f"{prefix}layer", 1, info.n_layers)
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

    def _complain(self, name: str, fallback: str) -> None:
        value = clean(self.query[name])
        shown = value if len(value) <= 30 else f"{value[:30]}…"
        self.notices.append(f"The link says {name}={shown}, which is not known here: {fallback}.")
