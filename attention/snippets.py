"""The code of each step, in NumPy and in PyTorch, with the numbers of the page in it, so that it runs if pasted.

What a learner reads is in ``assets/code``, one template per step and library. Here the templates are
filled: with the arrays that the step takes in, and with the numbers that come out, as a comment.

No number is made up. Where an array is too large to paste, the code takes a part of it and says so:
the focus word's row, the first columns of a matrix, or the first keys.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Literal, get_args

import numpy as np
from numpy import ndarray as Array

from attention.steps import HeadSteps, output_projection, project
from attention.trace import LayerTrace, Projections, Rotary, Trace

__all__ = ["STEPS", "Library", "Step", "snippet"]

Library = Literal["numpy", "pytorch"]
Step = Literal["tokens", "embed", "qkv", "scores", "scale", "mask", "softmax", "sum", "heads"]
LIBRARIES: tuple[Library, ...] = get_args(Library)
STEPS: tuple[Step, ...] = get_args(Step)

TEMPLATES = Path(__file__).parents[1] / "assets" / "code"
IMPORTS: Mapping[Library, str] = {"numpy": "import numpy as np\n", "pytorch": "import torch\n"}

MAX_LITERAL = 64  # numbers, and at most this many rows, that are written out for people to read:
MAX_LITERAL_ROWS = 8
MAX_BYTES = 64 * 1024  # of one array, before it is packed
MAX_COLUMNS = 16  # of a matrix that is too large to paste as a whole
N_SHOWN = 4  # the first numbers of a vector, printed at the end
MAX_LABEL = 24  # characters of a token in a comment

# What goes into a template. A line with a placeholder whose value is None is left out.
Values = dict[str, str | None]
Linear = tuple[Array, Array | None]  # a weight and its bias


def snippet(
    step: str, library: Library, trace: Trace, layer: int, head: int, word: int, column: int | None = None
) -> str:
    """Return the code of one step that computes the page's numbers, and prints those of the focus word.

    Args:
        step: one of ``STEPS``.
        library: "numpy" or "pytorch".
        trace: where the numbers come from.
        layer: counted from 0.
        head: counted from 0.
        word: position of the token in focus, counted from 0.
        column: of the cell to print, where the step makes a matrix of scores or weights; None is the highest.

    Raises:
        ValueError: there is no such step or library.
        IndexError: there is no such layer, head or token.
    """
    if step not in _WRITERS:
        raise ValueError(f"step must be one of {', '.join(STEPS)}, got {step!r}")
    if library not in LIBRARIES:
        raise ValueError(f"library must be one of {', '.join(LIBRARIES)}, got {library!r}")
    for name, index, size in (("layer", layer, len(trace.layers)), ("token", word, len(trace.tokens))):
        if not 0 <= index < size:
            raise IndexError(f"{name} must be between 0 and {size - 1}, got {index}")
    view = _View(library, trace, trace.layers[layer], trace.layers[layer].head(head), layer, head, word, column)
    template, values = _WRITERS[step](view)
    return _fill(template, library, {"place": view.place, **values})


# --------------------------------------------------------------------------------------- the steps


@dataclass(frozen=True, slots=True)
class _View:
    """What is being looked at."""

    library: Library
    trace: Trace
    layer_trace: LayerTrace
    steps: HeadSteps  # of this head
    layer: int
    head: int
    word: int
    column: int | None

    @property
    def place(self) -> str:
        """Name layer and head as the page does, counted from 1."""
        return f"layer {self.layer + 1}, head {self.head + 1}"

    def rows(self, *arrays: Array | None) -> slice:
        """Return all rows, or only that of the focus word if one of the arrays is too large to paste."""
        is_large = any(array is not None and array.nbytes > MAX_BYTES for array in arrays)
        return slice(self.word, self.word + 1) if is_large else slice(None)

    def label(self, position: int, *, is_key: bool = False) -> str:
        """Name a token, safely inside a comment."""
        text = (self.trace.key_tokens if is_key else self.trace.tokens)[position].text
        return repr(text if len(text) <= MAX_LABEL else f"{text[:MAX_LABEL]}…")

    def write(self, **arrays: Array | None) -> Values:
        """Write each array as code, and its shape under the name ``…_shape``; None stays None."""
        code = {name: None if array is None else _code(array, self.library) for name, array in arrays.items()}
        return {**code, **_shapes(**arrays)}

    def focus(self, rows: slice) -> Values:
        """Return where the focus word's row is among these rows, and say so if it is alone."""
        if rows == slice(None):
            return {"row": str(self.word), "cut": None}
        return {"row": "0", "cut": f"Here only the row of {self.label(self.word)}: all rows are too many to paste."}

    def cell(self, matrix: Array, rows: slice) -> Values:
        """Choose the cell to print: the chosen one, or the highest of the focus word's row."""
        column = self.column
        if column is None or column >= matrix.shape[1]:
            column = int(matrix[self.word].argmax())
        answer = f"{matrix[self.word, column]:.2f}, {self.label(self.word)} · {self.label(column, is_key=True)}"
        return {**self.focus(rows), "column": str(column), "answer": answer}

    def vector(self, matrix: Array, rows: slice) -> Values:
        """Choose the numbers to print: the first of the focus word's vector."""
        answer = f"{_numbers(matrix[self.word])}, the first of {self.label(self.word)}"
        return {**self.focus(rows), "n_shown": str(N_SHOWN), "answer": answer}


def _tokens(view: _View) -> tuple[str, Values]:
    tokens = view.trace.tokens
    ids = np.array([token.token_id for token in tokens])
    focus = tokens[view.word]
    pieces = [token.text for token in tokens if token.word == focus.word]
    return "tokens", {
        "tokens": repr([token.text for token in tokens]),
        "words": repr([token.word for token in tokens]),
        "ids": repr(ids.tolist()),
        "vocabulary": "each token's number in the vocabulary" + ("; -1: it has none" if ids.min() < 0 else ""),
        "row": str(view.word),
        "answer": f"{focus.text!r} {focus.token_id} {None if focus.word is None else pieces}",
        **_shapes(ids=ids),
    }


def _embed(view: _View) -> tuple[str, Values]:
    parts, inputs = view.trace.embeddings, view.layer_trace.inputs
    if view.layer and inputs is not None:
        norm = view.layer_trace.norm
        after = "" if norm is None else f", after {norm.name}"
        title = f"What enters layer {view.layer + 1} is what came out of layer {view.layer}{after}."
        return _recorded(view, title, X=inputs)
    if parts is None:
        return _recorded(view, "Embeddings, as the model had them: their parts are not known.", X=inputs)

    rows = view.rows(parts.words)
    E, ids = _as_lookup(parts.words[rows])
    S, segment_ids = (None, None) if parts.segments is None else _as_lookup(parts.segments[rows])
    X = sum((part for part in (parts.positions, parts.segments) if part is not None), start=parts.words)
    return "embed", {
        **view.write(E=E, P=None if parts.positions is None else parts.positions[rows], S=S),
        **_shapes(X=X[rows], ids=ids, S_rows=None if S is None else X[rows]),
        "ids": repr(ids.tolist()),
        "segment_ids": None if segment_ids is None else repr(segment_ids.tolist()),
        "after": _what_follows(view, X),
        **view.vector(X, rows),
    }


def _what_follows(view: _View, X: Array) -> str | None:
    """Say what the model does to the sum before its first layer, if it does anything."""
    inputs, parts = view.layer_trace.inputs, view.trace.embeddings
    if inputs is None or _are_close(X, inputs):
        return None
    norm = view.layer_trace.norm or (None if parts is None else parts.norm)
    name = "a further step" if norm is None else norm.name
    return f"Then {name} makes the input of layer 1 of it: {_numbers(inputs[view.word])} for {view.label(view.word)}."


def _also(source: str, biases: tuple[Array | None, Array | None]) -> str:
    """Say how keys and values are made, where their matrices are too much text."""
    how = "with weights of their own" if source == "X" else "of the encoder's output Z"
    of_k, of_v = (
        f"{symbol} = {source} @ W_{symbol}" + ("" if bias is None else f" + b_{symbol}")
        for symbol, bias in zip("KV", biases, strict=True)
    )
    return f"In the same way, {how}: {of_k}, {of_v}"


def _qkv(view: _View) -> tuple[str, Values]:
    X, Z, steps = view.layer_trace.inputs, view.layer_trace.sources, view.steps
    if X is None or Z is None or view.layer_trace.projections is None:
        title = f"Queries, keys and values, {view.place}, as the model had them: how it made them was not recorded."
        return _recorded(view, title, Q=steps.queries, K=steps.keys, V=steps.values)
    parts = _head_projections(view, view.layer_trace.projections)
    if view.layer_trace.rotary is not None:
        return _turned(view, X, parts, view.layer_trace.rotary)
    if not _explain(view, (X, Z, Z), parts):
        title = f"Queries, keys and values, {view.place}, as the model had them: it does more than X @ W + b here."
        return _recorded(view, title, Q=steps.queries, K=steps.keys, V=steps.values)

    rows = view.rows(X)
    (W_Q, b_Q), (W_K, b_K), (W_V, b_V) = parts
    columns = _columns_to_paste(W_Q)
    # The three matrices of a large model are too much text; the first shows how it is done.
    has_all = W_Q.nbytes + W_K.nbytes + W_V.nbytes + (Z.nbytes if Z is not X else 0) <= MAX_BYTES
    source = "X" if Z is X else "Z"
    return "qkv", {
        **view.write(Z=Z if has_all and Z is not X else None),
        "source": source,
        "source_shape": repr((X[rows] if Z is X else Z).shape),
        **view.write(X=X[rows], W_Q=W_Q[:, columns], W_K=W_K if has_all else None, W_V=W_V if has_all else None),
        **_shapes(
            Q=steps.queries[rows, columns],
            K=steps.keys[rows] if Z is X else steps.keys,
            V=steps.values[rows] if Z is X else steps.values,
        ),
        "b_Q": _bias(b_Q, columns, view.library),
        "b_K": _bias(b_K, slice(None), view.library) if has_all else None,
        "b_V": _bias(b_V, slice(None), view.library) if has_all else None,
        "also": None if has_all else _also(source, (b_K, b_V)),
        "cut_columns": _cut_note(columns, W_Q.shape[1], "columns of W_Q"),
        **view.vector(steps.queries[:, columns], rows),
    }


def _turned(view: _View, X: Array, parts: tuple[Linear, Linear, Linear], turns: Rotary) -> tuple[str, Values]:
    """Give the code of queries that are turned by their positions: of each pair of columns both, or none."""
    (W_Q, b_Q), (_, b_K), (_, b_V) = parts
    half = W_Q.shape[1] // 2
    n_pairs = half if W_Q.nbytes <= MAX_BYTES else MAX_COLUMNS // 2
    columns = np.r_[:n_pairs, half : half + n_pairs]
    rows = view.rows(X)
    note = f"Here only the first {n_pairs} of the {half} pairs of columns of W_Q: all are too many to paste."
    return "turned", {
        **view.write(
            X=X[rows],
            W_Q=W_Q[:, columns],
            turns=np.stack([turns.cosines[rows, :n_pairs], turns.sines[rows, :n_pairs]]),
            b_Q=None if b_Q is None else b_Q[columns],
        ),
        "plus_b_Q": "" if b_Q is None else " + b_Q",
        "and_b_K": "" if b_K is None else " and b_K",
        "plus_b_V": "" if b_V is None else " + b_V",
        **_shapes(Q=view.steps.queries[rows][:, columns]),
        "half": str(half),
        "n_pairs": str(n_pairs),
        "cut_columns": None if n_pairs == half else note,
        **view.vector(view.steps.queries[:, columns], rows),
    }


def _scores(view: _View) -> tuple[str, Values]:
    steps = view.steps
    keys = _leading(steps.keys.shape[0], steps.keys[0].nbytes)
    K, scores = steps.keys[keys], steps.scores[:, keys]
    rows = view.rows(steps.queries, steps.scores)
    bias = view.layer_trace.bias
    return "scores", {
        **view.write(Q=steps.queries[rows], K=K, B=None if bias is None else bias[view.head, rows, keys]),
        **_shapes(K_T=K.T, scores=scores[rows]),
        "cut_keys": _cut_note(keys, steps.keys.shape[0], "keys"),
        **view.cell(scores, rows),
    }


def _scale(view: _View) -> tuple[str, Values]:
    steps, d_k, scale = view.steps, view.steps.queries.shape[-1], view.layer_trace.scale
    rows = view.rows(steps.scores)
    is_usual = view.layer_trace.has_usual_scale
    return "scale", {
        **view.write(scores=steps.scores[rows]),
        "d_k": str(d_k) if is_usual else None,
        "scale": f"1 / d_k**0.5  # 1 / √{d_k} = {scale:.4f}" if is_usual else f"{scale!r}  # this model's own",
        **view.cell(steps.scaled_scores, rows),
    }


def _mask(view: _View) -> tuple[str, Values]:
    steps = view.steps
    rows = view.rows(steps.scores)
    mask = steps.mask[rows]
    return "mask", {
        **view.write(scaled_scores=steps.scaled_scores[rows]),
        **_shapes(scores=mask),
        **_mask_values(mask, view.library),
        **view.cell(steps.masked_scores, rows),
    }


def _softmax(view: _View) -> tuple[str, Values]:
    steps = view.steps
    rows = view.rows(steps.scores)
    scores = steps.masked_scores[rows]
    is_guarded = bool(np.isneginf(scores).all(axis=-1).any())
    return "softmax", {
        **view.write(masked_scores=scores),
        **_shapes(scores=scores, column=scores[:, :1]),
        "zeros": ", 0 where a key is masked," if np.isneginf(scores).any() else "",
        "all_masked": "a row of nothing but -inf gives weights of 0, not nan" if is_guarded else None,
        **view.cell(steps.weights, rows),
    }


def _sum(view: _View) -> tuple[str, Values]:
    steps = view.steps
    columns = _columns_to_paste(steps.values)
    rows = view.rows(steps.weights)
    return "sum", {
        **view.write(weights=steps.weights[rows], V=steps.values[:, columns]),
        **_shapes(output=steps.head_outputs[rows, columns]),
        "cut_columns": _cut_note(columns, steps.values.shape[1], "columns of V"),
        **view.vector(steps.head_outputs[:, columns], rows),
    }


def _heads(view: _View) -> tuple[str, Values]:
    layer, parts = view.layer_trace, view.layer_trace.projections
    joined = layer.joined()
    n_heads = layer.queries.shape[0]
    rows = view.rows(joined)
    head_outputs = joined[rows].reshape(-1, n_heads, joined.shape[1] // n_heads).swapaxes(0, 1)
    values = {"place": f"layer {view.layer + 1}", **_shapes(joined=joined[rows])}
    if parts is None:
        note = "Here the code stops at the joined heads: the W_O of this model is not known."
        unknown = view.write(head_outputs=head_outputs, W_O=None, b_O=None, delta=None)
        return "heads", {
            **values,
            **unknown,
            "result": "joined",
            "cut_columns": note,
            **view.vector(joined, rows),
        }

    columns = _columns_to_paste(parts.W_O)
    delta = output_projection(joined, parts.W_O, parts.b_O)[:, columns]
    return "heads", {
        **values,
        **view.write(head_outputs=head_outputs, W_O=parts.W_O[:, columns]),
        **_shapes(delta=delta[rows]),
        "b_O": _bias(parts.b_O, columns, view.library),
        "result": "delta",
        "cut_columns": _cut_note(columns, parts.W_O.shape[1], "columns of W_O"),
        **view.vector(delta, rows),
    }


def _recorded(view: _View, title: str, **arrays: Array | None) -> tuple[str, Values]:
    """Give the arrays themselves where the code that makes them cannot be shown."""
    known = {name: array for name, array in arrays.items() if array is not None}
    rows = view.rows(*known.values())
    values = view.write(**{name: known[name][rows] if name in known else None for name in "XQKV"})
    if not known:
        nothing: Values = dict.fromkeys(("row", "n_shown", "answer", "result", "cut"))
        return "recorded", {**values, **nothing, "title": "The vectors that enter this layer were not recorded."}
    name, array = next(iter(known.items()))
    return "recorded", {"title": title, "result": name, **values, **view.vector(array, rows)}


_WRITERS: Mapping[str, Callable[[_View], tuple[str, Values]]] = {
    "tokens": _tokens,
    "embed": _embed,
    "qkv": _qkv,
    "scores": _scores,
    "scale": _scale,
    "mask": _mask,
    "softmax": _softmax,
    "sum": _sum,
    "heads": _heads,
}

# ------------------------------------------------------------------------------- parts of the steps


def _as_lookup(vectors: Array) -> tuple[Array, Array]:
    """Undo a look-up: return the different rows, in order of appearance, and which of them each row is."""
    numbers: dict[bytes, int] = {}
    ids = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in vectors])
    firsts = [int(np.argmax(ids == number)) for number in range(len(numbers))]
    return vectors[firsts], ids


def _head_projections(view: _View, parts: Projections) -> tuple[Linear, Linear, Linear]:
    """Return this head's columns of W_Q, W_K and W_V, with their biases."""
    layer, steps = view.layer_trace, view.steps
    group = view.head // (layer.queries.shape[0] // layer.keys.shape[0])
    return (
        _columns_of_head(parts.W_Q, parts.b_Q, view.head, steps.queries.shape[1]),
        _columns_of_head(parts.W_K, parts.b_K, group, steps.keys.shape[1]),
        _columns_of_head(parts.W_V, parts.b_V, group, steps.values.shape[1]),
    )


def _columns_of_head(W: Array, b: Array | None, head: int, width: int) -> Linear:
    columns = slice(head * width, (head + 1) * width)
    return W[:, columns], None if b is None else b[columns]


def _explain(view: _View, inputs: tuple[Array, Array, Array], parts: tuple[Linear, Linear, Linear]) -> bool:
    """Tell whether X W + b gives the recorded Q, K and V; some models also turn them by their position."""
    recorded = (view.steps.queries, view.steps.keys, view.steps.values)
    return all(
        _are_close(project(vectors, *linear), wanted)
        for vectors, linear, wanted in zip(inputs, parts, recorded, strict=True)
    )


def _are_close(ours: Array, wanted: Array) -> bool:
    return ours.shape == wanted.shape and bool(np.allclose(ours, wanted, rtol=1e-4, atol=1e-4))


def _mask_values(mask: Array, library: Library) -> Values:
    """Choose the line that makes the mask: by its rule where it has one, else by its numbers."""
    values: Values = dict.fromkeys(("zeros_shape", "first_hidden", "n_hidden", "causal_shape", "mask"))
    n_keys = mask.shape[1]
    n_hidden = int(np.isneginf(mask[0]).sum())
    first_hidden = n_keys - n_hidden
    if np.array_equal(mask, np.zeros_like(mask)):
        return values | {"zeros_shape": repr(mask.shape)}
    if np.array_equal(mask, np.broadcast_to(np.where(np.arange(n_keys) < first_hidden, 0, -np.inf), mask.shape)):
        hidden: Values = {"first_hidden": str(first_hidden), "n_hidden": str(n_hidden)}
        return values | {"zeros_shape": repr(mask.shape)} | hidden
    if np.array_equal(mask, np.triu(np.full(mask.shape, -np.inf), k=1)):
        return values | {"causal_shape": repr(mask.shape)}
    return values | {"mask": _code(mask, library)}


def _leading(count: int, nbytes_each: int, at_most: int | None = None) -> slice:
    """Return all of ``count`` things, or as many of the first as can be pasted."""
    fitting = MAX_BYTES // nbytes_each
    return slice(count) if count <= fitting else slice(max(1, min(fitting, at_most or fitting)))


def _columns_to_paste(matrix: Array) -> slice:
    return _leading(matrix.shape[1], matrix.shape[0] * matrix.itemsize, MAX_COLUMNS)


def _cut_note(part: slice, count: int, things: str) -> str | None:
    if part.stop == count:
        return None
    return f"Here only the first {part.stop} of the {count} {things}: all are too many to paste."


def _bias(bias: Array | None, columns: slice, library: Library) -> str:
    return "0  # there is none" if bias is None else _code(bias[columns], library)


# ---------------------------------------------------------------------------------- numbers as code


def _shapes(**arrays: Array | None) -> Values:
    return {f"{name}_shape": None if array is None else repr(array.shape) for name, array in arrays.items()}


def _code(array: Array, library: Library) -> str:
    """Write an array as an expression: its numbers where they are few, else packed."""
    is_small = array.size <= MAX_LITERAL and (array.ndim == 1 or (array.ndim == 2 and len(array) <= MAX_LITERAL_ROWS))
    if not is_small:
        text = b64encode(np.ascontiguousarray(array, "<f4").tobytes()).decode()
        return f'unpack({array.shape}, "{text}")'
    rows = _list(array, library) if array.ndim == 1 else _lines(_list(row, library) for row in array)
    return f"np.array({rows}, dtype=np.float32)" if library == "numpy" else f"torch.tensor({rows})"


def _numbers(vector: Array) -> str:
    return " ".join(f"{value:.2f}" for value in vector[:N_SHOWN])


def _lines(rows: Iterable[str]) -> str:
    return "[\n" + "".join(f"    {row},\n" for row in rows) + "]"


def _list(numbers: Array, library: Library) -> str:
    minus_infinity = "-np.inf" if library == "numpy" else "-torch.inf"
    # str of a float32 is the shortest decimal that reads back as the same float32.
    return "[" + ", ".join(minus_infinity if np.isneginf(x) else str(x) for x in numbers.astype(np.float32)) + "]"


def _fill(name: str, library: Library, values: Values) -> str:
    """Fill a template; leave out the lines that have no value, and the helper if nothing is packed."""
    lines = [line for line in _read(name, library).splitlines() if not _has_no_value(line, values)]
    code = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"
    if any(value is not None and value.startswith("unpack(") for value in values.values()):
        code = code.replace(IMPORTS[library], _read("unpack", library), 1)
    return Template(code).substitute({key: value for key, value in values.items() if value is not None})


def _has_no_value(line: str, values: Values) -> bool:
    return any(values[name] is None for name in Template(line).get_identifiers())


@cache
def _read(name: str, library: Library) -> str:
    return (TEMPLATES / f"{name}.{library}.py.txt").read_text(encoding="utf-8")
