"""The syntax check in a browser: a row of the table chooses its relation."""

from playwright.sync_api import expect

PAGE = "syntax_check"


def click_cell(tab, row):
    """Click into a row of the table."""
    tab.page.locator(".table tbody tr").nth(row).locator("td").nth(1).click()


def test_a_row_of_the_table_chooses_its_relation(tab):
    tab.go(PAGE)
    relation = tab.page.get_by_role("combobox", name="Relation")
    expect(relation).to_have_value("dobj")
    click_cell(tab, 1)
    expect(relation).to_have_value("nsubj")
    expect(tab.words.filter(has_text="nsubj (subject")).to_be_visible()
    tab.settled()
    click_cell(tab, 2)
    expect(relation).to_have_value("det")
