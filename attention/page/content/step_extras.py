"""Blocks below a step: the weights over a picture, savings of grouped queries, the layer's end, and the next token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from attention.core.messages import message
from attention.core.trace import Trace
from attention.figures.bars import candidates_bars, lengths_bars
from attention.figures.buttons import Button, Buttons
from attention.lesson.head_context import HeadContext
from attention.lesson.next_token import (
    Candidate,
    Forecast,
    formula,
    last_row,
    lens_table,
    tell_lens,
    tell_next,
    tell_source,
)
from attention.lesson.picture import overlay, overlay_table, tell_overlay
from attention.lesson.residual_path import has_next_layer, places, tell_onward
from attention.lesson.savings import (
    PRESETS,
    savings_table,
    shared,
    shared_pictures,
    sizes_of,
    tell_cache,
    tell_savings,
    tell_shared,
)
from attention.lesson.steps import embed
from attention.lesson.steps.base import Extra
from attention.lesson.tables import matrix_table
from attention.page.blocks import (
    Block,
    Blocks,
    Fold,
    Formula,
    Heading,
    Picture,
    Prose,
    Row,
    Setting,
    Table,
    Way,
)
from attention.page.content.on_map import WHOLE
from attention.page.content.pane import Pane
from attention.page.pages import ALL_HEADS, BY_ADDRESS, COMPARE, STEP_BY_STEP
from attention.page.parameters import Parameter
from attention.page.settings import CHAT, SAVINGS, SIZES, STEP, TEXT, WORD
from attention.page.view import View


@dataclass(frozen=True, slots=True)
class Under:
    """A block below the steps that name it."""

    name: Extra
    content: Callable[[View, Sequence[Pane], bool], Blocks]


def over_picture(panes: Sequence[Pane]) -> Blocks:
    """Return the weights of the layer's heads, laid over the picture that was read."""
    return tuple(block for pane in panes if pane.scene is not None for block in _over(pane, pane.scene))


def _over(pane: Pane, scene: HeadContext) -> Blocks:
    if not scene.info.reading.is_laid_out:
        return ()
    data = overlay(scene)
    return (
        Heading(message("Over the picture")),
        Prose(tell_overlay(scene), "aside"),
        Picture("overlay", data, sets={"word": WORD, "head": pane.settings.head}),
        Table("overlay_table", partial(overlay_table, data), file="overlay", is_shown=False),
    )


# ----------------------------------------------------------------------------- savings of grouped queries


def _savings(view: View, panes: Sequence[Pane], whole: bool) -> Blocks:
    scenes = [pane.scene for pane in panes if not pane.is_other and pane.scene is not None]
    return tuple(_saving(view, scene, whole) for scene in scenes)


def _saving(view: View, scene: HeadContext, whole: bool) -> Fold:
    chosen = view[SAVINGS]
    is_open = whole or (scene.info.group_size > 1 if chosen is None else chosen)
    blocks = (*_costs(view, scene), *_changes(scene)) if is_open else ()
    return Fold(f"savings_{scene.info.model_id}", message("Savings by grouped queries"), blocks, is_open, SAVINGS)


def _costs(view: View, scene: HeadContext) -> Blocks:
    # The default means the sizes of the chosen model.
    known = {SIZES.default: sizes_of(scene.trace), **{sizes.name: sizes for sizes in PRESETS}}
    options = {name: sizes.name for name, sizes in known.items()}
    chosen = view[SIZES]
    sizes = known[chosen]
    told = tell_savings(sizes) + (tell_cache(scene) if chosen == SIZES.default else "")
    return (
        Setting(SIZES, message("Sizes of"), chosen, options),
        Row(((Prose(told, "aside"),), (Table("savings_table", partial(savings_table, sizes)),))),
    )


def _changes(scene: HeadContext) -> Blocks:
    variants = shared(scene)
    if len(variants) < 2:
        return ()
    pictures = shared_pictures(scene, variants)
    columns: tuple[Blocks, ...] = tuple(
        (
            Picture(picture.name, picture),
            Table(f"{picture.name}_table", partial(matrix_table, picture), file=picture.name, is_shown=False),
        )
        for picture in pictures
    )
    return Prose(tell_shared(scene, variants), "aside"), Row(columns)


# ------------------------------------------------------------------------------------------ how a layer ends


def _onward(view: View, panes: Sequence[Pane], whole: bool) -> Blocks:  # noqa: ARG001 - all of it is shown
    return tuple(block for pane in panes if pane.scene is not None for block in _end(pane, pane.scene))


def _end(pane: Pane, scene: HeadContext) -> Blocks:
    told = tell_onward(scene)
    if not told:
        return ()
    names, lengths = zip(*((place.name, place.length) for place in places(scene)), strict=True)
    title = message("norms of the vectors of “{focus}”", focus=scene.names[scene.word])
    table = {message("place"): list(names), message("norm"): [repr(length) for length in lengths]}
    return (
        Heading(message("{name}: after the heads of layer {layer}", name=pane.info.name, layer=scene.layer + 1), 3),
        Row(((Prose(told, "aside"),), (Picture(f"{pane.name}_onward", lengths_bars(names, lengths, title)),))),
        Table(f"{pane.name}_onward_table", lambda: table, file="onward", is_shown=False),
    )


def _what_now(view: View, panes: Sequence[Pane], whole: bool) -> Blocks:
    """Return the links to other pages; () in a file."""
    ways = [_ways(view, pane, pane.scene) for pane in panes if pane.scene is not None and not whole]
    return ways[0] if ways else ()


def _ways(view: View, pane: Pane, scene: HeadContext) -> Blocks:
    buttons = []
    if has_next_layer(scene):
        into = message("Into layer {layer} ▸", layer=scene.layer + 2)
        buttons = [Button(into, parts={"layer": str(scene.layer + 2), "step": embed.STEP.key})]
    sets: dict[str, Parameter[Any]] = {"layer": pane.settings.layer, "step": STEP}
    row = Buttons(message("What next"), tuple(buttons))
    return (
        Heading(message("What next"), 3),
        *((Picture(f"{pane.name}_next_layer", row, sets=sets),) if buttons else ()),
        *(
            Way(f"way_on_{page.address}", f"{page.title} ▸", page, view.for_page(page).to_query())
            for page in (ALL_HEADS, BY_ADDRESS["one_or_many"], WHOLE, COMPARE)
            if page.is_for(scene.info)
        ),
    )


# ---------------------------------------------------------------------------------------- what comes next


def _next_token(view: View, panes: Sequence[Pane], whole: bool) -> Blocks:  # noqa: ARG001 - all of it is shown
    found: list[Block] = []
    for pane in panes:
        forecast = None if pane.found is None or not pane.info.build.says_next else pane.found.forecast()
        if pane.scene is not None and forecast is not None:
            found += _forecast(view, pane, pane.scene, forecast)
    return tuple(found)


def _forecast(view: View, pane: Pane, scene: HeadContext, found: Forecast) -> Blocks:
    trace, labels = scene.trace, [candidate.label for candidate in found.candidates]
    chart = candidates_bars(labels, [candidate.probability for candidate in found.candidates])
    likeliest = (Prose(tell_next(found, trace), "aside"), _going_on(view, pane, found.candidates, trace))
    return (
        Heading(message("{name}: what comes next", name=pane.info.name), 3),
        Row((likeliest, (Picture(f"{pane.name}_next_bars", chart),))),
        Formula(formula(trace)),
        Prose(tell_source(found, trace), "aside"),
        *_way_to_last_row(view, pane, scene),
        Heading(message("Layer by layer"), 3),
        Prose(tell_lens(found), "aside"),
        Table(f"{pane.name}_lens", partial(lens_table, found), file="next-token"),
    )


def _way_to_last_row(view: View, pane: Pane, scene: HeadContext) -> Blocks:
    """Return the link to the row that the prediction is read from, if another is in focus."""
    last = last_row(scene.trace)
    if pane.is_other or scene.word == last:
        return ()
    label = message("See what “{word}” attends to ▸", word=scene.names[last])
    return (Way("way_to_last_row", label, STEP_BY_STEP, view.with_value(WORD, last).to_query()),)


def _going_on(view: View, pane: Pane, candidates: Sequence[Candidate], trace: Trace) -> Picture:
    """Return a button for each token that can continue the text read; a double click adds it once.

    A chat goes on as plain text, with its template written out.
    """
    row = tuple(
        Button(
            f"{candidate.label} {candidate.probability:.2f}",
            "" if candidate.text is not None else message("This can't be added to a sentence."),
            {"text": trace.text + candidate.text} if candidate.text is not None and trace.cut is None else None,
        )
        for candidate in candidates
    )
    buttons = Buttons(message("The likeliest next tokens"), row)
    while_same = ((TEXT, view.text), (CHAT, view[CHAT]))
    return Picture(f"{pane.name}_next", buttons, sets={"text": TEXT}, clears=(CHAT,), only_while=while_same)


NEXT_TOKEN = Under("next token", _next_token)
WHAT_NOW = Under("what now", _what_now)
EXTRAS = (Under("savings", _savings), Under("onward", _onward), WHAT_NOW, NEXT_TOKEN)
