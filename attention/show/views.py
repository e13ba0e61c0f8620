"""The weights of all heads in a notebook: as lines between tokens, or as small heatmaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from attention.core.messages import message, messages
from attention.core.paths import ASSETS
from attention.figures import assets
from attention.figures.format import number
from attention.figures.head_view import HEAD_COLOURS, THRESHOLDS
from attention.page.page_file import plain, theme
from attention.show.output import Shown, html_of
from attention.show.packed import Packed
from attention.show.weights import Weights

Mode = Literal["dark", "light"]


def lines(parts: Sequence[Weights], layer: int, heads: Sequence[int] | None) -> Shown:
    """Return the heads of each layer as lines; ``layer`` is the index of the first one shown, ``heads`` are those on.

    Raises:
        ValueError: unknown head.
    """
    numbers = parts[0].head_numbers
    unknown = [head for head in heads or () if head not in numbers]
    if unknown:
        raise ValueError(f"there is no head {unknown[0]} here: there are {numbers[0]} to {numbers[-1]}, from 0 on")
    shown = None if heads is None else sorted({numbers.index(head) for head in heads})
    given = {
        "layer": layer,
        "shown": shown,
        "lines": [list(colours) for colours in HEAD_COLOURS],
        "thresholds": list(THRESHOLDS),
    }
    summary = message("attention as lines: {size}", size=_size(parts))
    return _drawn("head_view", "lines", parts, given, summary)


def tiles(parts: Sequence[Weights], title: str, mode: Mode | None, note: str = "") -> Shown:
    """Return all heads as small heatmaps; ``note`` is shown first below them."""
    summary = title or _size(parts)
    told = message("Press a head to see its weights.")
    given = {"title": summary, **around(mode=mode)}
    return _drawn("atlas", "tiles", parts, given, summary, f"{note}\n{told}".strip())


def around(css: str = "", mode: Mode | None = None) -> dict[str, Any]:
    """Return a picture's surroundings: the style sheet, the colours, and the theme, if it is not the notebook's."""
    if mode not in {None, "dark", "light"}:
        raise ValueError(f'display_mode must be "dark", "light" or None, got {mode!r}')
    light, dark = theme()
    own = (ASSETS / "notebook" / "notebook.css").read_text("utf-8")
    return {
        "css": assets.lean_css(f"{css}\n{own}"),
        "theme": mode or "",
        "colours": {"light": dict(light), "dark": dict(dark)},
    }


def _drawn(
    component: str, script: str, parts: Sequence[Weights], given: dict[str, Any], summary: str, note: str = ""
) -> Shown:
    packed = Packed.of(parts)
    notes = (note, *(part.note for part in parts))
    digits = message("Each weight is known to ±{error}.", error=f"{packed.error:.7f}".rstrip("0"))
    whole = {
        **around(),
        "style": assets.lean_css(assets.css(component)),
        "parts": [_described(part) for part in parts],
        "scale": packed.scale,
        "planes": packed.planes,
        "note": " ".join(filter(None, (*notes, digits))),
        **given,
    }
    code = assets.alone(assets.lean(assets.notebook(component, "notebook", script, "weights")))
    return Shown(html_of(code, whole, packed.data, _fallback(parts[0], summary)), summary)


def _described(part: Weights) -> dict[str, Any]:
    return {
        "name": part.name,
        "rows": list(part.rows),
        "columns": list(part.columns),
        "rowBreaks": list(part.row_breaks),
        "columnBreaks": list(part.column_breaks),
        "layers": list(part.layer_numbers),
        "heads": list(part.head_numbers),
    }


def _size(parts: Sequence[Weights]) -> str:
    count = sum(len(part.layer_numbers) * len(part.head_numbers) for part in parts)
    return messages("{n} head", "{n} heads", count)


def _fallback(part: Weights, summary: str) -> str:
    """Return the fallback where no scripts run: the token that each attends to most, in the mean of all heads."""
    mean = np.mean([layer.mean(axis=0) for layer in part.layers], axis=0)
    best = mean.argmax(axis=1)
    rows = "".join(
        f"<tr><td>{plain(part.rows[row])}<td>{plain(part.columns[key])}<td>{number(float(mean[row, key]))}"
        for row, key in enumerate(best)
    )
    told = message("Trust the notebook to see this picture. What each token attends to most, averaged over the heads:")
    return f"<p>{plain(summary)}. {plain(told)}</p><table>{rows}</table>"
