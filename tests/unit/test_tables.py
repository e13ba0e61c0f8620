"""Tables: the order of rows, in links and by presses."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.figures.table import SortableTable, in_order, read_order, written_order
from attention.page.blocks import Arranged, Fold, Prose, Table
from attention.page.page_file import page
from attention.page.pages import ALL_HEADS, MANY_SENTENCES
from attention.page.parameters import MAX_SORTED, MAX_TURNED, Keys, Sorts
from attention.page.settings import ROWS, WHY
from attention.page.view import View

HEADS = {
    "head": ["1-1", "1-2", "2-1", "2-2"],
    "entropy": [0.5, 1.25, None, 0.5],
    "label": ["broad", "", "diagonal", "x"],
}
cells = st.none() | st.integers(-999, 999) | st.text(max_size=3)
orders = st.tuples(st.integers(0, 2), st.booleans())


@pytest.mark.parametrize(
    ("order", "heads"),
    [
        (None, ["1-1", "1-2", "2-1", "2-2"]),
        ((1, True), ["1-2", "1-1", "2-2", "2-1"]),
        ((1, False), ["1-1", "2-2", "1-2", "2-1"]),
        ((2, False), ["1-1", "2-1", "2-2", "1-2"]),
        ((2, True), ["2-2", "2-1", "1-1", "1-2"]),
        ((7, True), ["1-1", "1-2", "2-1", "2-2"]),
    ],
)
def test_rows_are_ordered_whole_and_blank_cells_come_last(order, heads):
    found = in_order(HEADS, order)
    assert found["head"] == heads
    assert sorted(map(str, zip(*found.values(), strict=True))) == sorted(map(str, zip(*HEADS.values(), strict=True)))


@pytest.mark.parametrize(
    ("column", "ordered"),
    [
        (["10%", "9%", "101%"], ["9%", "10%", "101%"]),
        (["1,024", "999"], ["999", "1,024"]),
        (["+2", "−3", "1"], ["−3", "1", "+2"]),
        (["3e-07", "2.1e-07", "0.1"], ["2.1e-07", "3e-07", "0.1"]),
        (["0 (embedding)", "10", "2"], ["0 (embedding)", "2", "10"]),
        (["–", "0.5", "0.25"], ["0.25", "0.5", "–"]),
        # With a word among them, all are words.
        (["10", "9", "nine"], ["10", "9", "nine"]),
    ],
)
def test_what_begins_with_a_number_is_ordered_by_it(column, ordered):
    assert in_order({"one": column}, (0, False))["one"] == ordered


@given(st.lists(st.tuples(cells, cells, cells), max_size=8), orders)
def test_an_order_keeps_every_row_and_doing_it_twice_changes_nothing(rows, order):
    columns = {str(place): [row[place] for row in rows] for place in range(3)}
    once = in_order(columns, order)
    assert sorted(map(repr, zip(*once.values(), strict=True))) == sorted(map(repr, rows))
    assert in_order(once, order) == once


@given(st.tuples(st.integers(0, 998), st.booleans()))
def test_an_order_comes_back_from_a_link(order):
    assert read_order(written_order(order)) == order


@pytest.mark.parametrize("written", ["", "5", "down", "0down", "01up", "-1up", "1000up", "5 down", "٣up", "5DOWN"])
def test_what_is_no_order_is_none(written):
    with pytest.raises(ValueError, match=written or ".*"):
        read_order(written)


@pytest.mark.parametrize(
    ("act", "value", "said"),
    [
        ("order", [1, True], {"order": "2down"}),
        ("order", None, {"order": None}),
        ("order", [3, True], None),
        ("order", [1, 1], None),
        ("order", [True, True], None),
        ("order", "2down", None),
        ("choose", 3, {"row": "3"}),
        ("choose", 4, None),
        ("choose", "0", None),
        ("drop", 0, None),
    ],
)
def test_a_press_says_what_there_is_and_nothing_else(act, value, said):
    assert SortableTable(HEADS, can_choose=True).said(act, value) == said


def test_where_nothing_can_be_chosen_or_ordered_there_is_nothing_to_press():
    assert SortableTable(HEADS).said("choose", 0) is None
    assert SortableTable(HEADS, is_whole=True).said("order", [0, True]) is None


def test_the_data_is_plain_and_an_order_of_another_table_is_left_out():
    table = {"a": [True, None, 1.23456789], "b": ["<b>", 2]}
    sent = json.loads(json.dumps(SortableTable(table, (5, True)).payload(), allow_nan=False))
    assert sent["cells"] == [["True", None, 1.2346], ["<b>", 2]]
    assert sent["order"] is None


def test_several_tables_have_orders_of_their_own_and_one_can_lose_it():
    value = Sorts.with_value(Sorts.with_value((), "b_table", (1, True)), "a_table", (0, False))
    assert Sorts().write(value) == "a_table-1up.b_table-2down"
    assert Sorts.with_value(value, "b_table", None) == (("a_table", (0, False)),)
    for number in range(20):
        value = Sorts.with_value(value, f"t{number}", (0, True))
    assert len(value) == MAX_SORTED
    assert dict(value)["t19"] == (0, True)


def test_a_fold_is_turned_and_turned_back():
    rules, story = Fold("rules", "Rules", ()), Fold("story", "Story", (), is_open=True)
    assert [Arranged().is_open(fold) for fold in (rules, story)] == [False, True]
    assert [Arranged(turned=frozenset({"rules", "story"})).is_open(fold) for fold in (rules, story)] == [True, False]
    # What has a parameter is as its page has made it.
    assert not Arranged(turned=frozenset({"why"})).is_open(Fold("why", "Why", (), parameter=WHY))
    value = Keys.turned(Keys.turned((), "b", is_in=True), "a", is_in=True)
    assert value == ("a", "b")
    assert Keys.turned(value, "b", is_in=False) == ("a",)
    for number in range(30):
        value = Keys.turned(value, f"k{number}", is_in=True)
    assert len(value) == MAX_TURNED
    assert "k29" in value


def test_a_page_in_a_file_has_open_what_was_opened():
    blocks = (Fold("rules", "Rules", (Prose("<p>x</p>"),)),)
    assert "<details>" in page("Title", "", blocks)
    assert "<details open>" in page("Title", "", blocks, Arranged(turned=frozenset({"rules"})))


def test_an_order_stays_on_its_page():
    view = View.of(ALL_HEADS, rows=(("heads_table", (4, True)),))
    assert view.to_query() == {"rows": "heads_table-5down"}
    assert view.for_page(ALL_HEADS)[ROWS]
    assert view.for_page(MANY_SENTENCES)[ROWS] == ()


def test_a_page_in_a_file_has_the_order():
    blocks = (Prose("<p>x</p>"), Table("heads_table", lambda: HEADS))
    written = page("Title", "", blocks, Arranged({"heads_table": (1, True)}))
    places = [written.index(f"<td>{head}</td>") for head in ("1-2", "1-1", "2-2", "2-1")]
    assert places == sorted(places)
