"""The proof at the foot of the page: one line, which opens by the keyboard and has every link in it."""

import re

import pytest
from playwright.sync_api import expect

TEXT = "The old dog sat near a new table"


@pytest.mark.slow
@pytest.mark.parametrize(("model", "queries"), [("toy", "X·W_Q + b_Q"), ("minilm-l6", "X·W_Q + b_Q")])
def test_each_link_of_the_proof_is_a_key_away_and_its_difference_is_there(tab, models, model, queries):
    tab.go("step_by_step", text=TEXT, model=model)
    line, table = tab.proof.locator("summary"), tab.proof.locator("table")
    expect(line).to_contain_text("✓ rows sum to 1")
    expect(table).to_be_hidden()
    line.focus()
    tab.page.keyboard.press("Enter")
    expect(table).to_be_visible()
    rows = table.locator("tr").filter(has=tab.page.locator("td"))
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text(queries)
    layers = models[model].trace(TEXT).layers
    for row, name in ((0, "queries"), (1, "keys"), (2, "values"), (4, "added")):
        largest = max(layer.check_projections()[name].absolute for layer in layers)
        cells = rows.nth(row).locator("td")
        # Sums that are taken in another order, as another process may, are rounded otherwise.
        assert float(cells.nth(2).inner_text()) == pytest.approx(largest, rel=0.5)
        expect(cells.nth(3)).to_have_text(re.compile(r"^\d\.\de[-+]\d\d$"))
    tab.page.keyboard.press("Enter")
    expect(table).to_be_hidden()
