"""The registry of pages: names, addresses, and agreement with docs/pages.md."""

from pathlib import Path

import pytest

from attention.page import pages
from attention.page.page import Page
from attention.page.pages import FRONT, OF_LABS, PAGES, everything, table
from attention.page.settings import SHARED

ROOT = Path(__file__).parents[2]


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


def test_the_documentation_has_the_table_of_the_pages():
    assert table() in (ROOT / "docs" / "pages.md").read_text("utf-8")
    lines = table().splitlines()
    assert len(lines) == len(PAGES) + 2
    assert table([*PAGES, Page("made_up", "Made up", "Class", "Nothing at all.")]).splitlines() == [
        *lines,
        "| Class | **Made up** | Nothing at all. |",
    ]


def test_no_two_parameters_have_one_name_and_all_that_is_reset_can_be_set():
    declared = everything(FRONT)
    names = [parameter.name for parameter in declared]
    different = {id(parameter) for parameter in (*SHARED, *(own for page in PAGES for own in page.own))}
    assert len(set(names)) == len(names) == len(different)
    for parameter in declared:
        assert {*parameter.resets, *filter(None, [parameter.yields_to])} <= set(names) - {parameter.name}
