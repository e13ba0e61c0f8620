"""What comes after the heads: how the vector of the word in focus leaves its layer, with its length at every place.

What a layer is built of, and how long its vectors are, comes from the record; nothing here knows a particular model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attention.core.messages import message
from attention.core.structure import Structure, Sublayer
from attention.core.trace import Lengths
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, lesson, word

__all__ = ["Station", "has_next_layer", "places", "tell_onward"]


@dataclass(frozen=True, slots=True)
class Station:
    """One place on the way: its name, how long the vector is there, and what happens, in a sentence (HTML)."""

    name: str
    length: float
    told: str


def has_next_layer(scene: HeadContext) -> bool:
    """Tell whether another layer follows."""
    return scene.layer + 1 < len(scene.trace.layers)


def places(scene: HeadContext) -> tuple[Station, ...]:
    """Return the places that the vector of the word in focus passes after the heads, in order; none if not recorded."""
    lengths, structure = scene.attention.lengths, scene.trace.structure
    if lengths is None or structure is None or scene.stream is None or scene.attention.projections is None:
        return ()
    own, following = _sublayers(scene, structure)
    found = [*_added(scene, lengths), *_normed(scene, lengths, own, following)]
    if following is not None:
        found += _fed(scene, lengths, following)
    return tuple(found)


def tell_onward(scene: HeadContext) -> str:
    """Return the same in sentences, with where the vector goes in the end; empty if it was not recorded."""
    found = places(scene)
    return "".join(place.told for place in found) + _tell_end(scene) if found else ""


def _sublayers(scene: HeadContext, structure: Structure) -> tuple[Sublayer, Sublayer | None]:
    """Return what the scene's attention is of its layer, and what follows it there."""
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
        "onward/added",
        focus=word(scene.names[row]),
        before=fact(before),
        change=fact(change),
        summed=fact(summed),
    )
    begun = [Station(message("came in"), before, ""), Station("ΔE", change, "")]
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
    """Return what the feed-forward network adds, and what leaves the layer; another attention has its own page."""
    if lengths.fed is None or lengths.left is None:
        return []
    fed, left = float(lengths.fed[scene.word]), float(lengths.left[scene.word])
    name = "onward/feed-forward-gated" if following.is_gated else "onward/feed-forward"
    told_fed = lesson(
        name,
        width=f"{following.width:,}",
        focus=word(scene.names[scene.word]),
        fed=fact(fed),
        change=fact(float(np.linalg.norm(scene.change[scene.word]))),
        times=f"{_more_weights(scene, following):.1f}",
    )
    facts = {"focus": word(scene.names[scene.word]), "left": fact(left)}
    if following.norm_after:
        told_left = lesson("onward/left-normed", norm=following.norm_after, layer=scene.layer + 1, **facts)
    else:
        told_left = lesson("onward/left", layer=scene.layer + 1, **facts)
    return [
        Station(message("feed-forward"), fed, told_fed),
        Station(message("goes out"), left, told_left),
    ]


def _more_weights(scene: HeadContext, feed_forward: Sublayer) -> float:
    """Return how many times as many weights a feed-forward network has as the attention before it, without biases."""
    layer, d_model = scene.attention, scene.info.d_model
    d_head, d_value = layer.queries.shape[-1], layer.values.shape[-1]
    attention = d_model * (len(layer.queries) + len(layer.keys)) * (d_head + d_value)
    return (3 if feed_forward.is_gated else 2) * d_model * feed_forward.width / attention


def _tell_end(scene: HeadContext) -> str:
    """Say where the vector goes from here."""
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
