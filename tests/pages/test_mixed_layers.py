"""A model of which some layers have no attention, on every page."""

import pytest

from attention.answer.running import load_silently, run_page
from attention.models import by_id, local
from attention.page.blocks import Notice, walk
from attention.page.content.registry import CONTENTS
from attention.page.pages import ALL_HEADS, EXPLORE, LABS_PAGE, MANY_SENTENCES, PAGES, STEP_BY_STEP, SYNTAX_CHECK
from attention.page.view import View
from tests import tiny_models
from tests.pages.forgetting import forget

QUERY = {"model": "lfm2", "text": "The cat sat on the mat, the cat sat"}


def blocks_of(query, page):
    """Everything on a page, as in its file."""
    view, notices = View.from_query(query, page, by_id())
    assert not notices
    return walk(CONTENTS[page].make(view, run_page(view, load_silently, patience=0), whole=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.make("lfm2", tmp_path_factory.mktemp("mixed") / "lfm2")


@pytest.fixture(autouse=True)
def _alone(folder, monkeypatch):
    monkeypatch.setenv(local.MODEL_DIRS_VARIABLE, str(folder))
    forget()
    yield
    forget()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_shows_it_or_says_why_not(open_page, few_sentences, page):
    shown = open_page(page.file, **QUERY)
    is_refused = any("Some layers of lfm2" in notice for notice in shown.notices)
    assert is_refused == (page in (MANY_SENTENCES, SYNTAX_CHECK))
    # With the content of a lab, which follows its question; the overviews have none on paper.
    assert bool(blocks_of(QUERY, page)) == (page not in (EXPLORE, LABS_PAGE))


@pytest.mark.parametrize("experiment", ["heads", "lengths", "words", "shuffled"])
def test_each_experiment_runs_in_the_layers_that_have_it(experiment):
    page = next(page for page in PAGES if page.address == "explain")
    found = blocks_of({**QUERY, "experiment": experiment, "layer": "4"}, page)
    told = [block.sentence for block in found if isinstance(block, Notice)]
    assert any("Some layers" in each for each in told) == (experiment == "words")


def test_all_steps_run_in_the_layers_that_have_it(steps_of):
    for shown in steps_of(model="lfm2", layer="4", text="The cat sat on the mat"):
        assert shown.widget("layer").options == ["2 of 4", "4 of 4"]
        assert shown.widget("layer").value == 1
        assert not shown.notices


def test_a_link_to_a_layer_without_attention_shows_another_and_says_what_it_is(open_page):
    shown = open_page(STEP_BY_STEP.file, model="lfm2", layer="3", text="The cat sat on the mat")
    (notice,) = shown.notices
    assert "Layer 3" in notice
    assert "convolution" in notice
    assert shown.widget("layer").value in (0, 1)


def test_all_heads_has_a_line_for_each_layer_without_attention(open_page):
    groups = open_page(ALL_HEADS.file, model="lfm2", text="The cat sat on the mat").component("atlas")["groups"]
    assert [len(group["heads"]) for group in groups] == [0, 4, 0, 4]
    assert "convolution" in groups[2]["title"]
    assert groups[3]["heads"][0]["layer"] == 3
