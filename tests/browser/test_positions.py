"""*Where am I?* in a browser: words are dragged by mouse and finger, moved by keyboard, and arrows rotate."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from attention.experiments.shuffled import first_head

SENTENCE = "Nine small boats left"
HEAD = 1


@pytest.fixture
def lab(tab):
    """The lab, with its question answered."""

    def open_(**query):
        tab.go("positions", model="toy", text=SENTENCE, head=str(HEAD + 1), **query)
        tab.page.get_by_role("button", name="Show me").click()
        expect(tab.page.get_by_text("Here is the answer.")).to_be_visible()
        return tab.settled()

    return open_


def chips(tab):
    return tab.page.locator(".st-key-order .chip")


def expect_order(tab, *words):
    expect(chips(tab).locator(".text")).to_have_text(list(words))


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_word_is_dragged_elsewhere_and_the_order_is_in_the_link(lab, models, new_tab):
    tab = lab(order="")
    expect_order(tab, "nine", "small", "boats", "left")
    chips(tab).first.scroll_into_view_if_needed()
    mouse = tab.page.mouse
    mouse.move(*middle(chips(tab).nth(0)))
    mouse.down()
    x, y = middle(chips(tab).nth(2))
    mouse.move(x + 12, y, steps=12)
    mouse.up()
    expect_order(tab, "small", "boats", "nine", "left")
    expect(tab.page).to_have_url(re.compile("order=2-3-1"))
    steps = first_head(models["toy"].trace(SENTENCE), HEAD, [1, 2, 0, 3], with_positions=False)
    cell = tab.page.locator(".st-key-moved_weights rect[data-row='2'][data-column='3'] + text")
    expect(cell).to_have_text(f"{steps.weights[2, 3]:.2f}")
    expect(tab.page.get_by_text("nine, position 3 of 4")).to_be_visible()
    there = new_tab()
    there.page.goto(tab.page.url)
    expect_order(there, "small", "boats", "nine", "left")


def test_a_word_is_picked_up_and_moved_with_the_keyboard(lab):
    tab = lab(order="")
    first = chips(tab).first
    first.focus()
    first.press("ArrowRight")
    expect(chips(tab).nth(1)).to_be_focused()
    chips(tab).nth(1).press("Enter")
    expect(chips(tab).nth(1)).to_have_attribute("aria-pressed", "true")
    tab.page.keyboard.press("ArrowRight")
    expect_order(tab, "nine", "boats", "small", "left")
    expect(chips(tab).nth(2)).to_be_focused()
    expect(tab.page).to_have_url(re.compile("order=1-3-2"))
    tab.page.keyboard.press("Escape")
    expect_order(tab, "nine", "small", "boats", "left")
    # With Shift, an arrow moves at once.
    tab.page.keyboard.press("Shift+End")
    expect_order(tab, "nine", "boats", "left", "small")
    expect(tab.page.locator(".st-key-order [role=status]")).to_have_text("small, position 4 of 4")


def test_pressed_one_after_the_other_a_word_takes_the_place_of_another(lab):
    tab = lab(order="")
    chips(tab).nth(3).click()
    chips(tab).nth(0).click()
    expect_order(tab, "left", "nine", "small", "boats")
    expect(tab.page.locator(".st-key-order [aria-pressed]")).to_have_count(0)


def test_a_finger_drags_too(new_tab):
    tab = new_tab(viewport={"width": 390, "height": 844}, has_touch=True)
    tab.go("positions", model="toy", text=SENTENCE, order="")
    tab.page.get_by_role("button", name="Show me").tap()
    expect(chips(tab).first).to_be_visible()
    tab.settled()
    chips(tab).first.scroll_into_view_if_needed()
    session = tab.page.context.new_cdp_session(tab.page)

    def touch(kind, *points):
        found = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": found})

    start, end = middle(chips(tab).nth(0)), middle(chips(tab).nth(1))
    touch("touchStart", start)
    for part in np.linspace(0.1, 1, 10):
        touch("touchMove", (start[0] + part * (end[0] + 12 - start[0]), start[1]))
    touch("touchEnd")
    expect_order(tab, "small", "nine", "boats", "left")
    expect(tab.page).to_have_url(re.compile("order=2-1"))


def test_the_arrows_turn_as_far_as_the_text_is_shifted(tab):
    tab.go("positions", model="smollm2-135m", text=SENTENCE, scheme="rotary")
    tab.page.get_by_role("button", name="Show me").click()
    slider = tab.page.get_by_role("slider", name="Shift of the text, in positions")
    slider.focus()
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "0")
    first = tab.page.locator(".st-key-dials .now.query").first

    def angle():
        return float(re.search(r"rotate\(([-\d.e]+)rad\)", first.get_attribute("style"))[1])

    expect(tab.page.get_by_text("Shift the whole text by 0 places")).to_be_visible()
    tab.settled()
    before = angle()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(tab.page.get_by_text("Shift the whole text by 2 places")).to_be_visible()
    tab.settled()
    # The first pair turns by one radian a place, and angles of a picture grow downwards.
    assert before - angle() == pytest.approx(2, abs=1e-3)
