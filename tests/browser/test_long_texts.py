"""Matrices of long texts: cells are visible, labels legible, and the current place stays in view."""

import pytest
from playwright.sync_api import expect

from tests.browser.looks import expect_to_fit
from tests.browser.tab import TWO_FRAMES, is_said

SENTENCE = (
    "the old dog that the boy saw in the park chased the cat because it was hungry and the rain had not stopped since "
    "the morning when the men who sold the bread went home to the village near the river "
)
WIDE, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}

# Where the cells and the first and last labels of both sides are that can be seen, and the window on the cells.
PLACES = """root => {
  const host = [root, ...root.querySelectorAll('*')].find(each => each.shadowRoot).shadowRoot;
  const box = each => { const { left, top, right, bottom } = each.getBoundingClientRect();
    return { left, top, right, bottom }; };
  const scroller = host.querySelector('.scroller');
  const rows = [...host.querySelectorAll('.labels text')].map(box);
  const columns = [...host.querySelectorAll('.heads text')].map(box);
  return {
    rows, columns, frame: box(host.querySelector('.frame')), window: box(scroller),
    scrolled: [scroller.scrollLeft, scroller.scrollTop],
    room: [scroller.scrollWidth - scroller.clientWidth, scroller.scrollHeight - scroller.clientHeight],
  };
}"""
SCROLL = """(root, [x, y]) => {
  const host = [root, ...root.querySelectorAll('*')].find(each => each.shadowRoot).shadowRoot;
  host.querySelector('.scroller').scrollTo(x, y);
  // The labels follow in the next frame.
  return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def expect_letters(tab):
    """Wait until the page's fonts are there, and the labels are measured with them."""
    tab.page.wait_for_function("() => document.fonts.status === 'loaded'")
    tab.page.evaluate(TWO_FRAMES)


def text_of(n_tokens):
    """A sentence of so many tokens, [CLS] and [SEP] among them."""
    return " ".join((4 * SENTENCE).split()[: n_tokens - 2])


def name_of(n_tokens, place):
    """A token, with its position where another one is the same."""
    tokens = ["[CLS]", *text_of(n_tokens).split(), "[SEP]"]
    return f"{tokens[place]} ({place})" if tokens.count(tokens[place]) > 1 else tokens[place]


@pytest.mark.parametrize(
    ("n", "size", "scheme", "scrolls"),
    [
        pytest.param(45, WIDE, "light", False, marks=pytest.mark.quick),
        (45, PHONE, "dark", True),
        (80, WIDE, "dark", True),
        (128, PHONE, "light", True),
    ],
    ids=["45-projector", "45-phone", "80-projector", "128-phone"],
)
def test_cells_can_be_seen_and_labels_stay_beside_them_while_they_are_read(shared_tab, n, size, scheme, scrolls):
    tab = shared_tab
    tab.page.set_viewport_size(size)
    tab.page.emulate_media(color_scheme=scheme)
    tab.go(step="softmax", model="minilm-l6", text=text_of(n), word=str(n // 2))
    picture = tab.matrix("weights")
    expect(picture.root.locator(".frame")).to_be_visible()
    expect_letters(tab)
    at = picture.root.evaluate(PLACES)
    assert (at["frame"]["right"] - at["frame"]["left"]) / n >= 9.99
    assert (at["room"][0] > 0) == scrolls
    # The row in focus is in sight.
    pitch = (at["frame"]["bottom"] - at["frame"]["top"]) / n
    assert at["window"]["top"] < at["frame"]["top"] + (n // 2 + 0.5) * pitch < at["window"]["bottom"]
    if scrolls:
        picture.root.evaluate(SCROLL, at["room"])
        moved = picture.root.evaluate(PLACES)
        assert moved["scrolled"] == pytest.approx(at["room"], abs=1)
        # What was above the cells, and left of them, still is.
        for side, edge in (("columns", "bottom"), ("rows", "right")):
            assert max(each[edge] for each in moved[side]) == pytest.approx(max(each[edge] for each in at[side]), abs=1)
    tab.page.mouse.move(1, 1)
    expect_to_fit(tab)


def test_before_softmax_the_row_in_focus_shows_its_scores_and_no_other_row_a_number(shared_tab, models):
    tab = shared_tab
    tab.page.set_viewport_size(WIDE)
    tab.go(step="softmax", model="minilm-l6", text=text_of(45), word="22", layer="3", head="9")
    steps = models["minilm-l6"].trace(text_of(45)).layers[2].head(8)
    picture = tab.matrix("weights")
    tab.page.get_by_role("button", name="Before: ").click()
    moving = picture.root.locator(".cells rect:not([data-row]):not(.frame)")
    expect(moving).to_have_count(3 * 45)
    picture.picture.focus()
    picture.picture.press("Home")
    assert is_said(picture.readout.locator("b").inner_text(), steps.masked_scores[22, 0])
    picture.picture.press("ArrowDown")
    expect(picture.readout).to_contain_text("only the row in focus is shown")
    tab.page.get_by_role("button", name="After: ").click()
    expect(moving).to_have_count(0)
    picture.picture.focus()
    assert is_said(picture.readout.locator("b").inner_text(), steps.weights[23, 0])


@pytest.mark.parametrize("n", [45, 128])
def test_a_label_that_is_pointed_at_is_read_in_full_with_its_position(shared_tab, n):
    tab = shared_tab
    tab.page.set_viewport_size(WIDE)
    tab.go(step="scores", model="minilm-l6", text=text_of(n), word="1")
    picture = tab.matrix("scores")
    expect(picture.root.locator(".shape")).to_have_text(f"{n}×{n}")
    expect(picture.root.locator(".frame")).to_be_visible()
    expect_letters(tab)
    if n == 128:
        picture.root.evaluate(SCROLL, [300, 200])
    at = picture.root.evaluate(PLACES)
    frame, window = at["frame"], at["window"]
    pitch = (frame["right"] - frame["left"]) / n
    edge = max(each["right"] for each in at["rows"]), max(each["bottom"] for each in at["columns"])
    first = [round((edge[axis] - frame[start]) / pitch) + 2 for axis, start in ((0, "left"), (1, "top"))]
    for step in range(4):
        column, row = (place + step for place in first)
        tab.page.mouse.move(frame["left"] + (column + 0.5) * pitch, edge[1] - 8)
        expect(picture.root.locator(".tip")).to_have_text(name_of(n, column))
        expect(picture.root.locator(".label.lit")).to_have_count(1)
        tab.page.mouse.move(edge[0] - 8, frame["top"] + (row + 0.5) * pitch)
        expect(picture.root.locator(".tip")).to_have_text(name_of(n, row))
    assert window["left"] < edge[0]
    # A label is no cell: nothing is chosen there.
    tab.page.mouse.click(edge[0] - 8, frame["top"] + (first[1] + 0.5) * pitch)
    tab.settled()
    assert "cell" not in tab.query()
    # The keys say it, too.
    tab.page.mouse.move(1, 1)
    picture.picture.focus()
    picture.picture.press("Control+Home")
    picture.picture.press("ArrowDown")
    expect(picture.readout).to_contain_text(f"{name_of(n, 1)} → [CLS]: ")
