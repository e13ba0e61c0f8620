"""A page as a file that needs no server: the app's blocks, written as HTML.

It works offline (its own policy forbids network access). Hovering, pinning and the keyboard work as in the app;
anything that leads to another view does nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from latex2mathml.converter import convert

from attention.core.messages import language, message
from attention.core.paths import ASSETS
from attention.figures import assets
from attention.figures.colours import PAGES
from attention.figures.large import AskAt, Large
from attention.figures.table import Columns, in_order, rows_of
from attention.page.blocks import (
    Arranged,
    Block,
    Blocks,
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
    Section,
    Setting,
    Shapes,
    Table,
    Upload,
    Waiting,
    Way,
    Work,
)

_FOLDER = ASSETS / "file"

# A picture's key → a function for the address of its numbers; None without a server.
ByKey = Callable[[str], AskAt | None]

_AS_MADE = Arranged()
# Components that only lead to other views.
_PRESSED = ("buttons",)
# Characters that XML 1.0 does not allow, and HTML discourages.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Drawn:
    """Blocks as HTML with placeholders for the pictures, and the pictures' components and data."""

    html: str
    pictures: tuple[Mapping[str, Any], ...]


def drawn(
    blocks: Blocks, ask_at: ByKey = lambda _: None, *, has_code: bool = True, arranged: Arranged = _AS_MADE
) -> Drawn:
    """Return blocks as part of a page that has the components' scripts, with or without code blocks.

    ``ask_at`` returns, for a picture's key, the addresses of its numbers on a server (see ``Large.payload``);
    ``arranged`` is the reader's arrangement.
    """
    written = _Page("", "", arranged, ask_at)
    if not has_code:
        written.writers[Code] = written._nothing
    return Drawn(written.all(blocks), tuple(written.pictures))


def page(title: str, caption: str, blocks: Blocks, arranged: Arranged = _AS_MADE) -> str:
    """Return blocks as a self-contained HTML file, as a reader has ``arranged`` them."""
    return _Page(title, caption, arranged).written(blocks)


def page_css() -> str:
    """Return the style sheet of a page in a file."""
    return assets.file_css().strip()


def theme() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the colours of the light and of the dark page, by purpose."""
    return PAGES["light"], PAGES["dark"]


def theme_css() -> str:
    """Return the style rules that set these colours, and those of Q, K, V and the weights."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(PAGES['dark'])} }} }}"
    return f":root {{ {_variables(PAGES['light'])} {assets.VARIABLES} }}\n{dark}"


def html_head(title: str, styles: str, *, policy: str = "", more: str = "") -> str:
    """Return the beginning of a page, up to its body, with the page's colours; title and policy are still plain text.

    ``policy`` is its Content-Security-Policy, if no header states it; ``more`` are further elements.
    """
    stated = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n' if policy else ""
    return f"""<!doctype html>
<html lang="{plain(language().name)}">
<head>
<meta charset="utf-8">
{stated}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{plain(title)}</title>
<style>
{theme_css()}
{styles}
</style>
{more}</head>
"""


def mathml(latex: str) -> str:
    """Return a formula as MathML, split where lines may break."""
    return "".join(convert(part, display="block") for part in latex.split(r"\allowbreak"))


def plain(text: str) -> str:
    """Return text escaped for HTML and XML; characters that neither may contain, such as lone surrogates, become �."""
    return html.escape(_UNWRITABLE.sub("\ufffd", text))


class _Page:
    """A file while it is being written; its figures are collected for its script."""

    def __init__(self, title: str, caption: str, arranged: Arranged, ask_at: ByKey = lambda _: None) -> None:
        self.title, self.caption, self.arranged, self.ask_at = title, caption, arranged, ask_at
        self.pictures: list[dict[str, Any]] = []
        self.writers: dict[type, Callable[[Any], str]] = {
            Heading: self._heading,
            Formula: self._formula,
            Prose: self._prose,
            Notice: self._notice,
            Shapes: self._shapes,
            Code: self._code,
            Picture: self._picture,
            Table: self._table,
            Setting: self._setting,
            Panels: self._panels,
            Entry: self._entry,
            Fold: self._fold,
            Row: self._row,
            Section: self._section,
            Proven: self._proven,
            Work: self._work,
            Progress: self._progress,
            # A file has no links, downloads and uploads.
            Download: self._nothing,
            Image: self._nothing,
            Upload: self._nothing,
            Waiting: self._nothing,
            Way: self._nothing,
        }

    def written(self, blocks: Blocks) -> str:
        body = self.all(blocks)
        used = sorted({picture["component"] for picture in self.pictures})
        own = f"{assets.still()}\n{(_FOLDER / 'page.js').read_text('utf-8')}"
        script = assets.alone(f'"use strict";\n{assets.lean_components(used)}\n{own}')
        # The chart library is large.
        scripts = [*([assets.plotly()] if "chart" in used else []), script]
        digests = " ".join(map(_digest, scripts))
        # Only these scripts may run, not one in a token, and nothing may be fetched.
        policy = f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data: blob:"
        given = _json({"pictures": self.pictures, "styles": {name: assets.lean_css(assets.css(name)) for name in used}})
        caption = f'\n<p class="caption">{plain(self.caption)}</p>' if self.caption else ""
        no_script = plain(message("The pictures need JavaScript, which is switched off."))
        return f"""{html_head(self.title, page_css(), policy=policy)}<body>
<main>
<h1>{plain(self.title)}</h1>{caption}
{body}
<noscript>{no_script}</noscript>
</main>
<script type="application/json" id="given">{given}</script>
{"".join(f"<script>{each}</script>" for each in scripts)}
</body>
</html>
"""

    def all(self, blocks: Blocks) -> str:
        return "\n".join(filter(None, map(self._one, blocks)))

    def _one(self, block: Block) -> str:
        return self.writers[type(block)](block)

    def _heading(self, block: Heading) -> str:
        return f"<h{block.level}>{plain(block.text)}</h{block.level}>"

    def _formula(self, block: Formula) -> str:
        return f'<div class="formula">{mathml(block.latex)}</div>'

    def _prose(self, block: Prose) -> str:
        return f'<div class="prose {block.kind}">{block.html}</div>'

    def _notice(self, block: Notice) -> str:
        kind = "notice quiet" if block.is_quiet or block.is_news else "notice"
        return f'<p class="{kind}"><bdi>{plain(block.sentence)}</bdi></p>'

    def _shapes(self, block: Shapes) -> str:
        return f'<p class="shapes">{plain(block.line)}</p>'

    def _code(self, block: Code) -> str:
        return f"<pre><code>{plain(block.source)}</code></pre>"

    def _picture(self, block: Picture) -> str:
        if block.figure.component in _PRESSED:
            return ""
        figure = block.figure
        data = figure.payload(self.ask_at(block.key)) if isinstance(figure, Large) else figure.payload()
        key = block.place or block.key
        self.pictures.append({"component": figure.component, "key": key, "data": data, "isStill": bool(block.sets)})
        return f'<div class="picture" data-picture="{len(self.pictures) - 1}"></div>'

    def _table(self, block: Table) -> str:
        columns = block.make() if block.is_shown else {}
        n_rows = rows_of(columns)
        if not n_rows or (block.limit is not None and max(n_rows, len(columns)) > block.limit):
            return ""
        return f'<div class="scrolls">{_rows(in_order(columns, self.arranged.orders.get(block.key)))}</div>'

    def _setting(self, block: Setting) -> str:
        if not block.options:
            return f'<p class="setting">{plain(block.label)}</p>' if block.value else ""
        shown = block.options.get(block.value, block.value)
        return f'<p class="setting">{plain(block.label)}: {plain(shown)}</p>'

    def _entry(self, block: Entry) -> str:
        return f'<p class="setting">{plain(block.label)}: {plain(block.value)}</p>' if block.value else ""

    def _panels(self, block: Panels) -> str:
        made = {label: self.all(block.contents.get(value, ())) for value, label in block.options.items()}
        return "\n".join(f"<h3>{plain(label)}</h3>\n{content}" for label, content in made.items() if content)

    def _fold(self, block: Fold) -> str:
        inside = self.all(block.blocks)
        if not inside.strip():
            return ""
        is_open = " open" if self.arranged.is_open(block) else ""
        return f"<details{is_open}><summary>{plain(block.title)}</summary>\n{inside}\n</details>"

    def _row(self, block: Row) -> str:
        widths = block.widths or (1,) * len(block.columns)
        columns = [
            f'<div style="--part: {width}">{self.all(column)}</div>'
            for width, column in zip(widths, block.columns, strict=True)
        ]
        return f'<div class="row">{"".join(columns)}</div>'

    def _section(self, block: Section) -> str:
        looks = {"framed": block.is_framed, "cover": block.is_cover}
        kind = " ".join((block.key, *(name for name, has_it in looks.items() if has_it)))
        return f'<section class="{kind}">\n{self.all(block.blocks)}\n</section>'

    def _proven(self, block: Proven) -> str:
        return f'<div class="proven">{"".join(_proof(line, is_open=block.is_open) for line in block.lines)}</div>'

    def _work(self, block: Work) -> str:
        return f'<p class="notice quiet"><bdi>{plain(block.told)}</bdi></p>'

    def _progress(self, block: Progress) -> str:
        return f'<p class="notice quiet"><bdi>{plain(block.told)}</bdi></p>' if block.told else ""

    def _nothing(self, _: Block) -> str:
        return ""


def _digest(script: str) -> str:
    """Return a script's hash in the policy's notation."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}'"


def _proof(line: ProofLine, *, is_open: bool) -> str:
    state, mark = " open" if is_open else "", "✓" if line.holds else "✗"
    return (
        f"<details{state}><summary>{mark} {plain(line.sentence)}</summary>"
        f'<div class="scrolls">{_cells(line.rows)}</div><div class="prose detail">{line.html}</div></details>'
    )


def _cell(value: object) -> str:
    """Return a cell for reading; the CSV has all digits."""
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _rows(columns: Columns) -> str:
    height = rows_of(columns)
    return _cells(
        (
            tuple(columns),
            *(
                tuple(
                    _cell(column[row]) if row < len(column) and column[row] is not None else ""
                    for column in columns.values()
                )
                for row in range(height)
            ),
        )
    )


def _cells(rows: tuple[tuple[str, ...], ...]) -> str:
    """Return rows as a table, the first of them as headings."""
    titles, *others = rows
    head = "".join(f"<th>{plain(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{plain(cell)}</td>' for cell in row)}</tr>" for row in others)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _json(value: object) -> str:
    """Return JSON that is safe inside a script element: no ``<`` can end the element or begin a comment."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII, so no U+2028 either
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _variables(colours: Mapping[str, str]) -> str:
    return " ".join(f"--st-{name}-color: {colour};" for name, colour in colours.items())
