"""Lesson plans: their durations add up, and a class can be shown each of their views."""

import re
from urllib.parse import parse_qsl, urlencode

import numpy as np
import pytest

from attention.classroom.drawing import (
    Shown,
    examples_of,
    guess_of,
    is_shown,
    model_of,
    ready_of,
    sentences_of,
    show,
    tidy,
)
from attention.classroom.notes import notes
from attention.lesson.plans import plans
from attention.lesson.questions import ready
from attention.lesson.steps import keys
from attention.lesson.tasks import task_of
from attention.models import list_models, load
from attention.page.blocks import Section, Way
from attention.page.content import classroom
from attention.page.pages import BY_ADDRESS, CLASSROOM, OF_LABS
from attention.page.view import View
from tests.unit.saying import plain

LABS = {page.address for page in OF_LABS.values()}
PARTS = {part.name: part for plan in plans() for part in plan.parts}


def test_they_are_twenty_forty_five_and_ninety_minutes_long():
    assert [plan.minutes for plan in plans()] == [20, 45, 90]
    for plan in plans():
        assert len({part.name for part in plan.parts}) == len(plan.parts)


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_every_view_can_be_shown_and_its_link_is_one_that_a_page_writes(part):
    assert is_shown(part.page)
    page = BY_ADDRESS[part.page]
    models = {info.model_id: info for info in list_models()}
    view, problems = View.from_query(dict(parse_qsl(part.link)), page, models)
    assert problems == []
    assert dict(parse_qsl(tidy(part.page, part.link))).items() <= dict(parse_qsl(part.link)).items()
    assert view.text == dict(parse_qsl(part.link))["text"]


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_what_the_class_does_at_a_stage_can_be_done_there(part):
    if part.act == "ask":
        question = ready(part.subject)
        guess = ready_of(part.page, part.link, question) if question else guess_of(part.page, part.link)
        assert (question is None) == (part.subject == "")
        assert guess is not None
        assert guess.reason not in show(Shown(part.page, part.link))["html"]
    elif part.act == "find":
        assert task_of(part.subject) is not None
        # Nobody searches before the task is set.
        assert not any(
            picture["component"].startswith("atlas") for picture in show(Shown(part.page, part.link))["pictures"]
        )
    else:
        assert part.act == "own"
        assert examples_of(model_of(part.page, part.link))


def test_no_sentence_of_a_lesson_is_suggested_for_a_pupils_own():
    shown = {dict(parse_qsl(part.link))["text"] for part in PARTS.values()}
    assert shown & set(load("minilm-l6").info.reading.examples)
    for part in PARTS.values():
        assert shown.isdisjoint(examples_of(model_of(part.page, part.link)))


def test_queries_and_keys_are_introduced_before_they_are_multiplied():
    for plan in plans():
        names = [part.name for part in plan.parts]
        assert names.index("vectors") < names.index("scores")


def test_a_plan_that_promises_all_steps_has_them_in_their_order():
    for plan in plans()[1:]:
        shown = [dict(parse_qsl(part.link)).get("step") for part in plan.parts[1:] if part.act == "ask"]
        assert [step for step in shown if step is not None] == list(keys())


def test_at_the_sum_a_long_value_with_a_small_weight_brings_more_than_the_largest_weight():
    link = dict(parse_qsl(PARTS["sum"].link))
    steps = load(link["model"]).trace(link["text"]).layers[int(link["layer"]) - 1].head(int(link["head"]) - 1)
    row = steps.weights[int(link["word"])]
    brought = row * np.linalg.norm(steps.values, axis=1)
    assert row[brought.argmax()] < row.max() / 1.5
    assert brought.max() > 10 * brought[row.argmax()]


@pytest.mark.parametrize("on_wall", [False, True])
def test_after_the_question_every_screen_has_the_numbers_whose_products_make_the_highest_score(on_wall):
    part = PARTS["scores"]
    link = dict(parse_qsl(part.link))
    steps = load(link["model"]).trace(link["text"]).layers[0].head(1)
    query, key = steps.queries[2], steps.keys[steps.scores[2].argmax()]

    def factors(seen):
        html = show(Shown(part.page, part.link, seen, on_wall))["html"]
        found = re.findall(r'<b class="q">([\d.]+)</b>&nbsp;·&nbsp;<b class="k">([\d.]+)</b>', html)
        return np.array(found, dtype=float).reshape(-1, 2)

    assert len(factors("closed")) == 0
    np.testing.assert_allclose(factors("opened"), np.stack([query, key], axis=1), atol=0.005)


def test_a_word_that_repeats_has_its_position_on_a_wall_as_in_answers():
    part = PARTS["scores"]
    (scores,) = show(Shown(part.page, part.link, "opened", on_wall=True))["pictures"]
    assert list(scores["data"]["rows"]) == ["the (0)", "cat", "sat", "on", "the (4)", "mat"]


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: plan.name)
def test_notes_on_paper_have_every_sentence_and_question_with_its_answer(plan):
    page = plain(notes(plan))
    for part in plan.parts:
        link = dict(parse_qsl(part.link))
        # A comparison has two sentences.
        assert sentences_of(part.page, part.link) == [link[name] for name in ("text", "versus") if name in link]
        assert all(f"“{sentence}”" in page for sentence in sentences_of(part.page, part.link))
        if part.act == "find":
            # A head that has been found: by far the most of its weight lies one token back.
            told = page.partition(task_of(part.subject).title)[2]
            layer, head = (int(each) - 1 for each in re.search(r"Layer (\d+), head (\d+)", told).groups())
            weights = load(link["model"]).trace(link["text"]).layers[layer].head(head).weights
            assert weights.diagonal(-1).mean() > 0.5
        if part.act != "ask":
            continue
        question = ready(part.subject)
        guess = ready_of(part.page, part.link, question) if question else guess_of(part.page, part.link)
        for told in (guess.question, guess.reason):
            assert plain(told) in page
        assert all(guess.answers[index] in page for index in guess.right)


def ways_of(plan):
    """The ways from the page for a class to the views of a plan."""
    for block in classroom.content(View(CLASSROOM), (), whole=True):
        for each in block.blocks if isinstance(block, Section) else ():
            if isinstance(each, Way) and each.key.startswith(f"{plan.name}-"):
                yield each


def is_silent(picture):
    """Whether a picture answers nothing: a sentence without arcs, or the sentence before another."""
    data = picture["data"]
    if picture["component"] == "arcs":
        return data["rows"] == {}
    return data.get("name") == "first"


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: plan.name)
def test_no_answer_is_on_a_pupils_screen_before_it_is_shown(plan):
    ways = list(ways_of(plan))
    assert len(ways) == len(plan.parts)
    for part, way in zip(plan.parts, ways, strict=True):
        link = tidy(way.page.address, urlencode(way.query))
        assert dict(parse_qsl(link)).items() == dict(parse_qsl(tidy(part.page, part.link))).items()
        if part.act != "ask":
            continue
        # Before the teacher asks, and while the question is open; then the map and the sentence tell nothing.
        for seen in ("as it is", "closed"):
            screen = show(Shown(part.page, link, seen))
            # A lab shows what does not answer its question (tests/pages/test_labs.py holds that).
            assert part.page in LABS or all(map(is_silent, screen["pictures"])), (part.name, seen)
            assert guess_of(part.page, link).reason not in screen["html"]
        after = {each["component"] for each in show(Shown(part.page, link, "opened"))["pictures"]}
        assert after, part.name


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: plan.name)
def test_revealed_steps_before_softmax_keep_the_weights_and_step_3_the_scores_that_are_asked_later(plan):
    asked = {dict(parse_qsl(part.link)).get("step"): part for part in plan.parts if part.page == "step_by_step"}
    for step in keys()[: keys().index("softmax")]:
        if step in asked:
            pictures = show(Shown("step_by_step", asked[step].link, "opened"))["pictures"]
            (words,) = (each for each in pictures if each["component"] == "arcs")
            assert is_silent(words), step
    reason = guess_of("step_by_step", asked["scores"].link).reason
    (highest,) = re.findall(r"<b>([\d.]+)</b>", reason)
    for why in ("", "&why=1"):
        link = asked["qkv"].link
        assert highest not in show(Shown("step_by_step", link + why, "opened"))["html"]
        assert highest not in guess_of("step_by_step", link + why).reason
    pictures = show(Shown("step_by_step", asked["softmax"].link, "opened"))["pictures"]
    assert not all(map(is_silent, pictures))
