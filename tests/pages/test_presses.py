"""Presses on a page: taken in order, none lost; only what the page offers has an effect."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.answer import asked, asked_page
from attention.answer.page import MAX_PRESSES, Press
from attention.page.pages import ALL_HEADS, OF_LABS, PAGES, STEP_BY_STEP
from tests.pages.conftest import Shown

TEXT = "Two birds sing"
MASKS = next(page for page in OF_LABS.values() if page.address == "masks")


@pytest.fixture
def shown(open_page):
    return open_page(model="toy", text=TEXT, step="scores")


# ------------------------------------------------------------------------------- several at once


def test_all_that_is_sent_together_is_taken(shown):
    shown.run(
        shown.widget("mask").press("causal"),
        shown.press("stepper", "choose", "softmax"),
        shown.widget("word").press(1),
        shown.widget("head").press(2),
    )
    assert (shown.view.mask, shown.view.step, shown.view.word, shown.view.pane.head) == ("causal", "softmax", 1, 2)
    assert shown.component("stepper")["current"] == "softmax"
    assert (shown.widget("mask").value, shown.widget("word").value, shown.widget("head").value) == ("causal", 1, 2)


def test_of_two_presses_on_one_control_the_last_wins(shown):
    shown.run(*(shown.widget("mask").press(mask) for mask in ("causal", "padding", "none", "causal")))
    assert shown.view.mask == "causal"
    text, example = shown.widget("text").press("One two"), shown.press("header", "example", 0)
    label = shown.widget("text").data["examples"]["labels"][0]
    assert shown.run(text, example).view.text == label
    assert shown.run(example, text).view.text == "One two"


@pytest.mark.parametrize("name", ["layer", "head", "word"])
def test_what_was_chosen_for_the_model_before_is_let_go(open_page, name):
    """A layer that was pressed while another model stood there is none of that model's."""
    shown = open_page(model="minilm-l6", text=TEXT, step="softmax")
    model, press = shown.widget("model").press("toy"), shown.widget(name).press(0)
    alone = Shown(shown.page, shown.query).run(model)
    together = Shown(shown.page, shown.query).run(model, press)
    assert together.view.model == "toy"
    assert together.answer == alone.answer
    # The other way round, both are presses on the page as it is.
    assert Shown(shown.page, shown.query).run(press, model).view.model == "toy"


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
def test_a_press_in_a_picture_of_a_model_that_goes_with_it_does_no_harm(open_page, model, key, name, value, other):
    shown = open_page(model=model, step="softmax")
    shown.run(shown.widget("model").press(other), shown.press(key, name, value))
    assert shown.view.model == other
    assert shown.holds == [True]


# --------------------------------------------------------------------------------- what is no press


@pytest.mark.parametrize("value", [None, True, 0, -1, 10**40, 0.5, "", "x" * 5000, "\ud800", [], {}, [[]], {"row": []}])
def test_a_key_that_there_is_not_and_a_value_of_a_wrong_kind_change_nothing(shown, value):
    before = dict(shown.query)
    shown.run(Press("nothing.here", value), Press("", value), Press("stepper", value))
    assert shown.query == before
    # All that may be anything there has a value that cannot be its own.
    shown.run(*(Press(key, {"no": "such value"}) for key in keys_of(shown)))
    assert (shown.query, shown.page, shown.notices) == (before, STEP_BY_STEP, [])


def keys_of(shown):
    """The key of every control, of every fold, and of every press that a picture sends."""
    keys = [f"{key}.{name}" for name, (_, key) in shown.controls().items()]
    sent = ("choose", "select", "go", "press", "open", "show", "again", "share", "draw", "focus", "page")
    return keys + [f"{block['key']}.{name}" for block in shown.blocks if "key" in block for name in sent]


# -------------------------------------------------------------------------- a function of the link


# What no other press takes away, as another model or a presentation does.
ALWAYS_THERE = {"stepper.choose", "context.mask", "context.word", "context.guess"}


def offered(shown):
    """Presses that a page of the toy offers, each of which a person can make there."""
    found = [shown.press("stepper", "choose", step["key"]) for step in shown.component("stepper")["steps"]]
    for name, (control, key) in shown.controls().items():
        if control["kind"] in ("list", "choice"):
            found += [shown.press(key, name, value) for value in control["values"]]
        elif control["kind"] in ("switch", "button"):
            found += [shown.press(key, name, is_on) for is_on in (True, False)]
    found += [shown.press(block["key"], "open", True) for block in shown.blocks if block["kind"] == "fold"]
    found += [shown.press("main_stage", "select", {"matrix": "scores", "row": 1, "column": 0})]
    return [press for press in found if press.value not in ("minilm-l6", "smollm2-135m", "translator-fr-en")]


@given(st.data())
def test_the_same_presses_on_the_same_link_give_the_same_page_sent_at_once_or_one_by_one(data):
    """What was pressed before is in the link alone: a page has no other past."""
    link = {"model": "toy", "text": TEXT, "step": "scores"}
    at_once = Shown(STEP_BY_STEP, link).run()
    presses = data.draw(st.lists(st.sampled_from(offered(at_once)), max_size=4))
    one_by_one = Shown(STEP_BY_STEP, link).run()
    at_once.run(*presses)
    again = Shown(STEP_BY_STEP, link).run(*presses)
    assert at_once.answer == again.answer
    there = Shown(at_once.page, at_once.query).run()
    assert there.answer["blocks"] == at_once.answer["blocks"]
    assert there.query == at_once.query
    for press in presses:
        one_by_one.run(press)
    if {press.key for press in presses} <= ALWAYS_THERE:
        assert one_by_one.query == at_once.query


# ---------------------------------------------------------------------------- what a browser keeps


def test_what_another_page_alone_has_is_there_on_the_way_back(open_page):
    shown = open_page("pages/all_heads.py", model="toy", text=TEXT).choose("mean", True)
    shown.to_page(STEP_BY_STEP).choose("head", 1)
    assert "mean" not in shown.query
    shown.to_page(ALL_HEADS)
    assert (shown.query["mean"], shown.query["head"]) == ("1", "2")
    # Without what the browser remembers, a link is all there is.
    assert "mean" not in open_page(model="toy", text=TEXT).to_page(ALL_HEADS).query


def test_an_answer_is_there_when_one_comes_back_and_for_this_visitor_alone(open_page):
    shown = open_page(MASKS.file, model="toy").send("question", "show", True)
    answer = shown.query["answer"]
    assert "answer" not in shown.to_page(STEP_BY_STEP).query
    assert shown.to_page(MASKS).query["answer"] == answer
    shown.send("question", "again", None)
    assert "answer" not in shown.to_page(STEP_BY_STEP).to_page(MASKS).query
    assert "answer" not in open_page(model="toy").to_page(MASKS).query


# ---------------------------------------------------------------------------- what a browser can say


SAID = {"link": "model=toy", "presses": [], "memory": {}, "visitor": "somebody"}


WHOLE = json.dumps(SAID).encode()


def give(said):
    return asked_page.give(STEP_BY_STEP, said if isinstance(said, bytes) else json.dumps(said).encode())


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"{",
        b"[" * 100_000,
        [],
        {},
        *({name: value for name, value in SAID.items() if name != gone} for gone in SAID),
        *({**SAID, "link": link} for link in (None, 7, ["model=toy"], {"model": "toy"}, True)),
        *({**SAID, "presses": presses} for presses in (None, 7, "ab", [7], [None], [{}], [{"key": "a"}], [["a", 1]])),
        {**SAID, "presses": [{"key": "stepper.choose", "value": "mask"}] * (MAX_PRESSES + 1)},
        *({**SAID, "memory": memory} for memory in (None, 7, "ab", [], {"others": 7}, {"others": {"word": 5}})),
        {**SAID, "memory": {str(number): {} for number in range(100)}},
        *({**SAID, "visitor": visitor} for visitor in (None, 7, [], {}, "x" * 65)),
    ],
    ids=lambda said: repr(said)[:40],
)
def test_what_cannot_be_understood_is_answered_with_nothing(said):
    assert give(said) is None


@pytest.mark.parametrize(
    "memory",
    [
        {"others": {"word": "x", "layer": "-1", "model": "gone", "versus": "\x00" * 3000, "zyzzyva": "1"}},
        {"answers": {"masks": "no answer", "": "0a1b2c3d-show", "step_by_step": ""}},
        {"read text": {"model": "gone", "text": ""}, "read picture": {"text": "g" * 64}, "": {"": ""}},
    ],
)
@pytest.mark.parametrize("key", ["header.model", "header.page", "nothing"])
def test_whatever_is_remembered_a_page_is_shown(memory, key):
    press = {"key": key, "value": {"header.model": "vit-digits", "header.page": "masks"}.get(key)}
    said = json.loads(
        give({**SAID, "link": "model=toy&model=x&&=&%FF=%00;", "presses": [press], "memory": memory}).body
    )
    assert said["blocks"]
    assert said["page"] == ("masks" if key == "header.page" else "step_by_step")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(SAID)), json_values, json_values)
def test_nothing_that_a_browser_says_raises(name, value, pressed):
    given_back = give({**SAID, name: value})
    assert given_back is None or json.loads(given_back.body)["blocks"]
    press = {"key": "stepper.choose", "value": pressed}
    assert json.loads(give({**SAID, "presses": [press]}).body)["page"] == STEP_BY_STEP.address


@pytest.mark.parametrize("address", ["no_such_page", "step_by_step/", "../step_by_step", "Step_by_step", " "])
def test_a_page_that_there_is_not_is_not_found(address):
    assert address not in {page.address for page in PAGES}
    assert asked.answer_page("POST", address, WHOLE, {}).status_code == 404


def test_who_asks_in_another_way_gets_nothing():
    def status(method="POST", body=WHOLE, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return asked.answer_page(method, STEP_BY_STEP.address, body, named).status_code

    assert (status(), status(sec_fetch_site="same-origin")) == (200, 200)
    assert (status("GET"), status(body=b"{}"), status(body=None)) == (405, 410, 413)
    assert [status(sec_fetch_site=site) for site in ("cross-site", "same-site", "none")] == [403] * 3
