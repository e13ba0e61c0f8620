"""What every page must satisfy: no serious fault found by axe, nothing wider than the window or cut on paper."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.tab import TWO_FRAMES, Tab

WIDE: ViewportSize = {"width": 1400, "height": 900}
NARROW: ViewportSize = {"width": 420, "height": 900}
GROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 19, 24)"}
# A4 with Chromium's margins, in CSS pixels.
PAPER = 718
CONTROLS = ", ".join(
    f'[data-testid="st{name}"]'
    for name in ("Selectbox", "Button", "ButtonGroup", "Checkbox", "DownloadButton", "PageLink", "Header", "MainMenu")
)
# All elements of the page, including those in shadow roots.
EVERYTHING = """const everything = root => [...root.querySelectorAll('*')].flatMap(
  each => each.shadowRoot ? [each, ...everything(each.shadowRoot)] : [each]);"""


def check(tab: Tab, wide: str = "light") -> None:
    """Check the page in a wide window with one theme and a narrow one with the other, then restore the window.

    Tests that check twice use the other combinations the second time.
    """
    narrow = {"light": "dark", "dark": "light"}[wide]
    look(tab, (WIDE, wide), (NARROW, narrow))


def look(tab: Tab, *looks: tuple[ViewportSize, str]) -> None:
    """Check the page in several windows and themes, then restore the window."""
    for size, scheme in looks:
        tab.page.set_viewport_size(size)
        set_scheme(tab, scheme)
        expect_to_fit(tab)
        expect_no_id_twice(tab)
        # axe measures the contrast of what is in the window only.
        height = tab.page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight")
        tab.page.set_viewport_size({**size, "height": max(size["height"], height)})
        expect_no_barrier(tab.settled(), f"{size['width']} px, {scheme}")
    tab.page.set_viewport_size(WIDE)
    set_scheme(tab, "light")


def set_scheme(tab: Tab, scheme: str) -> None:
    """Switch to light or dark, and wait until it is applied."""
    tab.page.emulate_media(color_scheme=scheme)
    expect(tab.page.get_by_test_id("stApp")).to_have_css("background-color", GROUNDS[scheme])
    tab.settled()


def expect_nothing_to_choose(page: Page) -> None:
    """A neuron view without other pairs offers no choice; its numbers can be read by pointing."""
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


def barriers(page: Page) -> list[dict]:
    """The faults that axe finds, without fetching the style sheets again, which no rule of those it runs needs."""
    # What measures itself when the window changes has done so before the next frame, not before.
    page.evaluate(TWO_FRAMES)
    axe = Axe(axe_script="") if page.evaluate("'axe' in window") else Axe()
    return axe.run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]


def expect_no_barrier(tab: Tab, how: str) -> None:
    """Run axe; serious and critical faults exclude people."""
    serious = [
        f"{how}: {fault['id']}: {node['target']} {node['html'][:200]}"
        for fault in barriers(tab.page)
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
    assert serious == []


def expect_to_fit(tab: Tab) -> None:
    """Nothing is wider than the window."""
    too_wide = tab.page.evaluate(
        "() => [document.scrollingElement, document.querySelector('[data-testid=stMain]')]"
        ".map(each => each.scrollWidth - each.clientWidth)"
    )
    assert too_wide == [0, 0]


def expect_no_id_twice(tab: Tab) -> None:
    """IDs are unique in the whole page."""
    twice = tab.page.evaluate(
        f"""() => {{
          {EVERYTHING}
          const ids = everything(document).map(each => each.id).filter(id => id);
          return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
        }}"""
    )
    assert twice == []


def expect_whole_on_paper(tab: Tab, mask: str = "none") -> None:
    """The printed page is complete and has no controls; it names its layer and mask."""
    tab.page.emulate_media(media="print")
    # Printing narrows the page without telling its scripts, so measure before they can know.
    cut = tab.page.evaluate(
        f"""width => {{
          {EVERYTHING}
          const app = document.querySelector('[data-testid=stApp]');
          app.style.width = `${{width}}px`;
          const cut = [];
          for (const each of everything(document)) {{
            const shown = '.matrix svg, .matrix .readout, canvas, .board, .main-svg, .table table';
            if (!each.matches(shown) || !each.checkVisibility()) continue;
            const box = each.getBoundingClientRect();
            if (box.width === 0) continue;
            if (box.right > width + 1) cut.push(['paper', each.className?.baseVal ?? each.className, box.right]);
            for (let outer = each; outer && outer !== app; outer = outer.parentElement ?? outer.getRootNode().host) {{
              const [style, around] = [getComputedStyle(outer), outer.getBoundingClientRect()];
              const isCut = box.right > around.right + 1 || box.bottom > around.bottom + 1;
              if (style.overflowX !== 'visible' && isCut) cut.push([outer.className, each.className]);
            }}
          }}
          app.style.width = '';
          return cut;
        }}""",
        PAPER,
    )
    shown = tab.page.evaluate(
        "controls => [...document.querySelectorAll(controls)].filter(each => each.checkVisibility())"
        ".map(each => each.className)",
        f"{CONTROLS}, .st-key-stepper",
    )
    words = tab.page.locator(".line .control:has(select):visible").all_inner_texts()
    places = tab.page.locator(".prose.paper:visible").all_inner_texts()
    overlaid = tab.page.evaluate("() => getComputedStyle(document.querySelector('.proof')).position")
    tab.page.emulate_media(media="screen")
    assert (cut, shown, overlaid) == ([], [], "static")
    assert any(each.startswith("Layer") for each in words) or any(" layer " in each for each in places)
    assert any(each.split() == ["Mask", mask] for each in words)


def expect_bars_as_long_as_true(question: Locator, shares: Iterable[float]) -> None:
    """Bars of true and guessed shares have the right lengths relative to the sliders beside them."""
    whole = question.get_by_role("slider").first.bounding_box()["width"]
    lengths = question.locator(".truth i").evaluate_all("all => all.map(each => each.getBoundingClientRect().width)")
    # A bar is at least one pixel long, to be visible.
    assert lengths == pytest.approx([max(1, share * whole) for share in shares], abs=0.5)
    stand = question.get_by_role("slider").evaluate_all("all => all.map(each => Number(each.value))")
    told = [float(each.strip("%")) for each in question.locator(".share").all_text_contents()]
    assert stand == pytest.approx(told, abs=0.051)
    # The numbers stay in their column.
    beyond = "all => all.map(each => each.scrollWidth - each.clientWidth)"
    assert max(question.locator(".truth b, .share").evaluate_all(beyond)) <= 0
