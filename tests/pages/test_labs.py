"""Labs: a question first, then results; every knob is in the link, and the page can be downloaded."""

import json
import re

import pytest

from attention.models import list_models
from attention.page.labs.one_or_many import CUT
from attention.page.pages import OF_LABS
from attention.page.parameters import FLAG, Choice, Context
from attention.page.settings import HEAD, LAYER, WORD
from tests.pages.test_memory import fetch, is_refused
from tests.sweep import sweep

MODELS = {info.model_id: info for info in list_models()}
LABS = {lab.address: (lab, page) for lab, page in OF_LABS.items()}


@pytest.fixture
def open_lab(open_page):
    """Open a lab, and have its question answered."""

    def open_(address, **query):
        shown = open_page(LABS[address][1].file, **query)
        return shown.send("question", "show", True) if "question" in shown.components() else shown

    return open_


def knobs(address, model):
    """Every knob of a lab but its switches, with each value that it can have."""
    lab, _ = LABS[address]
    context = Context(MODELS, model)
    for knob in lab.knobs:
        for value in knob.kind.options(context) if isinstance(knob.kind, Choice) and knob.kind is not FLAG else ():
            yield knob, value


@pytest.mark.parametrize("model", sweep(MODELS, quick=("minilm-l6",)))
@pytest.mark.parametrize("address", LABS)
def test_a_lab_asks_first_and_shows_then(open_page, address, model):
    lab, page = LABS[address]
    shown = open_page(page.file, model=model)
    assert shown.notices == []
    # Of the parts of a layer, the toy has one alone.
    assert ("question" in shown.components()) == ((address, model) != ("whole", "toy"))
    if "question" in shown.components():
        shown.send("question", "show", True)
    assert shown.notices == []
    assert shown.headings()
    # Some knobs are there only for some positions of the first. Heads that share keys can be cut in one way alone.
    assert (lab.knobs[0].name in shown.controls()) == (lab.knobs[0] != CUT or MODELS[model].group_size == 1)
    assert shown.proofs


def covers(shown):
    """The keys of what is covered."""
    looks = {block["key"]: block["look"].split() for block in shown.blocks if block["kind"] == "section"}
    return {key.removesuffix("_cover") for key, look in looks.items() if "cover" in look}


def arrays(data):
    """All that is drawn of numbers: lists of those that are not whole, and what is packed, but for places in a row."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if key in ("values", "bdata") and isinstance(value, str):
            yield from () if data.get("dtype") == "i1" else (value,)
        elif isinstance(value, list) and len(value) > 2 and any(isinstance(each, float) for each in value):
            yield json.dumps(value)
        elif isinstance(value, dict | list):
            yield from arrays(value)


@pytest.mark.parametrize(
    ("address", "query"),
    [
        *((address, {}) for address in LABS),
        ("why_divide", {"width": "32"}),
        ("vector_moves", {"scope": "layers"}),
        ("positions", {"placed": "1"}),
        ("positions", {"scheme": "rotary"}),
        *(("explain", {"experiment": experiment}) for experiment in ("lengths", "words", "shuffled")),
    ],
)
def test_a_picture_is_there_before_the_answer_and_what_answers_does_not_leave_the_server(open_page, address, query):
    shown = open_page(LABS[address][1].file, text="The cat sat on the mat again", **query)
    before, sent, told = set(shown.components()) - {"question"}, json.dumps(shown.answer), shown.text
    parts = {key: shown.component(key) for key in before}
    drawn = {key for key, part in parts.items() if any(arrays(part)) or {"chips", "strips"} & part.keys()}
    covered = covers(shown) - {"guess", "told"}
    assert drawn or query.get("scope")
    assert "right" not in shown.component("question")
    shown.send("question", "show", True)
    after = set(shown.components())
    assert before | covered <= after
    assert not before & covered
    assert not covers(shown)
    for key in after - before:
        assert not [array for array in arrays(shown.component(key)) if array in sent], key
    reason = next(block["html"] for block in shown.blocks if block["kind"] == "prose" and block["look"] == "detail")
    assert not [number for number in re.findall(r"\d\.\d{2,}", reason) if number in told]


@pytest.mark.parametrize("address", sweep(LABS, quick=("masks", "explain", "write")))
def test_a_wrong_answer_is_answered_too_and_stays_in_the_link(open_page, address):
    model = "minilm-l6" if address == "whole" else "toy"
    shown = open_page(LABS[address][1].file, model=model)
    asked = shown.component("question")
    wrong = next(
        number
        for number in range(len(asked["answers"]))
        if open_page(LABS[address][1].file, model=model)
        .send("question", "choose", number)
        .component("question")["verdict"]
        == "other"
    )
    shown.send("question", "choose", wrong)
    assert shown.component("question")["verdict"] == "other"
    there = open_page(LABS[address][1].file, **shown.view.to_query())
    assert there.component("question") == shown.component("question")
    assert there.text == shown.text


@pytest.mark.parametrize("answer", [None, "show"])
def test_the_experiments_are_above_the_question_which_differs_in_height(open_page, answer):
    shown = open_page(LABS["explain"][1].file, model="toy")
    if answer:
        shown.send("question", answer, True)
    keys = [block["key"] for block in shown.blocks if "key" in block]
    assert keys.index("experiment") < keys.index("guess_first")


@pytest.mark.parametrize("address", sweep(LABS, quick=("masks",)))
def test_every_knob_is_in_the_link_and_leads_somebody_else_to_the_same(open_lab, open_page, address):
    """One knob after the other is turned; each has every value once."""
    shown = open_lab(address, model="toy", text="Two small birds sing loudly")
    first = LABS[address][0].knobs[0]
    for knob, value in knobs(address, "toy"):
        for position in first.kind.options(Context(MODELS, "toy")):
            if knob.name not in shown.controls():
                shown.choose(first.name, first.kind.write(position))
        shown.choose(knob.name, knob.kind.write(value))
        assert shown.notices == []
        assert shown.view[knob] == value
        there = open_page(LABS[address][1].file, **shown.view.to_query())
        assert (there.text, there.components()) == (shown.text, shown.components())


def content(shown):
    """What a page shows, without its lines of controls."""
    drawn = {key: shown.component(key) for key in shown.components()}
    # The address of numbers that are fetched is the link itself.
    return shown.text, {key: data | {"numbers": (data.get("numbers") or {}).get("id")} for key, data in drawn.items()}


@pytest.mark.parametrize(
    ("address", "model"),
    sweep(
        [*((address, "minilm-l6") for address in LABS), ("positions", "smollm2-135m")],
        quick=[("masks", "minilm-l6")],
    ),
)
def test_a_word_a_layer_and_a_head_are_a_choice_where_they_change_something(open_lab, open_page, address, model):
    lab, page = LABS[address]
    knob = lab.knobs[0]
    options = knob.kind.options(Context(MODELS, model)) if hasattr(knob.kind, "options") else ()
    # What is counted, such as a width, is the same page at every count.
    for position in [each for each in options if isinstance(each, str)] or [knob.default]:
        query = {} if position is None else {knob.name: knob.kind.write(position)}
        # What a link leaves open is chosen by what it names.
        query |= {WORD.name: "2", LAYER.name: "3", HEAD.name: "4"}
        shown = open_lab(address, model=model, text="Two small birds sing loudly again", **query)
        for parameter in (WORD, LAYER, HEAD):
            there = open_page(page.file, **{**shown.view.to_query(), parameter.name: "5"})
            assert there.notices == shown.notices
            is_offered = parameter.name in shown.controls()
            assert (content(there) != content(shown)) == is_offered, (position, parameter.name)


@pytest.mark.parametrize("address", sweep(LABS, quick=("masks", "explain", "write")))
def test_a_lab_can_be_taken_away_with_its_tables(open_lab, address):
    shown = open_lab(address, model="minilm-l6", text="Two small birds sing loudly")
    page = fetch(f"./_attention/file/{address}/now/page/{address.replace('_', '-')}.html?model=minilm-l6").decode()
    assert LABS[address][1].title in page
    assert "<table" in page
    for address_of_file in shown.files.values():
        assert not is_refused(fetch(address_of_file))


@pytest.mark.parametrize("address", sweep(LABS, quick=("masks", "explain", "write")))
def test_without_a_text_a_lab_invites_to_one(open_page, address):
    shown = open_page(LABS[address][1].file, text="  ")
    assert len(shown.notices) == 1
