"""A class in real windows: a teacher, and pupils who follow, answer, wander off and come back."""

import re
import signal
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from attention.lesson.plans import plans
from tests.browser.cable import cable_to
from tests.browser.classroom import (
    ANYTHING,
    CROSSED,
    LONG,
    PATIENCE,
    PHONE,
    PROJECTOR,
    SENTENCE,
    STRAIGHT,
    WALL,
    Alone,
    Finder,
    Pupil,
    Setter,
    Teacher,
)
from tests.browser.looks import WIDE, expect_bars_as_long_as_true, expect_no_barrier
from tests.browser.server import serve
from tests.browser.tab import Tab
from tests.ports import free_port
from tests.until import until

HOSTILE = "<img src=x onerror=alert(1)> $x^2$ & co"
# Records the searches for questions that go on when the class ends. Playwright may miss the abort of a held request.
SEARCHES = """const fetched = window.fetch;
window.searches = [];
window.fetch = (what, options) => {
  if (String(what).endsWith("/questions")) window.searches.push(options.signal);
  if (String(what).endsWith("/end")) window.goingOn = window.searches.filter((search) => !search.aborted).length;
  return fetched(what, options);
};"""


@pytest.fixture
def cable(server):
    """A way to the server that can be cut."""
    with cable_to(server) as cable:
        yield cable


@pytest.fixture
def new_teacher(new_person):
    return lambda **query: Teacher(new_person()).open(**query)


@pytest.fixture
def new_pupil(new_person):
    return lambda **options: Pupil(new_person(**options))


def test_a_class_follows_answers_and_looks_around(new_teacher, new_pupil):
    teacher = new_teacher()
    near, phone = new_pupil().join(teacher.code), new_pupil(viewport=PHONE).join_by_hand(teacher.code.lower())
    for pupil in (near, phone):
        expect(pupil.title).to_have_text(SENTENCE)
        pupil.expect_step(4)
    teacher.expect_here(2)
    teacher.tab.page.get_by_role("button", name="Next: Scale").click()
    for pupil in (near, phone):
        pupil.expect_step(5)
    teacher.press("Ask")
    for pupil in (near, phone):
        expect(pupil.question.get_by_role("button")).to_have_count(4)
        # The answer is nowhere in the page, and there is no way to it.
        expect(pupil.page.locator("#view .matrix")).to_have_count(0)
        expect(pupil.alone).not_to_have_attribute("href", ANYTHING)
        expect(pupil.page.get_by_text("when the answers are shown")).to_be_visible()
    # Nor does a class see it on the only screen that there is.
    teacher.expect_covered()
    near.answer(0)
    phone.answer(1)
    phone.answer(3)
    expect(teacher.bar).to_contain_text("2 of 2 answered")
    assert near.marked() == []
    teacher.press("Show the answers")
    for pupil in (near, phone):
        expect(pupil.question.locator("tr.right")).not_to_have_count(0)
        assert pupil.counts() == [1, 0, 0, 1]
    late = new_pupil().join(teacher.code)
    expect(late.question.locator("tr.right")).not_to_have_count(0)
    assert late.marked() == near.marked() == phone.marked()
    teacher.expect_here(3)
    expect(teacher.bar.locator("tr.right th")).to_have_text(near.marked())
    teacher.press("See the picture")
    teacher.expect_uncovered()
    teacher.press("Next")
    expect(near.question).to_be_hidden()
    near.alone.click()
    near.tab.settled().expect_query(model="toy", text=SENTENCE, step="scale", plain="1")
    # Nothing leads a pupil to the answers of a lesson plan.
    for tab, n_ways in ((near.tab, 0), (teacher.tab, 1)):
        tab.to_page("A class").settled()
        expect(tab.page.get_by_role("link", name="Print the notes with the answers")).to_have_count(n_ways)
    near.page.get_by_role("link", name="Back to the class").click()
    near.expect_step(5)


def test_shares_are_seen_while_they_are_dragged_and_beside_the_true_ones_afterwards(new_teacher, new_pupil, models):
    teacher = new_teacher(step="softmax", word="2")
    pupil, silent = new_pupil(viewport=PHONE).join(teacher.code), new_pupil().join(teacher.code)
    row = models["toy"].trace(SENTENCE).layers[0].head(1).weights[2]
    true = [f"{100 * weight:.1f}%" for weight in row]
    pupil.expect_step(7)
    silent.expect_step(7)
    teacher.press("Ask")
    # On the only screen, it is true without any bars, and nothing looks like a choice.
    teacher.expect_covered()
    expect(teacher.bar.locator(".question")).not_to_contain_text("below")
    listed = teacher.bar.get_by_role("list", name="Shares of 100%").get_by_role("listitem")
    expect(listed).to_have_count(len(row))
    expect(listed.first).to_have_css("border-top-width", "0px")
    sliders, shares = pupil.question.get_by_role("slider"), pupil.question.locator(".share")
    # A thumb moves a slider that is as wide as its row.
    assert sliders.first.bounding_box()["width"] == pupil.question.locator(".shared").first.bounding_box()["width"]
    # Whole percents that add up to 100.
    expect(shares).to_have_text(["15%"] * 2 + ["14%"] * 5)
    # Nobody's answer is what was never touched.
    send = pupil.question.get_by_role("button", name="Send")
    expect(send).to_be_disabled()
    # One bar alone reaches the share that it is dragged to.
    for slider in sliders.all()[2:]:
        slider.fill("0")
    sliders.first.fill("75")
    given = ["75%", "25%"] + ["0%"] * (len(row) - 2)
    expect(shares).to_have_text(given)
    expect(pupil.question.locator(".truth")).to_have_count(0)
    expect_no_barrier(pupil.tab, "shares")
    send.click()
    expect(pupil.said).not_to_be_empty()
    expect(pupil.question.get_by_role("button", name="Sent ✓")).to_be_visible()
    expect(shares).to_have_text(given)
    expect(teacher.bar).to_contain_text("1 of 2 answered")
    # Asked again, a pupil has the answer that is discussed, and may keep it.
    teacher.press("Ask again")
    expect(teacher.bar).to_contain_text("0 of 2 answered")
    expect(shares).to_have_text(given)
    send.click()
    expect(teacher.bar).to_contain_text("1 of 2 answered")
    expect(pupil.question).not_to_contain_text("Not this time.")
    teacher.press("Show the answers")
    for each in (pupil, silent):
        expect(each.question.locator(".truth")).to_have_text(true)
    expect(teacher.bar.locator(".truth")).to_have_text(true)
    # One pupil's shares are the class's.
    expect(teacher.bar.locator(".mean")).to_have_text([f"class {each[:-1]}.0%" for each in given])
    expect(shares).to_have_text(given)
    expect(pupil.question).to_contain_text("Not this time.")
    expect(silent.question.get_by_role("slider")).to_have_count(0)
    expect(silent.question).not_to_contain_text("Not this time.")
    for slider in sliders.all():
        expect(slider).to_be_disabled()
    expect_bars_as_long_as_true(pupil.question, row)
    expect_no_barrier(pupil.tab, "told")
    assert pupil.page.evaluate("() => document.scrollingElement.scrollWidth - innerWidth") <= 0
    # On the wall, where nobody answers, the true ones and what came of all are seen without scrolling.
    wall = new_pupil(viewport={"width": 1280, "height": 720})
    wall.page.goto(f"{wall.tab.url}/room?code={teacher.code}&screen=1")
    expect(wall.question.locator(".truth")).to_have_text(true)
    expect(wall.question.get_by_role("slider")).to_have_count(0)
    expect(wall.question.get_by_role("row").last).to_be_in_viewport(ratio=1)
    # How many were right is said once in each row.
    for place in (teacher.bar, pupil.question):
        rows = [re.sub(r"\s+", " ", text).strip() for text in place.get_by_role("row").all_inner_texts()]
        assert rows == ["right 0 → 0", "close 0 → 0", "further off 1 → 1"]


def test_the_bar_follows_from_page_to_page(new_teacher, new_pupil):
    teacher = new_teacher()
    page = teacher.tab.page
    # A class does not follow to such a page, which the bar says.
    page.goto(f"{teacher.tab.url}/models")
    expect(teacher.bar.get_by_role("button", name="End the class")).to_be_visible()
    expect(teacher.trouble).not_to_be_empty()
    # Two sentences are compared, and their difference is guessed first.
    page.goto(f"{teacher.tab.url}/compare?model=toy&text=One+two&versus=One+three")
    pupil = new_pupil().join(teacher.code)
    expect(pupil.title).to_have_text("One two / One three")
    names = pupil.page.locator("#view .matrix .name")
    expect(names).to_have_count(5)
    teacher.press("Ask")
    expect(pupil.question.get_by_role("button")).to_have_text(["more", "less", "the same"])
    # The first sentence alone.
    expect(names).to_have_count(1)
    pupil.answer(2)
    teacher.press("Show the answers")
    expect(pupil.question.locator("tr.right")).to_have_count(1)
    expect(names).to_have_count(5)
    # Whatever way leads to a step, its page shows no weights before softmax, until the class ends.
    page.goto(f"{teacher.tab.url}/step_by_step?model=toy&step=scores")
    pupil.expect_step(4)
    weights = page.locator(".st-key-sentence .arcs path")
    teacher.tab.settled()
    expect(weights).to_have_count(0)
    teacher.end()
    expect(weights.first).to_be_visible()


def test_a_ready_question_that_fits_is_asked_and_what_most_got_wrong_is_explained(new_teacher, new_pupil):
    teacher = new_teacher(step="softmax")
    choice = teacher.bar.get_by_role("combobox", name="What to ask")
    option, other = (choice.get_by_role("option", name=name) for name in ("What sums to 1?", "Same word, same"))
    expect(option).to_be_attached()
    # The sentence has no word twice.
    expect(other).not_to_be_attached()
    choice.select_option("What sums to 1?")
    choice.focus()
    same = choice.element_handle()
    pupils = [
        new_pupil().join(teacher.code),
        new_pupil(viewport=PHONE).join(teacher.code),
        new_pupil().join(teacher.code),
    ]
    teacher.expect_here(3)
    # What is heard meanwhile leaves the list alone.
    assert choice.evaluate("(element, same) => element === same && element.matches(':focus')", same)
    for pupil in pupils:
        expect(pupil.page.locator("#view .matrix")).not_to_have_count(0)
    teacher.ask("Doubling the text")
    for pupil, answer in zip(pupils, (1, 1, 2), strict=True):
        expect(pupil.question.get_by_role("button")).to_have_count(4)
        # Here, the picture tells nothing.
        expect(pupil.page.locator("#view .matrix")).not_to_have_count(0)
        expect(pupil.said).to_be_empty()
        pupil.answer(answer)
    expect(teacher.bar).to_contain_text("3 of 3 answered")
    assert pupils[0].marked() == []
    # After a discussion, they answer again; the result has both counts.
    teacher.press("Ask again")
    expect(teacher.bar).to_contain_text("0 of 3 answered")
    for pupil, answer in zip(pupils, (1, 2, 1), strict=True):
        expect(pupil.question.get_by_role("button", pressed=True)).to_have_count(0)
        # It is said why the answer is gone.
        expect(pupil.said).not_to_be_empty()
        pupil.answer(answer)
    teacher.press("Show the answers")
    for place in (*(pupil.question for pupil in pupils), teacher.bar):
        expect(place.locator(".count")).to_have_text(["0 → 0", "2 → 2", "1 → 1", "0 → 0"])
        expect(place.locator("caption")).to_be_visible()
    for place in (*(pupil.question for pupil in pupils), teacher.bar):
        expect(place.locator("tr.right th")).to_have_text("196")
        # The commonest wrong answer is told, how many gave it, and why one may.
        expect(place).to_contain_text(re.compile(r"“98” \(2\)\s*\S"))
    teacher.press("Next")
    # What is asked next belongs to the view again, unless something else is chosen.
    expect(teacher.bar.get_by_role("combobox", name="What to ask")).to_have_value("")
    teacher.tab.go(model="toy", text="the cat and the mat", step="softmax")
    expect(other).to_be_attached()


def test_everybody_can_read_a_screen_and_a_picture_that_would_tell_the_answer_waits_for_it(new_teacher, new_pupil):
    teacher = new_teacher(step="scale")
    pupil = new_pupil().join(teacher.code)
    pupil.expect_step(5)
    picture = pupil.page.locator("#view .matrix svg").first
    expect(picture).to_be_visible()
    pupil.look("nothing asked", STRAIGHT)
    # About what is seen.
    teacher.press("Ask")
    expect(pupil.question.get_by_role("button").first).to_be_visible()
    pupil.look("asked", CROSSED)
    teacher.press("Show the answers")
    expect(pupil.question.get_by_role("row").first).to_be_visible()
    pupil.look("told", STRAIGHT)
    teacher.press("Next")
    # Ready, with an answer that the picture would tell.
    teacher.tab.to_step("Softmax")
    pupil.expect_step(7)
    teacher.ask("Do tokens attend most to themselves?")
    expect(pupil.question.get_by_role("button")).to_have_count(4)
    expect(pupil.title).to_have_text(SENTENCE)
    expect(pupil.page.locator("#view").locator("svg, canvas, table, h2")).to_have_count(0)
    expect(pupil.page.locator("#view")).not_to_be_empty()
    pupil.look("hidden", CROSSED)
    pupil.answer(0)
    # The one that was pressed is under the pointer still.
    pupil.page.emulate_media(color_scheme="light")
    expect(pupil.question.get_by_role("button", pressed=True)).to_have_css("background-color", "rgb(0, 114, 178)")
    pupil.look("answered", STRAIGHT)
    teacher.press("Show the answers")
    expect(picture).to_be_visible()
    expect(pupil.question.get_by_role("row").first).to_be_visible()
    pupil.look("told, with the picture", CROSSED)


def test_a_whole_lesson_with_all_that_happens_to_pupils(cable, new_teacher, new_pupil, new_person, new_tab):
    teacher = new_teacher(step="scale")
    away = Pupil(new_person(cable)).join(teacher.code)
    phone = new_pupil(viewport=PHONE).join_by_hand(teacher.code)
    # One in a browser that no other test uses, whose clock can be put forward.
    curious = Pupil(new_tab(viewport=WIDE))
    curious.page.clock.install()
    curious.join(teacher.code)
    for pupil in (away, phone, curious):
        pupil.expect_step(5)
    teacher.expect_here(3)
    # One looks around alone, and is told of a question that is asked meanwhile.
    curious.alone.click()
    curious.tab.settled().expect_query(model="toy", text=SENTENCE, step="scale", plain="1")
    curious.tab.page.get_by_role("button", name="Next: Mask").click()
    curious.tab.expect_query(model="toy", text=SENTENCE, step="mask", plain="1")
    told = curious.page.get_by_role("region", name="Class", exact=True).locator(".asks")
    expect(told).to_be_empty()
    cable.cut()
    expect(away.status).not_to_be_empty()
    teacher.press("Ask")
    phone.answer(2)
    phone.page.reload()
    expect(phone.question.get_by_role("button").nth(2)).to_have_attribute("aria-pressed", "true")
    # One comes late, and is as far as all the others.
    late = new_pupil().join(teacher.code)
    late.answer(1)
    # It is looked for every few seconds.
    curious.page.clock.fast_forward(5000)
    expect(told).not_to_be_empty()
    curious.page.get_by_role("link", name="Back to the class").click()
    curious.answer(0)
    teacher.press("Show the answers")
    teacher.press("Next")
    # The lesson goes on while one is offline, who tries to come back again and again.
    for number in (6, 7, 8):
        teacher.next()
        for pupil in (phone, curious, late):
            pupil.expect_step(number)
    until(lambda: cable.n_refused >= 3)
    away.expect_step(5)
    cable.mend()
    away.expect_step(8)
    expect(away.status).to_be_empty()
    expect(away.question).to_be_hidden()
    teacher.expect_here(4)
    # What is answered while offline arrives when there is a line again, and counts then: unless the question is over.
    teacher.ask("What sums to 1?")
    expect(away.question.get_by_role("button")).to_have_count(4)
    cable.cut()
    away.question.get_by_role("button").nth(1).click()
    expect(away.said).not_to_be_empty()
    expect(away.question.get_by_role("button", pressed=True)).to_have_count(0)
    teacher.press("Show the answers")
    teacher.press("Next")
    teacher.next()
    phone.expect_step(9)
    cable.mend()
    away.expect_step(9)
    expect(away.question).to_be_hidden()
    # What is asked next, all four answer.
    teacher.ask("What sums to 1?")
    for pupil in (away, phone, curious, late):
        pupil.answer(0)
    teacher.press("Show the answers")
    for pupil in (away, phone, curious, late):
        expect(pupil.question.locator("tr.right")).not_to_have_count(0)
        assert sum(pupil.counts()) == 4
    away.tab.errors.clear()  # the browser counts a connection that is lost


def test_the_notes_of_a_lesson_lead_from_view_to_view_and_the_controls_stay_in_sight(new_teacher, new_pupil):
    teacher = new_teacher()
    page = teacher.tab.page
    page.set_viewport_size(PROJECTOR)
    pupil = new_pupil().join(teacher.code)
    pupil.expect_step(4)
    teacher.press("Notes")
    plan = teacher.bar.get_by_role("combobox", name="Lesson plan")
    plan.select_option("20 minutes")
    clock, stages = teacher.bar.locator(".notes .clock"), teacher.bar.locator(".stages button")
    expect(clock).to_have_text(re.compile(r"^0\D+20\b"))
    expect(stages).to_have_count(7)
    # Who comes and goes leaves the list alone that is open.
    plan.focus()
    same = plan.element_handle()
    new_pupil().join(teacher.code)
    teacher.expect_here(2)
    assert plan.evaluate("(element, same) => element === same && element.matches(':focus')", same)
    # What the notes of another stage say is for the teacher: the class stays where it is.
    stages.nth(2).click()
    expect(stages.nth(2)).to_have_attribute("aria-current", "step")
    expect(teacher.plan).to_have_text(re.compile("^Show: "))
    pupil.expect_step(4)
    stages.nth(0).click()
    teacher.plan.click()
    pupil.expect_step(7)
    expect(pupil.title).to_contain_text("The animal")
    # Another page is loaded, and the notes are where they were; so they are in another tab, when this one is closed.
    expect(teacher.bar.locator(".notes").get_by_role("heading")).not_to_have_count(0)
    expect(stages.nth(0)).to_have_attribute("aria-current", "step")
    again = Teacher(Tab(page.context.new_page(), teacher.tab.url))
    again.tab.page.goto(page.url)
    again.code = teacher.code
    page.close()
    teacher, page = again, again.tab.page
    page.set_viewport_size(PROJECTOR)
    plan, clock = teacher.bar.get_by_role("combobox", name="Lesson plan"), teacher.bar.locator(".notes .clock")
    stages = teacher.bar.locator(".stages button")
    expect(stages.nth(0)).to_have_attribute("aria-current", "step")
    expect(teacher.plan).to_have_text("Ask the class")
    # Whether the class sees the screen is said of each tab by itself.
    teacher.plan.click()
    teacher.expect_covered()
    teacher.privacy.check()
    teacher.expect_uncovered()
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_label("Only I see this screen")).not_to_be_checked()
    other.close()
    teacher.privacy.uncheck()
    teacher.press("Withdraw")
    stages.nth(1).click()
    # A page that no class follows does not end the lesson.
    page.goto(f"{teacher.tab.url}/models")
    expect(teacher.trouble).to_be_visible()
    expect(teacher.plan).to_have_text(re.compile("^Show: "))
    teacher.plan.click()
    pupil.expect_step(3)
    # What is skipped is opened, for all.
    teacher.press("Skip")
    expect(pupil.page.locator("#view .matrix svg").first).to_be_visible()
    expect(teacher.plan).to_have_text(re.compile("^Next: "))
    # All controls are in one line, on a projector as well.
    middles = teacher.bar.locator(".last > *").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2)"
    )
    assert max(middles) - min(middles) < 4
    page.goto(f"{teacher.tab.url}/models")
    expect(teacher.trouble).to_be_visible()
    teacher.plan.click()
    pupil.expect_step(4)
    teacher.tab.settled()
    teacher.expect_uncovered()
    expect_no_barrier(teacher.tab, "notes")
    # However much is open, the controls are in sight.
    teacher.press("On their own")
    last = teacher.bar.get_by_role("button", name="End the class")
    for each in (plan, clock, last):
        expect(each).to_be_in_viewport(ratio=1)
    # What is longer than its place is scrolled there, and never pushes the controls out of the bar.
    teacher.bar.evaluate("bar => bar.querySelector('.notes .words').append('… '.repeat(20_000))")
    for each in (plan, last):
        expect(each).to_be_in_viewport(ratio=1)
    # On a wide screen, the notes stand beside the page; on a narrow one, in the bar below it.
    notes, app = teacher.bar.locator(".notes"), page.locator(".stApp")
    beside = app.bounding_box()
    assert beside["x"] + beside["width"] <= notes.bounding_box()["x"]
    page.set_viewport_size(PHONE)
    for each in (plan, last):
        expect(each).to_be_in_viewport(ratio=1)
        box, bar = each.bounding_box(), teacher.bar.bounding_box()
        assert bar["y"] <= box["y"]
        assert box["y"] + box["height"] <= bar["y"] + bar["height"]
    teacher.press("Notes")
    expect(clock).to_have_count(0)


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: plan.name)
def test_one_button_leads_a_class_through_a_whole_plan(new_person, new_pupil, plan):
    teacher = Teacher(new_person())
    page = teacher.tab.page
    teacher.tab.go("classroom", plan=plan.name)
    teacher.open_in_sight()
    pupils = [new_pupil().join(teacher.code), new_pupil(viewport=PHONE).join(teacher.code)]
    late, wall = new_pupil(), Pupil(new_person(viewport=WALL))
    teacher.expect_here(2)
    wall.page.goto(f"{wall.tab.url}/room?code={teacher.code}&screen=1")
    for place, part in enumerate(plan.parts):
        if place == 1:
            pupils.append(late.join(teacher.code))
        press = teacher.press_plan if place % 2 else teacher.press_remote
        press()
        expect(page).to_have_url(re.compile(rf"/{part.page}\?"))
        expect(teacher.plan).not_to_have_text(re.compile("^(Show|Next): "), timeout=LONG)
        screens = [*pupils, wall]
        if part.act == "ask":
            # Nobody gets ahead of the question in the app, where one press shows the answer.
            for pupil in pupils:
                expect(pupil.alone).to_have_attribute("aria-disabled", "true")
            # The page's own question may show the answer to that of the plan.
            expect(page.locator(".st-key-guess_first")).to_be_hidden()
        press()
        if part.act == "own":
            for pupil in pupils:
                expect(pupil.page.get_by_role("region", name="Ten questions")).to_be_visible()
        elif part.act == "find":
            for screen in screens:
                expect(screen.page.get_by_role("region", name="Find it")).to_be_visible()
                expect(screen.page.locator("#view .atlas").first).to_be_visible(timeout=LONG)
            teacher.press("Show the best")
        else:
            for screen in screens:
                expect(screen.question).to_be_visible(timeout=LONG)
                expect(screen.question.locator("tr")).to_have_count(0)
            expect(teacher.bar.locator(".question")).to_be_visible()
            teacher.press("Show the answers")
            if part.page == "step_by_step":
                # The teacher's page keeps later answers to itself, too: the weights at the steps before softmax.
                expect(page).to_have_url(re.compile("plain=1"))
            for screen in screens:
                expect(screen.question.locator("tr").first).to_be_visible()
                view = screen.page.locator("#view")
                # The picture of tokens is the only one that is not drawn.
                picture = view.locator("svg, canvas").or_(view.get_by_role("group", name="Tokens"))
                expect(picture.first).to_be_visible()
            for pupil in pupils:
                expect(pupil.alone).to_have_attribute("href", re.compile(part.page))
            expect(wall.question).to_be_in_viewport(ratio=1)
            # Nobody scrolls a wall.
            for picture in wall.page.locator("#view [data-picture]").all():
                expect(picture).to_be_in_viewport(ratio=1)
    Alone(pupils[0].tab).begin(SENTENCE).choose(0)
    teacher.press("End the questions")
    # The class discusses the results before it ends.
    expect(teacher.plan).to_have_text("Show the results")
    teacher.press_plan()
    results = wall.page.get_by_role("region", name="Ten questions")
    for shown in (results, teacher.bar):
        expect(shown.get_by_role("row")).to_have_count(1)
        expect(shown.get_by_role("row")).to_contain_text(re.compile(r"[01] of 1"))
    expect(wall.page.locator("#page")).to_be_hidden()
    expect(teacher.plan).to_have_text("End the class")
    teacher.press_plan()
    ending = page.get_by_role("dialog", name="End the class")
    expect(ending.get_by_role("link", name="Download the ten questions")).to_be_visible()
    ending.get_by_role("button", name="End the class").click()
    for pupil in pupils:
        expect(pupil.page.locator("#told")).not_to_be_empty()


def test_the_page_for_classes_opens_a_room_and_every_view_of_a_plan(new_person, new_pupil):
    tab = new_person().go("classroom", model="toy", text=SENTENCE)
    page, teacher = tab.page, Teacher(tab)
    expect(page.get_by_role("link", name="the page for pupils")).to_have_attribute("href", re.compile("room$"))
    tab.pick("Length", "45 minutes")
    expect(page.get_by_text("Minute 41 to 45")).to_be_visible()
    for size in (PROJECTOR, PHONE):
        page.set_viewport_size(size)
        tab.settled()
        expect_no_barrier(tab, f"classroom, {size['width']} px")
        # The room begins with the steps of the sentence.
        teacher.open_in_sight()
        pupil = new_pupil().join(teacher.code)
        expect(pupil.page.locator("body")).to_contain_text(SENTENCE)
        pupil.expect_step(1)
        # While a room is open, the same button says what it does now.
        main = page.locator("#root")
        main.get_by_role("button", name="Show the code to the class").click()
        expect(page.locator(".letters")).to_have_text(teacher.code)
        page.get_by_role("button", name="Close").click()
        if size is PROJECTOR:
            teacher.end()
            expect(teacher.bar).to_be_hidden()
    # From there, the plan leads on, and the class with it.
    page.get_by_role("link", name="Open this view ▸").nth(3).click()
    tab.expect_query(model="toy", text="The cat sat on the mat", step="qkv", word="5", guess="1", plain="1")
    pupil.expect_step(3)
    teacher.expect_uncovered()
    menu = page.get_by_role("button", name="Share", exact=True)
    menu.click()
    expect(main.get_by_role("button", name="Show the code to the class")).to_be_visible()
    menu.click()
    teacher.end()
    menu.click()
    expect(main.get_by_role("button", name="Open a room for a class")).to_be_visible()


# The states of a screen take turns with the sizes, so that all pairs of state, size and theme are seen.
@pytest.mark.parametrize(("scheme", "sizes"), [("light", (PHONE, PROJECTOR)), ("dark", (PROJECTOR, PHONE))])
def test_an_open_question_covers_the_only_screen(new_person, new_pupil, scheme, sizes):
    one, other = sizes
    tab = new_person(viewport=one, color_scheme=scheme)
    tab.page.clock.install()
    teacher = Teacher(tab).open(step="scale")
    new_pupil().join(teacher.code).expect_step(5)
    teacher.look("idle", one)
    teacher.press("Ask")
    expect(teacher.bar.get_by_role("list", name="Possible answers").get_by_role("listitem")).to_have_count(4)
    teacher.look("asked", other, is_covered=True)
    # A second press of the same key presses nothing, and no key leads to another view.
    tab.page.keyboard.press("Enter")
    for key in ("ArrowRight", "p"):
        tab.page.keyboard.press(key)
    teacher.expect_covered()
    expect(teacher.bar.get_by_role("button", name="Show the answers")).to_be_visible()
    assert tab.query()["step"] == "scale"
    assert "present" not in tab.query()
    # Where nobody else sees it, there is the page, and what has been answered until now.
    teacher.privacy.check()
    teacher.expect_uncovered()
    teacher.bar.get_by_text("Answers so far").click()
    expect(teacher.bar.get_by_role("row")).to_have_count(4)
    teacher.look("private", one)
    teacher.privacy.uncheck()
    expect(teacher.bar.get_by_role("row")).to_have_count(0)
    teacher.expect_covered()
    # The key of a remote shows the answers, and then what they are about.
    tab.page.keyboard.press("PageDown")
    expect(teacher.bar.get_by_role("row")).to_have_count(4)
    teacher.look("told", other, is_covered=True)
    tab.page.clock.fast_forward(1000)
    tab.page.keyboard.press("PageDown")
    teacher.expect_uncovered()
    expect(teacher.bar.get_by_role("button", name="Ask", exact=True)).to_be_visible()


def test_present_keeps_the_question_and_an_ended_room_says_so(new_person, new_pupil):
    teacher = Teacher(new_person())
    page = teacher.tab.page
    # From the beginning: a request right after a route is set may still go past it.
    is_held = []
    page.route("**/questions", lambda route: None if is_held else route.continue_())
    page.add_init_script(SEARCHES)
    teacher.open(step="scale")
    pupil = new_pupil().join(teacher.code)
    pupil.expect_step(5)
    teacher.press("Ask")
    pupil.answer(3)
    teacher.press("Show the answers")
    teacher.press("See the picture")
    teacher.tab.settled()
    page.keyboard.press("p")
    teacher.tab.expect_query(model="toy", text=SENTENCE, step="scale", present="1", plain="1")
    expect(teacher.bar.get_by_role("button", name="See the answers")).to_be_visible()
    foot = page.locator(".st-key-stepper").bounding_box()
    assert foot["y"] + foot["height"] <= teacher.bar.bounding_box()["y"]
    expect(pupil.question.locator("tr.right")).not_to_have_count(0)
    teacher.press("Next")
    expect(pupil.question).to_be_hidden()
    # Then there are no controls, as Present has none.
    expect(teacher.bar).to_be_hidden()
    page.keyboard.press("Escape")
    teacher.tab.expect_query(model="toy", text=SENTENCE, step="scale", plain="1")
    # Who ends a class looks for no more questions: what is looked for does not come, and is given up.
    is_held.append(True)
    page.evaluate("searches.length = 0")
    teacher.next()
    until(lambda: page.evaluate("searches.length"))
    teacher.end()
    expect(teacher.bar).to_be_hidden()
    assert page.evaluate("goingOn") == 0
    expect(pupil.page.get_by_text("The class is over.")).to_be_visible()


# It is killed, so it is none of those that tests share.
def test_the_server_dies_while_a_class_answers_another_ten_questions_and_a_third_searches(new_person, tmp_path):
    port = free_port()

    @contextmanager
    def running(name):
        with serve(tmp_path / name, {"ATTENTION_DATABASE": f"sqlite:///{tmp_path / 'rooms.sqlite'}"}, port) as server:
            yield server

    with running("first") as server:
        asking, leaving = (Teacher(new_person(server)).open(step="scale") for _ in range(2))
        setting = Setter(new_person(server)).open(model="minilm-l6")
        pupil = Pupil(new_person(server)).join(asking.code)
        alone = Alone(new_person(server)).join(leaving.code)
        finder = Finder(new_person(server)).join(setting.code)
        pupil.expect_step(5)
        asking.press("Ask")
        pupil.answer(1)
        leaving.start()
        alone.begin("My little dog likes to chase squirrels in the park")
        alone.choose(1)
        alone.go_on()
        setting.set("Previous token")
        place = {"layer": 1, "head": 3, "text": "The old baker opened the small shop before sunrise"}
        finder.paste(f"all_heads?{urlencode(place)}")
        expect(finder.verdict).to_have_count(1, timeout=LONG)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    for each in (pupil, alone, finder):
        expect(each.status).not_to_be_empty()
    # What is answered meanwhile is sent once the server is back.
    alone.own.locator(".answers button").nth(1).click()
    with running("second"):
        expect(pupil.status).to_be_empty()
        expect(pupil.question.get_by_role("button").nth(1)).to_have_attribute("aria-pressed", "true")
        pupil.answer(2)
        expect(asking.bar).to_contain_text("1 of 1 answered", timeout=40_000)
        asking.press("Show the answers")
        expect(pupil.question.locator("tr.right")).not_to_have_count(0)
        assert pupil.counts() == [0, 0, 1, 0]
        expect(alone.verdict).to_be_visible(timeout=PATIENCE)
        alone.page.reload()
        alone.expect_question(3)
        expect(leaving.bar).to_contain_text("1 of 1 started", timeout=40_000)
        setting.expect_found(1, 1)
        finder.page.reload()
        expect(finder.solved).to_have_count(1)
        setting.press("Show the best")
        expect(finder.task.get_by_role("listitem")).to_have_count(1)
        for tab in (each.tab for each in (asking, leaving, setting, pupil, alone, finder)):
            # What is still open when the server ends for good misses it.
            tab.page.goto("about:blank")
            tab.errors.clear()  # the browser counts a connection that is lost


@pytest.mark.quick
def test_only_the_teacher_leads_and_what_is_typed_is_text_on_every_screen(new_teacher, new_pupil):
    teacher = new_teacher(text=HOSTILE, step="tokens")
    pupil = new_pupil().join(teacher.code)
    expect(pupil.title).to_have_text(HOSTILE)
    pupil.expect_step(1)
    for act in ("show", "ask", "reveal", "withdraw", "end"):
        status = pupil.page.evaluate(
            """act => fetch(act, { method: "POST", body: JSON.stringify({ page: "step_by_step", link: "" }) })
            .then(({ status }) => status)""",
            f"{pupil.tab.url}/_attention/room/{teacher.code}/{act}",
        )
        assert status == 403
    pupil.tab.errors.clear()  # the browser counts what is refused
    for page in (teacher.tab.page, pupil.page):
        cookies = {each["name"]: each for each in page.context.cookies()}
        secret = [each for name, each in cookies.items() if name in ("attention_class", "attention_pupil")]
        assert secret
        for each in secret:
            assert each["httpOnly"]
            key = each["value"].partition(".")[2]
            assert len(key) >= 16
            assert key not in page.content()
            assert key not in page.url
    teacher.press("Ask")
    expect(pupil.question).to_be_visible()
    assert pupil.page.locator("img, script:not([type]):not([src])").count() == 0


def test_a_code_that_does_not_exist_is_said_so(new_pupil):
    pupil = new_pupil().join("BBBBBB")
    expect(pupil.page.get_by_text("No room has this code.")).to_be_visible()
    # It stays, to be mended.
    expect(pupil.page.get_by_label("The six letters")).to_have_value("BBBBBB")
    pupil.tab.errors.clear()  # the browser counts what is refused
    pupil.join_by_hand("nonsense!")
    expect(pupil.page.get_by_text("Not a room code")).to_be_visible()


def test_a_class_sees_the_charts_of_a_lab_and_can_save_them(new_teacher, new_pupil):
    teacher = new_teacher()
    pupil = new_pupil(viewport=PHONE).join(teacher.code)
    page = teacher.tab.page
    page.get_by_role("button", name="Labs", exact=True).click()
    page.get_by_role("link", name="Why divide by √d").click()
    page.get_by_role("button", name="Show me").click()
    plots = pupil.page.locator(".plot:has(.main-svg)")
    expect(plots).to_have_count(4)
    before = plots.first.evaluate("plot => plot.querySelectorAll('.trace').length")
    assert before == 2
    expect_no_barrier(pupil.tab, "charts in a class")
    plots.first.hover()
    with pupil.page.expect_download() as download:
        plots.first.locator(".modebar-btn[data-title='Save as PNG']").click()
    title = pupil.page.locator(".chart .title").first.text_content()
    assert download.value.suggested_filename == f"{title.replace(' ', '-')}.png"
    # The picture in its place turns into the next.
    page.get_by_role("slider").first.press("End")
    expect(pupil.page.get_by_role("application", name=re.compile(r"\b8 keys\b")).first).to_be_visible()
    expect(pupil.page.locator(".chart .title", has_text="d = 512")).to_be_visible()
    expect(plots).to_have_count(4)
