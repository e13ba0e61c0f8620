"""Attention heads that find a word's grammatical head: as a table, in words, and on an example."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.trace import Trace
from attention.experiments.corpus import Annotated
from attention.experiments.syntax import PAPER, Finding, parse_of, word_weights
from attention.figures.format import MINUS, number
from attention.figures.matrix import Matrix
from attention.lesson.matrices import between
from attention.lesson.prose import lesson, word
from attention.measures.dependencies import ALL_RELATIONS

# Fewer cases of a relation show a tendency at most (assets/dependencies.md).
FEW = 20

# Each relation in school grammar's terms, with an example: dependent → head.
MEANINGS = {
    "punct": message("punctuation mark: . → slept"),
    "nsubj": message("subject: dog → slept"),
    "det": message("determiner: the → dog"),
    "dobj": message("direct object: door → opened"),
    "prep": message("preposition: under → slept"),
    "pobj": message("object of a preposition: table → under"),
    "aux": message("auxiliary: will → study"),
    "amod": message("adjective: green → coat"),
    "poss": message("possessive: my → sister"),
    "advmod": message("adverb: very → well"),
    "cop": message("form of be: is → hot"),
    "conj": message("second of two parts: cheese → meat"),
    "auxpass": message("auxiliary of a passive: was → written"),
    "mark": message("word that opens a clause: because → thin"),
    "nn": message("noun before a noun: kitchen → table"),
    "nsubjpass": message("subject of a passive: letter → written"),
    "num": message("number: three → children"),
    "cc": message("and, or, but: or → meat"),
    "neg": message("negation: n't → eat"),
    "prt": message("particle: up → gave"),
    "ccomp": message("clause as object: lost → said"),
    "xcomp": message("infinitive as object: buy → want"),
    "advcl": message("adverbial clause: hurry → catch"),
    "tmod": message("time: night → watched"),
    "iobj": message("indirect object: mother → gave"),
    "rcmod": message("relative clause: lives → man"),
    "possessive": message("'s: 's → farmer"),
}


def relations(findings: Sequence[Finding], *, with_rare: bool) -> list[Finding]:
    """Return the findings for the table, the most common relation first, without the sum of all relations."""
    return [each for each in findings if each.relation != ALL_RELATIONS and (with_rare or each.count >= FEW)]


def findings_table(findings: Sequence[Finding]) -> dict[str, list[str | int | float | None]]:
    """Return one row per relation, with percentages rounded to one decimal, beside BERT-base's."""
    paper = [PAPER.get(each.relation) for each in findings]
    return {
        message("relation"): [each.relation for each in findings],
        message("meaning"): [MEANINGS.get(each.relation, "") for each in findings],
        message("cases"): [each.count for each in findings],
        message("head"): [_place(each.layer, each.head) for each in findings],
        message("asked"): [_DIRECTIONS[each.direction] for each in findings],
        message("right %"): [_percent(each.accuracy) for each in findings],
        message("held out %"): [None if each.held_out is None else _percent(each.held_out) for each in findings],
        message("offset"): [_signed(each.offset) for each in findings],
        message("offset %"): [_percent(each.offset_accuracy) for each in findings],
        "BERT-base": [None if each is None else _place(each.layer, each.head) for each in paper],
        "BERT-base %": [None if each is None else _percent(each.accuracy) for each in paper],
        message("its offset %"): [None if each is None else _percent(each.offset_accuracy) for each in paper],
    }


def _signed(offset: int) -> str:
    return f"{offset:+d}".replace("-", MINUS)


def _place(layer: int, head: int) -> str:
    return f"{layer + 1}-{head + 1}"


def _percent(part: float) -> float:
    return round(100 * part, 1)


def describe(finding: Finding, n_heads: int) -> str:
    """Return as HTML the finding for one relation, and its standard error."""
    error = _standard_error(finding)
    told = lesson(
        "syntax/relation",
        relation=word(finding.relation),
        meaning=html.escape(MEANINGS.get(finding.relation, message("a rare relation"))),
        cases=finding.count,
        layer=finding.layer + 1,
        head=finding.head + 1,
        direction=_DIRECTION_WORDS[finding.direction],
        right=_bold_percent(finding.accuracy),
        error=number(100 * error, 0),
        heads=n_heads,
        held=_bold_percent(finding.held_out) if finding.held_out is not None else message("(too few cases)"),
        rule=_RULES[finding.offset],
        offset_right=_bold_percent(finding.offset_accuracy),
    )
    paper = PAPER.get(finding.relation)
    if paper is not None:
        told += lesson(
            "syntax/paper",
            layer=paper.layer + 1,
            head=paper.head + 1,
            right=_bold_percent(paper.accuracy),
            offset_right=_bold_percent(paper.offset_accuracy),
            cases=f"{paper.count:,}",
        )
    return told + (lesson("syntax/few", cases=finding.count) if finding.count < FEW else "")


_DIRECTIONS = {
    "dependent to head": message("dependent to head"),
    "head to dependent": message("head to dependent"),
}
_DIRECTION_WORDS = {
    "dependent to head": message("Right: the word attends most to the word it depends on."),
    "head to dependent": message("Right: the word it depends on attends most to it."),
}


_RULES = {
    -3: message("the third word before"),
    -2: message("the second word before"),
    -1: message("the word before"),
    1: message("the next word"),
    2: message("the second word after"),
}


def _standard_error(finding: Finding) -> float:
    """Return the standard error of the accuracy, ``√(p (1 − p)/n)``.

    Two right and two wrong cases are added first, so that a few right cases do not count as certain (Agresti and Coull
    1998).
    """
    n = finding.count + 4
    p = (finding.accuracy * finding.count + 2) / n
    return math.sqrt(p * (1 - p) / n)


def _bold_percent(part: float) -> str:
    return f"<b>{number(100 * part, 1)}%</b>"


def examples(sentences: Sequence[Annotated], relation: str) -> list[Annotated]:
    """Return the annotated sentences that contain a relation."""
    return [each for each in sentences if relation in each.relations]


@dataclass(frozen=True, slots=True)
class Case:
    """A word and its grammatical head in a sentence, and the word that the attention head chose, with its weight."""

    dependent: int
    gold: int
    asked: int
    taken: int
    weight: float


def cases(weights: Float[Array, "W W"], sentence: Annotated, finding: Finding) -> list[Case]:
    """Return an attention head's choice in each case of a relation; the weights are between the treebank's words."""
    parse = parse_of(sentence)
    found = []
    for dependent, (gold, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
        if gold is None or relation != finding.relation:
            continue
        asked = parse.asked(dependent)
        row = (weights if finding.direction == "dependent to head" else weights.T)[asked].copy()
        row[asked] = -1  # a word is not its own head
        taken = int(row.argmax())
        found.append(Case(dependent, gold, asked, taken, float(row[taken])))
    return found


def tell_case(case: Case, sentence: Annotated, finding: Finding) -> str:
    """Return as HTML whether the attention head is right in one case."""
    is_right = case.taken == case.gold and case.weight > 0
    gold = word(sentence.words[case.gold])
    return lesson(
        "syntax/to-head" if finding.direction == "dependent to head" else "syntax/to-dependent",
        mark="✓" if is_right else "✗",
        asked=word(sentence.words[case.asked]),
        taken=word(sentence.words[case.taken]),
        weight=f"<b>{number(case.weight)}</b>",
        verdict=message("Right.") if is_right else message("It should be {gold}.", gold=f"<b>{gold}</b>"),
    )


def example_matrix(trace: Trace, sentence: Annotated, finding: Finding, case: Case | None) -> Matrix:
    """Return a head's weights between the treebank's words as a matrix, with the correct cell of one case marked."""
    weights = example_weights(trace, sentence, finding)
    place = message("layer {layer}, head {head}", layer=finding.layer + 1, head=finding.head + 1)
    selected = None
    if case is not None:
        selected = (case.asked, case.gold) if finding.direction == "dependent to head" else (case.gold, case.asked)
    alt = message(
        "The weights of {place} between the {n_words} words of “{text}”.",
        place=place,
        n_words=len(sentence.words),
        text=sentence.text,
    )
    title = message("Weights of {place} between words", place=place)
    return between("syntax_weights", title, weights, sentence.words, alt, selected=selected)


def example_weights(trace: Trace, sentence: Annotated, finding: Finding) -> Float[Array, "W W"]:
    """Return one head's weights between the treebank's words."""
    return word_weights(trace.layers[finding.layer].head(finding.head).weights, trace.tokens, sentence)
