"""A presented step: large, without controls, and advanced by a presenter's remote."""

import re

import pytest
from playwright.sync_api import expect

from attention.lesson.steps import STEPS
from tests.browser.looks import expect_no_barrier, expect_to_fit
from tests.browser.tab import TWO_FRAMES

PROJECTOR, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def tab(new_shared_tab):
    tab = new_shared_tab()
    tab.page.set_viewport_size(PROJECTOR)
    return tab


# What may not lie under the dots, nor under the line of the map beside them, and how far there is to scroll.
FOOT = """() => {
  const places = [...document.querySelectorAll('.page .figure')];
  const all = name => places.flatMap(each => [...(each.shadowRoot?.querySelectorAll(name) ?? [])]);
  const boxesOf = found => found.map(each => each.getBoundingClientRect()).filter(box => box.height > 0);
  const seen = boxesOf([...all('.picture, .tokens, .board'), ...document.querySelectorAll('.prose p')]);
  const maps = boxesOf(all('.map nav')), dots = boxesOf(all('.stepper ol'))[0];
  const apart = (one, other) => one.bottom <= other.top || other.bottom <= one.top
    || one.right <= other.left || other.right <= one.left;
  const main = document.querySelector('[data-testid=stMain]');
  return {
    apart: [dots, ...maps].every(foot => seen.every(box => apart(foot, box))) && maps.every(map => apart(map, dots)),
    lowest: Math.max(...seen.map(box => box.bottom)), dots: dots.top, maps: maps.length,
    highest: Math.max(...boxesOf(all('.picture, .tokens')).map(box => box.height)),
    scrolls: main.scrollHeight - main.clientHeight,
  };
}"""
FIFTEEN_WORDS = "When the old gardener had watered all of the roses behind the house she rested"
THIRTY_WORDS = (
    "When the old gardener had watered all of the roses behind the house and the dog had slept in the sun "
    "she went in and made tea for everybody there"
)


def through_the_steps(tab, **query):
    """Walk through all steps with the key of a remote; give each with what lies where, once nothing lies over it."""
    tab.go(step=STEPS[0].key, present="1", **query)
    for number, step in enumerate(STEPS, 1):
        expect(tab.current_step).to_have_accessible_name(f"{number} {step.name}")
        # The numbers of a picture are fitted anew once the page's own letters are there.
        tab.settled().page.wait_for_function(f"() => ({FOOT})().apart")
        seen = tab.page.evaluate(FOOT)
        assert seen["maps"] == 1, step.key
        assert tab.heading.first.evaluate("each => getComputedStyle(each).fontSize") == "32px", step.key
        expect_to_fit(tab)
        yield step.key, seen
        tab.page.keyboard.press("PageDown")


def expect_most_of_the_screen(tab, step):
    """The picture of a step has most of the screen, and there is nothing to scroll."""
    tab.page.wait_for_function(f"() => ({FOOT})().scrolls === 0")
    seen = tab.page.evaluate(FOOT)
    assert seen["apart"], (step, seen)
    assert seen["highest"] >= 0.7 * PROJECTOR["height"], (step, seen)


# What each step shows of a sentence of eight tokens, pair by pair.
PAIRS = {"scores": "scores", "scale": "scaled", "mask": "masked", "softmax": "weights"}


# The themes take turns, so that each step is looked at in both.
@pytest.mark.parametrize(
    ("query", "schemes"),
    [
        ({"model": "minilm-l6"}, ("light", "dark")),
        ({"model": "toy", "text": "The cat sat on the mat near a", "mask": "causal"}, ("dark", "light")),
    ],
    ids=["BERT", "the toy"],
)
def test_a_room_can_read_every_step_of_eight_tokens(tab, query, schemes):
    for step, _ in through_the_steps(tab, **query):
        # A sentence that is ready fills it at every step.
        if step in PAIRS or "text" not in query:
            expect_most_of_the_screen(tab, step)
        if step not in PAIRS:
            continue
        assert tab.page.locator("select, input:visible, textarea:visible").count() == 0
        assert tab.words.first.locator("p").evaluate("each => getComputedStyle(each).fontSize") == "24px"
        matrix = tab.matrix(PAIRS[step])
        assert matrix.root.locator(".shape").inner_text() == "8×8"
        assert matrix.picture.locator(".cells").evaluate("each => Number(each.getAttribute('font-size'))") >= 20
        for each in (tab.heading.first, tab.words.first, tab.current_step, matrix.picture):
            expect(each).to_be_in_viewport(ratio=1)
        scheme = schemes[[*PAIRS].index(step) % 2]
        tab.page.emulate_media(color_scheme=scheme)
        expect(tab.page.locator(".stApp")).to_have_css("color-scheme", scheme)
        expect_no_barrier(tab.settled(), f"{step}, {scheme}")
    tab.page.emulate_media(color_scheme="light")


def test_the_picture_of_every_step_of_a_long_sentence_has_most_of_the_screen_too(tab):
    assert len(FIFTEEN_WORDS.split()) == 15
    for step, _ in through_the_steps(tab, model="smollm2-135m", text=FIFTEEN_WORDS):
        expect_most_of_the_screen(tab, step)


def test_the_dots_of_the_steps_lie_over_nothing_however_long_the_sentence(tab):
    assert len(THIRTY_WORDS.split()) == 30
    for step, seen in through_the_steps(tab, model="minilm-l6", text=THIRTY_WORDS):
        assert seen["lowest"] <= seen["dots"], (step, seen)


def test_what_a_digit_was_cut_into_stands_beside_the_digit_and_has_most_of_the_screen(tab):
    board = tab.page.locator(".overlay .board")
    for step, _ in through_the_steps(tab, model="vit-digits"):
        expect_most_of_the_screen(tab, step)
        if step == "tokens":
            # Nothing has been looked at yet: the picture alone.
            expect(board.locator("canvas")).to_have_count(1)
            assert board.bounding_box()["height"] >= 0.6 * PROJECTOR["height"]
        if step == "softmax":
            expect(board.locator("canvas")).to_have_count(2)
            expect(board).to_be_in_viewport(ratio=1)


def test_a_token_is_as_large_as_fits(tab):
    sizes = {}
    for text in ("The cat sat", THIRTY_WORDS):
        tab.go(step="tokens", present="1", model="minilm-l6", text=text)
        letters = tab.chips.first.locator(".text")
        tab.page.wait_for_function("() => document.fonts.status === 'loaded'")
        sizes[text] = letters.evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
        strip = tab.page.locator(".tokens").first
        assert strip.evaluate("each => each.scrollHeight - each.clientHeight") == 0
    assert sizes["The cat sat"] > sizes[THIRTY_WORDS] >= 24


def test_a_room_can_read_the_answers(tab):
    tab.go(step="scores", present="1", guess="1", model="minilm-l6")
    answers = tab.page.locator(".question .answers button")
    tab.page.get_by_role("button", name="Show me").wait_for()
    for each in (answers.first, tab.page.get_by_role("button", name="Show me")):
        assert each.evaluate("each => parseFloat(getComputedStyle(each).fontSize)") >= 24
    expect_to_fit(tab)


@pytest.mark.quick
def test_the_map_opens_over_the_picture(tab):
    tab.go(step="embed", present="1", model="minilm-l6")
    line = tab.page.locator(".map .sheet")
    line.click()
    layer = tab.page.locator(".map").get_by_role("button", name="Layer 5", exact=True)
    expect(layer).to_be_in_viewport(ratio=1)
    layer.click()
    expect(line).to_contain_text("Layer 5 of 6")


def test_the_keys_of_a_remote_lead_on_and_p_turns_it_on_and_off(tab):
    tab.go(step="scale")
    layout = [tab.page.locator(place).bounding_box() for place in (".st-key-stepper", "h2")]
    tab.go(step="scores")
    tab.page.keyboard.press("p")
    tab.expect_query(step="scores", present="1")
    for key, number, step in (("PageDown", 5, "scale"), ("ArrowRight", 6, "mask"), ("PageUp", 5, "scale")):
        tab.page.keyboard.press(key)
        expect(tab.heading.first).to_have_text(re.compile(f"^{number}\\. "))
        tab.expect_query(step=step, present="1")
    tab.page.keyboard.press("Escape")
    tab.expect_query(step="scale")
    expect(tab.field).to_be_visible()
    # All is where it is for whoever comes by the link.
    assert [tab.page.locator(place).bounding_box() for place in (".st-key-stepper", "h2")] == layout
    # The key of a page scrolls a page again.
    tab.page.keyboard.press("PageDown")
    tab.page.get_by_role("button", name="Present").click()
    tab.expect_query(step="scale", present="1")
    tab.page.go_back()
    tab.expect_query(step="scale")


def test_a_remote_leads_on_after_a_cell_was_pressed(tab):
    """The focus is in the picture then, which has a meaning of its own for arrows and for the keys of pages."""
    tab.go(step="scores", present="1")
    tab.matrix("scores").click(1, 2)
    tab.expect_query(step="scores", word="1", cell="scores-1-2", present="1")
    tab.page.keyboard.press("PageDown")
    tab.expect_query(step="scale", word="1", present="1")
    tab.matrix("scaled").click(1, 2)
    tab.expect_query(step="scale", word="1", cell="scaled-1-2", present="1")
    # Arrows lead from cell to cell as ever.
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("Enter")
    tab.expect_query(step="scale", word="1", cell="scaled-1-3", present="1")
    tab.page.keyboard.press("Escape")
    tab.expect_query(step="scale", word="1", cell="scaled-1-3")
    tab.page.keyboard.press("p")
    tab.expect_query(step="scale", word="1", cell="scaled-1-3", present="1")


def test_without_a_keyboard_there_is_a_way_out_at_the_end_of_the_dots(tab):
    tab.go(step="scores", present="1")
    leave = tab.page.get_by_role("button", name="Leave the presentation")
    for size in (PHONE, PROJECTOR):
        tab.page.set_viewport_size(size)
        tab.settled().page.evaluate(TWO_FRAMES)
        expect(leave).to_be_in_viewport(ratio=1)
        box, dots = leave.bounding_box(), tab.page.locator(".stepper ol").bounding_box()
        # Beside the last dot, at its height, and small; a finger still hits it.
        assert 0 <= box["x"] - dots["x"] - dots["width"] <= 16
        assert box["y"] + box["height"] / 2 == pytest.approx(dots["y"] + dots["height"] / 2, abs=1)
        assert 24 <= min(box["width"], box["height"]) <= max(box["width"], box["height"]) <= 32
        expect_to_fit(tab)
    leave.click()
    tab.expect_query(step="scores")
    expect(leave).to_have_count(0)
    expect(tab.field).to_be_visible()


def test_a_letter_that_is_typed_is_no_command(tab):
    tab.go(model="toy")
    tab.field.fill("")
    tab.field.press_sequentially("pppp")
    tab.field.press("Enter")
    tab.expect_query(model="toy", text="pppp")
