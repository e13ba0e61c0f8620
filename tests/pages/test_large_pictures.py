"""A large picture is sent as shades; its address gives the run's numbers, or none."""

import re
from urllib.parse import parse_qs, parse_qsl, urlsplit

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.answer import asked, numbers
from attention.answer.files import NUMBERS
from attention.models import load

TEXT = "It was 50 % & more? #1 + ümlaut / 猫"


def ask(at, method="GET", **headers):
    """Ask as the server does, which reads the path and the query of an address."""
    parts = urlsplit(at)
    path = parts.path.removeprefix(f"./{NUMBERS}/")
    return asked.answer(numbers.give, method, path, dict(parse_qsl(parts.query, keep_blank_values=True)), headers)


def recorded(name, text, layer):
    trace = load("minilm-l6").trace(text)
    attention = trace.layers[layer]
    return {
        "inputs": attention.inputs,
        "joined": attention.joined(),
        "change": attention.output(),
    }[name]


@pytest.mark.parametrize(("step", "name"), [("embed", "inputs"), ("heads", "joined"), ("heads", "change")])
def test_the_numbers_of_a_picture_are_those_of_the_run(open_page, step, name):
    shown = open_page(text=TEXT, model="minilm-l6", step=step, layer="3", head="2")
    drawn = shown.component(f"main_{name}")
    answer = ask(drawn["numbers"]["at"])
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    found = np.frombuffer(answer.body, "<f4").reshape(len(drawn["rows"]), -1)
    np.testing.assert_allclose(found, recorded(name, TEXT, 2), rtol=1e-5, atol=1e-6)


def test_of_two_models_beside_each_other_each_has_its_own_numbers(open_page):
    shown = open_page(text=TEXT, model="toy", step="heads", mask="causal", beside="1", beside_layer="3")
    drawn = shown.component("other_change")
    assert parse_qs(urlsplit(drawn["numbers"]["at"]).query)["text"] == [TEXT]
    found = np.frombuffer(ask(drawn["numbers"]["at"]).body, "<f4").reshape(len(drawn["rows"]), -1)
    layer = load("minilm-l6").trace(TEXT, mask="causal").layers[2]
    np.testing.assert_allclose(found, layer.output(), rtol=1e-5, atol=1e-6)


def test_of_another_run_nothing_is_read(open_page):
    at = open_page(text=TEXT, model="minilm-l6", step="heads").component("main_change")["numbers"]["at"]
    assert ask(at).status_code == 200
    assert ask(at.replace("more", "less")).status_code == 204
    assert ask(at + "&layer=1").status_code == 204
    assert ask(at.replace("main_change", "main_joined")).status_code == 204
    assert ask(at.replace("main_change", "map")).status_code == 410
    assert ask(re.sub(r"text=[^&]*", "text=", at)).status_code == 410
    assert ask(at + "&model=toy").status_code == 204


def test_a_page_of_somebody_elses_gets_nothing(open_page):
    at = open_page(text=TEXT, model="minilm-l6", step="heads").component("main_change")["numbers"]["at"]
    for site in ("cross-site", "same-site", "none"):
        assert ask(at, **{"sec-fetch-site": site}).status_code == 403
    assert ask(at, **{"sec-fetch-site": "same-origin"}).status_code == 200
    assert ask(at, method="POST").status_code == 405


@given(st.text(max_size=30), st.dictionaries(st.sampled_from(["text", "step", "layer", "cell"]), st.text(max_size=9)))
def test_whatever_is_asked_for_gets_an_answer(path, link):
    assert asked.answer(numbers.give, "GET", path, {"model": "toy", **link}, {}).status_code in (404, 410)
    made_up = asked.answer(numbers.give, "GET", f"step_by_step/main_scores/{path or 'x'}", {"model": "toy", **link}, {})
    assert made_up.status_code == 410
