"""The code lab in a browser: each implementation, with its code and its actual shapes."""

import re
from itertools import chain

import pytest
from playwright.sync_api import expect

from attention.experiments.five_ways import WAYS, run
from attention.lesson.five_ways import shape_table

TEXT = "Two small birds sing"


@pytest.fixture(scope="module")
def layer(models):
    return models["minilm-l6"].trace(TEXT).layers[1]


@pytest.mark.quick
def test_every_way_shows_its_own_code_and_shapes(tab, layer):
    tab.go("code_lab", text=TEXT, layer="2", head="5")
    for way, result in zip(WAYS, run(layer, 4), strict=True):
        tab.pick("Written as", way.name)
        code = tab.page.locator(".code").locator("code")
        expect(code).to_have_text(way.source.strip())
        table = shape_table(result)
        cells = tab.page.locator(".table.whole td")
        expect(cells).to_have_text(list(chain(*zip(table["variable"], table["shape"], strict=True))))


def test_another_layer_and_head_are_run(tab):
    tab.go("code_lab", text=TEXT)
    tab.select("Layer", "2 of 6")
    tab.expect_query(text=TEXT, layer="2", head="9")
    tab.select("Head", "5 of 12")
    tab.expect_query(text=TEXT, layer="2", head="5")
    expect(tab.words).to_contain_text(re.compile(r"\blayer 2\b.*\bhead 5\b", re.DOTALL))
    # The way that was chosen is a part of the link, and stays.
    tab.pick("Written as", WAYS[4].name)
    tab.expect_query(text=TEXT, layer="2", head="5", way=WAYS[4].file)
    tab.pick("Model", "Toy")
    tab.expect_query(text=TEXT, model="toy", at="A-4", way=WAYS[4].file)
    expect(tab.alternatives("Written as").get_by_role("radio", name=WAYS[4].name)).to_be_checked()
    expect(tab.proof).to_contain_text("Toy's output")
