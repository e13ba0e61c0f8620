"""Two sentences, or two models, compared in the browser."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.tab import is_rounded

TIRED = "The animal didn't cross the street because it was too tired"
WIDE = "The animal didn't cross the street because it was too wide"
PAGE = "compare"


def picture(tab, name):
    return tab.page.locator(f".st-key-{name}")


def number(tab, name, row, column):
    """What is written in a cell; an empty text where there is nothing."""
    cell = picture(tab, name).locator(f"rect[data-row='{row}'][data-column='{column}']")
    expect(cell).to_have_count(1)
    text = picture(tab, name).locator(f"rect[data-row='{row}'][data-column='{column}'] + text")
    return text.text_content() if text.count() else ""


def test_the_difference_is_that_of_the_models_own_weights_and_blank_for_other_words(opened, models):
    tab = opened(PAGE)
    ours, theirs = (models["minilm-l6"].trace(text).layers[3].head(1).weights for text in (TIRED, WIDE))
    # tired and wide, the words before last of each, stand in rows and columns 13 and 14 of the pictures.
    for row, column in ((10, 8), (12, 2), (0, 0), (2, 10)):
        assert is_rounded(number(tab, "first", row, column), ours[row, column])
        assert is_rounded(number(tab, "second", row, column), theirs[row, column])
        assert is_rounded(number(tab, "difference", row, column), theirs[row, column] - ours[row, column])
    assert is_rounded(number(tab, "first", 10, 13), ours[10, 13])
    assert is_rounded(number(tab, "second", 10, 14), theirs[10, 13])
    assert is_rounded(number(tab, "difference", 15, 15), theirs[14, 14] - ours[14, 14])
    for row, column in ((10, 13), (10, 14), (13, 13), (14, 2)):
        assert number(tab, "difference", row, column) == ""
    assert number(tab, "first", 10, 14) == number(tab, "second", 13, 0) == ""
    apart = np.abs(theirs - ours)[1:13, 1:13]
    row, column = np.unravel_index(apart.argmax(), apart.shape)
    texts = [token.text for token in models["minilm-l6"].trace(TIRED).tokens]
    most = re.compile(f"“{texts[row + 1]}” .*“{texts[column + 1]}” {ours[row + 1, column + 1]:.2f}")
    # It is said first, and once more with all that changes.
    expect(tab.words.filter(has_text=most)).to_have_count(2)
    expect(tab.words.filter(has_text=re.compile(": “tired”"))).to_have_count(1)


def test_a_typed_sentence_a_head_and_a_cell_lead_somebody_else_there(opened, new_tab):
    tab = opened(PAGE)
    field = tab.page.get_by_role("textbox", name="Sentence to compare")
    field.fill("The animal slept")
    field.press("Enter")
    tab.expect_query(text=TIRED, versus="The animal slept")
    heads = picture(tab, "changes")
    heads.locator("rect[data-row='3'][data-column='1']").click(force=True)
    tab.expect_query(text=TIRED, versus="The animal slept", layer="4", head="2")
    picture(tab, "difference").locator("rect[data-row='1'][data-column='2']").click(force=True)
    tab.expect_query(text=TIRED, versus="The animal slept", layer="4", head="2", cell="compare-1-2")
    expect(picture(tab, "first").locator(".readout")).to_contain_text("the (1) → animal")

    there = new_tab(viewport={"width": 1400, "height": 900}).go_to(tab.page.url)
    expect(picture(there, "difference").locator(".readout")).to_have_text(
        picture(tab, "difference").locator(".readout").inner_text()
    )
    # The cell and the sentence to compare stay behind on the way to another page, and the first sentence comes along.
    tab.to_page("Step by step")
    tab.expect_query(text=TIRED, layer="4", head="2")
    expect(tab.notices).to_have_count(0)
    tab.to_page("Compare")
    tab.expect_query(text=TIRED, versus="The animal slept", layer="4", head="2")
    expect(field).to_have_value("The animal slept")


# Where a part of what is in a field is, in its own pixels, and what of the field is seen.
SEEN = """(input, part) => {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = getComputedStyle(input).font;
  const at = input.value.indexOf(part);
  const [from, to] = [at, at + part.length].map((count) => pen.measureText(input.value.slice(0, count)).width);
  const inner = input.clientWidth - 2 * parseFloat(getComputedStyle(input).paddingLeft);
  return {from: from - input.scrollLeft, to: to - input.scrollLeft, inner, scrolled: input.scrollLeft};
}"""


def is_seen(field, part):
    place = field.evaluate(SEEN, part)
    return place["from"] >= -1 and place["to"] <= place["inner"] + 1


def both(tab):
    return (tab.page.get_by_role("textbox", name=name, exact=True) for name in ("Sentence", "Sentence to compare"))


@pytest.mark.parametrize("size", [{"width": 1280, "height": 720}, {"width": 390, "height": 844}])
def test_what_two_long_sentences_do_not_share_is_seen_in_their_fields(new_tab, size):
    tab = new_tab(viewport=size).go(PAGE)
    one, other = both(tab)
    expect(one).to_have_value(TIRED)
    # The sentence is longer than its field.
    assert not is_seen(one, TIRED)
    assert is_seen(one, "tired")
    assert is_seen(other, "wide")
    # It is typed in as ever, and left as it was scrolled to.
    other.focus()
    expect(other).to_be_focused()
    other.press("Home")
    tab.page.wait_for_function("each => each.scrollLeft === 0", arg=other.element_handle())
    other.press("Shift+Tab")
    tab.page.wait_for_function("each => each.scrollLeft > 0", arg=other.element_handle())
    assert is_seen(other, "wide")
    expect(other).to_have_value(WIDE)


def test_sentences_that_differ_at_their_beginning_are_not_scrolled(new_tab):
    tab = new_tab(viewport={"width": 1280, "height": 720})
    tab.go(PAGE, text=TIRED, versus=TIRED.replace("animal", "bird"))
    for field in both(tab):
        expect(field).not_to_have_value("")
        assert field.evaluate("each => each.scrollLeft") == 0
        assert field.evaluate("each => each.scrollWidth > each.clientWidth")
