"""The page Syntax check, run without a browser."""

import pytest

from attention import corpus

PAGE = "pages/syntax_check.py"


@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
def test_every_relation_has_its_best_head_and_an_example(open_page, model):
    shown = open_page(PAGE, model=model)
    assert shown.exceptions == []
    assert shown.notices == []
    table = shown.app.dataframe[0].value
    assert table["cases"].min() >= 20
    assert table["cases"].is_monotonic_decreasing
    (proof,) = shown.proofs
    assert proof.startswith("✓ rows sum to 1")
    for relation in table["relation"]:
        shown.choose("relation", relation)
        assert shown.exceptions == []
        assert relation in shown.text
        sentence = shown.widget("syntax_example").value
        matrix = shown.component("syntax_matrix")
        (annotated,) = (each for each in corpus.annotated() if each.text == sentence)
        assert tuple(matrix["rows"]) == annotated.words
        row, column = matrix["selected"]
        assert annotated.heads[row] == column or annotated.heads[column] == row or relation == "poss"


def test_it_says_how_small_the_set_is_and_that_the_choice_flatters(open_page):
    shown = open_page(PAGE)
    assert "standard error of 8 points" in shown.text
    assert "best of 72 heads" in shown.text
    assert "flatters" in shown.text
    assert "Wall Street Journal" in shown.text


def test_rare_relations_are_shown_when_asked_for_and_said_to_be_rare(open_page):
    shown = open_page(PAGE)
    n_common = len(shown.app.dataframe[0].value)
    shown.choose("rare_relations", True)
    assert len(shown.app.dataframe[0].value) > n_common
    shown.choose("relation", "iobj")
    assert "at most a tendency" in shown.text
    # A relation that is no longer in the table is not left standing.
    shown.choose("rare_relations", False)
    assert shown.exceptions == []
    assert shown.widget("relation").value == "dobj"


def test_the_toy_says_which_words_it_cannot_tell_apart(open_page):
    said = " ".join(caption.value for caption in open_page(PAGE, model="toy").app.caption)
    assert "no token of their own in Toy" in said
