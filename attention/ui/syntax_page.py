"""Syntax check: which attention head finds the grammatical head of a word, for each relation, with an example."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

import streamlit as st

from attention import corpus
from attention.corpus import Annotated
from attention.lesson.prose import lesson, listed
from attention.lesson.steps import softmax
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
from attention.messages import message, messages
from attention.models import Model, ModelInfo, get_info
from attention.pages import ALL_HEADS, STEP_BY_STEP
from attention.settings import (
    CELL,
    EXAMPLE,
    HEAD,
    HIDE,
    LAYER,
    MASK,
    PAIR,
    PART,
    RARE,
    RELATION,
    RENORMALISE,
    STEP,
    TEXT,
    WORDS,
)
from attention.syntax import Finding, SyntaxCheck
from attention.ui import components, corpus_frame, markup, state, tables
from attention.ui.cache import record
from attention.ui.downloads import Table, csv_button
from attention.ui.lines import Line
from attention.ui.study_cache import syntax_job
from attention.view import View
from attention.words import special_names

__all__ = ["show"]

# How many characters of a sentence are shown as its name.
MAX_NAME = 40


def show(view: View) -> None:
    """Draw the page: the progress of the work, the table, and one relation with an example."""
    markup.prose(lesson("syntax/intro"))
    info = get_info(view.model)
    model = corpus_frame.load(info)
    if model is None:
        return
    job = syntax_job(model)
    done = corpus_frame.carry_on(job, SyntaxCheck.findings)
    found = done.result
    if not found:
        markup.notice(message("Nothing has been counted yet."))
        return
    n_heads = info.n_layers * info.n_heads
    markup.prose(lesson("syntax/warning", heads=n_heads))
    _say_what_was_counted(info, job.collector, done.n_done)
    common = [finding.relation for finding in relations(found, with_rare=False)]
    with_rare = view[RARE]
    rare = Line("rare", "content").group(message("Table"))
    rare.switch(RARE, message("Relations with fewer than {few} cases, too", few=FEW), take=partial(_take_rare, common))
    rare.draw()
    shown = relations(found, with_rare=with_rare)
    _table(view, shown, partial(_columns, job.key, with_rare))
    _one_relation(view, model, shown, n_heads)
    corpus_frame.finish(info.name, job.collector.difference, job.collector.largest_row_error)


def _say_what_was_counted(info: ModelInfo, check: SyntaxCheck, n_done: int) -> None:
    told = [
        messages("{n} sentence, {name}.", "{n} sentences, {name}.", n_done, name=info.name),
        message("Special tokens and a word's own place are not counted, as in the paper."),
    ]
    if check.n_without_token:
        told.append(
            messages(
                "{n} word, such as the “n't” of “don't”, has no token of its own in {name}: it counts as a miss.",
                "{n} words, such as the “n't” of “don't”, have no token of their own in {name}: they count as misses.",
                check.n_without_token,
                name=info.name,
            )
        )
    st.caption(" ".join(told))


def _columns(job: str, with_rare: bool) -> Table:
    return findings_table(relations(corpus_frame.result_again(job, SyntaxCheck.findings), with_rare=with_rare))


def _choose(names: Sequence[str], row: int) -> None:
    state.set(RELATION, names[row])


def _table(view: View, shown: Sequence[Finding], make: Callable[[], Table]) -> None:
    st.caption(message("Click on a row to see an example of it below, and on a heading to sort."))
    names = [finding.relation for finding in shown]
    table = findings_table(shown)
    chosen = names.index(_shown(view[RELATION], names))
    take = partial(_choose, names)
    components.mount(tables.part_of("syntax_table", table, view, choose=take, chosen=chosen))
    csv_button("syntax-check", make)


def _one_relation(view: View, model: Model, shown: Sequence[Finding], n_heads: int) -> None:
    st.header(message("One relation, and an example"), anchor=False)
    by_name = {finding.relation: finding for finding in shown}
    finding = by_name[_relation(view[RELATION], by_name)]
    treebank = corpus.annotated()
    numbers = {sentence.text: number for number, sentence in enumerate(treebank)}
    having = [numbers[sentence.text] for sentence in examples(treebank, finding.relation)]
    number = _sentence(view[EXAMPLE], having)
    line = Line("relation", "content").group(message("Relation"))
    line.list(RELATION, message("Relation"), list(by_name), list(by_name), value=finding.relation)
    texts = [treebank[index].text for index in having]
    line.list(EXAMPLE, message("Example"), having, texts, value=number, name="syntax_example")
    line.draw()
    _example(view, model, finding, treebank[number], n_heads)


def _relation(wanted: str, by_name: Collection[str]) -> str:
    """Return the relation that is shown, and say so if the link names another one."""
    if wanted and wanted not in by_name:
        markup.notice(
            message(
                "The link points to {wanted}, which is not in the table: it has fewer than {few} cases, and is there "
                "once these are asked for, too.",
                wanted=wanted,
                few=FEW,
            )
        )
    return _shown(wanted, by_name)


def _shown(wanted: str, names: Collection[str]) -> str:
    """Return the relation that the link names or, failing that, the direct object, about which the paper says most."""
    if wanted in names:
        return wanted
    return "dobj" if "dobj" in names else next(iter(names))


def _sentence(wanted: int | None, having: Sequence[int]) -> int:
    """Return the number of the sentence that the link names or, failing that, of the first with the relation."""
    if wanted is None or wanted in having:
        return having[0] if wanted is None else wanted
    markup.notice(message("The link points to an example that does not have this relation: another one is shown."))
    return having[0]


def _example(view: View, model: Model, finding: Finding, sentence: Annotated, n_heads: int) -> None:
    trace = record(model, sentence.text, "none").trace
    there = cases(example_weights(trace, sentence, finding), sentence, finding)
    left, right = st.columns([2, 3], gap="large")
    with left:
        markup.prose(describe(finding, n_heads))
        for case in there:
            markup.prose(tell_case(case, sentence, finding))
        _ways(view, finding, sentence)
    with right:
        components.matrix(example_matrix(trace, sentence, finding, there[0]), key="syntax_matrix")
        special = special_names(trace.tokens)
        told = [message("Pieces are merged into words: to a word, the sum over its pieces; from a word, their mean.")]
        if special:
            told.append(message("Left out: {special}, so a row adds up to less than 1.", special=listed(special)))
        st.caption(" ".join([*told, message("The framed cell is the right one.")]))


def _ways(view: View, finding: Finding, sentence: Annotated) -> None:
    """Draw links to this head, on the sentence of the other pages and on the example."""
    at_head = view.having(PART, "encoder").having(STEP, softmax.STEP.key).having(LAYER, finding.layer)
    at_head = at_head.having(HEAD, finding.head).having(CELL, None)
    plain = at_head.having(TEXT, sentence.text).without(PAIR, MASK, WORDS, HIDE, RENORMALISE)
    starts = {message("the example"): plain}
    if view.text and view.text != sentence.text:
        starts = {f"“{markup.plain(_shortly(view.text))}”": at_head, **starts}
    with st.container(key="way_in_example"):
        for name, start in starts.items():
            for page, label in (
                (STEP_BY_STEP, message("Step through this head on {text} ▸", text=name)),
                (ALL_HEADS, message("All heads on {text} ▸", text=name)),
            ):
                st.page_link(page.file, label=label, query_params=start.on(page).to_query())


def _shortly(sentence: str) -> str:
    return sentence if len(sentence) <= MAX_NAME else f"{sentence[:MAX_NAME].rstrip()} …"


def _take_rare(common: Sequence[str], rare: bool) -> None:
    """Show the rare relations too, or drop a chosen one that is no longer in the table."""
    state.set(RARE, rare)
    if not rare and state.current()[RELATION] not in common:
        state.set(RELATION, RELATION.default)
        state.set(EXAMPLE, None)
