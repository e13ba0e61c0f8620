"""*What it costs* in a browser: a measurement is started, followed, stopped and read, by mouse and keyboard."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import check, expect_to_fit
from tests.browser.server import serve
from tests.browser.test_labs import show

ADDRESS = "cost"
# A busy machine takes long to start a process that needs torch.
PATIENCE = 60_000


@pytest.fixture
def unmeasured(tmp_path):
    """An app that has never measured anything, whatever this machine has."""
    with serve(tmp_path / "log", environment={"ATTENTION_CACHE_DIR": str(tmp_path / "cache")}) as server:
        yield server


def test_it_is_measured_followed_and_stopped_and_whoever_comes_next_sees_it(unmeasured, new_tab):
    tab = new_tab(unmeasured)
    show(tab.go(ADDRESS, model="toy"))
    start, stop = (tab.page.get_by_role("button", name=re.compile(name)) for name in ("^Measure", "^Stop$"))
    expect(stop).to_be_hidden()
    start.press("Enter")
    expect(stop).to_be_visible(timeout=PATIENCE)
    expect(start).to_be_hidden()
    # It moves by itself, and says how fast something grows once it can.
    expect(tab.page.get_by_text(re.compile(r"From \d+ to [\d,]+ tokens, time grows"))).to_be_visible(timeout=PATIENCE)
    stop.click()
    expect(tab.page.get_by_text("stopped after")).to_be_visible()
    expect(start).to_be_enabled()
    tab.settled()
    # The first point of the memory is what arithmetic says: two arrays of scores, and the queries divided by √d.
    tab.pick("What is shown", "Memory")
    expect(tab.page).to_have_url(re.compile("cost=memory"))
    tab.page.locator(".st-key-memory_chart .picture").press("Home")
    readout = tab.page.locator(".st-key-memory_chart [role=status]")
    expect(readout).to_contain_text(f"tokens 64, explicit: {4 * (2 * 4 * 64**2 + 64 * 256) / 1e6:.4g}")
    there = new_tab(unmeasured)
    there.page.goto(tab.page.url)
    expect(there.page.get_by_text("stopped after")).to_be_visible()
    expect(there.page.get_by_text("explicit attention held")).to_be_visible()
    check(tab)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    expect_to_fit(tab)


def test_a_chart_is_not_made_anew_for_other_numbers_and_stays_as_it_is_zoomed(tab):
    tab.go("cost", model="toy", cost="paper", tokens="131072")
    tab.page.get_by_role("button", name="Show me").click()
    plot = tab.page.locator(".st-key-caches .plot")
    expect(plot.locator(".main-svg").first).to_be_visible()
    whole = plot.locator(".xtick text").all_text_contents()
    plot.hover()
    plot.locator(".modebar-btn[data-title='Zoom in']").click()
    zoomed = plot.locator(".xtick text")
    expect(zoomed).not_to_have_count(len(whole))
    seen = zoomed.all_text_contents()
    plot.locator(".main-svg").first.evaluate("drawing => { drawing.dataset.mark = 'same'; }")
    sizes = "plot => plot.data.map(({ marker }) => typeof marker.size)"
    assert plot.evaluate(sizes) == ["number", "object"]
    tab.pick("Key/value heads", "32, one per head")
    expect(tab.page).to_have_url(re.compile("kept=32"))
    tab.page.wait_for_function(
        f"([plot, wanted]) => String(({sizes})(plot)) === wanted", arg=[plot.element_handle(), "object,number"]
    )
    expect(plot.locator(".main-svg").first).to_have_attribute("data-mark", "same")
    assert zoomed.all_text_contents() == seen
