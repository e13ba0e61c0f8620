"""A worksheet in a browser: opened from the menu, filled in on screen, and printed on A4 and letter."""

import re

import pypdfium2
import pytest
from playwright.sync_api import expect

from attention.answer.generated_files import give
from attention.classroom.notes import notes
from attention.lesson.plans import plans
from attention.lesson.steps import STEPS
from attention.page.pages import STEP_BY_STEP
from tests.browser.looks import barriers

TEXT = "The animal didn't cross the street because it was too tired <b>& slept</b> שלום"
MODELS = {"toy": TEXT, "minilm-l6": TEXT, "translator-fr-en": "le chat noir dort"}
# What no sheet of paper may come nearer to its edge than, in points: a printer cannot reach it.
EDGE = 18
# How much wider than its window a page is.
BEYOND = "document.scrollingElement.scrollWidth - innerWidth"
ROOT = "http://school.example/"
PAPERS = {"A4": (595, 842), "Letter": (612, 792)}


@pytest.fixture
def opened(browser, tmp_path):
    """Open a worksheet as a file, with no network, in a page of which nothing may be wrong."""
    context = browser.new_context(offline=True, color_scheme="light")
    errors = []

    def open_(**link):
        (tmp_path / "worksheet.html").write_bytes(
            give(STEP_BY_STEP, "now/worksheet/worksheet.html", link, root=ROOT).body
        )
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto((tmp_path / "worksheet.html").as_uri())
        return page

    yield open_
    context.close()
    assert errors == []


@pytest.mark.quick
def test_it_opens_from_the_menu_in_a_tab_of_its_own_and_is_filled_in_by_keyboard(tab):
    tab.go(model="toy", text=TEXT, step="scores", word="2")
    before = tab.page.url
    tab.menu("Share")
    with tab.page.context.expect_page() as pages:
        tab.page.get_by_role("link", name="Worksheet to print").click()
    sheet = pages.value
    expect(sheet.get_by_role("heading", level=1)).to_contain_text("Worksheet")
    assert tab.page.url == before
    # Everything by its name, as it is heard.
    blank = sheet.get_by_role("textbox", name="blank 2: to fill in")
    blank.fill("12.00")
    blank.press("Tab")
    expect(sheet.get_by_role("textbox", name="blank 3: to fill in")).to_be_focused()
    answers = sheet.get_by_role("radiogroup").first
    answers.get_by_role("radio").first.focus()
    sheet.keyboard.press("ArrowDown")
    expect(answers.get_by_role("radio").nth(1)).to_be_checked()
    expect(sheet.get_by_role("columnheader", name="street").first).to_be_visible()
    expect(sheet.locator(".text")).to_have_text(TEXT)
    # The way to the file without solutions, and a reload, which asks for it again.
    expect(sheet.get_by_role("heading", name="Solutions")).to_be_visible()
    sheet.get_by_role("link", name="Without solutions, to hand out as a file").click()
    expect(sheet.get_by_role("heading", name="Questions")).to_be_visible()
    expect(sheet.get_by_role("heading", name="Solutions")).to_have_count(0)
    sheet.reload()
    expect(sheet.get_by_role("link", name="With solutions, for teachers")).to_be_visible()
    sheet.close()


# Every step with every model, and each of the two with both of two sizes of paper, or themes of a screen.
PAIRS = [
    pytest.param(step.key, model, (row + column) % 2, id=f"{step.key}-{model}")
    for row, step in enumerate(STEPS)
    for column, model in enumerate(MODELS)
]


# Each of two steps, of the models and of the orders of themes: every pair of a step and an order is there.
READ = [("embed", "toy", 1), ("softmax", "minilm-l6", 1), ("embed", "translator-fr-en", 0), ("softmax", "toy", 0)]


@pytest.mark.parametrize(("step", "model", "odd"), READ)
def test_everybody_can_read_it(opened, step, model, odd):
    page = opened(model=model, text=MODELS[model], step=step)
    schemes = ("dark", "light") if odd else ("light", "dark")
    for width, scheme in zip((1280, 390), schemes, strict=True):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        assert barriers(page) == []
        assert page.evaluate(BEYOND) <= 0
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.title() == f"{MODELS[model]} · {page.locator('h1').inner_text()}"


def words(text):
    """Return what stands on paper, letter by letter: where lines end is the printer's business."""
    return re.sub(r"\W", "", text)


@pytest.mark.parametrize(("step", "model", "odd"), PAIRS)
def test_it_is_printed_and_nothing_is_cut(opened, step, model, odd):
    expect_whole(opened(model=model, text=MODELS[model], step=step), list(PAPERS)[odd])


def expect_whole(page, paper):
    """Print the sheet and look at each page of it."""
    page.emulate_media(media=None)
    document = pypdfium2.PdfDocument(page.pdf(format=paper))
    width, height = PAPERS[paper]
    texts = []
    for leaf in document:
        assert leaf.get_size() == pytest.approx((width, height), abs=1)
        text = leaf.get_textpage()
        texts.append(text.get_text_range())
        for place in range(text.count_chars()):
            left, bottom, right, top = text.get_charbox(place)
            if right > left and top > bottom:
                assert EDGE <= left <= right <= width - EDGE
                assert EDGE <= bottom <= top <= height - EDGE
    # The view and its questions on a page, the tasks on another, and the solutions after them on at most two.
    (begin,) = [place for place, text in enumerate(texts) if re.search("^Solutions", text, re.MULTILINE)]
    assert begin == 2
    assert len(texts) - begin <= 2
    # Why a wrong answer is wrong is told with the solutions alone, which ask for no reasons.
    whys = [words(told) for told in page.locator("main .why").all_inner_texts() if told.isascii()]
    assert not [why for why in whys if why in words("".join(texts[:begin]))]
    assert all("Because" not in text for text in texts[begin:])
    # Every word of the file is there.
    page.emulate_media(media="print")
    printed = words("".join(texts))
    for told in page.locator("main p:visible, main dd, main caption, main h3").all_inner_texts():
        if told.isascii():
            assert words(told) in printed
    # No cell is narrower than what stands in it, and a blank has room for a pencil: 11 by 7 millimetres.
    page.set_viewport_size({"width": round((width / 72 * 25.4 - 28) / 25.4 * 96), "height": 900})
    narrow = page.evaluate(
        "() => [...document.querySelectorAll('th, td')].filter(each => each.scrollWidth > each.clientWidth + 1)"
        ".map(each => each.innerText)"
    )
    assert narrow == []
    boxes = page.locator(".blank").evaluate_all("all => all.map(each => [each.offsetWidth, each.offsetHeight])")
    assert boxes
    assert min(wide for wide, _ in boxes) >= 11 / 25.4 * 96
    assert min(high for _, high in boxes) >= 7 / 25.4 * 96


def test_it_is_black_on_white_whatever_the_screen(opened):
    page = opened(model="toy", text=TEXT)
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator("body")).to_have_css("color", "rgb(0, 0, 0)")
    expect(page.locator(".blank").first).to_have_css("border-top-color", "rgb(0, 0, 0)")
    expect(page.locator(".screen")).to_be_hidden()


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: plan.name)
def test_the_notes_of_a_lesson_plan_fit_two_sheets_and_have_no_barrier(browser, plan):
    page = browser.new_page()
    page.set_content(notes(plan))
    assert barriers(page) == []
    for size in ("A4", "Letter"):
        assert len(pypdfium2.PdfDocument(page.pdf(format=size))) <= 2
    page.close()
