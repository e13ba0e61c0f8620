"""The proof at the bottom of the page: one line, which opens by keyboard and contains every comparison."""

import pytest
from playwright.sync_api import expect

TEXT = "The old dog sat near a new table"
MODELS = ("toy", "minilm-l6")


def test_each_link_of_the_proof_is_a_key_away(tab):
    tab.go("step_by_step", text=TEXT, model="minilm-l6")
    line, table = tab.proof.locator("summary"), tab.proof.locator("table")
    expect(line).to_contain_text("✓ rows sum to 1")
    expect(table).to_be_hidden()
    line.focus()
    tab.page.keyboard.press("Enter")
    expect(table).to_be_visible()
    rows = table.locator("tr").filter(has=tab.page.locator("td"))
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("X·W_Q + b_Q")
    tab.page.keyboard.press("Enter")
    expect(table).to_be_hidden()


@pytest.mark.parametrize("shut", [lambda page: page.keyboard.press("Escape"), lambda page: page.mouse.click(5, 300)])
def test_a_press_beside_the_open_proof_shuts_it_and_so_does_escape(tab, shut):
    tab.go("step_by_step", text=TEXT, model="toy", proof="1")
    expect(tab.proof.locator("section")).to_be_visible()
    # Inside it, a press reads on.
    tab.proof.locator("section").click()
    expect(tab.proof.locator("section")).to_be_visible()
    shut(tab.page)
    expect(tab.proof.locator("section")).to_be_hidden()
    tab.expect_query(text=TEXT, model="toy")
