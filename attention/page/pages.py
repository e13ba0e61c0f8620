"""All pages, in groups: title, address, purpose, and the parameters of their own.

The navigation, the links between pages, the table in docs/pages.md and the tests over all pages come from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, get_args

from attention.core.messages import message
from attention.figures.neuron import NEURON
from attention.lesson.compare import COMPARE as COMPARED
from attention.page import settings
from attention.page.labs import LABS, Lab
from attention.page.page import Group, Page
from attention.page.parameters import Parameter

GROUP_TITLES: Mapping[Group, str] = {
    "Learn": message("Learn"),
    "Explore": message("Explore"),
    "Labs": message("Labs"),
    "Class": message("Class"),
}


FRONT = Page(
    "",
    message("What this is"),
    "Learn",
    message("A pronoun looks for its noun: guess first, press words, type your own sentence."),
    own=(settings.LINKS, settings.GUESS, settings.FIRST_ANSWER),
    tab=message("See attention"),
)
STEP_BY_STEP = Page(
    "step_by_step",
    message("Step by step"),
    "Learn",
    message("The nine steps of attention on your sentence, with formula, numbers and code."),
    own=(
        settings.MAIN.panel,
        settings.OTHER.panel,
        settings.MAIN.table,
        settings.OTHER.table,
        settings.SAVINGS,
        settings.SIZES,
        settings.FACTORS,
        settings.WHY,
        settings.NEXT,
        settings.MAP,
        settings.GUESS,
        settings.ANSWER,
        settings.PRESENT,
        settings.PLAIN,
        settings.ROWS,
    ),
    minutes=10,
)
ALL_HEADS = Page(
    "all_heads",
    message("All heads"),
    "Explore",
    message("Every head of every layer on your sentence, and what each does."),
    own=(
        settings.SORT,
        settings.ZOOM,
        settings.WORDS,
        settings.HIDE,
        settings.RENORMALISE,
        settings.LOOKS,
        settings.BLOCK,
        settings.LEAST,
        settings.ON,
        settings.PINS,
        settings.MEAN,
        settings.ROWS,
    ),
    minutes=5,
)
NEURON_VIEW = Page(
    "neuron_view",
    message("Neuron view"),
    "Explore",
    message("One query times every key, number by number."),
    matrix=NEURON,
    minutes=3,
)
COMPARE = Page(
    "compare",
    message("Compare"),
    "Explore",
    message("Two sentences in one head, or two models on one sentence, and the difference."),
    own=(settings.VERSUS, settings.GUESS, settings.ANSWER),
    is_for=settings.takes_sentences,
    matrix=COMPARED,
    minutes=5,
)
MANY_SENTENCES = Page(
    "many_sentences",
    message("Many sentences"),
    "Explore",
    message("What every head does on average over 500 sentences, or over your own file."),
    own=(settings.FILE, settings.ALIGNMENT, settings.ZOOM, settings.HOLD, settings.ROWS),
    is_for=settings.has_all_layers,
    minutes=5,
)
SYNTAX_CHECK = Page(
    "syntax_check",
    message("Syntax check"),
    "Explore",
    message("Which head finds a word's grammatical head, and how often."),
    own=(settings.RELATION, settings.EXAMPLE, settings.RARE, settings.HOLD, settings.ROWS),
    is_for=settings.has_all_layers,
    minutes=5,
)
FIND_IT = Page(
    "find_it",
    message("Find it"),
    "Explore",
    message("Five tasks: find a head, a layer or two sentences that meet a rule."),
    own=(settings.TASK, settings.VERSUS),
    minutes=15,
)
CODE_LAB = Page(
    "code_lab",
    message("Code lab"),
    "Labs",
    message("The same attention written five ways, run on your sentence."),
    own=(settings.WAY, settings.ROWS),
    minutes=5,
)
CLASSROOM = Page(
    "classroom",
    message("A class"),
    "Class",
    message("A room your class follows on its own screens, and three lesson plans."),
    own=(settings.PLAN,),
    minutes=45,
)
EXPLORE = Page(
    "explore",
    message("Overview"),
    "Explore",
    message("Pages to explore heads, sentences and models your own way."),
    tab=message("Explore"),
)
LABS_PAGE = Page(
    "labs",
    message("All labs"),
    "Labs",
    message("Short experiments, each with a question and a picture."),
)
MODELS = Page(
    "models",
    message("Models"),
    "Explore",
    message("Every model, where it is now, and how to get more."),
    own=(settings.GET,),
)


def _page_of(lab: Lab) -> Page:
    return Page(
        lab.address,
        lab.title,
        "Labs",
        lab.purpose,
        own=(*lab.knobs, settings.ANSWER, settings.ROWS),
        is_for=lab.is_for,
        minutes=lab.minutes,
    )


OF_LABS: Mapping[Lab, Page] = MappingProxyType({lab: _page_of(lab) for lab in LABS})

PAGES = (
    FRONT,
    STEP_BY_STEP,
    EXPLORE,
    ALL_HEADS,
    NEURON_VIEW,
    COMPARE,
    MANY_SENTENCES,
    SYNTAX_CHECK,
    FIND_IT,
    LABS_PAGE,
    *OF_LABS.values(),
    CODE_LAB,
    CLASSROOM,
    MODELS,
)
BY_ADDRESS: Mapping[str, Page] = MappingProxyType({page.address: page for page in PAGES})
GROUPS: tuple[Group, ...] = tuple(name for name in get_args(Group) if any(page.group == name for page in PAGES))


def everything(page: Page) -> tuple[Parameter[Any], ...]:
    """Return all parameters without repeats: this page's first, then those that only other pages have."""
    others = (own for other in PAGES for own in other.own)
    return tuple({parameter.name: parameter for parameter in (*page.parameters, *others)}.values())


def table(pages: Iterable[Page] = PAGES) -> str:
    """Return the pages as a table in Markdown, group by group."""
    found = list(pages)
    rows = [
        f"| {GROUP_TITLES[page.group]} | **{page.title}** | {page.purpose} |"
        for group in get_args(Group)
        for page in found
        if page.group == group
    ]
    return "\n".join(("| | page | what it is for |", "|---|---|---|", *rows))
