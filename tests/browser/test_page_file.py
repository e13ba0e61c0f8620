"""*Download this page*: the file opens offline, reacts to mouse and keyboard, and prints."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import expect_nothing_to_choose

SENTENCE = "The otter <b>slept</b> & $x$"
PAGES = {
    "step_by_step": {"step": "softmax", "word": "2"},
    "all_heads": {},
    "neuron_view": {},
    "code_lab": {},
    "compare": {"versus": "The otter slept"},
}
# A4 and letter with a margin of a centimetre, in CSS pixels.
PAPERS = {"A4": (718, 1047), "Letter": (740, 980)}


@pytest.fixture(scope="module")
def file_of(new_shared_tab, tmp_path_factory):
    """Take a page away, once, and give the file."""
    folder, tab, found = tmp_path_factory.mktemp("files"), new_shared_tab(), {}

    def take(page):
        if page not in found:
            download = tab.go(page, text=SENTENCE, **PAGES[page]).download_page()
            assert download.suggested_filename == f"{page.replace('_', '-')}.html"
            found[page] = folder / download.suggested_filename
            download.save_as(found[page])
        return found[page]

    return take


@pytest.fixture
def opened(browser, file_of):
    """Open a file with no network, in a page of which nothing may be wrong."""
    contexts, errors = [], []

    def open_(page):
        context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme="light", offline=True)
        contexts.append(context)
        opened = context.new_page()
        opened.on("pageerror", lambda error: errors.append(str(error)))
        opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        opened.goto(file_of(page).as_uri())
        return opened

    yield open_
    for context in contexts:
        context.close()
    assert errors == []


@pytest.mark.parametrize("page", PAGES)
def test_every_picture_is_drawn_the_words_are_the_users_own_and_nothing_is_cut_on_paper(opened, page):
    shown = opened(page)
    read = [SENTENCE, *filter(None, [PAGES[page].get("versus")])]
    expect(shown.get_by_role("heading", level=1)).to_have_text(" / ".join(read))
    places = shown.locator("[data-picture]")
    assert places.count() or page == "code_lab"
    assert shown.locator("main b", has_text="slept").count() == shown.locator("main bdi b", has_text="slept").count()
    expect(shown.locator(".proven summary").first).to_contain_text("✓ rows sum to 1")
    for scheme in ("light", "dark"):
        shown.emulate_media(color_scheme=scheme)
        for place in places.all():
            assert place.evaluate("place => place.shadowRoot.querySelector('svg, canvas, .chip, .bar') !== null")
        assert shown.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0
    for paper, (width, height) in PAPERS.items():
        shown.set_viewport_size({"width": width, "height": height})
        shown.emulate_media(media="print", color_scheme="light")
        boxes = shown.evaluate(
            "() => [...document.querySelectorAll('[data-picture], .framed, table, pre, .formula')]"
            ".map(each => [each.scrollWidth, each.offsetHeight ?? each.clientHeight, "
            "getComputedStyle(each).breakInside, each.tagName])"
        )
        assert boxes
        for wide, high, breaks, tag in boxes:
            assert wide <= width
            # What is higher than a page is text and tables, which go on where it ends.
            assert breaks == "avoid"
            assert high <= height or tag in ("TABLE", "PRE", "SECTION")
        printed = shown.pdf(format=paper, margin=dict.fromkeys(("top", "bottom", "left", "right"), "1cm"))
        assert len(printed) > 10_000


def test_cells_answer_to_mouse_and_keyboard(opened, models):
    shown = opened("step_by_step")
    weights = models["minilm-l6"].trace(SENTENCE).layers[2].head(8).weights
    expect(shown.locator("h2").first).to_have_text(re.compile(r"^7\. "))
    expect(shown.locator(".formula math").first).to_be_visible()
    matrix = shown.locator("[data-picture]").filter(has=shown.locator(".matrix")).first
    matrix.locator(".picture").focus()
    shown.keyboard.press("Home")
    readout = matrix.locator(".readout")
    said = float(re.search(r"(\d\.\d+)", readout.inner_text()).group(1))
    assert any(abs(said - weight) < 1e-3 for weight in weights.ravel())
    before = readout.inner_text()
    shown.keyboard.press("ArrowRight")
    expect(readout).not_to_have_text(before)


def test_tokens_are_pinned_in_a_file(opened):
    shown = opened("all_heads")
    tokens = shown.locator(".query .token")
    tokens.nth(1).click()
    shown.mouse.move(0, 0)
    expect(tokens.nth(1)).to_have_attribute("aria-pressed", "true")


def test_what_would_lead_to_another_view_does_nothing(opened):
    shown = opened("step_by_step")
    heads = shown.locator(".heads button")
    pressed = [head.get_attribute("aria-pressed") for head in heads.all()]
    heads.first.click()
    assert [head.get_attribute("aria-pressed") for head in heads.all()] == pressed


def test_a_query_cannot_be_pressed_where_no_other_can_be_shown(opened):
    expect_nothing_to_choose(opened("neuron_view"))
