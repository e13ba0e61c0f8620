"""Everybody can read the page: wide and narrow, light and dark, by eye and by ear."""

import pytest
from playwright.sync_api import expect

from attention.lesson.steps import STEPS
from tests.browser.looks import NARROW, WIDE, check, expect_to_fit
from tests.browser.tab import TWO_FRAMES
from tests.sweep import sweep

TRANSLATOR = {"model": "translator-fr-en", "text": "le chat noir dort", "part": "cross"}
# Places that the walk through the steps does not come by.
PLACES = {
    "the front door": ("", {}),
    "all heads": ("all_heads", {}),
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


@pytest.fixture(scope="module")
def shared_tab(new_shared_tab):
    return new_shared_tab()


@pytest.mark.parametrize("step", sweep(STEPS, quick=[STEPS[-1]]), ids=lambda step: step.key)
def test_every_step_can_be_read_by_everybody(shared_tab, step):
    if shared_tab.page.url == "about:blank":
        shared_tab.go()
    shared_tab.to_step(step.name)
    check(shared_tab)


# Of the places, one of each kind of picture.
QUICK = ("the front door", "all heads, sorted", "side by side")


@pytest.mark.parametrize("name", sweep(PLACES, QUICK))
def test_every_place_can_be_read_by_everybody(shared_tab, name):
    path, query = PLACES[name]
    shared_tab.go(path, **query)
    check(shared_tab)


@pytest.mark.slow
def test_what_lies_open_can_be_read_too(shared_tab):
    """The table of a cell, the code and the tables behind the pictures."""
    shared_tab.go(step="softmax", model="toy")
    shared_tab.page.get_by_text("These parts as a table").click()
    for panel in ("NumPy", "Table"):
        shared_tab.pick("More about this step", panel)
        expect(shared_tab.alternatives("More about this step").get_by_role("radio", name=panel)).to_be_checked()
        check(shared_tab)


@pytest.mark.slow
def test_what_grouped_queries_save_can_be_read_too(shared_tab):
    shared_tab.go(step="qkv", model="vit-digits")
    shared_tab.page.get_by_text("What grouped queries save").click()
    expect(shared_tab.page.locator(".st-key-shared_1")).to_be_visible()
    check(shared_tab)


@pytest.mark.quick
def test_in_a_narrow_window_everything_can_be_reached_and_pressed(new_tab):
    tab = new_tab(viewport=NARROW, has_touch=True).go(step="scores", model="toy", beside="1")
    for name in ("Learn", "Explore", "More"):
        tab.menu(name).page.keyboard.press("Escape")
    for name in ("Model", "Mask", "Word"):
        tab.control(name).click(trial=True)
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_in_the_cells_can_be_read_on_their_colour(shared_tab, scheme):
    """axe does not look into drawings: of every number, the contrast with its cell is worked out here."""
    shared_tab.page.emulate_media(color_scheme=scheme)
    shared_tab.go(step="scores", mask="causal")
    lowest = shared_tab.matrix("scores").root.evaluate(
        """root => {
          const shadow = [root, ...root.querySelectorAll('*')].find(each => each.shadowRoot).shadowRoot;
          const texts = [...shadow.querySelectorAll('rect[data-row] + text')];
          const part = byte => (byte <= 10.31475 ? byte / 3294.6 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
          const light = colour => {
            const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
            return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
          };
          return Math.min(...texts.map(text => {
            const [one, other] = [text, text.previousSibling].map(each => light(getComputedStyle(each).fill));
            return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
          }));
        }"""
    )
    shared_tab.page.emulate_media(color_scheme="light")
    assert lowest >= 4.5


# Each box that scrolls sideways: how much there is on either side of it, and what its edges say.
EDGES = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated], .figure')]
  .flatMap(each => [...(each.shadowRoot?.querySelectorAll('.scroller, [data-line=context], .heads') ?? [])])
  .map(box => ({
    more: [box.scrollLeft > 1, box.scrollWidth - box.clientWidth - box.scrollLeft > 1],
    said: ['before', 'after'].map(side => (box.dataset.more ?? '').split(' ').includes(side)),
    // A line has arrows, and a picture fades.
    seen: box.dataset.line
      ? ['::before', '::after'].map(side => getComputedStyle(box, side).content !== 'none')
      : ['--before', '--after'].map(side => getComputedStyle(box).maskImage !== 'none'
          && getComputedStyle(box).getPropertyValue(side) === 'transparent'),
  }))"""
SCROLL = """share => document.querySelectorAll('[data-testid=stBidiComponentIsolated], .figure').forEach(each =>
  each.shadowRoot?.querySelectorAll('.scroller, [data-line=context], .heads').forEach(box => {
    box.scrollLeft = share * (box.scrollWidth - box.clientWidth);
  }))"""
TWELVE_WORDS = "The cat sat on the mat and the dog sat there too"


@pytest.mark.parametrize("size", [{"width": 390, "height": 844}, {"width": 1280, "height": 720}], ids=["phone", "wide"])
@pytest.mark.parametrize("step", ["qkv", "scale", "sum", "heads"])
def test_where_something_is_cut_at_an_edge_it_fades_there(shared_tab, step, size):
    shared_tab.page.set_viewport_size(size)
    shared_tab.go(step=step, model="toy", text=TWELVE_WORDS)
    counts = []
    for share in (0, 0.5, 1):
        shared_tab.page.evaluate(SCROLL, share)
        shared_tab.page.evaluate(TWO_FRAMES)
        boxes = shared_tab.page.evaluate(EDGES)
        for box in boxes:
            assert box["said"] == box["more"] == box["seen"], box
        counts.append(sum(any(box["more"]) for box in boxes))
    # A phone always has a line of choices that goes on.
    assert len(set(counts)) == 1
    assert counts[0] > 0 or size["width"] > 800
    shared_tab.page.set_viewport_size(WIDE)
