"""Cells of a notebook as data, and how they are written: what was typed is text in them, never Markdown or code.

A notebook has no policy that forbids it anything. So nothing that a user typed may become markup in it: in code it
stands as a Python literal, and in text with every sign escaped that Markdown, HTML or TeX would read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from attention.core.messages import language

__all__ = ["Cell", "Code", "Text", "formula", "headed", "plain", "told", "written"]


@dataclass(frozen=True, slots=True)
class Text:
    """A cell with text in Markdown; see ``plain`` and ``told`` for what is not written here."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Code:
    """A cell with Python; what is ``folded`` is shown only when it is opened."""

    source: str
    is_folded: bool = False


Cell = Text | Code

# In a line that begins with something else, Markdown and HTML read none of the others.
_MARKUP = re.compile(r"[\\`*_\[\]<>#|~$&@]|:(?=\S)|\.(?=[^\W\d])|^\d+(?=[.)](?:\s|$))|^[-+=]")
# What TeX begins with in a notebook: it is looked for in the page as it is drawn, but not in what is code.
_TEX = "$\\"
# What HTML and JSON cannot hold.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A hint where a line may break, which not every notebook knows.
_BREAK = r"\allowbreak"
_KEPT_TAGS = frozenset({"strong", "em", "b", "i", "bdi", "sub", "sup", "code"})


def plain(text: str) -> str:
    """Return any text as Markdown that shows it as it is, in one line.

    >>> plain("# $x$ *and* <b>")
    '&#35; <code>&#36;</code>x<code>&#36;</code> &#42;and&#42; &#60;b&#62;'
    """
    line = " ".join(_UNWRITABLE.sub("\ufffd", text).split())
    return _MARKUP.sub(lambda found: "".join(map(_escaped, found[0])), line)


def _escaped(sign: str) -> str:
    entity = f"&#{ord(sign)};"
    return f"<code>{entity}</code>" if sign in _TEX else entity


def told(html: str) -> str:
    """Return a lesson text, which is HTML with typed text escaped in it, as Markdown.

    >>> told('<p>Of <b class="q"><bdi>*cat*</bdi></b> there is <strong>1</strong>.</p>')
    'Of <b><bdi>&#42;cat&#42;</bdi></b> there is <strong>1</strong>.'
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "\n\n".join(paragraph for each in "".join(reader.written).split("\n\n") if (paragraph := each.strip()))


class _Reader(HTMLParser):
    """What is collected while a lesson text is read: tags without their attributes, and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:  # noqa: ARG002 - its interface
        """Write a tag that stands in a line; any other begins a paragraph."""
        self.written.append(f"<{tag}>" if tag in _KEPT_TAGS else "\n\n")

    def handle_endtag(self, tag: str) -> None:
        """Write the end of such a tag."""
        self.written.append(f"</{tag}>" if tag in _KEPT_TAGS else "\n\n")

    def handle_data(self, data: str) -> None:
        """Write text, with the spaces at its ends, which part it from what stands beside it."""
        before, after = (" " if each.isspace() else "" for each in (data[:1], data[-1:]))
        self.written.append(before if data.isspace() else f"{before}{plain(data)}{after}")


def headed(title: str, *paragraphs: str, level: int = 1) -> Text:
    """Return a cell that begins with a heading; the paragraphs are Markdown, and the title is not."""
    return Text("\n\n".join((f"{'#' * level} {plain(title)}", *paragraphs)))


def formula(latex: str) -> str:
    """Return a formula in a line of its own."""
    return f"$${latex.replace(_BREAK, '')}$$"


def written(title: str, cells: Sequence[Cell]) -> str:
    """Return cells as a notebook file (nbformat 4.5): the same text whenever the cells are the same."""
    # Imported here, because it takes a tenth of a second, and only who opens a notebook needs it.
    import nbformat
    from nbformat import v4

    made = [_node(number, cell) for number, cell in enumerate(cells, start=1)]
    about = {
        "title": _UNWRITABLE.sub("\ufffd", title),
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
        "lang": language().name,
    }
    text: str = nbformat.writes(v4.new_notebook(cells=made, metadata=about))
    return text + "\n"


def _node(number: int, cell: Cell) -> object:
    from nbformat import v4

    # Otherwise each cell has an id by chance, and no two files were the same.
    named = {"id": f"cell-{number}"}
    if isinstance(cell, Text):
        return v4.new_markdown_cell(cell.markdown, **named)
    folded = {"jupyter": {"source_hidden": True}, "tags": ["hide-input"]} if cell.is_folded else {}
    return v4.new_code_cell(cell.source.rstrip("\n"), metadata=folded, **named)
