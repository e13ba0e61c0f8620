"""Syntax highlighting: code as HTML with a class for comments, keywords, strings and numbers."""

from __future__ import annotations

import html
import io
import keyword
import tokenize
from collections.abc import Iterator

_KINDS = {tokenize.COMMENT: "comment", tokenize.STRING: "string", tokenize.NUMBER: "number"}


def coloured(source: str, language: str) -> str:
    """Return code as HTML; code that is not valid Python is not coloured.

    >>> coloured("x = 1  # <one>", "python")
    'x = <span class="number">1</span>  <span class="comment"># &lt;one&gt;</span>'
    """
    if language != "python":
        return html.escape(source)
    try:
        return "".join(_pieces(source))
    except (tokenize.TokenError, SyntaxError):
        return html.escape(source)


def _pieces(source: str) -> Iterator[str]:
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    done = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = "keyword" if token.type == tokenize.NAME and keyword.iskeyword(token.string) else _KINDS.get(token.type)
        if kind is None:
            continue
        begin, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        yield f'{html.escape(source[done:begin])}<span class="{kind}">{html.escape(source[begin:end])}</span>'
        done = end
    yield html.escape(source[done:])
