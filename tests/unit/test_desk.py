"""The protocol between a page and its browser, with a browser of a few lines: no choice may be lost, none made up."""

from functools import partial
from itertools import combinations, permutations, product

import pytest

from attention.ui.desk import Desk, Drawn, Offer

FIRST, LAST = "first", "last"


EXAMPLES = ("cat", "dog")
# So many of the answers that have come are drawn between two presses; None is all.
DRAWN = (0, 1, None)


class Server:
    """A page with a model, a sentence, examples of sentences and a component; the view is what was chosen last."""

    def __init__(self):
        self.view = {"model": "bert", "text": "cat", "steps": []}
        self.desk = Desk()
        self.answers = []

    def run(self, message, *, is_overtaken=False):
        """Take a message and draw the page, unless a newer message stops the run before all is taken."""
        heard = self.desk.hear(message, (message[FIRST], message[LAST]))
        if is_overtaken:
            return
        for choice in heard.choices:
            choice.apply()
        self.desk.commit(heard)
        number = self.desk.begin()
        shown = {**{key: self.view[key] for key in ("model", "text")}, "example": None}
        if self.view["text"] in EXAMPLES:
            shown["example"] = self.view["text"]
        said = [
            (key, value) for key, value in shown.items() if self.desk.offer(key, Offer(value, partial(self.take, key)))
        ]
        self.desk.offer("go", Offer(None, self.view["steps"].append, is_press=True))
        # In the order in which a browser draws it.
        self.answers.append([(FIRST, str(number)), *said, (LAST, str(number))])

    def take(self, key, value):
        if value is not None:
            self.view["text" if key == "example" else key] = value


class Browser:
    """What a browser shows, and says with every press."""

    def __init__(self, server):
        self.shown = {FIRST: "", LAST: ""}
        self.presses = 0
        self.server = server

    def draw_answers(self, n_answers=None):
        """Draw so many of the answers that have come, or all."""
        waiting = [answer for answer in self.server.answers if answer]
        self.draw(sum(map(len, waiting[:n_answers])))

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


PRESSES = (
    ("model", "toy"),
    ("model", "bert"),
    ("text", "dog"),
    ("text", "bird"),
    ("example", "cat"),
    ("example", "dog"),
    ("go", "scores"),
    ("go", "mask"),
)


def final(presses):
    """Return what a page must show in the end: of each widget what was chosen last, and the last step."""
    view = {"model": "bert", "text": "cat"}
    view |= {"text" if key == "example" else key: value for key, value in presses if key != "go"}
    steps = [value for key, value in presses if key == "go"]
    return view, steps[-1:]


def is_ambiguous(keys):
    sentence = [key for key in keys if key in ("text", "example")]
    return len(sentence) > 1 and "example" in sentence


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
            for drawn in product(DRAWN, repeat=n_presses - 1):
                server, browser = opened()
                made, together = [], [[]]
                for (key, value), is_overtaken, n_drawn in zip(presses, (*overtaken, False), (*drawn, 0), strict=True):
                    # A widget says nothing when what it shows is chosen once more.
                    if browser.shown.get(key) != value:
                        server.run(browser.press(key, value), is_overtaken=is_overtaken)
                        made.append((key, value))
                        together[-1].append(key)
                        together += [] if is_overtaken else [[]]
                    # What overtakes a message was sent right after it.
                    browser.draw_answers(0 if is_overtaken else n_drawn)
                # What sets the same twice, in one message: it does not say which was last, or that there were two.
                if not any(map(is_ambiguous, together)):
                    check(server, browser, made)
                    n_cases += 1
    assert n_cases > 200 * 20 ** (n_presses - 2)


@pytest.mark.parametrize("n_parts", range(5))
def test_any_press_while_the_answer_to_any_other_is_being_drawn_counts(n_parts):
    # Only what a widget showed just before, and is told at this moment to show no more, cannot be chosen again while
    # the page is drawn, some milliseconds long: nobody could tell that from what a browser repeats.
    for first, second in permutations(PRESSES, 2):
        server, browser = opened()
        if browser.shown.get(second[0]) == second[1]:
            continue
        server.run(browser.press(*first))
        browser.draw(n_parts)
        if browser.shown.get(second[0]) == second[1]:
            continue
        server.run(browser.press(*second))
        check(server, browser, (first, second))


@pytest.mark.parametrize("n_parts", range(5))
@pytest.mark.parametrize("pressed", [("text", "mouse"), ("go", "mask")])
def test_a_change_that_another_widget_made_is_not_taken_for_a_choice_while_it_is_drawn(pressed, n_parts):
    server, browser = opened()
    server.run(browser.press("go", "scores"))
    browser.draw()
    # As an example, once pressed, changes the sentence.
    server.view["model"] = "toy"
    server.run(browser.press("go", "scale"))
    server.view["model"] = "smol"
    server.run(browser.press("go", "softmax"))
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


# ------------------------------------------------------------------------- a part that runs by itself


@pytest.mark.parametrize("order", [("field", "example"), ("example", "field")])
@pytest.mark.parametrize("offered", [("field", "example"), ("example", "field")])
def test_of_two_presses_in_one_message_the_later_one_has_the_last_word(order, offered):
    desk, taken = Desk(), []
    desk.begin()
    for key in offered:
        desk.offer(key, Offer(None, partial(lambda key, value: taken.append((key, value)), key), is_press=True))
    said = {key: {"value": key.upper(), "press": number, "on": "1"} for number, key in enumerate(order, 9)}
    heard = desk.hear(said, ("1", "1"))
    for choice in heard.choices:
        choice.apply()
    assert taken == [(key, key.upper()) for key in order]


@pytest.mark.parametrize("hostile", [None, "9", 1.5, True, [], {}, -1, 10**400])
def test_a_browser_may_number_its_presses_with_anything(hostile):
    desk = Desk()
    desk.begin()
    for key in ("field", "example"):
        desk.offer(key, Offer(None, print, is_press=True))
    said = {"field": {"value": 1, "press": hostile, "on": "1"}, "example": {"value": 2, "press": 4, "on": "1"}}
    assert {choice.key for choice in desk.hear(said, ("1", "1")).choices} == {"field", "example"}


def with_head(*more_runs):
    """Return a desk whose page has a field in its head and a button below it, drawn once and then below the head."""
    taken = {"text": [], "go": []}
    desk = Desk()
    desk.begin()
    desk.offer("text", Offer("cat", taken["text"].append))
    desk.end_head()
    desk.offer("go", Offer(None, taken["go"].append, is_press=True))
    for _ in more_runs:
        assert desk.begin_part()
        desk.offer("go", Offer(None, taken["go"].append, is_press=True))
    return desk, taken


def say(desk, values, drawn):
    """Let the browser say these values, when it has drawn a run whole, and take the choices among them."""
    heard = desk.hear(values, ("1", str(drawn), str(drawn)))
    for choice in heard.choices:
        choice.apply()
    desk.commit(heard)


@pytest.mark.parametrize("n_parts", [0, 1, 3, 80])
def test_the_head_takes_a_choice_however_often_what_lies_below_has_run(n_parts):
    desk, taken = with_head()
    pressed = None
    for number in range(n_parts):
        pressed = {"value": number, "press": number + 1, "on": str(desk.run)}
        say(desk, {"text": "cat", "go": pressed}, desk.run)
        assert desk.begin_part()
        desk.offer("go", Offer(None, taken["go"].append, is_press=True))
    say(desk, {"text": "dog", "go": pressed}, desk.run)
    assert taken == {"text": ["dog"], "go": list(range(n_parts))}


def test_what_the_head_still_shows_is_no_choice():
    desk, taken = with_head("once more", "and again")
    say(desk, {"text": "cat", "go": None}, desk.run)
    assert taken == {"text": [], "go": []}


def test_no_part_runs_by_itself_before_the_head_is_drawn():
    desk, _ = with_head()
    desk.begin()
    assert not desk.begin_part()


def test_a_part_that_is_being_drawn_counts_as_begun():
    """The browser has the number below the head, and not yet the one at the page's end."""
    desk, _ = with_head("once more")
    assert desk.hear({}, ("1", "1", "2")).drawn == Drawn(whole=1, begun=2)
