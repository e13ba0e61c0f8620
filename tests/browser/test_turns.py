"""With each press the browser requests the next page, and what two pages share stays."""

import re

import pytest
from playwright.sync_api import expect

from attention.lesson.initial_selection import first_place
from attention.lesson.steps import STEPS, step_of
from tests.bench.client import STEP_PAGE, Visitor, visited
from tests.browser.server import serve

SENTENCE = "The old clock ticks in the hall"
PAGES = "**/_attention/page/**"
MARK = "element => { element.isTheSame = true; }"
IS_MARKED = "element => element.isTheSame === true"


def press(tab, key):
    tab.page.keyboard.press(key)
    return tab


@pytest.fixture(scope="module")
def tab(new_shared_tab):
    """One tab for all tests: each begins with a page of its own."""
    return new_shared_tab()


@pytest.fixture
def opened(tab):
    return tab.go(model="toy", text=SENTENCE, step="scores")


@pytest.mark.quick
def test_a_step_further_is_one_answer(opened, models):
    asked = []
    opened.page.on("request", lambda request: asked.append(request.url))
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="scale")
    expect(opened.heading).to_have_text(re.compile("^5"))
    expect(opened.current_step).to_contain_text("Scale")
    layer, head = first_place(models["toy"].info, SENTENCE)
    opened.matrix("scaled").expect_to_show(models["toy"].trace(SENTENCE).layers[layer].head(head).scaled_scores)
    assert len([url for url in asked if "/_attention/page/" in url]) == 1


def test_the_sentence_names_the_numbers_of_each_step(opened):
    unit = opened.page.locator(".st-key-sentence .unit")
    for step in STEPS[STEPS.index(step_of("scores")) :]:
        opened.expect_query(model="toy", text=SENTENCE, step=step.key)
        expect(unit).to_have_text(step.unit or "weights")
        press(opened, "ArrowRight")


def test_a_page_in_a_frame_stays_as_it_is_framed(tab):
    tab.go(embed="true", model="toy", text=SENTENCE, step="scores")
    press(tab, "ArrowRight").expect_query(embed="true", model="toy", text=SENTENCE, step="scale")
    n_pages = tab.page.evaluate("history.length")
    tab.matrix("scaled").click(2, 1)
    tab.expect_query(embed="true", model="toy", text=SENTENCE, step="scale", word="2", cell="scaled-2-1")
    assert tab.page.evaluate("history.length") == n_pages + 1


@pytest.fixture
def answers(tab):
    """The statuses with which the page's next requests are answered, None for no answer; then the server answers."""
    found = []

    def answer(route):
        status = found.pop(0) if found else 200
        if status == 200:
            route.continue_()
        elif status is None:
            route.abort()
        else:
            route.fulfill(status=status, body="")

    # Before the page is opened: a request right after a route is set may still go past it (seen in Chromium 1 in 63).
    tab.page.route(PAGES, answer)
    yield found
    tab.page.unroute(PAGES)


def test_a_press_waits_for_a_server_that_is_away_and_is_said_to_have_failed_if_it_refuses(answers, opened):
    answers += [503, None, 200, 500]
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="scale")
    assert answers == [500]
    press(opened, "ArrowRight")
    expect(opened.notices).to_have_count(1)
    # The row of steps, which has gone ahead with the press, goes back.
    opened.settled()
    assert opened.query()["step"] == "scale"
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="mask")
    # The browser says so of itself, and the page is none the worse for it.
    assert all("status of" in error or "ERR_FAILED" in error for error in opened.errors)
    opened.errors.clear()


def test_another_theme_and_a_script_that_runs_again_change_nothing_of_what_is_seen(opened):
    before = opened.heading.first.inner_text()
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="scale")
    stage = opened.page.locator(".st-key-main_stage")
    stage.evaluate(MARK)
    opened.page.emulate_media(color_scheme="dark")
    expect(opened.page.locator(".stApp")).to_have_css("color-scheme", "dark")
    expect(opened.settled().heading).to_have_text(re.compile("^5"))
    assert stage.evaluate(IS_MARKED)
    written = opened.download_page().path().read_text("utf-8")
    assert opened.heading.first.inner_text() in written
    assert before not in written
    opened.page.emulate_media(color_scheme="light")
    expect(opened.page.locator(".stApp")).to_have_css("color-scheme", "light")
    assert stage.evaluate(IS_MARKED)


def test_what_two_steps_have_in_common_stays(opened):
    kept = [opened.page.locator(f".st-key-{key}") for key in ("main_stage", "map", "why", "step_left > h2", "header")]
    for each in kept:
        each.evaluate(MARK)
    for key, number in (("ArrowRight", 5), ("ArrowLeft", 4)):
        press(opened, key)
        expect(opened.heading.first).to_contain_text(f"{number}.")
        opened.settled()
        assert [each.evaluate(IS_MARKED) for each in kept] == [True] * len(kept)


def test_a_fold_opens_by_keyboard_and_keeps_the_focus(opened):
    fold = opened.page.locator(".st-key-why")
    title = fold.locator("summary")
    title.focus()
    press(opened, "Enter")
    expect(fold.locator(".prose")).to_contain_text(re.compile(r"\w"))
    expect(title).to_be_focused()
    opened.expect_query(model="toy", text=SENTENCE, step="scores", why="1")
    press(opened, "Enter")
    expect(fold.locator(".prose")).to_have_count(0)
    expect(title).to_be_focused()
    opened.expect_query(model="toy", text=SENTENCE, step="scores")


@pytest.mark.parametrize("step", ["qkv", "scores", "heads"])
def test_a_formula_is_whole_on_a_projector_and_its_parentheses_are_as_high_as_its_letters(new_tab, step):
    tab = new_tab(viewport={"width": 1280, "height": 720}).go(model="minilm-l6", step=step)
    formula = tab.page.locator(".formula")
    expect(formula).to_be_visible()
    assert formula.evaluate("each => each.scrollWidth <= each.clientWidth")
    size = formula.locator("math").first.evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
    heights = formula.locator("mo").evaluate_all(
        "all => all.filter(each => '()'.includes(each.textContent)).map(each => each.getBoundingClientRect().height)"
    )
    assert len(heights) == (0 if step == "qkv" else 2)
    assert max(heights, default=0) < 1.6 * size


async def walked(*urls):
    """Go through pages, models and steps, and return what is shown after each press."""
    visitor = await Visitor.open(urls, STEP_PAGE, model="toy", text=SENTENCE)
    shown = [visitor.drawn.page]
    for key, name, value in (
        ("stepper", "choose", "softmax"),
        ("context", "word", "3"),
        ("map", "go", {"head": 2}),
        ("header", "page", "all_heads"),
        ("header", "model", "vit-digits"),
        ("header", "model", "toy"),
        ("header", "page", "masks"),
        ("question", "show", True),
        ("header", "page", STEP_PAGE),
        ("header", "page", "masks"),
    ):
        await visitor.send(key, name, value)
        shown.append(visitor.drawn.page)
    await visitor.close()
    return shown


def test_two_copies_that_answer_in_turn_are_as_one(server, tmp_path):
    with serve(tmp_path / "log") as other:
        assert visited(walked(server.url, other.url)) == visited(walked(server.url))
