"""Typed text stays text in a notebook, whatever it means in Markdown, HTML and TeX."""

import html
import json
import re

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from attention.export.explanation import explanation
from attention.export.notebook.cells import Code, Text, headed, plain, told, written
from attention.lesson.prose import typed, word

# As notebooks read Markdown: with HTML, tables, and text struck through.
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[here](javascript:alert(1))",
    "![x](https://example.org/x.png)",
    "https://example.org and www.example.org",
    "a@example.org",
    "$x$ and $$y$$ and \\(z\\) and \\begin{x}",
    "# heading",
    "1. one",
    "2) two",
    "- item",
    "+ item",
    "> quoted",
    "| a | b |",
    "    code",
    "`x` ```y``` ~~z~~ ~~~",
    "**b** *i* __b__ _i_",
    "&amp; &lt; &#36;",
    "===",
    "---",
    "$focus ${focus}",
]
TAG = re.compile(r"<[^>]*>")
# What HTML writes for these differs, or there is no character to be shown.
texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), max_size=60) | st.sampled_from(NASTY)


def seen(markdown):
    """What a reader sees of a paragraph, and the tags around it."""
    rendered = READER.render(markdown)
    return html.unescape(TAG.sub("", rendered)).strip("\n"), set(re.findall(r"</?(\w+)", rendered))


def outside_code(markdown):
    """What TeX is looked for in: the page as it is drawn, but not what is code."""
    return html.unescape(TAG.sub("", re.sub(r"<code>.*?</code>", "", READER.render(markdown))))


@given(texts)
def test_any_text_is_shown_as_it_is_and_is_no_markup(text):
    shown, tags = seen(plain(text))
    assert shown == " ".join(text.split())
    assert tags <= {"p", "code"}
    assert not set("$\\") & set(outside_code(plain(text)))


@given(texts)
def test_a_typed_word_in_a_lesson_is_shown_as_it_is(text):
    shown, tags = seen(told(f"<p>Of {typed(text)} there is <b>one</b>.</p>"))
    # Browsers make one space of several.
    assert shown.split() == f"Of {text} there is one.".split()
    assert tags <= {"p", "bdi", "b", "code"}


@pytest.mark.parametrize("nasty", NASTY)
def test_a_heading_has_one_line_and_no_markup(nasty):
    shown, tags = seen(headed(f"1 · {nasty}", level=2).markdown)
    assert shown == f"1 · {' '.join(nasty.split())}"
    assert tags <= {"h2", "code"}


def test_a_lesson_keeps_its_paragraphs_and_what_is_strong():
    assert told("<p>One <strong>two</strong></p>\n<p>and x<sub>i</sub></p>") == (
        "One <strong>two</strong>\n\nand x<sub>i</sub>"
    )


def test_what_cannot_be_written_is_replaced():
    assert plain("a\x00b\ud800c\x1b") == "a\ufffdb\ufffdc\ufffd"
    cells = (headed(word("\ud800")), Code("x = " + repr("\ud800")))
    assert json.loads(written("\ud800", cells).encode())["metadata"]["title"] == "\ufffd"


def test_the_same_cells_give_the_same_file_which_is_a_valid_notebook():
    cells = (Text("One."), Code("x = 1\n"), Code("y = 2", is_folded=True))
    first = written("A title", cells)
    assert first == written("A title", cells)
    notebook = nbformat.reads(first, as_version=4)
    nbformat.validate(notebook)
    assert [(cell.cell_type, cell.source) for cell in notebook.cells] == [
        ("markdown", "One."),
        ("code", "x = 1"),
        ("code", "y = 2"),
    ]
    assert [cell.metadata.get("jupyter", {}) for cell in notebook.cells] == [{}, {}, {"source_hidden": True}]


def test_a_notebook_that_could_not_be_made_says_why():
    notebook = nbformat.reads(explanation("head.ipynb", "It is *not* here."), as_version=4)
    nbformat.validate(notebook)
    assert seen(notebook.cells[0].source)[0] == "It is *not* here."
