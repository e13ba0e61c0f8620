"""A teacher's own lesson plan: made from views, taught by its one button, kept, and shared as a link and a file."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.classroom import CROSSED, Finder, Pupil, Setter, Teacher
from tests.browser.looks import expect_no_barrier

QUESTION = "Where <b>would</b> you look?"


@pytest.fixture
def teacher(new_person):
    teacher = Setter(new_person()).open(step="scores")
    teacher.press("Notes")
    return teacher


@pytest.fixture
def own_plan(teacher):
    """A plan of two stages: a question of the teacher's own, and a view to watch."""
    choose(teacher, "New plan")
    teacher.press("Add this view")
    field(teacher, "Stage").fill("Our pond")
    teacher.bar.get_by_role("combobox", name="Activity").select_option("a question of my own")
    field(teacher, "Question").fill(QUESTION)
    field(teacher, "Answers, one per line; * before the right one").fill("geese\n* pond\ngrey")
    teacher.next()
    expect(teacher.tab.page).to_have_url(re.compile("step=scale"))
    teacher.press("Add this view")
    return teacher


def choose(teacher, plan):
    teacher.bar.get_by_label("Lesson plan").select_option(plan)


def field(teacher, name):
    return teacher.bar.get_by_label(name, exact=True)


def stages(teacher):
    return teacher.bar.locator(".stages button")


def test_an_own_plan_is_taught_by_the_one_button_and_outlives_the_tab(own_plan, new_person):
    teacher, pupil = own_plan, Pupil(new_person()).join(own_plan.code)
    expect(stages(teacher)).to_have_count(2)
    teacher.tab.page.reload()
    stages(teacher).first.click()
    expect(field(teacher, "Question")).to_have_value(QUESTION)
    for size, _ in CROSSED:
        teacher.look("the editor of a plan", size)
    expect(teacher.plan).to_have_text(re.compile("^Show: Our pond$"))
    teacher.press_plan()
    pupil.expect_step(4)
    expect(teacher.plan).to_have_text("Ask the class")
    teacher.bar.locator("[data-name=limit]").select_option("90 s")
    teacher.press_plan()
    expect(pupil.question.locator(".time")).to_be_visible()
    # The picture stays beside the question.
    expect(pupil.question).to_contain_text(QUESTION)
    expect(pupil.page.locator("#view .matrix").first).to_be_visible()
    pupil.answer(1)
    teacher.press("Show the answers")
    expect(pupil.question.locator("tr.right th")).to_have_text("pond")
    assert pupil.counts() == [0, 1, 0]
    # The answers cover the only screen, and make way for the picture.
    teacher.expect_covered()
    teacher.press_plan()
    teacher.expect_uncovered()
    expect(teacher.plan).to_have_text(re.compile("^Next: "))
    teacher.press_plan()
    pupil.expect_step(5)
    expect(teacher.plan).to_have_text("End the class")
    # The result stays in the notes, also in another tab.
    teacher.tab.page.reload()
    teacher.bar.get_by_text("Asked so far").click()
    result = teacher.bar.locator(".asked")
    expect(result).to_contain_text(QUESTION)
    expect(result.locator("tr.right th")).to_have_text("pond")
    with teacher.tab.page.expect_download() as started:
        teacher.bar.get_by_role("link", name="Download as CSV").click()
    assert ",pond,1" in started.value.path().read_text("utf-8-sig")
    teacher.press("End the class")
    file = teacher.tab.take_away("Download the answers")
    assert teacher.code.lower() in file.suggested_filename
    assert ",pond,1" in file.path().read_text("utf-8-sig")


def test_a_malformed_question_is_refused_with_the_reason(own_plan):
    stages(own_plan).first.click()
    field(own_plan, "Answers, one per line; * before the right one").fill("geese")
    own_plan.press_plan()
    expect(own_plan.plan).to_have_text("Ask the class")
    own_plan.press_plan()
    expect(own_plan.trouble).to_contain_text("two to six")
    own_plan.tab.errors.clear()  # the browser counts what is refused


def test_a_task_set_by_hand_brings_its_page_and_leaves_the_stage_to_be_shown_and_asked(own_plan, new_person):
    pupil = Finder(new_person()).join(own_plan.code)
    stages(own_plan).first.click()
    own_plan.press_plan()
    expect(own_plan.plan).to_have_text("Ask the class")
    own_plan.set("Previous token")
    expect(pupil.task).to_be_visible()
    expect(pupil.page.locator("#view .atlas").first).to_be_visible()
    own_plan.press("Show the best")
    expect(own_plan.plan).to_have_text("Show: Our pond")
    own_plan.press_plan()
    pupil.expect_step(4)
    expect(pupil.task).to_be_hidden()
    expect(own_plan.plan).to_have_text("Ask the class")
    own_plan.press_plan()
    expect(pupil.question).to_contain_text(QUESTION)


def test_pupils_type_a_number_or_a_few_words(own_plan, new_person):
    stages(own_plan).first.click()
    own_plan.bar.get_by_label("Pupils type a number or a few words").check()
    field(own_plan, "Right answers, one per line").fill("The pond\n0.64")
    pupils = [Pupil(new_person()).join(own_plan.code) for _ in range(2)]
    own_plan.press_plan()
    expect(own_plan.plan).to_have_text("Ask the class")
    own_plan.press_plan()
    for pupil, words in zip(pupils, ("the pond", "<b>a goose</b>"), strict=True):
        pupil.question.get_by_role("textbox").fill(words)
        pupil.page.keyboard.press("Enter")
        expect(pupil.said).not_to_be_empty()
    own_plan.press("Show the answers")
    for pupil in pupils:
        expect(pupil.question.locator("tr.right th")).to_have_text("the pond")
        assert pupil.counts() == [1, 1]
        expect_no_barrier(pupil.tab, "typed answers")
    expect(pupils[1].question.locator("tr", has_text="your answer")).to_contain_text("<b>a goose</b>")


def test_a_question_with_a_time_limit_closes_and_opens_again_with_more_time(own_plan, new_person):
    pupil, wall = Pupil(new_person()), new_person()
    for tab in (pupil.tab, wall):
        tab.page.clock.install()
    pupil.join(own_plan.code)
    wall.page.goto(f"{wall.url}/room?code={own_plan.code}&screen=1")
    stages(own_plan).first.click()
    own_plan.bar.locator(".editor").get_by_label("Time limit").select_option("30 s")
    own_plan.press_plan()
    expect(own_plan.plan).to_have_text("Ask the class")
    own_plan.press_plan()
    expect(own_plan.bar.locator(".clock", has_text=re.compile(r"^\d+ s$"))).to_be_visible()
    times = [tab.page.get_by_role("timer") for tab in (pupil.tab, wall)]
    for time in times:
        expect(time).to_have_text(re.compile(r"^\d+ s$"))
    for tab in (pupil.tab, wall):
        tab.page.clock.fast_forward(31_000)
    expect(times[1]).to_have_text("Time is up.")
    expect(pupil.said).to_have_text("Time is up.")
    expect(pupil.question.get_by_role("button").first).to_be_disabled()
    pupil.look("a question whose time is up")
    own_plan.press("30 s more")
    expect(times[0]).to_be_visible()
    pupil.answer(1)
    # A page that is opened again has the time left by the server's clock.
    pupil.page.reload()
    expect(times[0]).to_have_text(re.compile(r"^\d+ s$"))
    own_plan.press("Show the answers")
    expect(times[0]).to_be_hidden()
    assert pupil.counts() == [0, 1, 0]


def test_shares_that_were_dragged_but_not_sent_count_for_nothing_and_it_is_said(new_person):
    teacher = Teacher(new_person()).open(step="softmax", word="2")
    pupil = Pupil(new_person())
    pupil.page.clock.install()
    pupil.join(teacher.code)
    teacher.bar.get_by_label("Time limit").select_option("30 s")
    teacher.press("Ask")
    pupil.question.get_by_role("slider").first.fill("60")
    pupil.page.clock.fast_forward(31_000)
    expect(pupil.said).to_contain_text("sent")
    expect(pupil.question.get_by_role("slider").first).to_be_disabled()
    expect(teacher.bar).to_contain_text("0 of 1 answered")


def test_stages_move_and_go_and_a_ready_plan_can_be_copied(teacher):
    choose(teacher, "20 minutes")
    titles = [each.inner_text().partition("\n")[0].partition(". ")[2] for each in stages(teacher).all()]
    teacher.press("Copy to edit")
    expect(teacher.bar.get_by_role("textbox", name="Notes")).not_to_have_value("")
    n_stages = len(titles)
    teacher.press("Later")
    expect(stages(teacher).nth(1)).to_contain_text(titles[0])
    teacher.press("Remove")
    expect(stages(teacher)).to_have_count(n_stages - 1)
    expect(stages(teacher).first).to_contain_text(titles[1])
    # The ready plan stays as it was.
    choose(teacher, "20 minutes")
    expect(stages(teacher)).to_have_count(n_stages)
    expect(stages(teacher).first).to_contain_text(titles[0])


def test_a_stage_takes_the_view_shown_at_the_press(own_plan):
    stages(own_plan).first.click()
    own_plan.next()
    expect(own_plan.tab.page).to_have_url(re.compile("step=mask"))
    own_plan.bar.get_by_role("button", name="Use the view on this screen").press("Enter")
    own_plan.next()
    expect(own_plan.tab.page).to_have_url(re.compile("step=softmax"))
    own_plan.press_plan()
    expect(own_plan.tab.page).to_have_url(re.compile("step=mask"))


def test_a_typed_question_outlives_another_activity(own_plan):
    stages(own_plan).first.click()
    field(own_plan, "Question").fill("And now?")
    activity = own_plan.bar.get_by_role("combobox", name="Activity")
    activity.select_option("none")
    expect(field(own_plan, "Question")).to_have_count(0)
    activity.select_option("a question of my own")
    expect(field(own_plan, "Question")).to_have_value("And now?")


def test_a_plan_is_shared_as_a_file_and_as_a_link(own_plan, new_person, tmp_path):
    with own_plan.tab.page.expect_download() as started:
        own_plan.press("Save as a file")
    file = tmp_path / started.value.suggested_filename
    started.value.save_as(file)
    assert json.loads(file.read_text())["parts"][0]["title"] == "Our pond"
    own_plan.tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    own_plan.press("Copy the link")
    expect(own_plan.bar.get_by_role("button", name="Copied ✓")).to_be_visible()
    link = own_plan.tab.page.evaluate("navigator.clipboard.readText()")
    # A colleague opens the link, then a room; the link has done its work.
    colleague = Teacher(new_person())
    colleague.tab.page.goto(link)
    expect(colleague.trouble).to_contain_text("My plan")
    assert "#" not in colleague.tab.page.url
    colleague.open()
    colleague.press("Notes")
    choose(colleague, "My plan")
    expect(stages(colleague)).to_have_count(2)
    # The file has the same plan: it is not there twice. Another file is refused.
    upload(colleague, file)
    expect(colleague.bar.get_by_label("Lesson plan").get_by_role("option", name="My plan")).to_have_count(1)
    other = tmp_path / "other.json"
    other.write_text('{"title": "x", "parts": [{"title": "t", "address": "javascript:alert(1)"}]}')
    upload(colleague, other)
    expect(colleague.trouble).to_contain_text("not a lesson plan")
    expect(stages(colleague)).to_have_count(2)
    colleague.tab.page.once("dialog", lambda dialog: dialog.accept())
    colleague.press("Delete the plan")
    expect(colleague.bar.get_by_role("option", name="My plan")).to_have_count(0)
    expect(colleague.plan).to_have_count(0)


def upload(teacher, file):
    with teacher.tab.page.expect_file_chooser() as choosing:
        teacher.press("Open a file")
    choosing.value.set_files(file)
