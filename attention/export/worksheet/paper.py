"""A worksheet as an HTML file without scripts: for paper of any size, the keyboard, and screen readers.

Every blank is a named field ("blank 7: to fill in"), which prints as a box. The solutions begin on a new page, and can
be left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.export.worksheet.base import Blank, Grid, Row, Task, Worksheet
from attention.figures.format import MINUS
from attention.lesson.prose import lesson
from attention.lesson.quiz import Guess
from attention.page.page_file import html_head, plain

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

_NUMBER = re.compile(rf"[{MINUS}∞\d.]+")
_STYLES = ASSETS / "file" / "worksheet.css"


def paper(sheet: Worksheet, *, with_solutions: bool = True, other: str = "") -> str:
    """Return a worksheet as a file; ``other`` is the address of the version with or without solutions."""
    name = message("Worksheet: {title}", title=sheet.title)
    title = f"{sheet.text} · {name}" if sheet.text else name
    parts = [_head(sheet, name), _way(with_solutions, other), *_sheet(sheet)]
    if with_solutions:
        parts.append(_solutions(sheet))
    body = "\n".join(filter(None, parts))
    return f"""{html_head(title, _STYLES.read_text("utf-8").strip(), policy=POLICY)}<body>
<main>
{body}
</main>
</body>
</html>
"""


def _head(sheet: Worksheet, name: str) -> str:
    fields = "".join(
        f'<label class="{kind}">{plain(label)} <input type="text" autocomplete="off"></label>'
        for kind, label in (("name", message("Name")), ("date", message("Date")))
    )
    text = f'<p class="text">{_typed(sheet.text)}</p>' if sheet.text else ""
    place = f'<p class="place">{_typed(sheet.place)}</p>'
    notes = (f'<p class="note">{_typed(note)}</p>' for note in sheet.notes)
    return "\n".join((f'<p class="who">{fields}</p>', f"<h1>{plain(name)}</h1>", text, place, *notes))


def _way(with_solutions: bool, other: str) -> str:
    """Return the on-screen text: how to print, and the link to the other version."""
    label = message("With solutions, for teachers")
    if with_solutions:
        label = message("Without solutions, to hand out as a file")
    way = f' <a href="{plain(other)}">{plain(label)}</a>' if other else ""
    told = message("Print this page, or fill it in here.")
    return f'<p class="screen">{plain(told)}{way}</p>'


def _sheet(sheet: Worksheet) -> Iterator[str]:
    number = count(1)
    yield _section(_heading(2, message("What the model did")), sheet.view.words, _grids(sheet.view, number))
    # An introduction stays with the first item.
    before = [_heading(2, message("By hand")), sheet.origin]
    for place, task in enumerate(sheet.tasks, 1):
        yield _section(*before, _titled(place, task), task.words, _grids(task, number))
        before = []
    before = [_heading(2, message("Questions")), lesson("worksheet/questions")]
    for place, question in enumerate(sheet.questions, 1):
        yield _section(*before, *_asked(place, question))
        before = []


def _solutions(sheet: Worksheet) -> str:
    number = count(1)
    parts = [
        _heading(2, message("Solutions")),
        lesson("worksheet/solutions"),
        _section(_heading(3, message("What the model did")), _filled(sheet.view, number)),
    ]
    parts += [_section(_titled(place, task), _filled(task, number)) for place, task in enumerate(sheet.tasks, 1)]
    parts += [_section(*_answered(place, question)) for place, question in enumerate(sheet.questions, 1)]
    return '<section class="solutions">\n' + "\n".join(parts) + "\n</section>"


def _heading(level: int, text: str) -> str:
    return f"<h{level}>{plain(text)}</h{level}>"


def _titled(place: int, task: Task) -> str:
    return _heading(3, message("Task {n}: {title}", n=place, title=task.title))


def _section(*parts: str) -> str:
    inner = "\n".join(filter(None, parts))
    return f'<section class="part">\n{inner}\n</section>'


# ------------------------------------------------------------------------------- tables


def _grids(task: Task, number: Iterator[int]) -> str:
    return "\n".join(_grid(grid, [_row(row, number, is_filled=False) for row in grid.rows]) for grid in task.grids)


def _filled(task: Task, number: Iterator[int]) -> str:
    """Return the tables with blanks, filled in, with the model's own numbers."""
    found = []
    for grid in task.grids:
        if grid.blanks:
            own = [_row(row, number, is_filled=True, look="own") for row in grid.own]
            found.append(_grid(grid, [*(_row(row, number, is_filled=True) for row in grid.rows), *own]))
    return "\n".join((*found, task.told))


def _named(name: str) -> str:
    return _typed(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…")


def _grid(grid: Grid, rows: list[str]) -> str:
    corner = f'<th scope="col">{_typed(grid.corner)}</th>' if grid.corner else "<td></td>"
    columns = "".join(
        f'<th scope="col"{_look("wide" if _has_names(grid, place) else "")}>{_named(column)}</th>'
        for place, column in enumerate(grid.columns)
    )
    look = "grid small" if grid.is_small else "grid" if len(grid.columns) > _FEW else "grid few"
    return (
        f'<div class="scrolls" tabindex="0" role="group" aria-label="{plain(grid.caption)}"><table class="{look}">'
        f"<caption>{_typed(grid.caption)}</caption><thead><tr>{corner}{columns}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _has_names(grid: Grid, column: int) -> bool:
    """Return whether a column's blanks are names rather than numbers."""
    cells = (cells[column] for _, cells in grid.rows)
    return any(isinstance(cell, Blank) and not _NUMBER.fullmatch(cell.answer) for cell in cells)


def _look(name: str) -> str:
    return f' class="{name}"' if name else ""


_LONGEST = 32  # letters of a row's or column's name
_FEW = 3  # columns of a table narrower than the page


def _row(row: Row, number: Iterator[int], *, is_filled: bool, look: str = "") -> str:
    name, cells = row
    written = "".join(
        f"<td>{_typed(cell)}</td>" if isinstance(cell, str) else _blank(cell, next(number), is_filled) for cell in cells
    )
    return f'<tr{_look(look)}><th scope="row">{_named(name)}</th>{written}</tr>'


def _blank(blank: Blank, number: int, is_filled: bool) -> str:
    """Return a blank with its number, as a field or filled in."""
    seen = f'<span class="number" aria-hidden="true">{number}</span>'
    if is_filled:
        heard = plain(message("blank {n}:", n=number))
        return f'<td class="filled">{seen}<span class="heard">{heard} </span><b>{_typed(blank.answer)}</b></td>'
    heard = plain(message("blank {n}: to fill in", n=number))
    return (
        f'<td class="blank"><label>{seen}<span class="heard">{heard}</span>'
        f'<input type="text" autocomplete="off" spellcheck="false"></label></td>'
    )


# ------------------------------------------------------------------------------- questions


def _asked(place: int, question: Guess) -> tuple[str, ...]:
    answers = "".join(
        f'<li><label><input type="radio" name="question-{place}"> {_typed(answer)}</label></li>'
        for answer in question.answers
    )
    name, because = f"asked-{place}", plain(message("Because"))
    return (
        _heading(3, message("Question {n}", n=place)),
        f'<div role="radiogroup" aria-labelledby="{name}">\n<div id="{name}">{question.question}</div>',
        f'<ul class="answers">{answers}</ul></div>',
        f'<label class="because">{because} <textarea rows="1"></textarea></label>',
    )


def _answered(place: int, question: Guess) -> tuple[str, ...]:
    """Return the right answer, its reason, and why the others are wrong."""
    right = " / ".join(_typed(question.answers[index]) for index in sorted(question.right))
    whys = "".join(dict.fromkeys(question.whys))
    return (
        _heading(3, message("Question {n}", n=place)),
        f'<p class="right">✓ <b>{right}</b></p>',
        question.reason,
        f'<div class="why">{whys}</div>',
    )


def _typed(text: str) -> str:
    """Return untrusted text with its own writing direction."""
    return f"<bdi>{plain(text)}</bdi>" if text else ""
