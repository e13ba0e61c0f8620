"""The code lab: five implementations that agree, their code, and a notice where they cannot represent a layer."""

import pytest

from attention.experiments.five_ways import WAYS, why_not
from tests.loaded import load

PAGE = "pages/code_lab.py"


@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
def test_all_five_agree_and_show_their_code(open_page, model):
    shown = open_page(PAGE, model=model, text="the old sailor told a long story")
    table = shown.tables[0]
    assert list(table["written as"]) == [way.name for way in WAYS]
    assert table["largest difference"].astype(float).max() < 1e-5
    for way in WAYS:
        shown.choose("way", way.file)
        (code,) = shown.codes
        assert code.rstrip() == way.source.rstrip()


@pytest.mark.parametrize(
    "link",
    [
        {"model": "toy", "mask": "padding"},
        {"model": "minilm-l6", "pair": "It was tired", "mask": "causal"},
        {"model": "toy", "pair": "It was tired"},
        {"model": "translator-fr-en", "part": "decoder"},
        {"model": "vit-digits"},
    ],
)
def test_whole_layers_are_compared_with_what_the_model_itself_added(open_page, link):
    """The page's trace does not have that any more: the model runs once more for it."""
    shown = open_page(PAGE, **link)
    assert "They agree" in shown.text
    assert "was not recorded" not in shown.text


def test_a_layer_that_does_more_is_answered_in_a_sentence(open_page):
    shown = open_page(PAGE, model="smollm2-135m")
    (notice,) = shown.notices
    assert why_not(load("smollm2-135m").trace(shown.view.text).layers[shown.view.pane.layer or 0]) in notice
    assert shown.tables == []


def test_another_layer_and_head_are_run(open_page):
    first = open_page(PAGE, head="1", layer="1").text
    assert "layer 1" in first
    assert "only head 1" in first
    assert "only head 3" in open_page(PAGE, head="3", layer="1").text
