"""Navigation: sentence, model, word and page settings after every link and choice."""

from urllib.parse import parse_qsl

import pytest

from attention.core.reading import PICTURE, TEXT
from attention.models import list_models
from attention.page.pages import PAGES
from attention.page.parameters import Spot
from tests.loaded import load
from tests.pages.conftest import STEP_PAGE

MODELS = {info.model_id: info for info in list_models()}
OWN = {"text": "Two small birds sing loudly", "french": "le petit chat noir dort", "picture": PICTURE.examples[4]}
TITLES = {page.title: page for page in PAGES}


def link(shown, label):
    """The parameters of a link of the page."""
    return dict(parse_qsl(shown.ways[label], keep_blank_values=True))


def follow(shown, label, file=None):
    """Follow a link of the page, as a browser does: with the link's parameters alone, and what it remembers."""
    if label in TITLES:
        return shown.to_page(TITLES[label])
    return shown.open_link(next(page for page in PAGES if page.file == file), link(shown, label))


# ------------------------------------------------------------------------------------------ the menu


@pytest.mark.parametrize("model", ["translator-fr-en", "vit-digits"])
def test_the_front_door_shows_what_a_model_of_another_kind_read_and_leads_back_to_it(open_page, model):
    info = MODELS[model]
    text = OWN[info.reading.name]
    shown = open_page("app.py", model=model, text=text, word="2")
    assert shown.notices == []
    tokens = [token.text for token in load(model).trace(text).tokens]
    picture = shown.component("front_picture")
    assert ([word["text"] for word in picture["words"]] if "words" in picture else picture["rows"]) == tokens
    assert any(info.name in caption for caption in shown.captions)
    assert sorted(shown.headings(3)) == sorted(each.label for each in MODELS.values() if each is not info)
    (way,) = [label for label in shown.ways if label.startswith("See how the")]
    assert link(shown, way) == {"text": text, "model": model, "word": "2"}
    follow(shown, way, STEP_PAGE)
    assert (shown.view.model, shown.view.text, shown.view.word) == (model, text, 2)
    assert shown.notices == []


# --------------------------------------------------------------------------------- the word in focus


@pytest.mark.parametrize(
    ("file", "first", "second"),
    [
        (STEP_PAGE, "minilm-l6", "smollm2-135m"),
        # A page that does not run the sentence.
        ("pages/many_sentences.py", "minilm-l6", "toy"),
    ],
)
def test_another_model_has_the_same_word_in_focus(open_page, few_sentences, file, first, second):
    """Wherever the model is changed: by the characters, the same word, of which there are two here."""
    text = "the unbelievable dog saw the dog"
    tokens = {model: load(model).trace(text).tokens for model in (first, second)}
    for token in tokens[first]:
        if token.start is None:
            continue
        shown = open_page(file, model=first, text=text, word=str(token.position)).choose("model", second)
        if file != STEP_PAGE:
            follow(shown, "Step by step")
        found = tokens[second][shown.widget("word").value]
        # What is in focus covers the first character of the old token.
        assert found.start <= token.start < found.start + len(found.typed)
        again = open_page(STEP_PAGE, **shown.view.to_query())
        assert again.widget("word").value == found.position
        assert again.notices == []


def test_the_ways_to_another_model_take_the_word_along(open_page):
    chosen = {"text": "The dog saw the dog", "word": "4"}
    shown = open_page(STEP_PAGE, model="toy", **chosen)
    for label, way in (("Models", "Look at MiniLM ▸"), ("What this is", "See what SmolLM2 predicts next ▸")):
        query = link(follow(shown, label), way)
        assert (query["text"], query["at"]) == (chosen["text"], "A-16")
    follow(shown, "Models")
    follow(shown, "Look at MiniLM ▸", STEP_PAGE)
    assert load("minilm-l6").trace(chosen["text"]).tokens[shown.widget("word").value].start == 16


def test_another_mask_has_the_same_word_in_focus_unless_it_is_padding(open_page):
    shown = open_page(model="toy", text="Two birds sing", word="2", step="scores")
    for mask in ("padding", "causal", "none", "padding"):
        assert shown.choose("mask", mask).widget("word").value == 2
    # Of four tokens that are added none stays.
    shown.choose("word", 4)
    assert shown.component("main_stage")["rows"][4] == "[PAD]"
    shown.choose("mask", "none")
    assert (shown.view.word, shown.notices) == (None, [])


def test_another_part_has_its_own_word_in_focus(open_page):
    shown = open_page(model="translator-fr-en", text=OWN["french"], word="5").choose("part", "cross")
    assert (shown.view.word, shown.view.spot, shown.notices) == (None, None, [])


# ------------------------------------------------------------------------- what belongs to one page


def test_the_pair_of_examples_takes_nobodys_sentence_and_word_away(open_page):
    shown = open_page(STEP_PAGE, model="toy", word="5")
    follow(shown, "Compare")
    assert shown.view.text.startswith("The animal")
    follow(shown, "Step by step")
    assert (shown.view.model, shown.view.text, shown.view.word) == ("toy", TEXT.first, 5)
    # Once it has been worked with, it is the sentence.
    follow(shown, "Compare").choose("head", 0)
    assert follow(shown, "Step by step").view.text.startswith("The animal")


def test_a_word_that_nobody_chose_stays_in_focus_in_another_model(open_page):
    shown = open_page(STEP_PAGE, step="scores")
    assert shown.component("main_stage")["focusRow"] == 5
    shown.choose("model", "toy")
    assert shown.view.spot == Spot(0, TEXT.first.rindex("the"))
    assert shown.component("main_stage")["focusRow"] == 4


@pytest.mark.parametrize(
    ("chosen", "there", "then"),
    [("layer", (0, 8), "layer 1, head 7"), ("head", (2, 0), "layer 6, head 1")],
)
def test_what_is_not_chosen_of_a_head_that_was_opened_stays(open_page, chosen, there, then):
    shown = open_page(STEP_PAGE, step="softmax")
    assert "layer 3, head 9" in shown.component("main_stage")["alt"]
    shown.choose(chosen, 0)
    assert (shown.view.pane.layer, shown.view.pane.head) == there
    # A link that says one of the two has always left the other at the model's own.
    old = open_page(STEP_PAGE, step="softmax", **{chosen: "1"})
    assert then in old.component("main_stage")["alt"]
