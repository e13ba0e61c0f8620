"""Accessibility: wide and narrow, light and dark, by eye and by ear, on screen and on paper."""

from itertools import cycle

import pytest
from playwright.sync_api import expect

from attention.lesson.steps import STEPS
from tests.browser.looks import (
    NARROW,
    WIDE,
    check,
    expect_no_id_twice,
    expect_to_fit,
    expect_whole_on_paper,
)
from tests.browser.tab import TWO_FRAMES

TRANSLATOR = {"model": "translator-fr-en", "text": "le chat noir dort", "part": "cross"}
PAIR = {"pair": "It was tired"}
# Places that the walk through the steps does not come by.
PLACES = {
    "the front door": ("", {}),
    "all heads": ("all_heads", {"layer": "2", "head": "3"}),
    "the neuron view": ("neuron_view", {"model": "toy", "mask": "causal"}),
    "the pairs of a pair": ("neuron_view", {"text": "My old dog chased a ball", **PAIR}),
    "two sentences": ("compare", {}),
    "two sentences read together": ("step_by_step", PAIR),
    "the blocks of a pair": ("all_heads", {"sort": "across", "block": "AB", "words": "1", **PAIR}),
    "a pair for the toy": ("all_heads", {"model": "toy", **PAIR}),
    "the syntax check": ("syntax_check", {}),
    "the code lab": ("code_lab", {"model": "toy"}),
    "the models": ("models", {}),
    "cross-attention": ("step_by_step", {**TRANSLATOR, "step": "softmax"}),
    "the tokens of cross-attention": ("step_by_step", {**TRANSLATOR, "step": "tokens"}),
    "the patches of a picture": ("step_by_step", {"model": "vit-digits"}),
    "what patches look at": ("step_by_step", {"model": "vit-digits", "step": "softmax", "word": "6"}),
    "an empty picture": ("step_by_step", {"model": "vit-digits", "text": "0" * 64}),
    "all heads, sorted": ("all_heads", {"sort": "pattern", "hide": "special", "words": "1"}),
    "side by side": ("step_by_step", {"step": "softmax", "beside": "1", "mask": "causal"}),
    "a padded sentence": ("step_by_step", {"step": "mask", "mask": "padding", "model": "toy"}),
    "a bad link": ("step_by_step", {"step": "magic", "text": ""}),
    "a long text": ("step_by_step", {"step": "softmax", "text": " ".join(["so and on"] * 50)}),
}
# Those that show a head and its mask, each with pictures of another kind.
PRINTED = ("all heads", "the neuron view", "two sentences", "what patches look at", "side by side", "a long text")


@pytest.fixture(scope="module")
def walked(new_shared_tab):
    """A tab that goes from step to step, where each has a mask to show."""
    return new_shared_tab().go(mask="causal")


@pytest.mark.parametrize(
    ("step", "wide"),
    [*zip(STEPS, cycle(["light", "dark"]), strict=False)],
    ids=lambda value: getattr(value, "key", value),
)
def test_every_step_can_be_read_by_everybody_and_printed(walked, step, wide):
    walked.to_step(step.name)
    check(walked, wide)
    expect_whole_on_paper(walked, mask="causal")


# Of the places, one is enough where time is short.
QUICK = ("the neuron view",)


@pytest.mark.parametrize(
    ("name", "wide"),
    [
        pytest.param(name, wide, marks=[pytest.mark.quick] if name in QUICK else [])
        for name, wide in zip(PLACES, cycle(["dark", "light"]), strict=False)
    ],
)
def test_every_place_can_be_read_by_everybody_and_printed(shared_tab, name, wide):
    path, query = PLACES[name]
    shared_tab.turn_to(path, **query)
    check(shared_tab, wide)
    if name in PRINTED:
        expect_whole_on_paper(shared_tab, query.get("mask", "none"))


def test_what_lies_open_can_be_read_too(shared_tab):
    """The table of a cell, the code and the tables behind the pictures."""
    shared_tab.turn_to(step="softmax", model="toy")
    shared_tab.page.get_by_text("These parts as a table").click()
    for panel, wide in (("NumPy", "light"), ("Table", "dark")):
        shared_tab.pick("More about this step", panel)
        expect(shared_tab.alternatives("More about this step").get_by_role("radio", name=panel)).to_be_checked()
        check(shared_tab, wide)


def test_what_grouped_queries_save_can_be_read_too(shared_tab):
    shared_tab.turn_to(step="qkv", model="vit-digits")
    shared_tab.page.get_by_text("Savings by grouped queries").click()
    expect(shared_tab.page.locator(".st-key-shared_1")).to_be_visible()
    check(shared_tab, wide="dark")


def test_no_id_is_there_twice_at_any_step_side_by_side(shared_tab):
    shared_tab.turn_to(model="toy", mask="causal", beside="1")
    for step in STEPS:
        shared_tab.to_step(step.name)
        expect_no_id_twice(shared_tab)


def test_in_a_narrow_window_everything_can_be_reached_and_pressed(new_tab):
    tab = new_tab(viewport=NARROW, has_touch=True).go(step="scores", model="toy", beside="1")
    for name in ("Learn", "Explore", "Share"):
        tab.menu(name).page.keyboard.press("Escape")
    tab.control("Model").click(trial=True)
    tab.unfold()
    for name in ("Mask", "Word"):
        tab.control(name).click(trial=True)
    tab.page.keyboard.press("Escape")
    for pane in range(2):
        tab.page.get_by_role("combobox", name="Head").nth(pane).click(trial=True)
    for button in tab.steps.get_by_role("button").all():
        button.click(trial=True)
    tab.heads("other").last.click(trial=True)
    tab.matrix("scores").click(5, 5)
    tab.expect_query(step="scores", model="toy", beside="1", cell="scores-5-5", word="5")
    # The numbers of the picture are there, too.
    expect(tab.matrix("scores").cell(5, 5)).to_be_visible()
    expect(tab.proof).to_be_in_viewport(ratio=1)
    expect_to_fit(tab)


# Each box that scrolls sideways: how much there is on either side of it, and what its edges say.
EDGES = """() => [...document.querySelectorAll('.page .figure')]
  .flatMap(each => [...(each.shadowRoot?.querySelectorAll(
    '.scroller, [data-line=context], .heads, .arcs .words') ?? [])])
  .map(box => ({
    more: [box.scrollLeft > 1, box.scrollWidth - box.clientWidth - box.scrollLeft > 1],
    said: ['before', 'after'].map(side => (box.dataset.more ?? '').split(' ').includes(side)),
    // A line has arrows, and a picture fades.
    seen: box.dataset.line
      ? ['::before', '::after'].map(side => getComputedStyle(box, side).content !== 'none')
      : ['--before', '--after'].map(side => getComputedStyle(box).maskImage !== 'none'
          && getComputedStyle(box).getPropertyValue(side) === 'transparent'),
  }))"""
SCROLL = """share => document.querySelectorAll('.page .figure').forEach(each =>
  each.shadowRoot?.querySelectorAll('.scroller, [data-line=context], .heads, .arcs .words').forEach(box => {
    box.scrollLeft = share * (box.scrollWidth - box.clientWidth);
  }))"""
LONG = " and ".join(["The cat sat on the mat and the dog sat there too"] * 3)


PHONE, PROJECTOR = {"width": 390, "height": 844}, {"width": 1280, "height": 720}


@pytest.mark.parametrize("step", ["qkv", "scale", "sum", "heads"])
def test_where_something_is_cut_at_an_edge_it_fades_there(shared_tab, step):
    shared_tab.turn_to(step=step, model="toy", text=LONG)
    for size in (PHONE, PROJECTOR):
        shared_tab.page.set_viewport_size(size)
        shared_tab.settled()
        counts = []
        for share in (0, 0.5, 1):
            shared_tab.page.evaluate(SCROLL, share)
            shared_tab.page.evaluate(TWO_FRAMES)
            boxes = shared_tab.page.evaluate(EDGES)
            for box in boxes:
                assert box["said"] == box["more"] == box["seen"], box
            counts.append(sum(any(box["more"]) for box in boxes))
        assert len(set(counts)) == 1
        # A phone always has a line of choices that goes on.
        assert counts[0] > 0 or size is PROJECTOR
    shared_tab.page.set_viewport_size(WIDE)
