"""No link raises, whatever it says: every page, every model, every parameter, alone and together with others."""

import random
from itertools import product

import pytest

from attention.models import list_models
from attention.pages import FRONT, MANY_SENTENCES, PAGES, STEP_BY_STEP, SYNTAX_CHECK, everything
from attention.parameters import (
    Answers,
    Cells,
    Choice,
    Context,
    Flag,
    Grid,
    Indices,
    Keys,
    Name,
    Number,
    Order,
    Pins,
    Sorts,
    Spots,
    Text,
)
from tests.sweep import sweep

# The two pages about many sentences read them before they show anything: fewer links do.
SLOW = {MANY_SENTENCES, SYNTAX_CHECK}
SECRET = "zyzzyvaquokka"
INFOS = {info.model_id: info for info in list_models()}
MATRICES = (
    *("queries", "keys", "values", "scores", "scaled", "masked", "weights", "outputs", "change", "joined", "inputs"),
    *("neuron", "compare", "memory", "turned", "contributions", "", SECRET, "__class__"),
)
NUMBERS = (
    "0",
    "1",
    "2",
    "5",
    "7",
    "12",
    "30",
    "99",
    "511",
    "99999",
    "100000",
    "-1",
    "1.5",
    "²",
    "0x1",
    "",
    "1e3",
    " 1",
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
FLAGS = ("0", "1", "1", "2", "", SECRET)


def cell(chance):
    return "-".join((chance.choice(MATRICES), chance.choice(NUMBERS), chance.choice(NUMBERS)))


def numbers(chance):
    return "-".join(chance.choice(NUMBERS) for _ in range(chance.randrange(4)))


def options(kind):
    """What a choice can be for any of the models."""
    return [kind.write(option) for model in INFOS for option in kind.options(Context(INFOS, model))]


def said(parameter, chance):
    """What a link may say of a parameter at its worst, and at its best."""
    match parameter.kind:
        case Text() | Name():
            return chance.choice((*TEXTS, "toy"))
        case Choice():
            return chance.choice((*options(parameter.kind), *JUNK))
        case Flag():
            return chance.choice(FLAGS)
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


def one(name, chance):
    return said(PARAMETERS[name], chance) if name in PARAMETERS else chance.choice(TEXTS)


def links(chance, n):
    """Return so many links: each parameter in turn, with up to five others."""
    names = [*PARAMETERS, SECRET]
    for number in range(n):
        some = {names[number % len(names)], "step", *chance.sample(names, chance.randrange(6))}
        query = {name: one(name, chance) for name in sorted(some)}
        # Most of them on the toy, which is quick.
        yield query if "model" in some and chance.random() < 0.5 else {**query, "model": "toy"}


def n_links(page, part):
    """Return how many links a part has; the first, which a quick run takes, has fewer."""
    if page in SLOW:
        return 4 if part == 0 else 16
    return len(PARAMETERS) if part == 0 else 92


def _named(value):
    return getattr(value, "title", None)


@pytest.mark.parametrize(
    ("page", "part"), sweep(product(PAGES, range(4)), quick=[(page, 0) for page in PAGES[::3]]), ids=_named
)
def test_no_link_raises_and_none_is_logged(open_page, few_sentences, page, part, capfd):
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    for query in links(chance, n_links(page, part)):
        shown = open_page(page.file, **query)
        assert shown.exceptions == [], (seed, page, query)
        # What an unknown name says is told as text, and every page goes on.
        assert shown.html, (seed, page, query)
    told = capfd.readouterr()
    assert SECRET not in told.out + told.err, seed


@pytest.mark.parametrize("model", INFOS)
@pytest.mark.parametrize(
    "page",
    sweep([page for page in PAGES if page not in SLOW], quick=[STEP_BY_STEP]),
    ids=lambda page: page.title,
)
def test_every_page_opens_with_every_model_where_every_parameter_is_hostile(open_page, page, model):
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    shown = open_page(page.file, **{**{name: one(name, chance) for name in PARAMETERS}, "model": model})
    assert shown.exceptions == [], seed
    assert shown.view.model == model


def test_there_are_more_than_two_thousand_links():
    assert sum(n_links(page, part) for page in PAGES for part in range(4)) > 2000
