"""The lab One head or many: the same matrices split into other heads, and each head's input and contribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.core.steps import HeadSteps, join_heads, output_projection
from attention.core.trace import Difference, Projections
from attention.experiments.head_resplit import Obstacle, contributions, counts, obstacle, query_changes, recut, slices
from attention.figures import charts
from attention.figures.format import number
from attention.figures.matrix import Matrix
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import exact, fact, length, lesson, small, word
from attention.lesson.quiz import Guess
from attention.lesson.tables import Columns, full_precision, matrix_table
from attention.measures.entropies import entropy
from attention.measures.likeness import overlaps
from attention.measures.segments import groups
from attention.page.blocks import Blocks, Fold, Heading, Picture, Prose, Row, Section, Setting, Table, as_table, beside
from attention.page.labs.base import Lab, Runs, always, covered
from attention.page.parameters import Choice, Context, Parameter, Values
from attention.page.settings import HEAD, WORD


def _offered(context: Context) -> tuple[int, ...]:
    info = context.info
    return counts(info.n_heads * info.d_head, info.n_heads)


CUT: Parameter[int] = Parameter("cut", Choice(_offered), 1)

_WHY_NOT: dict[Obstacle, str] = {"shared": "one-or-many/shared", "positions": "one-or-many/positions"}
_HEAD_AXIS = message("heads")
_KEY_AXIS = message("keys (attended to)")


@dataclass(frozen=True)
class _Heads:
    """The heads of a scene's layer: their weights and outputs, and the rows that see more than one key."""

    weights: Float[Array, "H Q K"]
    outputs: Float[Array, "H Q Dv"]
    has_choice: Bool[Array, " Q"]

    @classmethod
    def of(cls, scene: HeadContext) -> _Heads:
        """Derive the heads one by one, because all their steps take much memory."""
        steps = [scene.attention.head(head) for head in range(scene.info.n_heads)]
        has_choice = scene.visible.sum(axis=-1) > 1
        has_choice &= [not token.is_padding for token in scene.tokens]
        return cls(
            np.stack([each.weights for each in steps]), np.stack([each.head_outputs for each in steps]), has_choice
        )

    @cached_property
    def mean(self) -> Float[Array, "Q K"]:
        """The mean of the heads' weights."""
        return self.weights.mean(axis=0)


# ------------------------------------------------------------------------------------- the question


def _guess(scene: HeadContext | None) -> Guess | None:
    """Ask how many heads read the first numbers of the vector of the word in focus."""
    if scene is None or scene.attention.inputs is None or scene.attention.projections is None:
        return None
    n_heads, first = scene.info.n_heads, scene.d_head
    changes = np.nan_to_num(_changes(scene, scene.attention.projections)[:, 0])
    changed = int(np.count_nonzero(changes))
    answers = sorted({0, 1, n_heads // 2, n_heads, changed})
    focus = scene.focus_word
    question = lesson(
        "one-or-many/guess",
        focus=focus,
        width=scene.info.d_model,
        n=n_heads,
        d_head=scene.d_head,
        first=first,
    )
    names = tuple(_how_many(answer, n_heads) for answer in answers)
    return Guess(question, names, _because(changes, changed), frozenset({answers.index(changed)}))


def _how_many(answer: int, n_heads: int) -> str:
    if answer == n_heads:
        return messages("in the only one", "in all {n}", n_heads)
    return message("in none") if answer == 0 else message("in {some} of {all}", some=answer, all=n_heads)


def _because(changes: Float[Array, " H"], changed: int) -> str:
    if changed < len(changes):
        return lesson("one-or-many/guess-because-some", changed=changed, n=len(changes))
    most, least = int(changes.argmax()), int(changes.argmin())
    return lesson(
        "one-or-many/guess-because",
        n=len(changes),
        least=exact(float(changes[least]), 3),
        least_head=least + 1,
        most=exact(float(changes[most]), 3),
        most_head=most + 1,
    )


def _changes(scene: HeadContext, projections: Projections) -> Float[Array, "H S"]:
    assert scene.attention.inputs is not None
    return query_changes(scene.attention.inputs[scene.word], projections, scene.info.n_heads)


# -------------------------------------------------------------------------------------- the content


def _content(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    if scene is None:
        return ()
    return _shown(values, scene, runs, _read(scene))


def _before(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    """Return all blocks; those on a head's input are covered."""
    return () if scene is None else _shown(values, scene, runs, covered(_read(scene)))


def _shown(values: Values, scene: HeadContext, runs: Runs | None, read: Blocks) -> Blocks:
    heads = _Heads.of(scene)
    return (*_cut(scene, heads, values[CUT]), *_mean(scene, heads), *read, *_sum(scene, heads, runs))


def _cut(scene: HeadContext, heads: _Heads, wanted: int) -> Blocks:
    """Return the choice of a number of heads, and the weights of the model's heads and of the cut's."""
    own, why_not = scene.info.n_heads, obstacle(scene.attention)
    offered = (own,) if why_not else counts(math.gcd(*_widths(scene)), own)
    count = wanted if wanted in offered else own
    options = {each: _named(each, own) for each in offered}
    row = slice(scene.word, scene.word + 1)
    cut = None if count == own else recut(scene.attention, count, row)
    told = lesson(_WHY_NOT[why_not], size=scene.info.group_size) if why_not else _tell_cut(scene, count)
    shown = [_seen(scene, "own_heads", _counted(own), heads.weights[:, scene.word], heads.mean[scene.word])]
    if cut is not None:
        shown.append(_seen(scene, "cut_heads", _counted(count), cut.weights[:, 0]))
    tables = tuple(Table(f"{each.name}_table", partial(matrix_table, each), file=each.name) for each in shown)
    place = message("Layer {layer} of {name}", layer=scene.layer + 1, name=scene.info.name)
    knobs = Section("knobs", (Setting(CUT, message("Number of heads"), count, options),), is_line=True)
    return (
        Heading(place),
        *((knobs,) if len(options) > 1 else ()),
        Row(tuple((Picture(each.name, each),) for each in shown)),
        Prose(told + _tell_row(scene, heads, cut)),
        Fold("seen_fold", message("As a table"), tables),
    )


def _widths(scene: HeadContext) -> tuple[int, int]:
    """Return the widths of all heads' queries, and values, together."""
    n_heads = scene.info.n_heads
    return n_heads * scene.d_head, n_heads * scene.steps.values.shape[-1]


def _named(count: int, own: int) -> str:
    return message("{n}, as in the model", n=count) if count == own else str(count)


def _counted(count: int) -> str:
    return messages("{n} head", "{n} heads", count)


def _tell_cut(scene: HeadContext, count: int) -> str:
    own, (width, _) = scene.info.n_heads, _widths(scene)
    told = lesson("one-or-many/own", width=width, own=own, d_own=scene.d_head)
    if count == own:
        return told
    told += lesson("one-or-many/one" if count == 1 else "one-or-many/cut", count=count, d_head=width // count)
    if not scene.attention.has_usual_scale:
        return told
    root, root_own = (number((width // each) ** 0.5) for each in (count, own))
    return told + lesson("one-or-many/divided", root=root, root_own=root_own)


def _seen(
    scene: HeadContext, name: str, title: str, rows: Float[Array, "N K"], mean: Float[Array, " K"] | None = None
) -> Matrix:
    """Return the row of the word in focus in each of some heads and, below, their mean."""
    labels = tuple(message("head {head}", head=head + 1) for head in range(len(rows)))
    hidden = ~scene.visible[scene.word]
    values = rows if mean is None else np.vstack([rows, mean])
    focus = scene.names[scene.word]
    return Matrix(
        name=name,
        title=message("{heads}: what “{word}” attends to", heads=title, word=focus),
        values=values,
        row_labels=labels if mean is None else (*labels, message("mean")),
        column_labels=scene.key_labels,
        row_axis=_HEAD_AXIS,
        column_axis=_KEY_AXIS,
        palette="weights",
        alt=message("{heads}: what “{word}” attends to", heads=title, word=focus),
        column_role="key",
        limit=1.0,
        column_groups=groups(scene.key_tokens),
        hidden=np.broadcast_to(hidden, values.shape) if hidden.any() else None,
        has_total_row=mean is not None,
    )


def _tell_row(scene: HeadContext, heads: _Heads, cut: HeadSteps | None) -> str:
    """Say how many words the heads attend to most, and how the cut changes ΔE of the word in focus."""
    focus = scene.focus_word
    if not heads.has_choice[scene.word]:
        return lesson("one-or-many/row-lone", focus=focus)
    own = heads.weights[:, scene.word]
    told = lesson("one-or-many/row-own", own=len(own), focus=focus, different=_tokens(own))
    if cut is None:
        return told
    count, parts = _counted(len(cut.weights)), scene.attention.projections
    told += lesson("one-or-many/row-cut", count=count, different_cut=_tokens(cut.weights[:, 0]))
    if parts is not None:
        change = output_projection(join_heads(heads.outputs[:, [scene.word]]), parts.W_O, parts.b_O)
        changed = output_projection(join_heads(cut.head_outputs), parts.W_O, parts.b_O)
        told += lesson("one-or-many/row-change", length=length(change), moved=length(changed - change))
    return told + lesson("one-or-many/row-caveat", own=len(own), count=count)


def _tokens(rows: Float[Array, "N K"]) -> str:
    """Say how many different tokens have a row's largest weight."""
    return messages("one token", "{n} different tokens", len(set(rows.argmax(axis=-1).tolist())))


# ----------------------------------------------------------------------------------------- their mean


def _mean(scene: HeadContext, heads: _Heads) -> Blocks:
    """Return how similar the heads are to their mean; () if there is only one, or no row sees more than one key."""
    rows = heads.has_choice
    if len(heads.weights) < 2 or not rows.any():
        return ()
    shared = overlaps(heads.weights[:, rows], heads.mean[rows]).mean(axis=-1)
    entropies = entropy(heads.weights[:, rows]).mean(axis=-1)
    of_mean = float(entropy(heads.mean[rows]).mean())
    told = lesson(
        "one-or-many/mean",
        n=len(shared),
        noun=scene.info.reading.noun,
        entropy=fact(of_mean),
        entropies=entropies.mean(),
    )
    chart = charts.portions(
        tuple(str(head + 1) for head in range(len(shared))),
        shared,
        message("weight shared with the mean"),
        message("Weight that each head shares with the mean of the heads."),
        message("head"),
    )
    return (
        Heading(message("The mean of the heads")),
        beside(told, Picture("likeness", charts.Chart(chart))),
        as_table("likeness", partial(_table_of_mean, shared, entropies, of_mean), file="likeness", is_whole=True),
    )


def _table_of_mean(shared: Float[Array, " H"], entropies: Float[Array, " H"], of_mean: float) -> Columns:
    return {
        message("head"): [*(str(head + 1) for head in range(len(shared))), message("mean")],
        message("weight shared with the mean"): [*(repr(float(each)) for each in shared), "1.0"],
        message("entropy in nats"): [*(repr(float(each)) for each in entropies), repr(of_mean)],
    }


# ---------------------------------------------------------------------------------------- their input


def _read(scene: HeadContext) -> Blocks:
    """Show how each head's query of the word in focus depends on each slice of its vector."""
    heading = Heading(message("What each head reads"))
    parts = scene.attention.projections
    if scene.attention.inputs is None or parts is None:
        return (heading, Prose(lesson("one-or-many/whole-unknown")))
    changes = _changes(scene, parts)
    focus = scene.names[scene.word]
    title = message("how far each head's query of “{word}” moves", word=focus)
    figure = Matrix(
        name="read",
        title=title,
        values=changes,
        row_labels=tuple(message("head {head}", head=head + 1) for head in range(len(changes))),
        column_labels=tuple(f"{each.start}–{each.stop - 1}" for each in slices(scene.info.d_model, scene.d_head)),
        row_axis=_HEAD_AXIS,
        column_axis=message("numbers of the vector set to 0"),
        palette="signed",
        alt=message("{title} when a slice of its vector is set to 0, relative to the query's norm.", title=title),
        row_role="query",
        blank=message("this query is 0"),
    )
    told = lesson(
        "one-or-many/whole",
        focus=word(focus),
        coloured=int(np.count_nonzero(np.nan_to_num(changes))),
        cells=changes.size,
    )
    return (
        heading,
        beside(told, Picture("read", figure)),
        as_table("read", partial(matrix_table, figure), file="read"),
    )


# --------------------------------------------------------------------------------------- their output


def _sum(scene: HeadContext, heads: _Heads, runs: Runs | None) -> Blocks:
    """Show the norm of each head's part of ΔE for each word, and that their sum is the model's ΔE."""
    heading, parts = Heading(message("ΔE is a sum over the heads")), scene.attention.projections
    if parts is None:
        return (heading, Prose(lesson("one-or-many/sum-not-known")))
    found, row = contributions(heads.outputs, parts), scene.word
    lengths = found.lengths[row]
    largest, bias = int(lengths.argmax()), 0.0 if parts.b_O is None else float(np.linalg.norm(parts.b_O))
    told = lesson(
        "one-or-many/sum",
        bias="" if parts.b_O is None else message(", and of the bias"),
        focus=scene.query_word(row),
        largest=largest + 1,
        longest=lengths[largest],
        length=length(found.total[row]),
    )
    total = float(lengths.sum()) + bias
    if number(total) != number(float(np.linalg.norm(found.total[row]))):
        told += lesson("one-or-many/sum-lengths", total=fact(total))
    labels = tuple(str(head + 1) for head in range(len(lengths)))
    title = message("norm of each head's contribution")
    figure = Matrix(
        name="added",
        title=title,
        values=found.lengths,
        row_labels=scene.labels,
        column_labels=labels,
        row_axis=message("tokens"),
        column_axis=_HEAD_AXIS,
        palette="signed",
        alt=message("{title} to each {unit}'s vector.", title=title, unit=scene.info.reading.unit),
        focus_row=row,
        row_groups=groups(scene.tokens),
    )
    return (
        heading,
        beside(
            told + _tell_difference(found.total, runs), Picture("added", figure, sets={"row": WORD}, is_selectable=True)
        ),
        as_table("added", partial(_table_of_sum, scene, found.lengths, bias, found.total), file="added"),
    )


def _tell_difference(total: Float[Array, "Q M"], runs: Runs | None) -> str:
    added = None if runs is None else runs.added()
    if added is None:
        return ""
    return lesson("one-or-many/sum-known", difference=small(Difference.between(total, added).absolute))


def _table_of_sum(scene: HeadContext, lengths: Float[Array, "Q H"], bias: float, total: Float[Array, "Q M"]) -> Columns:
    columns = {message("head {head}", head=head + 1): full_precision(column) for head, column in enumerate(lengths.T)}
    return {
        message("token"): list(scene.labels),
        **columns,
        message("bias"): [repr(bias)] * len(lengths),
        "ΔE": full_precision(np.linalg.norm(total, axis=-1)),
    }


LAB = Lab(
    address="one_or_many",
    title=message("One head or many"),
    purpose=message("How attention changes when the same width is split into another number of heads."),
    knobs=(CUT,),
    guess=_guess,
    content=_content,
    before=_before,
    idle=always(HEAD),
    sheet="heads",
)
