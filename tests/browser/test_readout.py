"""Pointing at a cell shows its number and highlights both labels, and cells can be distinguished."""

import pytest
from playwright.sync_api import expect

from tests.browser.looks import expect_to_fit
from tests.browser.tab import Picture, Tab

WIDE, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
LONG = "The old cat sat on the mat near a very small house"

# The boxes of what is said, of the cell it is about, and of the labels that are lit.
BOXES = """(root, [row, column]) => {
  const host = [root, ...root.querySelectorAll('*')].find(each => each.shadowRoot).shadowRoot;
  const box = each => { const { left, top, right, bottom } = each.getBoundingClientRect();
    return [left, top, right, bottom]; };
  return {
    tip: box(host.querySelector('.tip')),
    cell: box(host.querySelector(`rect[data-row='${row}'][data-column='${column}']`)),
    labels: [...host.querySelectorAll('.label.lit')].map(box),
    texts: [...host.querySelectorAll('.label.lit')].map(each => each.firstChild.textContent),
  };
}"""


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def expect_beside(tab: Tab, picture: Picture, row: int, column: int) -> None:
    """The tip stands beside the cell, hides neither it nor its labels, and says what the line below says."""
    tip = picture.root.locator(".tip")
    expect(tip).to_be_visible()
    expect(tip).to_have_text(picture.readout.inner_text())
    found = picture.root.evaluate(BOXES, [row, column])
    assert len(found["labels"]) == 2
    assert not overlap(found["tip"], found["cell"])
    for label in found["labels"]:
        assert not overlap(found["tip"], label)
    # No further from the cell than another cell would be.
    near = [found["cell"][0] - 12, found["cell"][1] - 12, found["cell"][2] + 12, found["cell"][3] + 12]
    assert overlap(found["tip"], near)
    size = tab.page.viewport_size
    assert found["tip"][0] >= 0 <= found["tip"][1]
    assert found["tip"][2] <= size["width"]
    expect_to_fit(tab)


def point_at(picture: Picture, row: int, column: int) -> None:
    picture.root.locator(f"rect[data-row='{row}'][data-column='{column}']").hover(force=True)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["projector", "phone"])
@pytest.mark.parametrize("text", ["The cat sat on the mat", LONG], ids=["short", "long"])
def test_whatever_cell_is_pointed_at_its_number_stands_beside_it(shared_tab, size, text):
    tab = shared_tab
    tab.page.set_viewport_size(size)
    tab.go(step="softmax", text=text)
    picture = tab.matrix("weights")
    height = picture.root.bounding_box()["height"]
    last = len(picture.labels()) - 1
    for row, column in ((0, 0), (0, 5), (3, 1), (3, 4)):
        point_at(picture, row, column)
        expect_beside(tab, picture, row, column)
    if size is WIDE:
        point_at(picture, 2, last)
        expect_beside(tab, picture, 2, last)
    # Nothing else has moved.
    assert picture.root.bounding_box()["height"] == height
    tab.page.mouse.move(1, 1)
    expect(picture.root.locator(".tip")).to_be_hidden()
    expect(picture.root.locator(".label.lit")).to_have_count(0)


def test_a_cell_that_is_chosen_under_a_resting_pointer_keeps_its_number_beside_it(tab):
    tab.page.set_viewport_size(WIDE)
    tab.go(step="scores", text=LONG)
    picture = tab.matrix("scores")
    picture.click(3, 4)
    tab.expect_query(step="scores", text=LONG, cell="scores-3-4", word="3").settled()
    expect_beside(tab, picture, 3, 4)


def test_the_keys_point_at_a_cell_too(tab):
    tab.page.set_viewport_size(WIDE)
    tab.go(step="qkv", text=LONG)
    picture = tab.matrix("values")
    picture.picture.focus()
    for key in ("Control+Home", "ArrowDown", "End"):
        tab.page.keyboard.press(key)
    expect_beside(tab, picture, 1, 31)
    expect(picture.root.locator(".label.lit")).to_have_text(["31", "the"])
    tab.page.keyboard.press("Tab")
    expect(picture.root.locator(".tip")).to_be_hidden()


def test_a_touch_points_at_a_cell_until_another_place_is_touched(new_tab):
    tab = new_tab(viewport=PHONE, has_touch=True).go(step="softmax")
    picture = tab.matrix("weights")
    box = picture.root.locator("rect[data-row='2'][data-column='3']").bounding_box()
    tab.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect_beside(tab, picture, 2, 3)


def test_matrices_abreast_have_cells_to_tell_apart_and_are_wholly_on_a_projector(tab):
    tab.page.set_viewport_size(WIDE)
    tab.go(step="qkv", text=LONG)
    for name in ("queries", "keys", "values"):
        picture = tab.matrix(name)
        assert picture.root.locator("rect[data-row='0'][data-column='0']").bounding_box()["width"] >= 6
        expect(picture.picture).to_be_in_viewport(ratio=1)
        # Nothing of it is left out at the side.
        wider = picture.root.locator(".scroller").evaluate("each => each.scrollWidth - each.clientWidth")
        assert wider == 0
    expect_to_fit(tab)


def test_labels_of_cells_that_are_pointed_at_do_not_lie_on_one_another(tab):
    tab.page.set_viewport_size(WIDE)
    tab.go(step="qkv", cell="queries-2-22")
    picture = tab.matrix("queries")
    point_at(picture, 3, 21)
    expect(picture.root.locator(".label.lit").first).to_have_text("21")
    boxes = picture.root.locator(".marks .label").evaluate_all(
        "all => all.map(each => { const { left, top, right, bottom } = each.getBoundingClientRect();"
        " return [left, top, right, bottom]; })"
    )
    assert not any(overlap(one, other) for index, one in enumerate(boxes) for other in boxes[:index])


# How far two numbers that stand side by side are apart, at the least, in digits.
APART = """root => {
  const texts = [...root.querySelectorAll('.cells rect[data-row] + text')];
  const boxes = texts.map(each => [each.previousSibling.dataset.row, each.getBoundingClientRect()]);
  const between = ([row, box], [before, last]) => row === before ? box.left - last.right : Infinity;
  const pairs = boxes.slice(1).map((each, index) => between(each, boxes[index]));
  const size = parseFloat(getComputedStyle(texts[0] ?? root).fontSize);
  return [texts.map(each => each.textContent), Math.min(...pairs, 99 * size) / size];
}"""


CAPTAIN = "Our captain lost the map because he was careless"
WORDS = ["When", "the", "old", "gardener", "had", "watered", "all", "of", "the", "roses", "behind", "the", "house"]


# Every length with both steps, and each of the two on a page and in a room.
@pytest.mark.parametrize(
    ("n", "step", "query"),
    [
        pytest.param(n, step, {"present": "1"} if (row + column) % 2 else {}, id=f"{n}-{step}")
        for row, n in enumerate([6, 9, 11, 13])
        for column, step in enumerate(["scores", "softmax"])
    ],
)
def test_numbers_side_by_side_have_two_digits_and_do_not_run_together(shared_tab, n, step, query):
    tab = shared_tab
    tab.page.set_viewport_size(WIDE)
    tab.go(step=step, model="minilm-l6", text=" ".join(WORDS[:n]), **query)
    tab.page.wait_for_function("() => document.fonts.status === 'loaded'")
    matrix = tab.matrix({"scores": "scores", "softmax": "weights"}[step])
    texts, apart = matrix.root.locator(".matrix").evaluate(APART)
    # Beside the map there is room for them.
    assert len(texts) in (((n + 2) ** 2,) if not query else (0, (n + 2) ** 2))
    assert apart > 0.5
    assert not [text for text in texts if sum(map(str.isdigit, text)) < 2]


# In the last, they would fit by less than a pixel.
@pytest.mark.parametrize("text", [" ".join(WORDS[:9]), " ".join(WORDS[:11]), CAPTAIN])
def test_on_a_phone_numbers_that_do_not_fit_scroll_with_their_cells(shared_tab, text):
    shared_tab.page.set_viewport_size(PHONE)
    shared_tab.turn_to(step="scores", model="minilm-l6", text=text)
    texts, apart = shared_tab.matrix("scores").root.locator(".matrix").evaluate(APART)
    assert len(texts) == (len(text.split()) + 2) ** 2
    assert apart > 0.5
