"""A server without BERT's weights, or with wrong ones: the toy works, and BERT's place says what to do."""

import re

import pytest
from playwright.sync_api import expect

from attention.page.content.front import OPENING_TEXT
from tests.browser.server import serve
from tests.sweep import sweep


@pytest.fixture(params=sweep(["missing", "wrong"], quick=["missing"]))
def broken(request, tmp_path):
    """A server whose weights lie in a folder that has none, or not the right ones."""
    if request.param == "wrong":
        (tmp_path / "minilm-l6").mkdir()
        (tmp_path / "minilm-l6" / "model.safetensors").write_bytes(b"something else")
    with serve(tmp_path / "log", {"ATTENTION_WEIGHTS_DIR": str(tmp_path)}) as server:
        yield server, request.param


@pytest.mark.slow
def test_the_toy_works_and_berts_place_says_what_is_wrong_and_the_command(broken, new_tab, models):
    server, kind = broken
    words = "are not installed" if kind == "missing" else "are not the published ones"
    tab = new_tab(at=server).go(step="softmax", beside="1")
    expect(tab.notices).to_contain_text(words)
    expect(tab.notices).to_contain_text("minilm-l6")
    expect(tab.page.locator(".code")).to_contain_text("ATTENTION_WEIGHTS_DIR")
    toy = models["toy"].trace("The cat sat on the mat").layers[0].head(1)
    tab.matrix("weights", "other").expect_to_show(toy.weights)
    expect(tab.proof).to_contain_text("Toy's output")
    expect(tab.proof).not_to_contain_text("MiniLM")

    # One can go on, with the toy alone.
    tab.pick("Model", "Toy")
    tab.turn("Side by side")
    tab.expect_query(step="softmax", model="toy")
    tab.matrix("weights").expect_to_show(toy.weights)
    expect(tab.notices).to_have_count(0)

    tab.to_page("What this is")
    front = models["toy"].trace(OPENING_TEXT).layers[0].head(2).weights
    expect(tab.page.locator(".arcs .weight").nth(1)).to_have_text(f"{front[7, 1]:.2f}")
    expect(tab.notices).to_have_count(0)
    tab.pick("Model", "MiniLM (a small BERT)")
    expect(tab.notices).to_contain_text(words)
    tab.pick("Model", "Toy")
    tab.to_page("All heads")
    expect(tab.page).to_have_url(re.compile("/all_heads"))
    tab.settled()
    assert "Traceback" not in server.printed()
