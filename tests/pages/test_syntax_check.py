"""The page *Syntax check*."""

from urllib.parse import parse_qsl

import pytest

from attention.experiments import corpus
from attention.page.settings import EXAMPLE

PAGE = "pages/syntax_check.py"


@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
def test_every_relation_has_its_best_head_and_an_example(open_page, model):
    shown = open_page(PAGE, model=model)
    assert shown.notices == []
    table = shown.tables[0]
    assert table["cases"].min() >= 20
    assert table["cases"].is_monotonic_decreasing
    (proof,) = shown.proofs
    assert proof.startswith("✓ rows sum to 1")
    for relation in table["relation"]:
        shown.choose("relation", relation)
        assert relation in shown.text
        sentence = corpus.annotated()[int(shown.widget("syntax_example").value) - 1].text
        matrix = shown.component("syntax_matrix")
        (annotated,) = (each for each in corpus.annotated() if each.text == sentence)
        assert tuple(matrix["rows"]) == annotated.words
        row, column = matrix["selected"]
        assert annotated.heads[row] == column or annotated.heads[column] == row or relation == "poss"


def test_rare_relations_are_shown_when_asked_for_and_said_to_be_rare(open_page):
    shown = open_page(PAGE)
    n_common = len(shown.tables[0])
    shown.choose("rare", True)
    assert len(shown.tables[0]) > n_common
    shown.choose("relation", "iobj")
    assert "a tendency at most" in shown.text
    # A relation that is no longer in the table is not left standing.
    shown.choose("rare", False)
    assert shown.widget("relation").value == "dobj"


def ways(shown):
    """Where the links under the example lead."""
    return {label: dict(parse_qsl(query)) for label, query in shown.ways.items() if " on " in label}


def test_the_relation_and_the_example_are_in_the_link_and_lead_somebody_else_there(open_page):
    shown = open_page(PAGE, model="toy", text="Two birds sing").choose("rare", True)
    shown.choose("relation", "iobj")
    having = [number for number, each in enumerate(corpus.annotated()) if "iobj" in each.relations]
    shown.choose("syntax_example", str(having[2] + 1))
    query = shown.view.to_query()
    assert query == {
        "text": "Two birds sing",
        "model": "toy",
        "relation": "iobj",
        "example": str(having[2] + 1),
        "rare": "1",
    }
    there = open_page(PAGE, **query)
    assert there.notices == []
    assert there.text == shown.text
    assert there.component("syntax_matrix") == shown.component("syntax_matrix")
    assert there.widget("syntax_example").value == str(having[2] + 1)
    # Another relation keeps an example that has it, and lets go of one that has not.
    assert shown.choose("relation", "nsubj").widget("syntax_example").value == str(having[2] + 1)
    shown.choose("relation", "cop")
    assert shown.view[EXAMPLE] is None
    assert shown.view.to_query()["relation"] == "cop"


def test_the_ways_lead_to_the_head_with_ones_own_sentence_and_with_the_example(open_page):
    chosen = {"text": "The small dog <b>chased</b> a cat", "model": "toy", "mask": "causal", "word": "2"}
    shown = open_page(PAGE, **chosen, pair="It ran", relation="det", head="1")
    table = shown.tables[0]
    (place,) = table[table["relation"] == "det"]["head"]
    layer, head = place.split("-")
    own = {**chosen, "pair": "It ran", "step": "softmax", "layer": layer, "head": head}
    example = {
        "model": "toy",
        "text": corpus.annotated()[int(shown.widget("syntax_example").value) - 1].text,
        "step": "softmax",
    }
    example |= {"layer": layer, "head": head}
    found = ways(shown)
    named = [label for label in found if f"“{chosen['text']}”" in label]
    assert [found[label] for label in named] == [own, own]
    assert [link for label, link in found.items() if label not in named] == [example, example]


def test_without_a_sentence_of_ones_own_the_example_is_what_there_is(open_page):
    shown = open_page(PAGE, text="")
    example = corpus.annotated()[int(shown.widget("syntax_example").value) - 1].text
    assert [link["text"] for link in ways(shown).values()] == [example, example]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"relation": "object"}, "relation=object"),
        ({"relation": "iobj"}, "points to iobj, which is not in the table"),
        ({"example": "999"}, "example=999"),
        ({"relation": "cop", "example": "1"}, "an example without this relation"),
    ],
)
def test_a_relation_or_an_example_that_is_not_there_is_answered_with_a_sentence(open_page, query, words):
    shown = open_page(PAGE, model="toy", **query)
    (notice,) = shown.notices
    assert words in notice
    assert "syntax_matrix" in shown.components()
