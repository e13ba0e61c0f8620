"""Tables in a browser: pressing a heading sorts the rows, also in links, files and after reloads."""

import pytest
from playwright.sync_api import expect

from attention.figures.table import in_order
from attention.lesson.behaviour import head_table
from attention.lesson.survey import Look, survey
from tests.browser.looks import check

TEXT = "The tide pulls small boats from the quay"


@pytest.fixture(scope="module")
def columns(models):
    surveyed = survey(models["minilm-l6"].trace(TEXT), Look())
    return head_table([surveyed.summaries[at] for at in surveyed.by_clarity()], special=surveyed.special)


def heading(tab, name):
    return tab.page.get_by_role("columnheader", name=name)


def expect_rows(tab, columns, order):
    ordered = in_order(columns, order)
    first, second, *_ = ordered.values()
    wanted = [f"{layer}-{head}" for layer, head in zip(first, second, strict=True)]
    tab.page.wait_for_function(
        """wanted => {
          const { shadowRoot } = [...document.querySelectorAll(".figure")].findLast(
            (each) => each.shadowRoot?.querySelector(".table"),
          );
          const rows = [...shadowRoot.querySelectorAll("tbody tr")];
          const places = rows.map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent).join("-"));
          return String(places) === String(wanted);
        }""",
        arg=wanted,
    )


def test_a_heading_orders_the_rows_and_the_link_knows_it(tab, new_tab, columns):
    tab.go("all_heads", text=TEXT)
    name = list(columns)[4]
    expect_rows(tab, columns, None)
    heading(tab, name).get_by_role("button").click()
    expect(heading(tab, name)).to_have_attribute("aria-sort", "descending")
    expect_rows(tab, columns, (4, True))
    tab.expect_query(text=TEXT, rows="heads_table-5down")
    there = new_tab().go_to(tab.page.url)
    expect_rows(there, columns, (4, True))

    # The other way round, then as it was; words begin with the first letter.
    heading(tab, name).get_by_role("button").click()
    tab.expect_query(text=TEXT, rows="heads_table-5up")
    expect_rows(tab, columns, (4, False))
    heading(tab, name).get_by_role("button").press("Enter")
    tab.expect_query(text=TEXT)
    expect_rows(tab, columns, None)
    heading(tab, "pattern").get_by_role("button").press("Enter")
    tab.expect_query(text=TEXT, rows="heads_table-4up")
    expect_rows(tab, columns, (2, False))
    tab.page.go_back()
    tab.expect_query(text=TEXT)
    expect_rows(tab, columns, None)
    assert tab.page.locator("[aria-sort]").count() == 0


def test_an_order_goes_where_the_table_goes_and_no_further(tab):
    tab.go("all_heads", text=TEXT, rows="heads_table-5down.other_table-1up")
    expect(tab.page.locator("[aria-sort]")).to_have_count(1)
    tab.select("Layer", "2 of 6")
    tab.expect_query(text=TEXT, layer="2", head="9", rows="heads_table-5down.other_table-1up")
    expect(tab.page.locator("[aria-sort]")).to_have_count(1)
    tab.to_page("Step by step")
    tab.expect_query(text=TEXT, layer="2", head="9")


def test_a_table_that_scrolls_keeps_its_headings_and_its_keys(tab):
    tab.go("all_heads", text=TEXT)
    box = tab.page.get_by_role("region", name="Table")
    box.focus()
    tab.page.keyboard.press("End")
    tab.page.wait_for_function("box => box.scrollTop > 100", arg=box.element_handle())
    expect(heading(tab, "pattern")).to_be_in_viewport()
    check(tab)


def test_what_is_opened_anywhere_is_in_the_link_and_back_shuts_it(tab, new_tab):
    tab.go("all_heads", model="toy")
    rules = tab.page.locator("details").filter(has_text="Rules behind the labels")
    rules.locator("summary").click()
    tab.expect_query(model="toy", open="rules")
    expect(rules).to_have_attribute("open", "")
    there = new_tab().go_to(tab.page.url)
    opened = there.page.locator("details").filter(has_text="Rules behind the labels")
    expect(opened).to_have_attribute("open", "")
    opened.locator("summary").press("Enter")
    there.expect_query(model="toy")
    tab.page.go_back()
    tab.expect_query(model="toy")
    expect(rules).not_to_have_attribute("open", "")
