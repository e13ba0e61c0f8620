"""The proof as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

from attention.core.messages import message
from attention.page.blocks import ProofLine


def proof(lines: Sequence[ProofLine]) -> str:
    """Return the comparison of our numbers with each model's own, as HTML: a mark that opens."""
    hint = html.escape(message("Every link, with its own difference"))
    told, rows = "".join(map(_told, lines)), "".join(map(_rows, lines))
    return f'<details><summary title="{hint}">{told}</summary><section tabindex="0">{rows}</section></details>'


def _told(line: ProofLine) -> str:
    mark, kind = ("✓", "good") if line.holds else ("✗", "bad")
    return f'<div class="proof-{kind}">{mark}<span class="told"> {html.escape(line.sentence)}</span></div>'


def _rows(line: ProofLine) -> str:
    titles, *others = line.rows
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in others)
    return f"<table><tr>{head}</tr>{rows}</table>{line.html}"
