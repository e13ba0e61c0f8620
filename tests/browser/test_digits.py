"""Digits in a browser: drawn with a pointer, a finger and the keyboard, chosen, and examined patch by patch."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from attention.core.pixels import GREYS, SIDE
from attention.core.reading import DIGITS, PICTURE
from tests.browser.line import Line
from tests.browser.looks import NARROW, expect_to_fit
from tests.browser.tab import TWO_FRAMES

MODEL = "vit-digits"
BLANK = "0" * SIDE**2
# The strokes of a one and of a seven, each a way from point to point, in pixels.
ONE = [[(1.0, 4.2), (7.0, 4.2)]]
SEVEN = [[(1.0, 2.0), (1.0, 6.0), (7.0, 3.0)]]


@pytest.fixture(scope="module")
def model(models):
    return models[MODEL]


def opened(tab):
    """Open the field to draw in, which lies over the page, if it is shut."""
    if not field(tab).is_visible():
        tab.page.get_by_role("button", name="Draw or choose a digit").click()
        expect(field(tab)).to_be_visible()
    return tab


def field(tab):
    return tab.page.get_by_role("application", name=re.compile("^A digit"))


def overlay(tab):
    return tab.page.locator(".st-key-overlay")


def at(tab, row, column):
    """Where a place of the picture, counted in pixels from its upper left corner, is in the window."""
    box = field(tab).bounding_box()
    return box["x"] + box["width"] * column / SIDE, box["y"] + box["height"] * row / SIDE


def draw(tab, strokes):
    # A trial waits until the field stands still: a stroke beside it would be none.
    field(opened(tab)).click(trial=True)
    tab.page.evaluate(TWO_FRAMES)
    for first, *others in strokes:
        tab.page.mouse.move(*at(tab, *first))
        tab.page.mouse.down()
        for point in others:
            tab.page.mouse.move(*at(tab, *point), steps=5)
        tab.page.mouse.up()


def clear(tab):
    opened(tab).page.get_by_role("button", name="Clear").click()
    expect(tab.notices.first).to_be_visible()


def expect_answer(tab, model):
    """The page says what the model itself says of the picture in the link; return that picture."""
    picture = tab.query().get("text", PICTURE.first)
    answer = model.answer(model.trace(picture))
    best = answer.labels[int(answer.logits.argmax())]
    exponentials = np.exp(answer.logits - answer.logits.max())
    probability = exponentials.max() / exponentials.sum()
    told = re.compile(rf"\bDigits\b\D*\b{best}\b\D*\b{probability:.2f}\b")
    expect(tab.page.locator(".prose", has_text=told)).to_be_visible()
    return picture


def wait_for_picture(tab, told):
    """Wait until the address has a picture of which this is so."""
    tab.page.wait_for_function(
        f"() => {{ const text = new URLSearchParams(location.search).get('text') ?? ''; return {told}; }}"
    )


def test_what_is_drawn_with_the_pointer_is_read(shared_tab, model):
    tab = shared_tab.turn_to(model=MODEL)
    assert expect_answer(tab, model) == PICTURE.first
    clear(tab)
    tab.expect_query(model=MODEL, text=BLANK)
    drawn = []
    for strokes in (ONE, SEVEN):
        draw(tab, strokes)
        wait_for_picture(tab, f"text !== '{BLANK}'")
        tab.settled()
        drawn.append(expect_answer(tab, model))
        for row, column in (point for stroke in strokes for point in stroke):
            assert drawn[-1][int(row) * SIDE + int(column)] != "0"
        clear(tab)
    assert len(set(drawn)) == 2
    # Every change is in the history.
    tab.page.go_back()
    tab.expect_query(model=MODEL, text=drawn[1])
    assert expect_answer(tab, model) == drawn[1]


def test_strokes_that_are_faster_than_the_answers_are_all_kept(tab, model):
    line = Line(tab.page)
    tab.go(model=MODEL, text=BLANK)
    dots = [(1.5, 1.5), (3.5, 4.5), (6.5, 6.5)]
    line.hold()
    for count, dot in enumerate(dots, start=1):
        draw(tab, [[dot, dot]])
        line.wait_for_answers(count)
    # The answers to all strokes come when the last one has been drawn.
    line.release()
    wait_for_ink(tab, dots)
    tab.settled()
    assert greys_of(tab) == [GREYS.index(character) for character in expect_answer(tab, model)]


def wait_for_ink(tab, dots):
    """Wait until there is ink at each of these places in the picture of the address."""
    conditions = [f"(text[{int(row) * SIDE + int(column)}] ?? '0') !== '0'" for row, column in dots]
    wait_for_picture(tab, " && ".join(conditions))


def greys_of(tab):
    """The grey of every pixel of the field, as it covers the ground."""
    return field(tab).evaluate(
        """field => {
          const canvas = field.querySelector('canvas');
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          return Array.from({ length: data.length / 4 }, (_, pixel) => Math.round(data[4 * pixel + 3] / 255 * 16));
        }"""
    )


def test_it_can_be_drawn_with_the_keyboard(shared_tab, model):
    tab = shared_tab.turn_to(model=MODEL, text=BLANK, step="softmax")
    said = tab.page.locator(".st-key-drawing .readout")
    field(opened(tab)).focus()
    # From the middle to the upper left corner, and down the third column.
    for key in (*["ArrowUp"] * 5, *["ArrowLeft"] * 5, *["ArrowRight"] * 2):
        tab.page.keyboard.press(key)
    expect(said).to_have_text("Row 1, column 3: 0 of 16")
    wanted = list(BLANK)
    for row in range(2):
        tab.page.keyboard.press("Space")
        wanted[row * SIDE + 2] = "g"
        expect(said).to_have_text(f"Row {row + 1}, column 3: 16 of 16")
        tab.expect_query(model=MODEL, step="softmax", text="".join(wanted))
        tab.page.keyboard.press("ArrowDown")
    # Once more makes it grey, and the arrows have not led to another step.
    tab.page.keyboard.press("ArrowUp")
    tab.page.keyboard.press("Space")
    wanted[SIDE + 2] = "8"
    tab.expect_query(model=MODEL, step="softmax", text="".join(wanted))
    assert expect_answer(tab, model) == "".join(wanted)


def test_a_digit_is_chosen_and_its_patches_and_heads_are_looked_at(shared_tab, model):
    tab = shared_tab.turn_to(model=MODEL, step="softmax")
    picture = list(DIGITS)[3]
    opened(tab).page.get_by_role("group", name="Example digits").get_by_role("button", name="3", exact=True).click()
    tab.expect_query(model=MODEL, step="softmax", text=picture)
    assert expect_answer(tab, model) == picture
    trace = model.trace(picture)
    tab.page.keyboard.press("Escape")
    overlay(tab).get_by_role("button", name=re.compile("^r2c3, weight")).click()
    query = {"model": MODEL, "step": "softmax", "text": picture, "word": "7"}
    tab.expect_query(**query)
    pressed = overlay(tab).locator("button.patch[aria-pressed=true]")
    expect(pressed).to_have_attribute("aria-label", re.compile("^r2c3, weight"))
    overlay(tab).locator("button.head").nth(3).click()
    tab.expect_query(**query, head="4")
    weights = trace.layers[1].head(3).weights
    tab.matrix("weights").expect_to_show(weights)
    wanted = [f"{token.text}, weight {weight:.2f}" for token, weight in zip(trace.tokens, weights[7], strict=True)][1:]
    shown = overlay(tab).locator("button.patch")
    expect(shown).to_have_count(len(wanted))
    assert [patch.get_attribute("aria-label") for patch in shown.all()] == wanted
    expect(overlay(tab).locator("button.head .special").nth(3)).to_have_text(f"[CLS] {weights[7, 0]:.2f}")
    # What one draws into it keeps the patch and the head.
    draw(tab, [[(7.5, 0.5), (7.5, 1.5)]])
    wait_for_picture(tab, f"text !== '{picture}'")
    tab.settled()
    assert tab.query() == {**query, "head": "4", "text": expect_answer(tab, model)}


def test_a_finger_draws_and_does_not_scroll(new_tab, model):
    tab = new_tab(viewport=NARROW, has_touch=True).go(model=MODEL, text=BLANK)
    touch = opened(tab).page.context.new_cdp_session(tab.page)
    (first, *others), before = SEVEN[0], field(tab).bounding_box()
    send(touch, "touchStart", at(tab, *first))
    for point in others:
        send(touch, "touchMove", at(tab, *point))
    send(touch, "touchEnd")
    wait_for_picture(tab, f"text !== '{BLANK}'")
    tab.settled()
    drawn = expect_answer(tab, model)
    for row, column in SEVEN[0]:
        assert drawn[int(row) * SIDE + int(column)] != "0"
    assert field(tab).bounding_box() == before
    expect_to_fit(tab)


def send(touch, kind, *points):
    found = [{"x": x, "y": y} for x, y in points]
    touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": found})
