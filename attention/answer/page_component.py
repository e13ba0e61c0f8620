"""Blocks as plain data for the component that draws a page, with a handler for each press.

The browser leaves unchanged blocks alone, so pictures, open folds and the keyboard focus last from step to step.
"""

from __future__ import annotations

import html
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from typing import Any
from urllib.parse import urlencode

from attention.answer import cards, components, fetching, generated_files, jobs, numbers, state
from attention.answer.code_colours import coloured
from attention.answer.files import address_of
from attention.answer.lines import Field, Line
from attention.answer.running import own_files
from attention.core.messages import message
from attention.figures.drawn import Parts
from attention.figures.table import SortableTable, read_order, rows_of
from attention.page.blocks import (
    Block,
    Blocks,
    Brush,
    Code,
    Download,
    Entry,
    Fold,
    Formula,
    Heading,
    Image,
    Notice,
    Panels,
    Picture,
    Progress,
    ProofLine,
    Prose,
    Proven,
    Row,
    RowChoice,
    Section,
    Setting,
    Shapes,
    Table,
    Upload,
    Waiting,
    Way,
    Work,
)
from attention.page.page import Page
from attention.page.page_file import mathml
from attention.page.parameters import Grid, Keys, Parameter, Sorts, read
from attention.page.settings import OPEN, ROWS
from attention.page.view import View
from attention.training.jobs import Job, Task

Data = dict[str, Any]


@dataclass(slots=True)
class Sheet:
    """A page being written: the data of its blocks, and the handlers of presses."""

    view: View
    acts: dict[str, components.Act] = field(default_factory=dict)

    def write(self, blocks: Iterable[Block]) -> list[Data]:
        """Return blocks as data, and register their handlers."""
        return [_WRITERS[type(block)](self, block) for block in blocks]

    def box(self, key: str, blocks: list[Data]) -> Data:
        """Return written blocks as one section."""
        return {"kind": "section", "key": key, "look": "", "blocks": blocks}

    def panel(self, key: str, label: str, parts: Iterable[components.Part]) -> Data:
        """Return a button that opens components."""
        return {"kind": "panel", "key": key, "title": label, "blocks": list(map(self.place, parts))}

    def place(self, part: components.Part) -> Data:
        """Return a component as data, and register its handlers."""
        self.acts |= {f"{part.key}.{act}": told for act, told in part.acts.items()}
        return {"kind": "picture", "key": part.key, "source": address_of(part.name), "data": part.data}

    def _heading(self, block: Heading) -> Data:
        return {"kind": f"h{block.level}", "text": block.text, "id": block.anchor}

    def _formula(self, block: Formula) -> Data:
        return {"kind": "formula", "html": _formula_html(block.latex)}

    def _code(self, block: Code) -> Data:
        html_of_it = coloured(block.source, block.language)
        return {"kind": "code", "html": html_of_it, "label": message("Copy"), "done": message("Copied")}

    def _panels(self, block: Panels) -> Data:
        blocks = self.write((block.choice, *block.contents[block.value]))
        return {"kind": "section", "key": f"{block.key}_open", "look": "", "blocks": blocks}

    def _prose(self, block: Prose) -> Data:
        return {"kind": "prose", "look": "" if block.kind == "main" else block.kind, "html": block.html}

    def _notice(self, block: Notice) -> Data:
        kind = "news" if block.is_news else "caption" if block.is_quiet else "notice"
        return {"kind": kind, "text": block.sentence}

    def _waiting(self, block: Waiting) -> Data:
        return {"kind": "waiting", "text": block.told, "share": block.share}

    def _shapes(self, block: Shapes) -> Data:
        return {"kind": "shapes", "text": block.line}

    def _fold(self, block: Fold) -> Data:
        self.acts[f"{block.key}.open"] = partial(_take_toggle, _on_toggle(block))
        is_open, blocks = self.view.arranged.is_open(block), self.write(block.blocks)
        return {"kind": "fold", "key": block.key, "title": block.title, "isOpen": is_open, "blocks": blocks}

    def _row(self, block: Row) -> Data:
        columns = [self.write(column) for column in block.columns]
        return {"kind": "row", "widths": block.widths, "gap": block.gap, "columns": columns}

    def _section(self, block: Section) -> Data:
        looks = {"framed": block.is_framed, "abreast": block.is_line, "cover": block.is_cover}
        look = " ".join(name for name, has_it in looks.items() if has_it)
        return {"kind": "section", "key": block.key, "look": look, "blocks": self.write(with_words(block))}

    def _setting(self, block: Setting) -> Data:
        line = Line(block.key, "content").group(block.label)
        take = partial(_choose, block.parameter, block.clears) if block.clears else None
        line.setting(block, take)
        return self.place(line.part())

    def _entry(self, block: Entry) -> Data:
        line = Line(block.key, "content").group(block.label)
        line.field(Field(block.parameter, block.label, block.hint))
        return self.place(line.part())

    def _way(self, block: Way) -> Data:
        self.acts[f"{block.key}.go"] = partial(_go, block.page, block.query)
        address = f"./{block.page.address}?{urlencode(block.query)}"
        card = cards.card(block.page) if block.is_card else None
        return {"kind": "way", "key": block.key, "text": block.label, "address": address, "card": card}

    def _download(self, block: Download) -> Data:
        return self._file(block.label, block.file, block.file)

    def _image(self, block: Image) -> Data:
        source = generated_files.where(self.view, block.source, block.source)
        drawer = address_of("chart")
        return {"kind": "image", "text": block.label, "file": block.file, "address": source, "drawer": drawer}

    def _table(self, block: Table) -> Data:
        name = f"{block.file}.csv"
        files = [self._file(name, block.key, name)] if block.file else []
        if not block.is_shown:
            return files[0]
        blocks = [self._rows(block), *files]
        return {"kind": "section", "key": f"{block.key}_whole", "look": "", "blocks": blocks} if files else blocks[0]

    def _rows(self, block: Table) -> Data:
        columns = block.make()
        n_rows = rows_of(columns)
        if block.limit is not None and max(n_rows, len(columns)) > block.limit:
            told = message(
                "{file}: {size} numbers are too many to show here. Take the CSV.",
                file=block.file,
                size=f"{n_rows} × {len(columns) - 1}",
            )
            return {"kind": "notice", "text": told}
        order, chosen = None if block.is_whole else self.view.arranged.orders.get(block.key), block.choice
        row = None if chosen is None else chosen.chosen
        table = SortableTable(columns, order, block.is_whole, block.is_narrow, chosen is not None, row)
        payload, acts = components.of_figure(table, partial(_sort_or_choose, block.key, chosen))
        return self.place(components.Part(table.component, block.key, payload, acts))

    def _file(self, label: str, key: str, name: str) -> Data:
        address = generated_files.where(self.view, key, name)
        return {"kind": "file", "key": key, "text": label, "file": name, "address": address}

    def _proven(self, block: Proven) -> Data:
        key = block.parameter.name
        self.acts[f"{key}.open"] = partial(_take_toggle, state.setter(block.parameter))
        html = _proof_html(block.lines)
        return {"kind": "proof", "key": key, "label": message("Proof"), "html": html, "isOpen": block.is_open}

    def _picture(self, block: Picture) -> Data:
        sets, key = tuple(block.sets.items()), block.place or block.key
        take = partial(_take, sets, block.clears, block.only_while) if sets else None
        if block.brush is not None:
            take = partial(_paint, block.brush)
        elif take is not None and block.opens is not None:
            take = partial(_take_or_open, take, sets, *block.opens)
        elif take is not None and block.leads:
            take = partial(_take_or_lead, take, block.leads)
        ask_at = numbers.where(self.view, block.key)
        data, acts = components.of_figure(block.figure, take, is_selectable=block.is_selectable, ask_at=ask_at)
        return self.place(components.Part(block.figure.component, key, data, acts))

    def _work(self, block: Work) -> Data:
        acts = {"press": partial(_work, block.job, block.arguments, block.clears)}
        text = None if block.text is None else asdict(block.text)
        data = {
            "label": block.label,
            "told": block.told,
            "share": block.share,
            "isOff": block.is_off,
            "stops": block.stops,
            "text": text,
        }
        return self.place(components.Part("work", block.key, data, acts))

    def _upload(self, block: Upload) -> Data:
        data = {
            "label": block.label,
            "hint": block.hint,
            "kept": block.kept,
            "remove": block.remove,
            "most": block.most,
        }
        acts = {"take": partial(_keep_file, block.parameter, block.most)}
        return self.place(components.Part("upload", block.key, data, acts))

    def _progress(self, block: Progress) -> Data:
        data = {
            "label": block.goes,
            "told": block.told,
            "share": block.share,
            "isOff": False,
            "stops": "" if block.share is None else block.stops,
            "text": None,
        }
        return self.place(components.Part("work", block.key, data, {"press": partial(_pause, block.parameter)}))


def with_words(section: Section) -> Blocks:
    """Return a section's blocks, preceded by its settings in words for print."""
    return (*((Prose(html.escape(section.on_paper), "paper"),) if section.on_paper else ()), *section.blocks)


_WRITERS: Mapping[type[Block], Callable[[Sheet, Any], dict[str, Any]]] = {
    Code: Sheet._code,
    Download: Sheet._download,
    Entry: Sheet._entry,
    Fold: Sheet._fold,
    Formula: Sheet._formula,
    Heading: Sheet._heading,
    Notice: Sheet._notice,
    Panels: Sheet._panels,
    Picture: Sheet._picture,
    Image: Sheet._image,
    Progress: Sheet._progress,
    Prose: Sheet._prose,
    Proven: Sheet._proven,
    Row: Sheet._row,
    Section: Sheet._section,
    Setting: Sheet._setting,
    Shapes: Sheet._shapes,
    Table: Sheet._table,
    Upload: Sheet._upload,
    Waiting: Sheet._waiting,
    Way: Sheet._way,
    Work: Sheet._work,
}


@cache
def _formula_html(latex: str) -> str:
    """Return a formula as MathML, cached: a step's formula is always the same."""
    return mathml(latex)


def _proof_html(lines: Sequence[ProofLine]) -> str:
    """Return the comparison of our numbers with each model's own: a mark that opens."""
    hint = html.escape(message("Every link, with its own difference"))
    told, rows = "".join(map(_proof_mark, lines)), "".join(map(_proof_rows, lines))
    return f'<details><summary title="{hint}">{told}</summary><section tabindex="0">{rows}</section></details>'


def _proof_mark(line: ProofLine) -> str:
    mark, kind = ("✓", "good") if line.holds else ("✗", "bad")
    return f'<div class="proof-{kind}">{mark}<span class="told"> {html.escape(line.sentence)}</span></div>'


def _proof_rows(line: ProofLine) -> str:
    titles, *others = line.rows
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in others)
    return f"<table><tr>{head}</tr>{rows}</table>{line.html}"


def _on_toggle(block: Fold) -> Callable[[bool], None]:
    if block.parameter is not None:
        return state.setter(block.parameter)
    return partial(_toggle, block.key, block.is_open)


def _toggle(key: str, begins_open: bool, is_open: bool) -> None:
    state.choose(OPEN, Keys.turned(state.current()[OPEN], key, is_in=is_open != begins_open))


def _go(page: Page, query: Mapping[str, str], is_pressed: object) -> None:
    if is_pressed is True:
        state.go_to(page, query)


def _take_toggle(take: Callable[[bool], None], is_open: object) -> None:
    if isinstance(is_open, bool):
        take(is_open)


def _choose(parameter: Parameter[Any], clears: Sequence[Parameter[Any]], value: Any) -> None:
    state.set_all([(parameter, value)], clears)


def _sort_or_choose(key: str, choice: RowChoice | None, parts: Parts) -> None:
    if "row" in parts and choice is not None:
        state.choose(choice.parameter, choice.values[int(str(parts["row"]))])
    if "order" in parts:
        written: Any = parts["order"]
        order = None if written is None else read_order(written)
        state.choose(ROWS, Sorts.with_value(state.current()[ROWS], key, order))


def _keep_file(parameter: Parameter[str], most: int, said: object) -> None:
    """Keep a base64-encoded file, or remove it if ``said`` is None; invalid values are ignored."""
    if said is None:
        state.choose(parameter, "")
    if isinstance(said, str):
        # One byte beyond the limit shows that the file is too large.
        with suppress(ValueError):
            state.choose(parameter, own_files().keep(b64decode(said[: 4 * (most // 3 + 1)], validate=True)))


def _pause(parameter: Parameter[bool], wish: object) -> None:
    """Pause or continue a measurement; invalid values are ignored."""
    if wish in ("start", "stop"):
        state.choose(parameter, wish == "stop")


def _work(job: Job | Task, arguments: tuple[str, ...], clears: Sequence[Parameter[Any]], wish: object) -> None:
    """Start (perhaps with a text) or stop a job or task."""
    if isinstance(job, Task):
        fetching.press(job, arguments, wish)
        return
    if wish == "start" or isinstance(wish, Mapping):
        state.set_all((), clears)
    jobs.press(job, arguments, wish)


def _paint(brush: Brush, parts: Parts) -> None:
    """Paint a cell; a quick second press continues from the result of the first."""
    view = state.current()
    _, row, column = str(parts["cell"]).rsplit("-", 2)
    before = view[brush.cells] if view[brush.mode] == brush.painted else brush.before
    cells = Grid.flipped(before, int(row), int(column))
    state.set_all([(brush.cells, cells), (brush.mode, brush.painted)])


def _take_or_open(
    take: Callable[[Parts], None],
    sets: Sequence[tuple[str, Parameter[Any]]],
    page: Page,
    query: Mapping[str, str],
    parts: Parts,
) -> None:
    """Handle a press; if it chose a cell, open that on another page."""
    if "cell" not in parts:
        take(parts)
        return
    chosen = {parameter.name: value for part, parameter in sets if (value := parts.get(part)) is not None}
    state.go_to(page, {**query, **chosen})


def _take_or_lead(
    take: Callable[[Parts], None], leads: Mapping[str, tuple[Page, Mapping[str, str]]], parts: Parts
) -> None:
    name = parts.get("to")
    if name is None:
        take(parts)
    else:
        state.go_to(*leads[name])


def _take(
    sets: Sequence[tuple[str, Parameter[Any]]],
    clears: Sequence[Parameter[Any]],
    only_while: Sequence[tuple[Parameter[Any], Any]],
    parts: Parts,
) -> None:
    """Set the values of a press if they are valid: the model may have changed just before."""
    view = state.current()
    if any(view[parameter] != wanted for parameter, wanted in only_while):
        return
    context = state.context()
    chosen = []
    for part, parameter in sets:
        written = parts.get(part)
        value, problem = read(parameter, {} if written is None else {parameter.name: written}, context)
        if problem:
            return
        if part in parts:
            chosen.append((parameter, value))
    if chosen:
        state.set_all(chosen, clears)
