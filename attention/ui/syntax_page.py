"""Syntax check: which head finds the grammatical head of a word, relation by relation, and an example of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention import corpus
from attention.corpus import Annotated
from attention.lesson.prose import lesson, listed
from attention.lesson.survey import Look
from attention.lesson.syntax_check import (
    FEW,
    cases,
    describe,
    example_matrix,
    example_weights,
    examples,
    findings_table,
    relations,
    tell_case,
)
from attention.models import Model, ModelInfo
from attention.syntax import Finding, SyntaxCheck
from attention.ui import components, corpus_frame, text
from attention.ui.cache import record
from attention.ui.downloads import csv_button
from attention.ui.study_cache import syntax_job
from attention.view import Pane, View
from attention.words import special_names

__all__ = ["show"]

_TABLE, _RELATION, _EXAMPLE, _RARE = "syntax_table", "relation", "syntax_example", "rare_relations"


def show(view: View) -> None:
    """Draw the page: the work while it lasts, the table, and one relation with an example."""
    text.prose(lesson("syntax"))
    info = corpus_frame.model_choice(view)
    model = corpus_frame.load(info)
    if model is None:
        return
    job = syntax_job(model)
    done = corpus_frame.carry_on(job, SyntaxCheck.findings)
    found = done.result
    if not found:
        text.notice("Nothing has been counted yet.")
        return
    n_heads = info.n_layers * info.n_heads
    text.prose(lesson("syntax-warning", heads=n_heads))
    _say_what_was_counted(info, job.collector, done.n_done)
    st.toggle(f"Relations with fewer than {FEW} cases, too", key=_RARE)
    shown = relations(found, with_rare=st.session_state[_RARE])
    _table(shown)
    _one_relation(view, model, shown, n_heads)
    corpus_frame.finish(info.name, job.collector.difference, job.collector.largest_row_error)


def _say_what_was_counted(info: ModelInfo, check: SyntaxCheck, n_done: int) -> None:
    told = f"{n_done} sentences, {info.name}. Special tokens and a word's own place are not counted, as in the paper."
    if check.n_without_token:
        told += (
            f" {check.n_without_token} words, such as the “n't” of “don't”, have no token of their own in "
            f"{info.name}: they count as misses."
        )
    st.caption(told)


def _table(shown: Sequence[Finding]) -> None:
    st.caption("Click on a row to see an example of it below, and on a heading to sort.")
    table = findings_table(shown)
    names = [finding.relation for finding in shown]
    st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        key=_TABLE,
        selection_mode="single-cell",
        on_select=lambda: _choose_row(names),
    )
    csv_button("syntax-check", lambda: table)


def _choose_row(names: Sequence[str]) -> None:
    # However the table is sorted, a row is told by its place in what was given to it.
    for row, _ in st.session_state[_TABLE].selection.cells:
        if 0 <= row < len(names):
            st.session_state[_RELATION] = names[row]


def _one_relation(view: View, model: Model, shown: Sequence[Finding], n_heads: int) -> None:
    st.header("One relation, and an example", anchor=False)
    by_name = {finding.relation: finding for finding in shown}
    if st.session_state.get(_RELATION) not in by_name:
        st.session_state[_RELATION] = "dobj" if "dobj" in by_name else next(iter(by_name))
    with st.container(horizontal=True, key="relation_choice"):
        st.selectbox("Relation", list(by_name), key=_RELATION, width=180)
        finding = by_name[st.session_state[_RELATION]]
        having = examples(corpus.annotated(), finding.relation)
        texts = {sentence.text: sentence for sentence in having}
        if st.session_state.get(_EXAMPLE) not in texts:
            st.session_state[_EXAMPLE] = next(iter(texts))
        st.selectbox("Example", list(texts), key=_EXAMPLE)
    _example(view, model, finding, texts[st.session_state[_EXAMPLE]], n_heads)


def _example(view: View, model: Model, finding: Finding, sentence: Annotated, n_heads: int) -> None:
    trace = record(model, sentence.text, "none").trace
    there = cases(example_weights(trace, sentence, finding), sentence, finding)
    left, right = st.columns([2, 3], gap="large")
    with left:
        text.prose(describe(finding, n_heads))
        for case in there:
            text.prose(tell_case(case, sentence, finding))
        place = replace(
            view,
            text=sentence.text,
            word=None,
            mask="none",
            pane=Pane(finding.layer, finding.head),
            look=Look(),
            step="softmax",
        )
        with st.container(key="way_in_example"):
            for page, label in (
                ("step_by_step", "Step through this head ▸"),
                ("all_heads", "All heads on this sentence ▸"),
            ):
                st.page_link(f"pages/{page}.py", label=label, query_params=place.to_query())
    with right:
        components.matrix(example_matrix(trace, sentence, finding, there[0]), key="syntax_matrix")
        special = special_names(trace.tokens)
        left_out = f"Left out: {listed(special)}, so a row adds up to less than 1. " if special else ""
        st.caption(
            "Pieces are merged into words: to a word, the sum over its pieces; from a word, their mean. "
            f"{left_out}The framed cell is the right one."
        )
