"""Two sentences read together, on every page that shows them."""

import re

import pytest

HEADS, STEPS = "pages/all_heads.py", "pages/step_by_step.py"
PAIR = "It was tired"


def test_a_second_sentence_is_read_with_the_first_and_its_blocks_are_shown(open_page):
    shown = open_page(HEADS).choose("pair", PAIR)
    assert shown.notices == []
    assert shown.view.pair == PAIR
    data = shown.component("head_matrix")
    assert data["rows"][7:] == ["[SEP]", "it", "was", "tired", "[SEP]"]
    assert data["rowGroups"] == data["columnGroups"] == [["A", 0], ["B", 8]]
    assert shown.component("head_view")["rowBreaks"] == [8]
    assert "token_type IDs" in shown.text

    shown.choose("block", "BA")
    lines = shown.component("head_view")
    assert (lines["rows"], lines["columns"][0]) == (["it", "was", "tired", "[SEP]"], "[CLS]")
    assert (lines["rowStart"], lines["columnStart"]) == (8, 0)

    shown.choose("sort", "across")
    assert "from A to B" in shown.component("atlas")["groups"][0]["title"]

    # Without a second sentence, nothing speaks of two any more.
    shown.choose("pair", "")
    assert shown.component("head_matrix")["rowGroups"] == []
    assert len(shown.component("head_view")["rows"]) == 8
    assert "token_type" not in shown.text
    assert shown.widget("sort").value == "layer"


def test_an_example_sets_both_sentences(open_page):
    question, answer = "Who wrote the book?", "The book was written by Jane"
    shown = open_page(HEADS, text="One two").choose_example(f"{question} | {answer}")
    assert (shown.view.text, shown.view.pair) == (question, answer)


@pytest.mark.parametrize("page", ["app.py", STEPS, HEADS])
def test_a_pair_from_a_link_is_shown_on_every_page_and_can_be_changed_there(open_page, page):
    shown = open_page(page, pair=PAIR)
    assert shown.widget("pair").value == PAIR


@pytest.mark.parametrize("page", [STEPS, HEADS])
def test_a_model_that_takes_no_pairs_says_so_and_shows_the_first_sentence_alone(open_page, page):
    shown = open_page(page, pair=PAIR, model="toy", step="softmax", sort="across", block="AB")
    (notice,) = shown.notices
    assert "Toy" in notice
    matrix = shown.component("head_matrix" if page == HEADS else "main_stage")
    assert matrix["rows"] == ["the", "cat", "sat", "on", "the", "mat"]


def test_two_texts_too_long_together_get_the_models_own_sentence(open_page):
    shown = open_page(HEADS, text="a " * 300, pair="b " * 300)
    (notice,) = shown.notices
    assert re.findall(r"MiniLM|\d+", notice) == ["603", "MiniLM", "512"]
    assert len(shown.component("head_matrix")["rows"]) == 302


def test_what_is_typed_as_the_second_sentence_is_never_interpreted(open_page):
    shown = open_page(HEADS, pair="<script>alert(1)</script> $first **x**")
    assert not any(re.search("<script", body) for body in shown.html)
