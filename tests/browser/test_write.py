"""*Train it on your text* in a browser: a text is pasted, learnt, stopped, replayed, and private."""

import re

from playwright.sync_api import expect

from attention.training.writing_results import DEPTHS, MOMENTS
from tests.browser.looks import check, expect_to_fit
from tests.browser.test_labs import show

ADDRESS = "write"
# As it would be said in a page, were it no text.
LINE = "<img src=x onerror=alert(1)> velvet & <b>quarantine</b>\n"
TEXT = LINE * 40
# As deep as it can be, so that it does not end before it is stopped.
DEPTH = DEPTHS[-1]
# A busy machine takes long to start a process that needs torch.
PATIENCE = 180_000


def test_a_text_is_pasted_learnt_stopped_and_looked_through_and_nobody_else_sees_it(tab, new_tab, server):
    page = tab.page
    sent = []

    page.on("request", lambda request: sent.extend([request.post_data or ""]))
    show(tab.go(ADDRESS, model="toy", n_layers=str(DEPTH)))
    field = page.get_by_role("textbox", name="Your text")
    start, stop = (page.get_by_role("button", name=re.compile(name)) for name in ("^Train( again)?$", "^Stop$"))
    # Too short, and what was typed stays there.
    field.fill("velvet")
    expect(page.get_by_text("6 characters (2,000 to 200,000)")).to_be_visible()
    start.press("Enter")
    refused = page.get_by_text(re.compile(r"\b2,000\b(?!.*200,000)"))
    expect(refused).to_be_visible()
    expect(field).to_have_value("velvet")
    check(tab)
    # It goes on without the page, and the text is there when one comes back.
    field.fill(TEXT)
    start.click()
    expect(stop).to_be_visible(timeout=PATIENCE)
    expect(field).to_be_hidden()
    expect(refused).to_have_count(0)
    tab.to_page("Masks")
    expect(page).to_have_url(re.compile("/masks"))
    tab.settled().to_page("Train it on your text")
    expect(page).to_have_url(re.compile(f"/{ADDRESS}"))
    expect(page.get_by_text(re.compile(r"After (25|[5-9]\d|\d{3}) steps"))).to_be_visible(timeout=PATIENCE)
    # It is sent once, and not again with every press.
    stop.click()
    expect(page.get_by_text("stopped after")).to_be_visible()
    expect(field).to_have_value(TEXT)
    assert 1 <= sum("quarantine" in said for said in sent) <= 2
    tab.settled()
    # Back to the beginning with the keyboard, and one stage on.
    slider = page.get_by_role("slider", name="Steps of training")
    slider.focus()
    slider.press("Home")
    for index, moment in enumerate(MOMENTS[:2]):
        expect(page.get_by_text(f"After {moment} steps of")).to_be_visible()
        expect(page).to_have_url(re.compile(f"stage={index}"))
        slider.press("ArrowRight")
    assert page.locator("img[src=x]").count() == 0
    # A head by the mouse.
    page.locator(".st-key-written_heads").get_by_role("button").nth(2).click()
    expect(page).to_have_url(re.compile("seen_head=3"))
    expect(page.locator(".st-key-written_weights")).to_contain_text("Layer 1, head 3")
    check(tab, wide="dark")
    # With the link, somebody else finds the page, and nothing of the text.
    assert "velvet" not in page.url
    there = new_tab()
    there.page.goto(page.url)
    expect(there.page.get_by_role("button", name=re.compile("^Train"))).to_be_enabled()
    assert "velvet" not in there.page.content()
    expect(there.page.get_by_text("your text on")).to_have_count(0)
    assert "velvet" not in server.printed()
    page.set_viewport_size({"width": 390, "height": 844})
    expect_to_fit(tab)
