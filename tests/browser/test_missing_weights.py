"""A server without a model's weights, or with others: the toy works, and in the model's place stands what to do."""

import re
from hashlib import sha256

import pytest
from playwright.sync_api import expect

from tests.browser.server import serve

# What is in a file that is not BERT's weights.
OTHER = b"something else"


@pytest.fixture
def broken(tmp_path):
    """A server of its own, whose weights lie in a folder that has none; and that folder."""
    with serve(tmp_path / "log", {"ATTENTION_WEIGHTS_DIR": str(tmp_path)}) as server:
        yield server, tmp_path / "minilm-l6"


def expect_unavailable(tab, *, is_other):
    """In BERT's place stands that it is missing, which file is wrong, and what to type."""
    expect(tab.notices).to_contain_text("minilm-l6")
    expect(tab.notices).to_contain_text("model.safetensors")
    assert (sha256(OTHER).hexdigest()[:12] in tab.notices.inner_text()) == is_other
    expect(tab.page.get_by_test_id("stCode")).to_contain_text("ATTENTION_WEIGHTS_DIR")


def test_the_toy_works_and_berts_place_says_what_is_wrong_and_the_command(broken, new_tab, models):
    server, folder = broken
    tab = new_tab(at=server).go(step="softmax", beside="1")
    expect_unavailable(tab, is_other=False)
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(OTHER)
    tab.go(step="softmax", beside="1")
    expect_unavailable(tab, is_other=True)
    toy = models["toy"].trace("The cat sat on the mat").layers[0].head(1)
    tab.matrix("weights", "other").expect_to_show(toy.weights)
    expect(tab.proof).to_contain_text("Toy's own output")
    expect(tab.proof).not_to_contain_text("BERT")

    # One can go on, with the toy alone.
    tab.pick("Model", "Toy")
    tab.page.get_by_text("Side by side").click()
    tab.expect_query(step="softmax", model="toy")
    tab.matrix("weights").expect_to_show(toy.weights)
    expect(tab.notices).to_have_count(0)

    tab.to_page("What this is")
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("See attention happen")
    expect(tab.notices).to_have_count(0)
    tab.page.get_by_role("button", name="Show me").click()
    tab.matrix("toy", "front").expect_to_show(toy.weights)
    tab.pick("Model", "BERT")
    expect(tab.notices).to_contain_text("minilm-l6")
    tab.pick("Model", "Toy")
    tab.to_page("All heads")
    expect(tab.page).to_have_url(re.compile("/all_heads"))
    tab.settled()
    assert "Traceback" not in server.printed()
