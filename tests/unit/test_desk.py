"""The protocol between a page and its browser, with a browser of a few lines: no choice may be lost, none made up."""

from itertools import combinations, product

import pytest

from attention.ui.desk import Desk, Offer

FIRST, LAST = "first", "last"


class Server:
    """A page with two widgets and a component, whose view is what was chosen last."""

    def __init__(self):
        self.view = {"model": "bert", "text": "cat", "steps": []}
        self.desk = Desk()
        self.answers = []

    def run(self, message, *, is_overtaken=False):
        """Take a message and draw the page, unless a newer message stops the run before all is taken."""
        heard = self.desk.hear(message, message[FIRST], message[LAST])
        if is_overtaken:
            return
        for choice in heard.choices:
            choice.apply()
        self.desk.commit(heard)
        number = self.desk.begin()
        said = [
            (key, self.view[key])
            for key in ("model", "text")
            if self.desk.offer(key, Offer(self.view[key], lambda value, key=key: self.view.update({key: value})))
        ]
        self.desk.offer("go", Offer(None, self.view["steps"].append, is_press=True))
        # In the order in which a browser draws it.
        self.answers.append([(FIRST, str(number)), *said, (LAST, str(number))])


class Browser:
    """What a browser shows, and says with every press."""

    def __init__(self, server):
        self.shown = {FIRST: "", LAST: ""}
        self.presses = 0
        self.server = server

    def draw(self, n_parts=None):
        """Draw so many parts of what has come, or all."""
        for answer in self.server.answers:
            while answer and n_parts != 0:
                key, value = answer.pop(0)
                self.shown[key] = value
                n_parts = None if n_parts is None else n_parts - 1

    def press(self, key, value):
        if key == "go":
            self.presses += 1
            value = {"value": value, "press": self.presses, "on": self.shown[LAST]}
        self.shown[key] = value
        return dict(self.shown)


def opened():
    server = Server()
    browser = Browser(server)
    server.run(dict(browser.shown))
    browser.draw()
    return server, browser


PRESSES = (("model", "toy"), ("model", "bert"), ("text", "dog"), ("text", "cat"), ("go", "scores"), ("go", "mask"))


def final(presses):
    """Return what a page must show in the end: of each widget what was chosen last, and the last step."""
    view = {"model": "bert", "text": "cat"} | {key: value for key, value in presses if key != "go"}
    steps = [value for key, value in presses if key == "go"]
    return view, steps[-1:]


def check(server, browser, presses):
    # A message comes after the last one that was overtaken; one more says nothing new.
    server.run(dict(browser.shown))
    browser.draw()
    before = {key: server.view[key] for key in ("model", "text")}, list(server.view["steps"])
    server.run(dict(browser.shown))
    assert ({key: server.view[key] for key in ("model", "text")}, server.view["steps"]) == before
    view, steps = final(presses)
    assert before[0] == view
    assert before[1][-1:] == steps


@pytest.mark.parametrize("n_presses", [2, 3])
def test_no_interleaving_of_presses_answers_and_overtaken_runs_loses_one(n_presses):
    n_cases = 0
    for presses in product(PRESSES, repeat=n_presses):
        for overtaken in product((False, True), repeat=n_presses - 1):
            for drawn in product((0, 4), repeat=n_presses - 1):
                server, browser = opened()
                made = []
                for (key, value), is_overtaken, n_parts in zip(presses, (*overtaken, False), (*drawn, 0), strict=True):
                    # A widget says nothing when what it shows is chosen once more.
                    if browser.shown.get(key) != value:
                        server.run(browser.press(key, value), is_overtaken=is_overtaken)
                        made.append((key, value))
                    browser.draw(n_parts)
                check(server, browser, made)
                n_cases += 1
    assert n_cases == 6**n_presses * 4 ** (n_presses - 1)


@pytest.mark.parametrize("n_parts", range(5))
@pytest.mark.parametrize("presses", list(product(PRESSES, repeat=2)))
def test_a_press_while_an_answer_is_being_drawn_counts(presses, n_parts):
    # What is chosen is the value that the other widget does not show, so that nothing is ambiguous.
    server, browser = opened()
    (first, second) = presses
    server.run(browser.press(*first))
    browser.draw(n_parts)
    server.run(browser.press(*second))
    check(server, browser, presses)


@pytest.mark.parametrize("n_parts", range(5))
@pytest.mark.parametrize("pressed", [("text", "mouse"), ("go", "mask")])
def test_a_change_that_another_widget_made_is_not_taken_for_a_choice_while_it_is_drawn(pressed, n_parts):
    server, browser = opened()
    server.run(browser.press("go", "scores"))
    browser.draw()
    # As an example, once pressed, changes the sentence.
    server.view["model"] = "toy"
    server.run(dict(browser.shown))
    server.view["model"] = "smol"
    server.run(dict(browser.shown))
    browser.draw(n_parts)
    server.run(browser.press(*pressed))
    assert server.view["model"] == "smol"
    assert pressed[1] in (server.view["text"], *server.view["steps"])


def test_a_message_that_comes_once_more_does_nothing():
    server, browser = opened()
    message = browser.press("go", "scores")
    server.run(message)
    server.run(message)
    assert server.view["steps"] == ["scores"]


def test_a_press_that_a_browser_remembers_from_long_ago_is_none():
    server, browser = opened()
    for _ in range(3):
        server.run(dict(browser.shown))
        browser.draw()
    server.run({**browser.shown, "go": {"value": "mask", "press": 7, "on": "1"}})
    assert server.view["steps"] == []
    server.run({**browser.shown, "go": {"value": "mask", "press": 8, "on": browser.shown[LAST]}})
    assert server.view["steps"] == ["mask"]


@pytest.mark.parametrize("hostile", [None, 5, "", "x", "-1", "9" * 400, "²", "1.0", ["1"], {"value": 1}, "0"])
def test_a_browser_may_say_any_number_of_a_page(hostile):
    for marks in ({FIRST: hostile}, {LAST: hostile}, {FIRST: hostile, LAST: hostile}):
        server, browser = opened()
        browser.press("text", "dog")
        server.run({**browser.shown, **marks, "go": hostile})
        server.run({**browser.shown, **marks, "go": {"value": hostile, "on": hostile}})
        assert server.view["model"] == "bert"


def test_what_is_remembered_of_a_browser_that_never_answers_is_bounded():
    server, browser = opened()
    for _ in range(500):
        server.run(dict(browser.shown))
    assert len(server.desk._shown) <= 65


def test_every_pair_of_keys_in_one_message_counts():
    for one, two in combinations((("model", "toy"), ("text", "dog"), ("go", "mask")), 2):
        server, browser = opened()
        browser.press(*one)
        server.run(browser.press(*two))
        check(server, browser, (one, two))
