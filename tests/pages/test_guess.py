"""*Guess first*: the answer is nowhere on the page before a guess."""

import json
from dataclasses import replace

import pytest

from attention.figures.question import Answer
from attention.lesson import steps
from attention.lesson.steps import STEPS, mask
from attention.models import load
from tests.unit.saying import tells

SENTENCE = "The animal was tired"


def everything(shown):
    """All that goes to the browser of what is on the page."""
    return json.dumps(shown.answer["blocks"], ensure_ascii=False)


@pytest.mark.parametrize("step", [step.key for step in STEPS])
def test_a_step_shows_nothing_of_its_answer_before_the_guess(open_page, step):
    shown = open_page(text=SENTENCE, step=step, guess="1", model="minilm-l6")
    assert shown.notices == []
    pictures = set(shown.components()) - {"stepper", "header", "context", "map", "sentence"}
    assert pictures == {"question"}
    # A list of the tokens may be the answer; otherwise, they are there without a number.
    assert step == "tokens" or shown.component("sentence")["rows"] == {}
    assert "verdict" not in shown.component("question")
    assert shown.component("map")["heads"] is None
    assert shown.tables == []
    before = everything(shown)
    shown.send("question", "show", None)
    assert shown.component("question")["verdict"] == "shown"
    assert len(shown.components()) > len(pictures) or step == "tokens"
    assert len(everything(shown)) > len(before)
    # The link shows the same to somebody else.
    there = open_page(**shown.view.to_query())
    assert there.component("question") == shown.component("question")


@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
def test_no_list_of_the_tokens_says_how_many_there_are(open_page, model):
    text = "The philosophers disagreed"
    tokens = load(model).trace(text).tokens
    listed = [f"{token.position} {token.text}" for token in tokens if token.word is not None]
    shown = open_page(text=text, step="tokens", guess="1", model=model)
    assert [each for each in listed if each in everything(shown)] == []
    shown.send("question", "show", None)
    assert [each for each in listed if each not in everything(shown)] == []
    # What is asked at another step, no list of the tokens says.
    assert len(open_page(text=text, step="embed", guess="1", model=model).widget("word").options) == len(tokens)


def test_a_guess_is_judged_and_the_step_is_shown(open_page):
    shown = open_page(text=SENTENCE, step="mask", guess="1", model="toy")
    answers = shown.component("question")["answers"]
    size = len(shown.view.text.split())
    right = answers.index(str(size * (size - 1) // 2))
    shown.send("question", "choose", right)
    assert shown.component("question")["verdict"] == "right"
    assert "Right." in shown.text
    assert "main_stage" in shown.components()
    other = open_page(text=SENTENCE, step="mask", guess="1", model="toy").send("question", "choose", 1 - min(right, 1))
    assert other.component("question")["verdict"] == "other"
    assert other.component("question")["right"] == [right]


def test_another_word_is_asked_about_anew(open_page):
    shown = open_page(text=SENTENCE, step="softmax", guess="1", word="1", model="toy")
    shown.send("question", "share", [10, 20, 30, 40])
    assert json.dumps(shown.component("question")["given"]) == "[10, 20, 30, 40]"
    shown.send("question", "next", None)
    assert shown.view.word == 2
    assert "given" not in shown.component("question")
    assert [key for key in shown.components() if key.startswith("main_")] == []


@pytest.mark.parametrize("look", [{}, {"present": "1"}])
def test_a_question_is_worked_out_once_while_it_is_open(open_page, monkeypatch, look):
    asked = []

    def ask(scene):
        asked.append(scene.word)
        return mask.STEP.guess(scene)

    place = steps.number_of(mask.STEP)
    counting = replace(mask.STEP, guess=ask)
    monkeypatch.setattr(steps, "STEPS", (*steps.STEPS[: place - 1], counting, *steps.STEPS[place:]))
    shown = open_page(text=SENTENCE, step="mask", guess="1", model="toy", **look)
    assert "question" in shown.components()
    assert len(asked) == 1


def test_an_answer_to_another_question_leaves_this_one_open(open_page):
    shown = open_page(text=SENTENCE, step="softmax", guess="1", answer=Answer("0a1b2c3d", (1,)).written())
    assert shown.notices == []
    assert "given" not in shown.component("question")


def test_where_there_is_nothing_to_guess_the_step_is_shown(open_page):
    shown = open_page(text="Hello", step="softmax", guess="1", mask="causal", word="0")
    assert "question" not in shown.components()
    assert "main_stage" in shown.components()


def test_answers_to_whys_are_made_once_they_are_opened_and_are_in_the_link(open_page):
    shown = open_page(text=SENTENCE, step="mask")
    assert not tells(shown.text, "mask/why-infinity")
    shown.open(mask.STEP.why)
    assert tells(shown.text, "mask/why-infinity")
    assert shown.view.to_query()["why"] == "1"


@pytest.mark.parametrize("link", [{"model": "toy", "mask": "causal"}, {"model": "vit-digits"}], ids=str)
def test_a_question_is_asked_only_where_it_has_an_answer(open_page, link):
    """A causal mask tells orders apart without positions, and patches are no words."""
    asked = {}
    for step in filter(lambda step: step.why, STEPS):
        closed, opened = (open_page(**link, step=step.key, **more) for more in ({}, {"why": "1"}))
        asked[step.key] = step.why in closed.folds
        assert (step.why in opened.folds) == asked[step.key]
    assert set(asked.values()) == {True, False}
