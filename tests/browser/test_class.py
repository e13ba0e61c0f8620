"""A class in real windows: a teacher, and pupils who follow, answer, get lost and come back."""

import re
import signal
import time
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.cable import cable_to
from tests.browser.looks import expect_bars_as_long_as_true, expect_no_barrier
from tests.browser.server import serve
from tests.ports import free_port
from tests.until import until

SENTENCE = "Two grey geese crossed the frozen pond"
HOSTILE = "<img src=x onerror=alert(1)> $x^2$ & co"
CODE = re.compile("[BCDFGHJKMNPRSTVWXZ]{6}")
PHONE = {"width": 390, "height": 844}
ANYTHING = re.compile("")


def environment(folder):
    return {"ATTENTION_DATABASE": f"sqlite:///{folder / 'rooms.sqlite'}"}


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    """A server whose rooms are kept for these tests alone."""
    folder = tmp_path_factory.mktemp("school")
    with serve(folder / "log", environment(folder)) as server:
        yield server


class Teacher:
    """A tab in which a room is opened."""

    def __init__(self, tab):
        self.tab = tab
        self.bar = tab.page.get_by_role("region", name="Class")

    def open(self, **query):
        self.tab.go(**{"model": "toy", "text": SENTENCE, "step": "scores", **query})
        return self.open_here()

    def open_here(self):
        self.tab.page.get_by_role("button", name="More", exact=True).click()
        return self.open_in_sight()

    def open_in_sight(self):
        page = self.tab.page
        page.get_by_role("button", name="Open a room for a class").click()
        letters = page.locator(".letters")
        expect(letters).to_have_text(CODE)
        self.code = letters.inner_text()
        picture = page.get_by_role("img", name="QR code of the address")
        expect(picture).to_be_visible()
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
        page.get_by_role("button", name="Close").click()
        return self

    def press(self, name):
        self.bar.get_by_role("button", name=name, exact=True).click()

    def next(self):
        """Go to the next step."""
        self.tab.page.get_by_role("button", name=re.compile("^Next: ")).click()

    def ask(self, title):
        """Choose one of the questions that are ready, and ask it."""
        choice = self.bar.get_by_role("combobox", name="What to ask")
        expect(choice.get_by_role("option", name=title)).to_be_attached()
        choice.select_option(title)
        self.press("Ask")

    def expect_covered(self):
        """The page beneath is neither seen nor reached."""
        expect(self.tab.page.locator("#root")).to_have_attribute("inert", "")
        size = self.tab.page.viewport_size
        box = self.bar.bounding_box()
        assert box == {"x": 0, "y": 0, **size}
        assert self.bar.evaluate(
            "bar => [1, bar.clientWidth - 2].every(x => [1, bar.clientHeight - 2].every("
            "y => bar.getRootNode().elementFromPoint(x, y) === bar))"
        )

    def expect_uncovered(self):
        """The page is there, and ends where the bar begins."""
        expect(self.tab.page.locator("#root")).not_to_have_attribute("inert", ANYTHING)
        self.bar.evaluate("""async bar => {
          const frame = () => new Promise(requestAnimationFrame);
          const bottom = () => document.querySelector(".stApp").getBoundingClientRect().bottom;
          const top = () => bar.getBoundingClientRect().top;
          while (!top() || Math.abs(top() - bottom()) > 0.01) await frame();
        }""")

    def expect_here(self, n):
        expect(self.bar).to_contain_text(f"{n} {'is' if n == 1 else 'are'} here")


class Pupil:
    """A tab that follows a room."""

    def __init__(self, tab):
        self.tab, self.page = tab, tab.page
        self.heading = tab.page.locator("#view h2").first
        self.question = tab.page.get_by_role("region", name="Question")
        self.title = tab.page.locator("#title")
        self.status = tab.page.get_by_role("status").first
        self.alone = tab.page.get_by_role("link", name="Open it myself")

    def join(self, code):
        self.page.goto(f"{self.tab.url}/room?code={code}")
        return self

    def join_by_hand(self, code):
        self.page.goto(f"{self.tab.url}/room")
        self.page.get_by_label("The code").fill(code)
        self.page.keyboard.press("Enter")
        return self

    def expect_step(self, number):
        expect(self.heading).to_have_text(re.compile(rf"^{number}\."))

    def answer(self, index):
        self.question.get_by_role("button").nth(index).click()
        expect(self.question).to_contain_text("Sent.")
        expect(self.question.get_by_role("button", pressed=True)).to_have_count(1)

    def marked(self):
        """Which of the answers are told to be right, once they are revealed."""
        return self.question.locator("tr.right th").all_inner_texts()


@pytest.fixture
def cable(school):
    """A way to the server that can be cut."""
    with cable_to(school) as cable:
        yield cable


@pytest.fixture
def new_teacher(new_tab, school):
    return lambda **query: Teacher(new_tab(school, locale="en-GB")).open(**query)


@pytest.fixture
def new_pupil(new_tab, school):
    """Each in a browser of their own."""
    return lambda **options: Pupil(new_tab(school, **{"locale": "en-GB", **options}))


@pytest.mark.quick
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
    phone.answer(2)
    expect(teacher.bar).to_contain_text("2 of 2 answered")
    assert near.marked() == []
    teacher.press("Show the answers")
    for pupil in (near, phone):
        expect(pupil.question.locator("tr.right")).not_to_have_count(0)
        counts = [int(each) for each in pupil.question.locator(".count").all_inner_texts()]
        assert counts == [1, 0, 1, 0]
        expect(pupil.question).to_contain_text("Commonest wrong answer: “it ")
        expect(pupil.question).to_contain_text("One may think so because")
    expect(teacher.bar).to_contain_text("Commonest wrong answer: “it ")
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
    near.tab.settled().expect_query(model="toy", text=SENTENCE, step="scale")
    near.page.get_by_role("link", name="Back to the class").click()
    near.expect_step(5)
    teacher.press("End the class")


def test_a_class_compares_two_sentences_and_guesses_first(new_teacher, new_pupil):
    teacher = new_teacher()
    teacher.tab.page.goto(f"{teacher.tab.url}/compare?model=toy&text=One+two&versus=One+three")
    pupil = new_pupil().join(teacher.code)
    expect(pupil.title).to_have_text("One two / One three")
    names = pupil.page.locator("#view .matrix .name")
    wanted = ["The first sentence", "The second sentence", "The second sentence minus the first sentence"]
    expect(names).to_have_text([*wanted, "The largest difference in each head"])
    teacher.press("Ask")
    expect(pupil.question.get_by_role("button")).to_have_text(["more", "less", "the same"])
    expect(names).to_have_text(wanted[:1])
    pupil.answer(2)
    teacher.press("Show the answers")
    expect(pupil.question.locator("tr.right")).to_have_count(1)
    expect(names).to_have_count(4)


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
    even = f"{100 / len(row):.1f}%"
    expect(shares).to_have_text([even] * len(row))
    for slider in sliders.all()[1:]:
        slider.fill("0")
    sliders.first.fill("60")
    sliders.nth(1).fill("20")
    given = ["75%", "25%"] + ["0%"] * (len(row) - 2)
    expect(shares).to_have_text(given)
    expect(pupil.question.locator(".truth")).to_have_count(0)
    expect_no_barrier(pupil.tab, "shares")
    pupil.question.get_by_role("button", name="Send").click()
    expect(pupil.question).to_contain_text("Sent.")
    expect(pupil.question.get_by_role("button", name="Sent ✓")).to_be_visible()
    expect(shares).to_have_text(given)
    expect(teacher.bar).to_contain_text("1 of 2 answered")
    expect(pupil.question).not_to_contain_text("Not this time.")
    teacher.press("Show the answers")
    for each in (pupil, silent):
        expect(each.question.locator(".truth")).to_have_text(true)
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
        assert rows == ["right 0", "close 0", "further off 1"]


def test_a_ready_question_is_asked_and_what_most_got_wrong_is_explained(new_teacher, new_pupil):
    teacher = new_teacher(step="softmax")
    pupils = [
        new_pupil().join(teacher.code),
        new_pupil(viewport=PHONE).join(teacher.code),
        new_pupil().join(teacher.code),
    ]
    for pupil in pupils:
        expect(pupil.page.locator("#view .matrix")).not_to_have_count(0)
    teacher.ask("A text twice as long")
    for pupil, answer in zip(pupils, (1, 1, 2), strict=True):
        expect(pupil.question.get_by_role("button")).to_have_count(4)
        # Here, the picture tells nothing.
        expect(pupil.page.locator("#view .matrix")).not_to_have_count(0)
        pupil.answer(answer)
    expect(teacher.bar).to_contain_text("3 of 3 answered")
    expect(pupils[0].question).not_to_contain_text("four times as many")
    teacher.press("Show the answers")
    why = re.compile(r"Commonest wrong answer: “98” \(2\)\s*There are twice as many queries; but each of them")
    for place in (*(pupil.question for pupil in pupils), teacher.bar):
        expect(place.locator("tr.right th")).to_have_text("196")
        expect(place).to_contain_text("four times as many")
        expect(place).to_contain_text(why)
    teacher.press("Next")
    # What is asked next belongs to the view again, unless something else is chosen.
    expect(teacher.bar.get_by_role("combobox")).to_have_value("")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_that_would_tell_the_answer_waits_for_it(new_teacher, new_pupil, scheme):
    teacher = new_teacher(step="softmax")
    pupil = new_pupil(viewport=PHONE, color_scheme=scheme).join(teacher.code)
    expect(pupil.page.locator("#view .matrix svg").first).to_be_visible()
    expect_no_barrier(teacher.tab, "teacher, nothing asked")
    teacher.ask("Does a token attend to itself most?")
    expect(pupil.question.get_by_role("button")).to_have_count(4)
    expect(pupil.title).to_have_text(SENTENCE)
    expect(pupil.page.locator("#view")).to_have_text("What is to be seen here comes back with the answer.")
    expect_no_barrier(pupil.tab, "hidden")
    pupil.answer(0)
    # The one that was pressed is under the pointer still.
    expect(pupil.question.get_by_role("button", pressed=True)).to_have_css("background-color", "rgb(0, 114, 178)")
    expect_no_barrier(pupil.tab, "answered")
    teacher.press("Show the answers")
    expect(pupil.page.locator("#view .matrix svg").first).to_be_visible()
    expect(pupil.question).to_contain_text("Commonest wrong answer: “all of them” (1)")
    expect_no_barrier(pupil.tab, "told")
    assert pupil.page.evaluate("() => document.scrollingElement.scrollWidth - innerWidth") <= 0
    expect_no_barrier(teacher.tab, "teacher")


def test_the_questions_are_those_that_fit_and_a_list_stays_open(new_teacher, new_pupil):
    teacher = new_teacher(step="softmax")
    choice = teacher.bar.get_by_role("combobox", name="What to ask")
    expect(choice.get_by_role("option", name="What adds up to 1?")).to_be_attached()
    # The sentence has no word twice.
    expect(choice.get_by_role("option", name="Two equal words, two vectors?")).not_to_be_attached()
    choice.select_option("What adds up to 1?")
    choice.focus()
    same = choice.element_handle()
    new_pupil().join(teacher.code)
    teacher.expect_here(1)
    # What is heard meanwhile leaves the list alone.
    assert choice.evaluate("(element, same) => element === same && element.matches(':focus')", same)
    teacher.tab.go(model="toy", text="the cat and the mat", step="softmax")
    expect(choice.get_by_role("option", name="Two equal words, two vectors?")).to_be_attached()


def test_who_reloads_keeps_an_answer_and_who_was_offline_catches_up(cable, new_teacher, new_pupil, new_tab):
    teacher = new_teacher(step="scale")
    pupil, away = new_pupil().join(teacher.code), Pupil(new_tab(cable, locale="en-GB")).join(teacher.code)
    away.expect_step(5)
    teacher.press("Ask")
    pupil.answer(3)
    pupil.page.reload()
    expect(pupil.question.get_by_role("button", pressed=True)).to_have_count(1)
    expect(pupil.question.get_by_role("button").nth(3)).to_have_attribute("aria-pressed", "true")
    expect(away.question).to_be_visible()
    cable.cut()
    # What is answered now arrives when there is a line again, and counts then: unless the question is over.
    away.question.get_by_role("button").nth(1).click()
    expect(away.question).to_contain_text("The server cannot be reached")
    teacher.press("Show the answers")
    teacher.press("Next")
    teacher.tab.page.get_by_role("button", name="Next: Mask").click()
    pupil.expect_step(6)
    cable.mend()
    away.expect_step(6)
    expect(away.question).to_be_hidden()
    away.tab.errors.clear()  # the browser counts a connection that is lost


def test_a_whole_lesson_with_all_that_happens_to_pupils(cable, new_teacher, new_pupil, new_tab):
    teacher = new_teacher(step="scale")
    away = Pupil(new_tab(cable, locale="en-GB")).join(teacher.code)
    phone = new_pupil(viewport=PHONE).join_by_hand(teacher.code)
    curious = new_pupil().join(teacher.code)
    for pupil in (away, phone, curious):
        pupil.expect_step(5)
    teacher.expect_here(3)
    # One looks around alone, and comes back to a question that was asked meanwhile.
    curious.alone.click()
    curious.tab.settled().expect_query(model="toy", text=SENTENCE, step="scale")
    curious.tab.page.get_by_role("button", name="Next: Mask").click()
    curious.tab.expect_query(model="toy", text=SENTENCE, step="mask")
    cable.cut()
    offline = time.monotonic()
    expect(away.status).to_contain_text("The connection is lost")
    teacher.press("Ask")
    phone.answer(2)
    phone.page.reload()
    expect(phone.question.get_by_role("button").nth(2)).to_have_attribute("aria-pressed", "true")
    curious.page.get_by_role("link", name="Back to the class").click()
    curious.answer(0)
    # One comes late, and is as far as all the others.
    late = new_pupil().join(teacher.code)
    late.answer(1)
    teacher.press("Show the answers")
    teacher.press("Next")
    # The lesson goes on for ten seconds and more while one is offline.
    at = 5
    while at < 9 and (at < 8 or time.monotonic() < offline + 10):
        at += 1
        teacher.next()
        for pupil in (phone, curious, late):
            pupil.expect_step(at)
    until(lambda: time.monotonic() > offline + 10)
    away.expect_step(5)
    cable.mend()
    away.expect_step(at)
    expect(away.status).to_have_text("")
    expect(away.question).to_be_hidden()
    teacher.expect_here(4)
    # What is asked next, all four answer.
    teacher.ask("What adds up to 1?")
    for pupil in (away, phone, curious, late):
        pupil.answer(0)
    teacher.press("Show the answers")
    for pupil in (away, phone, curious, late):
        expect(pupil.question.locator("tr.right")).not_to_have_count(0)
        assert sum(int(each) for each in pupil.question.locator(".count").all_inner_texts()) == 4
        expect_no_barrier(pupil.tab, "told")
    away.tab.errors.clear()  # the browser counts a connection that is lost


def test_the_notes_of_a_lesson_lead_from_view_to_view(new_teacher, new_pupil):
    teacher = new_teacher()
    pupil = new_pupil().join(teacher.code)
    pupil.expect_step(4)
    teacher.press("Notes")
    plan = teacher.bar.get_by_role("combobox", name="Lesson plan")
    plan.select_option("20 minutes")
    expect(teacher.bar).to_contain_text("0 of 20 min")
    expect(teacher.bar).to_contain_text("1 of 7, 3 min")
    # Who comes and goes leaves the list alone that is open.
    plan.focus()
    same = plan.element_handle()
    new_pupil().join(teacher.code)
    teacher.expect_here(2)
    assert plan.evaluate("(element, same) => element === same && element.matches(':focus')", same)
    teacher.press("Show this view")
    pupil.expect_step(7)
    expect(pupil.title).to_contain_text("The animal didn't cross")
    teacher.press("Next view")
    pupil.expect_step(1)
    # Another page is loaded, and the notes are where they were.
    expect(teacher.bar.get_by_role("heading", name="A model does not read words")).to_be_visible()
    expect(teacher.bar).to_contain_text("2 of 7, 2 min")
    teacher.press("Back")
    pupil.expect_step(7)
    teacher.tab.settled()
    teacher.expect_uncovered()
    expect_no_barrier(teacher.tab, "notes")
    teacher.press("Notes")
    expect(teacher.bar).not_to_contain_text("1 of 7")


def test_the_page_for_a_class_says_how_and_opens_every_view_of_a_plan(new_tab, school):
    tab = new_tab(school, locale="en-GB").go("classroom")
    expect(tab.page.get_by_role("heading", name="A room for your class")).to_be_visible()
    expect(tab.page.get_by_role("link", name="the page for pupils")).to_have_attribute("href", re.compile("room$"))
    tab.pick("Length", "45 minutes")
    expect(tab.page.get_by_text("Minute 41 to 45")).to_be_visible()
    expect_no_barrier(tab, "classroom")
    tab.page.get_by_role("button", name="Open this view").or_(tab.page.get_by_role("link", name="Open this view")).nth(
        2
    ).click()
    tab.expect_query(model="toy", text="The cat sat on the mat", step="qkv", word="2")
    # From there, a room shows what the plan does.
    teacher = Teacher(tab).open_here()
    teacher.expect_uncovered()


@pytest.mark.parametrize("size", [{"width": 1280, "height": 720}, PHONE], ids=["projector", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_open_question_covers_the_only_screen(new_tab, new_pupil, school, size, scheme):
    tab = new_tab(school, locale="en-GB", viewport=size, color_scheme=scheme)
    teacher = Teacher(tab).open(step="scale")
    teacher.expect_uncovered()
    new_pupil().join(teacher.code).expect_step(5)
    expect_no_barrier(tab, "idle")
    teacher.press("Ask")
    expect(teacher.bar.get_by_role("list", name="Possible answers").get_by_role("listitem")).to_have_count(4)
    teacher.expect_covered()
    expect_no_barrier(tab, "asked")
    # A second press of the same key presses nothing, and no key leads to another view.
    tab.page.keyboard.press("Enter")
    for key in ("ArrowRight", "p"):
        tab.page.keyboard.press(key)
    teacher.expect_covered()
    expect(teacher.bar.get_by_role("button", name="Show the answers")).to_be_visible()
    assert tab.query()["step"] == "scale"
    assert "present" not in tab.query()
    # Where nobody else sees it, there is the page, and what has been answered until now.
    teacher.bar.get_by_label("Only I see this screen").check()
    teacher.expect_uncovered()
    teacher.bar.get_by_text("Answers until now").click()
    expect(teacher.bar.get_by_role("row")).to_have_count(4)
    expect_no_barrier(tab, "private")
    teacher.bar.get_by_label("Only I see this screen").uncheck()
    expect(teacher.bar.get_by_role("row")).to_have_count(0)
    teacher.expect_covered()
    # The key of a remote shows the answers, and then what they are about.
    tab.page.keyboard.press("PageDown")
    expect(teacher.bar.get_by_role("row")).to_have_count(4)
    teacher.expect_covered()
    expect_no_barrier(tab, "told")
    assert teacher.bar.evaluate("bar => bar.scrollWidth - bar.clientWidth") <= 0
    tab.page.keyboard.press("PageDown")
    teacher.expect_uncovered()
    expect(teacher.bar.get_by_role("button", name="Ask", exact=True)).to_be_visible()


def test_present_is_no_other_view_and_keeps_the_question(new_teacher, new_pupil):
    teacher = new_teacher(step="scale")
    pupil = new_pupil().join(teacher.code)
    pupil.expect_step(5)
    teacher.press("Ask")
    pupil.answer(3)
    teacher.press("Show the answers")
    teacher.press("See the picture")
    teacher.tab.page.keyboard.press("p")
    teacher.tab.expect_query(model="toy", text=SENTENCE, step="scale", present="1")
    expect(teacher.bar.get_by_role("button", name="See the answers")).to_be_visible()
    foot = teacher.tab.page.locator(".st-key-stepper").bounding_box()
    assert foot["y"] + foot["height"] <= teacher.bar.bounding_box()["y"]
    expect(pupil.question.locator("tr.right")).not_to_have_count(0)
    teacher.press("Next")
    expect(pupil.question).to_be_hidden()
    # Then there are no controls, as Present has none.
    expect(teacher.bar).to_be_hidden()


def test_the_server_dies_in_the_middle_of_a_question(new_tab, tmp_path):
    port = free_port()

    @contextmanager
    def running(name):
        with serve(tmp_path / name, environment(tmp_path), port) as server:
            yield server

    with running("first") as server:
        teacher = Teacher(new_tab(server, locale="en-GB")).open(step="scale")
        pupil = Pupil(new_tab(server, locale="en-GB")).join(teacher.code)
        pupil.expect_step(5)
        teacher.press("Ask")
        pupil.answer(1)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    expect(pupil.page.get_by_role("status").first).to_contain_text("The connection is lost")
    with running("second"):
        expect(pupil.page.get_by_role("status").first).to_have_text("")
        expect(pupil.question.get_by_role("button").nth(1)).to_have_attribute("aria-pressed", "true")
        pupil.answer(2)
        expect(teacher.bar).to_contain_text("1 of 1 answered", timeout=40_000)
        teacher.press("Show the answers")
        expect(pupil.question.locator("tr.right")).not_to_have_count(0)
        assert [int(each) for each in pupil.question.locator(".count").all_inner_texts()] == [0, 0, 1, 0]
        teacher.tab.errors.clear()  # the browser counts a connection that is lost
        pupil.tab.errors.clear()


def test_only_the_teacher_can_do_what_the_teacher_does(new_teacher, new_pupil):
    teacher = new_teacher()
    pupil = new_pupil().join(teacher.code)
    pupil.expect_step(4)
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


def test_what_is_typed_is_text_on_every_screen(new_teacher, new_pupil):
    teacher = new_teacher(text=HOSTILE, step="tokens")
    pupil = new_pupil().join(teacher.code)
    expect(pupil.title).to_have_text(HOSTILE)
    teacher.press("Ask")
    expect(pupil.question).to_be_visible()
    assert pupil.page.locator("img, script:not([type]):not([src])").count() == 0


@pytest.mark.parametrize("size", [{"width": 1280, "height": 720}, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_a_screen(new_teacher, new_pupil, size, scheme):
    teacher = new_teacher(step="scale")
    pupil = new_pupil(viewport=size, color_scheme=scheme).join(teacher.code)
    pupil.expect_step(5)
    expect(pupil.page.locator("#view .matrix svg").first).to_be_visible()
    for name in ("", "Ask", "Show the answers"):
        if name:
            teacher.press(name)
            expect(pupil.question.get_by_role("button" if name == "Ask" else "row").first).to_be_visible()
        expect_no_barrier(pupil.tab, name)
        assert pupil.page.evaluate("() => document.scrollingElement.scrollWidth - innerWidth") <= 0
    expect_no_barrier(teacher.tab, "teacher")


def test_a_first_visit_is_light_and_asks_nobody_else(new_teacher, new_pupil):
    teacher = new_teacher()
    pupil = new_pupil()
    session = pupil.page.context.new_cdp_session(pupil.page)
    sizes = []
    session.on("Network.dataReceived", lambda event: sizes.append(event["encodedDataLength"]))
    # What the stream brings is not among these sizes (see test_rooms.py); it comes compressed too.
    packed = []
    session.on(
        "Network.responseReceived",
        lambda event: packed.append({name.lower(): value for name, value in event["response"]["headers"].items()}),
    )
    session.send("Network.enable")
    pupil.join(teacher.code)
    expect(pupil.page.locator("#view .matrix svg").first).to_be_visible()
    assert 10_000 < sum(sizes) <= 60_000
    (stream,) = (each for each in packed if each["content-type"].startswith("text/event-stream"))
    assert stream["content-encoding"] == "gzip"
    assert pupil.tab.foreign_requests() == []
    assert not [url for url in pupil.tab.requests if "/static/" in url or "_stcore" in url]


def test_a_screen_on_the_wall_is_not_counted_and_answers_nothing(new_teacher, new_pupil):
    teacher = new_teacher(step="scale")
    wall = new_pupil()
    wall.page.goto(f"{wall.tab.url}/room?code={teacher.code}&screen=1")
    wall.expect_step(5)
    expect(wall.page.get_by_role("link", name="Open it myself")).to_be_hidden()
    new_pupil().join(teacher.code)
    teacher.expect_here(1)
    expect(wall.page.locator("#where")).to_have_text(re.compile(r"^127\.0\.0\.1:\d+/room$"))
    teacher.press("Ask")
    expect(wall.question).to_be_visible()
    # The class sees that screen, so that the teacher's own stays as it is, with what is for the teacher alone.
    expect(teacher.bar).to_contain_text("Answers until now: for you alone")
    expect(teacher.tab.page.locator("#root")).not_to_have_attribute("inert", ANYTHING)
    expect(teacher.bar.get_by_label("Only I see this screen")).to_have_count(0)
    wall.page.close()
    expect(teacher.tab.page.locator("#root")).to_have_attribute("inert", "")
    teacher.expect_covered()


def test_the_bar_leads_to_the_view_as_a_worksheet(new_teacher):
    teacher = new_teacher()
    teacher.tab.to_step("Softmax")
    with teacher.tab.page.context.expect_page() as pages:
        teacher.bar.get_by_role("link", name="Worksheet").click()
    expect(pages.value.get_by_role("heading", level=1)).to_have_text("Worksheet: Turn scores into weights")
    expect(pages.value.locator(".text")).to_have_text(SENTENCE)
    pages.value.close()


def test_a_code_that_does_not_exist_is_said_so(new_pupil):
    pupil = new_pupil().join("BBBBBB")
    expect(pupil.page.get_by_text("There is no room with this code.")).to_be_visible()
    pupil.tab.errors.clear()  # the browser counts what is refused
    pupil.join_by_hand("nonsense!")
    expect(pupil.page.get_by_text("This is no code of a room")).to_be_visible()


def test_an_ended_room_says_so(new_teacher, new_pupil):
    teacher = new_teacher()
    pupil = new_pupil().join(teacher.code)
    pupil.expect_step(4)
    teacher.tab.page.on("dialog", lambda dialog: dialog.accept())
    teacher.press("End the class")
    expect(pupil.page.get_by_text("The class is over.")).to_be_visible()
    expect(teacher.bar).to_be_hidden()


def test_the_controls_stay_in_sight_however_much_is_open(new_teacher, new_pupil):
    teacher = new_teacher()
    page = teacher.tab.page
    page.set_viewport_size({"width": 1280, "height": 720})
    teacher.press("On their own")
    new_pupil().join(teacher.code)
    teacher.expect_here(1)
    teacher.bar.get_by_role("button", name="Notes").click()
    teacher.bar.get_by_role("combobox", name="Lesson plan").select_option(index=1)
    teacher.bar.get_by_role("button", name="Show this view").click()
    plan = teacher.bar.get_by_role("combobox", name="Lesson plan")
    for each in (plan, teacher.bar.locator(".clock"), teacher.bar.get_by_role("button", name="End the class")):
        expect(each).to_be_in_viewport(ratio=1)
    # What is longer than its place is scrolled there, and never pushes the controls out of the bar.
    teacher.bar.evaluate("bar => bar.querySelector('.notes > .words').append('… '.repeat(20_000))")
    for each in (plan, teacher.bar.get_by_role("button", name="End the class")):
        expect(each).to_be_in_viewport(ratio=1)
        box, bar = each.bounding_box(), teacher.bar.bounding_box()
        assert bar["y"] <= box["y"]
        assert box["y"] + box["height"] <= bar["y"] + bar["height"]


def test_a_pupil_who_looks_around_alone_is_told_that_the_teacher_asks(new_teacher, new_pupil):
    teacher = new_teacher(step="softmax")
    pupil = new_pupil().join(teacher.code)
    pupil.alone.click()
    bar = pupil.page.get_by_role("region", name="Class")
    expect(bar.get_by_role("link", name="Back to the class")).to_be_visible()
    expect(bar).not_to_contain_text("Your teacher asks something")
    teacher.press("Ask")
    expect(bar).to_contain_text("Your teacher asks something", timeout=25_000)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_about_classes_opens_a_room_that_begins_with_the_steps(new_teacher, new_pupil, width):
    teacher = new_teacher()
    page = teacher.tab.page
    page.on("dialog", lambda dialog: dialog.accept())
    teacher.press("End the class")
    expect(teacher.bar).to_be_hidden()
    page.set_viewport_size({"width": width, "height": 800})
    teacher.tab.go("classroom", model="toy", text=SENTENCE)
    expect_no_barrier(teacher.tab, "classroom")
    teacher.open_in_sight()
    pupil = new_pupil().join(teacher.code)
    expect(pupil.page.locator("body")).to_contain_text(SENTENCE)
    pupil.expect_step(1)
    # While a room is open, the same button says what it does now.
    main = page.locator("#root")
    main.get_by_role("button", name="Show the code to the class").click()
    expect(page.locator(".letters")).to_have_text(teacher.code)
    page.get_by_role("button", name="Close").click()
    # From there, the plan leads on.
    page.get_by_role("link", name="Open this view ▸").first.click()
    teacher.tab.settled()
    expect(pupil.page.locator("body")).not_to_contain_text(SENTENCE)
    menu = page.get_by_role("button", name="More", exact=True)
    menu.click()
    expect(main.get_by_role("button", name="Show the code to the class")).to_be_visible()
    menu.click()
    teacher.press("End the class")
    menu.click()
    expect(main.get_by_role("button", name="Open a room for a class")).to_be_visible()


def test_who_ends_a_class_looks_for_no_more_questions(new_teacher):
    teacher = new_teacher()
    page = teacher.tab.page
    page.on("dialog", lambda dialog: dialog.accept())
    # The answer does not come.
    page.route("**/questions", lambda route: None)
    with page.expect_request("**/questions") as looked_for:
        teacher.next()
    with page.expect_event("requestfailed", lambda request: request == looked_for.value):
        teacher.press("End the class")
    expect(teacher.bar).to_be_hidden()


def test_where_there_is_no_worksheet_no_way_leads_to_one(new_teacher):
    teacher = new_teacher()
    way = teacher.bar.get_by_role("link", name="Worksheet")
    expect(way).to_be_visible()
    teacher.tab.page.goto(f"{teacher.tab.url}/models")
    expect(teacher.bar).to_contain_text("End the class")
    expect(way).to_have_count(0)
    # Nor does a class follow it there, which the bar says.
    expect(teacher.bar).to_contain_text("A class can follow")
