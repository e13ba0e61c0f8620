"""A step for a room: large, without controls, and led on by a presenter's remote."""

import re

import pytest
from playwright.sync_api import expect

from attention.lesson.steps import STEPS
from tests.browser.looks import expect_no_barrier, expect_to_fit
from tests.sweep import sweep

PROJECTOR = {"width": 1280, "height": 720}


@pytest.fixture(scope="module")
def tab(new_shared_tab):
    tab = new_shared_tab()
    tab.page.set_viewport_size(PROJECTOR)
    return tab


# What each step shows of a sentence of eight tokens, pair by pair.
PAIRS = {"scores": "scores", "scale": "scaled", "mask": "masked", "softmax": "weights"}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "query",
    [{"model": "minilm-l6"}, {"model": "toy", "text": "The cat sat on the mat near a", "mask": "causal"}],
    ids=["BERT", "the toy"],
)
@pytest.mark.parametrize("step", PAIRS)
def test_a_room_can_read_it(tab, step, query, scheme):
    tab.page.emulate_media(color_scheme=scheme)
    tab.go(step=step, present="1", **query)
    assert tab.page.locator("select, input:visible, textarea").count() == 0
    heading = tab.heading.first
    assert heading.evaluate("each => getComputedStyle(each).fontSize") == "32px"
    assert tab.words.first.locator("p").evaluate("each => getComputedStyle(each).fontSize") == "24px"
    picture = tab.matrix(PAIRS[step]).picture
    assert tab.matrix(PAIRS[step]).root.locator(".shape").inner_text() == "8×8"
    box = picture.bounding_box()
    assert box["height"] >= 0.7 * PROJECTOR["height"]
    assert box["y"] + box["height"] <= PROJECTOR["height"]
    sizes = picture.locator(".cells").evaluate("each => Number(each.getAttribute('font-size'))")
    assert sizes >= 20
    for each in (heading, tab.words.first, tab.current_step):
        expect(each).to_be_in_viewport(ratio=1)
    expect_no_barrier(tab, scheme)
    expect_to_fit(tab)
    tab.page.emulate_media(color_scheme="light")


# What may not lie under the dots, nor under the line of the map beside them, and how far there is to scroll.
FOOT = """() => {
  const places = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated], .figure')];
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
THIRTY_WORDS = (
    "When the old gardener had watered all of the roses behind the house and the dog had slept in the sun "
    "she went in and made tea for everybody there"
)


@pytest.mark.parametrize("model", sweep(["toy", "minilm-l6", "smollm2-135m"], quick=["toy"]))
def test_the_dots_of_the_steps_lie_over_nothing_however_long_the_sentence(tab, model):
    assert len(THIRTY_WORDS.split()) == 30
    for scheme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=scheme)
        tab.go(step=STEPS[0].key, present="1", model=model, text=THIRTY_WORDS)
        for number, step in enumerate(STEPS, 1):
            expect(tab.current_step).to_have_accessible_name(f"{number} {step.name}")
            seen = tab.settled().page.evaluate(FOOT)
            assert seen["apart"], (step.key, seen)
            assert seen["lowest"] <= seen["dots"], (step.key, seen)
            assert tab.heading.first.evaluate("each => getComputedStyle(each).fontSize") == "32px"
            expect_to_fit(tab)
            tab.page.keyboard.press("PageDown")
    tab.page.emulate_media(color_scheme="light")


FIFTEEN_WORDS = "When the old gardener had watered all of the roses behind the house she rested"


@pytest.mark.parametrize("model", sweep(["toy", "minilm-l6", "smollm2-135m", "vit-digits"], quick=["minilm-l6"]))
@pytest.mark.parametrize("text", [None, FIFTEEN_WORDS], ids=["ready", "long"])
def test_the_picture_of_every_step_has_most_of_the_screen_and_nothing_is_scrolled(tab, model, text):
    assert len(FIFTEEN_WORDS.split()) == 15
    for step in STEPS:
        tab.go(step=step.key, present="1", model=model, **({} if text is None or "vit" in model else {"text": text}))
        # The numbers of a picture are fitted anew once the page's own letters are there.
        tab.page.wait_for_function(f"() => {{ const seen = ({FOOT})(); return seen.scrolls === 0 && seen.apart; }}")
        seen = tab.page.evaluate(FOOT)
        assert seen["highest"] >= 0.7 * PROJECTOR["height"], (step.key, seen)
        assert seen["maps"] == 1, step.key
        expect_to_fit(tab)


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


def test_what_a_digit_was_cut_into_stands_beside_the_digit(tab):
    tab.go(step="tokens", present="1", model="vit-digits")
    board = tab.page.locator(".overlay .board")
    # Nothing has been looked at yet: the picture alone.
    expect(board.locator("canvas")).to_have_count(1)
    assert board.bounding_box()["height"] >= 0.6 * PROJECTOR["height"]
    tab.go(step="softmax", present="1", model="vit-digits")
    expect(board.locator("canvas")).to_have_count(2)
    expect(board).to_be_in_viewport(ratio=1)


def test_a_room_can_read_the_answers(tab):
    tab.go(step="scores", present="1", guess="1", model="minilm-l6")
    answers = tab.page.locator(".question .answers button")
    tab.page.get_by_role("button", name="Show me").wait_for()
    for each in (answers.first, tab.page.get_by_role("button", name="Show me")):
        assert each.evaluate("each => parseFloat(getComputedStyle(each).fontSize)") >= 24
    expect_to_fit(tab)


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


@pytest.mark.parametrize("size", [PROJECTOR, {"width": 390, "height": 844}], ids=["projector", "phone"])
def test_without_a_keyboard_there_is_a_way_out_at_the_end_of_the_dots(tab, size):
    tab.page.set_viewport_size(size)
    tab.go(step="scores")
    leave = tab.page.get_by_role("button", name="Leave the presentation")
    expect(leave).to_have_count(0)
    tab.go(step="scores", present="1")
    expect(leave).to_be_in_viewport(ratio=1)
    box, dots = leave.bounding_box(), tab.page.locator(".stepper ol").bounding_box()
    # Beside the last dot, at its height, and small; a finger still hits it.
    assert 0 <= box["x"] - dots["x"] - dots["width"] <= 16
    assert box["y"] + box["height"] / 2 == pytest.approx(dots["y"] + dots["height"] / 2, abs=1)
    assert 24 <= min(box["width"], box["height"]) <= max(box["width"], box["height"]) <= 32
    expect_to_fit(tab)
    leave.click()
    tab.expect_query(step="scores")
    expect(tab.field).to_be_visible()
    tab.page.set_viewport_size(PROJECTOR)


@pytest.mark.quick
def test_a_letter_that_is_typed_is_no_command(tab):
    tab.go(model="toy")
    tab.field.fill("")
    tab.field.press_sequentially("pppp")
    tab.field.press("Enter")
    tab.expect_query(model="toy", text="pppp")
