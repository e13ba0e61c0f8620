"""Cells of a notebook as data, and the notebook's file.

A notebook has no content policy, so no user text may become markup in it: in code it is a Python literal, and in text
every character that Markdown, HTML or TeX would interpret is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from attention.core.messages import language


@dataclass(frozen=True, slots=True)
class Text:
    """A cell with Markdown; see ``plain`` and ``told`` for untrusted text."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Code:
    """A cell with Python; if ``is_folded``, its source is collapsed."""

    source: str
    is_folded: bool = False


Cell = Text | Code

# All that Markdown or HTML may interpret; some characters only at the start of a line.
_MARKUP = re.compile(r"[\\`*_\[\]<>#|~$&@]|:(?=\S)|\.(?=[^\W\d])|^\d+(?=[.)](?:\s|$))|^[-+=]")
# TeX's delimiters: notebooks look for them in the rendered page, but not inside code.
_TEX = "$\\"
# Characters not allowed in HTML or JSON.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Not every notebook supports this line-break hint.
_BREAK = r"\allowbreak"
_KEPT_TAGS = frozenset({"strong", "em", "b", "i", "bdi", "sub", "sup", "code"})


def plain(text: str) -> str:
    """Return any text as Markdown that shows it unchanged, on one line.

    >>> plain("# $x$ *and* <b>")
    '&#35; <code>&#36;</code>x<code>&#36;</code> &#42;and&#42; &#60;b&#62;'
    """
    line = " ".join(_UNWRITABLE.sub("\ufffd", text).split())
    return _MARKUP.sub(lambda found: "".join(map(_escaped, found[0])), line)


def _escaped(sign: str) -> str:
    entity = f"&#{ord(sign)};"
    return f"<code>{entity}</code>" if sign in _TEX else entity


def told(html: str) -> str:
    """Return a lesson text (HTML with escaped user text) as Markdown.

    >>> told('<p>Of <b class="q"><bdi>*cat*</bdi></b> there is <strong>1</strong>.</p>')
    'Of <b><bdi>&#42;cat&#42;</bdi></b> there is <strong>1</strong>.'
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "\n\n".join(paragraph for each in "".join(reader.written).split("\n\n") if (paragraph := each.strip()))


class _Reader(HTMLParser):
    """Collect a lesson text's tags without attributes, and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:  # noqa: ARG002 - its interface
        """Write an inline tag; any other begins a paragraph."""
        self.written.append(f"<{tag}>" if tag in _KEPT_TAGS else "\n\n")

    def handle_endtag(self, tag: str) -> None:
        """Write the end of an inline tag; any other ends a paragraph."""
        self.written.append(f"</{tag}>" if tag in _KEPT_TAGS else "\n\n")

    def handle_data(self, data: str) -> None:
        """Write text, with the spaces at its ends that separate it from its neighbours."""
        before, after = (" " if each.isspace() else "" for each in (data[:1], data[-1:]))
        self.written.append(before if data.isspace() else f"{before}{plain(data)}{after}")


def headed(title: str, *paragraphs: str, level: int = 1) -> Text:
    """Return a cell that begins with a heading; ``title`` is plain text, the paragraphs are Markdown."""
    return Text("\n\n".join((f"{'#' * level} {plain(title)}", *paragraphs)))


def formula(latex: str) -> str:
    """Return a displayed formula."""
    return f"$${latex.replace(_BREAK, '')}$$"


def written(title: str, cells: Sequence[Cell]) -> str:
    """Return cells as a notebook file (nbformat 4.5); equal cells give equal files."""
    # The import takes a tenth of a second.
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

    # The default IDs are random.
    named = {"id": f"cell-{number}"}
    if isinstance(cell, Text):
        return v4.new_markdown_cell(cell.markdown, **named)
    folded = {"jupyter": {"source_hidden": True}, "tags": ["hide-input"]} if cell.is_folded else {}
    return v4.new_code_cell(cell.source.rstrip("\n"), metadata=folded, **named)
