"""Hostile links: for each kind of parameter, values that a page has to survive, and links made of them."""

import random
from collections.abc import Container, Iterator, Sequence

from attention.models import list_models
from attention.page.pages import FRONT, everything
from attention.page.parameters import (
    Answers,
    Cells,
    Choice,
    Context,
    Grid,
    Indices,
    Keys,
    Name,
    Number,
    Order,
    Parameter,
    Pins,
    Sorts,
    Spots,
    Text,
)

__all__ = ["INFOS", "PARAMETERS", "SECRET", "links", "one"]

# A word that occurs in no other text, so that leaks of the user's text can be found.
SECRET = "zyzzyvaquokka"
INFOS = {info.model_id: info for info in list_models()}
MATRICES = (
    *("queries", "keys", "values", "scores", "scaled", "masked", "weights", "outputs", "change", "joined", "inputs"),
    *("neuron", "compare", "memory", "turned", "contributions", "", SECRET, "__class__"),
)
NUMBERS = (
    *("0", "1", "2", "5", "7", "12", "30", "99", "511", "99999", "100000"),
    *("-1", "1.5", "²", "0x1", "1e3", "", " 1"),
)
TEXTS = (
    "",
    " ",
    SECRET,
    f"<script>{SECRET}</script>",
    "$$\\frac{1}{0}$$ `code` **bold** [a](b) :smile:",
    "\x00\x01\x7f\u202e\u200b\ufeff",
    "😀" * 40,
    "日本語のテキスト",
    "مرحبا بالعالم",
    f"{SECRET} " * 700,
    "a" * 3000,
    "0" * 64,
    "0123456789abcdef" * 4,
    "le chat noir dort",
    "[CLS] [SEP] [PAD] [MASK] <s> </s>",
    "!!! ... ???",
    "'; DROP TABLE models; --",
    "../../etc/passwd",
    "{0.__class__}%s%n",
)
JUNK = (SECRET, "", "0", "[CLS], [SEP]", "A-B", "aa", "../toy", "org/model", "TOY", "nan", "inf")
# Rows of painted cells, in hexadecimal.
ROWS = ("0", "1", "6", "1f", "ffffff", "1000000", "-1", "0x1", "1_0", "٣", "", "1e400")
TABLES = ("heads_table", "x", "", "A B", "<b>", "t" * 65, SECRET)
DIRECTIONS = ("up", "down", "down", "d", "", SECRET)


def cell(chance: random.Random) -> str:
    return "-".join((chance.choice(MATRICES), chance.choice(NUMBERS), chance.choice(NUMBERS)))


def numbers(chance: random.Random) -> str:
    return "-".join(chance.choice(NUMBERS) for _ in range(chance.randrange(4)))


def options(kind: Choice) -> list[str]:
    """The options of a choice for any model."""
    return [kind.write(option) for model in INFOS for option in kind.options(Context(INFOS, model))]


def said(parameter: Parameter, chance: random.Random) -> str:
    """A random value of a parameter, valid or hostile."""
    match parameter.kind:
        case Text() | Name():
            return chance.choice((*TEXTS, "toy"))
        case Choice():
            return chance.choice((*options(parameter.kind), *JUNK))
        case Number():
            return chance.choice(NUMBERS)
        case Cells():
            return cell(chance)
        case Grid():
            return ".".join(chance.choice((*ROWS, SECRET)) for _ in range(chance.randrange(30)))
        case Spots():
            return f"{chance.choice(('A', 'B', SECRET))}-{chance.choice(NUMBERS)}"
        case Indices():
            return numbers(chance)
        case Order():
            return chance.choice((numbers(chance), "2-1", "3-1-2", "1-2-3", "-".join(map(str, range(99, 0, -1)))))
        case Answers():
            return f"{chance.choice(('0a1b2c3d', SECRET, ''))}-{chance.choice(('show', numbers(chance)))}"
        case Keys():
            return ".".join(chance.sample(TABLES, chance.randrange(4)))
        case Sorts():
            orders = (f"{chance.choice(TABLES)}-{chance.choice(NUMBERS)}{chance.choice(DIRECTIONS)}" for _ in range(3))
            return ".".join(orders)
        case Pins():
            return f"{chance.choice(('query', 'key', SECRET))}-{numbers(chance)}"
    raise AssertionError(f"no hostile value is known of {parameter.kind}")


PARAMETERS = {parameter.name: parameter for parameter in everything(FRONT)}


def one(name: str, chance: random.Random) -> str:
    """Return a value for the parameter of a name, which need not exist."""
    return said(PARAMETERS[name], chance) if name in PARAMETERS else chance.choice(TEXTS)


def several(name: str, chance: random.Random) -> list[str]:
    """Return all options of a choice and something else, or three values of another parameter."""
    kind = PARAMETERS[name].kind
    if isinstance(kind, Choice):
        return [*dict.fromkeys(options(kind)), chance.choice(JUNK)]
    return [one(name, chance) for _ in range(3)]


def links(chance: random.Random, names: Sequence[str], thorough: Container[str] = ()) -> Iterator[dict[str, str]]:
    """Yield links with each parameter in turn, thorough ones with several values, and up to five others."""
    others = [*names, SECRET]
    for first in names:
        for value in several(first, chance) if first in thorough else [one(first, chance)]:
            some = {"step", *chance.sample(others, chance.randrange(6))} - {first}
            query = {name: one(name, chance) for name in sorted(some)} | {first: value}
            # Most on the toy, which is fast.
            yield query if "model" in query and chance.random() < 0.5 else {**query, "model": "toy"}
