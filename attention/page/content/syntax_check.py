"""The syntax check: for each relation, the attention head that finds a word's grammatical head, with an example."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from attention.core.messages import message, messages
from attention.core.words import special_names
from attention.experiments import corpus
from attention.experiments.corpus import Annotated
from attention.experiments.measuring import Measured
from attention.experiments.syntax import Finding, SyntaxResult
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
from attention.models import ModelInfo
from attention.page.blocks import (
    Blocks,
    Heading,
    Notice,
    Picture,
    Prose,
    Row,
    RowChoice,
    Section,
    Setting,
    Table,
    Way,
)
from attention.page.content.measured import about, how_far, proof
from attention.page.content.pane import Pane, Server
from attention.page.pages import ALL_HEADS, STEP_BY_STEP
from attention.page.settings import (
    CELL,
    EXAMPLE,
    HEAD,
    HIDE,
    HOLD,
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
from attention.page.view import View

MAX_NAME = 40  # characters of a sentence in a label


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return the measurement's progress and one relation with an example; once it is done or paused, also the table."""
    intro, pane = Prose(lesson("syntax/intro")), panes[0]
    server = pane.server if view.page.is_for(pane.info) and pane.reason is None else None
    measured = None if server is None else server.syntax(is_held=view[HOLD])
    if server is None or measured is None:
        return (intro, *about(view, pane))
    progress = how_far(measured, is_held=view[HOLD])
    # The example uses the count so far; the rest waits for the end.
    is_whole = measured.is_over or view[HOLD]
    shown = _counted(view, pane.info, measured, server, is_whole=is_whole, on_paper=whole)
    return (intro, *about(view, pane), *progress, *shown)


def _counted(
    view: View,
    info: ModelInfo,
    measured: Measured[SyntaxResult],
    server: Server,
    *,
    is_whole: bool,
    on_paper: bool,
) -> Blocks:
    result, n_heads = measured.result, info.n_layers * info.n_heads
    if not result.findings:
        return (Notice(message("Nothing has been counted yet.")),) if is_whole else ()
    common = [finding.relation for finding in relations(result.findings, with_rare=False)]
    is_rare = view[RELATION] not in common
    rare = Setting(
        RARE,
        message("Include relations with fewer than {few} cases", few=FEW),
        view[RARE],
        # A relation that leaves the table is no longer chosen.
        clears=(RELATION, EXAMPLE) if view[RARE] and is_rare else (),
    )
    shown = relations(result.findings, with_rare=view[RARE])
    if not shown:
        return ()
    example = _one_relation(view, server, shown, n_heads, whole=on_paper)
    if not is_whole:
        return example
    return (
        *example,
        Heading(message("All relations")),
        Notice(" ".join(_notes(info, result, measured.n_done)), is_quiet=True),
        rare,
        *_table(view, shown),
        Prose(lesson("syntax/warning", heads=n_heads)),
        *proof(view, info.name, result.difference, result.largest_row_error),
    )


def _notes(info: ModelInfo, result: SyntaxResult, n_done: int) -> list[str]:
    told = [
        messages("{n} sentence, {name}.", "{n} sentences, {name}.", n_done, name=info.name),
        message("Special tokens and each word's own position are left out, as in the paper."),
    ]
    if result.n_without_token:
        told.append(
            message(
                "Words without a token in {name}, such as “n't” of “don't”, count as misses: {n}.",
                name=info.name,
                n=result.n_without_token,
            )
        )
    return told


def _table(view: View, shown: Sequence[Finding]) -> Blocks:
    told = message("Press a row for an example.")
    names = tuple(finding.relation for finding in shown)
    choice = RowChoice(RELATION, names, names.index(_chosen_relation(view[RELATION], names)))
    table = Table("syntax_table", partial(findings_table, shown), file="syntax-check", choice=choice)
    return Notice(told, is_quiet=True), table


def _one_relation(view: View, server: Server, shown: Sequence[Finding], n_heads: int, *, whole: bool) -> Blocks:
    by_name = {finding.relation: finding for finding in shown}
    finding = by_name[_chosen_relation(view[RELATION], by_name)]
    treebank = corpus.annotated()
    numbers = {sentence.text: number for number, sentence in enumerate(treebank)}
    having = [numbers[sentence.text] for sentence in examples(treebank, finding.relation)]
    number = view[EXAMPLE] if view[EXAMPLE] in having else having[0]
    assert number is not None
    names = {name: name for name in by_name}
    texts = {index: treebank[index].text for index in having}
    relation, example = message("Relation"), message("Example")
    choices = (
        Setting(RELATION, relation, finding.relation, names, is_list=True),
        Setting(EXAMPLE, example, number, texts, is_list=True, key="syntax_example"),
    )
    return (
        *_link_notices(view, by_name, having),
        Section("relation_and_example", choices, is_line=True),
        *_example(view, server, finding, treebank[number], n_heads, whole=whole),
    )


def _chosen_relation(wanted: str, names: Collection[str]) -> str:
    """Return the relation that the link names or, failing that, the direct object, the paper's main example."""
    if wanted in names:
        return wanted
    return "dobj" if "dobj" in names else next(iter(names))


def _link_notices(view: View, names: Collection[str], having: Sequence[int]) -> Blocks:
    """Return notices about a relation that is not in the table, or an example without the relation."""
    wanted, example = view[RELATION], view[EXAMPLE]
    told = []
    if wanted and wanted not in names:
        told.append(
            message(
                "The link points to {wanted}, which is not in the table: fewer than {few} cases. Include those.",
                wanted=wanted,
                few=FEW,
            )
        )
    if example is not None and example not in having:
        told.append(message("The link points to an example without this relation. Another is shown."))
    return tuple(map(Notice, told))


def _example(view: View, server: Server, finding: Finding, sentence: Annotated, n_heads: int, *, whole: bool) -> Blocks:
    described, trace = Prose(describe(finding, n_heads)), server.reading(sentence.text)
    ways = () if whole else (Section("way_in_example", _ways(view, finding, sentence)),)
    if trace is None:
        return (described, Notice(message("The model could not read this example. Choose another.")), *ways)
    there = cases(example_weights(trace, sentence, finding), sentence, finding)
    special = special_names(trace.tokens)
    told = [message("Tokens are merged into words: weights to a word are summed, weights from a word averaged.")]
    if special:
        told.append(message("Left out: {special}, so a row sums to less than 1.", special=listed(special)))
    told.append(message("The framed cell is the right one."))
    matrix = Picture("syntax_matrix", example_matrix(trace, sentence, finding, there[0]))
    left = (described, *(Prose(tell_case(case, sentence, finding)) for case in there), *ways)
    return (Row(((matrix, Notice(" ".join(told), is_quiet=True)), left), widths=(3, 2)),)


def _ways(view: View, finding: Finding, sentence: Annotated) -> tuple[Way, ...]:
    at_head = view.with_value(PART, "encoder").with_value(STEP, softmax.STEP.key).with_value(LAYER, finding.layer)
    at_head = at_head.with_value(HEAD, finding.head).with_value(CELL, None)
    plain = at_head.with_value(TEXT, sentence.text).without(PAIR, MASK, WORDS, HIDE, RENORMALISE)
    starts = {message("the example"): plain}
    if view.text and view.text != sentence.text:
        starts = {f"“{_shortly(view.text)}”": at_head, **starts}
    return tuple(
        Way(f"way_in_example_{number}_{page.address}", label, page, start.for_page(page).to_query())
        for number, (name, start) in enumerate(starts.items())
        for page, label in (
            (STEP_BY_STEP, message("Step through this head on {text} ▸", text=name)),
            (ALL_HEADS, message("All heads on {text} ▸", text=name)),
        )
    )


def _shortly(sentence: str) -> str:
    return sentence if len(sentence) <= MAX_NAME else f"{sentence[:MAX_NAME].rstrip()} …"
