"""Attention in a notebook: of a run that was recorded here, or of what any model of transformers returns.

    from attention import show
    from attention.models import load

    trace = load("minilm-l6").trace("The cat sat on the mat")
    show.step(trace, "scores", layer=3, head=5)

    show.head_view(outputs.attentions, tokenizer.convert_ids_to_tokens(inputs.input_ids[0]))

What is shown needs no network and no script from elsewhere, keeps its numbers in the notebook, and stands alone: a
notebook that was saved shows it again without a kernel. Layers, heads and tokens are counted from 0 here, as in the
arrays; what one reads in the pictures counts layers and heads from 1, as the app does. The calls of ``head_view`` and
``model_view`` are those of BertViz 1.4.1 (Vig 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from attention.core.given import integer, integers
from attention.core.messages import message
from attention.core.trace import Trace
from attention.show.arrays import of_arrays, of_parts
from attention.show.figures import atlas_of, head_of
from attention.show.output import Shown
from attention.show.pages import compared, neurons, one_step
from attention.show.views import lines, tiles
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
    "of_run",
    "step",
]

Action = Literal["view", "return"]
# A trace shows itself without being asked how: a few megabytes of a notebook at most.
MOST_BY_ITSELF = 2_000_000


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
    """Show which token attends to which, as lines between two columns of tokens, a layer at a time.

    Args:
        attention: a trace; or what a model returned as ``outputs.attentions``, an array for each layer of the shape
            (1, heads, tokens, tokens).
        tokens: the tokens, one for each position; a trace has its own.
        sentence_b_start: the position of the first token of a second sentence.
        prettify_tokens: whether marks of spaces (``Ġ``, ``▁``) are shown as spaces.
        layer: the layer to begin with; the first one, of a trace the one that the app opens.
        heads: the heads that are on at first; all of them.
        encoder_attention: of an encoder–decoder, in place of ``attention``: its ``encoder_attentions``,
        decoder_attention: ... its ``decoder_attentions``,
        cross_attention: ... its ``cross_attentions``, of the shape (1, heads, decoder tokens, encoder tokens),
        encoder_tokens: ... the tokens that it has read,
        decoder_tokens: ... and those that it has written.
        include_layers: the layers to take; all of them.
        html_action: "view" shows it in the cell that is running, "return" only returns it.

    Raises:
        TypeError: it is neither a trace nor arrays.
        ValueError: the arrays are no weights, of several texts, or of other tokens, or there are too many.
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
    return _done(lines(parts, _at("layer", first, parts[0].layer_numbers), shown), html_action)


def atlas(
    attention: Trace | Sequence[Any] | None = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    display_mode: Literal["dark", "light"] | None = None,
    encoder_attention: Sequence[Any] | None = None,
    decoder_attention: Sequence[Any] | None = None,
    cross_attention: Sequence[Any] | None = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
    html_action: Action = "view",
) -> Shown:
    """Show every head of every layer as a small heatmap; one that is pressed is opened as a table of its weights.

    Args:
        attention: as in :func:`head_view`, and so are the arguments that are not named here.
        tokens: the tokens, one for each position.
        sentence_b_start: the position of the first token of a second sentence.
        prettify_tokens: whether marks of spaces are shown as spaces.
        display_mode: "dark" or "light"; None is as the notebook is.
        encoder_attention: as in :func:`head_view`.
        decoder_attention: as in :func:`head_view`.
        cross_attention: as in :func:`head_view`.
        encoder_tokens: as in :func:`head_view`.
        decoder_tokens: as in :func:`head_view`.
        include_layers: the layers to take; all of them.
        include_heads: the heads to take of each; all of them.
        html_action: "view" shows it in the cell that is running, "return" only returns it.

    Raises:
        TypeError: it is neither a trace nor arrays.
        ValueError: the arrays are no weights, of several texts, or of other tokens, or there are too many.
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
    return _done(tiles(parts, title, display_mode), html_action)


# As BertViz calls it.
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
    """Show one of the nine steps of a head: its formula, its numbers, its code, and how a cell came about.

    Args:
        trace: a run that was recorded.
        name: the step: tokens, embed, qkv, scores, scale, mask, softmax, sum or heads.
        layer: the layer; the one that the app opens.
        head: the head; the one that the app opens.
        word: the position of the token in focus.
        cell: the row and the column of the cell that is opened in the step's main picture.
        html_action: "view" shows it in the cell that is running, "return" only returns it.

    Raises:
        TypeError: it is no trace.
        ValueError: there is no such step, layer, head, token or cell.
    """
    opened = None if cell is None else integers("cell", cell)
    layer, head, word = _numbers(layer=layer, head=head, word=word)
    return _done(one_step(_traced(trace, "step"), name, layer, head, word, opened), html_action)


def neuron(
    trace: Trace,
    layer: int | None = None,
    head: int | None = None,
    word: int | None = None,
    key: int | None = None,
    html_action: Action = "view",
) -> Shown:
    """Show how the query of one token meets every key, number by number.

    Args:
        trace: a run that was recorded.
        layer: the layer; the one that the app opens.
        head: the head; the one that the app opens.
        word: the position of the token that asks.
        key: the position of the token that is asked; the one that gets most.
        html_action: "view" shows it in the cell that is running, "return" only returns it.

    Raises:
        TypeError: it is no trace.
        ValueError: there is no such layer, head or token.
    """
    numbers = _numbers(layer=layer, head=head, word=word, key=key)
    return _done(neurons(_traced(trace, "neuron"), *numbers), html_action)


def compare(
    first: Trace,
    second: Trace,
    layer: int | None = None,
    head: int | None = None,
    html_action: Action = "view",
) -> Shown:
    """Show one head on two texts, or two models on one text: both heatmaps, and their difference word by word.

    Args:
        first: a run that was recorded.
        second: another one, of the same model or of another one.
        layer: the layer; the one that the app opens for each.
        head: the head; the one that the app opens for each.
        html_action: "view" shows it in the cell that is running, "return" only returns it.

    Raises:
        TypeError: one is no trace.
        ValueError: there is no such layer or head.
    """
    runs = _traced(first, "compare"), _traced(second, "compare")
    return _done(compared(*runs, *_numbers(layer=layer, head=head)), html_action)


def figure(
    attention: Trace | Sequence[Any],
    layer: int | None = None,
    head: int | None = None,
    tokens: Sequence[str] | None = None,
    prettify_tokens: bool = True,
) -> go.Figure:
    """Return one head as a Plotly heatmap with its tokens on both axes, to edit, to save or to put beside others.

    Args:
        attention: a trace, of an encoder–decoder also ``trace.part("cross")``; or what a model returned as
            ``outputs.attentions``.
        layer: the layer; the first one, of a trace the one that the app opens.
        head: the head; the first one, of a trace the one that the app opens.
        tokens: the tokens, one for each position; a trace has its own.
        prettify_tokens: whether marks of spaces are shown as spaces.

    Raises:
        TypeError: it is neither a trace nor arrays.
        ValueError: the arrays are no weights, or there is no such layer or head.
    """
    (part, *_), _ = _weights(attention, tokens, None, prettify_tokens, (None,) * 5, None, None)
    if isinstance(attention, Trace):
        layer = attention.info.default_layer if layer is None else layer
        head = attention.info.default_head if head is None else head
    return head_of(part, _at("layer", layer, part.layer_numbers), _at("head", head, part.head_numbers))


def atlas_figure(
    attention: Trace | Sequence[Any],
    tokens: Sequence[str] | None = None,
    prettify_tokens: bool = True,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
) -> go.Figure:
    """Return all heads as one Plotly heatmap: a row for each layer, a column for each head.

    Args:
        attention: as in :func:`figure`.
        tokens: as in :func:`figure`.
        prettify_tokens: as in :func:`figure`.
        include_layers: the layers to take; all of them.
        include_heads: the heads to take of each; all of them.

    Raises:
        TypeError: it is neither a trace nor arrays.
        ValueError: the arrays are no weights, or there is no such layer or head.
    """
    (part, *_), title = _weights(attention, tokens, None, prettify_tokens, (None,) * 5, include_layers, include_heads)
    return atlas_of(part, title or message("Attention weights"))


def of_run(trace: Trace) -> Shown:
    """Return what a trace shows of itself: all its heads or, of a very large one, those of its first layers."""
    parts, title = of_trace(trace), _title(trace)
    n_layers = max(1, min(len(trace.layers), *(len(part.layers) * MOST_BY_ITSELF // part.size for part in parts)))
    parts = tuple(part.only(part.layer_numbers[:n_layers], None) for part in parts)
    kept = "" if n_layers == len(trace.layers) else message("The first {n_layers} layers.", n_layers=n_layers)
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
    """Return the weights of what was given in any of the three ways, and a title."""
    title = ""
    if isinstance(attention, Trace):
        found, title = of_trace(attention), _title(attention)
    elif any(part is not None for part in parts):
        if attention is not None:
            raise ValueError("give either attention, or encoder_attention, decoder_attention and cross_attention")
        found = of_parts(*parts, prettify=prettify)
    else:
        found = (of_arrays(attention, tokens, sentence_b_start=start, prettify=prettify),)
    layers = None if layers is None else integers("include_layers", layers)
    heads = None if heads is None else integers("include_heads", heads)
    found = tuple(part.only(layers, heads) for part in found)
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


def _traced(trace: Any, name: str) -> Trace:
    if not isinstance(trace, Trace):
        raise TypeError(
            f"{name} needs a trace, which has the queries and keys; weights alone have neither, and "
            f"{type(trace).__name__} came. attention.models.load(name).trace(text) records one"
        )
    return trace


def _numbers(**given: Any) -> list[int | None]:
    """Return numbers as plain integers, and None for one that is not given."""
    return [None if number is None else integer(name, number) for name, number in given.items()]


def _at(noun: str, given: int | None, numbers: Sequence[int]) -> int:
    """Return where a layer is among those that are shown."""
    if given is None:
        return 0
    number = integer(noun, given)
    if number not in numbers:
        raise ValueError(f"there is no {noun} {number} here: there are {', '.join(map(str, numbers))}, counted from 0")
    return list(numbers).index(number)


def _done(shown: Shown, action: Action) -> Shown:
    if action not in {"view", "return"}:
        raise ValueError(f'html_action must be "view" or "return", got {action!r}')
    if action == "view":
        shown.show_at_once()
    return shown
