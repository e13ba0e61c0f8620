"""A presented step: what it leaves out, and what it says."""

import pytest

from attention.lesson.steps import STEPS
from attention.models import list_models
from attention.page.pages import FRONT, STEP_BY_STEP
from tests.sweep import sweep

MODELS = [info.model_id for info in list_models()]


@pytest.mark.parametrize("model", sweep(MODELS, quick=("toy", "vit-digits")))
def test_every_step_has_its_heading_its_picture_and_its_sentence_and_no_controls(open_page, model):
    for step in STEPS:
        shown = open_page(model=model, step=step.key, present="1")
        assert shown.notices == []
        assert shown.controls() == {}
        assert len(shown.headings(2)) == 1
        assert len(shown.components()) >= 2
        (said,) = [body for body in shown.html if 'class="prose"' in body]
        assert said.count("<p>") == 1
        assert shown.proofs


def test_queries_and_keys_before_they_are_turned_are_not_for_a_room(open_page):
    there = {"main_queries", "main_keys", "main_values"}
    before = {"main_projected_queries", "main_projected_keys"}
    for query, wanted in (({}, there | before), ({"present": "1"}, there)):
        pictures = set(open_page(model="smollm2-135m", step="qkv", text="The cat sat", **query).components())
        assert pictures & (there | before) == wanted


def test_what_is_asked_stands_there_too_and_hides_the_answer(open_page):
    shown = open_page(model="toy", step="scores", present="1", guess="1")
    assert "question" in shown.components()
    assert "main_scores" not in shown.components()


def test_a_presentation_ends_with_its_page(open_page):
    shown = open_page(model="toy", step="scores", present="1").open_link(FRONT, {"model": "toy"})
    assert shown.ways
    assert not [link for link in shown.ways.values() if "present" in link]
    assert shown.to_page(STEP_BY_STEP).controls()


def test_no_other_page_is_without_controls(open_page):
    assert "text" in open_page("pages/all_heads.py", model="toy", present="1").controls()
