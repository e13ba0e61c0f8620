"""No link raises, whatever it says: every page, every parameter, alone and together with others."""

import random

import pytest

from attention.models import list_models
from tests.pages.conftest import ROOT
from tests.sweep import sweep

PAGES = ("app.py", *sorted(f"pages/{page.name}" for page in (ROOT / "pages").glob("*.py")))
# The two pages about many sentences read them all before they show anything: fewer links do.
SLOW = {"pages/many_sentences.py", "pages/syntax_check.py"}
SECRET = "zyzzyvaquokka"
MODELS = [info.model_id for info in list_models()]
STEPS = ("tokens", "embed", "qkv", "scores", "scale", "mask", "softmax", "sum", "heads")
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
WORDS = ("none", "causal", "padding", "encoder", "decoder", "cross", "all", "across", "nothing", "special", SECRET)


def cell(chance):
    return "-".join((chance.choice(MATRICES), chance.choice(NUMBERS), chance.choice(NUMBERS)))


def numbers(chance):
    return "-".join(chance.choice(NUMBERS) for _ in range(chance.randrange(4)))


# What each parameter may say at its worst, and at its best.
PARAMETERS = {
    "text": lambda chance: chance.choice(TEXTS),
    "pair": lambda chance: chance.choice(TEXTS),
    "versus": lambda chance: chance.choice(TEXTS),
    "model": lambda chance: chance.choice((*MODELS, *MODELS, "", SECRET, "../toy", "org/model", "TOY")),
    "part": lambda chance: chance.choice(WORDS),
    "step": lambda chance: chance.choice((*STEPS, *STEPS, SECRET)),
    "mask": lambda chance: chance.choice(WORDS),
    "word": lambda chance: chance.choice(NUMBERS),
    "cell": cell,
    "beside_cell": cell,
    "beside": lambda chance: chance.choice(("0", "1", "1", "2", "")),
    "sort": lambda chance: chance.choice(("layer", "entropy", "pattern", "similarity", "across", SECRET)),
    "hide": lambda chance: chance.choice((*WORDS, "[CLS], [SEP]", "punctuation")),
    "block": lambda chance: chance.choice((*WORDS, "A-B", "aa", "ab")),
    "least": lambda chance: chance.choice((*NUMBERS, "0.05", "0.1", "nan", "inf")),
    "on": numbers,
    "pins": lambda chance: f"{chance.choice(('query', 'key', SECRET))}-{numbers(chance)}",
    **dict.fromkeys(("layer", "head", "beside_layer", "beside_head"), lambda chance: chance.choice(NUMBERS)),
    **dict.fromkeys(("words", "renormalise", "mean"), lambda chance: chance.choice(("0", "1", "1", SECRET))),
    **dict.fromkeys(("get", SECRET, "relation", "example"), lambda chance: chance.choice((*TEXTS, "dobj", "toy"))),
}


def links(chance, n):
    """Return so many links: each parameter in turn, with up to five others."""
    for number in range(n):
        first = list(PARAMETERS)[number % len(PARAMETERS)]
        names = {first, "step", *chance.sample(list(PARAMETERS), chance.randrange(6))}
        query = {name: PARAMETERS[name](chance) for name in sorted(names)}
        # Most of them on the toy, which is quick.
        yield query if "model" in names and chance.random() < 0.5 else {**query, "model": "toy"}


def n_links(page, part):
    """Return how many links a part has; the first, which a quick run takes, has fewer."""
    if page in SLOW:
        return 4 if part == 0 else 16
    return len(PARAMETERS) if part == 0 else 92


@pytest.mark.parametrize("part", sweep(range(4), quick=[0]))
@pytest.mark.parametrize("page", PAGES)
def test_no_link_raises_and_none_is_logged(open_page, page, part, capfd):
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    for query in links(chance, n_links(page, part)):
        shown = open_page(page, **query)
        assert shown.exceptions == [], (seed, page, query)
        # What an unknown name says is told as text, and every page goes on.
        assert shown.html, (seed, page, query)
    told = capfd.readouterr()
    assert SECRET not in told.out + told.err, seed


def test_there_are_more_than_two_thousand_links():
    assert sum(n_links(page, part) for page in PAGES for part in range(4)) > 2000
