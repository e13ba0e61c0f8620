"""A declared parameter is in the link, in a control, and validated: on a made-up page and on all others."""

import pytest

from attention.answer import page as pages
from attention.answer import state
from attention.page.blocks import Code, Fold
from attention.page.content import registry
from attention.page.settings import SAVINGS
from tests.pages import made_up_page
from tests.pages.conftest import STEP_PAGE, Shown
from tests.pages.made_up_page import COLOUR, MADE_UP, SHADE


@pytest.fixture
def open_made_up(monkeypatch):
    """Open the page that is made up here, or the same one with other blocks."""

    def open_(make=made_up_page.make, **query):
        contents = {**pages.CONTENTS, MADE_UP: registry.Content(make)}
        for module in ("page", "running"):
            monkeypatch.setattr(f"attention.answer.{module}.CONTENTS", contents)
        return Shown(MADE_UP, query).run()

    return open_


# -------------------------------------------------------------------- a page by declaration alone


def test_a_parameter_that_is_declared_is_in_its_control_and_in_the_link(open_made_up):
    shown = open_made_up(model="toy")
    assert shown.notices == []
    assert (shown.widget("colour").value, shown.widget("shade").value) == ("red", 0)
    shown.choose("colour", "blue").choose("shade", 2)
    assert (shown.view[COLOUR], shown.view[SHADE]) == ("blue", 2)
    query = dict(shown.query)
    assert query == shown.view.to_query() == {"model": "toy", "colour": "blue", "shade": "3"}
    there = open_made_up(**query)
    assert there.view == shown.view
    assert there.notices == []
    assert (there.widget("colour").value, there.widget("shade").value) == ("blue", 2)
    # What a change resets is declared, too.
    assert there.choose("colour", "green").view.to_query() == {"model": "toy", "colour": "green"}
    assert there.widget("shade").value == 0


def test_what_a_picture_sets_is_taken_by_name_and_nothing_that_there_is_not():
    with state.visiting(state.opened(MADE_UP, {"model": "toy"}, lambda view: view, {})) as visit:
        state.choose("colour", "green")
        state.choose("shade", 99)
        with pytest.raises(StopIteration):
            state.choose("size", 1)
    assert visit.view.to_query() == {"model": "toy", "colour": "green"}


def test_a_fold_of_any_page_is_in_the_link_too(open_made_up):
    def make(view, panes, *, whole=False):
        return (Fold("source", "How it is written", (Code("x = 1"),)),)

    shown = open_made_up(make, model="toy")
    assert shown.folds == {"How it is written": False}
    shown.open("How it is written")
    assert (shown.folds, shown.codes) == ({"How it is written": True}, ["x = 1"])
    assert shown.view.to_query() == {"model": "toy", "open": "source"}
    there = open_made_up(make, **shown.view.to_query())
    assert there.folds == {"How it is written": True}
    assert there.open("How it is written", is_open=False).view.to_query() == {"model": "toy"}


# --------------------------------------------------------------- all that is set is in the link

CHOICES = [
    ("pages/code_lab.py", {"model": "toy"}, "way", "fused", "fused"),
    ("pages/many_sentences.py", {"model": "toy"}, "alignment", "end", "end"),
    (STEP_PAGE, {"model": "toy", "step": "softmax"}, "main_panel", "numpy", "numpy"),
    (STEP_PAGE, {"model": "toy", "step": "softmax", "beside": "1"}, "other_panel", "table", "table"),
    (STEP_PAGE, {"model": "smollm2-135m", "step": "qkv"}, "sizes", "Llama 3 8B", "Llama 3 8B"),
    ("pages/all_heads.py", {"model": "toy"}, "mean", True, "1"),
    ("pages/syntax_check.py", {"model": "toy"}, "rare", True, "1"),
]
NAMES = {"main_panel": "panel", "other_panel": "beside_panel"}


@pytest.mark.parametrize(("file", "query", "key", "value", "written"), CHOICES, ids=[each[2] for each in CHOICES])
def test_what_is_chosen_is_in_the_link_and_leads_somebody_else_there(open_page, file, query, key, value, written):
    shown = open_page(file, **query)
    first = shown.text, shown.components()
    shown.choose(key, value)
    link = shown.view.to_query()
    assert link == {**query, NAMES.get(key, key): written}
    there = open_page(file, **link)
    assert there.notices == []
    assert there.widget(key).value == value
    assert (there.text, there.components()) == (shown.text, shown.components())
    assert there.codes == shown.codes
    # Without it, the page is as it was before.
    again = open_page(file, **query)
    assert (again.text, again.components()) == first


@pytest.mark.parametrize(
    ("label", "name"), [("These parts as a table", "table"), ("Savings by grouped queries", "savings")]
)
def test_what_is_opened_is_in_the_link_and_made_only_where_it_is_open(open_page, label, name):
    query = {"model": "toy", "step": "qkv"}
    shown = open_page(**query)
    n_tables = len(shown.tables)
    shown.open(label)
    assert len(shown.tables) == n_tables + 1
    assert shown.view.to_query() == {**query, name: "1"}
    there = open_page(**query, **{name: "1"})
    assert there.notices == []
    assert len(there.tables) == n_tables + 1
    assert there.folds[label] is True
    there.open(label, is_open=False)
    assert len(there.tables) == n_tables
    assert shown.open(label, is_open=False).view.to_query() == {**query, **({name: "0"} if name == "savings" else {})}


def test_what_grouped_queries_save_is_open_where_heads_share_until_it_is_shut(open_page):
    shown = open_page(model="smollm2-135m", step="qkv")
    assert "sizes" in shown.controls()
    shown.open("Savings by grouped queries", is_open=False)
    assert shown.view[SAVINGS] is False
    assert "sizes" not in shown.controls()
    # Of another model, nobody has said so.
    assert shown.choose("model", "toy").view[SAVINGS] is None
