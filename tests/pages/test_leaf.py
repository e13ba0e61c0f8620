"""A leaf has what a run of the page would draw, and the server catches up with what a browser has drawn by itself."""

import json
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.lesson.steps import keys
from attention.models import bundled, get_info
from attention.pages import PAGES, STEP_BY_STEP
from attention.ui import asked, leaf
from attention.ui.desk import Desk, Offer
from attention.view import View
from tests.sweep import sweep

SENTENCE = "An owl & a mouse <b> at night"
MODELS = [entry.info.model_id for entry in bundled.MODELS]


def turned(step, query):
    return leaf.leaf(STEP_BY_STEP, f"step/{step}", query)


def mounted(shown):
    """What the components below the head draw, by their keys, and the number of the run."""
    found = {}
    for element in shown.app.get("bidi_component"):
        data, key, run = json.loads(element.proto.json)
        found[key] = (data, run)
    return found


def outline(shown):
    return shown.component("leaf")["outline"]


# Side by side reads sentences alone.
ENGLISH = [model for model in MODELS if get_info(model).reading.takes_sentences]


@pytest.mark.parametrize(
    ("model", "switch"),
    sweep(
        [
            *((model, switch) for model in MODELS for switch in (None, "present", "guess")),
            *((model, "beside") for model in ENGLISH),
        ],
        quick=[
            ("toy", None),
            ("vit-digits", None),
            ("smollm2-135m", "present"),
            ("minilm-l6", "guess"),
            ("toy", "beside"),
        ],
    ),
)
def test_a_leaf_is_what_a_run_draws(open_page, model, switch):
    text = SENTENCE if model in ENGLISH else get_info(model).reading.first
    shown = open_page(model=model, word="2", text=text, **({} if switch is None else {switch: "1"}))
    n_turned = 0
    for step in keys()[1:]:
        before, link = outline(shown), shown.view.to_query()
        found = turned(step, link)
        shown.go()
        assert shown.exceptions == []
        assert found["link"] == urlencode(shown.view.to_query())
        drawn = mounted(shown)
        assert {key: drawn[key][0] for key in found["parts"]} == json.loads(json.dumps(found["parts"]))
        assert found["outline"] == outline(shown)
        # Where nothing but components differs, the parts are all that differs.
        if found["outline"] and found["outline"] == before:
            n_turned += 1
            assert set(found["parts"]) == set(drawn) - {"header", "leaf", "drawing", "digits"}
    # A table that is open under a decoder's steps is drawn by Streamlit.
    assert n_turned == len(keys()) - 1 or (model == "smollm2-135m" and n_turned >= 5)


def said(shown, key, name, value, *, drawn=False):
    """What a browser says with its next message, after a press whose answer it may have drawn by itself."""
    states = shown.sent(key, name, value)
    if drawn:
        (element,) = [each.proto for each in shown.app.get("bidi_component") if each.key == key]
        shown.chosen[element.id][name]["drawn"] = True
        shown.said[key].json_value = json.dumps(shown.chosen[element.id])
        states = shown.states()
    return states


def test_what_is_pressed_on_a_leaf_counts_on_its_step(open_page):
    shown = open_page(model="toy", text=SENTENCE, step="mask")
    assert outline(shown) == turned("softmax", shown.view.to_query())["outline"]
    said(shown, "stepper", "choose", "softmax", drawn=True)
    # On the step before, there was no such matrix.
    cell = {"matrix": "weights", "row": 1, "column": 2}
    shown.send("main_stage", "select", cell)
    assert shown.view.step == "softmax"
    assert shown.view.pane.cell is not None
    assert (shown.view.pane.cell.matrix, shown.view.pane.cell.row, shown.view.pane.cell.column) == ("weights", 1, 2)
    # And no press counts twice.
    shown.go(-1)
    assert shown.view.step == "mask"
    shown.choose("mask", "causal")
    assert (shown.view.step, shown.view.mask) == ("mask", "causal")


def test_another_press_after_a_leaf_keeps_its_step(open_page):
    shown = open_page(model="toy", text=SENTENCE, step="scores")
    said(shown, "stepper", "choose", "scale", drawn=True)
    shown.choose("word", 3)
    assert (shown.view.step, shown.view.word) == ("scale", 3)


def test_the_way_to_another_page_takes_the_step_of_a_leaf_along(open_page):
    shown = open_page(model="toy", text=SENTENCE, step="scores")
    said(shown, "stepper", "choose", "scale", drawn=True)
    shown.to_page(next(page for page in PAGES if page.address == "neuron_view"))
    shown.to_page(STEP_BY_STEP)
    assert (shown.view.text, shown.view.step) == (SENTENCE, "scale")


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("step/nothing", {}),
        ("nothing/1", {}),
        ("step", {}),
        ("step/scores", {"text": " "}),
        ("step/scores", {"model": "nothing"}),
        ("step/scores", {"word": "99"}),
        ("step/scores", {"layer": "99"}),
        ("layer/99", {}),
        ("model/nothing", {}),
    ],
    ids=str,
)
def test_what_has_to_be_said_in_words_is_left_to_the_page(path, query):
    assert leaf.leaf(STEP_BY_STEP, path, {"model": "toy", **query}) is None
    answer = asked.answer(leaf.give, "GET", f"step_by_step/{path}", {"model": "toy", **query}, {})
    assert answer.status_code == 410


def test_only_pages_of_steps_have_leaves():
    for page in PAGES:
        if page is not STEP_BY_STEP:
            answer = asked.answer(leaf.give, "GET", f"{page.address}/step/scores", {"model": "toy"}, {})
            assert answer.status_code in (404, 410)


def test_a_leaf_is_for_the_page_alone_that_asks():
    path = "step_by_step/step/scores"
    assert asked.answer(leaf.give, "GET", path, {"model": "toy"}, {"sec-fetch-site": "cross-site"}).status_code == 403
    assert asked.answer(leaf.give, "POST", path, {"model": "toy"}, {}).status_code == 405
    plain = asked.answer(leaf.give, "GET", path, {"model": "toy"}, {})
    assert (plain.status_code, plain.headers["Cache-Control"]) == (200, "no-store")
    packed = asked.answer(leaf.give, "GET", path, {"model": "toy"}, {"accept-encoding": "gzip, br"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.body) == int(packed.headers["Content-Length"]) < len(plain.body) / 1.5


@given(st.text(max_size=30), st.dictionaries(st.sampled_from(["text", "step", "layer", "cell"]), st.text(max_size=9)))
def test_whatever_is_asked_for_gets_an_answer(path, link):
    answer = asked.answer(leaf.give, "GET", f"step_by_step/{path}", {"model": "toy", **link}, {})
    assert answer.status_code in (200, 404, 410)


@given(st.sampled_from(keys()), st.sampled_from(["toy", "minilm-l6"]), st.text(min_size=1, max_size=40))
def test_the_link_of_a_leaf_leads_to_the_same_view(step, model, text):
    models = {entry.info.model_id: entry.info for entry in bundled.MODELS}
    view, _ = View.from_query({"text": text, "model": model}, STEP_BY_STEP, models)
    found = turned(step, view.to_query())
    if found is not None:
        assert found["link"] == urlencode({**view.to_query(), **({} if step == "tokens" else {"step": step})})


def press(number, **more):
    return {"value": "scale", "press": number, "on": "1", **more}


def test_a_message_says_once_that_something_is_drawn():
    desk = Desk()
    desk.begin()
    desk.offer("stepper.choose", Offer(None, lambda _: None, is_press=True))
    drawn = press(1, drawn=True)
    assert not desk.is_drawn_now("stepper.choose", press(1))
    assert not desk.is_drawn_now("nothing", drawn)
    for forged in (None, "drawn", [], {"drawn": 1}, {"drawn": "true"}):
        assert not desk.is_drawn_now("stepper.choose", forged)
    assert desk.is_drawn_now("stepper.choose", drawn)
    # The next message, which is about something else, repeats it.
    assert not desk.is_drawn_now("stepper.choose", dict(drawn))
    assert desk.is_drawn_now("stepper.choose", press(2, drawn=True))
