"""The header: small, few tab stops, and everything that it leads to."""

import re

import pytest
from playwright.sync_api import expect

from attention.lesson.steps import STEPS
from attention.models import list_models
from attention.page.content.front import OPENING_TEXT
from tests.browser.tab import TWO_FRAMES

PROJECTOR, PHONE, LARGE = ({"width": w, "height": h} for w, h in ((1280, 720), (390, 844), (1920, 1080)))
MODELS = [info.model_id for info in list_models()]
FOCUSED = """() => {
  let found = document.activeElement;
  while (found.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found.getAttribute("aria-label") ?? found.textContent;
}"""


def top(locator):
    return locator.bounding_box()["y"]


@pytest.mark.parametrize("model", MODELS)
def test_the_picture_begins_high_on_the_page_and_eight_tokens_are_seen_whole_on_a_projector(shared_tab, model):
    shared_tab.page.set_viewport_size(PROJECTOR)
    shared_tab.turn_to(model=model, step=STEPS[0].key)
    sentence = shared_tab.page.locator(".st-key-sentence .arcs")
    picture = shared_tab.page.locator(".st-key-step_right").locator(".tokens, .matrix").first
    # A picture that is read has no sentence above it.
    first, windows = (picture if model == "vit-digits" else sentence), ((PHONE, 260, 400), (PROJECTOR, 120, 250))
    for index, step in enumerate(STEPS):
        shared_tab.to_step(step.name)
        # One model is seen in both windows at every step; of the others, each pair of a step and a window is.
        turn = (index + MODELS.index(model)) % 2
        for size, most, most_below in windows if model == "minilm-l6" else (windows[turn],):
            shared_tab.page.set_viewport_size(size)
            shared_tab.settled().page.evaluate(TWO_FRAMES)
            assert top(first) <= most, (step.key, size)
            assert top(picture) <= most_below, (step.key, size)
        # With its heading and its sentence.
        if model == "minilm-l6" and step in STEPS[3:7]:
            matrix = shared_tab.page.locator(".st-key-step_right .picture").first
            for seen in (shared_tab.heading.first, shared_tab.words.first, matrix):
                expect(seen).to_be_in_viewport(ratio=1)


# The ends of the thickest arc, which is drawn last, on the screen.
ENDS = """() => {
  const path = [...document.querySelector('.st-key-sentence').shadowRoot.querySelectorAll('path')].at(-1);
  return [0, path.getTotalLength()].map((at) => path.getPointAtLength(at).matrixTransform(path.getScreenCTM()))
    .map(({ x, y }) => [x, y]);
}"""


@pytest.mark.parametrize("model", ["minilm-l6", "smollm2-135m"])
def test_on_a_phone_both_ends_of_the_thickest_arc_are_in_sight(shared_tab, model):
    shared_tab.page.set_viewport_size(PHONE)
    shared_tab.turn_to(model=model, step="softmax", text=OPENING_TEXT)
    shared_tab.page.evaluate(TWO_FRAMES)
    for x, y in shared_tab.page.evaluate(ENDS):
        assert 0 < x < PHONE["width"]
        assert 0 < y < PHONE["height"]


@pytest.mark.parametrize("model", ["toy", "minilm-l6", "vit-digits"])
def test_whose_factors_are_shown_is_chosen_in_one_line_over_the_picture(shared_tab, model):
    shared_tab.page.set_viewport_size(PROJECTOR)
    shared_tab.turn_to(step="heads", model=model)
    options = shared_tab.page.locator(".st-key-factors .option")
    expect(options).to_have_count(2)
    one, other = (option.bounding_box() for option in options.all())
    assert one["y"] == other["y"]
    picture = shared_tab.matrix("joined").root.bounding_box()
    assert picture["x"] <= one["x"] < picture["x"] + picture["width"]
    assert one["y"] + one["height"] <= picture["y"]
    choice = shared_tab.alternatives("Show the factors of")
    expect(choice).to_be_in_viewport(ratio=1)
    if model != "toy":
        return
    for step, name, factors in (("heads", "Heads", "O"), ("qkv", "Q · K · V", "Q")):
        shared_tab.to_step(name)
        for option in (1, 0):
            expect(choice).to_be_in_viewport(ratio=1)
            choice.get_by_role("radio").nth(option).click()
            shared_tab.expect_query(step=step, model="toy", **({"factors": factors} if option else {}))


@pytest.mark.parametrize("lab", ["whole", "explain", "one_or_many"])
def test_on_a_phone_the_word_that_a_lab_is_about_is_in_sight(shared_tab, lab):
    shared_tab.page.set_viewport_size(PHONE)
    shared_tab.go(lab, text="The cat sat on the mat", **({"experiment": "words"} if lab == "explain" else {}))
    choice = shared_tab.page.get_by_role("combobox", name="Word").bounding_box()
    assert choice["x"] + 40 <= PHONE["width"]


@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
def test_a_large_screen_has_larger_pictures(shared_tab, model):
    shared_tab.page.set_viewport_size(PROJECTOR)
    shared_tab.turn_to(step="qkv", model=model, text="The cat sat on the mat")
    for step, names in (("Q · K · V", ("queries", "keys", "values")), ("Softmax", ("weights",))):
        shared_tab.to_step(step)
        areas = []
        for size in (PROJECTOR, LARGE):
            shared_tab.page.set_viewport_size(size)
            shared_tab.settled().page.evaluate(TWO_FRAMES)
            boxes = [shared_tab.matrix(name).picture.bounding_box() for name in names]
            areas.append([box["width"] * box["height"] for box in boxes])
            assert max(box["x"] + box["width"] for box in boxes) <= size["width"]
        assert all(large > 1.25 * small for small, large in zip(*areas, strict=True)), (step, areas)


LINES = {"header": 48, "context": 40, "stepper": 44}


def test_each_line_is_low_the_steps_stay_in_sight_and_the_proof_is_a_mark_that_opens(shared_tab):
    shared_tab.page.set_viewport_size(PROJECTOR)
    shared_tab.turn_to(step="scores")
    heights = {name: shared_tab.page.locator(f".st-key-{name}").bounding_box()["height"] for name in LINES}
    assert {name: height for name, height in heights.items() if height > LINES[name]} == {}
    bars = [shared_tab.page.locator(f".around-{name}") for name in ("masthead", "way")]
    assert sum(bar.bounding_box()["height"] for bar in bars) <= 96
    shared_tab.page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    for bar in bars:
        expect(bar).to_be_in_viewport(ratio=1)
    expect(shared_tab.steps).to_be_in_viewport(ratio=1)
    proof = shared_tab.proof.locator("summary")
    assert proof.bounding_box()["width"] < 80
    proof.click()
    expect(proof).to_contain_text("rows sum to 1")
    assert proof.bounding_box()["width"] > 200
    expect(shared_tab.proof.locator("section")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("model", ["minilm-l6", "toy", "smollm2-135m"])
def test_with_the_tab_key_one_is_soon_at_the_steps(shared_tab, model):
    shared_tab.page.set_viewport_size(PROJECTOR)
    shared_tab.turn_to(step="scores", model=model)
    shared_tab.page.locator(".st-key-header").get_by_role("button", name="Learn").focus()
    stops = [shared_tab.page.evaluate(FOCUSED)]
    while "Back" not in stops[-1]:
        shared_tab.page.keyboard.press("Tab")
        stops.append(shared_tab.page.evaluate(FOCUSED))
        assert len(stops) <= 7, stops
    assert stops[:2] == ["Learn", "Sentence"]


def test_the_menus_lead_to_every_page_by_mouse_and_by_keyboard(shared_tab):
    shared_tab.page.set_viewport_size(PROJECTOR)
    shared_tab.turn_to(model="toy", text="Two birds sing")
    shared_tab.to_page("Code lab")
    expect(shared_tab.page).to_have_title(re.compile("^Code lab"))
    shared_tab.expect_query(model="toy", text="Two birds sing")
    shared_tab.page.locator(".st-key-header").get_by_role("button", name="Labs").focus()
    for key in ("ArrowLeft", "Enter", "ArrowDown", "Enter"):
        shared_tab.page.keyboard.press(key)
    expect(shared_tab.page).to_have_title(re.compile("^All heads"))
    shared_tab.expect_query(model="toy", text="Two birds sing")
    shared_tab.page.go_back()
    expect(shared_tab.page).to_have_title(re.compile("^Code lab"))


def test_a_page_opens_in_another_tab_with_what_is_chosen(shared_tab):
    shared_tab.turn_to(model="toy", text="Two birds sing")
    shared_tab.menu("Explore")
    with shared_tab.page.context.expect_page() as opened:
        shared_tab.page.get_by_role("link", name="All heads").click(modifiers=["Control"])
    other = opened.value
    expect(other).to_have_title(re.compile("^All heads"), timeout=60_000)
    expect(other.get_by_role("textbox", name="Sentence", exact=True)).to_have_value("Two birds sing")
    other.close()
    expect(shared_tab.page).to_have_title(re.compile("^Step by step"))


def test_the_examples_open_under_the_field_and_answer_to_the_keyboard(shared_tab):
    shared_tab.page.set_viewport_size(PROJECTOR)
    shared_tab.turn_to(model="toy", step="scores")
    shared_tab.field.focus()
    expect(shared_tab.page.locator(".examples")).to_be_hidden()
    for key in ("ArrowDown", "ArrowDown"):
        shared_tab.page.keyboard.press(key)
    shared_tab.page.keyboard.press("Escape")
    expect(shared_tab.page.locator(".examples")).to_be_hidden()
    expect(shared_tab.field).to_be_focused()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        shared_tab.page.keyboard.press(key)
    shared_tab.expect_query(model="toy", step="scores", text="a fluffy blue creature roamed the verdant forest")
    # A second sentence has its field there too; once there is one, it stands beside the first.
    shared_tab.field.click()
    second = shared_tab.page.get_by_role("textbox", name="Second sentence")
    second.fill("It was tired")
    second.press("Enter")
    expect(shared_tab.page.get_by_role("textbox", name="Second sentence")).to_be_in_viewport()
    text = "a fluffy blue creature roamed the verdant forest"
    shared_tab.expect_query(model="toy", step="scores", text=text, pair="It was tired")


def test_on_this_machine_the_copied_link_says_that_it_is_for_this_machine(new_tab):
    tab = new_tab(permissions=["clipboard-read", "clipboard-write"]).go(model="toy")
    tab.copy_link()
    expect(tab.page.get_by_role("button", name="Link copied")).to_be_visible()
    # ... and how others may come.
    expect(tab.page.locator(".line .status").first).to_contain_text("0.0.0.0")
    assert tab.page.evaluate("() => navigator.clipboard.readText()") == tab.page.url
