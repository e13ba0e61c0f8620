"""The content of pages: blocks without Streamlit, each with a unique key, for the app and for a file."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from attention.export.of_page import page_file
from attention.figures.bars import Bars
from attention.figures.charts import Chart
from attention.figures.matrix import Matrix
from attention.figures.question import Answer
from attention.lesson.head_context import HeadContext
from attention.lesson.proof import prove
from attention.lesson.steps import STEPS, step_of
from attention.models import load
from attention.page.address import Address, RunKey
from attention.page.blocks import (
    Download,
    Fold,
    Formula,
    Heading,
    Panels,
    Picture,
    Section,
    Setting,
    Table,
    Way,
    Work,
    walk,
)
from attention.page.content.pane import Pane
from attention.page.content.registry import CONTENTS
from attention.page.pages import CODE_LAB, OF_LABS, STEP_BY_STEP
from attention.page.parameters import Keys
from attention.page.settings import ANSWER, WAY
from attention.page.view import View
from tests.drawn import traces
from tests.fresh import Fresh
from tests.sweep import sweep

MODELS = ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"]


@pytest.fixture(scope="module")
def all_models():
    return cache(load)


@pytest.fixture(scope="module")
def pane_of(all_models):
    traces = {}

    def make(view, *, is_other=False):
        model = all_models("toy" if is_other else view.model)
        key = (model.info.model_id, view.text)
        if key not in traces:
            traces[key] = model.trace(view.text)
        trace = traces[key]
        scene = HeadContext(trace, trace.info.default_layer, trace.info.default_head, 1)
        opened = step_of(view.step).opened(scene)
        address = Address(RunKey(model.info.model_id, "", view.text, "none"), "encoder", 0, 0, 1)
        found = Fresh(trace, opened)
        return Pane(trace.info, is_other, opened, prove(trace), whole=trace, address=address, found=found)

    return make


def view_of(page, model, all_models, **values):
    text = all_models(model).info.reading.first
    return View.of(page, **{"model": model, "text": text, **values})


# What a quick run takes: each page with one of the models.
FILES = [(page, MODELS[number % len(MODELS)]) for number, page in enumerate(CONTENTS)]


@pytest.mark.parametrize(
    ("page", "model"), sweep(product(CONTENTS, MODELS), quick=FILES), ids=lambda value: getattr(value, "address", value)
)
def test_blocks_have_names_of_their_own_and_folded_ones_are_not_made(page, model, pane_of, all_models):
    view = view_of(page, model, all_models)
    blocks = walk(CONTENTS[page].make(view, [pane_of(view)]))
    assert blocks
    keyed = (Picture, Table, Setting, Panels, Section, Way, Work)
    keys = [block.key for block in blocks if isinstance(block, keyed)]
    keys += [block.file for block in blocks if isinstance(block, Download)]
    assert len(keys) == len(set(keys))
    assert [
        block for block in blocks if isinstance(block, Fold) and block.parameter and not block.is_open and block.blocks
    ] == []
    for block in blocks:
        if isinstance(block, Panels):
            assert set(block.contents) == {block.value}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.key)
def test_a_whole_page_has_every_panel_and_what_the_app_shows(step, pane_of, all_models):
    view = view_of(STEP_BY_STEP, "minilm-l6", all_models, step=step.key)
    panes = [pane_of(view)]
    content = CONTENTS[STEP_BY_STEP].make
    shown, whole = walk(content(view, panes)), walk(content(view, panes, whole=True))
    (panels,) = [block for block in whole if isinstance(block, Panels)]
    assert set(panels.contents) == set(panels.options)
    for kind in (Heading, Formula):
        told = [block for block in whole if isinstance(block, kind)]
        # On paper, where there is no map, the heads have a heading of their own; and nothing leads on from there.
        assert [block for block in shown if isinstance(block, kind) and getattr(block, "text", "") != "What next"] == [
            block for block in told if "all heads of" not in getattr(block, "text", "")
        ]
    assert [block for block in whole if isinstance(block, Way)] == []
    leads = {"main_next_layer"}
    assert {block.key for block in shown if isinstance(block, Picture)} - leads <= {
        block.key for block in whole if isinstance(block, Picture)
    }
    text = page_file(view, panes)
    assert f"{STEPS.index(step) + 1}. {step.heading(panes[0].scene)}" in text
    assert "recomputed vs." in text
    assert "<math" in text


@pytest.mark.parametrize(("page", "model"), FILES, ids=lambda value: getattr(value, "address", value))
def test_every_page_becomes_a_file(page, model, pane_of, all_models):
    view = view_of(page, model, all_models)
    text = page_file(view, [pane_of(view)])
    assert text.startswith("<!doctype html>")
    assert "$" not in text[text.index("<main>") : text.index("</main>")].replace("$x$", "")


def test_one_way_is_made_or_all_of_them(pane_of, all_models):
    view = view_of(CODE_LAB, "minilm-l6", all_models)
    for whole, count in ((False, 1), (True, 5)):
        blocks = walk(CONTENTS[CODE_LAB].make(view, [pane_of(view)], whole=whole))
        (panels,) = [block for block in blocks if isinstance(block, Panels)]
        assert len(panels.contents) == count
    assert panels.parameter is WAY


@pytest.mark.parametrize("page", CONTENTS, ids=lambda page: page.address)
def test_every_fold_and_table_of_a_page_has_a_key_of_its_own_for_the_link(page, pane_of, all_models):
    view = view_of(page, "minilm-l6", all_models)
    blocks = walk(CONTENTS[page].make(view, [pane_of(view)], whole=True))
    folds = [block.key for block in blocks if isinstance(block, Fold)]
    tables = [block.key for block in blocks if isinstance(block, Table) and not block.is_whole]
    pictures = {block.key for block in blocks if isinstance(block, Picture)}
    assert not pictures & {*folds, *tables}
    for keys in (folds, tables):
        assert sorted(keys) == sorted(set(keys))
        assert Keys().fits(tuple(sorted(keys))[:16], None)


def numbers_of(figure):
    """All numbers that bars or a chart show."""
    if isinstance(figure, Bars):
        return np.concatenate([values for _, _, values in figure.series])
    return np.concatenate([trace.x if trace.orientation == "h" else trace.y for trace in traces(figure)])


@pytest.mark.parametrize("lab", OF_LABS, ids=lambda lab: lab.address)
@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
def test_what_a_lab_draws_can_be_taken_along(lab, model, pane_of, all_models):
    if lab.job is not None and lab.job.accepts is not None:
        return
    page = OF_LABS[lab]
    view = view_of(page, model, all_models)
    # Whoever asks to be shown the answer sees the lab.
    asked = CONTENTS[page].asked(view, [pane_of(view)]).guess
    view = view if asked is None else view.with_value(ANSWER, Answer(asked.mark))
    blocks = walk(CONTENTS[page].make(view, [pane_of(view)]))
    tables = {block.file: block for block in blocks if isinstance(block, Table) and block.file}
    drawn = {block.key: block.figure for block in blocks if isinstance(block, Picture)}
    figures = {key: figure for key, figure in drawn.items() if isinstance(figure, Bars | Chart | Matrix)}
    assert figures
    for key, figure in figures.items():
        if f"{key}_numbers" not in {table.key for table in tables.values()}:
            assert key in tables
            continue
        cells = {cell for column in tables[key].make().values() for cell in column}
        values = figure.values if isinstance(figure, Matrix) else numbers_of(figure)
        hidden = getattr(figure, "hidden", None)
        seen = np.asarray(values)[() if hidden is None else ~hidden]
        assert {repr(float(value)) for value in np.ravel(seen)} <= cells
