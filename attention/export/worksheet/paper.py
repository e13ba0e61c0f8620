"""A worksheet as an HTML file without scripts: for paper of any size, the keyboard, and screen readers.

Every blank is a named field ("blank 7: to fill in"), which prints as a box. The solutions begin on a new page, and can
be left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from urllib.parse import unquote_plus

import segno

from attention.core.messages import message, messages
from attention.core.paths import ASSETS
from attention.export.worksheet.base import POINTS_OF_QUESTION, Blank, Grid, Row, Task, Worksheet
from attention.figures.format import MINUS
from attention.lesson.prose import lesson
from attention.lesson.quiz import Guess
from attention.page.page_file import html_head, plain

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

# In characters: a longer address would make a QR code too fine for a phone.
_LONGEST_ADDRESS = 500
_NUMBER = re.compile(rf"[{MINUS}∞\d.]+")
_STYLES = ASSETS / "file" / "worksheet.css"


def paper(sheet: Worksheet, *, with_solutions: bool = True, other: str = "", address: str = "") -> str:
    """Return a worksheet as a file.

    ``other`` is the address of the version with or without solutions, and ``address`` that of the view.
    """
    name = message("Worksheet: {title}", title=sheet.title)
    title = f"{sheet.text} · {name}" if sheet.text else name
    parts = [_head(sheet, name, address), _way(with_solutions, other), *_sheet(sheet)]
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


def _head(sheet: Worksheet, name: str, address: str) -> str:
    labels = (
        ("name", message("Name"), ""),
        ("date", message("Date"), ""),
        ("", message("Points"), f"/ {sheet.points}"),
    )
    fields = "".join(
        f'<label{_look(kind)}>{plain(label)} <input type="text" autocomplete="off"> {most}</label>'
        for kind, label, most in labels
    )
    text = f'<p class="text">{_typed(sheet.text)}</p>' if sheet.text else ""
    place = f'<p class="place">{_typed(sheet.place)}</p>'
    notes = (f'<p class="note">{_typed(note)}</p>' for note in sheet.notes)
    return "\n".join((f'<p class="who">{fields}</p>', _code(address), f"<h1>{plain(name)}</h1>", text, place, *notes))


def _code(address: str) -> str:
    """Return the view's address as a QR code with a link; nothing for one that no phone could read."""
    if not 0 < len(address) <= _LONGEST_ADDRESS:
        return ""
    picture = segno.make(address, error="l").svg_data_uri(border=1, light="#fff")
    label = plain(message("This view in the app"))
    image = f'<img src="{plain(picture)}" alt="{label}">'
    return f'<a class="code" href="{plain(address)}">{image}<span>{_shown(address)}</span></a>'


def _shown(address: str) -> str:
    """Return the address in readable letters, without its scheme; line breaks and tabs stay in code."""
    kept = address.replace("%0A", "%250A").replace("%09", "%2509")
    return plain(unquote_plus(kept.partition("://")[2]))


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
    heading = _heading(2, message("What the model did"), sheet.view.points)
    yield _section(heading, sheet.view.words, _grids(sheet.view, number))
    if sheet.questions:
        asked = (_section(*_asked(place, question)) for place, question in enumerate(sheet.questions, 1))
        first = (_heading(2, message("Questions")), lesson("worksheet/questions"))
        yield "\n".join((*first, '<div class="questions">', *asked, "</div>"))
    tasks = (
        _section(_titled(place, task, task.points), task.words, _grids(task, number))
        for place, task in enumerate(sheet.tasks, 1)
    )
    yield "\n".join(('<div class="by-hand">', _heading(2, message("By hand")), sheet.origin, *tasks, "</div>"))


def _solutions(sheet: Worksheet) -> str:
    number = count(1)
    parts = [
        _heading(2, message("Solutions")),
        lesson("worksheet/solutions"),
        _section(_heading(3, message("What the model did")), _filled(sheet.view, number)),
    ]
    parts += [_section(*_answered(place, question)) for place, question in enumerate(sheet.questions, 1)]
    parts += [_section(_titled(place, task), _filled(task, number)) for place, task in enumerate(sheet.tasks, 1)]
    return '<section class="solutions">\n' + "\n".join(parts) + "\n</section>"


def _heading(level: int, text: str, points: int = 0) -> str:
    """Return a heading, with room for the points reached of a task."""
    told = plain(messages("{n} point", "{n} points", points))
    reached = f' <span class="points">/ {told}</span>' if points else ""
    return f"<h{level}>{plain(text)}{reached}</h{level}>"


def _titled(place: int, task: Task, points: int = 0) -> str:
    return _heading(3, message("Task {n}: {title}", n=place, title=task.title), points)


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
        _heading(3, message("Question {n}", n=place), POINTS_OF_QUESTION),
        f'<div role="radiogroup" aria-labelledby="{name}">\n<div id="{name}">{question.question}</div>',
        f'<ul class="answers">{answers}</ul></div>',
        f'<label class="because">{because} <textarea rows="2"></textarea></label>',
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
