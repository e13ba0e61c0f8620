"""The page as a thing: its ids, its menu on a phone, what a stray click leaves, and what is printed."""

import pytest
from playwright.sync_api import expect

from attention.lesson.steps import STEPS
from tests.browser.test_looks import PLACES, QUICK
from tests.sweep import sweep

# Every element of the page, those inside of the pictures too.
EVERYTHING = """const everything = root => [...root.querySelectorAll('*')].flatMap(
  each => each.shadowRoot ? [each, ...everything(each.shadowRoot)] : [each]);"""
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# A4 with Chromium's own margins, in pixels of a page.
PAPER = 718
PRINTED = {
    "a matrix and its bars": ("step_by_step", {"model": "minilm-l6", "step": "scale", "mask": "causal"}),
    "the vectors": ("step_by_step", {"step": "qkv"}),
    "a long text": ("step_by_step", {"model": "toy", "step": "softmax", "text": " ".join(["so and on"] * 20)}),
    "side by side": ("step_by_step", {"model": "toy", "step": "scores", "beside": "1"}),
    "all heads": ("all_heads", {"layer": "2", "head": "3"}),
    "the neuron view": ("neuron_view", {}),
    "two sentences": ("compare", {}),
    "a digit": ("step_by_step", {"model": "vit-digits", "step": "softmax"}),
}
CONTROLS = ", ".join(
    f'[data-testid="st{name}"]'
    for name in ("Selectbox", "Button", "ButtonGroup", "Checkbox", "DownloadButton", "PageLink", "Header", "MainMenu")
)


@pytest.fixture(scope="module")
def shared_tab(new_shared_tab):
    return new_shared_tab()


def ids_there_twice(tab):
    return tab.page.evaluate(
        f"""() => {{
          {EVERYTHING}
          const ids = everything(document).map(each => each.id).filter(id => id);
          return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
        }}"""
    )


@pytest.mark.slow
@pytest.mark.parametrize("step", sweep(STEPS, quick=STEPS[::4]), ids=lambda step: step.key)
def test_no_id_is_there_twice_at_any_step(shared_tab, step):
    for beside in ("0", "1"):
        shared_tab.go(step=step.key, model="toy", mask="causal", beside=beside)
        assert ids_there_twice(shared_tab) == []


@pytest.mark.parametrize("name", sweep(PLACES, QUICK))
def test_no_id_is_there_twice_anywhere(shared_tab, name):
    path, query = PLACES[name]
    assert ids_there_twice(shared_tab.go(path, **query)) == []


def test_on_a_phone_the_menu_lies_over_nothing_that_can_be_pressed(new_tab):
    tab = new_tab(**PHONE).go(model="toy", step="scores")
    menu = tab.page.get_by_test_id("stMainMenuButton")
    menu.click(trial=True)
    for control in tab.page.locator(".st-key-masthead").locator("a, button").filter(visible=True).all():
        control.click(trial=True)
    last = tab.steps.get_by_role("button").last
    # The last control of a line comes by where the menu was, when the page is scrolled.
    above, below = menu.bounding_box(), last.bounding_box()
    assert below["x"] < above["x"] + above["width"] / 2 < below["x"] + below["width"]
    main = tab.page.get_by_test_id("stMain")
    main.evaluate("(main, by) => main.scrollBy(0, by)", below["y"] - above["y"])
    tab.page.wait_for_function(
        """([x, y]) => !document.elementFromPoint(x, y).closest('[data-testid="stHeader"]')""",
        arg=[above["x"] + above["width"] / 2, above["y"] + above["height"] / 2],
        timeout=20_000,
    )
    last.click(position={"x": above["x"] + above["width"] / 2 - below["x"], "y": below["height"] / 2})
    tab.expect_query(model="toy", step="scale")
    main.evaluate("main => main.scrollTo(0, 0)")
    menu.click()
    expect(tab.page.get_by_test_id("stMainMenuList").first).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_click_beside_everything_and_an_arrow_key_leave_no_frame(new_tab, scheme):
    tab = new_tab(color_scheme=scheme).go(model="toy", step="scores")
    edge = {"x": 0, "y": 300, "width": 6, "height": 300}
    before = tab.page.screenshot(clip=edge)
    tab.page.mouse.click(edge["x"] + 3, edge["y"] + 100)
    assert tab.page.evaluate("() => document.activeElement.dataset.testid") == "stMain"
    tab.page.keyboard.press("ArrowRight")
    tab.expect_query(model="toy", step="scale")
    assert tab.page.evaluate("() => document.activeElement.matches(':focus-visible')")
    assert tab.page.screenshot(clip=edge) == before


@pytest.mark.parametrize("name", sweep(PRINTED, quick=("a matrix and its bars", "a long text", "all heads")))
def test_what_is_printed_is_whole_and_has_no_controls(shared_tab, name):
    path, query = PRINTED[name]
    shared_tab.go(path, **query)
    shared_tab.page.emulate_media(media="print")
    # Printing makes the page narrower without a word to its scripts: so it is measured before they hear of it.
    cut = shared_tab.page.evaluate(
        f"""width => {{
          {EVERYTHING}
          const app = document.querySelector('[data-testid=stApp]');
          app.style.width = `${{width}}px`;
          const cut = [];
          for (const each of everything(document)) {{
            const shown = '.matrix svg, .matrix .readout, canvas, .board, .main-svg, .table table';
            if (!each.matches(shown) || !each.checkVisibility()) continue;
            const box = each.getBoundingClientRect();
            if (box.width === 0) continue;
            if (box.right > width + 1) cut.push(['paper', each.className?.baseVal ?? each.className, box.right]);
            for (let outer = each; outer && outer !== app; outer = outer.parentElement ?? outer.getRootNode().host) {{
              const [style, around] = [getComputedStyle(outer), outer.getBoundingClientRect()];
              const isCut = box.right > around.right + 1 || box.bottom > around.bottom + 1;
              if (style.overflowX !== 'visible' && isCut) cut.push([outer.className, each.className]);
            }}
          }}
          app.style.width = '';
          return cut;
        }}""",
        PAPER,
    )
    shown = shared_tab.page.evaluate(
        "controls => [...document.querySelectorAll(controls)].filter(each => each.checkVisibility())"
        ".map(each => each.className)",
        f"{CONTROLS}, .st-key-stepper",
    )
    words = shared_tab.page.locator(".line .control:has(select):visible").all_inner_texts()
    places = shared_tab.page.locator(".prose.paper:visible").all_inner_texts()
    overlaid = shared_tab.page.evaluate("() => getComputedStyle(document.querySelector('.proof')).position")
    shared_tab.page.emulate_media(media="screen")
    assert (cut, shown, overlaid) == ([], [], "static")
    assert any(each.startswith("Layer") for each in words) or any(" layer " in each for each in places)
    assert any(each.split() == ["Mask", query.get("mask", "none")] for each in words)


def test_on_a_projector_no_step_moves_what_lies_below(new_tab):
    tab = new_tab(viewport={"width": 1280, "height": 720})
    tab.go("step_by_step", model="toy")
    places = set()
    for step in STEPS[1:]:
        tab.to_step(step.name)
        places.add(round(tab.heading.first.bounding_box()["y"]))
    assert len(places) == 1
