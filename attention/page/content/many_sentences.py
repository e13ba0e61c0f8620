"""The page Many sentences: each head's mean behaviour, layer by layer, and one head enlarged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from attention.core.messages import message
from attention.experiments import corpus
from attention.experiments.corpus import MAX_BYTES, MAX_LINES
from attention.experiments.measuring import Measured
from attention.experiments.study import StudyResult
from attention.figures import charts
from attention.figures.atlas import Head
from attention.lesson.many_sentences import (
    ALIGNMENTS,
    LayerMeasure,
    averages,
    describe,
    how_many,
    layer_measures,
    mean_matrix,
    study_table,
    tell_layers,
)
from attention.lesson.prose import lesson
from attention.models import ModelInfo
from attention.page.blocks import Blocks, Fold, Heading, Notice, Picture, Prose, Row, Setting, Table, Upload
from attention.page.content.measured import about, how_far, proof
from attention.page.content.pane import Pane, Server
from attention.page.parameters import Parameter
from attention.page.settings import ALIGNMENT, CELL, FILE, HEAD, HOLD, LAYER, ZOOM
from attention.page.view import View

_ALIGNMENT_LABELS = {"start": message("the first token"), "end": message("the last token")}
_SETS: Mapping[str, Parameter[Any]] = {"layer": LAYER, "head": HEAD, "zoom": ZOOM}
_ABREAST = 3  # charts side by side


@dataclass(frozen=True, slots=True)
class _Texts:
    """The sentences, their source, and problems with them."""

    lines: tuple[str, ...]
    source: str
    problems: tuple[str, ...] = ()


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return the measurement's progress and, once it is done or paused, its result; a ``whole`` page takes no file."""
    intro, pane = Prose(lesson("study/intro")), panes[0]
    if pane.server is None or pane.place is None:
        return (intro, *about(view, pane))
    texts = _texts(view, pane.server)
    problems = tuple(map(Notice, texts.problems))
    own = () if whole else (_own_file(view),)
    measured = pane.server.study(texts.lines, is_held=view[HOLD]) if texts.lines else None
    if measured is None:
        return (intro, *problems, *own)
    # The pictures grow while sentences are read; the rest waits for the end.
    is_whole = measured.is_over or view[HOLD]
    shown = _measured(view, pane.info, pane.place, texts, measured, is_whole=is_whole)
    return (intro, *problems, *about(view, pane), *how_far(measured, is_held=view[HOLD]), *shown, *own)


def _own_file(view: View) -> Fold:
    upload = Upload(
        "own_file",
        FILE,
        message(
            "A UTF-8 text file, one sentence per line; up to {lines} lines or {size} MB",
            lines=f"{MAX_LINES:,}",
            size=MAX_BYTES // 2**20,
        ),
        message(
            "Your file stays in this server's memory for a few hours, never stored or logged. "
            "This page's link shows its results."
        ),
        view[FILE],
        message("Use the bundled sentences"),
        MAX_BYTES,
    )
    return Fold("own_sentences", message("Use your own sentences"), (upload,))


def _texts(view: View, server: Server) -> _Texts:
    bundled, key = _Texts(corpus.sentences(), message("bundled")), view[FILE]
    if not key:
        return bundled
    found = server.sentences(key)
    if found is None:
        gone = message("The link's file is no longer on this server. Choose it again.")
        return _Texts(bundled.lines, bundled.source, (gone,))
    return _Texts(found.lines, message("from your file"), found.problems)


def _measured(
    view: View,
    info: ModelInfo,
    current: Head,
    texts: _Texts,
    measured: Measured[StudyResult | None],
    *,
    is_whole: bool,
) -> Blocks:
    result = measured.result
    if result is None:
        nothing = message("No sentence could be read, so nothing was measured.")
        return (Notice(nothing),) if measured.is_over else ()
    if not is_whole:
        return _all_heads(view, result, current)
    return (
        Notice(" ".join(_counts(info, texts, measured, result)), is_quiet=True),
        *_all_heads(view, result, current),
        *_one_head(view, result, current),
        *_layers(result, current),
        Heading(message("All heads as a table")),
        Table("study_table", partial(study_table, result), file="many-sentences"),
        *proof(view, info.name, result.difference, result.largest_row_error),
    )


def _counts(info: ModelInfo, texts: _Texts, measured: Measured[StudyResult | None], result: StudyResult) -> list[str]:
    told = [
        message(
            "{count} of {total} sentences, {source}: {tokens} tokens.",
            count=f"{result.n_sentences:,}",
            total=f"{len(texts.lines):,}",
            source=texts.source,
            tokens=f"{result.n_tokens:,}",
        )
    ]
    if measured.n_unreadable:
        told.append(
            message(
                "{count} had nothing that {name} can read.",
                count=f"{measured.n_unreadable:,}",
                name=info.name,
            )
        )
    if measured.n_cut:
        told.append(
            message(
                "Cut to the {most} tokens that {name} takes: {count}.",
                count=f"{measured.n_cut:,}",
                most=info.max_tokens,
                name=info.name,
            )
        )
    return told


def _all_heads(view: View, result: StudyResult, current: Head) -> Blocks:
    label, alignment = message("Align sentences at"), view[ALIGNMENT]
    options = {each: _ALIGNMENT_LABELS[each] for each in ALIGNMENTS}
    data = averages(result, alignment, current, view.zoom)
    return (
        Setting(ALIGNMENT, label, alignment, options),
        Picture("study_atlas", data, sets=_SETS, clears=(CELL,)),
    )


def _one_head(view: View, result: StudyResult, current: Head) -> Blocks:
    alignment = view[ALIGNMENT]
    rules = Fold("rules", message("Rules behind the labels"), (Prose(lesson("head/patterns")),))
    mean = Picture("mean_matrix", mean_matrix(result, alignment, current))
    return (
        Heading(message("Layer {layer}, head {head}", layer=current[0] + 1, head=current[1] + 1)),
        Row(
            (
                (Prose(describe(result, current)), rules),
                (mean, Notice(how_many(result, alignment), is_quiet=True)),
            ),
            widths=(2, 3),
        ),
    )


def _layers(result: StudyResult, current: Head) -> Blocks:
    drawn: list[Blocks] = [(_chart(result, measure, current),) for measure in layer_measures(result)]
    drawn += [()] * (-len(drawn) % _ABREAST)
    rows = (Row(tuple(drawn[start : start + _ABREAST])) for start in range(0, len(drawn), _ABREAST))
    return (Heading(message("Layer by layer")), Prose(tell_layers(result)), *rows)


def _chart(result: StudyResult, measure: LayerMeasure, current: Head) -> Picture:
    values = result.measure(measure.name)
    drawn = charts.layers(values, measure.title, measure.unit, current, is_share=measure.is_share)
    return Picture(f"layers_{measure.name}", charts.Chart(drawn))
