"""Recent models in a browser, from folders and through a hub, with their features beyond the steps."""

import pytest
from playwright.sync_api import expect

from attention.models import local
from tests import tiny_models
from tests.browser.looks import check
from tests.browser.server import serve
from tests.small_hub import serve_hub

FOLDERS = ("gemma2", "modernbert", "olmo2")
FETCHED = "tiny/qwen3"
TEXT = "The cat sat on the mat, and the birds sang."


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A server with folders of its owner's, which may fetch one model from a hub on this machine."""
    place = tmp_path_factory.mktemp("tiny")
    folders = {kind: tiny_models.make(kind, place / kind) for kind in (*FOLDERS, "qwen3")}
    with serve_hub() as hub:
        hub.models[FETCHED] = folders["qwen3"]
        environment = {
            "HF_ENDPOINT": hub.url,
            "ATTENTION_HUB": FETCHED,
            "ATTENTION_HUB_DIR": str(tmp_path_factory.mktemp("hub")),
            local.MODEL_DIRS_VARIABLE: ":".join(str(folders[kind]) for kind in FOLDERS),
        }
        with serve(tmp_path_factory.mktemp("server") / "log", environment) as server:
            yield server
            assert "Traceback" not in server.printed()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "step", "told"),
    [
        ("gemma2", "scale", "This model then caps its scores"),
        ("modernbert", "mask", "sliding window"),
        ("olmo2", "embed", "the weights that make queries, keys and values are unknown"),
    ],
)
def test_a_folder_is_opened_and_what_its_model_does_is_said(running, new_tab, kind, step, told):
    tab = new_tab(at=running).go(model=kind, text=TEXT, step=step, layer="2")
    expect(tab.page.get_by_text(told).first).to_be_visible()
    expect(tab.proof).to_contain_text(f"{kind}'s output")
    expect(tab.proof).to_contain_text("✓")


@pytest.mark.slow
def test_a_model_of_today_is_fetched_and_shown(running, new_tab):
    tab = new_tab(at=running).go("models")
    tab.page.get_by_role("textbox", name="Model ID on the hub").fill(FETCHED)
    tab.page.get_by_role("button", name="Download", exact=True).click()
    expect(tab.page.get_by_text(f"{FETCHED} is ready")).to_be_visible()
    tab.go(model=FETCHED, text=TEXT, step="qkv")
    expect(tab.page.get_by_text("normalises").first).to_be_visible()
    expect(tab.proof).to_contain_text("✓")
    check(tab)
