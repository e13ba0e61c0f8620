"""The lab Masks: a head with other keys hidden from its queries, by a rule or painted by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple, Self

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core import masks
from attention.core.messages import message, messages
from attention.core.steps import mask_scores, softmax, weighted_sum
from attention.figures import charts
from attention.figures.bars import candidates_bars
from attention.figures.format import full_colour
from attention.figures.matrix import Matrix
from attention.lesson.head_context import HeadContext, numbered
from attention.lesson.matrices import pairs, weight_matrix
from attention.lesson.prose import SMALLEST_TOLD, fact, lesson, listed, nonzero, word
from attention.lesson.quiz import Guess
from attention.lesson.tables import full_precision
from attention.models.base import Unmasked
from attention.page.blocks import (
    Blocks,
    Brush,
    Fold,
    Heading,
    Notice,
    Picture,
    Prose,
    Row,
    Section,
    Setting,
    Table,
    as_table,
)
from attention.page.labs.base import Lab, Runs
from attention.page.parameters import Choice, Grid, Parameter, Values
from attention.page.settings import MASK, WORD

Rule = Literal["none", "causal", "padding", "window", "prefix", "painted"]

RULES: tuple[Rule, ...] = ("none", "causal", "padding", "window", "prefix", "painted")
MOST_PAINTED = 24  # tokens of a painted mask: each cell is a click, and all are in the link
REACHES = tuple(range(1, 9))
_NAMED = 4  # rows; further ones are counted
N_PREDICTED = 5

# The default depends on the model (see ``_rule``).
RULE: Parameter[Rule | None] = Parameter("rule", Choice(lambda _: RULES), None)
REACH: Parameter[int] = Parameter("reach", Choice(lambda _: REACHES, written=str), 2)
HIDDEN: Parameter[tuple[int, ...]] = Parameter("hidden", Grid(MOST_PAINTED), ())

_RULE_NAMES: dict[Rule, str] = {
    "none": message("none"),
    "causal": message("causal"),
    "padding": message("padding"),
    "window": message("sliding window"),
    "prefix": message("prefix"),
    "painted": message("painted"),
}
_REACH_NAMES: dict[Rule, str] = {
    "padding": message("Padding tokens at the end"),
    "window": message("Visible distance, in tokens"),
    "prefix": message("Tokens at the start that all see"),
}
# Less weight than this in every row leaves nothing to see when it is hidden.
_LITTLE = 0.1
_HOW = message("Press a score to hide or show it in a mask of your own.")
_TOO_MANY = message("Painting needs at most {most} tokens.", most=MOST_PAINTED)


def _guess(_: HeadContext | None) -> Guess:
    """Ask how much of a key's weight is left if its score becomes 0 instead of −∞."""
    answers = (message("nothing"), message("it depends on the other scores"), message("as much as unmasked"))
    return Guess(lesson("masks/guess"), answers, lesson("masks/guess-because"), frozenset({1}))


def _rule(values: Values, scene: HeadContext) -> Rule:
    """Return the chosen rule; by default none for a model that hides later tokens, and causal for others."""
    return values[RULE] or ("none" if scene.hides_later else "causal")


def hidden_by(rule: Rule, reach: int, painted: tuple[int, ...], n_tokens: int) -> Bool[Array, "T T"]:
    """Return which cells of ``n_tokens`` queries and keys a rule hides."""
    found = {
        "none": lambda: masks.none(n_tokens),
        "causal": lambda: masks.causal(n_tokens),
        "padding": lambda: masks.padding([place >= n_tokens - reach for place in range(n_tokens)]),
        "window": lambda: masks.window(n_tokens, reach),
        "prefix": lambda: masks.prefix(n_tokens, reach),
        "painted": lambda: masks.painted(_cells(painted, n_tokens)),
    }
    return np.isneginf(found[rule]())


def _cells(rows: tuple[int, ...], n_tokens: int) -> Bool[Array, "T T"]:
    columns = range(n_tokens)
    rows = (*rows, *[0] * n_tokens)[:n_tokens]
    return np.array([[bool(row >> column & 1) for column in columns] for row in rows])


def _rows(cells: Bool[Array, "T T"]) -> tuple[int, ...]:
    """Return cells as the painted rows of a ``Grid``."""
    return Grid.of(sum(1 << int(column) for column in np.flatnonzero(row)) for row in cells)


# -------------------------------------------------------------------------------------- the content


class _Masked(NamedTuple):
    """A head's scores and weights with another mask in place of its own."""

    hidden: Bool[Array, "T T"]
    scores: Float[Array, "T T"]
    weights: Float[Array, "T T"]

    @classmethod
    def of(cls, scene: HeadContext, hidden: Bool[Array, "T T"]) -> Self:
        """Mask the scores of the scene's head, and take the softmax."""
        scores = mask_scores(scene.steps.unmasked_scores, masks.painted(hidden))
        return cls(hidden, scores, softmax(scores))


def _content(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    if scene is None or scene.other_keys:
        return _before(values, scene, runs)
    masked = _masked(values, scene)
    told = Row((_row_text(scene, masked), (_own_scores(scene),)), (4, 5))
    return (*_mask(scene, values, masked), told, *_outputs(scene, masked), *_unmasked_decoder(scene, runs))


def _before(values: Values, scene: HeadContext | None, _: Runs | None) -> Blocks:
    """Return the mask and the weights, without those for scores of 0."""
    if scene is None:
        return ()
    if scene.other_keys:
        return (Notice(scene.other_keys),)
    return _mask(scene, values, _masked(values, scene))


def _masked(values: Values, scene: HeadContext) -> _Masked:
    return _Masked.of(scene, hidden_by(_rule(values, scene), values[REACH], values[HIDDEN], len(scene.tokens)))


def _mask(scene: HeadContext, values: Values, masked: _Masked) -> Blocks:
    """Return the choice of a mask, and the mask, which can be painted."""
    hidden = masked.hidden
    rule, can_paint = _rule(values, scene), len(scene.tokens) <= MOST_PAINTED
    rules = [name for name in RULES if name != "painted" or can_paint]
    knobs = [Setting(RULE, message("Mask"), rule, {name: _RULE_NAMES[name] for name in rules})]
    if rule in _REACH_NAMES:
        options = {reach: str(reach) for reach in REACHES}
        knobs.append(Setting(REACH, _REACH_NAMES[rule], values[REACH], options, is_scale=True))
    cells = messages(
        "{n} of {cells} cells is hidden", "{n} of {cells} cells are hidden", int(hidden.sum()), cells=hidden.size
    )
    told = lesson(f"masks/{rule}", reach=values[REACH], hidden=cells)
    return (
        Heading(scene.place),
        Section("knobs", tuple(knobs), is_line=True),
        _pictures(scene, masked, rule, can_paint=can_paint),
        Prose(told + _tell_little(scene, hidden) + _tell_empty_rows(scene, hidden)),
    )


def _tell_little(scene: HeadContext, hidden: Bool[Array, "T T"]) -> str:
    """Say if the head gives the hidden cells so little weight that the mask hardly changes it."""
    lost = float((scene.steps.weights * hidden).sum(axis=1).max())
    return lesson("masks/little") if hidden.any() and lost < _LITTLE else ""


def _tell_empty_rows(scene: HeadContext, hidden: Bool[Array, "T T"]) -> str:
    """Name the rows in which the mask hides every key, except the one in focus, which has its own text."""
    empty = [scene.query_word(row) for row in np.flatnonzero(hidden.all(axis=1)) if row != scene.word]
    return lesson("masks/rows-all", rows=listed(empty, _NAMED)) if empty else ""


def _pictures(scene: HeadContext, masked: _Masked, rule: Rule, *, can_paint: bool) -> Row:
    """Return the scores, which can be painted, and the weights with the model's own mask and with this one."""
    title = message("scores + mask: {mask}", mask=_RULE_NAMES[rule])
    brush = Brush(HIDDEN, _rows(masked.hidden), RULE, "painted") if can_paint else None
    scores = pairs(scene, "mask", title, masked.scores, full_colour(scene.steps.unmasked_scores))
    scores = replace(scores, hint=_HOW if can_paint else _TOO_MANY)
    painted = Picture("mask", scores, brush=brush, is_selectable=can_paint)
    drawn = (
        ("own_weights", message("the model's own weights"), scene.steps.weights, ~scene.visible),
        ("masked_weights", message("weights with this mask"), masked.weights, masked.hidden),
    )
    weights = (
        Picture(name, weight_matrix(scene, name, title, each, dark), sets={"row": WORD}, is_selectable=True)
        for name, title, each, dark in drawn
    )
    return Row(((painted,), *((picture,) for picture in weights)), gap="small")


def _own_scores(scene: HeadContext) -> Picture:
    """Return the scores with the model's own mask, on the same colour scale."""
    limit, title = full_colour(scene.steps.unmasked_scores), message("the model's scores")
    figure = pairs(scene, "own_scores", title, scene.steps.masked_scores, limit)
    return Picture("own_scores", figure, sets={"row": WORD}, is_selectable=True)


def _row_text(scene: HeadContext, masked: _Masked) -> Blocks:
    """Describe the mask's effect on the row in focus, and why hidden keys get −∞ and not 0."""
    row, focus = masked.hidden[scene.word], scene.focus_word
    if row.all():
        return (Prose(lesson("masks/row-all", focus=focus)),)
    told = _tell_weights(scene, masked, focus)
    return (Prose(told + _tell_zero_scores(scene, row) if row.any() else told),)


def _tell_weights(scene: HeadContext, masked: _Masked, focus: str) -> str:
    """Say where the weights of the row in focus go, compared with the model's own mask."""
    row, by_model = masked.hidden[scene.word], ~scene.visible[scene.word]
    own, weights = scene.steps.weights[scene.word], masked.weights[scene.word]
    opened, closed = by_model & ~row, row & ~by_model
    if not (opened.any() or closed.any()):
        return lesson("masks/row-same", focus=focus)
    # Newly visible keys take weight from the model's favourite; newly hidden ones leave theirs to the others.
    best = int((own if opened.any() else weights).argmax())
    told = ""
    if opened.any():
        gained = nonzero(float(weights[opened].sum()))
        told += lesson("masks/row-opened", focus=focus, opened=_keys(opened), gained=gained)
    if closed.any():
        told += lesson("masks/row-closed", focus=focus, closed=_keys(closed), lost=nonzero(float(own[closed].sum())))
    return told + lesson("masks/row-best", best=scene.key_word(best), before=own[best], after=weights[best])


def _tell_zero_scores(scene: HeadContext, hidden: Bool[Array, " T"]) -> str:
    """Say how much weight the hidden keys of the row in focus would get with scores of 0."""
    # In float64: tiny weights could vanish in the model's precision.
    scores = scene.steps.unmasked_scores[scene.word].astype(np.float64)
    as_zero = float(softmax(np.where(hidden, 0, scores))[hidden].sum())
    told = lesson("masks/zeros", as_zero=nonzero(as_zero))
    if as_zero >= SMALLEST_TOLD:
        return told
    return told + lesson("masks/zeros-little", highest=scores[~hidden].max())


def _keys(cells: Bool[Array, " T"]) -> str:
    return messages("{n} key", "{n} keys", int(cells.sum()))


def _outputs(scene: HeadContext, masked: _Masked) -> Blocks:
    """Show the output of the word in focus before and after, and how far the mask moves each output of this head."""
    own, values, row = scene.steps.head_outputs, scene.steps.values, scene.word
    outputs = weighted_sum(masked.weights, values)
    lengths = np.linalg.norm(outputs - own, axis=-1)
    chart = charts.lengths(scene.labels, lengths, message("how far the outputs move"))
    both = np.stack([own[row], outputs[row], outputs[row] - own[row]])
    tables = (
        Table("row_table", partial(_table_of_row, both), file="row_outputs"),
        Table("outputs_table", partial(_table, scene, masked, lengths), file="outputs"),
    )
    return (
        *((Picture("moved", charts.Chart(chart)),) if lengths.any() else ()),
        Picture("row_outputs", _both_outputs(scene, both)),
        Fold("row_fold", message("These numbers as a table"), tables[:1]),
        Fold("outputs_fold", message("Every row as a table"), tables[1:]),
    )


def _both_outputs(scene: HeadContext, both: Float[Array, "3 D"]) -> Matrix:
    """Return as rows the output of the word in focus in the model, with this mask, and their difference."""
    title = message("output of “{word}”", word=scene.names[scene.word])
    return Matrix(
        name="row_outputs",
        title=title,
        values=both,
        row_labels=(message("the model"), message("this mask"), message("difference")),
        column_labels=numbered(both.shape[1]),
        row_axis=message("before, after, and their difference"),
        column_axis=message("dimensions"),
        palette="signed",
        alt=message(
            "{title}: {width} numbers in the model, with this mask, and their differences.",
            title=title,
            width=both.shape[1],
        ),
    )


def _table_of_row(both: Float[Array, "3 D"]) -> dict[str, list[str]]:
    names = (message("in the model"), message("with this mask"), message("difference"))
    numbers = {name: full_precision(row) for name, row in zip(names, both, strict=True)}
    return {message("dimension"): list(numbered(both.shape[1]))} | numbers


def _table(scene: HeadContext, masked: _Masked, lengths: Float[Array, " T"]) -> dict[str, list[str]]:
    own, hidden = scene.steps.weights, masked.hidden
    return {
        message("from"): list(scene.labels),
        message("hidden keys"): [str(int(row.sum())) for row in hidden],
        message("weight they had"): full_precision((own * hidden).sum(axis=-1)),
        message("largest weight now"): full_precision(masked.weights.max(axis=-1)),
        message("output moved by"): full_precision(lengths),
    }


# ------------------------------------------------------------------------- a decoder without its mask


def _unmasked_decoder(scene: HeadContext, runs: Runs | None) -> Blocks:
    """Show a decoder's predictions, and their losses, without a mask in any of its heads."""
    found = runs.unmasked() if runs is not None and scene.info.build.says_next else None
    if found is None:
        return ()
    probabilities = softmax(found.logits)
    drawn = []
    for name, row in zip(("predicted", "predicted_unmasked"), probabilities, strict=True):
        best = np.argsort(-row, kind="stable")[:N_PREDICTED]
        drawn.append(Picture(name, candidates_bars([found.labels[token] for token in best], row[best].tolist())))
    firsts = [int(row.argmax()) for row in probabilities]
    facts = {
        "model": word(scene.info.name),
        "first": word(found.labels[firsts[0]]),
        "probability": fact(float(probabilities[0, firsts[0]])),
        "first_unmasked": word(found.labels[firsts[1]]),
        "probability_unmasked": fact(float(probabilities[1, firsts[1]])),
    }
    told = lesson("masks/unmasked", **facts)
    n_losses = found.losses.shape[1]
    if n_losses:
        before, after = found.losses.mean(axis=1)
        told += lesson("masks/loss", n=n_losses, loss=before, loss_unmasked=after)
    labels = scene.labels[1 : 1 + n_losses]
    captions = (message("with its causal mask"), message("with nothing hidden"))
    columns = tuple((Notice(caption, is_quiet=True), chart) for caption, chart in zip(captions, drawn, strict=True))
    return (
        Heading(message("{name} without its mask", name=scene.info.name)),
        Prose(told),
        Row(columns),
        as_table("losses", partial(_table_of_losses, labels, found), file="losses"),
    )


def _table_of_losses(labels: tuple[str, ...], found: Unmasked) -> dict[str, list[str]]:
    columns = (message("loss with its mask"), message("loss with nothing hidden"))
    losses = {name: full_precision(row) for name, row in zip(columns, found.losses, strict=True)}
    return {message("token"): list(labels)} | losses


LAB = Lab(
    address="masks",
    title=message("Masks"),
    purpose=message("How a head changes when a mask, by rule or painted by hand, hides tokens."),
    knobs=(RULE, REACH, HIDDEN),
    guess=_guess,
    content=_content,
    before=_before,
    leaves_out=(MASK,),
)
