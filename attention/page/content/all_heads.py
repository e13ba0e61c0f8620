"""The page All heads: the atlas, the chosen head enlarged and described, and a table."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go

from attention.core.messages import message
from attention.core.words import special_names
from attention.figures.atlas import Atlas
from attention.figures.charts import Chart
from attention.lesson.behaviour import describe, head_table, share_table
from attention.lesson.head_context import HeadContext
from attention.lesson.pairs import tell_pair, tell_shares
from attention.lesson.prose import lesson
from attention.lesson.steps import softmax
from attention.lesson.survey import (
    HIDE_NAMES,
    SORT_NAMES,
    Hidden,
    Look,
    Sorting,
    Survey,
    head_matrix,
    heads_heatmap,
    layer_lines,
)
from attention.lesson.survey import order as arrange
from attention.lesson.survey import place as place_of
from attention.measures.segments import BLOCK_NAMES, SENTENCES
from attention.page.blocks import (
    Blocks,
    Download,
    Fold,
    Heading,
    Image,
    Notice,
    Picture,
    Prose,
    Row,
    Section,
    Setting,
    Table,
    Way,
)
from attention.page.content.on_map import map_of_heads
from attention.page.content.outcome import alignment
from attention.page.content.pane import Found, Pane, mask_choices, missing, word_choices
from attention.page.figure_files import (
    figure_html,
    figure_json,
    heatmap_figure,
    trace_npz,
)
from attention.page.pages import STEP_BY_STEP
from attention.page.parameters import Parameter
from attention.page.settings import (
    BLOCK,
    CELL,
    CHAT,
    HEAD,
    HIDE,
    LAYER,
    LEAST,
    LOOKS,
    MASK,
    MEAN,
    ON,
    PINS,
    RENORMALISE,
    SORT,
    SOUGHT,
    STEP,
    WORD,
    WORDS,
    ZOOM,
)
from attention.page.view import View

_CHOOSE, _STILL = message("Choose one to enlarge it."), message("The framed one is chosen.")
# The keys of the sections that say what heads do: all of them, and the chosen one. Not while one is looked for.
BEHAVIOURS = ("behaviours", "behaviour")
_MOST_IN_FIGURE = 500_000  # weights: 17 MB as a figure
_SETS: Mapping[str, Parameter[Any]] = {"layer": LAYER, "head": HEAD, "zoom": ZOOM}
_ACROSS = " → ".join(SENTENCES)
_SORT_LABELS: dict[Sorting, str] = {
    "layer": message("layer"),
    "entropy": message("entropy"),
    "pattern": message("pattern"),
    "similarity": message("similarity"),
    "across": _ACROSS,
}
# The name of the number under a head.
_BADGE_NAMES: dict[Sorting, str] = {
    **_SORT_LABELS,
    "pattern": message("score for this pattern"),
    "similarity": message("distance from the chosen head"),
}


def opening(view: View) -> View:
    """Return the view with the fold of ``looks`` open, if the link makes one of its choices and does not close it."""
    is_chosen = any(each.name in view.chosen for each in (SORT, HIDE, WORDS, RENORMALISE, MASK, CHAT))
    return view.replaced(LOOKS, True) if is_chosen and view[LOOKS] is None else view


def looks(view: View, panes: Sequence[Pane]) -> Blocks:
    """Return, folded, the controls for the order of the heads, the display of their weights, the word and the mask."""
    is_pair = any(pane.pair for pane in panes)
    has_patterns = all(pane.scene is None or pane.scene.use.has_patterns for pane in panes)
    is_offered = {"across": is_pair, "pattern": has_patterns}
    names = [name for name in SORT_NAMES if is_offered.get(name, True)]
    sortings = {name: _SORT_LABELS[name] for name in names}
    sort = view[SORT] if view[SORT] in names else SORT_NAMES[0]
    shown = _applicable(view, panes)
    hides = _hide_labels(panes)
    words = (Setting(WORDS, message("Whole words"), shown.look.words),) if _have_words(panes) else ()
    renormalise = Setting(
        RENORMALISE,
        message("Renormalise rows"),
        shown.look.renormalise,
        help=message("Divide each row by its sum after hiding."),
        is_off=shown.look.hide == "nothing",
    )
    settings = (
        Setting(SORT, message("Sort by"), sort, sortings),
        Setting(HIDE, message("Hide"), shown.look.hide, hides, is_list=True),
        *words,
        renormalise,
        *(each for pane in panes for each in (*word_choices(pane), *mask_choices(view, pane.info))),
    )
    line = Section("look", settings, is_line=True)
    return (Fold("looks", message("Sort, hide, mask"), (line,), bool(view[LOOKS]), LOOKS),)


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return the atlas of each pane's model, and the chosen head; a ``whole`` page has no downloads."""
    return (*(block for pane in panes for block in _pane(view, pane, whole)), *alignment(panes))


def _pane(view: View, pane: Pane, whole: bool) -> Blocks:
    scene, found = pane.scene, pane.found
    if scene is None or found is None:
        return missing(pane.reason)
    view = _applicable(view, [pane])
    surveyed = found.survey(view.look)
    notes = _look_notes(view.look, _hide_labels([pane])[view.look.hide])
    return (
        Prose(lesson("all-heads/intro", choose=_STILL if whole else _CHOOSE)),
        *((Prose(tell_pair(scene, pane.pair)),) if pane.pair else ()),
        *((Notice(" ".join(notes), is_quiet=True),) if notes else ()),
        _heads(view, scene, surveyed),
        Section(BEHAVIOURS[0], () if view[SOUGHT] else _table(surveyed, scene)),
        _chosen(view, pane, scene, surveyed),
        *map_of_heads(view, pane),
        *(() if whole else _downloads(view, scene, found, pane.pair, notes)),
    )


def _have_words(panes: Sequence[Pane]) -> bool:
    """Return whether tokens are words or pieces of them, rather than patches of a picture."""
    return all(pane.scene is None or pane.scene.info.reading.has_pieces for pane in panes)


def _applicable(view: View, panes: Sequence[Pane]) -> View:
    """Return the view without options that do not apply to pictures: whole words, and hidden punctuation."""
    if _have_words(panes):
        return view
    if view.look.words:
        view = view.with_value(WORDS, False)
    return view.with_value(HIDE, HIDE_NAMES[1]) if view.look.hide == HIDE_NAMES[2] else view


def _hide_labels(panes: Sequence[Pane]) -> dict[Hidden, str]:
    """Return the labels of the options for hiding tokens, naming the special tokens that occur."""
    scenes = [pane.scene for pane in panes if pane.scene is not None]
    tokens = [token for scene in scenes for token in (*scene.tokens, *scene.key_tokens)]
    special = ", ".join(special_names(tokens)) or message("special tokens")
    labels = (message("nothing"), special, message("{special}, punctuation", special=special))
    names = HIDE_NAMES if _have_words(panes) else HIDE_NAMES[:2]
    return dict(zip(names, labels, strict=False))


def _atlas(view: View, scene: HeadContext, surveyed: Survey) -> Atlas:
    current = (scene.layer, scene.head)
    arranged = arrange(view[SORT], surveyed, scene.trace, view.look, current)
    told = () if view[SOUGHT] else map(place_of, surveyed.summaries)
    return Atlas(
        tiles=surveyed.tiles,
        groups=arranged.groups,
        title=_title_of(scene, len(surveyed.summaries)),
        alt=message("All {n_summaries} heads as small heatmaps.", n_summaries=len(surveyed.summaries)),
        current=current,
        descriptions={place: surveyed.in_words(place, scene.info.reading) for place in told},
        badges=arranged.badges,
        badge_name=_BADGE_NAMES[view[SORT]],
        zoom=view.zoom,
    )


def _heads(view: View, scene: HeadContext, surveyed: Survey) -> Row:
    """Return all heads, and the chosen one beside them."""
    return Row(
        (
            (Picture("atlas", _atlas(view, scene, surveyed), sets=_SETS, clears=(CELL,)),),
            (Heading(message("Layer {layer}, head {head}", **scene.numbers)), _heatmap(view.look, scene)),
        ),
        widths=(5, 3),
        gap="small",
    )


def _chosen(view: View, pane: Pane, scene: HeadContext, surveyed: Survey) -> Row:
    """Return the lines of the chosen head, and its measures in words."""
    current, reading = (scene.layer, scene.head), scene.info.reading
    told = describe(surveyed.summary(current), surveyed.in_words(current, reading), reading)
    steps = view.for_page(STEP_BY_STEP).with_value(STEP, softmax.STEP.key).to_query()
    return Row(
        (
            _lines(view, pane, scene),
            (
                Section(BEHAVIOURS[1], () if view[SOUGHT] else (Prose(told),)),
                *_shares(surveyed, surveyed.index(current)),
                Way("way_in_steps", message("Step through this head ▸"), STEP_BY_STEP, steps),
            ),
        )
    )


def _lines(view: View, pane: Pane, scene: HeadContext) -> Blocks:
    figure = layer_lines(scene, view.look, scene.head, view.lines, view[BLOCK])
    has_heads = not view.lines.mean and len(figure.heads) > 1
    blocks = {name: "all" if name == "all" else " → ".join(name) for name in BLOCK_NAMES}
    return (
        Setting(MEAN, message("Mean of the layer's heads"), view.lines.mean),
        *((Setting(BLOCK, message("Lines from → to"), view[BLOCK], blocks),) if pane.pair else ()),
        Picture("head_view", figure, sets={"pins": PINS, "least": LEAST, **({"on": ON} if has_heads else {})}),
    )


def _heatmap(look: Look, scene: HeadContext) -> Picture:
    # Only a token can be in focus, not a merged word.
    sets = {} if look.words else {"row": WORD}
    return Picture("head_matrix", head_matrix(scene, look, scene.head), sets=sets, is_selectable=True)


def _shares(surveyed: Survey, index: int) -> Blocks:
    if surveyed.shares is None or surveyed.word_shares is None:
        return ()
    shares, of_words = surveyed.shares[index], surveyed.word_shares[index]
    return (
        Prose(tell_shares(shares, surveyed.special)),
        Table("share_table", partial(share_table, shares, of_words, surveyed.special), is_narrow=True, is_whole=True),
    )


def _downloads(view: View, scene: HeadContext, found: Found, pair: str, notes: Sequence[str]) -> Blocks:
    title = f"{scene.trace.text} / {pair}" if pair else scene.trace.text
    model = " ".join([f"{scene.info.name}.", *notes])
    head = " ".join([f"{scene.place}.", *notes])

    def lines() -> str:
        return figure_html(layer_lines(scene, view.look, scene.head, view.lines, view[BLOCK]), title, head)

    files = (
        Download(
            message("All heads, standalone page"),
            "heads.html",
            lambda: figure_html(_atlas(view, scene, found.survey(view.look)), title, model),
        ),
        Download(message("Lines, standalone page"), "lines.html", lines),
        Download(
            message("Heatmap, standalone page"),
            "heatmap.html",
            lambda: figure_html(head_matrix(scene, view.look, scene.head), title, head),
        ),
        Download(
            message("Heatmap, Plotly page"),
            "heatmap-plotly.html",
            lambda: figure_html(Chart(heatmap_figure(head_matrix(scene, view.look, scene.head))), title, head),
        ),
        Download(
            message("Heatmap, Plotly JSON"),
            "heatmap.json",
            lambda: figure_json(heatmap_figure(head_matrix(scene, view.look, scene.head), scene.place)),
        ),
        Image(message("Heatmap, PNG"), "heatmap.png", "heatmap.json"),
        Image(message("Heatmap, SVG"), "heatmap.svg", "heatmap.json"),
        *_figures(view, scene, title, model),
        Download(message("All weights, NumPy"), "trace.npz", lambda: trace_npz(scene.trace), is_long=True),
        Download(message("This layer, NumPy"), "layer.npz", lambda: trace_npz(scene.trace, scene.layer)),
    )
    note = Notice(message("Standalone pages need no server and no network."), is_quiet=True)
    return (Fold("files", message("Pictures and weights as files"), (note, Section("downloads", files, is_line=True))),)


def _figures(view: View, scene: HeadContext, title: str, caption: str) -> Blocks:
    """Return all heads as a Plotly figure, unless the text is too long for it."""
    trace = scene.trace
    if len(trace.attended) * trace.info.n_heads * len(scene.tokens) * len(scene.key_tokens) > _MOST_IN_FIGURE:
        return ()

    def figure() -> go.Figure:
        return heads_heatmap(scene, view.look, _title_of(scene, len(trace.attended) * trace.info.n_heads))

    return (
        Download(
            message("All heads, Plotly page"),
            "heads-plotly.html",
            lambda: figure_html(Chart(figure()), title, caption),
            is_long=True,
        ),
        Download(message("All heads, Plotly JSON"), "heads.json", lambda: figure_json(figure()), is_long=True),
    )


def _title_of(scene: HeadContext, n_heads: int) -> str:
    return message("{name}: {n_summaries} heads", name=scene.info.name, n_summaries=n_heads)


def _look_notes(look: Look, hidden: str) -> list[str]:
    """Return a sentence about each way in which the pictures alter the weights."""
    notes = []
    if look.words:
        notes.append(
            message("Tokens are merged into words: weights to a word are summed, weights from a word averaged.")
        )
    if look.hide != "nothing":
        notes.append(
            message("Hidden: {hidden}; rows are renormalised.", hidden=hidden)
            if look.renormalise
            else message("Hidden: {hidden}; rows are not renormalised.", hidden=hidden)
        )
        notes.append(message("Behaviours are measured on all tokens, hidden ones too."))
    return notes


def _table(surveyed: Survey, scene: HeadContext) -> Blocks:
    groups = surveyed.in_groups(scene.info.reading)
    summed = (Prose(f"<p>{html.escape(groups)}</p>"),) if groups else ()

    def make() -> dict[str, list[str | int | float]]:
        order = surveyed.by_clarity()
        summaries = [surveyed.summaries[at] for at in order]
        words = [surveyed.in_words(place_of(summary), scene.info.reading) for summary in summaries]
        shares = None if surveyed.shares is None else surveyed.shares[order]
        return head_table(summaries, shares, surveyed.special, words)

    has_rules = scene.use.has_patterns
    rules = (Fold("rules", message("Rules behind the labels"), (Prose(lesson("head/patterns")),)),) if has_rules else ()
    return Heading(message("What each head does")), *summed, Table("heads_table", make, file="heads"), *rules
