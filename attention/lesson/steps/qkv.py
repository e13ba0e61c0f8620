"""Queries, keys and values: three projections of each token's vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.positions import Rotary
from attention.core.steps import project
from attention.figures import colours
from attention.figures.matrix import Cell
from attention.lesson import latex
from attention.lesson.cell_explanation import Detail, tell_largest
from attention.lesson.code_context import CodeContext, are_close
from attention.lesson.factors import Letter, linear_of, weights_of
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import vectors
from attention.lesson.prose import exact, length, lesson, listed, word
from attention.lesson.quiz import TIE, Guess, words_of, words_seen
from attention.lesson.snippets import MAX_BYTES, MAX_COLUMNS, Values, cut_note, shapes
from attention.lesson.steps.base import Step, StepMatrix
from attention.lesson.steps.embed import entering

_COLOURS = {"Q": colours.QUERY, "K": colours.KEY, "V": colours.VALUE}

# Matrix name → letter of its projection.
_LETTER_OF: Mapping[str, Letter] = MappingProxyType(
    {"queries": "Q", "keys": "K", "values": "V", "projected_queries": "Q", "projected_keys": "K"}
)

_DOES_MORE = message("the model does more than X @ W + b here")

_Linear = tuple[Array, Array | None]  # a weight and its bias


def _formula(scene: HeadContext | None) -> str:
    source = "X" if scene is None else scene.use.source
    opened, closed = ("", "") if scene is None else _enclosing(scene, r"\mathrm{turn}", r"\mathrm{norm}")
    of_q, of_k, of_v = (_product(scene, *each) for each in zip(("X", source, source), "QKV", strict=True))
    # Each equation is a group: a narrow page breaks the line between them.
    return r" \quad\allowbreak ".join(
        (
            f"{{{latex.Q} = {opened}{of_q}{closed}}}",
            f"{{{latex.K} = {opened}{of_k}{closed}}}",
            f"{{{latex.V} = {of_v}}}",
        )
    )


def _enclosing(scene: HeadContext, turn: str, norm: str) -> tuple[str, str]:
    """Return the LaTeX before and after a product that is normalised, rotated by position, or both."""
    layer = scene.attention
    done = [name for name, is_done in ((turn, layer.rotary), (norm, layer.query_norm or layer.key_norm)) if is_done]
    return "".join(f"{name}(" for name in done), ")" * len(done)


def _product(scene: HeadContext | None, source: str, symbol: str) -> str:
    """Return a projection in LaTeX, with its bias if it has one; as a function of its source if unknown."""
    weight, bias, function = (latex.coloured(_COLOURS[symbol], f"{letter}_{symbol}") for letter in "Wbf")
    if scene is not None and scene.attention.projections is None:
        return f"{function}({source})"
    return f"{source}{weight} + {bias}" if scene is not None and scene.has_bias(symbol) else f"{source}{weight}"


def _words(scene: HeadContext) -> str:
    is_known = scene.attention.projections is not None
    text = lesson(
        scene.use.lesson("qkv/words"),
        head=scene.head + 1,
        width=scene.info.d_model,
        d_head=scene.d_head,
        focus=scene.focus_word,
        keys=len(scene.key_tokens),
    )
    text = text if is_known else text + lesson("qkv/unknown")
    return (
        text + _tell_match(scene) + _tell_biases(scene) + _tell_norms(scene) + _tell_rotary(scene) + _tell_groups(scene)
    )


def _tell_match(scene: HeadContext) -> str:
    """Say how queries meet keys, and where the query in focus is strongest."""
    query = scene.steps.queries[scene.word]
    strongest = int(np.abs(query).argmax())
    return lesson("qkv/match", focus=scene.focus_word, strongest=strongest, value=query[strongest])


def _tell_biases(scene: HeadContext) -> str:
    names = [f"b<sub>{symbol}</sub>" for symbol in "QKV" if scene.has_bias(symbol)]
    return lesson("qkv/bias", biases=listed(names)) if names else ""


def _tell_norms(scene: HeadContext) -> str:
    """Say that queries and keys are normalised, if they are, and the norm of the query in focus before and after."""
    norm = scene.attention.query_norm or scene.attention.key_norm
    if norm is None or not _is_recorded(scene):
        return ""
    query = scene.projected[0][scene.word]
    return lesson(
        "qkv/norms",
        norm=message("{norm} over all heads", norm=norm.name) if scene.attention.norm_spans_heads else norm.name,
        focus=scene.focus_word,
        before=length(query),
        after=length(scene.unrotated[0][scene.word]),
    )


def _is_recorded(scene: HeadContext) -> bool:
    layer = scene.attention
    return layer.inputs is not None and layer.sources is not None and layer.projections is not None


def _tell_rotary(scene: HeadContext) -> str:
    turns = scene.attention.rotary
    if turns is None:
        return ""
    angles = _angles(turns, scene.word)
    i = "<em>i</em>"
    first, second = (f"2{i}", f"2{i} + 1") if turns.adjacent else (i, f"{i} + {turns.width // 2}")
    text = lesson(
        "qkv/rotary",
        first=first,
        second=second,
        focus=scene.focus_word,
        position=scene.word,
        fastest=angles[0],
        slowest=exact(float(angles[-1])),
    )
    if turns.width < scene.d_head:
        text += lesson("qkv/rotary-part", turned=turns.width, d_head=scene.d_head)
    # Models extended to longer texts may also scale the rotated numbers.
    factor = float(np.hypot(turns.cosines[0, 0], turns.sines[0, 0]))
    if abs(factor - 1) > TIE / 10:
        text += lesson("qkv/rotary-factor", factor=exact(factor))
    return text


def _angles(turns: Rotary, position: int) -> Float[Array, " half"]:
    """Return the angle of each pair at a position in degrees, whole turns included."""
    # At position 1 each angle is θ; a single token has only position 0.
    thetas = np.arctan2(turns.sines[1], turns.cosines[1]) if len(turns.sines) > 1 else np.zeros(turns.width // 2)
    return np.degrees(position * thetas.astype(np.float64))


def _tell_groups(scene: HeadContext) -> str:
    size, info = scene.info.group_size, scene.info
    if size == 1:
        return ""
    return lesson(
        "qkv/groups",
        n_heads=info.n_heads,
        n_groups=info.n_key_value_heads,
        first=scene.group * size + 1,
        last=(scene.group + 1) * size,
        group=scene.group + 1,
    )


def _exhibits(scene: HeadContext) -> tuple[StepMatrix, ...]:
    steps = scene.steps
    opened, closed = _enclosing(scene, "turn", "norm")
    source = scene.use.source
    of_q, of_k, of_v = (_product_name(scene, *each) for each in zip(("X", source, source), "QKV", strict=True))
    queries = vectors(scene, "queries", f"Q = {opened}{of_q}{closed}", steps.queries, role="query")
    keys = vectors(scene, "keys", f"K = {opened}{of_k}{closed}", steps.keys, role="key", of_keys=True)
    values = vectors(scene, "values", f"V = {of_v}", steps.values, role="value", of_keys=True)
    made = StepMatrix(queries, _explain), StepMatrix(keys, _explain), StepMatrix(values, _explain)
    return (*made, *_unrotated(scene, of_q, of_k)) if opened and _is_recorded(scene) else made


def _product_name(scene: HeadContext, source: str, symbol: str) -> str:
    if scene.attention.projections is None:
        return f"f_{symbol}({source})"
    return f"{source}·W_{symbol}" + (f" + b_{symbol}" if scene.has_bias(symbol) else "")


def _factors(scene: HeadContext) -> Mapping[str, tuple[StepMatrix, ...]]:
    """Return the factors of Q, K and V, each with the product itself; {} if unknown."""
    entered, made = entering(scene), _exhibits(scene)
    if not entered or scene.attention.projections is None:
        return {}
    # Keys and values come from the last input: X, or Z in cross-attention.
    sources: dict[Letter, StepMatrix] = {"Q": entered[0], "K": entered[-1], "V": entered[-1]}
    found: dict[str, tuple[StepMatrix, ...]] = {}
    for letter, source in sources.items():
        result, *turned = (exhibit for exhibit in made if _LETTER_OF[exhibit.matrix.name] == letter)
        weights = weights_of(scene, letter, [each.matrix.name for each in (result, *turned)])
        found[letter] = (source, *(StepMatrix(*each) for each in weights), *turned, result)
    return found


def _unrotated(scene: HeadContext, of_q: str, of_k: str) -> tuple[StepMatrix, ...]:
    projected_queries, projected_keys = scene.projected
    has_norm = scene.attention.query_norm is not None or scene.attention.key_norm is not None
    told_q, told_k = (
        message("{name}, before the norm", name=name) if has_norm else message("{name}, before rotation", name=name)
        for name in (of_q, of_k)
    )
    queries = vectors(scene, "projected_queries", told_q, projected_queries, role="query")
    keys = vectors(scene, "projected_keys", told_k, projected_keys, role="key", of_keys=True)
    return StepMatrix(queries, _explain_projected), StepMatrix(keys, _explain_projected)


def _explain(scene: HeadContext, cell: Cell) -> Detail:
    layer, symbol = scene.attention, cell.matrix[0]
    made = getattr(scene.steps, cell.matrix)
    name = word((scene.names if symbol == "q" else scene.key_names)[cell.row])
    title = lesson(
        "qkv/cell", symbol=_symbol(symbol), word=name, dimension=cell.column, value=made[cell.row, cell.column]
    )
    if layer.inputs is None or layer.projections is None:
        return Detail(title, lesson("qkv/cell-unknown"), (), np.zeros(0), "")
    if _is_sink(scene, cell):
        return Detail(title, lesson("qkv/cell-sink"), (), np.zeros(0), "")
    if symbol == "v" or not layer.is_changed:
        return _products(scene, cell, title, _LETTER_OF[cell.matrix])
    if layer.rotary is not None and cell.column < layer.rotary.width:
        return _explain_rotated(scene, cell, title, layer.rotary)
    if layer.query_norm is not None or layer.key_norm is not None:
        return _explain_normed(scene, cell, title)
    note = lesson("qkv/cell-unturned", turned=scene.d_head if layer.rotary is None else layer.rotary.width)
    detail = _products(scene, cell, title, _LETTER_OF[cell.matrix])
    return replace(detail, note=note + detail.note)


def _symbol(letter: str) -> str:
    return f'<b class="{letter}">{letter}</b>'


def _explain_normed(scene: HeadContext, cell: Cell, title: str) -> Detail:
    """Explain a number of a normalised query or key that is not rotated."""
    vector = scene.projected["qk".index(cell.matrix[0])][cell.row]
    before = float(vector[cell.column])
    after = float(getattr(scene.steps, cell.matrix)[cell.row, cell.column])
    note = lesson("qkv/cell-normed", before=exact(before), length=length(vector), value=exact(after))
    return Detail(title, note, (message("before"), message("after")), np.array([before, after]), message("the norm"))


def _is_sink(scene: HeadContext, cell: Cell) -> bool:
    """Return whether a cell is the attention sink's, whose row comes last."""
    return scene.has_sink and cell.row == len(scene.tokens)


def _explain_projected(scene: HeadContext, cell: Cell) -> Detail:
    symbol = cell.matrix.removeprefix("projected_")[0]
    projected = scene.projected["qk".index(symbol)]
    title = lesson(
        "qkv/cell-projected",
        symbol=_symbol(symbol),
        word=word((scene.names if symbol == "q" else scene.key_names)[cell.row]),
        dimension=cell.column,
        value=projected[cell.row, cell.column],
    )
    if _is_sink(scene, cell):
        return Detail(title, lesson("qkv/cell-sink"), (), np.zeros(0), "")
    return _products(scene, cell, title, _LETTER_OF[cell.matrix])


def _explain_rotated(scene: HeadContext, cell: Cell, title: str, turns: Rotary) -> Detail:
    """Explain a number of a query or key by the pair of numbers that was rotated."""
    of_queries = cell.matrix[0] == "q"
    vector, pair = scene.unrotated[0 if of_queries else 1][cell.row], turns.pair_of(cell.column)
    first, second = turns.pair(pair)
    cosine, sine = float(turns.cosines[cell.row, pair]), float(turns.sines[cell.row, pair])
    x, y = float(vector[first]), float(vector[second])
    is_first = cell.column == first
    own, other = (x * cosine, -y * sine) if is_first else (y * cosine, x * sine)
    note = lesson(
        "qkv/cell-turned",
        first=first,
        second=second,
        position=cell.row,
        angle=exact(float(_angles(turns, cell.row)[pair]), 2),
        x=exact(x),
        y=exact(y),
        own=exact(own),
        sign="−" if other < 0 else "+",
        other=exact(abs(other)),
        value=exact(own + other),
    )
    labels = (f"{cell.column} × cos", f"{second if is_first else first} × sin")
    return Detail(title, note, labels, np.array([own, other]), message("the two parts of the rotated number"))


def _products(scene: HeadContext, cell: Cell, title: str, letter: Letter) -> Detail:
    """Explain a number by the products of the token's vector with a column of weights."""
    linear = linear_of(scene, letter)
    assert linear is not None
    products = linear.inputs[cell.row] * linear.weight[:, cell.column]
    total = float(products.sum())
    if linear.bias is None:
        note = lesson("qkv/cell-products", count=products.size, sum=exact(total))
    else:
        offset = float(linear.bias[cell.column])
        note = lesson(
            "qkv/cell-products-bias",
            count=products.size,
            sum=exact(total),
            bias=exact(offset),
            total=exact(total + offset),
        )
    note += tell_largest(products, scene.dimension_names)
    source = "x" if letter == "Q" else scene.use.source.lower()
    axis = message("{product}, by product", product=f"{source} × W_{letter}")
    return Detail(title, note, scene.dimension_names, products, axis)


def _code(excerpt: CodeContext) -> str:
    scene = excerpt.scene
    X, Z = scene.attention.inputs, scene.attention.sources
    if X is None or Z is None or scene.attention.projections is None:
        return _recorded(excerpt, message("how the model computed them is unknown"))
    turns = scene.attention.rotary
    has_norm = scene.attention.query_norm is not None or scene.attention.key_norm is not None
    if has_norm or scene.has_sink or (turns is not None and (turns.adjacent or turns.width < scene.d_head)):
        return _recorded(excerpt, _DOES_MORE)
    return _projection_code(excerpt, X, Z)


def _recorded(excerpt: CodeContext, reason: str) -> str:
    """Return code that holds the results as recorded, and the reason why it does not compute them."""
    title = message("Q, K and V, {place}, as recorded: {reason}.", place=excerpt.place, reason=reason)
    steps = excerpt.scene.steps
    return excerpt.recorded(title, Q=steps.queries, K=steps.keys, V=steps.values)


def _projection_code(excerpt: CodeContext, X: Array, Z: Array) -> str:
    """Return the code for queries, keys and values that are products, perhaps rotated."""
    scene, steps = excerpt.scene, excerpt.scene.steps
    parts, is_continued = _head_projections(scene), excerpt.continued is not None
    turns = scene.attention.rotary
    if turns is not None and not is_continued:
        return _rotary_code(excerpt, X, parts, turns)
    if not _is_explained(scene, (X, Z, Z), parts):
        return _recorded(excerpt, _DOES_MORE)

    rows = excerpt.rows(X)
    if is_continued and excerpt.rows(X, Z) != slice(None):
        return _recorded(excerpt, message("their inputs are too large to keep here"))
    if turns is not None:
        return _rotary_code(excerpt, X, parts, turns)
    (W_Q, b_Q), (W_K, b_K), (W_V, b_V) = parts
    columns = excerpt.columns(W_Q)
    # A large model's three matrices are too long to paste; the first one stands for all.
    n_bytes = W_Q.nbytes + W_K.nbytes + W_V.nbytes + (Z.nbytes if Z is not X else 0)
    has_all = is_continued or n_bytes <= MAX_BYTES
    source = "X" if Z is X else "Z"
    return excerpt.fill(
        "qkv",
        {
            **excerpt.write(Z=Z if has_all and Z is not X else None),
            "source": source,
            "source_shape": repr((X[rows] if Z is X else Z).shape),
            **excerpt.write(X=X[rows], W_Q=W_Q[:, columns], W_K=W_K if has_all else None, W_V=W_V if has_all else None),
            **shapes(
                Q=steps.queries[rows, columns],
                K=steps.keys[rows] if Z is X else steps.keys,
                V=steps.values[rows] if Z is X else steps.values,
            ),
            **excerpt.write_bias("b_Q", None if b_Q is None else b_Q[columns]),
            **(excerpt.write_bias("b_K", b_K) if has_all else {"b_K": None}),
            **(excerpt.write_bias("b_V", b_V) if has_all else {"b_V": None}),
            "also": None if has_all else _keys_and_values_note(source, (b_K, b_V)),
            "cut_columns": cut_note(columns, W_Q.shape[1], "columns of W_Q"),
            **excerpt.vector(steps.queries[:, columns], rows),
        },
    )


def _keys_and_values_note(source: str, biases: tuple[Array | None, Array | None]) -> str:
    how = "with weights of their own" if source == "X" else "of the encoder's output Z"
    of_k, of_v = (
        f"{symbol} = {source} @ W_{symbol}" + ("" if bias is None else f" + b_{symbol}")
        for symbol, bias in zip("KV", biases, strict=True)
    )
    return f"In the same way, {how}: {of_k}, {of_v}"


def _rotary_code(excerpt: CodeContext, X: Array, parts: tuple[_Linear, _Linear, _Linear], turns: Rotary) -> str:
    """Return the code for queries rotated by position, with whole pairs of columns."""
    (W_Q, b_Q), (W_K, b_K), (W_V, b_V) = parts
    half, is_whole = W_Q.shape[1] // 2, excerpt.continued is not None
    norm = excerpt.scene.attention.norm
    n_pairs = half if is_whole or W_Q.nbytes <= MAX_BYTES else MAX_COLUMNS // 2
    plus = {name: "" if bias is None else f" + {name}" for name, bias in (("b_Q", b_Q), ("b_K", b_K), ("b_V", b_V))}
    columns = np.r_[:n_pairs, half : half + n_pairs]
    rows = excerpt.rows(X)
    note = f"Here only the first {n_pairs} of the {half} pairs of columns of W_Q: all are too many to paste."
    return excerpt.fill(
        "turned",
        {
            **excerpt.write(
                X=X[rows],
                W_Q=W_Q[:, columns],
                turns=np.stack([turns.cosines[rows, :n_pairs], turns.sines[rows, :n_pairs]]),
                b_Q=None if b_Q is None else b_Q[columns],
            ),
            **_keys_and_values(excerpt, (W_K, b_K), (W_V, b_V), is_whole=is_whole),
            **{f"plus_{name}": each for name, each in plus.items()},
            "what": "Queries, keys and values" if is_whole else "Queries",
            "how": _rotary_note(plus["b_Q"], is_whole=is_whole),
            "also": (
                "In the same way the keys:"
                if is_whole
                else f"In the same way: K, with W_K{plus['b_K'].replace(' +', ' and')}. "
                f"V = X @ W_V{plus['b_V']} is not turned."
            ),
            **shapes(Q=excerpt.scene.steps.queries[rows][:, columns]),
            "after_norm": "" if norm is None else f", after {norm.name}",
            "half": str(half),
            "n_pairs": str(n_pairs),
            "cut_columns": None if n_pairs == half else note,
            **excerpt.vector(excerpt.scene.steps.queries[:, columns], rows),
        },
    )


def _rotary_note(plus_b_Q: str, *, is_whole: bool) -> str:
    if is_whole:
        return "times three matrices; queries and keys are then turned by their positions."
    return f"times W_Q{plus_b_Q}, then turned by its position."


def _keys_and_values(excerpt: CodeContext, key: _Linear, value: _Linear, *, is_whole: bool) -> Values:
    """Return the code for keys and values; None for each if only the queries are shown."""
    steps = excerpt.scene.steps
    arrays = {"W_K": key[0], "b_K": key[1], "W_V": value[0], "b_V": value[1]}
    made = {"K": steps.keys, "V": steps.values, "K_half": steps.keys[:, : steps.keys.shape[1] // 2]}
    return {
        **excerpt.write(**{name: array if is_whole else None for name, array in arrays.items()}),
        **shapes(**{name: array if is_whole else None for name, array in made.items()}),
    }


def _head_projections(scene: HeadContext) -> tuple[_Linear, _Linear, _Linear]:
    query, key, value = (linear_of(scene, letter) for letter in ("Q", "K", "V"))
    assert query is not None
    assert key is not None
    assert value is not None
    return (query.weight, query.bias), (key.weight, key.bias), (value.weight, value.bias)


def _is_explained(
    scene: HeadContext, inputs: tuple[Array, Array, Array], parts: tuple[_Linear, _Linear, _Linear]
) -> bool:
    """Return whether X W + b, rotated where the model does that, gives the recorded Q, K and V."""
    recorded = (scene.steps.queries, scene.steps.keys, scene.steps.values)
    queries, keys, values = (project(source, *linear) for source, linear in zip(inputs, parts, strict=True))
    made = (scene.attention.turned(queries), scene.attention.turned(keys), values)
    return all(are_close(ours, wanted) for ours, wanted in zip(made, recorded, strict=True))


def _shapes(scene: HeadContext) -> str:
    T, K, M = len(scene.tokens), len(scene.key_tokens), scene.info.d_model
    D, Dv = scene.d_head, scene.steps.values.shape[-1]
    b_Q = f" + b_Q ({D})" if scene.has_bias("Q") else ""
    by_weights = "" if scene.attention.projections is None else f" · W_Q ({M}×{D}){b_Q}"
    made = {
        "query": f"X ({T}×{M}){by_weights} → Q ({T}×{D})",
        "key": f"K ({K}×{D})",
        "value": f"V ({K}×{Dv})",
    }
    if not scene.use.looks_elsewhere:
        return message("{query}; {key} and {value} likewise", **made)
    return message("{query}; {key} and {value} likewise, from {source}", **made, source=f"Z ({K}×{M})")


def _guess(scene: HeadContext) -> Guess | None:
    """Ask whether one key matches the query in focus better than another: the two nearest other words."""
    others = sorted(set(words_seen(scene)) - {scene.own_key}, key=lambda key: (abs(key - scene.word), key))
    if len(others) < 2:
        return None
    one, other = sorted(others[:2])
    scores = scene.steps.scores[scene.word, [one, other]]
    names = {
        "focus": scene.focus_word,
        "one": scene.key_word(one),
        "other": scene.key_word(other),
    }
    difference = float(scores[0] - scores[1])
    right = 2 if abs(difference) <= TIE else 0 if difference > 0 else 1
    because = lesson("guess/qkv-because", **names, one_score=scores[0], other_score=scores[1])
    answers = (message("better"), message("worse"), message("equally well"))
    return Guess(lesson("guess/qkv", **names), answers, because, frozenset({right}))


def _whys(scene: HeadContext) -> str:
    """Say what a shared matrix for queries and keys would do to the scores of two words; empty in cross-attention."""
    if scene.own_key is None:
        return ""
    queries, scores, focus = scene.steps.queries, scene.steps.scores, scene.word
    others = [position for position in words_of(scene.tokens) if position != focus]
    if not others:
        return ""
    other = max(others, key=lambda position: abs(float(scores[focus, position] - scores[position, focus])))
    return lesson(
        "qkv/why-three",
        focus=scene.query_word(focus),
        other=scene.query_word(other),
        same=queries[focus] @ queries[other],
        forth=scores[focus, other],
        back=scores[other, focus],
    )


STEP = Step(
    key="qkv",
    name="Q · K · V",
    title=message("Make queries, keys and values"),
    formula=_formula,
    words=_words,
    guess=_guess,
    why=message("Why three vectors?"),
    whys=_whys,
    exhibits=_exhibits,
    factors=_factors,
    code=_code,
    shapes=_shapes,
    is_side_by_side=True,
    extras=frozenset({"savings"}),
    questions=("rows", "shape", "symmetric", "turned", "cost"),
)
