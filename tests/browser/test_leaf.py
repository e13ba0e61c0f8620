"""From step to step the browser goes by itself: the app does not run, and nothing is lost by that."""

import re

import pytest
from playwright.sync_api import expect

from attention.lesson.opening import first_place

SENTENCE = "A red boat left the harbour"
LEAVES = re.compile("/_attention/leaf/")


def run_number(tab):
    """The number of the run that has drawn the page."""
    return tab.page.locator(".st-key-drawn_after input").input_value()


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
def test_a_step_further_needs_no_run(opened, models):
    before = run_number(opened)
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="scale")
    expect(opened.heading).to_have_text(re.compile("^5"))
    expect(opened.current_step).to_contain_text("Scale")
    layer, head = first_place(models["toy"].info, SENTENCE)
    opened.matrix("scaled").expect_to_show(models["toy"].trace(SENTENCE).layers[layer].head(head).scaled_scores)
    opened.next().expect_query(model="toy", text=SENTENCE, step="mask")
    assert run_number(opened) == before


def test_back_and_forward_and_a_reload_show_what_the_address_says(opened):
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="scale")
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="mask")
    opened.page.go_back()
    opened.expect_query(model="toy", text=SENTENCE, step="scale")
    expect(opened.heading).to_have_text(re.compile("^5"))
    opened.page.go_back()
    expect(opened.heading).to_have_text(re.compile("^4"))
    opened.page.go_forward()
    expect(opened.heading).to_have_text(re.compile("^5"))
    press(opened.settled(), "ArrowRight").expect_query(model="toy", text=SENTENCE, step="mask")
    opened.page.reload()
    opened.settled()
    expect(opened.heading).to_have_text(re.compile("^6"))


def test_what_is_pressed_after_it_counts_on_the_step_that_is_seen(opened):
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="scale")
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="mask")
    opened.matrix("masked").click(2, 1)
    opened.expect_query(model="toy", text=SENTENCE, step="mask", word="2", cell="masked-2-1")
    expect(opened.heading).to_have_text(re.compile("^6"))
    # A run has drawn this; another leaf goes on from there, and back to what a run has drawn before.
    for step, name in (("scale", "Scale"), ("scores", "Scores")):
        opened.to_step(name).expect_query(model="toy", text=SENTENCE, step=step, word="2")
    opened.select("Mask", "causal")
    opened.expect_query(model="toy", text=SENTENCE, step="scores", word="2", mask="causal")
    expect(opened.heading).to_have_text(re.compile("^4"))


def test_a_page_that_a_run_draws_as_it_drew_it_before_is_drawn_anew(opened):
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="scale")
    # The server has last drawn the step before, and is to draw the same once more.
    opened.page.evaluate("() => document[Symbol.for('attention.leaf')].outline = ''")
    press(opened, "ArrowLeft").expect_query(model="toy", text=SENTENCE, step="scores")
    expect(opened.heading).to_have_text(re.compile("^4"))
    expect(opened.current_step).to_contain_text("Scores")


def test_a_page_in_a_frame_stays_as_it_is_framed(tab):
    tab.go(embed="true", model="toy", text=SENTENCE, step="scores")
    press(tab, "ArrowRight").expect_query(embed="true", model="toy", text=SENTENCE, step="scale")
    n_pages = tab.page.evaluate("history.length")
    tab.matrix("scaled").click(2, 1)
    tab.expect_query(embed="true", model="toy", text=SENTENCE, step="scale", word="2", cell="scaled-2-1")
    assert tab.page.evaluate("history.length") == n_pages + 1


def test_without_a_leaf_the_app_runs(opened):
    answers = [410, 500, None]

    def refuse(route):
        answer = answers.pop(0)
        route.abort() if answer is None else route.fulfill(status=answer, body="")

    opened.page.route(LEAVES, refuse)
    for number, step in ((5, "scale"), (6, "mask"), (7, "softmax")):
        before = run_number(opened)
        press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step=step)
        expect(opened.heading).to_have_text(re.compile(f"^{number}"))
        assert run_number(opened) != before
    assert answers == []
    # The browser says so of itself, and the page is none the worse for it.
    assert all("status of" in error or "ERR_FAILED" in error for error in opened.errors)
    opened.errors.clear()
    opened.page.unroute(LEAVES)


def test_the_theme_may_change_after_it_and_a_file_of_the_page_has_the_step_that_is_seen(opened):
    before = opened.heading.first.inner_text()
    press(opened, "ArrowRight").expect_query(model="toy", text=SENTENCE, step="scale")
    opened.page.emulate_media(color_scheme="dark")
    expect(opened.page.locator(".stApp")).to_have_css("color-scheme", "dark")
    expect(opened.settled().heading).to_have_text(re.compile("^5"))
    expect(opened.current_step).to_contain_text("Scale")
    assert opened.matrix("scaled").labels()
    written = opened.download_page().path().read_text("utf-8")
    assert opened.heading.first.inner_text() in written
    assert before not in written
    opened.page.emulate_media(color_scheme="light")


def test_in_a_room_the_keys_of_a_remote_need_no_run_either(tab):
    tab.go(model="toy", text=SENTENCE, step="mask", present="1")
    before = run_number(tab)
    press(tab, "PageDown").expect_query(model="toy", text=SENTENCE, step="softmax", present="1")
    expect(tab.heading).to_have_text(re.compile("^7"))
    assert run_number(tab) == before


def test_two_people_turn_their_own_pages(new_tab):
    one, other = (new_tab().go(model="toy", text=text, step="scores") for text in ("One owl hoots", "Two owls sleep"))
    press(one, "ArrowRight").expect_query(model="toy", text="One owl hoots", step="scale")
    press(other, "ArrowLeft").expect_query(model="toy", text="Two owls sleep", step="qkv")
    for tab, text, step in ((one, "One owl hoots", "scale"), (other, "Two owls sleep", "qkv")):
        tab.select("Mask", "causal").expect_query(model="toy", text=text, step=step, mask="causal")
