"""What everybody needs of a page: no barrier that axe finds, and nothing wider than the window."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.tab import Tab

WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 420, "height": 900}


def check(tab: Tab) -> None:
    """Look at the place with every window and theme, and come back to the first."""
    grounds = set()
    for size in (WIDE, NARROW):
        tab.page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            tab.page.emulate_media(color_scheme=scheme)
            ground = "rgb(255, 255, 255)" if scheme == "light" else "rgb(15, 19, 24)"
            expect(tab.page.get_by_test_id("stApp")).to_have_css("background-color", ground)
            tab.settled()
            expect_no_barrier(tab, f"{size['width']} px, {scheme}")
            grounds.add(ground)
        expect_to_fit(tab)
    assert len(grounds) == 2
    tab.page.set_viewport_size(WIDE)
    tab.page.emulate_media(color_scheme="light")
    tab.settled()


def expect_nothing_to_choose(page: Page) -> None:
    """A neuron view where no other pair can be shown invites nobody to choose one; its numbers are read by pointing."""
    queries, keys = page.locator(".neuron .token"), page.locator(".neuron .row")
    expect(queries.first).to_be_disabled()
    assert queries.first.evaluate("each => getComputedStyle(each).cursor") == "default"
    assert keys.first.evaluate("each => getComputedStyle(each).cursor") == "default"
    assert "Choose a query" not in page.locator("body").inner_text()
    expect(page.locator(".neuron .hint")).to_have_count(0)
    chosen = [key.get_attribute("aria-pressed") for key in keys.all()]
    other = chosen.index("false")
    keys.nth(other).locator(".score").click(force=True)
    assert [key.get_attribute("aria-pressed") for key in keys.all()] == chosen
    score = keys.nth(other).locator(".score").inner_text()
    expect(page.locator(".neuron .readout")).to_contain_text(f"= {score}")


def expect_no_barrier(tab: Tab, how: str) -> None:
    """Ask axe; of what it finds, serious and critical faults keep people out."""
    found = Axe().run(tab.page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [
        f"{how}: {fault['id']}: {node['target']} {node['html'][:200]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
    assert serious == []


def expect_to_fit(tab: Tab) -> None:
    """Nothing makes the page as a whole wider than its window."""
    too_wide = tab.page.evaluate(
        "() => [document.scrollingElement, document.querySelector('[data-testid=stMain]')]"
        ".map(each => each.scrollWidth - each.clientWidth)"
    )
    assert too_wide == [0, 0]


def expect_bars_as_long_as_true(question: Locator, shares: Iterable[float]) -> None:
    """True and guessed shares are as long, of the sliders beside them, as they are of 1."""
    whole = question.get_by_role("slider").first.bounding_box()["width"]
    lengths = question.locator(".truth i").evaluate_all("all => all.map(each => each.getBoundingClientRect().width)")
    # A bar has a pixel at least, so that it is seen.
    assert lengths == pytest.approx([max(1, share * whole) for share in shares], abs=0.5)
    stand = question.get_by_role("slider").evaluate_all("all => all.map(each => Number(each.value))")
    told = [float(each.strip("%")) for each in question.locator(".share").all_text_contents()]
    assert stand == pytest.approx(told, abs=0.051)
    # The numbers stay in their column.
    beyond = "all => all.map(each => each.scrollWidth - each.clientWidth)"
    assert max(question.locator(".truth b, .share").evaluate_all(beyond)) <= 0
