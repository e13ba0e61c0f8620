"""The map of a model: its structure, and the current place in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attention.core.messages import message, messages
from attention.core.structure import Sublayer
from attention.core.trace import Part, Trace
from attention.figures.drawn import Parts
from attention.figures.heads import HeadThumb
from attention.figures.model_map import Box, Column, Dot, ModelMap
from attention.lesson import steps
from attention.lesson.head_context import HeadContext
from attention.lesson.heads import head_label
from attention.lesson.picture import cut
from attention.lesson.residual_path import REACH
from attention.lesson.steps.base import Where
from attention.page.blocks import Blocks, Picture, Section
from attention.page.content.pane import Pane
from attention.page.labs.whole import SHOWN
from attention.page.page import Page
from attention.page.pages import BY_ADDRESS, STEP_BY_STEP
from attention.page.parameters import Parameter
from attention.page.settings import CELL, MAP, NEXT, PART, STEP
from attention.page.view import View

# The part of the model by branch, in an encoder and in a decoder that has an encoder.
_PARTS: dict[bool, dict[str, Part]] = {False: {"self": "encoder"}, True: {"self": "decoder", "cross": "cross"}}


def has_map(pane: Pane) -> bool:
    """Return whether a pane's model has a map: it ran, and its structure is known."""
    return pane.scene is not None and pane.whole is not None and all(trace.structure for trace in pane.whole.traces)


def on_map(view: View, pane: Pane, *, is_asked: bool = False) -> Blocks:
    """Return the map of a pane's model for a step, or ().

    While a question ``is_asked``, the map shows no results of the run.
    """
    scene, whole = pane.scene, pane.whole
    if scene is None or whole is None or not has_map(pane):
        return ()
    is_open = view[MAP]
    leads, thumbs = _leads(pane, has_steps=True), () if is_asked else pane.thumbs()
    figure = _Map(view, scene, whole, leads, thumbs, is_asked=is_asked).figure(is_open)
    sets = {**_place(pane), "step": STEP, "next": NEXT, "map": MAP}
    key = "step_map" if is_open else "step_map_folded"
    picture = Picture(_key(pane), figure, sets=sets, leads=_pages(view, pane))
    return (Section(f"other_{key}" if pane.is_other else key, (picture,)),)


def map_of_heads(view: View, pane: Pane) -> Blocks:
    """Return the map for the page of all heads, without steps and thumbnails."""
    scene, whole = pane.scene, pane.whole
    if scene is None or whole is None or not has_map(pane):
        return ()
    figure = _Map(view, scene, whole, _leads(pane, has_steps=False), has_steps=False).figure()
    return (Picture(_key(pane), figure, sets=_place(pane), clears=(CELL,), leads=_pages(view, pane)),)


def _key(pane: Pane) -> str:
    return "other_map" if pane.is_other else "map"


def _place(pane: Pane) -> dict[str, Parameter[Any]]:
    """Return the parameters that a click on a layer or a head sets; only the first pane sets the part."""
    of_pane: dict[str, Parameter[Any]] = {"layer": pane.settings.layer, "head": pane.settings.head}
    return of_pane if pane.is_other else {"part": PART, **of_pane}


WHOLE = BY_ADDRESS["whole"]
_NEXT = {STEP.name: steps.heads.STEP.key, NEXT.name: "1"}


def _pages(view: View, pane: Pane) -> dict[str, tuple[Page, Mapping[str, str]]]:
    if pane.is_other or not WHOLE.is_for(pane.info):
        return {}
    whole, following = (view.for_page(page).to_query() for page in (WHOLE, STEP_BY_STEP))
    # Each opens its own part of the diagram, in place of the part that was open.
    parts = {part: (WHOLE, {**whole, SHOWN.name: part}) for part in ("feed-forward", "output")}
    return {**parts, "next": (STEP_BY_STEP, {**following, **_NEXT})}


def _leads(pane: Pane, *, has_steps: bool) -> dict[str, tuple[str, Parts]]:
    """Return the destinations of the feed-forward network and the output, and the parts of a click on them."""
    if pane.is_other or not WHOLE.is_for(pane.info):
        return {}
    following: Parts = {**_NEXT} if has_steps else {"to": "next"}
    says_next = pane.info.build.says_next
    output: tuple[str, Parts] = (
        (message("What comes next"), following) if says_next else (WHOLE.title, {"to": "output"})
    )
    return {"feed-forward": (WHOLE.title, {"to": "feed-forward"}), "output": output}


@dataclass(frozen=True, slots=True)
class _Map:
    """A map being drawn: the view, the scene, its whole run, and the heads.

    ``leads`` are the destinations of the parts other than attention.
    """

    view: View
    scene: HeadContext
    whole: Trace
    leads: Mapping[str, tuple[str, Parts]]
    thumbs: tuple[HeadThumb, ...] = ()
    has_steps: bool = True
    is_asked: bool = False

    @property
    def part(self) -> Part:
        """The part of the model in view."""
        return self.whole.info.part_or_whole(self.view[PART])

    def figure(self, is_open: bool = True) -> ModelMap:
        """Return the map."""
        decoder = self.whole.decoder
        columns = (self._column(self.whole), *(() if decoder is None else (self._column(decoder),)))
        layers: dict[str, int] = {"encoder": len(self.whole.layers)}
        if decoder is not None:
            layers |= dict.fromkeys(("decoder", "cross"), len(decoder.layers))
        return ModelMap(
            columns,
            layers,
            self.part,
            step=steps.step_of(self.view.step).key if self.has_steps else "",
            steps=steps.keys(),
            place=self._place_label(layers[self.part]),
            here=self._place_announcement(),
            leads=self.leads,
            is_open=is_open,
            heads=self.thumbs,
        )

    def _place_announcement(self) -> str:
        facts = {"layer": self.scene.layer + 1, "head": self.scene.head + 1}
        told = message("You are here: layer {layer}, head {head}", **facts)
        if not self.has_steps:
            return told
        step = message("step {number}", number=steps.number_of(steps.step_of(self.view.step)))
        return f"{told}, {step}"

    def _place_label(self, n_layers: int) -> str:
        scene, step = self.scene, steps.step_of(self.view.step)
        facts = {
            "layer": scene.layer + 1,
            "layers": n_layers,
            "head": scene.head + 1,
            "heads": scene.info.n_heads,
        }
        told = message("Layer {layer} of {layers} · head {head} of {heads}", **facts)
        return f"{told} · {steps.number_of(step)} {step.name}" if self.has_steps else told

    def _column(self, trace: Trace) -> Column:
        structure, is_second = trace.structure, trace is self.whole.decoder
        assert structure is not None
        parts = _PARTS[is_second]
        is_here = self.part in parts.values()
        titles = (message("Encoder"), message("Decoder"))
        embedded = message("Embedding, {width} wide", width=trace.info.d_model)
        base = (
            "" if self.is_asked else _input(trace),
            *((embedded, _parts(trace), structure.embedding_norm) if is_here else ()),
        )
        return Column(
            title=titles[is_second] if self.whole.decoder is not None else "",
            part=self.part if is_here else parts["self"],
            n_layers=len(trace.layers),
            base=tuple(filter(None, base)),
            top=tuple(filter(None, (structure.final_norm, message("Output")))),
            layer=self.scene.layer if is_here else None,
            boxes=tuple(self._box(sublayer, parts) for sublayer in structure.sublayers) if is_here else (),
            base_dots=self._dots("input") if is_here else (),
            entry_dots=self._dots("stream") if is_here else (),
            is_fed=is_second,
            picture=None if self.is_asked else cut(trace),
        )

    def _box(self, sublayer: Sublayer, parts: dict[str, Part]) -> Box:
        norms = sublayer.norm_before, sublayer.norm_after
        normed = (message("{norm} before ⊕", norm=sublayer.norm_of),) if sublayer.norm_of else ()
        if not sublayer.is_attention:
            return Box(message("Feed-forward"), "", (REACH[sublayer.branch], *normed), *norms)
        part = parts[sublayer.branch]
        is_here = part == self.part
        info, scene = self.scene.info, self.scene
        shared = messages("{n} key/value head", "{n} key/value heads", info.n_key_value_heads)
        notes = (REACH[sublayer.branch], *((shared,) if info.group_size > 1 else ()), *normed)
        return Box(
            title=_title(self.whole.part(part)),
            part=part,
            notes=notes,
            norm_before=norms[0],
            norm_after=norms[1],
            head_labels=_head_labels(scene) if is_here else (),
            head=scene.head if is_here else None,
            group_size=info.group_size,
            dots=self._dots("attention") if is_here else (),
            sum_dots=self._dots("sum") if is_here else (),
            is_fed=self.whole.part(part).memory is not None,
        )

    def _dots(self, where: Where) -> tuple[Dot, ...]:
        if not self.has_steps:
            return ()
        return tuple(Dot(step.key, steps.number_of(step), step.name) for step in steps.STEPS if step.where == where)


def _title(trace: Trace) -> str:
    kinds = {
        "self": message("Self-attention"),
        "masked self": message("Masked self-attention"),
        "cross": message("Cross-attention"),
    }
    return kinds[trace.layers[0].kind]


def _head_labels(scene: HeadContext) -> tuple[str, ...]:
    info = scene.info
    if info.group_size == 1:
        return tuple(head_label(info, head) for head in range(info.n_heads))
    return tuple(
        message("Head {head}, key/value head {group}", head=head + 1, group=head // info.group_size + 1)
        for head in range(info.n_heads)
    )


def _input(trace: Trace) -> str:
    if not trace.info.reading.is_laid_out:
        return messages("{n} token", "{n} tokens", len(trace.tokens))
    special = [token.text for token in trace.tokens if token.is_special]
    patches = messages("{n} patch", "{n} patches", len(trace.tokens) - len(special))
    return " + ".join((patches, *special))


def _parts(trace: Trace) -> str:
    found = trace.embeddings
    if found is None:
        return ""
    parts = {
        message("word"): found.words,
        message("position"): found.positions,
        message("segment"): found.segments,
    }
    names = [name for name, part in parts.items() if part is not None]
    if trace.info.reading.is_laid_out:
        names[0] = trace.info.reading.unit
    return " + ".join(names)
