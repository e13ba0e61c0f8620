"""Pages of the app in a notebook: a step, the neuron view, and two runs compared."""

from __future__ import annotations

from attention.core.given import integer
from attention.core.messages import message
from attention.core.trace import Trace
from attention.figures import assets
from attention.figures.matrix import Cell
from attention.figures.neuron import NEURON
from attention.lesson.compare import Comparison, Side, side_of, tell
from attention.lesson.head_context import HeadContext
from attention.lesson.initial_selection import first_place, first_word
from attention.lesson.proof import prove
from attention.lesson.steps import step_of
from attention.page.blocks import Blocks, Heading, Picture, Prose, Row
from attention.page.content import neuron_view, step_by_step
from attention.page.content.pane import Pane, proven
from attention.page.page_file import drawn, page_css, plain
from attention.page.pages import NEURON_VIEW, STEP_BY_STEP
from attention.page.view import View
from attention.show.output import Shown, html_of
from attention.show.packed import deflated
from attention.show.views import Mode, around


def one_step(
    trace: Trace, name: str, layer: int | None, head: int | None, word: int | None, cell: tuple[int, ...] | None
) -> Shown:
    """Return one step of a head; raise ValueError for an unknown step, layer, head, token or cell."""
    step, scene = step_of(name), _scene(trace, layer, head, word)
    if cell is not None:
        if len(cell) != 2:
            raise ValueError(f"cell must be a row and a column, got {cell}")
        main = step.main or step.shown(scene, "")[0].matrix.name
        scene = scene.with_cell(Cell(main, *cell))
        if step.opened(scene, "").cell != scene.cell:
            raise ValueError(f"the step {name} has no cell {cell} in its picture")
    view = View.of(STEP_BY_STEP, step=step.key)
    pane = _pane(scene)
    blocks = (*step_by_step.content(view, [pane], in_notebook=True), *proven(view, [pane]))
    return shown_blocks(_title(scene), blocks)


def neurons(
    trace: Trace, layer: int | None, head: int | None, word: int | None, key: int | None, mode: Mode | None = None
) -> Shown:
    """Return the neuron view of one token; raise ValueError for an unknown layer, head or token."""
    scene = _scene(trace, layer, head, word)
    cell = None if key is None else Cell(NEURON, scene.word, _within("key", key, len(trace.key_tokens)))
    view = View.of(NEURON_VIEW, cell=cell)
    pane = _pane(scene)
    blocks = (*neuron_view.content(view, [pane]), *proven(view, [pane]))
    return shown_blocks(_title(scene), blocks, mode)


def compared(first: Trace, second: Trace, layer: int | None, head: int | None) -> Shown:
    """Return one head on two texts, or two models on one text; raise ValueError for an unknown layer or head."""
    scenes = [_scene(trace, layer, head, None) for trace in (first, second)]
    if second.info.model_id == first.info.model_id and layer is None and head is None:
        # Show both texts in the same head, even if the second's default is another.
        scenes[1] = _scene(second, scenes[0].layer, scenes[0].head, None)
    one, other = map(_side, scenes, ("first", "second"))
    comparison = Comparison(one, other)
    chosen = comparison.most_changed()
    pictures = tuple(Picture(picture.name, picture) for picture in comparison.pictures(chosen))
    blocks: Blocks = (
        Heading(" · ".join(dict.fromkeys(scene.place for scene in scenes)), 3),
        *(Prose(f"<p>{plain(side.name)}: {plain(trace.text)}</p>") for side, trace in ((one, first), (other, second))),
        Row(((pictures[0],), (pictures[1],))),
        Row(((pictures[2],), (Prose(tell(comparison)),))),
    )
    return shown_blocks(message("two runs compared"), blocks)


def shown_blocks(summary: str, blocks: Blocks, mode: Mode | None = None) -> Shown:
    """Return blocks as notebook output."""
    written = drawn(blocks)
    used = sorted({str(picture["component"]) for picture in written.pictures})
    given = {
        **around(page_css(), mode),
        "html": written.html,
        "pictures": written.pictures,
        "styles": {name: assets.lean_css(assets.css(name)) for name in used},
    }
    own = assets.lean(f"{assets.still()}\n{assets.notebook('notebook', 'blocks')}")
    code = assets.alone(f"{assets.lean_components(used)}\n{own}")
    # The fallback is not compressed, and code that contains a model's numbers is long.
    instead = f"<p>{plain(summary)}</p>{drawn(blocks, has_code=False).html}"
    return Shown(html_of(code, given, deflated(b""), instead), summary)


def _scene(trace: Trace, layer: int | None, head: int | None, word: int | None) -> HeadContext:
    info = trace.info
    first_layer, first_head = first_place(info, trace.text)
    if layer is not None or head is not None:
        first_layer, first_head = info.default_layer, info.default_head
    chosen = first_layer if layer is None else _within("layer", layer, len(trace.layers))
    if not trace.layers[chosen].has_attention:
        raise ValueError(f"layer {chosen} has no attention: {info.layer_kinds[chosen]}")
    return HeadContext(
        trace,
        chosen,
        first_head if head is None else _within("head", head, info.n_heads),
        first_word(trace) if word is None else _within("word", word, len(trace.tokens)),
    )


def _within(noun: str, number: int, count: int) -> int:
    number = integer(noun, number)
    if not 0 <= number < count:
        raise ValueError(f"{noun} must be between 0 and {count - 1}, got {number}")
    return number


def _pane(scene: HeadContext) -> Pane:
    return Pane(scene.info, is_other=False, scene=scene, proof=prove(scene.trace))


def _title(scene: HeadContext) -> str:
    return f"{scene.place}: {scene.trace.text}"


def _side(scene: HeadContext, which: str) -> Side:
    names = {
        "first": (message("The first text"), message("the first text")),
        "second": (message("The second text"), message("the second text")),
    }
    name, within = names[which]
    return side_of(scene, name, within=within)
