"""Every control: by mouse, by keyboard, and in quick succession."""

import re

import pytest
from playwright.sync_api import expect

from attention.lesson.steps import STEPS

SENTENCE = "The cat sat on the mat"
FOCUSED = """() => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
}"""


# ----------------------------------------------------------------------------------------- choices


def test_tokens_are_pressed_by_mouse_and_are_one_stop_with_arrows_inside(opened):
    tab = opened()
    tab.chips.filter(has_text="mat").click()
    tab.expect_query(word="6")
    expect(tab.words).to_contain_text(re.compile(r"\bmat\b\D*\b6\b"))
    expect(tab.chips.filter(has_text="mat")).to_have_attribute("aria-pressed", "true")
    tab.chips.nth(2).focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("ArrowRight")
    expect(tab.chips.nth(4)).to_be_focused()
    tab.page.keyboard.press("Enter")
    tab.expect_query(word="4")
    expect(tab.chips.nth(4)).to_be_focused()


# ------------------------------------------------------------------------------------------- steps


def test_buttons_clicks_and_arrows_lead_from_step_to_step_however_fast_they_come(opened):
    tab = opened(model="toy")
    back = tab.page.get_by_role("button", name=re.compile("Back"))
    expect(back).to_be_disabled()
    for number, step in enumerate(STEPS[1:], start=2):
        tab.next()
        expect(tab.heading).to_have_text(f"{number}. {step.heading(None)}")
        expect(tab.current_step).to_have_text(f"{number} {step.name}")
    tab.page.locator(".stepper").get_by_role("button", name="All heads").click()
    expect(tab.page).to_have_title(re.compile("^All heads"))
    tab.page.go_back()
    expect(tab.current_step).to_contain_text("9")
    back.click()
    tab.expect_query(model="toy", step="sum")
    # A click leads to any step.
    tab.to_step("Embed").expect_query(model="toy", step="embed")
    tab.to_step("Scores").expect_query(model="toy", step="scores")
    # Arrows lead a step on and back.
    for key, number, step in (("ArrowRight", 5, "scale"), ("ArrowLeft", 4, "scores"), ("ArrowLeft", 3, "qkv")):
        tab.page.keyboard.press(key)
        expect(tab.heading).to_have_text(re.compile(f"^{number}"))
        tab.expect_query(model="toy", step=step)
    expect(tab.current_step).to_have_text("3 Q · K · V")
    # Those that come fast all count, and there is nothing before the first step.
    right, left = "ArrowRight", "ArrowLeft"
    for keys, number, query in (
        ([right] * 4, 7, {"step": "softmax"}),
        ([left, left, right, left], 5, {"step": "scale"}),
        ([left] * 12, 1, {}),
    ):
        for key in keys:
            tab.page.keyboard.press(key)
        tab.expect_query(model="toy", **query)
        expect(tab.heading).to_have_text(re.compile(f"^{number}"))
        expect(tab.current_step).to_have_text(re.compile(f"^{number}"))


def test_arrow_keys_in_a_picture_and_in_the_sentence_stay_there(opened, models):
    tab = opened(model="toy", step="scores", cell="scores-2-2")
    scores = models["toy"].trace(SENTENCE).layers[0].head(1).scores
    matrix = tab.matrix("scores")
    matrix.picture.focus()
    for key, place, words in (
        ("ArrowRight", (2, 3), "sat → on"),
        ("ArrowDown", (3, 3), "on → on"),
        ("End", (3, 5), "on → mat"),
        ("ArrowRight", (3, 5), "on → mat"),
        ("Control+Home", (0, 0), "the (0) → the (0)"),
        ("ArrowLeft", (0, 0), "the (0) → the (0)"),
    ):
        matrix.picture.press(key)
        expect(matrix.readout).to_have_text(f"{words}: {scores[place]:.2f}")
    assert tab.query() == {"model": "toy", "step": "scores", "cell": "scores-2-2"}
    # Outside of it they lead on again.
    matrix.picture.blur()
    tab.page.keyboard.press("ArrowRight")
    tab.expect_query(model="toy", step="scale")
    # In the sentence they move the cursor.
    tab.field.press("End")
    for _ in range(3):
        tab.field.press("ArrowLeft")
    tab.page.keyboard.type("pink ")
    tab.field.press("Enter")
    tab.expect_query(model="toy", step="scale", text="The cat sat on the pink mat")


# ---------------------------------------------------------------------------------------- keyboard


def stops(tab):
    """Press Tab from the top of the page to its end, and say where it stopped on the way."""
    tab.page.evaluate("() => { document.activeElement?.blur(); window.scrollTo(0, 0); }")
    found = []
    for _ in range(80):
        tab.page.keyboard.press("Tab")
        name = tab.page.evaluate(
            f"""() => {{
              const element = ({FOCUSED})();
              if (element === null || element === document.body) return null;
              return element.getAttribute('aria-label') || element.innerText || element.textContent
                || element.labels?.[0]?.innerText || element.getAttribute('title') || element.tagName;
            }}"""
        )
        if name is None:
            return found
        found.append(" ".join(name.split()))
    pytest.fail(f"the Tab key does not come to an end: {found}")


def test_the_tab_key_reaches_everything_in_the_order_of_the_page(tab):
    tab.go(model="toy", step="scores")
    found = stops(tab)
    wanted = [
        "Learn",
        "Sentence",
        "Toy MiniLM (a small BERT)",
        "Present",
        "Back",
        "1 Tokens",
        "9 Heads",
        "Next",
        "1 of 1",
        "the",
        "Head 2",
        "These parts as a table",
        "S = Q·Kᵀ",
        "Shapes",
    ]
    places = []
    for name in wanted:
        after = places[-1] + 1 if places else 0
        matching = [index for index, stop in enumerate(found) if index >= after and name in stop]
        assert matching, (name, found)
        places.append(matching[0])


def test_a_cell_can_be_chosen_with_the_keyboard_alone(tab):
    tab.go(model="toy", step="scores", word="2")
    matrix = tab.matrix("scores")
    # On the way there are other pictures that have a keyboard, such as the chart of the opened cell.
    for _ in range(40):
        tab.page.keyboard.press("Tab")
        if matrix.picture.evaluate("picture => picture.matches(':focus')"):
            break
    expect(matrix.picture).to_be_focused()
    # It starts at the cell that is open: sat and cat.
    expect(matrix.readout).to_have_text(re.compile("^sat → cat"))
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft", "Enter"):
        tab.page.keyboard.press(key)
    tab.expect_query(model="toy", step="scores", cell="scores-4-0", word="4")
    expect(tab.detail).to_contain_text("q(the (4)) · k(the (0))")
    # The focus has stayed, so that one can go on from here.
    expect(matrix.picture).to_be_focused()
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("Enter")
    tab.expect_query(model="toy", step="scores", cell="scores-4-1", word="4")


def test_models_and_side_by_side_can_be_chosen_with_the_keyboard_alone(opened):
    tab = opened(step="softmax")
    tab.control("Model").focus()
    tab.page.keyboard.press("ArrowUp")
    tab.expect_query(step="softmax", model="toy", at="A-15")
    # The controls of a line are one stop, with arrows inside; what is folded comes one by one.
    tab.control("Layer").focus()
    tab.page.keyboard.press("ArrowRight")
    expect(tab.control("Head")).to_be_focused()
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Enter")
    for _ in range(3):
        tab.page.keyboard.press("Tab")
    expect(tab.page.get_by_role("switch", name="Side by side")).to_be_focused()
    tab.page.keyboard.press("Space")
    tab.expect_query(step="softmax", model="toy", at="A-15", beside="1")
    tab.page.keyboard.press("Shift+Tab")
    expect(tab.control("Mask")).to_be_focused()
    tab.page.keyboard.press("ArrowDown")
    tab.expect_query(step="softmax", model="toy", at="A-15", beside="1", mask="causal")
