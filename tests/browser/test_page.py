"""The page itself: its menu on a phone, stray clicks, and layout stability."""

import re

from playwright.sync_api import expect

from attention.lesson.steps import STEPS
from tests.browser.looks import set_scheme

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_on_a_phone_the_menu_lies_over_nothing_that_can_be_pressed(new_tab):
    tab = new_tab(**PHONE).go(model="toy", step="scores")
    menu = tab.page.get_by_test_id("stMainMenuButton")
    menu.click(trial=True)
    for control in tab.page.locator(".st-key-masthead").locator("a, button").filter(visible=True).all():
        control.click(trial=True)
    last = tab.steps.get_by_role("button").last
    # The last control of a line comes by where the menu was, when the page is scrolled.
    above, below = menu.bounding_box(), last.bounding_box()
    assert below["x"] < above["x"] + above["width"] / 2 < below["x"] + below["width"]
    main = tab.page.get_by_test_id("stMain")
    main.evaluate("(main, by) => main.scrollBy(0, by)", below["y"] - above["y"])
    tab.page.wait_for_function(
        """([x, y]) => !document.elementFromPoint(x, y).closest('[data-testid="stHeader"]')""",
        arg=[above["x"] + above["width"] / 2, above["y"] + above["height"] / 2],
        timeout=60_000,
    )
    last.click(position={"x": above["x"] + above["width"] / 2 - below["x"], "y": below["height"] / 2})
    tab.expect_query(model="toy", step="scale")
    main.evaluate("main => main.scrollTo(0, 0)")
    menu.click()
    expect(tab.page.get_by_test_id("stMainMenuList").first).to_be_visible()


def test_on_a_phone_a_tap_beside_an_open_panel_only_closes_it(new_tab):
    tab = new_tab(**PHONE).go(model="toy", step="scores")
    header, below = tab.page.locator(".st-key-header"), tab.steps.get_by_role("button", name=re.compile("^2 "))
    openers = [
        header.get_by_role("button", name="Share"),
        tab.page.locator(".st-key-context .fold > button"),
        tab.proof.locator("summary"),
    ]
    for opener in openers:
        opener.tap()
        panel = opener.locator("xpath=following-sibling::*[1]")
        expect(panel).to_be_visible()
        below.tap()
        expect(panel).to_be_hidden()
        tab.settled()
        expect(tab.current_step).to_contain_text("4")
    # Another opener opens its own.
    for name in ("Labs", "Explore"):
        header.get_by_role("button", name=name).tap()
        expect(header.get_by_role("link", name="Overview")).to_be_visible(visible=name == "Explore")
    header.get_by_role("button", name="Explore").tap()
    below.tap()
    expect(tab.heading.first).to_contain_text("2.")


def test_a_click_beside_everything_and_an_arrow_key_leave_no_frame(tab):
    tab.go(model="toy", step="scores")
    edge = {"x": 0, "y": 300, "width": 6, "height": 300}
    for scheme, then in (("dark", "scale"), ("light", "mask")):
        set_scheme(tab, scheme)
        before = tab.page.screenshot(clip=edge)
        tab.page.mouse.click(edge["x"] + 3, edge["y"] + 100)
        assert tab.page.evaluate("() => document.activeElement.dataset.testid") == "stMain"
        tab.page.keyboard.press("ArrowRight")
        tab.expect_query(model="toy", step=then)
        assert tab.page.evaluate("() => document.activeElement.matches(':focus-visible')")
        assert tab.page.screenshot(clip=edge) == before


def test_on_a_projector_no_step_moves_what_lies_below(new_tab):
    tab = new_tab(viewport={"width": 1280, "height": 720})
    tab.go("step_by_step", model="toy")
    places = set()
    for step in STEPS[1:]:
        tab.to_step(step.name)
        places.add(round(tab.heading.first.bounding_box()["y"]))
    assert len(places) == 1
