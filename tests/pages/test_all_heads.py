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


FOLD = "Sort, hide, mask"


@pytest.mark.parametrize(
    "chosen", [{"sort": "entropy"}, {"hide": "special"}, {"words": "1"}, {"renormalise": "1"}, {"mask": "causal"}]
)
def test_what_the_link_chooses_is_not_folded_away_until_one_closes_it(open_page, chosen):
    shown = open_page(PAGE, **chosen)
    assert shown.folds[FOLD]
    assert not shown.open(FOLD, is_open=False).folds[FOLD]


def test_the_fold_stays_open_when_its_last_choice_is_taken_back(open_page):
    assert not open_page(PAGE).folds[FOLD]
    shown = open_page(PAGE, mask="causal").choose("mask", "none")
    assert shown.view.mask == "none"
    assert shown.folds[FOLD]
