"""The lab The vector moves: contributions to a word's vector in one head, all heads and all layers, and its path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.experiments.head_resplit import contributions
from attention.experiments.pca import Plane, along, cosines, of_row, of_states, sent
from attention.figures import charts
from attention.figures.charts import Chart, Curve
from attention.figures.colours import INACTIVE, VALUE
from attention.figures.format import number, percents
from attention.figures.plane import Chain, Ink, plane_of_arrows
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, length, lesson, listed
from attention.lesson.quiz import Guess
from attention.lesson.tables import Columns, full_precision
from attention.page.blocks import (
    Blocks,
    Fold,
    Heading,
    Picture,
    Prose,
    Row,
    Section,
    Setting,
    Table,
    as_table,
    beside,
    cover,
)
from attention.page.labs.base import Lab, Runs, covered
from attention.page.labs.vector_moves.drift import BESIDE_TEXT, PAIRS, drift
from attention.page.parameters import Choice, Parameter, Values
from attention.page.settings import HEAD, VERSUS

__all__ = ["BESIDE_TEXT", "LAB", "PAIRS", "SCOPE"]

Scope = Literal["head", "heads", "layers"]

SCOPES: tuple[Scope, ...] = ("head", "heads", "layers")
SCOPE: Parameter[Scope] = Parameter("scope", Choice(lambda _: SCOPES), "heads")

N_SENT = 6  # tokens with an arrow of their own
MUCH_LONGER = 3  # relative to the median: longer vectors would turn the plane to themselves
MUCH_HIGHER = 10  # relative to the median: a higher layer would flatten the others in a chart
BORDERS = (0.9, 0.5, 0.0)  # of the answers, as cosines

_SCOPE_NAMES: dict[Scope, str] = {
    "head": message("one head"),
    "heads": message("all heads"),
    "layers": message("all layers"),
}
_RIGHT: dict[Scope, str] = {"head": message("this head's sum"), "heads": message("ΔE")}

# ------------------------------------------------------------------------------------- the question


def _guess(scene: HeadContext | None) -> Guess | None:
    """Ask for the cosine between the first and the last vector of the word in focus."""
    if scene is None or not _has_path(scene):
        return None
    first, last = (scene.trace.hidden_states[at][scene.word] for at in (0, -1))
    cosine = float(cosines(first, last))
    answers = (
        message("more than {border}", border=BORDERS[0]),
        message("from {low} to {high}", low=BORDERS[1], high=BORDERS[0]),
        message("from {low} to {high}", low="0", high=BORDERS[1]),
        message("less than 0"),
    )
    right = sum(cosine <= border for border in BORDERS)
    because = lesson(
        "vector-moves/guess-because",
        cosine=fact(cosine),
        moved=length(last - first),
        before=length(first),
        after=length(last),
    )
    question = lesson("vector-moves/guess", focus=scene.focus_word, last=len(scene.trace.layers))
    return Guess(question, answers, because, frozenset({right}))


def _has_path(scene: HeadContext) -> bool:
    """Return whether the states between the layers are known, and the heads' contributions are added as they are."""
    layers = scene.trace.layers
    has_states = len(scene.trace.hidden_states) == len(layers) + 1
    return (
        has_states
        and scene.knows_layers
        and all(layer.projections is not None and layer.added_norm is None for layer in layers)
    )


# -------------------------------------------------------------------------------------- the content


def _content(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    if scene is None:
        return ()
    if not _has_path(scene):
        is_normed = any(layer.added_norm is not None for layer in scene.trace.layers)
        return (Prose(lesson("vector-moves/normed" if is_normed else "vector-moves/unknown")),)
    changes = _changes(scene)
    return (*_moves(scene, values[SCOPE], changes, runs), *_stream(scene, changes), *drift(scene, values, runs))


def _before(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    """Return the arrows of one layer without their lengths; those of all layers, which show the answer, are covered.

    The drift is left out: its cosines, of another pair, could be taken for the answer.
    """
    if scene is None or not _has_path(scene):
        return _content(values, scene, runs)
    changes, scope = _changes(scene), values[SCOPE]
    moves = _moves(scene, scope, changes, runs, is_asked=True)
    return (*(covered(moves) if scope == "layers" else moves), *_stream(scene, changes))


def _changes(scene: HeadContext) -> Float[Array, "L M"]:
    return np.stack([_attention_output(scene, at) for at in range(len(scene.trace.layers))])


class _Path(NamedTuple):
    """A path through the plane: its description, its arrows, and its steps as tables."""

    told: str
    chains: tuple[Chain, ...]
    tables: tuple[Table, ...]


def _moves(
    scene: HeadContext, scope: Scope, changes: Float[Array, "L M"], runs: Runs | None, *, is_asked: bool = False
) -> Blocks:
    """Return the choice of the scope and the picture, without lengths while the question ``is_asked``."""
    options = {each: _SCOPE_NAMES[each] for each in SCOPES}
    knobs = (Setting(SCOPE, message("Sent by"), scope, options),)
    states = scene.trace.hidden_states
    at = range(len(states)) if scope == "layers" else (scene.layer, scene.layer + 1)
    shown = _shown(scene, [states[each] for each in at])
    seen = np.concatenate([states[each][shown] for each in at])
    if scope == "layers":
        plane = of_states(states, shown) if runs is None else runs.plane(tuple(shown))
        way = _through_layers(scene, plane, changes)
    else:
        plane, way = _in_layer(scene, seen, is_one=scope == "head")
    picture = _picture(scene, scope, plane, way.chains)
    facts: dict[str, str | int] = {
        "width": scene.info.d_model,
        "share": _in_percent(plane),
        "noun": scene.info.reading.noun,
    }
    if scope == "layers":
        where = lesson("vector-moves/where-layers", **facts)
    else:
        where = lesson("vector-moves/where", right=_RIGHT[scope], **facts)
    return (
        Heading(_place(scene, scope)),
        Section("knobs", knobs, is_line=True),
        Row(
            (
                (Picture("way", picture),),
                (cover("told") if is_asked else Prose(way.told), Prose(where + _tell_left_out(scene, shown))),
            ),
            (5, 4),
        ),
        *(() if is_asked else (Fold("way_fold", message("As a table"), way.tables),)),
    )


def _in_percent(plane: Plane) -> str:
    return f"<b>{percents((sum(plane.shares.tolist()),))[0]}</b>"


def _place(scene: HeadContext, scope: Scope) -> str:
    if scope == "layers":
        return message("All layers of {name}", name=scene.info.name)
    if scope == "head":
        return scene.place
    return message("Layer {layer} of {name}", layer=scene.layer + 1, name=scene.info.name)


def _shown(scene: HeadContext, states: Sequence[Float[Array, "T M"]]) -> list[int]:
    """Return the tokens that count for the plane: the word in focus, and all without an outlying norm."""
    lengths = np.linalg.norm(np.stack(states), axis=-1)
    are_usual = (lengths <= MUCH_LONGER * np.median(lengths, axis=-1, keepdims=True)).all(axis=0)
    return [
        token.position
        for token in scene.tokens
        if token.position == scene.word or (are_usual[token.position] and not token.is_padding)
    ]


def _tell_left_out(scene: HeadContext, shown: Sequence[int]) -> str:
    seen = set(shown)
    names = [
        scene.query_word(each.position) for each in scene.tokens if each.position not in seen and not each.is_padding
    ]
    return lesson("vector-moves/left-out", times=MUCH_LONGER, names=listed(names)) if names else ""


def _picture(scene: HeadContext, scope: Scope, plane: Plane, chains: tuple[Chain, ...]) -> Chart:
    focus = scene.names[scene.word]
    legend: dict[Scope, tuple[tuple[Ink, str], ...]] = {
        "head": (("sent", message("sent by a token")), ("change", message("added by the head"))),
        "heads": (("sent", message("sent by a token")), ("change", "ΔE"), ("other", message("rest of the layer"))),
        "layers": (
            ("sent", message("sent by a token, in all layers")),
            ("change", message("ΔE of a layer")),
            ("other", message("all else")),
        ),
    }
    shares = [message("{share} of the variance", share=share) for share in percents(plane.shares.tolist())]
    arrows = plane_of_arrows(
        chains,
        dict(legend[scope]),
        message("how “{word}” moves", word=focus),
        message("Arrows in a plane: how the vector of “{word}” moves.", word=focus),
        shares,
    )
    return Chart(arrows)


# -------------------------------------------------------------------------------------- in one layer


def _in_layer(scene: HeadContext, seen: Float[Array, "N M"], *, is_one: bool) -> tuple[Plane, _Path]:
    """Return the contributions to the word in focus in this layer, from one head or all, and the plane to draw in."""
    layer, row, states = scene.attention, scene.word, scene.trace.hidden_states
    before, after = states[scene.layer][row], states[scene.layer + 1][row]
    vectors = sent(layer, row, scene.head if is_one else None)
    names, steps = _largest(scene, vectors)
    assert layer.projections is not None
    bias = layer.projections.b_O
    if bias is not None and not is_one:
        names, steps = (*names, message("the bias")), np.vstack([steps, bias])
    plane = along(seen, steps)
    added, best = steps.sum(axis=0), int(np.linalg.norm(vectors, axis=-1).argmax())
    chains = [
        _chain(plane, before, steps, [_labelled(name, step) for name, step in zip(names, steps, strict=True)], "sent"),
        _chain(plane, before, added[None], [_labelled("ΔE" if not is_one else _of_head(scene), added)], "change"),
    ]
    if not is_one:
        rest = after - before - added
        chains.append(
            _chain(plane, before + added, rest[None], [_labelled(message("rest of the layer"), rest)], "other")
        )
    chains[0] = replace(chains[0], name=scene.names[row], tags=names)
    most = {"focus": scene.query_word(row), "best": scene.key_word(best), "most": length(vectors[best])}
    if is_one:
        change = of_row(layer, row).output()[0]
        told = lesson("vector-moves/head", head=scene.head + 1, part=length(added), change=length(change), **most)
    else:
        told = lesson(
            "vector-moves/heads",
            before=length(before),
            change=length(added),
            bias="" if bias is None else message(", with the bias,"),
            **most,
        )
    table = partial(_table_of_steps, names, steps, added)
    return plane, _Path(told, tuple(chains), (Table("way_table", table, file="way"),))


def _of_head(scene: HeadContext) -> str:
    return message("head {head}", head=scene.head + 1)


def _largest(scene: HeadContext, vectors: Float[Array, "K M"]) -> tuple[tuple[str, ...], Float[Array, "N M"]]:
    """Return the largest senders and their contributions, in descending order, and the sum of all others."""
    lengths = np.linalg.norm(vectors, axis=-1)
    order = np.argsort(-lengths, kind="stable")
    # A masked token sends nothing.
    order = order[: max(1, np.count_nonzero(lengths))]
    first, rest = order[:N_SENT], order[N_SENT:]
    names = tuple(scene.key_names[token] for token in first)
    if not rest.size:
        return names, vectors[first]
    others = messages("{n} other token", "{n} other tokens", int(rest.size))
    return (*names, others), np.vstack([vectors[first], vectors[rest].sum(axis=0)])


def _labelled(name: str, step: Float[Array, " M"]) -> str:
    return message("{name}: norm {length}", name=name, length=number(float(np.linalg.norm(step))))


def _chain(
    plane: Plane, start: Float[Array, " M"], steps: Float[Array, "N M"], labels: Sequence[str], ink: Ink
) -> Chain:
    """Return arrows head to tail, from a start."""
    places = plane.places(np.vstack([start, start + np.cumsum(steps, axis=0)]))
    return Chain("", places, tuple(labels), (ink,) * len(labels))


def _table_of_steps(names: Sequence[str], steps: Float[Array, "N M"], added: Float[Array, " M"]) -> Columns:
    """Return each step's norm, and its component along their sum."""
    size = float(np.linalg.norm(added))
    along = steps @ added / size if size else np.zeros(len(steps))
    return {
        message("sent by"): [*names, message("sum")],
        message("norm"): full_precision((*np.linalg.norm(steps, axis=-1), size)),
        message("component along the sum"): full_precision((*along, size)),
    }


# ------------------------------------------------------------------------------------- in all layers


def _through_layers(scene: HeadContext, plane: Plane, changes: Float[Array, "L M"]) -> _Path:
    """Return the path of the word in focus through all layers: the heads' contributions, and the rest."""
    states = np.stack([state[scene.word] for state in scene.trace.hidden_states])  # (L + 1, M)
    rests = np.diff(states, axis=0) - changes
    steps = np.stack([changes, rests], axis=1).reshape(-1, states.shape[1])
    labels: list[str] = []
    inks: list[Ink] = []
    for at, (change, rest) in enumerate(zip(changes, rests, strict=True)):
        labels += [
            _labelled(message("layer {layer}, ΔE", layer=at + 1), change),
            _labelled(message("layer {layer}, rest", layer=at + 1), rest),
        ]
        inks += ["change", "other"]
    places = plane.places(np.vstack([states[0], states[0] + np.cumsum(steps, axis=0)]))
    chain = Chain(scene.names[scene.word], places, tuple(labels), tuple(inks))
    words, of_words = _by_words(scene, plane, states, changes)
    told = lesson(
        "vector-moves/layers",
        focus=scene.focus_word,
        n=messages("{n} layer", "{n} layers", len(changes)),
        before=length(states[0]),
        after=length(states[-1]),
        sent=np.linalg.norm(changes, axis=-1).sum(),
        other=np.linalg.norm(rests, axis=-1).sum(),
        distance=length(states[-1] - states[0]),
    )
    columns = {
        message("layer"): [str(at + 1) for at in range(len(changes))],
        message("norm before it"): full_precision(np.linalg.norm(states[:-1], axis=-1)),
        message("norm of ΔE"): full_precision(np.linalg.norm(changes, axis=-1)),
        message("norm of the rest"): full_precision(np.linalg.norm(rests, axis=-1)),
        message("cosine with the start"): full_precision(cosines(states[1:], states[0])),
    }
    tables = (Table("way_table", lambda: columns, file="way"), of_words.table)
    return _Path(told + of_words.told, (chain, words), tables)


class _ByWords(NamedTuple):
    """The description and the table of the tokens' contributions in all layers."""

    told: str
    table: Table


def _by_words(
    scene: HeadContext, plane: Plane, states: Float[Array, "L+1 M"], changes: Float[Array, "L M"]
) -> tuple[Chain, _ByWords]:
    """Return each token's contribution to the word in focus over all layers, and the rest, as arrows to the end."""
    layers, row = scene.trace.layers, scene.word
    vectors = sum(
        (sent(layer, row) for layer in layers),
        start=np.zeros((len(scene.key_names), states.shape[1]), np.float32),
    )
    biases = [layer.projections.b_O for layer in layers if layer.projections is not None]
    bias = sum((each for each in biases if each is not None), start=np.zeros(states.shape[1], np.float32))
    whole = states[-1] - states[0]
    names, steps = _largest(scene, vectors)
    if any(each is not None for each in biases):
        names, steps = (*names, message("the biases")), np.vstack([steps, bias])
    inks: list[Ink] = ["sent"] * len(names)
    names, steps = (*names, message("all else")), np.vstack([steps, whole - changes.sum(axis=0)])
    labels = [_labelled(name, step) for name, step in zip(names, steps, strict=True)]
    chain = replace(_chain(plane, states[0], steps, labels, "sent"), inks=(*inks, "other"), tags=names)
    best = int(np.linalg.norm(vectors, axis=-1).argmax())
    told = lesson("vector-moves/layers-words", best=scene.key_word(best), most=length(vectors[best]))
    table = Table("words_table", partial(_table_of_steps, names, steps, whole), file="words")
    return chain, _ByWords(told, table)


def _attention_output(scene: HeadContext, at: int) -> Float[Array, " M"]:
    layer = scene.trace.layers[at]
    parts = layer.projections
    assert parts is not None
    return contributions(layer.model_output[:, [scene.word]], parts).total[0]


# ---------------------------------------------------------------------------------------- the stream


def _stream(scene: HeadContext, added: Float[Array, "L M"]) -> Blocks:
    """Show the norms of the vectors that attention and the feed-forward network add."""
    row, layers = scene.word, scene.trace.layers
    stream = np.array([np.linalg.norm(state[row]) for state in scene.trace.hidden_states[:-1]])
    changes = np.linalg.norm(added, axis=-1)
    lengths = [layer.lengths for layer in layers]
    fed = np.array([np.nan if each is None or each.fed is None else each.fed[row] for each in lengths])
    at, places = scene.layer, np.arange(1, len(layers) + 1)
    curves = [Curve(message("attention, ΔE"), places, _parts(changes, stream), VALUE, at)]
    if not np.isnan(fed).any():
        curves.append(Curve(message("feed-forward network"), places, _parts(fed, stream), INACTIVE, at))
    name = message("addition, relative to the stream's norm")
    of_feed = "" if len(curves) < 2 else message(", and the feed-forward network one of {length}", length=fact(fed[at]))
    told = lesson(
        "vector-moves/stream",
        focus=scene.query_word(row),
        stream=fact(stream[at]),
        layer=at + 1,
        change=fact(changes[at]),
        fed=of_feed,
    )
    if len(layers) < 2:
        return (Heading(message("The residual stream and its additions")), Prose(told))
    numbers = tuple(str(number + 1) for number in range(len(layers)))
    alt = message("{title}, by layer.", title=name)
    columns = {
        message("layer"): list(numbers),
        message("norm of the stream"): full_precision(stream),
        message("norm of ΔE"): full_precision(changes),
        message("norm of the feed-forward network's output"): full_precision(fed) if len(curves) > 1 else [],
    }
    columns = {title: column for title, column in columns.items() if column}
    chart = charts.layer_lines(numbers, curves, name, alt, is_log=_is_uneven([each.values for each in curves]))
    return (
        Heading(message("The residual stream and its additions")),
        beside(told, Picture("stream", Chart(chart))),
        as_table("stream", lambda: columns, file="stream"),
    )


def _is_uneven(lines: Sequence[Float[Array, " L"]]) -> bool:
    """Return whether one layer would flatten all others, so that the axis must be logarithmic."""
    parts = np.concatenate(lines)
    return bool((parts > 0).all() and parts.max() > MUCH_HIGHER * np.median(parts))


def _parts(some: Float[Array, " L"], whole: Float[Array, " L"]) -> Float[Array, " L"]:
    parts: Array = np.divide(some, whole, out=np.zeros_like(some), where=whole > 0)
    return parts


def _idle(values: Values, _: HeadContext) -> tuple[Parameter[Any], ...]:
    return () if values[SCOPE] == "head" else (HEAD,)


LAB = Lab(
    address="vector_moves",
    title=message("The vector moves"),
    purpose=message("How other words move a word's vector, head by head and layer by layer."),
    knobs=(SCOPE, BESIDE_TEXT, VERSUS),
    guess=_guess,
    content=_content,
    before=_before,
    idle=_idle,
    sheet="heads",
)
