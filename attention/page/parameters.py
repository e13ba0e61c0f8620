"""The parameters of links, each declared once: its name, its values, their notation, and the parameters that it resets.

A parameter has a *kind*, which reads a string strictly, writes a value and describes the possible values. Bounds may
depend on the available models and on the chosen one (``Context``). Links, notices about invalid values and the state of
widgets all follow from the declarations in :mod:`attention.page.settings`.

Links count layers, heads and examples from 1, words and characters from 0; the program counts everything from 0.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar, get_args

from attention.core.messages import message
from attention.core.text import as_typed, clean
from attention.core.trace import ModelInfo
from attention.figures.head_view import Side
from attention.figures.matrix import Cell
from attention.figures.order import written as as_order
from attention.figures.question import MAX_PERCENT, SHOW, Answer
from attention.figures.table import Order as RowOrder
from attention.figures.table import read_order, written_order
from attention.measures.segments import SENTENCES

T = TypeVar("T")

MAX_PINS = 64  # pinned tokens in a link
MAX_DIGITS = 5  # digits of a number in a link
MAX_GIVEN = 16  # parts of an answer
_MARK = re.compile("[0-9a-f]{8}")
# Reordered tables and toggled folds in a link, and the columns of a table.
MAX_SORTED, MAX_TURNED, MAX_COLUMNS = 8, 16, 999
_KEY = re.compile("[a-zA-Z0-9_]{1,64}")
MAX_SHOWN = 60  # characters of an invalid value quoted in the notice


@dataclass(frozen=True, slots=True)
class Spot:
    """The start of a word, independent of a model's tokens: one of two texts, and a character offset."""

    segment: int
    start: int


@dataclass(frozen=True, slots=True)
class Context:
    """The available models by ID, and the ID of the chosen one: bounds depend on these."""

    models: Mapping[str, ModelInfo]
    model: str

    @property
    def info(self) -> ModelInfo:
        """The chosen model."""
        return self.models[self.model]

    @property
    def other(self) -> ModelInfo:
        """The model beside it."""
        return self.models[other_model(self.model, self.models)]


def other_model(model: str, models: Mapping[str, ModelInfo]) -> str:
    """Return the ID of the model beside this one: the first other model of the catalogue."""
    return next(model_id for model_id in models if model_id != model)


# ----------------------------------------------------------------------------------------- kinds


class Kind(ABC, Generic[T]):
    """A kind of value: how it is read, written and described."""

    __slots__ = ()

    # One or two values as written in a link.
    examples: ClassVar[tuple[str, ...]]

    def read(self, written: str, context: Context, /) -> T:
        """Read a value from a link.

        Raises:
            ValueError: it is not a value of this kind, or not possible in this context.
        """
        value = self.parse(written, context)
        if not self.fits(value, context):
            raise ValueError(written)
        return value

    @abstractmethod
    def parse(self, written: str, context: Context, /) -> T:
        """Read a value that may be out of bounds; raise ValueError if it is not one of this kind."""

    def write(self, value: T) -> str:
        """Return a value as written in a link, by default as it is; there is exactly one way to write each value."""
        return str(value)

    @abstractmethod
    def fits(self, value: object, context: Context, /) -> bool:
        """Return whether an arbitrary object, such as one sent by a browser, is a possible value in this context."""

    def can_be(self, context: Context, /) -> str:  # noqa: ARG002 - bounds may depend on it
        """Describe the possible values, in a clause that follows a semicolon; by default by examples."""
        if len(self.examples) == 1:
            return message("Example: {example}.", example=self.examples[0])
        return message("Examples: {example}, {other}.", example=self.examples[0], other=self.examples[1])

    def tidy(self, value: T) -> T:
        """Return a value in its stored form."""
        return value


@dataclass(frozen=True, slots=True)
class Choice(Kind[T]):
    """One of several options; if there are many, ``example`` describes them in the notice.

    If they are ``counted``, a link may also give an option's number, from 1.
    """

    options: Callable[[Context], tuple[T, ...]]
    example: str = ""
    written: Callable[[T], str] = str
    counted: bool = False

    def parse(self, written: str, context: Context) -> T:
        """Return the option with this notation or number."""
        for place, option in enumerate(self.options(context), 1):
            if written == self.written(option) or (self.counted and written == str(place)):
                return option
        raise ValueError(written)

    def write(self, value: T) -> str:
        """Write the option."""
        return self.written(value)

    def fits(self, value: object, context: Context) -> bool:
        """Return whether it is one of the options."""
        return any(type(value) is type(option) and value == option for option in self.options(context))

    def can_be(self, context: Context) -> str:
        """Name the options."""
        if self.example:
            return message("Example: {example}.", example=self.example)
        return message("Possible: {options}.", options=", ".join(map(self.written, self.options(context))))


FLAG = Choice(lambda _: (False, True), written=lambda is_on: str(int(is_on)))


@dataclass(frozen=True, slots=True)
class Number(Kind[int]):
    """The index of one of ``count`` consecutive things, counted from 0 here and from ``first`` in a link."""

    count: Callable[[Context], int]
    first: int = 0

    def parse(self, written: str, _: Context) -> int:
        """Read a number within the bounds."""
        return _digits(written) - self.first

    def write(self, value: int) -> str:
        """Write the number, counted as in a link."""
        return str(value + self.first)

    def fits(self, value: object, context: Context) -> bool:
        """Return whether the number is within the bounds."""
        return type(value) is int and 0 <= value < self.count(context)

    def can_be(self, context: Context) -> str:
        """Name the bounds."""
        return message("Possible: {first} to {last}.", first=self.first, last=self.count(context) - 1 + self.first)


@dataclass(frozen=True, slots=True)
class Text(Kind[str]):
    """A typed text, called ``noun`` in notices; all texts in a link share a limited length."""

    noun: str

    def parse(self, written: str, _: Context) -> str:
        """Read the text with its white space; every text is accepted."""
        return as_typed(written)

    def fits(self, value: object, _: Context) -> bool:
        """Return whether it is a text."""
        return isinstance(value, str)

    def can_be(self, _: Context) -> str:
        """Say that any text is accepted."""
        return message("Possible: any text.")

    def tidy(self, value: str) -> str:
        """Return the text with its white space, without control characters."""
        return as_typed(value)


@dataclass(frozen=True, slots=True)
class Name(Kind[str]):
    """A short name of something that need not exist."""

    most: int
    example: str

    def parse(self, written: str, _: Context) -> str:
        """Read a name that is not too long."""
        return clean(written)

    def fits(self, value: object, _: Context) -> bool:
        """Return whether it is a short enough text."""
        return isinstance(value, str) and len(value) <= self.most

    def can_be(self, _: Context) -> str:
        """Give the maximum length and an example."""
        return message("At most {n} characters, for example {example}.", n=self.most, example=self.example)

    def tidy(self, value: str) -> str:
        """Clean the name."""
        return clean(value)


@dataclass(frozen=True, slots=True)
class Cells(Kind[Cell]):
    """A cell of a matrix, by the matrix's name, the row and the column."""

    examples = ("scores-3-2",)

    def parse(self, written: str, _: Context) -> Cell:
        """Read the three parts."""
        name, *place = written.split("-")
        if len(place) != 2:
            raise ValueError(written)
        return Cell(name, *map(_digits, place))

    def write(self, value: Cell) -> str:
        """Write the three parts."""
        return f"{value.matrix}-{value.row}-{value.column}"

    def fits(self, value: object, _: Context) -> bool:
        """Return whether it is a cell; whether the matrix has it is known only once the matrix is computed."""
        return isinstance(value, Cell)


@dataclass(frozen=True, slots=True)
class Spots(Kind[Spot]):
    """A spot in one of two texts."""

    examples = ("A-8",)

    def parse(self, written: str, _: Context) -> Spot:
        """Read the sentence's letter and the character."""
        name, *start = written.split("-", 1)
        return Spot(SENTENCES.index(name), _digits("".join(start)))

    def write(self, value: Spot) -> str:
        """Write the sentence's letter and the character."""
        return f"{SENTENCES[value.segment]}-{value.start}"

    def fits(self, value: object, _: Context) -> bool:
        """Return whether it is a spot in one of the texts."""
        return isinstance(value, Spot) and 0 <= value.segment < len(SENTENCES)


@dataclass(frozen=True, slots=True)
class Grid(Kind[tuple[int, ...]]):
    """Some cells of a grid: one number per row, whose bit c stands for column c; empty rows at the end are dropped."""

    examples = ("0.6.1f",)

    most: int

    def parse(self, written: str, _: Context) -> tuple[int, ...]:
        """Read rows in hexadecimal, with points between them."""
        rows = tuple(int(row, 16) for row in written.split(".")) if written else ()
        if self.write(rows) != written:
            raise ValueError(written)
        return rows

    def write(self, value: tuple[int, ...]) -> str:
        """Write rows in hexadecimal, with points between them."""
        return ".".join(f"{row:x}" for row in value)

    def fits(self, value: object, _: Context) -> bool:
        """Return whether these are rows of such a grid, the last of them not empty."""
        if not isinstance(value, tuple) or len(value) > self.most or (value and value[-1] == 0):
            return False
        return all(type(row) is int and 0 <= row < 2**self.most for row in value)

    @staticmethod
    def of(rows: Iterable[int]) -> tuple[int, ...]:
        """Return these rows without empty ones at the end."""
        found = tuple(rows)
        return found[: max((place for place, row in enumerate(found, 1) if row), default=0)]

    @staticmethod
    def flipped(value: tuple[int, ...], row: int, column: int) -> tuple[int, ...]:
        """Return the cells with one toggled."""
        rows = [*value, *[0] * (row + 1 - len(value))]
        rows[row] ^= 1 << column
        return Grid.of(rows)


@dataclass(frozen=True, slots=True)
class Order(Kind[tuple[int, ...]]):
    """A permutation of at most ``most`` things: the index at each position, without the unmoved end."""

    examples = ("3-1-2",)

    most: int

    def parse(self, written: str, _: Context) -> tuple[int, ...]:
        """Read numbers separated by hyphens, counted from 1."""
        value = tuple(_digits(part) - 1 for part in written.split("-")) if written else ()
        if self.write(value) != written:
            raise ValueError(written)
        return value

    def write(self, value: tuple[int, ...]) -> str:
        """Write numbers separated by hyphens, counted from 1."""
        return as_order(value)

    def fits(self, value: object, _: Context) -> bool:
        """Return whether each index occurs once, and the last position has moved."""
        if not isinstance(value, tuple) or len(value) > self.most or not all(type(each) is int for each in value):
            return False
        return sorted(value) == list(range(len(value))) and (not value or value[-1] != len(value) - 1)


@dataclass(frozen=True, slots=True)
class Indices(Kind[tuple[int, ...]]):
    """The indices of some of ``count`` things, possibly none, ascending and distinct."""

    count: Callable[[Context], int]
    first: int = 1

    def parse(self, written: str, _: Context) -> tuple[int, ...]:
        """Read numbers separated by hyphens."""
        numbers = [_digits(part) - self.first for part in written.split("-")] if written else []
        return tuple(sorted(set(numbers)))

    def write(self, value: tuple[int, ...]) -> str:
        """Write the numbers, counted as in a link."""
        return "-".join(str(index + self.first) for index in value)

    def fits(self, value: object, context: Context) -> bool:
        """Return whether these are ascending numbers within the bounds."""
        count = self.count(context)
        return _are_ascending(value) and all(0 <= index < count for index in value)  # type: ignore[attr-defined]

    def can_be(self, context: Context) -> str:
        """Give an example and the bounds."""
        last = self.count(context) - 1 + self.first
        return message("Example: {example}, from {first} to {last}.", example="1-3", first=self.first, last=last)


@dataclass(frozen=True, slots=True)
class Pins(Kind[tuple[Side, tuple[int, ...]]]):
    """The pinned tokens in one of the head view's two columns."""

    examples = ("query-3-5", "key-1")

    def parse(self, written: str, _: Context) -> tuple[Side, tuple[int, ...]]:
        """Read the column and the positions."""
        name, *parts = written.split("-")
        positions = tuple(sorted(set(map(_digits, parts))))
        for side in get_args(Side):
            if side == name and positions:
                return side, positions[:MAX_PINS]
        raise ValueError(written)

    def write(self, value: tuple[Side, tuple[int, ...]]) -> str:
        """Write the column and the positions."""
        side, positions = value
        return "-".join((side, *map(str, positions)))

    def fits(self, value: object, _: Context) -> bool:
        """Return whether it is a column and ascending positions in it."""
        if not isinstance(value, tuple) or len(value) != 2:
            return False
        side, positions = value
        return side in get_args(Side) and bool(positions) and _are_ascending(positions)

    def tidy(self, value: tuple[Side, tuple[int, ...]]) -> tuple[Side, tuple[int, ...]]:
        """Keep no more than a link has room for."""
        side, positions = value
        return side, positions[:MAX_PINS]


@dataclass(frozen=True, slots=True)
class Answers(Kind[Answer]):
    """The answer to a question, which is identified by its mark."""

    examples = ("0a1b2c3d-2", "0a1b2c3d-show")

    def parse(self, written: str, _: Context) -> Answer:
        """Read the mark and the answer."""
        mark, *given = written.split("-")
        value = Answer(mark, () if given == [SHOW] else tuple(map(_digits, given)))
        if not given:
            raise ValueError(written)
        return value

    def write(self, value: Answer) -> str:
        """Write the mark and the answer."""
        return value.written()

    def fits(self, value: object, _: Context) -> bool:
        """Return whether it can be an answer; whether the question exists is known once it is asked."""
        return (
            isinstance(value, Answer)
            and _MARK.fullmatch(value.mark) is not None
            and len(value.given) <= MAX_GIVEN
            and all(type(each) is int and 0 <= each <= MAX_PERCENT for each in value.given)
        )


@dataclass(frozen=True, slots=True)
class Keys(Kind[tuple[str, ...]]):
    """The keys of some parts of a page, in alphabetical order."""

    examples = ("behind.rules",)

    def parse(self, written: str, _: Context) -> tuple[str, ...]:
        """Read keys with points between them."""
        return tuple(written.split(".")) if written else ()

    def write(self, value: tuple[str, ...]) -> str:
        """Write keys with points between them."""
        return ".".join(value)

    def fits(self, value: object, _: Context) -> bool:
        """Return whether these can be keys; whether the parts exist is known once the page is made."""
        if not isinstance(value, tuple) or len(value) > MAX_TURNED or not all(isinstance(key, str) for key in value):
            return False
        return list(value) == sorted(set(value)) and all(map(_KEY.fullmatch, value))

    @staticmethod
    def turned(value: tuple[str, ...], key: str, *, is_in: bool) -> tuple[str, ...]:
        """Return these keys with one added or removed."""
        others = [each for each in value if each != key][: MAX_TURNED - is_in]
        return tuple(sorted([*others, key] if is_in else others))


@dataclass(frozen=True, slots=True)
class Sorts(Kind[tuple[tuple[str, RowOrder], ...]]):
    """The sort orders of some tables: keys in alphabetical order, each with a column and a direction."""

    examples = ("heads_table-5down",)

    def parse(self, written: str, _: Context) -> tuple[tuple[str, RowOrder], ...]:
        """Read orders with points between them."""
        parts = (part.partition("-") for part in written.split(".")) if written else ()
        return tuple((table, read_order(order)) for table, _, order in parts)

    def write(self, value: tuple[tuple[str, RowOrder], ...]) -> str:
        """Write orders with points between them."""
        return ".".join(f"{table}-{written_order(order)}" for table, order in value)

    def fits(self, value: object, _: Context) -> bool:
        """Return whether these are such orders; whether the tables exist is known once the page is made."""
        if not isinstance(value, tuple) or len(value) > MAX_SORTED or not all(map(_is_order_of_one, value)):
            return False
        tables = [table for table, _ in value]
        return tables == sorted(set(tables)) and all(map(_KEY.fullmatch, tables))

    @staticmethod
    def with_value(
        value: tuple[tuple[str, RowOrder], ...], table: str, order: RowOrder | None
    ) -> tuple[tuple[str, RowOrder], ...]:
        """Return these orders with one table's replaced; None restores the original order."""
        others = {name: each for name, each in value if name != table}
        kept = dict(list(others.items())[: MAX_SORTED - 1])
        return tuple(sorted((kept if order is None else kept | {table: order}).items()))


def _is_order_of_one(value: object) -> bool:
    """Return whether a value is a table's key with a column and a direction."""
    match value:
        case (str(), (int(column), bool())):
            return not isinstance(column, bool) and 0 <= column < MAX_COLUMNS
    return False


def _are_ascending(value: object) -> bool:
    are_numbers = isinstance(value, tuple) and all(type(index) is int and index >= 0 for index in value)
    return are_numbers and value == tuple(sorted(set(value)))  # type: ignore[call-overload]


def _digits(written: str) -> int:
    if not (written.isascii() and written.isdigit() and len(written) <= MAX_DIGITS):
        raise ValueError(written)
    return int(written)


# ------------------------------------------------------------------------------------ parameters


class Values(Protocol):
    """A value for every parameter."""

    def __getitem__(self, parameter: Parameter[T], /) -> T:
        """Return the value of a parameter."""


def _always(_before: Values, _after: Values) -> bool:
    return True


def every_model(_: ModelInfo) -> bool:
    """Accept all models."""
    return True


# Each parameter is a singleton, compared by identity.
@dataclass(frozen=True, slots=True, eq=False)
class Parameter(Generic[T]):
    """Something that a user can set.

    ``default`` is its value until the user chooses one; None always means that nothing was chosen. A change of its
    value resets the parameters named in ``resets`` to their defaults, if ``when`` returns True for the values before
    and after. ``needs`` returns whether a model accepts the parameter. ``opening`` returns the value for a link that
    does not give one, if that depends on the model. ``otherwise`` names the replacement for an invalid value, if
    not the default. ``yields_to`` names the parameter that takes precedence if a link gives both.
    """

    name: str
    kind: Kind[Any]
    default: T
    resets: tuple[str, ...] = ()
    when: Callable[[Values, Values], bool] = _always
    needs: Callable[[ModelInfo], bool] = every_model
    opening: Callable[[ModelInfo], T] | None = None
    otherwise: str = ""
    yields_to: str = ""

    def opened(self, info: ModelInfo | None) -> T:
        """Return the value for a link to this model that does not give one; the default for an unknown model."""
        return self.default if self.opening is None or info is None else self.opening(info)

    def fits(self, value: object, context: Context) -> bool:
        """Return whether an arbitrary object is a possible value in this context."""
        if value is None or value == self.default:
            return value == self.default
        return self.kind.fits(value, context) and self.needs(context.info)

    def tidied(self, value: T) -> T:
        """Return a value in its stored form."""
        kept: T = self.default if value is None else self.kind.tidy(value)
        return kept

    def complain(self, written: str, context: Context) -> str:
        """Return the notice about an invalid value: the value, its replacement, and the possible values."""
        default = "" if self.default is None else self.kind.write(self.default)
        shown = message("Showing {value}.", value=default) if default else message("Showing the default.")
        told = message("Unknown in the link: {said}.", said=self._said(written))
        return f"{told} {self.otherwise or shown} {self.kind.can_be(context)}"

    def give_way(self, written: str) -> str:
        """Return the notice that another parameter of the link takes precedence."""
        return message(
            "The link has both {said} and {other}=; {other} applies.", said=self._said(written), other=self.yields_to
        )

    def _said(self, written: str) -> str:
        value = clean(written)
        return f"{self.name}={value if len(value) <= MAX_SHOWN else f'{value[:MAX_SHOWN]}…'}"


def _refuse(kind: Text, info: ModelInfo) -> str:
    return message("The link has a {noun}, which {name} does not take. It is left out.", noun=kind.noun, name=info.name)


def read(parameter: Parameter[T], query: Mapping[str, str], context: Context) -> tuple[T, str]:
    """Read a parameter from a link; an invalid value becomes the default, with a notice."""
    written, opened = query.get(parameter.name), parameter.opened(context.models.get(context.model))
    if written is None:
        return opened, ""
    if parameter.yields_to in query:
        return opened, parameter.give_way(written)
    try:
        value: T = parameter.tidied(parameter.kind.read(written, context))
    except ValueError:
        return opened, parameter.complain(written, context)
    if value != parameter.default and not parameter.needs(context.info):
        # Typed text is not dropped silently.
        return opened, _refuse(parameter.kind, context.info) if isinstance(parameter.kind, Text) else ""
    return value, ""
