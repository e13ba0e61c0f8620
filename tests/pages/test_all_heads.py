"""The page *All heads*."""

import pytest

PAGE = "pages/all_heads.py"


@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
@pytest.mark.parametrize("sort", ["layer", "entropy", "pattern", "similarity"])
def test_every_order_is_drawn_for_every_model(open_page, model, sort):
    shown = open_page(PAGE, model=model, sort=sort)
    assert shown.notices == []
    groups = shown.component("atlas")["groups"]
    assert sum(len(group["heads"]) for group in groups) == {"toy": 3, "minilm-l6": 72}[model]


def test_whole_words_and_hidden_tokens_are_said_and_shown(open_page):
    text = "The unbelievableness of it"
    pieces = open_page(PAGE, text=text).component("head_matrix")
    words = open_page(PAGE, text=text, words="1", hide="special")
    assert len(words.component("head_matrix")["rows"]) < len(pieces["rows"])
    # What was merged and what was hidden are said each.
    assert len(words.captions) - len(open_page(PAGE, text=text).captions) >= 1


def test_a_picture_has_neither_words_nor_punctuation(open_page):
    shown = open_page(PAGE, model="vit-digits", words="1", hide="punctuation")
    assert "words" not in shown.controls()
    assert len(shown.component("head_matrix")["rows"]) == 17
    said = " ".join(shown.captions)
    assert "merged into words" not in said
    assert "Hidden: [CLS];" in said
    assert "punctuation" not in said


def test_a_head_chosen_in_the_link_is_the_one_shown_and_described(open_page):
    shown = open_page(PAGE, layer="1", head="3")
    assert shown.component("atlas")["current"] == [0, 2]
    assert "previous token" in shown.text
