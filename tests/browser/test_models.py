"""The page *Models* in a browser: a model is fetched from a small hub, followed and shown; and failures."""

import re

import pytest
from playwright.sync_api import expect

from attention.models import local
from tests import tiny_models
from tests.browser.looks import check
from tests.browser.server import serve
from tests.browser.tab import PATIENCE
from tests.small_hub import serve_hub

ID, ALIAS = "google-bert/bert-base-uncased", "bert-base-uncased"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("tiny")
    return {kind: tiny_models.make(kind, place / kind) for kind in ("bert", "llama", "olmo2")}


@pytest.fixture(scope="module")
def small_hub():
    with serve_hub() as hub:
        yield hub


@pytest.fixture(scope="module")
def running(small_hub, folders, tmp_path_factory):
    """A server that may fetch all of the small hub, with two folders of its owner's and one that is not there."""
    environment = {
        "HF_ENDPOINT": small_hub.url,
        "ATTENTION_HUB": "*",
        "ATTENTION_HUB_DIR": str(tmp_path_factory.mktemp("hub")),
        local.MODEL_DIRS_VARIABLE: f"{folders['llama']}:{folders['olmo2']}:/nowhere/at-all",
    }
    with serve(tmp_path_factory.mktemp("server") / "log", environment) as server:
        yield server
        assert "Traceback" not in server.printed()


@pytest.fixture
def hub(small_hub, folders):
    """The hub as it is when nothing is wrong."""
    small_hub.__init__(small_hub.url)
    small_hub.models |= {ID: folders["bert"], "tiny/llama": folders["llama"]}
    yield small_hub
    small_hub.go_on.set()


@pytest.fixture
def page(running, hub, new_tab):
    """The page Models of that server."""
    tab = new_tab(at=running).go("models")
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Models")
    return tab


def card(tab, name):
    return tab.cards.filter(has=tab.page.get_by_role("heading", name=name, exact=True))


def fetch(tab, model_id):
    field = tab.page.get_by_role("textbox", name="Model ID on the hub")
    field.fill(model_id)
    tab.page.get_by_role("button", name="Download", exact=True).click()


@pytest.mark.slow
def test_a_model_is_fetched_seen_on_its_way_by_everybody_and_looked_at(page, running, hub, new_tab):
    hub.drip_seconds = 0.4
    expect(card(page, ALIAS)).to_contain_text("on the hub")
    page.page.get_by_role("button", name="Download, 440 MB").click()
    expect(card(page, ALIAS)).to_contain_text("being fetched")
    bar = page.page.get_by_role("progressbar")
    expect(bar).to_be_visible()
    expect(page.page.get_by_text(re.compile(rf"{ID}: 0\.\d of 0\.\d MB, .* MB/s, .* left"))).to_be_visible()
    # Somebody else sees it too, and to leave the page does not stop it.
    other = new_tab(at=running).go("models")
    expect(other.page.get_by_role("progressbar")).to_be_visible()
    page.go(step="tokens", model="toy")
    hub.go_on.set()
    expect(other.page.get_by_text(f"{ID} is ready")).to_be_visible()
    expect(other.page.get_by_role("progressbar")).to_have_count(0)
    page.go("models")
    expect(card(page, ALIAS)).to_contain_text("on disk")
    expect(card(page, ALIAS)).to_contain_text("3 × 4")
    page.page.get_by_role("link", name=f"Look at {ALIAS}").click()
    page.expect_query(model=ID)
    expect(page.heading.first).to_contain_text("1.")
    expect(page.proof).to_contain_text(f"{ALIAS}'s output")
    # ... and chosen on another page, from a list now that there are many.
    page.to_page("All heads")
    # The page before has such a list, too.
    expect(page.page).to_have_title(re.compile("^All heads"))
    page.settled()
    expect(page.page.get_by_role("combobox", name="Model")).to_have_value(ALIAS)
    page.select("Model", "Toy")
    page.expect_query(model="toy", at="A-19")


def test_a_model_without_a_map_leaves_room_for_words_and_matrices(running, hub, new_tab):
    tab = new_tab(at=running).go(model="olmo2", text="The cat sat", step="qkv")
    expect(tab.page.locator(".around-step_map")).to_have_count(0)
    words, pictures = (tab.page.locator(f".around-step_{side}").bounding_box() for side in ("left", "right"))
    assert words["width"] > 200
    assert pictures["width"] > 2 * words["width"]
    assert pictures["x"] >= words["x"] + words["width"]


@pytest.mark.slow
def test_it_can_be_read_by_everybody(page, hub):
    hub.drip_seconds = 0.4
    fetch(page, "tiny/llama")
    expect(page.page.get_by_role("progressbar")).to_be_visible()
    check(page)
    expect(page.page.get_by_role("progressbar")).to_be_visible()
    page.page.get_by_role("button", name="Cancel").click()
    expect(page.page.get_by_text("Cancelled")).to_be_visible()
    check(page)


@pytest.fixture
def unconverted(tmp_path):
    """A new server that has never converted anything."""
    with serve(tmp_path / "log", {"ATTENTION_CACHE_DIR": str(tmp_path / "cache")}) as server:
        yield server
        assert "Traceback" not in server.printed()


@pytest.mark.slow
def test_the_one_time_conversion_shows_how_far_it_is(unconverted, new_tab):
    tab = new_tab(at=unconverted)
    tab.page.goto(f"{unconverted.url}/step_by_step?model=smollm2-135m")
    bar = tab.page.get_by_text(re.compile(r"Converting SmolLM2: [1-9]\d* of 272 tensors"))
    expect(bar).to_be_visible(timeout=5 * PATIENCE)
    expect(tab.page.get_by_role("progressbar")).to_be_visible()
    expect(tab.proof).to_contain_text(re.compile("✓.*SmolLM2"), timeout=5 * PATIENCE)
    expect(tab.page.get_by_role("progressbar")).to_have_count(0)
