"""Every page with every model, mask, part and second sentence: what the model does not take is said, and let go."""

from itertools import product

import pytest

from attention.masks import MASK_NAMES
from attention.models import list_models
from attention.pages import ALL_HEADS, CODE_LAB, NEURON_VIEW, PAGES, STEP_BY_STEP
from attention.reading import PICTURE
from attention.trace import PARTS
from tests.sweep import sweep

MODELS = {info.model_id: info for info in list_models()}
PAIRS = ("", "It was tired")
# Pages that run the sentence of the link, with its mask and its second sentence.
READERS = [STEP_BY_STEP, ALL_HEADS, NEURON_VIEW, CODE_LAB]
# What the lab says where it cannot stand for a layer.
LAB = "The five ways cannot stand"


def links(info):
    """Every mask with and without a second sentence, for every part there is, and one part that there is not."""
    yield from product(MASK_NAMES, PAIRS, info.parts or PARTS[:1])
    if not info.parts:
        yield "none", "", "cross"


def taken(info, mask, pair, part):
    """What of a link a model takes, and what is said of the rest, as its sentences begin."""
    said = []
    if mask == "padding" and info.reading is PICTURE:
        mask, said = "none", [*said, "The link says mask=padding"]
    if pair and not info.reading.takes_pair:
        pair, said = "", [*said, "The link has a second sentence"]
    if part != "encoder" and not info.parts:
        part, said = "encoder", [*said, "The link says part=cross"]
    return (mask, pair, part), said


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("page", sweep(PAGES, quick=READERS[:1]), ids=lambda page: page.title)
def test_every_link_opens_and_what_its_model_does_not_take_is_said_and_let_go(open_page, few_sentences, page, model):
    info = MODELS[model]
    for mask, pair, part in links(info):
        shown = open_page(page.file, model=model, mask=mask, pair=pair, part=part)
        wanted, said = taken(info, mask, pair, part)
        assert shown.exceptions == []
        assert shown.view.model == model
        assert (shown.view.mask, shown.view.pair, shown.view.part) == wanted
        notices = [notice for notice in shown.notices if notice.startswith("The link")]
        assert len(notices) == len(said)
        assert all(any(notice.startswith(start) for notice in notices) for start in said)
        if page in READERS:
            others = [each for each in shown.notices if each not in notices and not each.startswith(LAB)]
            # A second sentence that is not read is kept for other models.
            is_alone = bool(wanted[1]) and model != "minilm-l6"
            assert [each.endswith("the first sentence is shown alone.") for each in others] == [True] * is_alone
            assert shown.widget("mask").value == wanted[0]
            assert [proof.startswith("✓") for proof in shown.proofs] == [True]


@pytest.mark.parametrize("mask", MASK_NAMES)
@pytest.mark.parametrize("page", sweep(READERS, quick=READERS[:1]), ids=lambda page: page.title)
def test_another_model_lets_go_of_what_it_does_not_take(open_page, page, mask):
    """From every model to every other one: what stays is shown, what goes is in no list and no link."""
    shown = open_page(page.file)
    for first, second in product(MODELS, MODELS):
        shown.choose("model", first).choose("mask", mask if mask != "padding" or first != "vit-digits" else "none")
        before = shown.view.mask
        shown.choose("model", second)
        assert shown.exceptions == []
        assert [notice for notice in shown.notices if not notice.startswith(LAB)] == []
        wanted, _ = taken(MODELS[second], before, "", "encoder")
        assert (shown.view.model, shown.view.mask) == (second, wanted[0])
        assert shown.widget("mask").value == wanted[0]
        assert shown.view.to_query().get("mask", "none") == wanted[0]
        assert [proof.startswith("✓") for proof in shown.proofs] == [True]


def test_a_mask_that_a_picture_has_not_is_gone_with_the_sentence_and_others_can_be_chosen(open_page):
    shown = open_page(model="toy", mask="padding", step="mask").choose("model", "vit-digits")
    assert shown.notices == []
    assert (shown.view.mask, shown.widget("mask").value) == ("none", "none")
    assert "overlay" in shown.components()
    hidden = shown.choose("mask", "causal").component("main_stage")
    assert shown.choose("mask", "none").component("main_stage") != hidden
    assert (shown.view.mask, shown.notices) == ("none", [])
