"""The proof at the bottom of the page: one line, which opens by keyboard and contains every comparison."""

import json
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

TEXT = "The old dog sat near a new table"
MODELS = ("toy", "minilm-l6")
# Where in the table the links are whose differences are compared.
ROWS = {"queries": 0, "keys": 1, "values": 2, "added": 4}
# Rounding depends on what a process has done before, so the differences are those of a process as new as the server's.
MEASURE = """
import json, sys
from attention.models import load
text, models, names = map(json.loads, sys.argv[1:])
for model in models:
    layers = load(model).trace(text).layers
    print(json.dumps([max(float(layer.check_projections()[name].absolute) for layer in layers) for name in names]))
"""


@pytest.fixture(scope="module")
def largest_differences():
    """Measure the largest difference of each of the rows, for each of the models."""
    program = [sys.executable, "-c", MEASURE, *map(json.dumps, (TEXT, MODELS, [*ROWS]))]
    told = subprocess.run(program, capture_output=True, text=True, check=True, timeout=120).stdout
    return dict(zip(MODELS, map(json.loads, told.splitlines()), strict=True))


@pytest.mark.parametrize("model", MODELS)
def test_each_link_of_the_proof_is_a_key_away_and_its_difference_is_there(tab, model, largest_differences):
    tab.go("step_by_step", text=TEXT, model=model)
    line, table = tab.proof.locator("summary"), tab.proof.locator("table")
    expect(line).to_contain_text("✓ rows sum to 1")
    expect(table).to_be_hidden()
    line.focus()
    tab.page.keyboard.press("Enter")
    expect(table).to_be_visible()
    rows = table.locator("tr").filter(has=tab.page.locator("td"))
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("X·W_Q + b_Q")
    for row, largest in zip(ROWS.values(), largest_differences[model], strict=True):
        cells = rows.nth(row).locator("td")
        expect(cells.nth(2)).to_have_text(f"{largest + 0.0:.1e}")
        expect(cells.nth(3)).to_have_text(re.compile(r"^\d\.\de[-+]\d\d$"))
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
