"""A server that has just started: the first visitor of any page sees what later ones see."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.server import serve


# What the first request finds, only a new server shows.
@pytest.fixture
def fresh(tmp_path):
    with serve(tmp_path / "log") as server:
        yield server


def test_a_deep_link_may_be_the_very_first_request(fresh, new_tab, models):
    query = {"step": "scores", "layer": "3", "head": "4", "cell": "scores-1-2", "word": "1"}
    first = new_tab(at=fresh).go(**query)
    steps = models["minilm-l6"].trace("The cat sat on the mat").layers[2].head(3)
    first.matrix("scores").expect_to_show(steps.scores)
    expect(first.detail).to_contain_text("q(the (1)) · k(cat)")
    assert first.query() == query
    # The other page is there too, for this one and for the next to come.
    first.to_page("What this is")
    expect(first.page.locator(".st-key-front_picture")).to_be_visible()
    second = new_tab(at=fresh).go("")
    expect(second.page.locator(".st-key-front_picture")).to_be_visible()
    second.page.locator(".st-key-way_in_minilm-l6").click()
    expect(second.heading).to_have_text(re.compile(r"^1\. "))
    assert "Traceback" not in fresh.printed()
