"""Syntax check: which head finds the grammatical head of a word, relation by relation, and an example of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention import corpus
from attention.corpus import Annotated
from attention.lesson.prose import lesson, listed
from attention.lesson.steps import softmax
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
from attention.ui import choices, components, corpus_frame, markup, state
from attention.ui.cache import record
from attention.ui.downloads import Table, csv_button
from attention.ui.study_cache import syntax_job
from attention.view import Grammar, Pane, View
from attention.words import special_names

__all__ = ["show"]

_TABLE, _RELATION, _EXAMPLE, _RARE = "syntax_table", "relation", "syntax_example", "rare_relations"
# So much of a sentence names it.
MAX_NAME = 40


def show(view: View) -> None:
    """Draw the page: the work while it lasts, the table, and one relation with an example."""
    markup.prose(lesson("syntax"))
    info = corpus_frame.model_choice(view)
    model = corpus_frame.load(info)
    if model is None:
        return
    job = syntax_job(model)
    done = corpus_frame.carry_on(job, SyntaxCheck.findings)
    found = done.result
    if not found:
        markup.notice("Nothing has been counted yet.")
        return
    n_heads = info.n_layers * info.n_heads
    markup.prose(lesson("syntax-warning", heads=n_heads))
    _say_what_was_counted(info, job.collector, done.n_done)
    common = [finding.relation for finding in relations(found, with_rare=False)]
    with_rare = view.grammar.rare
    choices.switch(
        f"Relations with fewer than {FEW} cases, too", key=_RARE, value=with_rare, take=partial(_take_rare, common)
    )
    shown = relations(found, with_rare=with_rare)
    _table(shown, partial(_columns, job.key, with_rare))
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


def _columns(job: str, with_rare: bool) -> Table:
    return findings_table(relations(corpus_frame.result_again(job, SyntaxCheck.findings), with_rare=with_rare))


def _table(shown: Sequence[Finding], make: Callable[[], Table]) -> None:
    st.caption("Click on a row to see an example of it below, and on a heading to sort.")
    names = [finding.relation for finding in shown]
    table = findings_table(shown)
    choices.cell_of(table, key=_TABLE, take=lambda row: _choose_relation(names[row]), placeholder="–")
    csv_button("syntax-check", make)


def _one_relation(view: View, model: Model, shown: Sequence[Finding], n_heads: int) -> None:
    st.header("One relation, and an example", anchor=False)
    by_name = {finding.relation: finding for finding in shown}
    finding = by_name[_relation(view.grammar, by_name)]
    treebank = corpus.annotated()
    numbers = {sentence.text: number for number, sentence in enumerate(treebank)}
    having = [numbers[sentence.text] for sentence in examples(treebank, finding.relation)]
    number = _sentence(view.grammar, having)
    # The page is marked whole before the counting, which may take long; these come after it.
    with state.group("look"), st.container(horizontal=True, key="relation_choice"):
        choices.select(
            "Relation", list(by_name), key=_RELATION, value=finding.relation, take=_choose_relation, width=180
        )
        texts = [treebank[index].text for index in having]
        choices.select("Example", texts, key=_EXAMPLE, value=treebank[number].text, take=_take_example)
    _example(view, model, finding, treebank[number], n_heads)


def _relation(grammar: Grammar, by_name: Collection[str]) -> str:
    """Return the relation that the link names, else the direct object, of which the paper tells most."""
    if grammar.relation in by_name:
        return grammar.relation
    if grammar.relation:
        markup.notice(
            f"The link points to {grammar.relation}, which is not in the table: it has fewer than {FEW} cases, and is "
            "there once these are asked for, too."
        )
    return "dobj" if "dobj" in by_name else next(iter(by_name))


def _sentence(grammar: Grammar, having: Sequence[int]) -> int:
    """Return the number of the sentence that the link names, else of the first one that has the relation."""
    if grammar.example is None or grammar.example in having:
        return having[0] if grammar.example is None else grammar.example
    markup.notice("The link points to an example that does not have this relation: another one is shown.")
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
        left_out = f"Left out: {listed(special)}, so a row adds up to less than 1. " if special else ""
        st.caption(
            "Pieces are merged into words: to a word, the sum over its pieces; from a word, their mean. "
            f"{left_out}The framed cell is the right one."
        )


def _ways(view: View, finding: Finding, sentence: Annotated) -> None:
    """Lead to this head, on the sentence that the other pages have and on the example."""
    at_head = view.with_part("encoder").with_step(softmax.STEP.key).with_pane(Pane(finding.layer, finding.head))
    plain = replace(at_head.with_text(sentence.text).with_pair(""), mask="none", look=Look())
    starts = {"the example": plain}
    if view.text and view.text != sentence.text:
        starts = {f"“{markup.plain(_shortly(view.text))}”": at_head, **starts}
    with st.container(key="way_in_example"):
        for name, start in starts.items():
            for page, label in (("step_by_step", "Step through this head"), ("all_heads", "All heads")):
                query = start.shown_on(label).to_query()
                st.page_link(f"pages/{page}.py", label=f"{label} on {name} ▸", query_params=query)


def _shortly(sentence: str) -> str:
    return sentence if len(sentence) <= MAX_NAME else f"{sentence[:MAX_NAME].rstrip()} …"


def _choose_relation(relation: str) -> None:
    """Go to another relation; the example stays where that is in it, too."""

    def update(grammar: Grammar) -> Grammar:
        example = grammar.example
        stays = example is not None and relation in corpus.annotated()[example].relations
        return replace(grammar, relation=relation, example=example if stays else None)

    _change(update)


def _take_example(chosen: str) -> None:
    for number, sentence in enumerate(corpus.annotated()):
        if sentence.text == chosen:
            _change(partial(replace, example=number))


def _take_rare(common: Sequence[str], rare: bool) -> None:
    """Show the rare relations too, or let go of one that is in the table no longer."""
    _change(lambda grammar: replace(grammar if rare or grammar.relation in common else Grammar(), rare=rare))


def _change(update: Callable[[Grammar], Grammar]) -> None:
    state.change(lambda view: replace(view, grammar=update(view.grammar)))
