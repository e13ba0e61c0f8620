"""The registry of pages: names, addresses, and agreement with docs/pages.md."""

from pathlib import Path
from typing import get_args

import pytest

from attention.models import list_models
from attention.page import pages
from attention.page.page import Group, Page
from attention.page.pages import FRONT, GROUPS, OF_LABS, PAGES, everything, table
from attention.page.parameters import Context, read
from attention.page.settings import MODEL, SHARED
from attention.page.view import View
from tests.sweep import sweep

ROOT = Path(__file__).parents[2]
INFOS = {info.model_id: info for info in list_models()}
HOSTILE = (
    *("", " ", "0", "-1", "1.5", "²", "٣", "99999", "100000", "1e3", "0x1", "nan", "true", "None", "A-", "-", "1--2"),
    *("scores", "scores-1", "scores-1-x", "query", "query-", "value-1", "C-1", "A-x", "__class__", "<b>", "../toy"),
    *("\x00\ud800\u202e", "a" * 5000, "😀" * 500, "'; DROP TABLE models; --", "{0.__class__}%s"),
)


def test_every_page_has_a_file_and_every_file_is_a_page():
    files = {"app.py", *(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))}
    assert {page.file for page in PAGES} == files
    assert len({page.title for page in PAGES}) == len(PAGES) == len(files)


@pytest.mark.parametrize("page", [page for page in PAGES if page is not FRONT], ids=lambda page: page.title)
def test_a_file_draws_the_page_that_it_is_named_after(page):
    written = (ROOT / page.file).read_text("utf-8")
    if page in OF_LABS.values():
        assert f"OF_LABS[{page.address}.LAB]" in written
        return
    name = next(name for name, value in vars(pages).items() if value is page)
    assert f"import {name}\n" in written


def test_addresses_stay_as_they_were_sent():
    assert {page.address for page in PAGES} >= {
        *("", "step_by_step", "all_heads", "neuron_view", "compare", "many_sentences", "syntax_check", "code_lab"),
        "models",
    }


def test_a_group_is_there_once_it_has_a_page():
    assert set(GROUPS) == {page.group for page in PAGES}
    assert [name for name in get_args(Group) if name in GROUPS] == list(GROUPS)


def test_the_documentation_has_the_table_of_the_pages():
    assert table() in (ROOT / "docs" / "pages.md").read_text("utf-8")
    lines = table().splitlines()
    assert len(lines) == len(PAGES) + 2
    assert table([*PAGES, Page("made_up", "Made up", "Class", "Nothing at all.")]).splitlines() == [
        *lines,
        "| Class | **Made up** | Nothing at all. |",
    ]


def test_what_a_page_is_for_is_one_sentence():
    for page in PAGES:
        assert page.purpose.endswith(".")
        assert page.purpose.count(". ") == 0


def test_no_two_parameters_have_one_name_and_all_that_is_reset_can_be_set():
    declared = everything(FRONT)
    names = [parameter.name for parameter in declared]
    different = {id(parameter) for parameter in (*SHARED, *(own for page in PAGES for own in page.own))}
    assert len(set(names)) == len(names) == len(different)
    for parameter in declared:
        assert {*parameter.resets, *filter(None, [parameter.yields_to])} <= set(names) - {parameter.name}


@pytest.mark.parametrize("page", sweep(PAGES, quick=PAGES[::4]), ids=lambda page: page.title)
def test_a_hostile_value_of_any_parameter_is_one_that_there_is_or_is_complained_about(page):
    """What is taken is a value, and what is not changes nothing else.

    Every page meets every value of every parameter, and every such value meets every model, each on other pages.
    """
    contexts = [Context(INFOS, model) for model in INFOS]
    opened = {model: View.from_query({"model": model}, page, INFOS)[0] for model in INFOS}
    for at, parameter in enumerate(each for each in everything(FRONT) if each is not MODEL):
        for number, value in enumerate(HOSTILE):
            context = contexts[(PAGES.index(page) + at + number) % len(contexts)]
            link = {"model": context.model, parameter.name: value}
            view, notices = View.from_query(link, page, INFOS)
            assert len(notices) <= 1, link
            assert parameter.fits(view[parameter], context), link
            assert view.without(parameter) == opened[context.model].without(parameter), link
            if notices:
                was = opened[context.model][parameter]
                assert view[parameter] == was or parameter.name in ("text", "pair", "versus"), link
            assert read(parameter, view.to_query(), context)[1] == "", link
