"""Another language needs files and no code: in a language of brackets, no page shows text outside them."""

import ast
import re
from functools import cache

import pytest
from playwright.sync_api import expect

from attention.core.masks import MASK_NAMES
from attention.core.messages import VARIABLE
from attention.experiments import corpus
from attention.experiments.five_ways import WAYS
from attention.lesson import steps
from attention.lesson.survey import SORT_NAMES
from attention.lesson.syntax_check import MEANINGS
from attention.models.toy import FEATURES
from attention.page.labs import train_one, vector_moves
from attention.page.pages import (
    ALL_HEADS,
    CODE_LAB,
    COMPARE,
    FRONT,
    NEURON_VIEW,
    OF_LABS,
    PAGES,
    STEP_BY_STEP,
    SYNTAX_CHECK,
)
from attention.training.induction_results import SYLLABLES
from tests.browser.server import serve
from tests.loaded import load
from tests.pseudo import write_language
from tests.unmarked import READ, unmarked

# In letters that no text of the app has; the translator knows French words only.
SENTENCE, FRENCH = "Старый кот сидит на ковре и старый пёс", "le chat noir dort"
TEXTS = {
    "toy": SENTENCE,
    "minilm-l6": SENTENCE,
    "smollm2-135m": SENTENCE,
    "translator-fr-en": FRENCH,
    "vit-digits": None,
}
KEYS = steps.keys()
OPEN = {"why": "1", "savings": "1"}
# Its encoder says what BERT's does.
PARTS = {"translator-fr-en": ("decoder", "cross")}
# What a page looks like where more of it is shown.
LOOKS = {
    "all_heads": {"words": "1", "hide": "special", "renormalise": "1", "sort": "pattern"},
    "many_sentences": {"alignment": "end"},
    "compare": {"versus": "Старый пёс сидит"},
    "models": {"get": "me/mine"},
    # The toy has no feed-forward network to ask about.
    "whole": {"model": "minilm-l6"},
}
# The pages that differ most from model to model, and those that do where a model has a decoder or reads pictures; on
# the others, one model stands for all.
ALL, OF_SOME = (ALL_HEADS, NEURON_VIEW), (FRONT, COMPARE, CODE_LAB)
SOME = ("translator-fr-en", "vit-digits")
# A link of which nothing can be shown, and pages that between them read every parameter of it.
BAD = dict.fromkeys(("model", "step", "mask", "layer", "head", "cell", "word", "sort", "pins", "answer"), "nowhere")
LED_ASTRAY = (STEP_BY_STEP, ALL_HEADS, COMPARE, NEURON_VIEW, OF_LABS[vector_moves.LAB])


def plain(model):
    """A link to a model, with a text of ours if it reads any."""
    text = TEXTS[model]
    return {"model": model} | ({"text": text} if text else {})


def views():
    """Every page but the steps with every model that changes it, and pages of bad links."""
    for model in TEXTS:
        of_model = PAGES if model == "toy" else (*ALL, *OF_SOME) if model in SOME else ALL
        pages = [page for page in of_model if page is not STEP_BY_STEP]
        yield from ((page, plain(model) | LOOKS.get(page.address, {})) for page in pages)
    yield STEP_BY_STEP, {"model": "toy", "mask": "padding", "text": "я" * 4000}
    yield from ((page, BAD | {"text": SENTENCE}) for page in LED_ASTRAY)


def walks():
    """Links to the first step of each part of each model, with all that can be opened in it, or with its questions."""
    for model in TEXTS:
        shown = {"panel": "table"} if model == "toy" else {}
        parts = [{"part": part} for part in PARTS.get(model, ())] or [{}]
        yield from (plain(model) | part | OPEN | shown for part in parts)
    yield plain("toy") | {"guess": "1"}


def data(page, query):
    """The words on a page that a model, a corpus, a file of code or a link has."""
    found = set()
    if "nowhere" in query.values():
        # Notices about a link name its parameters and what each can be.
        found |= {"nowhere", *BAD, *KEYS, *MASK_NAMES, *SORT_NAMES, *TEXTS, "query", "key", "show"}
    if page is SYNTAX_CHECK:
        example = next(sentence for sentence in corpus.annotated() if "dobj" in sentence.relations)
        found |= {*example.words, example.text, *MEANINGS}
    if page is CODE_LAB:
        code = ast.parse(WAYS[0].source)
        found |= {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}
    if page is OF_LABS[vector_moves.LAB]:
        found |= {each for texts in vector_moves.PAIRS.values() for text in texts for each in text.split()}
    if page is OF_LABS[train_one.LAB]:
        found |= set(SYLLABLES)
    if query["model"] == "toy":
        found |= set(FEATURES)
    if query["model"] == "translator-fr-en":
        found |= words_of_the_translator()
    return found


@cache
def words_of_the_translator():
    """The tokens of the French sentence and of what is made of it."""
    trace = load("translator-fr-en").trace(FRENCH)
    return {token.text for token in (*trace.tokens, *trace.decoder.tokens)}


@pytest.fixture(scope="module")
def speaking(tmp_path_factory):
    """A server that speaks the pseudo-language."""
    folder = tmp_path_factory.mktemp("spoken")
    language = write_language(folder / "xx")
    with serve(folder / "log", {VARIABLE: str(language)}) as server:
        yield server


@pytest.fixture(scope="module")
def spoken(speaking, new_shared_tab):
    """A tab of that server; it is closed before the server ends."""
    return new_shared_tab(speaking)


def expect_no_unmarked_word(tab, page, query):
    texts = tab.page.evaluate(READ)
    assert sum("【" in text for text in texts) > 10
    assert unmarked(texts, data(page, {"model": "", **query})) == []


@pytest.mark.parametrize(("page", "query"), [*views()])
def test_a_page_says_no_word_that_no_catalogue_has(spoken, page, query):
    spoken.turn_to(page.address, **query)
    if page in OF_LABS.values():
        spoken.page.get_by_role("button", name="【Show me").click()
        expect(spoken.settled().page.get_by_role("heading", level=2).first).to_be_visible()
        # How long one has waited, Streamlit says in English.
        expect(spoken.settled().page.get_by_test_id("stSpinner")).to_have_count(0)
    expect_no_unmarked_word(spoken, page, query)


@pytest.mark.parametrize("query", [*walks()], ids=lambda query: "-".join((query["model"], *list(query.values())[2:3])))
def test_no_step_says_a_word_that_no_catalogue_has(spoken, query):
    spoken.turn_to(STEP_BY_STEP.address, **query, step=KEYS[0])
    for number in range(1, len(KEYS) + 1):
        expect(spoken.heading.first).to_have_text(re.compile(rf"\b{number}\. "))
        spoken.settled()
        # What was opened at the first step is open at this one.
        assert spoken.query().get("why") == query.get("why")
        expect_no_unmarked_word(spoken, STEP_BY_STEP, query)
        spoken.page.keyboard.press("ArrowRight")


def test_a_page_that_is_downloaded_says_none_either(spoken, browser, tmp_path):
    spoken.turn_to(STEP_BY_STEP.address, model="toy", text=SENTENCE, step="softmax")
    with spoken.page.expect_download() as download:
        spoken.page.get_by_role("button", name="【Share】").click()
        spoken.page.get_by_role("link", name="【Download this page").click()
    path = tmp_path / "page.html"
    download.value.save_as(path)
    context = browser.new_context(offline=True)
    shown = context.new_page()
    shown.goto(path.as_uri())
    expect(shown.locator("[data-picture]").first).to_be_visible()
    assert shown.locator("html").get_attribute("lang") == "xx"
    texts = shown.evaluate(READ)
    assert sum("【" in text for text in texts) > 10
    assert unmarked(texts, FEATURES) == []
    context.close()
