"""Presses that overtake one another in Streamlit itself: wherever one arrives while another is taken in, both count."""

from typing import ClassVar
from urllib.parse import urlencode

import pytest
from streamlit.runtime.scriptrunner import RerunData
from streamlit.testing.v1 import app_test

from attention.pages import ALL_HEADS

# So many places at which a run can be stopped come before the page's own part begins.
EARLY = 24
# Pairs of them in which each comes first and second four times: near each other, far from each other, and in between.
PAIRS = sorted(
    {
        (first, second)
        for first in range(1, EARLY)
        for second in (first, EARLY - first, 1 + 5 * first % 23, 1 + 7 * first % 23)
    }
)


class Overtaken(app_test.LocalScriptRunner):
    """A script runner to which messages come at the places that a plan says, counted in places to stop a run at."""

    plan: ClassVar[list] = []
    n_places = 0

    def _maybe_handle_execution_control_request(self):
        if self._is_in_script_thread() and self._execing:
            Overtaken.n_places += 1
            if Overtaken.plan and Overtaken.plan[0][0] == Overtaken.n_places:
                _, message = Overtaken.plan.pop(0)
                Overtaken.n_places = 0
                self.request_rerun(message)
        super()._maybe_handle_execution_control_request()


@pytest.fixture
def press(open_page, monkeypatch):
    """Open a page and make several presses, each at a place in the run that takes the one before."""
    monkeypatch.setattr(app_test, "LocalScriptRunner", Overtaken)
    shown = open_page(model="toy", step="scores")

    def press(*presses, at):
        link = urlencode(shown.app.query_params)
        page = shown.app._page_hash or shown.app._finished_page_script_hash
        messages = []
        states = None
        for name, value in presses:
            if name == "stepper":
                states = shown.sent("stepper", "choose", value)
            else:
                shown.widget(name).set_value(value)
                states = shown.states()
            messages.append(RerunData(widget_states=states, query_string=link, page_script_hash=page))
        Overtaken.plan = list(zip(at, messages[1:], strict=True))
        Overtaken.n_places = 0
        shown.app._run(messages[0].widget_states)
        n_places = Overtaken.n_places
        is_through = not Overtaken.plan
        if not is_through:
            shown.app._run(messages[-1].widget_states)
        assert shown.exceptions == []
        seen = {"mask": shown.view.mask, "text": shown.view.text, "stepper": shown.view.step}
        wanted = dict(presses)
        assert {name: seen[name] for name in wanted} == wanted, at
        assert shown.widget("mask").value == shown.view.mask
        assert shown.widget("text").value == shown.view.text
        assert shown.component("stepper")["current"] == shown.view.step
        return is_through, n_places

    return press


def in_turn(number):
    """Return three presses, each of which changes what the ones before have left."""
    return (
        ("mask", ("none", "causal")[number % 2]),
        ("text", f"sentence number {number}"),
        ("stepper", ("softmax", "mask", "scale")[number % 3]),
    )


@pytest.mark.slow
def test_two_presses_count_wherever_the_second_one_arrives(press):
    number, is_through = 0, True
    while is_through:
        number += 1
        one, two, three = in_turn(number)
        pair = ((one, two), (two, three), (three, one))[number % 3]
        is_through, _ = press(*pair, at=(number,))
    # A run of this page can be stopped at dozens of places.
    assert number > 2 * EARLY


@pytest.mark.slow
def test_three_presses_count_wherever_they_arrive(press):
    for number, (first, second) in enumerate(PAIRS):
        assert press(*in_turn(number), at=(first, second))[0]


def test_a_press_that_overtakes_one_on_the_same_widget_wins(press):
    for place in range(1, EARLY):
        press(("mask", "causal"), ("mask", "padding"), at=(place,))
        press(("mask", "causal"), ("mask", "none"), at=(place,))
        press(("stepper", "softmax"), ("stepper", "mask"), at=(place,))


@pytest.mark.parametrize(
    ("model", "key", "name", "value", "other"),
    [
        ("minilm-l6", "map", "go", {"head": 11}, "toy"),
        ("smollm2-135m", "map", "go", {"head": 8}, "vit-digits"),
        ("minilm-l6", "main_stage", "select", {"matrix": "weights", "row": 7, "column": 7}, "toy"),
        ("vit-digits", "drawing", "draw", "0123456789abcdef" * 4, "minilm-l6"),
        ("vit-digits", "digits", "choose", 1, "translator-fr-en"),
    ],
)
def test_a_press_on_a_model_that_goes_with_the_same_message_does_no_harm(open_page, model, key, name, value, other):
    shown = open_page(model=model, step="softmax")
    shown.widget("model").set_value(other)
    shown.app._run(shown.sent(key, name, value))
    assert shown.exceptions == []
    assert shown.view.model == other
    assert shown.proofs


@pytest.mark.parametrize("is_taken", [False, True])
def test_a_press_right_before_a_link_to_another_page_counts(open_page, is_taken):
    shown = open_page(model="toy", step="scores")
    link = dict(shown.app.query_params)
    shown.widget("mask").set_value("causal")
    said = shown.states()
    if is_taken:
        shown.app._run(said)
    # The link was drawn before the answer, and the browser has not seen the answer yet.
    shown.app.switch_page("pages/all_heads.py")
    shown.app.query_params.clear()
    shown.app.query_params.update(link)
    shown.app._run(said)
    assert shown.exceptions == []
    assert (shown.view.mask, shown.view.model) == ("causal", "toy")


@pytest.mark.slow
def test_the_way_to_another_page_holds_wherever_another_press_on_the_old_one_arrives(open_page, monkeypatch):
    """A browser that has seen nothing of the new page asks for the old one."""
    monkeypatch.setattr(app_test, "LocalScriptRunner", Overtaken)
    place, is_through = 0, False
    while not is_through:
        place += 1
        shown = open_page(model="toy", step="scores")
        old = shown.app._page_hash or shown.app._finished_page_script_hash
        link = urlencode(shown.app.query_params)
        first = shown.sent("header", "page", ALL_HEADS.address)
        second = shown.sent("header", "text", "Two birds")
        Overtaken.plan = [(place, RerunData(widget_states=second, query_string=link, page_script_hash=old))]
        Overtaken.n_places = 0
        shown.app._run(first)
        is_through = bool(Overtaken.plan)
        assert shown.exceptions == []
        assert shown.view.page is ALL_HEADS, place
        assert is_through or shown.view.text == "Two birds", place
    assert place > EARLY
