"""Many sentences: what every head does on average, layer by layer, and one head enlarged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from attention import corpus
from attention.blocks import Fold, Prose
from attention.corpus import MAX_BYTES, MAX_LINES, Sentences, read_sentences
from attention.figures import charts
from attention.figures.atlas import WHOLE, Head
from attention.lesson.many_sentences import (
    ALIGNMENTS,
    Alignment,
    averages,
    describe,
    how_many,
    layer_measures,
    mean_matrix,
    study_table,
    tell_layers,
)
from attention.lesson.prose import lesson
from attention.messages import message, messages
from attention.models import ModelInfo, get_info
from attention.settings import ALIGNMENT, ZOOM
from attention.study import Study, StudyResult
from attention.ui import components, corpus_frame, drawing, markup, state, tables
from attention.ui.downloads import Table, csv_button
from attention.ui.lines import Line
from attention.ui.model_choice import add_place, choose_head
from attention.ui.running import place_within
from attention.ui.study_cache import Snapshot, content_key, study_job
from attention.view import View

__all__ = ["show"]

_FILE = "own_sentences"
_READ = "own_sentences_read"
_ALIGNMENT_LABELS = {"start": message("the first token"), "end": message("the last token")}
# Larger than the part of a file that is read, so that a slightly larger file gets a message and is not refused.
_MAX_UPLOAD_MB = 8


@dataclass(frozen=True, slots=True)
class _Texts:
    """The sentences, where they come from, and their key in the cache."""

    lines: tuple[str, ...]
    source: str
    content: str
    problems: tuple[str, ...] = ()


def show(view: View) -> None:
    """Draw the page: the choices, the progress of the work, and its result."""
    markup.prose(lesson("study/intro"))
    current, notices = place_within(view.pane, get_info(view.model), view.text)
    for sentence in notices:
        markup.notice(sentence)
    info = get_info(view.model)
    line = Line("context").group(message("What is looked at"))
    add_place(line, info, *current)
    line.draw()
    texts = _texts()
    for problem in texts.problems:
        markup.notice(problem)
    if not texts.lines:
        return
    model = corpus_frame.load(info)
    if model is None:
        return
    job = study_job(model, texts.lines, texts.content)
    found = corpus_frame.carry_on(job, Study.result)
    result = found.result
    if result is None:
        markup.notice(message("None of the sentences could be read: nothing has been measured yet."))
        return
    _say_what_was_read(info, texts, found, result)
    _all_heads(view, result, current)
    _one_head(result, view[ALIGNMENT], current)
    _layers(result, current)
    _table(result, job.key)
    corpus_frame.finish(info.name, result.difference, result.largest_row_error)


def _texts() -> _Texts:
    """Draw the field for the user's own file; without one, the bundled sentences are used."""
    with st.expander(message("Use sentences of your own")):
        uploaded = st.file_uploader(
            message(
                "A plain text file (UTF-8), one sentence on each line; the first {lines} lines, or {size} MB, are read",
                lines=f"{MAX_LINES:,}",
                size=MAX_BYTES // 2**20,
            ),
            key=_FILE,
            max_upload_size=_MAX_UPLOAD_MB,
            help=message(
                "Only the beginning of a larger file counts. "
                "It is kept in this server's memory only: written nowhere, logged nowhere, shown to nobody else."
            ),
        )
        st.caption(message("A link to this page has no room for a file: whoever opens it sees the bundled sentences."))
    if uploaded is None:
        st.session_state.pop(_READ, None)
        lines = corpus.sentences()
        return _Texts(lines, message("the bundled ones"), content_key(lines))
    read = st.session_state.get(_READ)
    # Reading a large file again at every click would take longer than everything else.
    if read is None or read[0] != uploaded.file_id:
        sentences: Sentences = read_sentences(uploaded.getvalue())
        read = (
            uploaded.file_id,
            _Texts(sentences.lines, message("from your file"), content_key(sentences.lines), sentences.problems),
        )
        st.session_state[_READ] = read
    found: _Texts = read[1]
    return found


def _say_what_was_read(info: ModelInfo, texts: _Texts, found: Snapshot[Any], result: StudyResult) -> None:
    told = [
        message(
            "{count} of {total} sentences, {source}: {tokens} tokens.",
            count=f"{result.n_sentences:,}",
            total=f"{len(texts.lines):,}",
            source=texts.source,
            tokens=f"{result.n_tokens:,}",
        )
    ]
    if found.n_unreadable:
        told.append(
            messages(
                "{count} had nothing in it that {name} can read.",
                "{count} had nothing in them that {name} can read.",
                found.n_unreadable,
                count=f"{found.n_unreadable:,}",
                name=info.name,
            )
        )
    if found.n_cut:
        told.append(
            messages(
                "{count} was longer than the {most} tokens that {name} takes, and was cut.",
                "{count} were longer than the {most} tokens that {name} takes, and were cut.",
                found.n_cut,
                count=f"{found.n_cut:,}",
                most=info.max_tokens,
                name=info.name,
            )
        )
    st.caption(" ".join(told))


def _all_heads(view: View, result: StudyResult, current: Head) -> None:
    label = message("Sentences are laid on each other at")
    names = [_ALIGNMENT_LABELS[alignment] for alignment in ALIGNMENTS]
    line = Line("alignment", "content").group(label)
    line.list(ALIGNMENT, label, ALIGNMENTS, names, look="choice")
    line.draw()
    data = averages(result, view[ALIGNMENT], current, view.zoom)
    components.atlas(data, key="study_atlas", on_choose=choose_head, on_zoom=_zoom)


def _zoom(percent: int) -> None:
    state.change(lambda view: view.having(ZOOM, percent - WHOLE))


def _one_head(result: StudyResult, alignment: Alignment, current: Head) -> None:
    st.header(message("Layer {layer}, head {head}", layer=current[0] + 1, head=current[1] + 1), anchor=False)
    left, right = st.columns([2, 3], gap="large")
    with left:
        markup.prose(describe(result, current))
        rules = Fold("rules", message("The rules behind the labels"), (Prose(lesson("head/patterns")),))
        drawing.draw((rules,), state.current(), "rules")
    with right:
        components.matrix(mean_matrix(result, alignment, current), key="mean_matrix")
        st.caption(how_many(result, alignment))


def _layers(result: StudyResult, current: Head) -> None:
    st.header(message("Layer by layer"), anchor=False)
    markup.prose(tell_layers(result))
    measures = layer_measures(result)
    for start in range(0, len(measures), 3):
        for measure, column in zip(measures[start : start + 3], st.columns(3, gap="large"), strict=False):
            values = result.measure(measure.name)
            with column:
                drawn = charts.layers(values, measure.title, measure.unit, current, is_share=measure.is_share)
                components.figure(charts.Chart(drawn), key=f"layers_{measure.name}")


def _table(result: StudyResult, job: str) -> None:
    st.header(message("All heads as a table"), anchor=False)
    components.mount(tables.part_of("study_table", study_table(result), state.current()))
    csv_button("many-sentences", partial(_columns, job))


def _columns(job: str) -> Table:
    result = corpus_frame.result_again(job, Study.result)
    return {} if result is None else study_table(result)
