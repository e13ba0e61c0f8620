"""A view: the user's settings on a page, in the form of a link, so that every part can be shared and restored.

The parameters are declared in :mod:`attention.page.settings`, and assigned to pages in :mod:`attention.page.pages`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from attention.core.masks import MaskName
from attention.core.messages import message
from attention.core.text import as_typed, is_altered, last_words, shorten
from attention.core.trace import Part, Token
from attention.figures.atlas import WHOLE
from attention.figures.matrix import Cell
from attention.figures.table import Order as RowOrder
from attention.lesson.initial_selection import first_place
from attention.lesson.survey import Lines, Look
from attention.models import ModelInfo, bundled
from attention.page import settings
from attention.page.blocks import Arranged
from attention.page.page import Page
from attention.page.pages import FRONT, PAGES, everything
from attention.page.parameters import Context, Parameter, Spot, Text, read

T = TypeVar("T")

# The matrices that only one page draws.
_PAGE_OF_MATRIX = {page.matrix: page for page in PAGES if page.matrix}


@dataclass(frozen=True, slots=True)
class Place:
    """The layer, head and cell in view of one model; None if not chosen."""

    layer: int | None = None
    head: int | None = None
    cell: Cell | None = None

    def layer_and_head(self, info: ModelInfo, text: str) -> tuple[int, int]:
        """Return the layer and head: those chosen, the model's default beside a chosen one, or the text's opening."""
        if self.layer is None and self.head is None:
            return first_place(info, text)
        layer = info.default_layer if self.layer is None else self.layer
        head = info.default_head if self.head is None else self.head
        return layer, head


@dataclass(frozen=True, slots=True)
class View:
    """A page and a value for every parameter; ``chosen`` has, by name, those that differ from the default.

    A view may also hold the parameters of other pages, so that they are still set when the user returns there;
    ``shown`` and links leave them out. Views that show the same have equal links.
    """

    page: Page = FRONT
    chosen: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, page: Page = FRONT, **values: Any) -> Self:
        """Return a view with these values, by parameter name; nothing is reset.

        Raises:
            TypeError: a name is not a parameter's.
        """
        known = {parameter.name: parameter for parameter in everything(page)}
        unknown = values.keys() - known
        if unknown:
            raise TypeError(f"no parameter is named {', '.join(sorted(unknown))}")
        view = cls(page)
        for name, value in values.items():
            view = view.replaced(known[name], value)
        return view

    # ------------------------------------------------------------------------------ values

    def __getitem__(self, parameter: Parameter[T]) -> T:
        """Return the value of a parameter."""
        value: T = self.chosen.get(parameter.name, parameter.default)
        return value

    @property
    def text(self) -> str:
        """The sentence or the picture."""
        return self[settings.TEXT]

    @property
    def pair(self) -> str:
        """A second sentence that the model reads with the first, or the text that its decoder writes."""
        return self[settings.PAIR]

    @property
    def versus(self) -> str | None:
        """A sentence to compare; None until the user chooses one."""
        return self[settings.VERSUS]

    @property
    def model(self) -> str:
        """The ID of the model."""
        return self[settings.MODEL]

    @property
    def part(self) -> Part:
        """The part of the model in view."""
        return self[settings.PART]

    @property
    def step(self) -> str:
        """The key of the step."""
        return self[settings.STEP]

    @property
    def mask(self) -> MaskName:
        """The name of the mask."""
        return self[settings.MASK]

    @property
    def word(self) -> int | None:
        """The word in focus, by its token position; if ``spot`` is None too, none was chosen."""
        return self[settings.WORD]

    @property
    def spot(self) -> Spot | None:
        """The spot of a word in focus that was chosen among another model's tokens."""
        return self[settings.AT]

    @property
    def beside(self) -> bool:
        """Whether a second model stands beside the first."""
        return self[settings.BESIDE]

    @property
    def pane(self) -> Place:
        """The layer, head and cell in view of the first model."""
        return self.place(settings.MAIN)

    def place(self, pane: settings.OfPane) -> Place:
        """Return the layer, head and cell of one of the two models."""
        return Place(self[pane.layer], self[pane.head], self[pane.cell])

    @property
    def arranged(self) -> Arranged:
        """The reader's arrangement of the page: sort orders of tables, and toggled folds."""
        orders: tuple[tuple[str, RowOrder], ...] = self[settings.ROWS]
        turned: tuple[str, ...] = self[settings.OPEN]
        return Arranged(dict(orders), frozenset(turned))

    @property
    def zoom(self) -> int:
        """The zoom of the atlas, in per cent."""
        return WHOLE + self[settings.ZOOM]

    @property
    def look(self) -> Look:
        """How weights are shown: for tokens or words, and which of them are hidden."""
        return Look(self[settings.WORDS], self[settings.HIDE], self[settings.RENORMALISE])

    @property
    def lines(self) -> Lines:
        """The settings of the head view."""
        return Lines(self[settings.ON], self[settings.LEAST], self[settings.PINS], self[settings.MEAN])

    # --------------------------------------------------------------------------- changes

    def with_value(self, parameter: Parameter[T], value: T) -> Self:
        """Choose a value; a new one resets the parameters declared in ``resets``."""
        after = self.replaced(parameter, value)
        is_same = after[parameter] == self[parameter]
        return after if is_same or not parameter.when(self, after) else after._without(parameter.resets)

    def replaced(self, parameter: Parameter[T], value: T) -> Self:
        """Return the view with this value and all others unchanged."""
        value = parameter.tidied(value)
        chosen = {name: each for name, each in self.chosen.items() if name != parameter.name}
        if value != parameter.default:
            chosen[parameter.name] = value
        view = replace(self, chosen=chosen)
        return view._with_room() if isinstance(parameter.kind, Text) else view

    def without(self, *parameters: Parameter[Any]) -> Self:
        """Return the view with these parameters at their defaults."""
        return self._without([parameter.name for parameter in parameters])

    def valid_for(self, context: Context) -> Self:
        """Drop settings that the models do not accept: a mask, a second sentence, a layer."""
        return self.without(*(each for each in self.page.parameters if not each.fits(self[each], context)))

    def for_page(self, page: Page) -> Self:
        """Return the view on another page, without answers, and without a cell that the page does not draw."""
        view = replace(self, page=page)
        if page is not self.page:
            # Pages differ in their questions, tables and folds.
            view = view.without(settings.ANSWER, settings.ROWS, settings.OPEN)
        cell = self[settings.CELL]
        is_foreign = cell is not None and _PAGE_OF_MATRIX.get(cell.matrix, page) is not page
        return view.without(settings.CELL) if is_foreign else view

    def shown(self) -> Self:
        """Return the view without the parameters that only other pages have."""
        names = {parameter.name for parameter in self.page.parameters}
        return replace(self, chosen={name: value for name, value in self.chosen.items() if name in names})

    def carry_over(self, before: Self) -> Self:
        """Return the view with the parameters of other pages as they were before, unless they are chosen here.

        Parameters that a change has reset since, such as tokens pinned in another text, stay reset.
        """
        kept = before
        for parameter in self.page.parameters:
            kept = kept.with_value(parameter, self[parameter])
        here = {parameter.name for parameter in self.page.parameters}
        others = {name: value for name, value in kept.chosen.items() if name not in here}
        return replace(self, chosen={**others, **self.chosen})

    def _without(self, names: Iterable[str]) -> Self:
        gone = set(names)
        return replace(self, chosen={name: value for name, value in self.chosen.items() if name not in gone})

    def _texts(self) -> list[tuple[Parameter[Any], Text]]:
        each = ((parameter, parameter.kind) for parameter in self.page.parameters)
        return [(parameter, kind) for parameter, kind in each if isinstance(kind, Text)]

    def _with_room(self) -> Self:
        """Cut each text to the room in a link that the texts before it leave."""
        chosen, before = dict(self.chosen), ""
        for parameter, _ in self._texts():
            kept = _kept(self[parameter] or "", before)
            before += kept
            if kept != (self[parameter] or ""):
                chosen[parameter.name] = kept
            if chosen.get(parameter.name) == parameter.default:
                chosen.pop(parameter.name, None)
        return replace(self, chosen=chosen)

    # --------------------------------------------------------------------------------- links

    def to_query(self) -> dict[str, str]:
        """Return the parameters of the link; defaults are left out."""
        # A link to a bundled model omits that model's opening values.
        entry = bundled.find(self.model)
        info = None if entry is None else entry.info
        return {
            parameter.name: parameter.kind.write(value)
            for parameter in self.page.parameters
            if (value := self[parameter]) is not None and value != parameter.opened(info)
        }

    @classmethod
    def from_query(
        cls, query: Mapping[str, str], page: Page, models: Mapping[str, ModelInfo]
    ) -> tuple[Self, list[str]]:
        """Read a link to a page, with other pages' parameters; an invalid value becomes the default, with a notice."""
        # Other parameters' bounds depend on the model.
        model, notice = read(settings.MODEL, query, Context(models, settings.MODEL.default))
        context, chosen, notices = Context(models, model), {}, [notice]
        for parameter in everything(page):
            if parameter is settings.MODEL:
                value = model
            else:
                value, notice = read(parameter, query, context)
                notices.append(notice)
            if value != parameter.default:
                chosen[parameter.name] = value
        view = cls(page, chosen)
        taken = {
            each.name: query[each.name] for each in page.parameters if each.name in query and each.needs(context.info)
        }
        return view._with_room(), [*view.notices(taken), *filter(None, notices)]

    def notices(self, typed: Mapping[str, str | None]) -> list[str]:
        """Return a sentence for each text that a link alters, because it is too long or has control characters.

        ``typed`` has texts by parameter name; for others, the view's own are used.
        """
        found, before = [], ""
        for parameter, kind in self._texts():
            text = typed.get(parameter.name, self[parameter]) or ""
            cleaned = as_typed(text)
            kept = _kept(cleaned, before)
            before += kept
            if len(kept) < len(cleaned):
                found.append(_cut(kind.noun, cleaned, kept))
            if kept and is_altered(text):
                found.append(_altered(kind.noun))
        return found


def _altered(noun: str) -> str:
    return message("The {noun} has invalid, control or direction characters; the model does not read them.", noun=noun)


def _cut(noun: str, cleaned: str, kept: str) -> str:
    facts: dict[str, str | float] = {"noun": noun, "all": f"{len(cleaned):,}", "room": f"{len(kept):,}"}
    if not kept:
        return message("The {noun} has {all} characters; a link has room for {room}, so it was left out.", **facts)
    return message(
        "The {noun} has {all} characters; a link has room for {room}, so it was cut after “{end}”.",
        end=last_words(kept),
        **facts,
    )


def _kept(cleaned: str, before: str) -> str:
    return shorten(before + cleaned)[0][len(before) :]


def same_word(position: int, tokens: tuple[Token, ...], others: tuple[Token, ...]) -> int | None:
    """Return the position of the same word among another model's tokens, by its spot in the text.

    None if it covers no characters, or the other model did not read that text.
    """
    spot = spot_of(tokens[position])
    return None if spot is None else word_at(spot, others)


def spot_of(token: Token) -> Spot | None:
    """Return where in the text a token begins; None if it covers no characters, like [CLS]."""
    return None if token.start is None else Spot(token.segment, token.start)


def word_at(spot: Spot, tokens: tuple[Token, ...]) -> int | None:
    """Return the position of the last token that begins at or before a spot in the text; None if there is none."""
    before = [
        token.position
        for token in tokens
        if token.segment == spot.segment and token.start is not None and token.start <= spot.start
    ]
    return before[-1] if before else None
