"""*Open as a notebook*: the menu gives a file with the page's head, and the page stays."""

import re

import nbformat
import numpy as np
import pytest
from playwright.sync_api import expect

from attention.page.pages import OF_LABS
from tests.notebooks import code_of, run_here

SENTENCE = "The otter <b>slept</b> & $x$"
BY_HAND, RECORDED = "Open as a notebook (.ipynb)", "Notebook that runs the model (.ipynb)"


def test_the_head_of_the_page_is_in_the_notebook(shared_tab, models):
    tab = shared_tab.go("step_by_step", text=SENTENCE, model="toy", head="2", word="1", step="softmax")
    address = tab.page.url
    tab.menu("Share")
    download = tab.take_away(BY_HAND)
    assert download.suggested_filename == "attention-by-hand.ipynb"
    made, _ = run_here(code_of(download.path().read_text("utf-8")))
    trace = models["toy"].trace(SENTENCE)
    assert made["tokens"] == [token.text for token in trace.tokens]
    np.testing.assert_allclose(made["weights"], trace.layers[0].head(1).weights, rtol=0, atol=1e-5)
    assert tab.page.url == address


@pytest.mark.parametrize(
    "page",
    ["all_heads", "compare", "find_it", "masks", "whole", "cost"],
)
def test_every_page_that_reads_a_sentence_in_a_head_offers_both(shared_tab, models, page):
    tab = shared_tab.go(page, text=SENTENCE, layer="3", head="9")
    read = {}
    for label, name in ((BY_HAND, "attention-by-hand"), (RECORDED, "attention-recorded")):
        tab.menu("Share")
        download = tab.take_away(label)
        assert download.suggested_filename == f"{name}.ipynb"
        read[label] = download.path().read_text("utf-8")
        notebook = nbformat.reads(read[label], as_version=4)
        nbformat.validate(notebook)
        title, place = notebook.cells[0].source.split("\n\n")[:2]
        assert title.startswith("# ")
        assert re.findall(r"\d+|MiniLM", place) == ["3", "9", "MiniLM"]
        # A lab has a note that its settings stay behind, and a page about no single head one that says which this is.
        is_lab, is_about_none = page in [lab.address for lab in OF_LABS.values()], page in {"whole", "cost"}
        notes = [cell.source for cell in notebook.cells[1 : 1 + is_lab + is_about_none]]
        assert len(notes) == is_lab + is_about_none
        assert not any(note.startswith("#") for note in notes)
        assert not is_about_none or re.findall(r"\d+", notes[-1]) == ["3", "9"]
        assert not is_about_none or not tab.control("Head").count()
    made, _ = run_here(code_of(read[BY_HAND]))
    weights = models["minilm-l6"].trace(SENTENCE).layers[2].head(8).weights
    np.testing.assert_allclose(made["weights"], weights, rtol=0, atol=1e-5)


@pytest.mark.parametrize("page", ["many_sentences", "classroom", "models"])
def test_a_page_that_reads_no_single_sentence_offers_none(shared_tab, page):
    tab = shared_tab.go(page)
    tab.menu("Share")
    expect(tab.page.get_by_role("button", name="Copy link", exact=True)).to_be_visible()
    expect(tab.page.get_by_role("link", name=BY_HAND, exact=True)).to_have_count(0)
