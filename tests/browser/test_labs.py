"""Labs in a browser: a guess, then knobs, by mouse and keyboard, in the link; and everybody can read them."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from attention.pages import OF_LABS
from tests.browser.looks import check, expect_to_fit

SENTENCE = "Nine small boats left the harbour"


def show(tab):
    """Have the question answered."""
    tab.page.get_by_role("button", name="Show me").click()
    expect(tab.page.get_by_text("Here is the answer.")).to_be_visible()
    return tab.settled()


@pytest.mark.quick
def test_why_divide_is_guessed_first_and_then_shown(tab):
    tab.go("why_divide", model="toy", text=SENTENCE)
    expect(tab.page.get_by_role("heading", name="Random queries and keys")).to_have_count(0)
    tab.page.get_by_role("button", name="about 64").click()
    expect(tab.page.get_by_text("the standard deviation is 8.01")).to_be_visible()
    expect(tab.page.get_by_role("heading", name="Random queries and keys")).to_be_visible()


@pytest.mark.quick
def test_the_slider_of_the_width_goes_by_keys_and_is_in_the_link(tab, new_tab):
    show(tab.go("why_divide", model="toy", text=SENTENCE))
    slider = tab.page.get_by_role("slider", name="Numbers in a query, d")
    slider.focus()
    slider.press("End")
    expect(tab.page.get_by_text("With d = 512, the scores spread by")).to_be_visible()
    expect(slider).to_be_focused()
    expect(slider).to_have_attribute("aria-valuetext", "512")
    expect(tab.page).to_have_url(re.compile("width=512"))
    slider.press("ArrowLeft")
    expect(tab.page.get_by_text("With d = 256, the scores spread by")).to_be_visible()
    # The arrow keys are the slider's, and Back leads to the value before.
    tab.page.go_back()
    expect(tab.page.get_by_text("With d = 512, the scores spread by")).to_be_visible()
    there = new_tab()
    there.page.goto(tab.page.url)
    expect(there.page.get_by_text("With d = 512, the scores spread by")).to_be_visible()
    expect(there.page.get_by_role("slider", name="Numbers in a query, d")).to_have_attribute("aria-valuetext", "512")


def test_the_weights_of_the_head_follow_the_knobs(tab, models):
    show(tab.go("why_divide", model="toy", text=SENTENCE, head="2"))
    steps = models["toy"].trace(SENTENCE).layers[0].head(1)
    tab.pick("Divide the scores by", "1, as they are")
    tab.page.get_by_role("slider", name="Temperature").press("End")
    expect(tab.page.get_by_role("slider", name="Temperature")).to_have_attribute("aria-valuetext", "10")
    expect(tab.page).to_have_url(re.compile("divisor=none&temperature=10"))
    powers = np.exp(steps.scores / 10)
    wanted = powers / powers.sum(axis=-1, keepdims=True)
    cell = tab.page.locator(".st-key-chosen_weights rect[data-row='1'][data-column='2'] + text")
    expect(cell).to_have_text(f"{wanted[1, 2]:.2f}")
    # A press on a row of either matrix chooses its word.
    tab.page.locator(".st-key-chosen_weights rect[data-row='4'][data-column='0']").click(force=True)
    tab.expect_chosen("Word", "4 the")


@pytest.mark.parametrize("page", OF_LABS.values(), ids=lambda page: page.address)
def test_everybody_can_read_a_lab(tab, page):
    tab.go(page.address, text=SENTENCE)
    check(tab)
    show(tab)
    check(tab)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    expect_to_fit(tab)


@pytest.mark.parametrize("page", OF_LABS.values(), ids=lambda page: page.address)
def test_a_lab_that_was_taken_away_opens_from_the_disk(tab, browser, tmp_path, page):
    show(tab.go(page.address, model="toy", text=SENTENCE))
    file = tmp_path / "lab.html"
    tab.download_page().save_as(file)
    context = browser.new_context(offline=True)
    shown = context.new_page()
    errors = []
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.goto(file.as_uri())
    expect(shown.locator("[data-picture]").first).to_be_visible()
    expect(shown.locator("table").first).to_be_attached()
    context.close()
    assert errors == []
