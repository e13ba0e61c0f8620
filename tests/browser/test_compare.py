"""Two sentences, or two models, compared in the browser."""

import pytest
from playwright.sync_api import expect

TIRED = "The animal didn't cross the street because it was too tired"
WIDE = "The animal didn't cross the street because it was too wide"
PAGE = "compare"


def picture(tab, name):
    return tab.page.locator(f".st-key-{name}")


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
