"""Labs in a browser: a guess, then knobs, by mouse, keyboard and link; and accessible."""

import re
from itertools import cycle

import pytest
from playwright.sync_api import expect

from attention.models import list_models
from attention.page.pages import OF_LABS
from attention.page.parameters import Choice, Context
from attention.page.settings import MODEL
from tests.browser.looks import NARROW, WIDE, check, expect_to_fit, look

SENTENCE = "Nine small boats left the harbour"


def show(tab):
    """Have the question answered."""
    tab.page.get_by_role("button", name="Show me").click()
    expect(tab.page.get_by_text("Here is the answer.")).to_be_visible()
    return tab.settled()


@pytest.mark.quick
def test_why_divide_is_guessed_first_and_then_shown(tab):
    """Another width is looked at before the answer, but not the one that is asked about."""
    tab.go("why_divide", model="toy", text=SENTENCE)
    spread = tab.page.locator(".st-key-spread_at_width")
    told = tab.page.get_by_text(re.compile(r"\b8\.01\b"))
    expect(tab.page.get_by_text("Hidden while the question is open.")).to_be_visible()
    tab.page.get_by_role("slider", name="Numbers in a query, d").press("ArrowLeft")
    expect(spread).to_be_visible()
    tab.page.get_by_role("slider", name="Numbers in a query, d").press("ArrowRight")
    expect(spread).to_have_count(0)
    expect(told).to_have_count(0)
    tab.page.get_by_role("button", name="about 64").click()
    expect(told.first).to_be_visible()
    expect(spread).to_be_visible()


# In CSS pixels: a projector, and how much of a picture has to be seen on it.
PROJECTOR = {"width": 1280, "height": 720}
LEAST_SEEN = 100

# The tops and bottoms of the question and of all pictures of data, by their keys.
_PICTURES = """() => Object.fromEntries([...document.querySelectorAll('.page .figure')]
  .filter((figure) => figure.shadowRoot.querySelector('.picture, .tokens, .question'))
  .map((figure) => [figure.className, figure.getBoundingClientRect()])
  .map(([name, { top, bottom }]) => [name.match(/st-key-(\\S+)/)[1], [top, bottom]]))"""


@pytest.mark.parametrize("page", [page for page in OF_LABS.values() if page.address not in ("whole", "cost")], ids=str)
def test_a_picture_is_in_the_first_screen_of_a_lab_and_an_answer_moves_none(tab, page):
    tab.page.set_viewport_size(PROJECTOR)
    tab.go(page.address)
    before = tab.page.evaluate(_PICTURES)
    seen = {key for key, (top, bottom) in before.items() if min(bottom, PROJECTOR["height"]) - top > LEAST_SEEN}
    assert seen - {"question"} or "sequence" in before
    after = show(tab).page.evaluate(_PICTURES)
    assert all(abs(after[key][0] - before[key][0]) < 1 for key in seen)


@pytest.mark.parametrize("page", OF_LABS.values(), ids=str)
def test_on_a_phone_an_answer_has_room_beneath_its_question(tab, page):
    tab.page.set_viewport_size(NARROW)
    question = tab.go(page.address).page.locator(".around-guess_first")
    before = question.bounding_box()["height"]
    show(tab)
    assert question.bounding_box()["height"] == before


def test_the_slider_of_the_width_goes_by_keys_and_is_in_the_link(tab, new_tab):
    show(tab.go("why_divide", model="toy", text=SENTENCE))
    slider = tab.page.get_by_role("slider", name="Numbers in a query, d")
    slider.focus()
    slider.press("End")
    expect(tab.page.get_by_text("With d = 512, the scores spread by")).to_be_visible()
    expect(slider).to_be_focused()
    expect(slider).to_have_attribute("aria-valuetext", "512")
    expect(tab.page).to_have_url(re.compile("width=512"))
    slider.press("ArrowLeft")
    expect(tab.page.get_by_text("With d = 256, the scores spread by")).to_be_visible()
    # The arrow keys are the slider's, and Back leads to the value before.
    tab.page.go_back()
    expect(tab.page.get_by_text("With d = 512, the scores spread by")).to_be_visible()
    there = new_tab()
    there.page.goto(tab.page.url)
    expect(there.page.get_by_text("With d = 512, the scores spread by")).to_be_visible()
    expect(there.page.get_by_role("slider", name="Numbers in a query, d")).to_have_attribute("aria-valuetext", "512")


def test_a_mask_is_painted_by_mouse_and_keyboard_and_is_in_the_link(tab, new_tab):
    show(tab.go("masks", model="toy", text="Two small birds sing", rule="none"))
    cell = tab.page.locator(".st-key-mask rect[data-row='1'][data-column='2'] + text")
    weight = tab.page.locator(".st-key-masked_weights rect[data-row='1'][data-column='2'] + text")
    tab.page.locator(".st-key-mask rect[data-row='1'][data-column='2']").click(force=True)
    expect(cell).to_have_text("−∞")
    expect(weight).to_have_text("0")
    expect(tab.alternatives("Mask").get_by_role("radio", name="painted")).to_be_checked()
    expect(tab.page).to_have_url(re.compile("rule=painted&hidden=0.4"))
    # On from there with the keyboard: the cell to the right, which is hidden, too, and shown again.
    picture = tab.page.locator(".st-key-mask .picture")
    picture.press("ArrowRight")
    picture.press("Enter")
    expect(tab.page).to_have_url(re.compile("hidden=0.c"))
    picture.press("Enter")
    expect(tab.page).to_have_url(re.compile("hidden=0.4"))
    there = new_tab()
    there.page.goto(tab.page.url)
    expect(there.page.locator(".st-key-mask rect[data-row='1'][data-column='2'] + text")).to_have_text("−∞")


def test_a_mask_is_painted_by_touch_and_how_is_said_below_what_is_painted(new_tab):
    tab = new_tab(viewport={"width": 390, "height": 844}, has_touch=True)
    show(tab.go("masks", model="toy", text="Two small birds sing", rule="none"))
    cell = tab.page.locator(".st-key-mask rect[data-row='1'][data-column='2']")
    how = tab.page.get_by_text("Press a score").bounding_box()["y"]
    painted, weights = (tab.page.locator(f".st-key-{name}").bounding_box()["y"] for name in ("mask", "own_weights"))
    assert painted < how < weights
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    tab.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(tab.page).to_have_url(re.compile("rule=painted&hidden=0.4"))
    weight = tab.page.locator(".st-key-masked_weights rect[data-row='1'][data-column='2'] + text")
    expect(weight).to_have_text("0")


def test_three_matrices_abreast_are_seen_whole(tab):
    """With the model that makes the most tokens of a text: it has one more for the beginning and one for the end."""
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    text = "The animal did not cross the street because it was too tired that day"
    show(tab.go("masks", model="minilm-l6", text=text))
    for name in ("mask", "own_weights", "masked_weights"):
        scroller = tab.page.locator(f".st-key-{name} .scroller")
        assert scroller.evaluate("each => each.scrollWidth - each.clientWidth") == 0


def test_the_parts_of_a_whole_model_open_by_mouse_and_keyboard_and_lead_on(tab):
    tab.go("whole", model="minilm-l6", text=SENTENCE, layer="2", word="3")
    parts = tab.page.get_by_role("toolbar", name=re.compile("^The path of")).get_by_role("button")
    # An embedding, three parts of each of six layers, and what comes out; only what feed-forward adds is not there yet.
    expect(parts).to_have_count(20)
    expect(parts.filter(has_text="?")).to_have_count(6)
    show(tab)
    tab.page.get_by_role("button", name=re.compile("^Layer 5, Feed-forward: adds a vector of norm")).click()
    expect(tab.page).to_have_url(re.compile("shown=feed-forward"))
    expect(tab.page).to_have_url(re.compile("layer=5"))
    expect(tab.page.get_by_role("heading", name="Feed-forward network in layer 5: each token alone")).to_be_visible()
    pressed = tab.page.get_by_role("button", name=re.compile("^Layer 5, Feed-forward"))
    expect(pressed).to_be_focused()
    pressed.press("End")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_text("its last vectors are its result")).to_be_visible()
    tab.settled()
    tab.page.get_by_text("MiniLM on one page of NumPy").click()
    expect(tab.page.get_by_text("lines of NumPy are all of MiniLM")).to_be_visible()
    expect(tab.page.get_by_text("def bert(")).to_be_visible()
    check(tab)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    expect_to_fit(tab)
    tab.page.get_by_role("link", name="Attention of layer 5 step by step").click()
    expect(tab.page).to_have_url(re.compile(r"step_by_step\?.*layer=5"))


def test_a_head_is_chosen_where_its_worth_is_drawn_by_mouse_and_keyboard(tab):
    tab.go("explain", model="minilm-l6", text=SENTENCE, layer="3", head="1")
    show(tab)
    expect(tab.page.get_by_role("heading", name="Layer 3, head 1 of MiniLM")).to_be_visible()
    picture = tab.page.locator(".st-key-worth .picture")
    # Points in the order in which they are drawn from left to right: the last head is the one before the last mean.
    picture.focus()
    picture.press("End")
    expect(tab.page.locator(".st-key-worth [role=status]")).to_contain_text("layer 6, head 12")
    picture.press("Enter")
    tab.settled()
    expect(tab.page.get_by_role("heading", name="Layer 6, head 12 of MiniLM")).to_be_visible()
    assert {**tab.query(), "answer": ""}["layer"] == "6"
    expect(picture).to_be_focused()
    expect(tab.page.locator(".st-key-worth [role=status]")).to_contain_text("layer 6, head 12")
    # The question is the same for every head: nobody is asked anew.
    expect(tab.page.get_by_text("Here is the answer.")).to_be_visible()
    box = tab.page.locator(".st-key-worth .scatterlayer .trace:last-child .point").first.bounding_box()
    tab.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(tab.page.get_by_role("heading", name="Layer 1, head 1 of MiniLM")).to_be_visible()
    tab.page.go_back()
    expect(tab.page.get_by_role("heading", name="Layer 6, head 12 of MiniLM")).to_be_visible()


def test_a_vector_is_followed_by_mouse_and_keyboard(tab):
    show(tab.go("vector_moves", model="toy", text=SENTENCE, word="2"))
    length = re.search(r"is ΔE, with norm (\d\.\d\d)", tab.page.locator(".page").inner_text())[1]
    picture = tab.page.locator(".st-key-way .picture")
    readout = tab.page.locator(".st-key-way [role=status]")
    said = []
    picture.press("Home")
    for _ in range(60):
        said.append(readout.inner_text())
        picture.press("ArrowRight")
    assert f"ΔE: norm {length}" in said
    box = tab.page.locator(".st-key-way .scatterlayer .trace .point").nth(4).bounding_box()
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(tab.page.locator(".st-key-way .hoverlayer")).to_have_text(re.compile(r"\d\.\d\d$"))
    tab.pick("Sent by", "all layers")
    expect(tab.page).to_have_url(re.compile("scope=layers"))
    expect(tab.page.get_by_role("heading", name="All layers of Toy")).to_be_visible()


def test_a_second_text_is_typed_and_a_word_of_both_drifts_apart(tab, new_tab):
    show(tab.go("vector_moves", model="minilm-l6", text="the bank of the river", word="2"))
    expect(tab.page.get_by_text("“the bank of the river” and “the bank of the city”")).to_be_visible()
    tab.pick("Compared", "your text and another")
    field = tab.page.get_by_role("textbox", name="Second text")
    field.fill("Nobody sings")
    field.press("Enter")
    expect(tab.page.get_by_text("that shares a word with yours")).to_be_visible()
    field.fill("My bank is shut")
    field.press("Enter")
    expect(tab.page.get_by_text("that shares a word with yours")).to_have_count(0)
    expect(tab.page).to_have_url(re.compile(r"versus=My\+bank\+is\+shut"))
    there = new_tab()
    there.page.goto(tab.page.url)
    expect(there.page.get_by_role("textbox", name="Second text")).to_have_value("My bank is shut")
    check(there.settled(), wide="dark")


PHONE = {"width": 390, "height": 844}


# A question is the same kind of thing in every lab: before it is answered, the windows take turns.
@pytest.mark.parametrize(
    ("lab", "page", "asked"),
    [
        (lab, page, window)
        for (lab, page), window in zip(OF_LABS.items(), cycle([(WIDE, "light"), (NARROW, "dark")]), strict=False)
    ],
    ids=lambda value: getattr(value, "address", ""),
)
def test_a_lab_can_be_read_by_everybody_taken_away_and_used_on_a_phone(new_tab, browser, tmp_path, lab, page, asked):
    """One visit: before its question is answered and after, as a file, and each of its experiments on a phone."""
    tab = new_tab().go(page.address, text=SENTENCE)
    look(tab, asked)
    answered = show(tab).query()
    check(tab, wide="dark")
    tab.download_page().save_as(tmp_path / "lab.html")
    expect_drawn_without_a_network(browser, tmp_path / "lab.html")
    knob, context = lab.knobs[0], Context({info.model_id: info for info in list_models()}, MODEL.default)
    # What is counted has no other page at another count, but longer numbers.
    values = knob.kind.options(context) if isinstance(knob.kind, Choice) else [knob.default]
    if isinstance(knob.default, int):
        values = [values[0], values[-1]]
    tab.page.set_viewport_size(PHONE)
    for value in values:
        tab.turn_to(page.address, **{**answered, knob.name: knob.kind.write(value)})
        expect_to_fit(tab)
        # Where the line goes on to the right, the arrow that says so does not push the title out of sight.
        assert tab.page.get_by_role("heading", level=1).bounding_box()["x"] < 40
        for told in tab.page.locator(".scale output").all():
            box = told.bounding_box()
            assert box["x"] + box["width"] <= PHONE["width"]


def expect_drawn_without_a_network(browser, file):
    """The page in the file has its pictures and its tables, and no script of it fails."""
    context = browser.new_context(offline=True)
    shown = context.new_page()
    errors = []
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.goto(file.as_uri())
    expect(shown.locator("[data-picture]").first).to_be_visible()
    expect(shown.locator("table").first).to_be_attached()
    context.close()
    assert errors == []


def test_names_of_arrows_lie_apart(tab):
    show(tab.go("vector_moves", model="minilm-l6", scope="layers"))
    expect(tab.page.locator(".st-key-way .textpoint").first).to_be_visible()
    boxes = tab.page.locator(".st-key-way .plot").evaluate(
        """plot => [...plot.querySelectorAll('.textpoint > text')]
          .filter(each => getComputedStyle(each).visibility === 'visible')
          .map(each => each.getBoundingClientRect())
          .map(({ left, top, right, bottom }) => [left, top, right, bottom])"""
    )
    assert len(boxes) > 6
    for index, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:index]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
