"""*Guess first* in a browser: by mouse and keyboard, counted once, and accessible."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import check, expect_bars_as_long_as_true

SENTENCE = "The animal was tired"


@pytest.fixture(scope="module")
def tab(new_shared_tab):
    """One tab for all tests of this file."""
    return new_shared_tab()


def question(tab):
    return tab.page.locator(".st-key-question .question")


def test_the_weights_are_not_there_before_they_are_guessed(tab, models):
    tab.go(model="toy", text=SENTENCE, step="softmax", word="1")
    weight = tab.matrix("weights").cell(1, 0).text_content()
    tab.turn("Guess first")
    tab.expect_query(model="toy", text=SENTENCE, step="softmax", word="1", guess="1")
    expect(tab.page.locator(".matrix")).to_have_count(0)
    sliders = question(tab).get_by_role("slider")
    expect(sliders).to_have_count(4)
    assert weight not in question(tab).text_content()
    check(tab)
    sliders.nth(2).focus()
    for _ in range(5):
        tab.page.keyboard.press("ArrowRight")
    expect(sliders.nth(2)).to_have_value("30")
    # The arrows moved the bar, not the page.
    assert tab.query()["step"] == "softmax"
    tab.page.keyboard.press("Enter")
    expect(question(tab).locator(".truth")).to_have_count(4)
    tab.settled()
    row = models["toy"].trace(SENTENCE).layers[0].head(1).weights[1]
    told = [float(each.strip("% ")) for each in question(tab).locator(".truth b").all_text_contents()]
    assert told == pytest.approx(100 * row, abs=0.051)
    expect_bars_as_long_as_true(question(tab), row)
    expect(tab.matrix("weights").cell(1, 0)).to_be_visible()
    check(tab)


@pytest.mark.quick
def test_a_guess_counts_once_in_a_visit(tab):
    tab.go(model="toy", text=SENTENCE, step="mask", guess="1")
    question(tab).get_by_role("button", name="6", exact=True).click()
    expect(question(tab).locator(".right .said")).to_have_text("right · your guess")
    counted = question(tab).locator(".count").text_content()
    tab.page.reload()
    tab.settled()
    expect(question(tab).locator(".count")).to_have_text(counted)
    # So many guesses, and one of them right.
    assert re.match(r"\D*\d+\D+1\b", counted)


def test_an_answer_that_is_shown_is_not_called_right(tab):
    tab.go(model="toy", text="The dog was tired", step="mask", guess="1")
    counted = question(tab).locator(".count").text_content()
    question(tab).get_by_role("button", name="Show me").click()
    expect(question(tab).locator(".said")).to_have_text("the answer")
    expect(question(tab).locator(".count")).to_have_text(counted)


def test_every_screen_has_room_for_the_question(tab):
    check(tab.go(text=SENTENCE, step="embed", guess="1"))
