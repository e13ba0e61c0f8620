"""The vector of the word in focus along the residual stream: each layer's additions, and the parts after the heads.

Structure and norms come from the record, for every model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.steps import join_heads, output_projection
from attention.core.structure import Branch, Structure, Sublayer
from attention.core.trace import LayerTrace, Lengths
from attention.experiments.head_resplit import contributions
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, lesson

# Where each part of a layer works, briefly.
REACH: Mapping[Branch, str] = {
    "self": message("between tokens"),
    "cross": message("from the source"),
    "feed-forward": message("each token alone"),
}


@dataclass(frozen=True, slots=True)
class Station:
    """One place on the path: its name, the vector's norm there, and a sentence (HTML)."""

    name: str
    length: float
    told: str


@dataclass(frozen=True, slots=True)
class Passage:
    """The norms of the vectors that one layer adds for a token: attention, each head's part, feed-forward network.

    A head's part is its output times W_O, before any norm; ``fed`` is None if there is no feed-forward network.
    """

    attention: float
    heads: Float[Array, " H"]
    fed: float | None


def passages(scene: HeadContext) -> tuple[Passage, ...]:
    """Return each layer's addition to the vector of the word in focus; empty if a layer is unknown."""
    found = [_passage(layer, scene.word) for layer in scene.trace.layers]
    is_whole = len(scene.trace.hidden_states) == len(found) + 1
    known = tuple(each for each in found if each is not None)
    return known if is_whole and len(known) == len(found) else ()


def _passage(layer: LayerTrace, row: int) -> Passage | None:
    added = _added_to(layer, slice(row, row + 1))
    if added is None or layer.lengths is None or layer.projections is None:
        return None
    parts = contributions(layer.model_output[:, [row]], layer.projections).lengths[0]
    fed = None if layer.lengths.fed is None else float(layer.lengths.fed[row])
    return Passage(float(np.linalg.norm(added)), parts, fed)


def lengths_in(scene: HeadContext) -> dict[str, Float[Array, " T"]]:
    """Return the norm of each token's vector along the layer, as the model had it; {} if unknown.

    In this order: ``in``, after the ``first`` norm, what attention ``added``, the sum as it was ``summed`` and
    ``normed``, what the feed-forward network ``fed``, and what ``left``.
    """
    record, states = scene.attention, scene.trace.hidden_states
    added = _added_to(record, slice(None))
    if added is None or record.lengths is None or len(states) <= scene.layer:
        return {}
    found = {
        "in": np.linalg.norm(states[scene.layer], axis=-1),
        "first": None if record.norm is None or record.inputs is None else np.linalg.norm(record.inputs, axis=-1),
        "added": np.linalg.norm(added, axis=-1),
        "summed": record.lengths.summed,
        "normed": record.lengths.normed,
        "fed": record.lengths.fed,
        "left": record.lengths.left,
    }
    return {name: lengths for name, lengths in found.items() if lengths is not None}


def _added_to(layer: LayerTrace, rows: slice) -> Float[Array, "Q M"] | None:
    """Return the model's own ΔE for some tokens; None if unknown."""
    if layer.lengths is None or layer.projections is None:
        return None
    outputs = join_heads(layer.model_output[:, rows])
    added = output_projection(outputs, layer.projections.W_O, layer.projections.b_O)
    return added if layer.added_norm is None else layer.added_norm(added)


def has_next_layer(scene: HeadContext) -> bool:
    """Return whether another layer follows."""
    return scene.layer + 1 < len(scene.trace.layers)


def places(scene: HeadContext) -> tuple[Station, ...]:
    """Return the stations of the word in focus after the heads, in order; empty if not recorded."""
    lengths, structure = scene.attention.lengths, scene.trace.structure
    if lengths is None or structure is None or scene.stream is None or scene.attention.projections is None:
        return ()
    own, following = _sublayers(scene, structure)
    found = [*_added(scene, lengths), *_normed(scene, lengths, own, following)]
    if following is not None:
        found += _fed(scene, lengths, following)
    return tuple(found)


def tell_onward(scene: HeadContext) -> str:
    """Return as HTML the stations and where the vector goes next; empty if not recorded."""
    found = places(scene)
    return "".join(place.told for place in found) + _tell_end(scene) if found else ""


def _sublayers(scene: HeadContext, structure: Structure) -> tuple[Sublayer, Sublayer | None]:
    branch = scene.attention.branch
    own = next(each for each in structure.sublayers if each.branch == branch)
    return own, structure.after(branch)[1]


def _added(scene: HeadContext, lengths: Lengths) -> list[Station]:
    stream, row = scene.stream, scene.word
    assert stream is not None
    before, change, summed = (
        float(np.linalg.norm(stream[row])),
        float(np.linalg.norm(scene.change[row])),
        float(lengths.summed[row]),
    )
    told = lesson(
        "onward/added", focus=scene.query_word(row), before=fact(before), change=fact(change), summed=fact(summed)
    )
    begun = [Station(message("input"), before, ""), Station("ΔE", change, "")]
    norm = scene.attention.added_norm
    if norm is not None:
        normed = float(np.linalg.norm(norm(scene.change[row])))
        begun.append(Station(norm.name, normed, lesson("onward/norm-of", norm=norm.name, normed=fact(normed))))
    return [*begun, Station(message("sum"), summed, told)]


def _normed(scene: HeadContext, lengths: Lengths, own: Sublayer, following: Sublayer | None) -> list[Station]:
    if lengths.normed is None:
        return []
    length = float(lengths.normed[scene.word])
    if own.norm_after:
        told = lesson("onward/norm-after", norm=own.norm_after, normed=fact(length))
        return [Station(own.norm_after, length, told)]
    assert following is not None
    told = lesson("onward/norm-before", norm=following.norm_before, normed=fact(length))
    return [Station(following.norm_before, length, told)]


def _fed(scene: HeadContext, lengths: Lengths, following: Sublayer) -> list[Station]:
    """Return the feed-forward network's addition and the layer's output; empty if attention follows instead."""
    if lengths.fed is None or lengths.left is None:
        return []
    fed, left = float(lengths.fed[scene.word]), float(lengths.left[scene.word])
    told_fed = lesson(
        "onward/feed-forward",
        width=f"{following.width:,}",
        focus=scene.focus_word,
        fed=fact(fed),
        times=f"{_more_weights(scene, following):.1f}",
    )
    told_fed = told_fed + lesson("onward/gated") if following.is_gated else told_fed
    facts = {"focus": scene.focus_word, "left": fact(left)}
    if following.norm_after:
        told_left = lesson("onward/left-normed", norm=following.norm_after, layer=scene.layer + 1, **facts)
    else:
        told_left = lesson("onward/left", layer=scene.layer + 1, **facts)
    return [
        Station(message("feed-forward"), fed, told_fed),
        Station(message("output"), left, told_left),
    ]


def _more_weights(scene: HeadContext, feed_forward: Sublayer) -> float:
    """Return the ratio of the feed-forward network's weights to the attention's, without biases."""
    layer, d_model = scene.attention, scene.info.d_model
    d_head, d_value = layer.queries.shape[-1], layer.values.shape[-1]
    attention = d_model * (len(layer.queries) + len(layer.keys)) * (d_head + d_value)
    return (3 if feed_forward.is_gated else 2) * d_model * feed_forward.width / attention


def _tell_end(scene: HeadContext) -> str:
    structure = scene.trace.structure
    assert structure is not None
    _, following = _sublayers(scene, structure)
    text = lesson("onward/bare") if following is None else ""
    if following is not None and following.is_attention:
        return lesson("onward/attention", layer=scene.layer + 1)
    if has_next_layer(scene):
        return text + lesson("onward/next", next=scene.layer + 2)
    if structure.final_norm:
        return text + lesson("onward/last-normed", norm=structure.final_norm)
    return text + lesson("onward/last")
