"""What stands on a sheet: it is drawn together, and what two steps have in common stays as it is."""

import re

import pytest
from playwright.sync_api import expect

MARK = "element => { element.isTheSame = true; }"
IS_MARKED = "element => element.isTheSame === true"


@pytest.fixture(scope="module")
def shared_tab(new_shared_tab):
    return new_shared_tab()


def test_what_two_steps_have_in_common_stays(shared_tab):
    tab = shared_tab.go(model="toy", step="scores")
    kept = [tab.page.locator(f".st-key-{key}") for key in ("main_stage", "map", "why", "step_left h2")]
    for each in kept:
        each.evaluate(MARK)
    tab.page.keyboard.press("ArrowRight")
    expect(tab.heading.first).to_contain_text("5.")
    tab.settled()
    assert [each.evaluate(IS_MARKED) for each in kept] == [True] * len(kept)
    tab.page.keyboard.press("ArrowLeft")
    expect(tab.heading.first).to_contain_text("4.")
    assert [each.evaluate(IS_MARKED) for each in kept] == [True] * len(kept)


def test_a_fold_opens_by_keyboard_and_keeps_the_focus(shared_tab):
    tab = shared_tab.go(model="toy", step="scores")
    fold = tab.page.locator(".st-key-why")
    title = fold.locator("summary")
    title.focus()
    tab.page.keyboard.press("Enter")
    expect(fold.locator(".prose")).to_contain_text(re.compile(r"\w"))
    expect(title).to_be_focused()
    assert tab.query()["why"] == "1"
    tab.page.keyboard.press("Enter")
    expect(fold.locator(".prose")).to_have_count(0)
    expect(title).to_be_focused()
    assert "why" not in tab.query()


def test_a_press_on_a_picture_on_a_sheet_is_in_the_link(shared_tab):
    tab = shared_tab.go(model="toy", step="scores")
    tab.page.locator(".st-key-map").get_by_role("button", name="Step 7: Softmax").click()
    tab.settled()
    expect(tab.heading.first).to_contain_text("7.")
    tab.page.go_back()
    expect(tab.heading.first).to_contain_text("4.")


def test_a_formula_is_set_and_can_be_read_aloud(shared_tab):
    tab = shared_tab.go(model="toy", step="scale")
    formula = tab.page.locator(".formula")
    expect(formula.locator(".katex-html .sqrt")).to_have_count(1)
    expect(formula.locator("math annotation")).to_contain_text(r"\sqrt{d_k}")
    # The root is drawn above what it is of, and an index is smaller than its letter.
    sizes = formula.locator(".katex-html .mord.mathnormal").evaluate_all(
        "letters => Object.fromEntries(letters.map(each => "
        "[each.textContent, parseFloat(getComputedStyle(each).fontSize)]))"
    )
    assert sizes["k"] < 0.8 * sizes["d"]


def test_a_table_that_is_opened_stands_where_it_was_opened(shared_tab):
    tab = shared_tab.go(model="toy", step="scores", table="1")
    left = tab.page.locator(".st-key-step_left")
    shown = left.get_by_role("region", name="Table")
    expect(shown).to_be_visible()
    heading, table = left.locator("h2").bounding_box(), shown.bounding_box()
    picture = tab.page.locator(".st-key-main_stage").bounding_box()
    assert heading["y"] < table["y"]
    assert table["x"] + table["width"] <= picture["x"]
