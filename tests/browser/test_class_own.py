"""Ten questions on pupils' own sentences, in real windows: a teacher and two pupils, one of them on a phone."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.classroom import ANYTHING, PATIENCE, PHONE, PROJECTOR, Alone, Teacher
from tests.browser.looks import expect_no_barrier

HOSTILE = "=<img src=x onerror=f()>"
SENTENCES = "My little dog likes to chase squirrels in the park", "Our team won the match <b>today</b> & we sang"


@pytest.fixture
def teacher(new_person):
    return Teacher(new_person()).open(step="softmax")


@pytest.fixture
def new_pupil(new_person, teacher):
    return lambda **options: Alone(new_person(**options)).join(teacher.code)


def test_a_class_answers_ten_questions_each_and_the_teacher_sees_what_was_right(teacher, new_pupil):
    phone, near = new_pupil(viewport=PHONE, color_scheme="dark"), new_pupil()
    for pupil in (phone, near):
        expect(pupil.page.locator("#view .matrix svg").first).to_be_visible()
    wall = new_pupil(viewport=PROJECTOR)
    wall.page.goto(f"{wall.page.url}&screen=1")
    teacher.start(asks_nickname=True)
    # On the wall, it is said, and nobody answers there.
    expect(wall.own).to_be_visible()
    expect(wall.own).not_to_be_empty()
    expect(wall.own.get_by_role("textbox")).to_have_count(0)
    for pupil in (phone, near):
        expect(pupil.own.get_by_role("textbox")).to_have_count(2)
        expect(pupil.page.locator("#view")).to_be_hidden()
        expect_no_barrier(pupil.tab, "entry")
    phone.begin(SENTENCES[0], HOSTILE)
    near.begin(SENTENCES[1], "Ben")
    for pupil in (phone, near):
        expect_no_barrier(pupil.tab, "question")
        assert pupil.fits()
    right = []
    for place in range(10):
        phone.expect_question(place + 1)
        right.append(phone.choose(place % 3))
        expect(phone.own.locator(".marked .right")).not_to_have_count(0)
        if place == 0:
            expect_no_barrier(phone.tab, "marked")
        assert phone.fits()
        phone.go_on()
    expect(phone.own.get_by_role("heading", name=f"{sum(right)} of 10 right")).to_be_visible()
    expect(phone.own.locator(".again li")).to_have_count(10)
    expect(phone.own.locator(".again li.right")).to_have_count(sum(right))
    expect_no_barrier(phone.tab, "result")
    assert phone.fits()
    # Some were right and some were not: otherwise, this says little.
    assert 0 < sum(right) < 10
    for index in (0, 1):
        near.choose(index)
        near.go_on()
    # Who reloads goes on where they were, and what was answered stays.
    near.page.reload()
    near.expect_question(3)
    near.own.get_by_role("button", name=re.compile("^Question 1: ")).click()
    expect(near.own.locator(".marked li").first).to_contain_text("your answer")
    expect(teacher.bar).to_contain_text("2 of 2 started, 1 finished", timeout=PATIENCE)
    expect(wall.own).to_contain_text(re.compile(r"\b2\D+\b1\b"))
    wall.page.close()
    # On a screen that everybody sees, there are no results.
    teacher.expect_covered()
    results = teacher.bar.locator("details.ten")
    expect(results).to_have_count(0)
    expect_no_barrier(teacher.tab, "for all")
    teacher.privacy.check()
    expect(teacher.tab.page.locator("#root")).not_to_have_attribute("inert", ANYTHING)
    results.locator("summary").first.click()
    rows = teacher.bar.locator(".ten tr")
    expect(rows).not_to_have_count(0)
    assert HOSTILE not in teacher.bar.inner_text()
    teacher.bar.get_by_text("Nicknames", exact=True).click()
    expect(teacher.bar).to_contain_text(HOSTILE)
    expect(teacher.bar).to_contain_text(f"{sum(right)} right, 10 of 10 answered")
    assert teacher.tab.page.locator("img[src=x]").count() == 0
    expect_no_barrier(teacher.tab, "results")
    with teacher.tab.page.expect_download() as download:
        teacher.bar.get_by_role("link", name="Download as CSV").click()
    _, *rows = csv.reader(Path(download.value.path()).read_text("utf-8-sig").splitlines())
    first, second = rows[:10], rows[10:]
    assert [row[:2] for row in first] == [[f"'{HOSTILE}", SENTENCES[0]]] * 10
    assert [row[4] for row in first] == [str(int(each)) for each in right]
    assert {row[0] for row in second} == {"Ben"}
    phone.own.get_by_role("link").first.click()
    phone.tab.settled().expect_query(model="toy", text=SENTENCES[0], step="softmax", word="2", layer="1", head="2")
    phone.page.get_by_role("link", name="Back to the class").click()
    expect(phone.own.get_by_role("heading", name=f"{sum(right)} of 10 right")).to_be_visible()
    teacher.press("End the questions")
    # Everybody is back, and is told what came of it until they close that.
    for pupil, told in ((phone, rf"\b{sum(right)}\D+10\b"), (near, r"\b\d\D+2\b")):
        expect(pupil.page.locator("#view .matrix svg").first).to_be_visible()
        expect(pupil.own).to_contain_text(re.compile(told))
        expect_no_barrier(pupil.tab, "over")
    near.own.get_by_role("button", name="Close").click()
    expect(near.own).to_be_hidden()
    # What came of it stays for the teacher, in the notes.
    teacher.press("Notes")
    expect(teacher.bar.get_by_role("link", name="Download as CSV")).to_be_visible()
    # A pupil who has not closed it can review it after the class.
    teacher.end()
    expect(phone.page.get_by_text("The class is over.")).to_be_visible()
    expect(phone.own.get_by_role("link")).to_have_count(10 - sum(right))
    phone.look("after the class")


def test_it_is_done_by_keyboard_and_what_is_no_sentence_or_another_may_come_first(teacher, new_pupil):
    pupil = new_pupil(viewport=PHONE)
    teacher.start()
    expect(pupil.own.get_by_role("textbox")).to_have_count(1)
    # No key of a remote ends the questions.
    teacher.expect_covered()
    teacher.tab.page.keyboard.press("PageDown")
    # What is no sentence is refused, which is said.
    sentence = pupil.own.get_by_label("Your sentence")
    sentence.fill("   ")
    with pupil.page.expect_response("**/own/begin") as answer:
        sentence.press("Enter")
    assert answer.value.status == 400
    expect(pupil.own.get_by_role("button", name="Begin")).to_be_enabled()
    expect(pupil.own.locator(".said")).not_to_be_empty()
    pupil.tab.errors.clear()  # the browser counts what is refused
    # A short one has fewer questions, and what it has is said.
    sentence.fill("hello")
    sentence.press("Enter")
    first = pupil.own.get_by_role("heading", name=re.compile(r"Question 1 of \d$"))
    expect(first).to_be_visible(timeout=PATIENCE)
    n_questions = first.inner_text()[-1]
    expect(pupil.own.locator("p.quiet", has_text=re.compile(rf"\b{n_questions}\b"))).to_have_count(1)
    pupil.own.get_by_role("button", name="Another sentence").click()
    pupil.own.get_by_role("button", name="a fluffy blue creature").click()
    pupil.own.get_by_label("Your sentence").press("Enter")
    pupil.expect_question(1)
    pupil.own.get_by_role("button", name="Another sentence").click()
    pupil.begin(SENTENCES[1])
    expect(pupil.own.locator(".sentence")).to_contain_text(SENTENCES[1])
    for number in range(1, 11):
        pupil.expect_question(number)
        pupil.own.locator(".answers button").first.focus()
        pupil.page.keyboard.press("Enter")
        # The way on has the focus.
        expect(pupil.own.locator("button.main")).to_be_focused(timeout=PATIENCE)
        pupil.page.keyboard.press("Enter")
    expect(pupil.own.get_by_role("heading", name=re.compile("of 10 right"))).to_be_focused()
    assert pupil.own.get_by_role("button", name="Another sentence").count() == 0
