"""Attention in a notebook: of a recorded run, or of the attentions that any transformers model returns.

    from attention import show
    from attention.models import load

    trace = load("minilm-l6").trace("The cat sat on the mat")
    show.step(trace, "scores", layer=3, head=5)

    show.head_view(outputs.attentions, tokenizer.convert_ids_to_tokens(inputs.input_ids[0]))

The output needs no network and no kernel: a saved notebook shows it again. Layers, heads and tokens are counted from 0
in calls, as in the arrays; the pictures count layers and heads from 1, as the app does. The signatures of ``head_view``
and ``model_view`` are those of BertViz 1.4.1 (Vig 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from attention.core.given import integer, integers
from attention.core.messages import message
from attention.core.trace import Trace
from attention.figures.heatmaps import atlas_heatmap, head_heatmap
from attention.show import neuron_view
from attention.show.arrays import of_arrays, of_parts
from attention.show.output import Action, Shown, finish
from attention.show.pages import compared, neurons, one_step
from attention.show.views import Mode, lines, tiles
from attention.show.weights import MOST_WEIGHTS, Weights, of_trace

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = [
    "Shown",
    "Weights",
    "atlas",
    "atlas_figure",
    "compare",
    "figure",
    "head_view",
    "model_view",
    "neuron",
    "neuron_view",
    "of_run",
    "step",
]


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)


# The limit for a trace that displays itself as the value of a cell: a few megabytes of notebook.
MOST_BY_ITSELF = 2_000_000
# The letters of a line of a figure's subtitle, and its height in pixels.
_LETTERS, _LINE = 45, 18


def head_view(
    attention: Trace | Sequence[Any] | None = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    encoder_attention: Sequence[Any] | None = None,
    decoder_attention: Sequence[Any] | None = None,
    cross_attention: Sequence[Any] | None = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    html_action: Action = "view",
) -> Shown:
    """Show which token attends to which, as lines between two columns of tokens, one layer at a time.

    Args:
        attention: a trace, or ``outputs.attentions``: for each layer an array of shape (1, heads, tokens, tokens).
        tokens: one per position; a trace has its own.
        sentence_b_start: the position at which a second sentence begins; in an encoder–decoder, what the encoder reads.
        prettify_tokens: whether to show tokens as in a trace: ``Ġcaf``, ``▁caf`` as ``␣caf``, ``Ã©`` as ``é``.
        layer: the first layer to show; by default the app's choice for a trace, otherwise layer 0.
        heads: the heads shown at first; by default all.
        encoder_attention: for an encoder–decoder, instead of ``attention``: its ``encoder_attentions``.
        decoder_attention: its ``decoder_attentions``.
        cross_attention: its ``cross_attentions``, of shape (1, heads, decoder tokens, encoder tokens).
        encoder_tokens: the tokens it has read.
        decoder_tokens: the tokens it has written.
        include_layers: the layers to include; by default all.
        html_action: "view" displays the result in the running cell, "return" only returns it.

    Raises:
        TypeError: neither a trace nor arrays.
        ValueError: not attention weights, more than one text, wrong tokens, or too many weights.
    """
    parts, _ = _weights(
        attention,
        tokens,
        sentence_b_start,
        prettify_tokens,
        (encoder_attention, decoder_attention, cross_attention, encoder_tokens, decoder_tokens),
        include_layers,
        None,
    )
    first = attention.info.default_layer if isinstance(attention, Trace) and layer is None else layer
    shown = None if heads is None else integers("heads", heads)
    return finish(lines(parts, _index_of("layer", first, parts[0].layer_numbers), shown), html_action)


def atlas(
    attention: Trace | Sequence[Any] | None = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    display_mode: Mode | None = None,
    encoder_attention: Sequence[Any] | None = None,
    decoder_attention: Sequence[Any] | None = None,
    cross_attention: Sequence[Any] | None = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
    html_action: Action = "view",
) -> Shown:
    """Show every head of every layer as a small heatmap; clicking one opens a table of its weights.

    ``display_mode`` is "dark" or "light" (by default the notebook's), ``include_heads`` the heads to include of each
    layer. All other arguments are those of :func:`head_view`.

    Raises:
        TypeError: neither a trace nor arrays.
        ValueError: not attention weights, more than one text, wrong tokens, or too many weights.
    """
    parts, title = _weights(
        attention,
        tokens,
        sentence_b_start,
        prettify_tokens,
        (encoder_attention, decoder_attention, cross_attention, encoder_tokens, decoder_tokens),
        include_layers,
        include_heads,
    )
    return finish(tiles(parts, title, display_mode), html_action)


# BertViz's name for it.
model_view = atlas


def step(
    trace: Trace,
    name: str = "scores",
    layer: int | None = None,
    head: int | None = None,
    word: int | None = None,
    cell: tuple[int, int] | None = None,
    html_action: Action = "view",
) -> Shown:
    """Show one of the nine steps of a head: its formula, numbers and code, and how one cell is computed.

    Args:
        trace: a recorded run.
        name: tokens, embed, qkv, scores, scale, mask, softmax, sum or heads.
        layer: by default the app's choice.
        head: by default the app's choice.
        word: the position of the token in focus.
        cell: the row and column of the cell to explain, in the step's main picture.
        html_action: "view" displays the result in the running cell, "return" only returns it.

    Raises:
        TypeError: not a trace.
        ValueError: unknown step, layer, head, token or cell.
    """
    opened = None if cell is None else integers("cell", cell)
    return finish(one_step(_check_trace(trace, "step"), name, layer, head, word, opened), html_action)


def neuron(
    trace: Trace,
    layer: int | None = None,
    head: int | None = None,
    word: int | None = None,
    key: int | None = None,
    html_action: Action = "view",
) -> Shown:
    """Show how one token's query meets every key, number by number.

    Args:
        trace: a recorded run.
        layer: by default the app's choice.
        head: by default the app's choice.
        word: the position of the query.
        key: the position of the key; by default the one with the largest weight.
        html_action: "view" displays the result in the running cell, "return" only returns it.

    Raises:
        TypeError: not a trace.
        ValueError: unknown layer, head or token.
    """
    return finish(neurons(_check_trace(trace, "neuron"), layer, head, word, key), html_action)


def compare(
    first: Trace,
    second: Trace,
    layer: int | None = None,
    head: int | None = None,
    html_action: Action = "view",
) -> Shown:
    """Show one head on two texts, or two models on one text: both heatmaps, and their difference word by word.

    Args:
        first: a recorded run.
        second: another run, of the same or another model.
        layer: by default the app's choice for each run.
        head: by default the app's choice for each run.
        html_action: "view" displays the result in the running cell, "return" only returns it.

    Raises:
        TypeError: not two traces.
        ValueError: unknown layer or head.
    """
    runs = _check_trace(first, "compare"), _check_trace(second, "compare")
    return finish(compared(*runs, layer, head), html_action)


def figure(
    attention: Trace | Sequence[Any],
    layer: int | None = None,
    head: int | None = None,
    tokens: Sequence[str] | None = None,
    prettify_tokens: bool = True,
) -> go.Figure:
    """Return one head as a Plotly heatmap with tokens on both axes, to edit, save or combine with others.

    Args:
        attention: a trace (of an encoder–decoder also ``trace.part("cross")``), or ``outputs.attentions``.
        layer: by default the app's choice for a trace, otherwise layer 0.
        head: by default the app's choice for a trace, otherwise head 0.
        tokens: one per position; a trace has its own.
        prettify_tokens: whether to show them as in a trace: ``Ġcat`` as ``␣cat``.

    Raises:
        TypeError: neither a trace nor arrays.
        ValueError: not attention weights, or an unknown layer or head.
    """
    (part, *_), _ = _weights(attention, tokens, None, prettify_tokens, (None,) * 5, None, None)
    if isinstance(attention, Trace):
        layer = attention.info.default_layer if layer is None else layer
        head = attention.info.default_head if head is None else head
    at = _index_of("layer", layer, part.layer_numbers), _index_of("head", head, part.head_numbers)
    layer, head = part.layer_numbers[at[0]], part.head_numbers[at[1]]
    title = message("Layer {layer}, head {head}", layer=layer + 1, head=head + 1)
    one = part.only([layer], [head])
    return _noted(head_heatmap(one.layers[0][0], part.rows, part.columns, title), one)


def atlas_figure(
    attention: Trace | Sequence[Any],
    tokens: Sequence[str] | None = None,
    prettify_tokens: bool = True,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
) -> go.Figure:
    """Return all heads as one Plotly heatmap, with a row per layer and a column per head.

    The arguments are those of :func:`figure`, and the layers and the heads to include (by default all).

    Raises:
        TypeError: neither a trace nor arrays.
        ValueError: not attention weights, or an unknown layer or head.
    """
    (part, *_), title = _weights(attention, tokens, None, prettify_tokens, (None,) * 5, include_layers, include_heads)
    title = title or message("Attention weights")
    numbers = {"layer_numbers": part.layer_numbers, "head_numbers": part.head_numbers}
    return _noted(atlas_heatmap(part.layers, part.rows, part.columns, title, **numbers), part)


def of_run(trace: Trace) -> Shown:
    """Return the display of a trace: all its heads or, for a very large one, those of its first layers."""
    parts, title = of_trace(trace), _title(trace)
    n_layers = max(1, min(len(trace.attended), *(len(part.layers) * MOST_BY_ITSELF // part.size for part in parts)))
    parts = tuple(part.only(part.layer_numbers[:n_layers], None) for part in parts)
    kept = "" if n_layers == len(trace.attended) else message("The first {n_layers} layers.", n_layers=n_layers)
    return tiles(parts, title, None, note="\n".join(filter(None, (trace.text, kept))))


def _weights(
    attention: Any,
    tokens: Any,
    start: int | None,
    prettify: bool,
    parts: tuple[Any, ...],
    layers: Sequence[int] | None,
    heads: Sequence[int] | None,
) -> tuple[tuple[Weights, ...], str]:
    title = ""
    layers = None if layers is None else integers("include_layers", layers)
    heads = None if heads is None else integers("include_heads", heads)
    if isinstance(attention, Trace):
        if tokens is not None or start is not None:
            raise ValueError("a trace has its own tokens and sentences: leave out tokens and sentence_b_start")
        found, title = of_trace(attention), _title(attention)
    elif any(part is not None for part in parts):
        if attention is not None:
            raise ValueError("give either attention, or encoder_attention, decoder_attention and cross_attention")
        found = of_parts(*parts, sentence_b_start=start, prettify=prettify, include_layers=layers)
    else:
        found = (of_arrays(attention, tokens, sentence_b_start=start, prettify=prettify, include_layers=layers),)
    found = tuple(part.only(layers if isinstance(attention, Trace) else None, heads) for part in found)
    size = sum(part.size for part in found)
    if size > MOST_WEIGHTS:
        raise ValueError(
            f"these are {size:,} weights, and {MOST_WEIGHTS:,} are as many as a notebook can hold: "
            "choose some layers with include_layers"
        )
    return found, title


def _title(trace: Trace) -> str:
    count = sum(len(part.layers) * trace.info.n_heads for part in trace.traces)
    return message("{name}: {n_summaries} heads", name=trace.info.name, n_summaries=count)


def _check_trace(trace: Any, name: str) -> Trace:
    if not isinstance(trace, Trace):
        raise TypeError(
            f"{name} needs a trace, which has the queries and keys; weights alone have neither, and "
            f"{type(trace).__name__} came. attention.load(name).trace(text) records one"
        )
    return trace


def _noted(figure: go.Figure, part: Weights) -> go.Figure:
    """Return the figure with the note on its weights under its title."""
    if not (rows := wrap(part.note, _LETTERS)):
        return figure
    top, height = (number + _LINE * len(rows) for number in (figure.layout.margin.t, figure.layout.height))
    return figure.update_layout(title_subtitle_text="<br>".join(rows), margin_t=top, height=height)


def _index_of(noun: str, given: int | None, numbers: Sequence[int]) -> int:
    """Return the index of a layer or head among those shown."""
    if given is None:
        return 0
    number = integer(noun, given)
    if number not in numbers:
        raise ValueError(f"there is no {noun} {number} here: there are {', '.join(map(str, numbers))}, counted from 0")
    return list(numbers).index(number)
