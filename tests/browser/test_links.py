"""A link is the whole view: it leads others to the same place, and the browser's buttons lead back."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.tab import TWO_FRAMES

SENTENCE, DEFAULT = "Two small birds sing", "The cat sat on the mat"
# Everything that can be chosen, and none of it as it is by default.
FULL = {
    "text": SENTENCE,
    "model": "toy",
    "step": "softmax",
    "mask": "causal",
    "word": "1",
    "head": "3",
    "cell": "weights-1-0",
    "beside": "1",
    "beside_layer": "2",
    "beside_head": "12",
    "beside_cell": "weights-3-3",
}


def seen(tab):
    """Everything that can be read on the page, in words, numbers and choices, while the mouse points at nothing."""
    tab.settled()
    # A picture tells of the cell under the mouse, which need not be the one that was clicked: answers move the page.
    tab.page.mouse.move(0, 0)
    tab.page.evaluate(TWO_FRAMES)
    return tab.page.locator(".page").aria_snapshot()


def test_every_choice_is_in_the_address_and_leads_somebody_else_to_the_same_place(opened, new_tab):
    tab = opened()
    # What is as it is by default is not in it.
    assert tab.query() == {}
    tab.to_step("Embed").to_step("Tokens")
    assert tab.query() == {}
    tab.type_sentence(SENTENCE).expect_query(text=SENTENCE)
    # The word that the first model put into focus, which nobody chose, stays in focus.
    tab.pick("Model", "Toy").expect_query(text=SENTENCE, model="toy", at="A-4")
    tab.to_step("Softmax")
    tab.turn("Side by side")
    tab.expect_query(text=SENTENCE, model="toy", at="A-4", step="softmax", beside="1")
    tab.select("Mask", "causal")
    tab.select("Head", "3 of 3")
    tab.select("Layer", "2 of 6", nth=1)
    tab.select("Head", "12 of 12", nth=1)
    # A picture that grows while a finger comes down is hit beside.
    gone = ("word", "cell", "beside_cell")
    tab.expect_query(at="A-4", **{name: value for name, value in FULL.items() if name not in gone})
    tab.matrix("weights").click(1, 0)
    tab.matrix("weights", "other").click(3, 3)
    tab.expect_query(**FULL)

    there = new_tab(viewport={"width": 1400, "height": 900}).go_to(tab.page.url)
    assert there.query() == FULL
    assert seen(there) == seen(tab)
    assert SENTENCE in seen(there)
    assert "[checked]" in seen(there)


@pytest.mark.quick
def test_a_reload_changes_nothing(opened):
    tab = opened(**FULL)
    before = seen(tab)
    tab.page.reload()
    assert seen(tab) == before
    assert tab.query() == FULL


def test_back_and_forward_lead_through_every_change_one_by_one(opened):
    tab = opened(model="toy")
    addresses = [{"model": "toy"}]

    def changed(**query):
        addresses.append(query)
        tab.expect_query(**query)

    tab.to_step("Scores")
    changed(model="toy", step="scores")
    tab.select("Head", "3 of 3")
    changed(model="toy", step="scores", head="3")
    tab.matrix("scores").click(1, 2)
    changed(model="toy", step="scores", head="3", cell="scores-1-2", word="1")
    tab.type_sentence(SENTENCE)
    changed(model="toy", step="scores", head="3", text=SENTENCE)
    tab.select("Mask", "padding")
    changed(model="toy", step="scores", head="3", text=SENTENCE, mask="padding")

    for query in reversed(addresses[:-1]):
        tab.page.go_back()
        tab.expect_query(**query)
        expect(tab.field).to_have_value(query.get("text", DEFAULT))
    expect(tab.heading).to_have_text(re.compile(r"^1\. "))
    for query in addresses[1:]:
        tab.page.go_forward()
        tab.expect_query(**query)
    expect(tab.heading).to_have_text(re.compile(r"^4\. "))
    expect(tab.field).to_have_value(SENTENCE)
    expect(tab.control("Mask")).to_have_value("padding")
    expect(tab.matrix("scores").root.locator(".shape")).to_have_text("7×7")
    # From here, one can go on as if nothing had been.
    tab.next()
    tab.expect_query(**{**addresses[-1], "step": "scale"})


def test_a_page_that_there_is_not_leads_to_the_front_door(tab):
    tab.go("no_such_page", model="toy", text=SENTENCE)
    expect(tab.page.locator(".st-key-front_picture")).to_be_visible()
    expect(tab.field).to_have_value(SENTENCE)
    # Streamlit tells the console, too; nothing else may be wrong.
    assert len(tab.errors) == 1
    assert "exist" in tab.errors.pop()


def test_a_link_can_be_copied_with_its_question_open(new_tab):
    tab = new_tab(permissions=["clipboard-read", "clipboard-write"]).go(
        "", model="toy", text="Two birds sang", guess="1"
    )
    other = tab.page.get_by_role("button", name="Copy link, question open")
    tab.menu("Share")
    expect(tab.page.get_by_role("button", name="Copy link", exact=True)).to_be_visible()
    expect(other).to_be_hidden()
    tab.page.keyboard.press("Escape")
    tab.page.get_by_role("button", name="Show me").click()
    tab.page.wait_for_url("**first=**")
    tab.settled()
    tab.menu("Share")
    other.click()
    expect(tab.page.get_by_role("button", name="Link copied")).to_be_visible()
    copied = tab.page.evaluate("() => navigator.clipboard.readText()")
    assert "first=" not in copied
    tab.page.goto(copied)
    tab.settled()
    expect(tab.page.get_by_role("button", name="Show me")).to_be_visible()
    assert tab.query() == {"model": "toy", "text": "Two birds sang", "guess": "1"}
