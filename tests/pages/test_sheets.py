"""Sheets: what needs no widget of Streamlit's is drawn in few messages, in its order."""

import pytest

from attention.blocks import Code, Fold, Notice, Prose, Row, Section, Table
from attention.lesson.steps import STEPS
from attention.ui.sheet import is_for_sheet

WORDS = Prose("<p>words</p>")
WIDGET = Code("x = 1")


@pytest.mark.parametrize(
    "around",
    [
        lambda block: Section("section", (WORDS, block)),
        lambda block: Fold("fold", "Title", (block,)),
        lambda block: Row(((WORDS,), (Section("inner", (block,)),))),
    ],
)
def test_what_holds_a_widget_is_not_for_a_sheet(around):
    assert is_for_sheet(around(WORDS))
    assert not is_for_sheet(around(WIDGET))
    assert is_for_sheet(around(Table("table", dict)))


@pytest.mark.parametrize("step", [step.key for step in STEPS])
def test_a_step_is_drawn_on_few_sheets(open_page, step):
    shown = open_page(model="minilm-l6", step=step)
    assert not shown.app.latex
    assert not shown.app.get("html")
    assert {"sheet_step_1", "sheet_step_right_1", "sheet_proof_1"} <= set(shown.sheets)
    assert len(shown.sheets) <= 7


def test_a_table_stands_among_the_words(open_page):
    shown = open_page(model="toy", step="scale", table="1")
    keys = [block.get("key") for block in shown.blocks]
    assert keys.index("main_parts_table") < keys.index("main_spread")
    assert shown.tables


def test_a_press_on_a_fold_that_says_anything_else_is_ignored(open_page):
    shown = open_page(model="toy", step="scores")
    before = shown.view
    for value in ("yes", 1, None, [True]):
        assert shown.send("why", "open", value).view == before
        assert not shown.exceptions
    (why,) = [block for block in shown.send("why", "open", True).blocks if block.get("key") == "why"]
    assert why["isOpen"]


def test_a_quiet_notice_is_a_caption(open_page):
    assert is_for_sheet(Notice("said", is_quiet=True))
    assert any("MiniLM" in caption for caption in open_page("app.py", model="minilm-l6").captions)
