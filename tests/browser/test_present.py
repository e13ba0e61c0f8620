"""A step for a room: large, without controls, and led on by a presenter's remote."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import expect_no_barrier, expect_to_fit

PROJECTOR = {"width": 1280, "height": 720}


@pytest.fixture(scope="module")
def tab(new_shared_tab):
    tab = new_shared_tab()
    tab.page.set_viewport_size(PROJECTOR)
    return tab


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("step", ["scores", "softmax"])
def test_a_room_can_read_it(tab, step, scheme):
    tab.page.emulate_media(color_scheme=scheme)
    tab.go(step=step, present="1")
    assert tab.page.locator("select, input:visible, textarea").count() == 0
    heading = tab.heading.first
    assert heading.evaluate("each => getComputedStyle(each).fontSize") == "32px"
    assert tab.words.first.locator("p").evaluate("each => getComputedStyle(each).fontSize") == "24px"
    picture = tab.matrix("scores" if step == "scores" else "weights").picture
    box = picture.bounding_box()
    assert box["height"] >= 0.7 * PROJECTOR["height"]
    assert box["y"] + box["height"] <= PROJECTOR["height"]
    sizes = picture.locator(".cells").evaluate("each => Number(each.getAttribute('font-size'))")
    assert sizes >= 20
    for each in (heading, tab.words.first, tab.current_step):
        expect(each).to_be_in_viewport(ratio=1)
    expect_no_barrier(tab, scheme)
    expect_to_fit(tab)
    tab.page.emulate_media(color_scheme="light")


def test_the_keys_of_a_remote_lead_on_and_p_turns_it_on_and_off(tab):
    tab.go(step="scores")
    tab.page.keyboard.press("p")
    tab.expect_query(step="scores", present="1")
    for key, number, step in (("PageDown", 5, "scale"), ("ArrowRight", 6, "mask"), ("PageUp", 5, "scale")):
        tab.page.keyboard.press(key)
        expect(tab.heading.first).to_have_text(re.compile(f"^{number}\\. "))
        tab.expect_query(step=step, present="1")
    tab.page.keyboard.press("Escape")
    tab.expect_query(step="scale")
    expect(tab.field).to_be_visible()
    # The key of a page scrolls a page again.
    tab.page.keyboard.press("PageDown")
    tab.page.get_by_role("button", name="Present").click()
    tab.expect_query(step="scale", present="1")
    tab.page.go_back()
    tab.expect_query(step="scale")


@pytest.mark.quick
def test_a_letter_that_is_typed_is_no_command(tab):
    tab.go(model="toy")
    tab.field.fill("")
    tab.field.press_sequentially("pppp")
    tab.field.press("Enter")
    tab.expect_query(model="toy", text="pppp")
