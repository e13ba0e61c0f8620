"""Charts, each alone in a page file: all that can be drawn is drawn, and its names are whole."""

from dataclasses import replace

import numpy as np
import pytest
from attention.figures.chart import Chart, Series

from attention.blocks import Picture
from attention.page_file import page


@pytest.fixture
def draw(new_tab):
    """Draw a chart in a page so wide, and return its picture."""

    def draw(chart, width=390):
        tab = new_tab(viewport={"width": width, "height": 800})
        tab.page.set_content(page("A chart", "", (Picture("chart", chart),)))
        return tab.page.locator(".chart .picture")

    return draw


def series(values, labels, **more):
    places, numbers = np.arange(len(labels), dtype=np.float32), np.array(values, dtype=np.float32)
    return Series("", "plain", places, numbers, labels, **more)


def test_nothing_has_no_place_on_an_axis_of_factors(draw):
    names = ("one", "two", "three")
    chart = Chart("points", "Memory", "Memory", (series([0, 20, 300], names, is_line=True),), names=names, is_log=True)
    picture = draw(chart)
    heights = [float(mark.get_attribute("cy")) for mark in picture.locator(".mark").all()]
    assert len(heights) == 2
    assert heights[0] > heights[1]
    assert len(picture.locator(".line").get_attribute("points").split()) == 2


def test_levels_lie_across_their_places_and_no_line_joins_them(draw):
    names = ("one", "two", "three")
    chart = Chart("points", "Medians", "Medians", (series([1, 3, 2], names, are_levels=True),), names=names)
    picture = draw(chart)
    assert picture.locator("circle.mark, .line").count() == 0
    one, two, three = (mark.bounding_box() for mark in picture.locator(".mark").all())
    assert one["y"] > three["y"] > two["y"]
    assert one["x"] + one["width"] < two["x"]
    # As dark as the legend says.
    strokes = {mark.evaluate("each => getComputedStyle(each).stroke") for mark in picture.locator(".mark").all()}
    assert strokes == {picture.evaluate("each => getComputedStyle(each).color")}


def test_two_lines_of_one_colour_are_told_apart_without_it(draw):
    both = tuple(replace(series([n, n], ("a", "b"), is_line=True, is_dashed=n > 1), name=f"line {n}") for n in (1, 2))
    picture = draw(Chart("points", "Two", "Two", both, names=("a", "b")))
    lines = picture.locator(".line").all()
    dashes = [line.evaluate("each => getComputedStyle(each).strokeDasharray") for line in lines]
    assert [dash == "none" for dash in dashes] == [True, False]
    named = picture.page.locator(".chart .legend .ink")
    assert named.all_text_contents() == ["line 1", "line 2"]
    images = [each.evaluate("each => getComputedStyle(each, '::before').backgroundImage") for each in named.all()]
    assert [image == "none" for image in images] == [True, False]


def test_slanted_names_are_whole(draw):
    names = tuple(f"dimension {n}" for n in range(12))
    picture = draw(Chart("columns", "Parts", "Parts", (series(range(1, 13), names),), names=names))
    frame = picture.locator("svg").bounding_box()
    boxes = [name.bounding_box() for name in picture.locator(".name").all()]
    assert len(boxes) == 12
    assert all(box["x"] >= frame["x"] - 0.5 for box in boxes)
    assert all(box["y"] + box["height"] <= frame["y"] + frame["height"] + 0.5 for box in boxes)
