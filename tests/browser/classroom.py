"""A class's members, and what they do in their windows."""

import re
from urllib.parse import urlencode

from playwright.sync_api import expect

from tests.browser.looks import expect_no_barrier

SENTENCE = "Two grey geese crossed the frozen pond"
CODE = re.compile("[BCDFGHJKMNPRSTVWXZ]{6}")
PROJECTOR, PHONE, WALL = {"width": 1280, "height": 720}, {"width": 390, "height": 844}, {"width": 1920, "height": 1080}
# Two pairs of size and theme, and the other two: states that alternate see all combinations.
STRAIGHT = ((PHONE, "dark"), (PROJECTOR, "light"))
CROSSED = ((PHONE, "light"), (PROJECTOR, "dark"))
# Not empty: Playwright matches no value with an empty pattern.
ANYTHING = re.compile("^")
# How long a busy machine may take to draw ten questions, and to load a model.
PATIENCE, LONG = 30_000, 120_000


class Teacher:
    """A tab with an open room."""

    def __init__(self, tab):
        self.tab = tab
        self.code = ""
        self.bar = tab.page.get_by_role("region", name="Class", exact=True)
        self.trouble = self.bar.get_by_role("alert")
        # What comes next in the lesson plan.
        self.plan = self.bar.locator("button.plan")
        self.privacy = self.bar.get_by_label("Only I see this screen")

    def open(self, **query):
        self.tab.go(**{"model": "toy", "text": SENTENCE, "step": "scores", **query})
        return self.open_here()

    def open_here(self):
        self.tab.page.get_by_role("button", name="Share", exact=True).click()
        return self.open_in_sight()

    def open_in_sight(self):
        page = self.tab.page
        page.get_by_role("button", name="Open a room for a class").click()
        letters = page.locator(".letters")
        expect(letters).to_have_text(CODE)
        # Not the code of an earlier room.
        expect(letters).not_to_have_text(self.code)
        self.code = letters.inner_text()
        picture = page.get_by_role("img", name="QR code of the address")
        expect(picture).to_be_visible()
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
        page.get_by_role("button", name="Close").click()
        return self

    def press(self, name):
        self.bar.get_by_role("button", name=name, exact=True).click()

    def press_plan(self):
        """Press the button that says what comes next in the plan."""
        self.plan.click()

    def press_remote(self):
        """Press the key of a presenter's remote, a little long, once there is something to come."""
        expect(self.plan).to_be_visible()
        for _ in range(2):
            self.tab.page.keyboard.down("PageDown")
        self.tab.page.keyboard.up("PageDown")

    def end(self):
        self.press("End the class")
        self.tab.page.get_by_role("dialog", name="End the class").get_by_role("button", name="End the class").click()

    def next(self):
        self.tab.page.get_by_role("button", name=re.compile("^Next: ")).click()

    def ask(self, title):
        """Ask a ready question."""
        choice = self.bar.get_by_role("combobox", name="What to ask")
        expect(choice.get_by_role("option", name=title)).to_be_attached()
        choice.select_option(title)
        self.press("Ask")

    def start(self, *, asks_nickname=False):
        """Start ten questions for each pupil."""
        self.press("On their own")
        if asks_nickname:
            self.bar.get_by_label("Ask for nicknames").check()
        self.press("Start")

    def expect_covered(self):
        """The page beneath can be neither seen nor reached."""
        expect(self.tab.page.locator("#root")).to_have_attribute("inert", "")
        size = self.tab.page.viewport_size
        box = self.bar.bounding_box()
        assert box == {"x": 0, "y": 0, **size}
        assert self.bar.evaluate(
            "bar => [1, bar.clientWidth - 2].every(x => [1, bar.clientHeight - 2].every("
            "y => bar.getRootNode().elementFromPoint(x, y) === bar))"
        )

    def expect_uncovered(self):
        """The page is visible, and ends where the bar begins."""
        expect(self.tab.page.locator("#root")).not_to_have_attribute("inert", ANYTHING)
        self.bar.evaluate("""async bar => {
          const frame = () => new Promise(requestAnimationFrame);
          const bottom = () => document.querySelector(".stApp").getBoundingClientRect().bottom;
          const top = () => bar.getBoundingClientRect().top;
          while (!top() || Math.abs(top() - bottom()) > 0.01) await frame();
        }""")

    def look(self, how, size, *, is_covered=False):
        """Check page and bar at a window size: everything is legible, and nothing overflows."""
        self.tab.page.set_viewport_size(size)
        if is_covered:
            self.expect_covered()
        else:
            self.expect_uncovered()
        assert self.bar.evaluate("bar => bar.scrollWidth - bar.clientWidth") <= 0
        expect_no_barrier(self.tab, f"{how}, {size['width']} px")

    def expect_here(self, n):
        expect(self.bar).to_contain_text(f"{n} {'is' if n == 1 else 'are'} here")


class Pupil:
    """A tab that follows a room."""

    def __init__(self, tab):
        self.tab, self.page = tab, tab.page
        self.heading = tab.page.locator("#view h2").first
        self.question = tab.page.get_by_role("region", name="Question", exact=True)
        self.title = tab.page.locator("#title")
        self.status = tab.page.get_by_role("status").first
        self.said = self.question.locator(".said")
        self.alone = tab.page.get_by_role("link", name="Open it myself")

    def join(self, code):
        self.page.goto(f"{self.tab.url}/room?code={code}")
        return self

    def join_by_hand(self, code):
        self.page.goto(f"{self.tab.url}/room")
        self.page.get_by_label("The six letters").fill(code)
        self.page.keyboard.press("Enter")
        return self

    def expect_step(self, number):
        expect(self.heading).to_have_text(re.compile(rf"^{number}\."))

    def answer(self, index):
        """Press an answer, and wait until the server has it."""
        button = self.question.get_by_role("button").nth(index)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(self.question.get_by_role("button", pressed=True)).to_have_count(1)
        expect(self.said).not_to_be_empty()

    def look(self, how, looks=STRAIGHT):
        """Check the page in several windows and themes: everything is legible, and nothing is wider than the window."""
        for size, scheme in looks:
            self.page.set_viewport_size(size)
            self.page.emulate_media(color_scheme=scheme)
            expect_no_barrier(self.tab, f"{how}, {size['width']} px, {scheme}")
            assert self.fits()

    def fits(self):
        """Whether nothing is wider than the window."""
        return self.page.evaluate("() => document.scrollingElement.scrollWidth - innerWidth") <= 0

    def counts(self):
        """The counts of the answers, once revealed."""
        return [int(each) for each in self.question.locator(".count").all_inner_texts()]

    def marked(self):
        """The answers revealed as right."""
        return self.question.locator("tr.right th").all_inner_texts()


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
        """Answer the current question; return whether that was right."""
        self.own.locator(".answers button").nth(index).click()
        # Only answered questions have a verdict.
        expect(self.verdict).to_be_visible(timeout=PATIENCE)
        return self.verdict.inner_text() == "Right."

    def go_on(self):
        self.own.locator("button.main").click()


class Setter(Teacher):
    """A tab with an open room and a task."""

    def set(self, title):
        self.bar.get_by_role("group", name="What the class does").get_by_role("button", name="Find it").click()
        choice = self.bar.get_by_role("combobox", name="Task")
        expect(choice.get_by_role("option", name=title)).to_be_attached()
        choice.select_option(title)
        self.press("Set this task")

    def expect_found(self, handed, found):
        """Expect these numbers of submissions and of solutions."""
        # The line begins with the attendance.
        expect(self.bar.locator(".here").nth(1)).to_have_text(re.compile(rf"^{handed}\D+{found}\D*$"), timeout=LONG)


class Finder(Pupil):
    """A tab that follows a room with a task."""

    def __init__(self, tab):
        super().__init__(tab)
        self.task = tab.page.get_by_role("region", name="Find it")
        self.verdict = self.task.locator(".verdict")
        self.solved = self.task.locator(".verdict.solved")
        self.bar = tab.page.get_by_role("region", name="Class", exact=True)

    def look_at(self, page, **query):
        """Go to a view of the app."""
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
