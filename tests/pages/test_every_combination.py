"""Every page with every model, mask, part and second sentence: what a model does not accept is reported and dropped."""

from itertools import product

import pytest

from attention.core.masks import MASK_NAMES
from attention.core.reading import PICTURE
from attention.core.trace import PARTS
from attention.models import list_models
from attention.page.pages import ALL_HEADS, CODE_LAB, NEURON_VIEW, PAGES, STEP_BY_STEP
from attention.page.view import View
from tests.sweep import sweep

MODELS = {info.model_id: info for info in list_models()}
PAIRS = ("", "It was tired")
# Pages that run the sentence of the link, with its mask and its second sentence.
READERS = [STEP_BY_STEP, ALL_HEADS, NEURON_VIEW, CODE_LAB]


def links(info):
    """Every mask with and without a second sentence, for every part there is, and one part that there is not."""
    given = [*product(MASK_NAMES, PAIRS, info.parts or PARTS[:1])]
    if not info.parts:
        given.append(("none", "", "cross"))
    return [{"model": info.model_id, "mask": mask, "pair": pair, "part": part} for mask, pair, part in given]


def taken(info, link):
    """What of a link a model takes, and what the notices must name of the rest."""
    mask, pair, part, named = link["mask"], link["pair"], link["part"], []
    if mask == "padding" and info.reading is PICTURE:
        mask, named = "none", [*named, "mask=padding"]
    if pair and not info.reading.takes_pair:
        pair, named = "", [*named, ""]
    if part != "encoder" and not info.parts:
        part, named = "encoder", [*named, "part=cross"]
    return (mask, pair, part), named


def said_of(notices, named):
    """Tell whether each notice names what it is about, and there is none about anything else."""
    return len(notices) == len(named) and all(any(each in notice for notice in notices) for each in named)


@pytest.mark.parametrize("model", MODELS)
def test_what_its_model_does_not_take_of_a_link_to_any_page_is_said_and_let_go(model):
    for page, link in product(PAGES, links(MODELS[model])):
        view, notices = View.from_query(link, page, MODELS)
        wanted, named = taken(MODELS[model], link)
        assert (view.model, view.mask, view.pair, view.part) == (model, *wanted), link
        assert said_of(notices, named), link


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("page", sweep(READERS, quick=READERS[:1]), ids=lambda page: page.title)
def test_every_such_link_is_run_and_proven(open_page, page, model):
    for link in links(MODELS[model]):
        shown = open_page(page.file, **link)
        (_, pair, _), named = taken(MODELS[model], link)
        # A second sentence that is not read is kept for other models, which is said.
        is_alone = bool(pair) and model != "minilm-l6"
        # That a layer does more than the code lab's five ways is not said of the link.
        of_the_link = [notice for notice in shown.notices if not notice.startswith("Not available for this layer")]
        assert said_of(of_the_link, [*named, *([""] if is_alone else [])]), link
        assert shown.holds == [True], link


def test_a_mask_that_a_picture_has_not_is_gone_with_the_sentence_and_others_can_be_chosen(open_page):
    shown = open_page(model="toy", mask="padding", step="mask").choose("model", "vit-digits")
    assert shown.notices == []
    assert (shown.view.mask, shown.widget("mask").value) == ("none", "none")
    assert "overlay" in shown.components()
    hidden = shown.choose("mask", "causal").component("main_stage")
    assert shown.choose("mask", "none").component("main_stage") != hidden
    assert (shown.view.mask, shown.notices) == ("none", [])
