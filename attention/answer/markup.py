"""The proof as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

from attention.core.messages import message
from attention.page.blocks import ProofLine

__all__ = ["proof_lines"]


def proof_lines(lines: Sequence[ProofLine]) -> str:
    """Return the comparison of our numbers with each model's own, as HTML; each line opens."""
    return "".join(map(_proof, lines))


def _proof(line: ProofLine) -> str:
    mark, kind = ("✓", "good") if line.holds else ("✗", "bad")
    titles, *others = line.rows
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in others)
    hint = html.escape(message("Every link of this, with its own difference"))
    return (
        f'<details class="proof-{kind}"><summary title="{hint}">'
        f'<div>{mark}<span class="told"> {html.escape(line.sentence)}</span></div></summary>'
        f'<section tabindex="0"><table><tr>{head}</tr>{rows}</table>{line.html}'
        "</section></details>"
    )
