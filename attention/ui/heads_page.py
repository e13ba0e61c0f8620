"""All heads at once: the atlas, one head large, what it does, and the table of all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from attention.export import atlas_html, head_view_html, matrix_html, matrix_svg, trace_npz
from attention.figures.atlas import Atlas, Head
from attention.figures.head_view import HeadView, Side
from attention.figures.matrix import Cell
from attention.lesson.behaviour import describe, head_table, in_short, share_table
from attention.lesson.pairs import tell_pair, tell_shares
from attention.lesson.prose import lesson, listed
from attention.lesson.scene import Scene
from attention.lesson.steps import softmax
from attention.lesson.survey import (
    HIDE_NAMES,
    SORT_NAMES,
    Look,
    Survey,
    head_matrix,
    layer_lines,
    order,
    place,
)
from attention.pages import STEP_BY_STEP
from attention.segments import BLOCK_NAMES, SENTENCES
from attention.settings import BLOCK, HIDE, LEAST, MEAN, ON, PINS, RENORMALISE, SORT, STEP, WORD, WORDS
from attention.ui import choices, components, markup, state, step_view
from attention.ui.atlas import atlas
from attention.ui.cache import Address, survey_of, turns
from attention.ui.downloads import Table, csv_button, file_button
from attention.ui.frame import Pane
from attention.ui.head_view import head_view
from attention.ui.model_choice import choose_head
from attention.view import View
from attention.words import special_names

__all__ = ["look_choices", "show"]

_SORT_LABELS = {
    "layer": "layer",
    "entropy": "entropy",
    "pattern": "pattern",
    "similarity": "likeness",
    "across": " → ".join(SENTENCES),
}
# What the number under a head is, where the sorting has another name.
_BADGE_NAMES = {**_SORT_LABELS, "similarity": "distance from the chosen head"}
_BLOCK_LABELS = {block: "all" if block == "all" else " → ".join(block) for block in BLOCK_NAMES}


def look_choices(view: View, panes: list[Pane]) -> None:
    """Draw how the heads are sorted, and how their weights are looked at."""
    is_pair = any(pane.pair for pane in panes)
    with state.group("look"), st.container(horizontal=True, vertical_alignment="bottom", key="look"):
        # Only of two sentences can one look at the other.
        has_patterns = all(pane.scene is None or pane.scene.attention.use.has_patterns for pane in panes)
        is_offered = {"across": is_pair, "pattern": has_patterns}
        sortings = [sorting for sorting in SORT_NAMES if is_offered.get(sorting, True)]
        choices.one_of(
            SORT,
            "Sort by",
            sortings,
            format_func=_SORT_LABELS.__getitem__,
            value=view.sort if view.sort in sortings else SORT_NAMES[0],
        )
        choices.select(HIDE, "Hide", HIDE_NAMES, format_func=_hide_labels(panes).__getitem__, width=230)
        choices.switch(WORDS, "Whole words")
        choices.switch(
            RENORMALISE,
            "Rows sum to 1 again",
            help="Divides each row by its sum, once something is hidden.",
            disabled=view.look.hide == "nothing",
        )


def _hide_labels(panes: list[Pane]) -> dict[str, str]:
    """Name what can be hidden by the special tokens that there are."""
    scenes = [pane.scene for pane in panes if pane.scene is not None]
    tokens = [token for scene in scenes for token in (*scene.tokens, *scene.key_tokens)]
    special = ", ".join(special_names(tokens)) or "special tokens"
    return {"nothing": "nothing", "special": special, "punctuation": f"{special}, punctuation"}


def show(view: View, pane: Pane) -> None:
    """Draw the atlas of one model, and the chosen head beside what it does."""
    scene, address = pane.scene, pane.address
    if scene is None or address is None:
        step_view.unavailable(pane)
        return
    current = (scene.layer, scene.head)
    with st.spinner("Looking at all heads …", show_time=True):
        surveyed = survey_of(address, scene.trace, view.look)
        all_heads = _all_heads(view, scene, surveyed)
    markup.prose(lesson(scene.info.reading.lesson("all-heads")))
    if pane.pair:
        markup.prose(tell_pair(scene, pane.pair))
    notes = _look_notes(view.look, surveyed, _hide_labels([pane])[view.look.hide])
    if notes:
        st.caption(" ".join(notes))
    atlas(all_heads, key="atlas", on_choose=_choose)
    _one_head(view, pane, scene, surveyed, current)
    _downloads(view, scene, address, pane.pair, notes)
    _table(view.look, surveyed, address)


def _all_heads(view: View, scene: Scene, surveyed: Survey) -> Atlas:
    arranged = order(view.sort, surveyed, scene.trace, view.look, (scene.layer, scene.head))
    return Atlas(
        tiles=surveyed.tiles,
        groups=arranged.groups,
        title=f"{scene.info.name}: {len(surveyed.summaries)} heads",
        alt=f"All {len(surveyed.summaries)} heads of {scene.info.name} as small heatmaps.",
        current=(scene.layer, scene.head),
        descriptions={
            # Sorted by entropy, the number stands behind it already.
            place(summary): in_short(summary, has_entropy=view.sort != "entropy")
            for summary in surveyed.summaries
        },
        badges=arranged.badges,
        badge_name=_BADGE_NAMES[view.sort],
    )


def _lines(view: View, scene: Scene) -> HeadView:
    return layer_lines(scene, view.look, scene.head, view.lines, view.block)


def _one_head(view: View, pane: Pane, scene: Scene, surveyed: Survey, current: Head) -> None:
    """Draw what one head does, and its weights as lines and as a heatmap."""
    st.header(f"Layer {current[0] + 1}, head {current[1] + 1}", anchor=False)
    markup.prose(describe(surveyed.summary(current), scene.info.reading))
    _shares(surveyed, current)
    if scene.attention.use.has_patterns:
        with st.expander("The rules behind the labels"):
            markup.prose(lesson("patterns"))
    with st.container(key="way_in_steps"):
        query = view.on(STEP_BY_STEP).having(STEP, softmax.STEP.key).to_query()
        st.page_link(STEP_BY_STEP.file, label="Step through this head ▸", query_params=query)
    left, right = st.columns(2, gap="large")
    with left:
        choices.switch(MEAN, "The layer's mean instead of its heads")
        if pane.pair:
            choices.one_of(BLOCK, "Lines from → to", BLOCK_NAMES, format_func=_BLOCK_LABELS.__getitem__)
        lines = _lines(view, scene)
        starts = {"query": lines.row_start, "key": lines.column_start}
        head_view(
            lines,
            key="head_view",
            on_pin=partial(_pin, starts),
            on_heads=None if view.lines.mean or len(lines.heads) == 1 else state.setter(ON),
            on_threshold=state.setter(LEAST),
        )
    with right:
        components.matrix(head_matrix(scene, view.look, scene.head), key="head_matrix", on_select=_open_weight)


def _shares(surveyed: Survey, current: Head) -> None:
    """Say of two sentences how much weight goes across in this head."""
    if surveyed.shares is None or surveyed.word_shares is None:
        return
    index = surveyed.index(current)
    shares = surveyed.shares[index]
    markup.prose(tell_shares(shares, surveyed.special))
    table = share_table(shares, surveyed.word_shares[index], surveyed.special)
    st.dataframe(table, hide_index=True, key="share_table", width="content")


def _downloads(view: View, scene: Scene, address: Address, pair: str, notes: list[str]) -> None:
    """Offer what can be taken away, which says how it was looked at; each file is made when somebody asks for it."""
    title = f"{scene.trace.text} / {pair}" if pair else scene.trace.text
    model = " ".join([f"{scene.info.name}.", *notes])
    head = f"Layer {scene.layer + 1}, head {scene.head + 1} of {model}"
    files: list[tuple[str, str, str, Callable[[Scene], str | bytes]]] = [
        ("All heads, a page of its own", "heads.html", "text/html", partial(_heads_file, view, address, title, model)),
        ("Lines, a page of its own", "lines.html", "text/html", partial(_lines_file, view, title, head)),
        ("Heatmap, a page of its own", "heatmap.html", "text/html", partial(_heatmap_file, view.look, title, head)),
        ("Heatmap, SVG", "heatmap.svg", "image/svg+xml", partial(_heatmap_svg, view.look)),
        ("All weights, NumPy", "trace.npz", "application/octet-stream", _weights_file),
        ("This layer whole, NumPy", "layer.npz", "application/octet-stream", _layer_file),
    ]
    st.caption("Take it with you: the pages need no server and no network.")
    with st.container(horizontal=True):
        for label, name, mime, make in files:
            file_button(label, name, mime, make, address, key=name)


def _heads_file(view: View, address: Address, title: str, caption: str, scene: Scene) -> str:
    surveyed = survey_of(address, scene.trace, view.look)
    return atlas_html(_all_heads(view, scene, surveyed), title, caption)


def _lines_file(view: View, title: str, caption: str, scene: Scene) -> str:
    return head_view_html(_lines(view, scene), title, caption)


def _heatmap_file(look: Look, title: str, caption: str, scene: Scene) -> str:
    return matrix_html(head_matrix(scene, look, scene.head), title, caption)


def _heatmap_svg(look: Look, scene: Scene) -> str:
    return matrix_svg(head_matrix(scene, look, scene.head))


def _weights_file(scene: Scene) -> bytes:
    # It is packed for seconds, and takes as much memory meanwhile as a page does.
    with turns():
        return trace_npz(scene.trace)


def _layer_file(scene: Scene) -> bytes:
    return trace_npz(scene.trace, scene.layer)


def _look_notes(look: Look, surveyed: Survey, hidden: str) -> list[str]:
    """Return what the pictures do not show as it is, in sentences: nothing is changed in silence."""
    notes = []
    if look.words:
        notes.append(
            "Pieces are merged into words, as this model's tokenizer parts words (it may begin a new one at an "
            "apostrophe): to a word, the sum over its pieces; from a word, their mean."
        )
    if look.hide != "nothing":
        kept = "each row divided by its sum" if look.renormalise else "rows not made to sum to 1 again"
        notes.append(f"Hidden: {hidden}; {kept}. What each head does is worked out from all tokens, hidden ones too.")
    if max(surveyed.tiles.block) > 1:
        rows, columns = surveyed.tiles.block
        notes.append(f"The text is long: each pixel is the largest weight of {rows}×{columns}.")
    return notes


def _table(look: Look, surveyed: Survey, address: Address) -> None:
    st.header("All heads as a table", anchor=False)
    table = head_table(surveyed.summaries, surveyed.shares, surveyed.special)
    if surveyed.shares is not None:
        counted = f", {listed(surveyed.special)} counted in" if surveyed.special else ""
        st.caption(
            f"{_SORT_LABELS['across']} and the other columns with an arrow are mean shares of a row's weight{counted}."
        )
    st.dataframe(table, hide_index=True, key="heads_table")
    csv_button("heads", partial(_heads_table, look, address), address)


def _heads_table(look: Look, address: Address, scene: Scene) -> Table:
    surveyed = survey_of(address, scene.trace, look)
    return head_table(surveyed.summaries, surveyed.shares, surveyed.special)


def _choose(layer: int, head: int) -> None:
    choose_head(layer, head)


def _open_weight(cell: Cell) -> None:
    if not state.current().look.words:
        state.set(WORD, cell.row)


def _pin(starts: dict[str, int], side: Side, positions: tuple[int, ...]) -> None:
    """Keep what is pinned by its place in the whole text, of which perhaps only a part is drawn."""
    kept = tuple(position + starts[side] for position in positions)
    state.set(PINS, (side, kept) if kept else None)
