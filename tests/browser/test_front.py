"""The front page: the sentence's picture reacts to pointer and keyboard, and leads on."""

import numpy as np
import pytest
from playwright.sync_api import expect

from attention.figures.format import number
from attention.page.content.front import OPENING_TEXT
from tests import loaded


@pytest.fixture(scope="module")
def weights():
    """Of layer 4, head 2, which finds the noun of a pronoun."""
    return loaded.load("minilm-l6").trace(OPENING_TEXT).layers[3].head(1).weights


@pytest.fixture(scope="module")
def tab(new_shared_tab):
    """One tab for all tests: each begins with the page anew."""
    return new_shared_tab()


@pytest.fixture
def front(tab):
    return tab.go("")


def shown(tab):
    """The numbers under the words; none where too little is given."""
    return [place.inner_text() for place in tab.page.locator(".arcs .place .weight").all()]


def written(row):
    return [number(float(weight)) if weight >= 0.005 else "" for weight in row]


def name(tab, position):
    return tab.page.locator(".arcs .name").nth(position)


@pytest.mark.quick
def test_pointing_at_a_word_shows_its_row_and_a_press_keeps_it(front, weights):
    assert shown(front) == written(weights[10])
    assert front.page.locator(".arcs path").count() == np.count_nonzero(weights[10] >= 0.005)
    name(front, 2).hover()
    assert shown(front) == written(weights[2])
    expect(front.page.locator(".arcs .sentences > :visible")).to_contain_text(number(float(weights[2].max())))
    front.page.mouse.move(0, 700)
    assert shown(front) == written(weights[10])
    name(front, 2).click()
    front.expect_query(text=OPENING_TEXT, word="2")
    front.page.mouse.move(0, 700)
    assert shown(front) == written(weights[2])
    front.page.go_back()
    front.expect_query()
    assert shown(front) == written(weights[10])


def test_a_number_opens_the_cell_of_its_weight(front, weights):
    front.page.locator(".arcs .weight").nth(2).click()
    front.expect_query(text=OPENING_TEXT, step="softmax", word="10", cell="weights-10-2")
    expect(front.detail.first).to_contain_text(number(float(weights[10, 2])))


def test_it_is_read_by_keyboard(front, weights):
    name(front, 10).focus()
    front.page.keyboard.press("ArrowLeft")
    assert shown(front) == written(weights[9])
    front.page.keyboard.press("Home")
    front.page.keyboard.press("Enter")
    front.expect_query(text=OPENING_TEXT, word="0")
    assert shown(front) == written(weights[0])


# Whether the middle of an arc, between a tenth and nine tenths of its way, lies on a word or a number.
COVERED = """() => {
  const root = document.querySelector('.st-key-front_picture').shadowRoot;
  const boxes = [...root.querySelectorAll('.name, .weight:not([hidden])')].map((each) => each.getBoundingClientRect());
  return [...root.querySelectorAll('path')].some((path) => {
    const toScreen = path.getScreenCTM();
    return Array.from({ length: 81 }, (_, step) => {
      const at = path.getPointAtLength((path.getTotalLength() * (step + 10)) / 100).matrixTransform(toScreen);
      return boxes.some(({ left, right, top, bottom }) => left < at.x && at.x < right && top < at.y && at.y < bottom);
    }).some(Boolean);
  });
}"""


def test_on_a_narrow_screen_no_arc_lies_over_words(new_tab):
    narrow = new_tab(viewport={"width": 390, "height": 844})
    narrow.go("", text="My neighbour fed the stray dog because she pitied it")
    top = narrow.page.evaluate(
        "() => Math.min(...[...document.querySelector('.st-key-front_picture').shadowRoot.querySelectorAll('path')]"
        ".map(path => path.getBoundingClientRect().top))"
    )
    above = narrow.page.locator(".prose").first.bounding_box()
    assert above["y"] + above["height"] <= top
    assert not narrow.page.evaluate(COVERED)
