"""A question that interrupts a pupil, and the remains of a room that has ended."""

import re

import pytest
from playwright.sync_api import expect

from attention.lesson.questions import QUESTIONS
from tests.browser.classroom import PHONE, Alone, Finder, Pupil, Setter, Teacher
from tests.browser.looks import expect_no_barrier
from tests.until import until

TIRED = "The animal didn't cross the street because it was too tired"


@pytest.fixture
def teacher(new_person):
    return Teacher(new_person()).open(step="softmax")


def test_a_phone_that_is_scrolled_down_shows_that_a_question_has_come(teacher, new_person):
    pupil = Pupil(new_person(viewport=PHONE)).join(teacher.code)
    expect(pupil.page.locator("#view .matrix svg").first).to_be_visible()
    pupil.page.locator("#view").evaluate("view => view.scrollIntoView({ block: 'end' })")
    expect(pupil.title).not_to_be_in_viewport()
    # One during which the page stays as it is, and so does the place to which it is scrolled.
    teacher.ask(next(each.title for each in QUESTIONS if each.name == "cost"))
    expect(pupil.question.get_by_role("button").first).to_be_in_viewport()


def test_while_a_question_is_open_no_link_opens_the_app(teacher, new_person):
    pupil = Alone(new_person()).join(teacher.code)
    teacher.start()
    pupil.begin("My little dog likes to chase squirrels in the park")
    # Of three answers to each, some are wrong: these are listed once it is over.
    for place in range(3):
        pupil.expect_question(place + 1)
        pupil.choose(2 - place)
        pupil.go_on()
    pupil.expect_question(4)
    expect(pupil.alone).to_have_attribute("aria-disabled", "true")
    teacher.press("End the questions")
    expect(pupil.alone).to_have_attribute("href", re.compile("step="))
    ways = pupil.page.locator("main").locator("a[href]")
    expect(pupil.own.locator(".again a")).not_to_have_count(0)
    expect(ways.and_(pupil.page.locator(":not([inert])"))).not_to_have_count(0)
    teacher.press("Question")
    teacher.press("Ask")
    expect(pupil.question).to_be_visible()
    expect(pupil.own).to_be_hidden()
    expect(ways.and_(pupil.page.locator(":not([inert])"))).to_have_count(0)
    teacher.press("Show the answers")
    expect(pupil.own).to_be_visible()
    expect(ways.and_(pupil.page.locator("[inert]"))).to_have_count(0)


def test_a_task_brings_its_page_in_place_of_a_closed_view_and_opens_the_app(new_person):
    teacher = Setter(new_person()).open(step="softmax", word="2", guess="1")
    pupil = Finder(new_person()).join(teacher.code)
    expect(pupil.alone).to_have_attribute("aria-disabled", "true")
    teacher.set("Previous token")
    way = pupil.task.locator("a.start")
    expect(pupil.alone).to_have_attribute("href", re.compile("/all_heads"))
    expect(way).not_to_have_attribute("inert", "")
    teacher.press("Show the best")
    # A solution, as nobody has found one.
    expect(teacher.tab.page).to_have_url(re.compile("/all_heads.*head="))
    teacher.press("End the task")
    teacher.tab.go(model="toy", step="softmax", word="2", guess="1")
    expect(pupil.alone).to_have_attribute("aria-disabled", "true")


def test_a_pupil_in_the_app_learns_that_the_class_is_over(teacher, new_person):
    pupil = Finder(new_person())
    pupil.page.clock.install()
    pupil.join(teacher.code).alone.click()
    back = pupil.bar.get_by_role("link", name="Back to the class")
    expect(back).to_be_visible()
    teacher.end()
    expect(teacher.bar).to_be_hidden()
    pupil.page.clock.fast_forward(5000)
    expect(pupil.bar.get_by_role("alert")).not_to_be_empty()
    expect(back).to_have_count(0)
    pupil.tab.errors.clear()  # the browser counts what is refused


def test_of_a_view_with_nothing_to_guess_no_question_is_offered(teacher):
    choice = teacher.bar.get_by_role("combobox", name="What to ask")
    own = choice.get_by_role("option", name="About this view")
    expect(own).to_have_count(1)
    teacher.tab.to_page("All heads")
    expect(own).to_have_count(0)
    teacher.tab.to_page("Step by step")
    expect(own).to_have_count(1)


def test_a_wall_shows_what_the_class_gave_beside_eight_true_shares(new_person):
    text = "The trophy did not fit in the suitcase because it was too small."
    teacher = Teacher(new_person()).open(text=text, step="softmax", word="10")
    pupil, wall = Pupil(new_person()).join(teacher.code), Pupil(new_person(viewport={"width": 1920, "height": 1080}))
    teacher.expect_here(1)
    wall.page.goto(f"{wall.tab.url}/room?code={teacher.code}&screen=1")
    expect(wall.page.locator("#view .matrix svg").first).to_be_visible()
    teacher.press("Ask")
    pupil.question.get_by_role("slider").first.fill("12.5")
    pupil.question.get_by_role("button").last.click()
    present = wall.page.locator("#present")
    expect(present).to_have_text(re.compile(r"^1\D+1\D+$"))
    # Nobody presses anything on a wall.
    expect(wall.question.locator("button:visible, input:visible")).to_have_count(0)
    teacher.press("Show the answers")
    expect(wall.question.locator(".truth")).to_have_count(8)
    # The only pupil's shares are the class's: all eight are even, as whole percents that add up to 100.
    expect(wall.question.locator(".mean b")).to_have_text([re.compile(rf"\b{n}\.0%$") for n in (13,) * 4 + (12,) * 4])
    expect(wall.question.get_by_role("row").last).to_be_in_viewport(ratio=1)
    expect(wall.page.locator("#view .matrix svg").first).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_wall_can_be_read_from_the_back_row(new_person, scheme):
    teacher = Teacher(new_person()).open(model="minilm-l6", text="The cat sat on the mat", step="mask")
    wall = Pupil(new_person(viewport={"width": 1920, "height": 1080}, color_scheme=scheme))
    wall.page.goto(f"{wall.tab.url}/room?code={teacher.code}&screen=1")
    picture = wall.page.locator("#view .matrix svg").first
    # Before anybody is there, it says how to join.
    code = wall.page.get_by_role("img", name="QR code of the address")
    expect(code).to_have_css("height", f"{0.45 * 1080:g}px")
    expect(wall.page.locator(".code").filter(has_text=teacher.code)).to_be_in_viewport(ratio=1)
    expect(picture).to_be_hidden()
    expect_no_barrier(wall.tab, f"how to join, {scheme}")
    teacher.tab.to_step("Softmax")
    expect(picture).to_be_visible()
    assert picture.bounding_box()["height"] >= 0.6 * 1080
    sizes = picture.locator("rect[data-row] + text").evaluate_all(
        "all => all.map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert len(sizes) == 64
    scale = picture.evaluate("svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width")
    assert min(sizes) * scale >= 24
    expect(wall.page.locator("#view .prose")).to_have_css("font-size", "32px")
    assert wall.page.evaluate("document.scrollingElement.scrollHeight") <= 1080
    assert code.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    expect_no_barrier(wall.tab, f"wall, {scheme}")


def test_who_comes_late_can_read_the_code_on_the_wall(teacher, new_person):
    wall = Pupil(new_person(viewport={"width": 1280, "height": 720}))
    wall.page.goto(f"{wall.tab.url}/room?code={teacher.code}&screen=1")
    code, picture = wall.page.get_by_role("img", name="QR code of the address"), wall.page.locator("#view .matrix svg")

    def expect_code_on_press(shown):
        expect(shown).to_be_visible()
        teacher.bar.get_by_role("button", name=teacher.code).click()
        expect(code).to_have_css("height", f"{0.45 * 720:g}px")
        expect(wall.page.locator("#where")).to_be_in_viewport(ratio=1)
        expect(shown).to_be_hidden()
        teacher.tab.page.get_by_role("dialog").get_by_role("button", name="Close").click()
        expect(shown).to_be_visible()

    teacher.next()
    expect_code_on_press(picture.first)
    teacher.press("Ask")
    expect_code_on_press(wall.question)
    # A page that dies with the code on it leaves the wall to the next one.
    teacher.bar.get_by_role("button", name=teacher.code).click()
    expect(wall.question).to_be_hidden()
    page = teacher.tab.page
    page.evaluate("navigator.sendBeacon = () => false")
    page.close()
    again = page.context.new_page()
    again.goto(f"{teacher.tab.url}/step_by_step?model=toy&step=mask")
    expect(picture.first).to_be_visible()


@pytest.mark.parametrize("size", [(1920, 1080), (1280, 720)])
def test_a_search_on_a_wall_is_seen_whole_without_anything_to_press(new_person, size):
    width, height = size
    teacher, pupil = Teacher(new_person()).open(model="minilm-l6", text=TIRED, step="mask"), Pupil(new_person())
    wall = Pupil(new_person(viewport={"width": width, "height": height}))
    wall.page.goto(f"{wall.tab.url}/room?code={teacher.code}&screen=1")

    def expect_whole(picture):
        expect(wall.page.locator(f"#view {picture}").first).to_be_visible()
        expect(wall.page.locator("#view button:visible, #view input:visible")).to_have_count(0)
        until(lambda: wall.page.evaluate("document.scrollingElement.scrollHeight") <= height)

    teacher.press("Find it")
    teacher.press("Set this task")
    expect(wall.page.locator("#task h2")).to_be_visible()
    expect_whole(".atlas canvas")
    pupil.join(teacher.code).page.get_by_label("Address of a view").fill(
        f"{pupil.tab.url}/all_heads?model=minilm-l6&layer=1&head=3"
    )
    pupil.page.get_by_role("button", name="Hand in", exact=True).click()
    teacher.bar.get_by_text("1 handed in, 1 found it").wait_for()
    teacher.press("Show the best")
    expect(wall.page.locator("#task .verdict")).to_have_count(1)
    expect_whole(".matrix svg")
    teacher.press("End the task")
    # The result stays in the notes.
    teacher.press("Notes")
    expect(teacher.bar.locator(".notes .found")).to_contain_text("1 handed in, 1 found it")
    teacher.tab.go("find_it", model="minilm-l6", text=TIRED, task="it")
    expect_whole(".matrix svg")
    # At the end, it says so, and asks nobody for another code.
    teacher.end()
    expect(wall.page.locator("#told")).not_to_be_empty()
    expect(wall.page.locator(":is(button, input, #view):visible")).to_have_count(0)


@pytest.mark.parametrize("size", [(1920, 1080), (1280, 720)])
def test_a_question_on_a_wall_leaves_everything_whole(new_person, size):
    width, height = size
    teacher = Teacher(new_person()).open()
    wall = Pupil(new_person(viewport={"width": width, "height": height}))
    wall.page.goto(f"{wall.tab.url}/room?code={teacher.code}&screen=1")
    code = wall.page.get_by_role("img", name="QR code of the address")

    def expect_whole():
        until(lambda: wall.page.evaluate("document.scrollingElement.scrollHeight") <= height)
        expect(wall.page.locator("#view .matrix text.label", has_text="…")).to_have_count(0)
        title, corner = wall.title.bounding_box(), code.bounding_box()
        # No title where the view itself shows its sentences.
        if title and title["y"] < corner["y"] + corner["height"]:
            assert title["x"] + title["width"] <= corner["x"]

    views = {
        "step_by_step": {"model": "toy", "text": "The cat sat on the mat", "step": "qkv", "word": "5"},
        "positions": {"model": "minilm-l6", "text": "The dog bit the man"},
        "vector_moves": {"model": "minilm-l6", "text": "the bank of the river"},
        "compare": {"model": "minilm-l6", "text": TIRED, "versus": TIRED.replace("tired", "wide"), "guess": "1"},
    }
    for page, query in views.items():
        teacher.tab.go(page, **query)
        teacher.press("Question")
        teacher.ask("About this view")
        expect(wall.question.locator(".answers")).to_be_visible()
        expect_whole()
        teacher.press("Show the answers")
        expect(wall.question.get_by_role("row").first).to_be_visible()
        expect(wall.page.locator("#view :is(.matrix svg, .plot .main-svg)").first).to_be_visible()
        expect_whole()
        teacher.press("See the picture")
        teacher.press("Next")
    # One beside its picture, which stays.
    teacher.tab.go("step_by_step", model="minilm-l6", text="The cat sat on the mat", step="scores")
    teacher.press("Question")
    teacher.ask("Adding 5 to every score")
    expect(wall.question.locator(".answers")).to_be_visible()
    expect(wall.page.locator("#view .matrix svg")).to_be_visible()
    expect_whole()


def test_a_view_whose_scripts_are_late_does_not_replace_a_newer_one(teacher, new_person):
    pupil, held = Pupil(new_person()), []

    def hold(route):
        held.append(route)

    # A step's matrix, which can turn into the next; other pages have one at rest.
    pupil.page.route("**/_attention/matrix.*.js", hold)
    with pupil.page.expect_request("**/_attention/matrix.*.js"):
        pupil.join(teacher.code)
    teacher.tab.page.goto(f"{teacher.tab.url}/compare?model=toy&text=One+two&versus=One+three")
    expect(pupil.title).to_have_text("One two / One three")
    held[0].continue_()
    pupil.page.evaluate("address => import(address)", held[0].request.url)
    expect(pupil.title).to_have_text("One two / One three")
    expect(pupil.page.locator("#view .matrix .name")).to_have_count(5)
