"""Ten questions on pupils' own sentences, in real windows: a teacher, and two pupils, one of them on a phone."""

import csv
import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.looks import expect_no_barrier
from tests.browser.server import serve
from tests.browser.test_class import PHONE, Pupil, Teacher, environment
from tests.ports import free_port

HOSTILE = "=<img src=x onerror=f()>"
SENTENCES = "My little dog likes to chase squirrels in the park", "Our team won the match <b>today</b> & we sang"
PATIENCE = 30_000


class Alone(Pupil):
    """A pupil who answers ten questions."""

    def __init__(self, tab):
        super().__init__(tab)
        self.own = tab.page.get_by_role("region", name="Ten questions")
        self.verdict = self.own.locator(".verdict")

    def begin(self, sentence, nickname=""):
        self.own.get_by_label("Your sentence").fill(sentence)
        if nickname:
            self.own.get_by_label("A nickname").fill(nickname)
        self.page.keyboard.press("Enter")
        self.expect_question(1)
        return self

    def expect_question(self, number):
        expect(self.own.get_by_role("heading", name=f"Question {number} of 10")).to_be_visible(timeout=PATIENCE)

    def choose(self, index):
        """Answer the question that is seen; tell whether that was right."""
        self.own.locator(".answers button").nth(index).click()
        expect(self.verdict).to_have_text(re.compile(r"^That is (not )?right\.$"), timeout=PATIENCE)
        return self.verdict.inner_text() == "That is right."

    def go_on(self):
        self.own.locator("button.main").click()

    def fits(self):
        return self.page.evaluate("() => document.scrollingElement.scrollWidth - innerWidth") <= 0


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    folder = tmp_path_factory.mktemp("school")
    with serve(folder / "log", environment(folder)) as server:
        yield server


@pytest.fixture
def teacher(new_tab, school):
    return Teacher(new_tab(school, locale="en-GB")).open(step="softmax")


@pytest.fixture
def new_pupil(new_tab, school, teacher):
    return lambda **options: Alone(new_tab(school, locale="en-GB", **options)).join(teacher.code)


def start(teacher, *, asks_nickname=False):
    teacher.press("On their own")
    if asks_nickname:
        teacher.bar.get_by_label("Ask for a nickname").check()
    teacher.press("Start")


def test_a_class_answers_ten_questions_each_and_the_teacher_sees_what_was_right(teacher, new_pupil):
    phone, near = new_pupil(viewport=PHONE, color_scheme="dark"), new_pupil()
    for pupil in (phone, near):
        expect(pupil.page.locator("#view .matrix svg").first).to_be_visible()
    start(teacher, asks_nickname=True)
    for pupil in (phone, near):
        expect(pupil.own.get_by_role("heading", name="Ten questions on a sentence of your own")).to_be_visible()
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
    expect(teacher.bar).to_contain_text("2 of 2 began, 1 finished", timeout=PATIENCE)
    # On a screen that everybody sees, there are no results.
    teacher.expect_covered()
    expect(teacher.bar.get_by_text("Results: for you alone")).to_have_count(0)
    expect_no_barrier(teacher.tab, "for all")
    teacher.bar.get_by_role("checkbox", name="Only I see this screen").check()
    expect(teacher.tab.page.locator("#root")).not_to_have_attribute("inert", re.compile(""))
    teacher.bar.get_by_text("Results: for you alone").click()
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
    _, first, second = csv.reader(Path(download.value.path()).read_text("utf-8-sig").splitlines())
    assert (first[0], first[-2:]) == (f"'{HOSTILE}", [str(sum(right)), "10"])
    assert second[0] == "Ben"
    phone.own.get_by_role("link").first.click()
    phone.tab.settled().expect_query(model="toy", text=SENTENCES[0], step="scores", word="2", layer="1", head="2")
    phone.page.get_by_role("link", name="Back to the class").click()
    expect(phone.own.get_by_role("heading", name=f"{sum(right)} of 10 right")).to_be_visible()
    teacher.press("End the questions")
    # Everybody is back, and is told what came of it until they close that.
    for pupil, told in ((phone, f"You answered 10, and {sum(right)} were right."), (near, "You answered 2, and ")):
        expect(pupil.page.locator("#view .matrix svg").first).to_be_visible()
        expect(pupil.own).to_contain_text(told)
        expect_no_barrier(pupil.tab, "over")
        pupil.own.get_by_role("button", name="Close").click()
        expect(pupil.own).to_be_hidden()
    # What came of it stays for the teacher.
    expect(teacher.bar.get_by_role("link", name="Download as CSV")).to_be_visible()


def test_it_is_done_by_keyboard_and_another_sentence_may_be_taken_first(teacher, new_pupil):
    pupil = new_pupil()
    start(teacher)
    expect(pupil.own.get_by_label("A nickname")).to_have_count(0)
    pupil.own.get_by_role("button", name="The cat sat on the mat").click()
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


def test_what_is_no_sentence_is_said_so_and_a_short_one_has_fewer(teacher, new_pupil):
    pupil = new_pupil(viewport=PHONE)
    start(teacher)
    pupil.own.get_by_label("Your sentence").fill("   ")
    pupil.page.keyboard.press("Enter")
    expect(pupil.own).to_contain_text("Type a sentence of your own")
    pupil.tab.errors.clear()  # the browser counts what is refused
    pupil.own.get_by_label("Your sentence").fill("hello")
    pupil.page.keyboard.press("Enter")
    expect(pupil.own).to_contain_text(re.compile(r"Only \d questions fit this sentence"))


def test_a_wall_says_what_goes_on(teacher, new_tab, school):
    wall = Alone(new_tab(school, locale="en-GB"))
    wall.page.goto(f"{wall.tab.url}/room?code={teacher.code}&screen=1")
    start(teacher)
    expect(wall.own).to_contain_text("They are on your own screens.")
    assert wall.own.get_by_role("textbox").count() == 0


def test_the_server_dies_in_the_middle(new_tab, tmp_path):
    port = free_port()
    with serve(tmp_path / "first", environment(tmp_path), port) as server:
        teacher = Teacher(new_tab(server, locale="en-GB")).open(step="scale")
        pupil = Alone(new_tab(server, locale="en-GB")).join(teacher.code)
        pupil.expect_step(5)
        start(teacher)
        pupil.begin(SENTENCES[0])
        pupil.choose(1)
        pupil.go_on()
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    expect(pupil.page.get_by_role("status").first).to_contain_text("The connection is lost")
    # What is answered meanwhile is sent once the server is back.
    pupil.own.locator(".answers button").nth(1).click()
    with serve(tmp_path / "second", environment(tmp_path), port):
        expect(pupil.verdict).to_be_visible(timeout=PATIENCE)
        pupil.page.reload()
        pupil.expect_question(3)
        expect(teacher.bar).to_contain_text("1 of 1 began", timeout=40_000)
        for tab in (teacher.tab, pupil.tab):
            tab.page.close()
            tab.errors.clear()  # the browser counts a connection that is lost
