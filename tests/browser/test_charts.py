"""Charts in offline files: pointing, saving, reading."""

import io
import re
from itertools import combinations

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from attention.figures import charts
from attention.figures.charts import Chart
from attention.page.blocks import Picture
from attention.page.page_file import page
from tests.kinds_of_charts import HOSTILE, KINDS


@pytest.fixture
def draw(new_tab):
    """Draw a chart in a page so wide, and return the page."""

    def draw(figure, width=800, **options):
        tab = new_tab(viewport={"width": width, "height": 800}, **options)
        tab.page.set_content(page("A chart", "", (Picture("chart", Chart(figure)),)))
        expect(tab.page.locator(".plot .main-svg").first).to_be_visible()
        return tab.page

    return draw


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def point_at(shown, index, series=0):
    """Move the pointer onto a point of a series."""
    at = shown.locator(".plot .scatterlayer .trace").nth(series).locator(".point").nth(index).bounding_box()
    shown.mouse.move(*middle(at), steps=3)


def ticks(shown, axis="x"):
    return shown.locator(f".plot .{axis}tick text").all_text_contents()


def series_of(shown):
    """The names in the legend."""
    return shown.locator(".plot .infolayer .legendtext").all_text_contents()


def test_one_points_at_all_series_at_once_and_reads_their_numbers(draw):
    shown = draw(KINDS["growth"]())
    point_at(shown, 1)
    before, after = series_of(shown)
    expect(shown.locator(".plot .hoverlayer")).to_have_text(f"8{before} : 0.25{after} : 0.2")
    expect(shown.get_by_role("status")).to_have_text(f"d 8, {before}: 0.25; d 8, {after}: 0.2")


def test_what_a_name_has_in_it_stays_text(draw):
    shown = draw(KINDS["shares"]())
    assert ticks(shown) == ["the", "cat", "cat", f"{HOSTILE[:14]}…"]
    shown = draw(charts.lines([(HOSTILE, np.arange(4)), ("b", np.ones(4))], HOSTILE, HOSTILE, HOSTILE))
    expect(shown.locator(".chart .title")).to_have_text(HOSTILE)
    expect(shown.locator(".plot .xtitle")).to_have_text(HOSTILE)
    point_at(shown, 2)
    expect(shown.locator(".plot .hoverlayer")).to_contain_text(HOSTILE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_saved_as_it_is_seen(draw, scheme):
    shown = draw(KINDS["growth"](), color_scheme=scheme)
    width, height = (shown.locator(".plot").bounding_box()[side] for side in ("width", "height"))
    shown.locator(".plot").hover()
    with shown.expect_download() as download:
        shown.locator(".plot .modebar-btn[data-title='Save as PNG']").click()
    assert download.value.suggested_filename == "Growth.png"
    image = Image.open(io.BytesIO(download.value.path().read_bytes())).convert("RGB")
    assert image.size == (2 * round(width), 2 * round(height))
    colours = {colour: count for count, colour in image.getcolors(1_000_000)}
    # Most of it is the page, and both lines are on it.
    assert max(colours, key=colours.get) == ((255, 255, 255) if scheme == "light" else (15, 19, 24))
    assert min(colours[(0x86, 0x8E, 0x99)], colours[(0x7B, 0x4F, 0xA3)]) > 500
    with shown.expect_download() as download:
        shown.locator(".plot .modebar-btn[data-title='Save as SVG']").click()
    svg = download.value.path().read_text("utf-8")
    assert svg.startswith("<svg")
    assert {"Growth", "before scaling", "after scaling"} <= set(re.findall(r">([^<>]+)</text>", svg))


def test_another_theme_repaints_it_and_what_is_zoomed_stays(draw):
    shown = draw(KINDS["stages"](), color_scheme="light")
    shown.locator(".plot").hover()
    shown.locator(".plot .modebar-btn[data-title='Zoom in']").click()
    expect(shown.locator(".plot .xtick text").first).not_to_have_text("0")
    zoomed = ticks(shown)
    ink = "each => getComputedStyle(each).fill"
    assert shown.locator(".plot .xtitle").evaluate(ink) == "rgb(15, 23, 34)"
    shown.emulate_media(color_scheme="dark")
    expect(shown.locator(".plot .xtitle")).to_have_css("fill", "rgb(230, 233, 239)")
    assert ticks(shown) == zoomed


def test_the_arrow_keys_read_every_place(draw):
    shown = draw(KINDS["layers"]())
    chart = shown.get_by_role("application", name="Heads of every head, by layer")
    chart.focus()
    said = shown.get_by_role("status")
    chart.press("Home")
    expect(said).to_have_text("layer 1, head 1: 0")
    chart.press("ArrowRight")
    expect(said).to_have_text("layer 1, head 2: 0.09091")
    chart.press("End")
    expect(said).to_have_text("layer 3, head 4: 1")
    expect(shown.locator(".plot .hoverlayer")).to_contain_text("layer 3, head 4: 1")
    shown = draw(charts.lines([("up-to-date", np.array([0.5, -0.25])), ("<b>", np.ones(2))], "", "", "place"))
    shown.get_by_role("application").press("End")
    expect(shown.get_by_role("status")).to_have_text("place 1, up-to-date: −0.25; place 1, <b>: 1")
    shown = draw(KINDS["growth"]())
    shown.get_by_role("application", name="Growth.").press("End")
    before, after = series_of(shown)
    expect(shown.get_by_role("status")).to_have_text(f"d 512, {before}: 0.0625; d 512, {after}: 0.4")
    expect(shown.locator(".plot .hoverlayer")).to_contain_text(f"{before} : 0.0625")


# All words that are seen in a chart, with their boxes.
TEXTS = """plot => [...plot.querySelectorAll("svg text")]
  .filter(each => each.textContent.trim() && each.getBoundingClientRect().width)
  .filter(each => getComputedStyle(each).visibility !== "hidden")
  .map(each => [each.textContent, each.getBoundingClientRect().toJSON()])"""


@pytest.mark.parametrize("width", [390, 800])
def test_no_words_lie_on_one_another_or_outside(new_tab, width):
    """Every kind of chart, in one page so wide."""
    shown = new_tab(viewport={"width": width, "height": 800}).page
    shown.set_content(page("All", "", tuple(Picture(kind, Chart(make())) for kind, make in KINDS.items())))
    plots = shown.locator(".plot:has(.main-svg)")
    expect(plots).to_have_count(len(KINDS))
    for kind, plot in zip(KINDS, plots.all(), strict=True):
        frame, words = plot.bounding_box(), plot.evaluate(TEXTS)
        assert words, kind
        for text, box in words:
            assert frame["x"] - 1 <= box["left"] <= box["right"] <= frame["x"] + frame["width"] + 1, (kind, text)
            assert frame["y"] - 1 <= box["top"] <= box["bottom"] <= frame["y"] + frame["height"] + 1, (kind, text)
        for (one, a), (other, b) in combinations(words, 2):
            apart = a["right"] <= b["left"] + 1 or b["right"] <= a["left"] + 1
            apart = apart or a["bottom"] <= b["top"] + 3 or b["bottom"] <= a["top"] + 3
            assert apart, (kind, one, other)


def test_an_arrow_says_how_long_it_is_wherever_one_points_at_it(draw):
    shown = draw(KINDS["plane"]())
    line = shown.locator(".plot .scatterlayer .trace").first.locator(".point").nth(3).bounding_box()
    shown.mouse.move(*middle(line), steps=3)
    expect(shown.get_by_role("status")).to_have_text("one")
