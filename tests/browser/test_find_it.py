"""Things to find: a teacher sets one, pupils hand in what they see, and somebody alone brings it to a page."""

import re
import signal
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.looks import expect_no_barrier, expect_to_fit
from tests.browser.server import serve
from tests.browser.test_class import PHONE, Pupil, Teacher, environment
from tests.ports import free_port

TEXT = "The old baker opened the small shop before sunrise"
# Of BERT, which is the model of a link that names none.
AT_PREVIOUS = {"layer": "1", "head": "3", "text": TEXT}
# A machine that is busy with other tests takes its time to load a model.
LONG = 120_000


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    folder = tmp_path_factory.mktemp("school")
    with serve(folder / "log", environment(folder)) as server:
        yield server


class Setter(Teacher):
    """A tab in which a room is opened, and something is to be found."""

    def set(self, title):
        self.bar.get_by_role("group", name="What the class does").get_by_role("button", name="Find it").click()
        choice = self.bar.get_by_role("combobox", name="What to find")
        expect(choice.get_by_role("option", name=title)).to_be_attached()
        choice.select_option(title)
        self.press("Set this task")


@pytest.fixture
def teacher(new_tab, school):
    return Setter(new_tab(school, locale="en-GB")).open(model="minilm-l6", layer="2", head="5")


@pytest.fixture
def new_pupil(new_tab, school, teacher):
    return lambda **options: Finder(new_tab(school, **{"locale": "en-GB", **options})).join(teacher.code)


class Finder(Pupil):
    """A tab that follows a room in which something is to be found."""

    def __init__(self, tab):
        super().__init__(tab)
        self.task = tab.page.get_by_role("region", name="Find it")
        self.bar = tab.page.get_by_role("region", name="Class")

    def look(self, page, **query):
        """Look at a view of the app, as the pupil has come to it in some way."""
        self.page.goto(f"{self.tab.url}/{page}?{urlencode(query)}")
        self.tab.settled()
        return self

    def hand_in(self):
        press = self.bar.get_by_role("button", name="Hand in this view")
        expect(press).to_be_visible(timeout=LONG)
        press.click()
        return expect(self.bar.get_by_role("status"))

    def paste(self, link):
        self.task.get_by_role("textbox", name="Address of a view").fill(link)
        self.task.get_by_role("button", name="Hand in").click()
        return expect(self.task.get_by_role("status"))


def test_a_pupil_hands_in_a_wrong_and_then_a_right_view(teacher, new_pupil):
    pupil, other = new_pupil(), new_pupil(viewport=PHONE)
    teacher.set("Previous token")
    expect(other.task).to_contain_text("more than 0.50 of a head's weight")
    pupil.task.get_by_role("link", name="Look for it in the app").click()
    pupil.tab.expect_query(model="minilm-l6", text="The old baker opened the small shop before the sun rose")
    pupil.hand_in().to_contain_text("Not yet. Score: 0.", timeout=LONG)
    expect(teacher.bar).to_contain_text("1 handed in, 0 found it")
    # The class sees this screen: it says what is to be found, and not what others have found.
    teacher.expect_covered()
    expect(teacher.bar).to_contain_text("more than 0.50 of a head's weight")
    expect(teacher.bar).not_to_contain_text("The best until now")
    pupil.look("all_heads", **AT_PREVIOUS).hand_in().to_contain_text("Found it. Score: 0.9", timeout=LONG)
    expect(pupil.bar.get_by_role("status")).to_contain_text("Layer 1, head 3 of BERT")
    expect(teacher.bar).to_contain_text("1 handed in, 1 found it")
    expect(other.task).not_to_contain_text("Layer 1")
    pupil.bar.get_by_role("link", name="Back to the class").click()
    expect(pupil.task.get_by_role("status")).to_contain_text("Your best: Found it.")
    expect_no_barrier(pupil.tab, "task")
    teacher.press("Show the best")
    expect(other.task.get_by_role("listitem")).to_have_count(1)
    expect(other.task.get_by_role("listitem")).to_contain_text("Layer 1, head 3 of BERT")
    expect(other.task.get_by_role("button")).to_have_count(0)
    other.task.get_by_role("link", name="Open this view").click()
    other.tab.settled().expect_query(**AT_PREVIOUS)
    teacher.press("End the task")
    expect(pupil.task).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_a_task_and_its_verdicts(teacher, new_pupil, scheme):
    pupil = new_pupil(viewport=PHONE, color_scheme=scheme)
    teacher.set("“It” changes its mind")
    expect(pupil.task).to_be_visible()
    pupil.paste("https://example.org/compare?text=One").to_contain_text("another site")
    pupil.paste("nonsense").to_contain_text("no link of this app")
    pupil.paste("/all_heads?model=nothing").to_contain_text("is not here")
    pupil.tab.errors.clear()  # the browser counts what is refused
    words = {
        "text": "The animal didn't cross the street because it was too tired",
        "versus": "The animal didn't cross the street because it was too wide",
    }
    link = f"compare?{urlencode({'model': 'minilm-l6', 'layer': 4, 'head': 11, **words})}"
    pupil.paste(link).to_contain_text("Found it. Score: 0.02", timeout=LONG)
    expect_no_barrier(pupil.tab, "verdict")
    assert pupil.page.evaluate("() => document.scrollingElement.scrollWidth - innerWidth") <= 0
    expect_no_barrier(teacher.tab, "covered")
    teacher.press("See the picture")
    teacher.bar.get_by_text("The best until now").click()
    expect(teacher.bar.get_by_role("listitem")).to_contain_text("too tired")
    expect_no_barrier(teacher.tab, "best")
    pupil.look("compare", model="minilm-l6", layer="4", head="12", **words)
    pupil.hand_in().to_contain_text("Not yet", timeout=LONG)
    expect(pupil.bar).to_contain_text("Your best: 0.02")
    expect_no_barrier(pupil.tab, "bar")
    teacher.press("Show the best")
    teacher.expect_covered()
    expect(teacher.bar.get_by_role("listitem")).to_contain_text("too tired")


def test_a_verdict_goes_with_its_view(teacher, new_pupil):
    pupil = new_pupil()
    teacher.set("Previous token")
    expect(pupil.task).to_be_visible()
    pupil.look("all_heads", **AT_PREVIOUS).hand_in().to_contain_text("Found it", timeout=LONG)
    pupil.tab.select("Head", "5 of 12")
    expect(pupil.bar.get_by_role("status")).to_be_empty()
    expect(pupil.bar).to_contain_text("Your best: 0.9")


def test_what_was_found_outlives_the_server(new_tab, tmp_path):
    port = free_port()

    @contextmanager
    def running(name):
        with serve(tmp_path / name, environment(tmp_path), port) as server:
            yield server

    with running("first") as server:
        teacher = Setter(new_tab(server, locale="en-GB")).open(model="minilm-l6")
        pupil = Finder(new_tab(server, locale="en-GB")).join(teacher.code)
        teacher.set("Previous token")
        pupil.paste(f"all_heads?{urlencode(AT_PREVIOUS)}").to_contain_text("Found it", timeout=LONG)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    expect(pupil.page.get_by_role("status").first).to_contain_text("The connection is lost")
    with running("second"):
        expect(teacher.bar).to_contain_text("1 handed in, 1 found it", timeout=LONG)
        pupil.page.reload()
        expect(pupil.task.get_by_role("status")).to_contain_text("Your best: Found it.")
        teacher.press("Show the best")
        expect(pupil.task.get_by_role("listitem")).to_have_count(1)
        for tab in (teacher.tab, pupil.tab):
            # What is still open when the server ends for good misses it.
            tab.page.goto("about:blank")
            tab.errors.clear()  # the browser counts a connection that is lost


def test_alone_one_brings_a_view_to_the_page(tab):
    tab.go("all_heads", **{**AT_PREVIOUS, "head": "5"})
    tab.to_page("Find it").settled()
    expect(tab.page.get_by_text("Not yet. Score: 0.")).to_be_visible(timeout=LONG)
    expect(tab.page.get_by_text("Layer 1, head 5 of BERT")).to_be_visible()
    expect_no_barrier(tab, "page")
    expect_to_fit(tab)
    tab.page.get_by_role("link", name="With your sentence: All heads").click()
    tab.settled().expect_query(**{**AT_PREVIOUS, "head": "5"})
    tab.select("Head", "3 of 12").expect_query(**AT_PREVIOUS)
    tab.to_page("Find it")
    expect(tab.page.get_by_text(re.compile(r"Found it\. Score: 0\.9"))).to_be_visible(timeout=LONG)
