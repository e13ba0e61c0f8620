"""What holds at every step: no invented number, every cell explained by its inputs, no typed text interpreted."""

import html
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from attention.core import steps
from attention.core.masks import MASK_NAMES
from attention.core.trace import PARTS, Embeddings, LayerTrace, ModelInfo, Projections, Token, Trace
from attention.figures.matrix import Cell
from attention.lesson.head_context import HeadContext
from attention.lesson.heads import head_thumbs
from attention.lesson.neuron import value_picture
from attention.lesson.prose import word
from attention.lesson.savings import shared, shared_pictures
from attention.lesson.steps import STEPS, keys, step_of
from attention.lesson.survey import Look, head_matrix
from attention.lesson.tables import matrix_table
from tests.sweep import sweep
from tests.unit.lesson.telling import (
    MASKED_PLACES,
    TEXT,
    TOY,
    anything,
    facts_in,
    is_told,
    pattern_of,
    read,
    rounded,
    shown,
    trace_of,
)


def test_a_step_that_there_is_not_raises():
    with pytest.raises(ValueError, match=r"tokens, .*, heads, got 'nothing'"):
        step_of("nothing")


def test_from_scores_to_sum_one_formula_lights_up_part_by_part():
    formulas = {step.key: step.formula(None) for step in STEPS[3:8]}
    grey = re.compile(r"\\textcolor\{#868e99\}")
    plain = {key: re.sub(r"\\textcolor\{#\w+\}|[{}]", "", latex) for key, latex in formulas.items()}
    assert len(set(plain.values())) == 1
    assert len(set(formulas.values())) == 5
    assert all(grey.search(latex) for latex in formulas.values())


USED_TAGS = {"p", "strong", "em", "code", "b", "bdi", "sub", "sup"}


def test_every_step_speaks_of_the_word_in_focus_and_leaves_no_place_for_a_fact_and_no_mark_of_markdown(scene):
    for step in keys():
        told = step_of(step).words(scene)
        # A mask that hides nothing does so for every word.
        names_it = step != "mask" or not scene.visible.all()
        assert bool(re.search(rf"(?<!\w){re.escape(scene.focus.text)}(?!\w)", shown(told))) >= names_it, step
        assert [mark for mark in ("$", "*", "nan") if mark in shown(told)] == [], step
        assert {tag for tag, _ in read(told).tags} <= USED_TAGS, step


NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "&amp;",
    "$focus",
    "${focus}",
    "**b**",
    "`x`",
    "a\"b'c",
]


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "smollm2-135m"])
def test_markup_in_a_sentence_is_shown_as_it_was_typed(scene_of, model_id):
    scene = scene_of(model_id, " ".join(["one", *NASTY, "two"]))
    for at in range(len(scene.tokens)):
        here = replace(scene, word=at)
        for step in keys():
            told = step_of(step).words(here)
            assert {tag for tag, _ in read(told).tags} <= USED_TAGS
            assert word(here.names[here.word]) in told or (step == "mask" and here.visible.all())
            # What explains a cell names few tokens: some will do.
            if at % 5:
                continue
            for name in (picture.name for picture in step_of(step).matrices(here)):
                explained = step_of(step).detail(replace(here, cell=Cell(name, 0, 0)))
                assert {tag for tag, _ in read(explained.title + explained.note).tags} <= USED_TAGS


@given(anything)
def test_any_token_is_told_as_text_and_nothing_but_text(typed):
    told = word(typed)
    assert [tag for tag, _ in read(told).tags] == ["bdi"]
    assert html.unescape(told.removeprefix("<bdi>").removesuffix("</bdi>")).startswith(typed[:32])
    assert len(told) <= 32 * len("&quot;") + len("<bdi></bdi>…")


def cells_of(step, scene):
    """Every cell that can be clicked at a step, and the number that stands in it."""
    for picture in step_of(step).matrices(scene):
        for row, column in np.ndindex(picture.values.shape):
            yield Cell(picture.name, row, column), float(picture.values[row, column])


def sampled_cells_of(step, scene):
    generator = np.random.default_rng(0)
    for picture in step_of(step).matrices(scene):
        for flat in generator.choice(picture.values.size, 12, replace=False):
            row, column = np.unravel_index(flat, picture.values.shape)
            yield Cell(picture.name, int(row), int(column)), float(picture.values[row, column])


CLOSE = {"rel": 1e-4, "abs": 1e-4}

# The detail's title, and in which of its places the number of the cell stands.
TITLES = {
    "inputs": ("embed/cell", "value"),
    "words": ("embed/cell-word", "value"),
    "positions": ("embed/cell-position", "value"),
    "queries": ("qkv/cell", "value"),
    "keys": ("qkv/cell", "value"),
    "values": ("qkv/cell", "value"),
    "projected_queries": ("qkv/cell-projected", "value"),
    "projected_keys": ("qkv/cell-projected", "value"),
    "stream": ("embed/cell-stream", "value"),
    "scores": ("scores/cell", "value"),
    "scaled": ("scale/cell", "value"),
    "masked": ("mask/cell", "value"),
    "weights": ("softmax/cell", "value"),
    "outputs": ("sum/cell", "value"),
    "joined": ("heads/cell-joined", "value"),
    "change": ("heads/cell", "value"),
}


def check_detail(step, scene, cell, value):
    """Everything that a detail says of a number must make that number."""
    explained = step_of(step).detail(replace(scene, cell=cell))
    said = explained.title + explained.note
    assert "$" not in shown(said)
    assert "nan" not in shown(said)
    assert len(explained.labels) == len(explained.parts)
    assert len(next(iter(explained.table().values()))) == len(explained.labels)

    is_product = cell.matrix == "contributions" and cell.row < len(scene.tokens)
    if cell.matrix == "weights" and np.isneginf(scene.steps.mask[cell.row, cell.column]):
        names = {"query": scene.names[cell.row], "key": scene.key_names[cell.column]}
        assert facts_in(explained.title, "softmax/cell") == names | {"value": 0}
        visible = int(np.isfinite(scene.steps.mask[cell.row]).sum())
        facts = facts_in(explained.note, "softmax/cell-hidden-note")
        assert facts == {"visible": visible, "total": len(scene.key_tokens)}
        assert explained.parts[cell.column] == value == 0
        return
    name, place = ("sum/cell-contribution", "product") if is_product else TITLES.get(cell.matrix, TITLES["outputs"])
    if cell.matrix == "scores" and scene.attention.bias is not None:
        name = "scores/cell-biased"
    title = facts_in(explained.title, name)
    assert title[place] == rounded(value, 4 if is_product else 2)

    total = float(explained.parts.sum()) if len(explained.parts) else 0.0
    match cell.matrix:
        case "scores" | "outputs":
            assert total == pytest.approx(value, **CLOSE)
            if cell.matrix == "scores" and scene.attention.bias is not None:
                note = facts_in(explained.note, "scores/cell-products-bias")
                assert note["sum"] + note["bias"] == pytest.approx(value, abs=2e-4)
                assert note["count"] == len(explained.parts) - 1
        case "change":
            assert total == pytest.approx(value, **CLOSE)
            has_bias = scene.attention.projections.b_O is not None
            note = facts_in(explained.note, "heads/cell-heads-bias" if has_bias else "heads/cell-heads")
            assert note["count"] == scene.info.n_heads == len(explained.parts) - has_bias
        case "contributions":
            assert total == pytest.approx(float(scene.steps.head_outputs[scene.word, cell.column]), **CLOSE)
            if is_product:
                assert explained.parts[cell.row] == pytest.approx(value, **CLOSE)
                assert title["weight"] * title["value"] == pytest.approx(value, abs=1e-3, rel=1e-2)
        case "queries" | "keys" if scene.attention.rotary is not None:
            note = facts_in(explained.note, "qkv/cell-turned")
            assert total == pytest.approx(value, **CLOSE)
            assert note["second"] - note["first"] == 32
            assert cell.column in (note["first"], note["second"])
            projected = dict(zip(("queries", "keys"), scene.attention.projected(scene.head), strict=True))[cell.matrix]
            pair = projected[cell.row, cell.column % 32], projected[cell.row, cell.column % 32 + 32]
            assert (note["x"], note["y"]) == (rounded(pair[0], 4), rounded(pair[1], 4))
            # Su et al. 2021, section 3.2.2, with this model's base; whole turns count.
            degrees = np.degrees(cell.row * 100_000 ** (-note["first"] / 32))
            assert note["angle"] == pytest.approx(degrees, abs=6e-3, rel=1e-5)
            # Turning keeps the length of the pair.
            turned = getattr(scene.steps, cell.matrix)[cell.row, [cell.column % 32, cell.column % 32 + 32]]
            assert np.hypot(*turned) == pytest.approx(np.hypot(*pair), **CLOSE)
        case "queries" | "keys" | "values" | "projected_queries" | "projected_keys":
            symbol = cell.matrix.removeprefix("projected_")
            bias = getattr(scene.attention.projections, f"b_{symbol[0].upper()}")
            note = facts_in(explained.note, "qkv/cell-products" if bias is None else "qkv/cell-products-bias")
            width = getattr(scene.steps, symbol).shape[1]
            group = 1 if symbol == "queries" else scene.info.n_heads // scene.info.n_key_value_heads
            offset = 0.0 if bias is None else float(bias[scene.head // group * width + cell.column])
            assert total + offset == pytest.approx(value, **CLOSE)
            assert note["sum"] == rounded(total, 4)
            if bias is not None:
                assert note["bias"] == rounded(offset, 4)
                assert note["total"] == pytest.approx(value, abs=2e-4)
            assert note["count"] == len(explained.parts) == scene.info.d_model
        case "inputs" if scene.attention.norm is not None:
            norm = scene.attention.norm
            note = facts_in(explained.note, "embed/cell-layernorm" if norm.centred else "embed/cell-rms")
            assert explained.parts[cell.column] == value
            assert note["value"] == rounded(value, 4)
            stream = scene.trace.hidden_states[scene.layer][cell.row].astype(float)
            assert note["stream"] == rounded(stream[cell.column], 4)
            mean = stream.mean() if norm.centred else 0
            size = np.sqrt(((stream - mean) ** 2).mean() + norm.epsilon)
            bias = norm.bias[cell.column] if norm.centred else 0
            assert (note.get("mean", 0), note.get("bias", 0)) == (rounded(mean, 4), rounded(bias, 4))
            assert note["size"] == pytest.approx(size, abs=1e-4)
            gain = norm.gain[cell.column]
            assert note["gain"] == rounded(gain, 4)
            assert (stream[cell.column] - mean) / size * gain + bias == pytest.approx(value, **CLOSE)
        case "inputs":
            if scene.layer or scene.trace.embeddings is None:
                assert explained.parts[cell.column] == value
            else:
                parts = scene.trace.embeddings
                known = [part for part in (parts.words, parts.positions, parts.segments) if part is not None]
                assert list(explained.parts) == [part[cell.row, cell.column] for part in known]
                is_sum = abs(total - value) < 1e-5
                note = facts_in(explained.note, "embed/cell-sum" if is_sum else "embed/cell-norm")
                assert note["sum"] == rounded(total, 4)
                assert note.get("value", value) == rounded(value, 4)
        case "words" | "positions" | "joined" | "stream":
            width = len(explained.parts)
            assert explained.parts[cell.column % width] == value
        case "scaled":
            assert explained.parts[1] == pytest.approx(value, **CLOSE)
            assert explained.parts[0] * scene.attention.scale == pytest.approx(value, **CLOSE)
            assert title["before"] == rounded(explained.parts[0])
            assert 1 / title["divisor"] == pytest.approx(scene.attention.scale, rel=1e-3)
        case "masked":
            assert title["mask"] == scene.steps.mask[cell.row, cell.column]
            if np.isfinite(value):
                assert explained.parts[cell.column] == value
                assert pattern_of("mask/cell-visible").search(shown(explained.note))
        case "weights":
            assert total == pytest.approx(1, abs=1e-5)
            assert explained.parts[cell.column] == value
            note = facts_in(explained.note, "softmax/cell-sum")
            assert note["exponential"] / note["total"] == pytest.approx(value, abs=2e-4)
        case other:
            pytest.fail(f"nothing here checks how a cell of {other} is explained")


@pytest.mark.parametrize(("head", "mask"), sweep(product(range(3), MASK_NAMES), quick=list(enumerate(MASK_NAMES))))
def test_every_cell_of_the_toy_is_explained_by_what_made_it(scene_of, head, mask):
    scene = scene_of("toy", mask=mask, head=head, at=2)
    for step in keys():
        for cell, value in cells_of(step, scene):
            check_detail(step, scene, cell, value)


def test_cells_of_every_step_are_explained_by_what_made_them(scene):
    for step in keys():
        for cell, value in sampled_cells_of(step, scene):
            check_detail(step, scene, cell, value)


@pytest.mark.parametrize("kind", ["roberta", "gpt2", "bart", "t5", "vit"])
def test_cells_of_other_architectures_are_explained_by_what_made_them(model_of, kind):
    text = "0123456789abcdef" * 4 if kind == "vit" else TEXT
    for layer, at in ((0, 2), (1, 4)):
        scene = HeadContext(trace_of(model_of(kind), text, "none"), layer, 1, at)
        for step in keys():
            for cell, value in sampled_cells_of(step, scene):
                check_detail(step, scene, cell, value)


@pytest.mark.parametrize(
    "kind",
    ["toy", "minilm-l6", "smollm2-135m", "gpt2", "roberta", "distilbert", "llama", "bart", "t5", "vit"],
)
@pytest.mark.parametrize("part", PARTS)
def test_a_bias_is_written_where_the_model_has_one_and_only_there(model_of, scene_of, kind, part):
    """Held against the numbers themselves: X·W alone, or with the bias, must be what was recorded."""
    if kind in ("toy", "minilm-l6", "smollm2-135m"):
        trace = scene_of(kind).trace
    else:
        trace = trace_of(model_of(kind), "0123456789abcdef" * 4 if kind == "vit" else TEXT, "none")
    if part != "encoder" and not trace.info.parts:
        return
    trace = trace.part(part)
    scene = HeadContext(trace, 0, 1, 2)
    layer, parts = scene.attention, scene.attention.projections
    letters = {"Q": ("queries", layer.inputs), "K": ("keys", layer.sources), "V": ("values", layer.sources)}
    latex = re.sub(r"\\textcolor\{#\w+\}|[{}]", "", step_of("qkv").formula(scene))
    titles = {picture.title for picture in step_of("qkv").matrices(scene)}
    told = shown(step_of("qkv").words(scene))
    for letter, (name, vectors) in letters.items():
        recorded = getattr(layer, name)
        plain = steps.split_heads(vectors @ getattr(parts, f"W_{letter}"), len(recorded))
        has_bias = not np.allclose(plain if letter == "V" else layer.turned(plain), recorded, atol=1e-4)
        source = "Z" if scene.own_key is None and letter != "Q" else "X"
        assert (f"{source}W_{letter} + b_{letter}" in latex) == has_bias
        assert any(f"{source}·W_{letter} + b_{letter}" in title for title in titles) == has_bias
        assert any(f"{source}·W_{letter}" in title for title in titles)
        assert (f"b{letter}" in told) == has_bias
    assert ("+ b_Q" in step_of("qkv").shapes(scene)) == ("+ b_Q" in latex)
    joined = np.concatenate(list(layer.model_output), axis=1)
    has_bias = not np.allclose(joined @ parts.W_O, scene.change, atol=1e-4)
    assert ("b_O" in step_of("heads").formula(scene)) == has_bias
    assert ("b_O" in step_of("heads").shapes(scene)) == has_bias
    assert ("bO" in shown(step_of("heads").words(scene))) == has_bias


def test_a_step_opens_with_a_cell_of_its_own_picture_in_the_row_of_the_word(scene):
    for step in keys()[1:]:
        opened = step_of(step).opened(scene)
        pictures = step_of(step).matrices(scene)
        assert any(picture.has(opened.cell) for picture in pictures), step
        # Where a step shows what it starts from, too, the cell is one of what it makes.
        assert opened.cell.matrix == {"scale": "scaled", "heads": "change"}.get(step, pictures[0].name)
        if step in ("scores", "scale", "mask", "softmax"):
            heaviest = int(scene.steps.weights[scene.word].argmax())
            assert (opened.cell.row, opened.cell.column) == (scene.word, heaviest), step


def test_a_cell_that_is_there_stays_open_and_one_that_is_not_gives_way(scene_of):
    scene = scene_of("toy")
    for cell, is_there in [
        (Cell("scores", 5, 5), True),
        (Cell("scores", 6, 0), False),
        (Cell("scores", 0, 6), False),
        (Cell("weights", 0, 0), False),
        (Cell("__class__", 0, 0), False),
    ]:
        opened = step_of("scores").opened(replace(scene, cell=cell))
        assert any(picture.has(cell) for picture in step_of("scores").matrices(scene)) == is_there
        assert (opened.cell == cell) == is_there


def test_every_picture_holds_the_arrays_of_the_trace(scene):
    head, layer = scene.trace.layers[scene.layer].head(scene.head), scene.trace.layers[scene.layer]
    at = scene.word
    wanted = {
        "qkv": {"queries": head.queries, "keys": head.keys, "values": head.values},
        "scores": {"scores": head.queries @ head.keys.T},
        "scale": {"scores": head.scores, "scaled": head.queries @ head.keys.T * layer.scale},
        "mask": {"masked": head.scaled_scores + head.mask},
        "softmax": {"weights": steps.softmax(head.masked_scores)},
        "sum": {
            "contributions": np.vstack([head.weights[at][:, None] * head.values, head.weights[at] @ head.values]),
            "outputs": head.weights @ head.values,
        },
        "heads": {"joined": np.concatenate(list(layer.model_output), axis=1), "change": layer.output()},
    }
    if layer.rotary is not None:
        projected = zip(("projected_queries", "projected_keys"), layer.projected(scene.head), strict=True)
        wanted["qkv"] |= dict(projected)
    for step, arrays in wanted.items():
        pictures = {picture.name: picture for picture in step_of(step).matrices(scene)}
        assert list(pictures) == list(arrays)
        for name, array in arrays.items():
            np.testing.assert_allclose(pictures[name].values, array, atol=1e-5, rtol=1e-5)


def test_every_picture_says_in_words_what_it_is_and_names_its_rows_by_the_tokens(scene):
    for picture in (each for step in keys() for each in step_of(step).matrices(scene)):
        assert len(picture.alt) > 20
        if not picture.has_total_row:
            assert picture.row_labels == scene.labels
        if picture.row_role == "query" and picture.column_role == "key":
            assert picture.column_labels == scene.labels
            assert f"layer {scene.layer + 1}, head {scene.head + 1}" in picture.alt


def hidden_by_rule(scene, mask):
    """Which keys are hidden, worked out from what a mask is, not from the record."""
    rows, columns = len(scene.tokens), len(scene.key_tokens)
    padding = np.array([token.is_padding for token in scene.key_tokens])
    is_causal = scene.own_key is not None and (mask == "causal" or bool(scene.hides_later))
    later = np.arange(columns) > np.arange(rows)[:, None] if is_causal else np.zeros((rows, columns), bool)
    return later | padding


# One row gets nearly all of the weight in each of them.
HEAVY = {
    "toy": "My old teacher gave the shy boy a red apple because he was hungry",
    "minilm-l6": "The animal didn't cross the street because it was too tired",
    "smollm2-135m": "The animal didn't cross the street because it was too tired",
}


@pytest.mark.parametrize("model_id", HEAVY)
@pytest.mark.parametrize("at", [1, 2, 5, 9])
def test_no_part_of_a_sum_is_beyond_the_colours(scene_of, model_id, at):
    scene = scene_of(model_id, HEAVY[model_id], at=at)
    contributions, _ = step_of("sum").matrices(scene)
    assert contributions.colour_limit == np.abs(contributions.values).max()


@pytest.mark.parametrize("model_id", HEAVY)
def test_no_score_of_the_word_in_focus_is_beyond_the_colours(scene_of, model_id):
    """Of a text so long that the numbers are not in the cells, a first token that gets high scores is no outlier."""
    text = " ".join(3 * [HEAVY[model_id]])
    last = scene_of(model_id, text)
    for layer, at in product(range(0, last.info.n_layers, 5), range(0, len(last.tokens), 7)):
        scene = scene_of(model_id, text, layer=layer, at=at)
        for key in ("scores", "scale", "mask"):
            for matrix in step_of(key).matrices(scene):
                assert not matrix.beyond[at].any()


@pytest.mark.parametrize("place", MASKED_PLACES, ids=lambda place: "-".join(map(str, place)))
def test_what_the_mask_hides_stays_marked_wherever_weights_are_drawn(scene_of, place):
    model_id, mask, part, layer, head = place
    text = "le chat noir dort" if model_id == "translator-fr-en" else TEXT
    scene = scene_of(model_id, text, mask=mask, layer=layer, head=head, at=1, part=part)
    hidden = hidden_by_rule(scene, mask)
    weights, (contributions, outputs) = step_of("softmax").matrices(scene)[0], step_of("sum").matrices(scene)
    large, thumb = head_matrix(scene, Look(), head), head_thumbs(scene)[head]
    for picture in (weights, large):
        assert np.array_equal(np.isneginf(picture.drawn), hidden)
        np.testing.assert_array_equal(picture.values, scene.steps.weights)
        assert (picture.payload()["masked"] == "0") == hidden.any()
        columns = list(matrix_table(picture).values())[1:]
        assert np.array_equal(np.array([["(masked)" in cell for cell in column] for column in columns]).T, hidden)
        smallest = scene.steps.weights[~hidden].min()
        assert picture.range_text.startswith(f"{smallest:.2f}")
    assert np.array_equal(np.isneginf(thumb.weights), hidden)
    drawn = np.isneginf(contributions.drawn)
    assert np.array_equal(drawn[:-1], np.repeat(hidden[1][:, None], drawn.shape[1], axis=1))
    assert not drawn[-1].any()
    assert [label.startswith("0 × ") for label in contributions.row_labels[:-1]] == hidden[1].tolist()
    assert np.isfinite(outputs.drawn).all()
    told = step_of("softmax").words(scene)
    assert is_told("softmax/masked", told) == hidden.any()
    for key in range(len(scene.key_tokens)):
        handed = value_picture(scene, key)
        assert np.isneginf(handed.drawn[1]).all() == hidden[1, key]
        assert np.isfinite(handed.drawn[[0, 2]]).all()
    for variant in shared_pictures(scene, shared(scene)):
        assert np.array_equal(np.isneginf(variant.drawn), hidden)


def test_a_weight_that_is_merely_tiny_is_a_number_like_any_other():
    mask = np.zeros((6, 6), np.float32)
    mask[2, 4], mask[2, 5] = -200, -np.inf
    scene = HeadContext(TOY.trace(TEXT, mask=mask), 0, 0, 2)
    (weights,) = step_of("softmax").matrices(scene)
    # In float32 even that is 0, and no mask has made it one.
    assert scene.steps.weights[2, 4] == 0
    assert np.argwhere(np.isneginf(weights.drawn)).tolist() == [[2, 5]]
    assert [matrix_table(weights)[name][2] for name in ("4 the", "5 mat")] == ["0.0", "0 (masked)"]


SHAPE = re.compile(r"\((\d+)×(\d+)\)")


def test_the_shapes_are_those_of_the_arrays(scene):
    head, layer = scene.steps, scene.attention
    projections = layer.projections
    W_Q = projections.W_Q[:, : head.queries.shape[1]]
    joined = layer.joined()
    wanted = {
        "tokens": [],
        "embed": [layer.inputs.shape],
        "qkv": [layer.inputs.shape, W_Q.shape, head.queries.shape, head.keys.shape, head.values.shape],
        "scores": [head.queries.shape, head.keys.T.shape, head.scores.shape],
        "scale": [head.scores.shape, head.scaled_scores.shape],
        "mask": [head.scaled_scores.shape, head.mask.shape, head.masked_scores.shape],
        "softmax": [head.masked_scores.shape, head.weights.shape],
        "sum": [head.weights.shape, head.values.shape, head.head_outputs.shape],
        "heads": [head.head_outputs.shape, joined.shape, projections.W_O.shape, layer.output().shape],
    }
    for step in keys():
        told = [(int(rows), int(columns)) for rows, columns in SHAPE.findall(step_of(step).shapes(scene))]
        assert told == wanted[step], step


@pytest.fixture(scope="module")
def grouped():
    """A trace of a model with 4 query heads that share 2 key/value heads, with values wider than keys."""
    generator = np.random.default_rng(7)
    H, G, T, D, Dv, M = 4, 2, 5, 3, 6, 10

    def random(*shape):
        return generator.normal(size=shape).astype(np.float32)

    X = random(T, M)
    parts = Projections(
        random(M, H * D), random(M, G * D), random(M, G * Dv), random(H * Dv, M), random(H * D), None, random(G * Dv)
    )
    queries = steps.split_heads(X @ parts.W_Q + parts.b_Q, H)
    keys = steps.split_heads(X @ parts.W_K, G)
    values = steps.split_heads(X @ parts.W_V + parts.b_V, G)
    output = steps.attend(queries, keys, values).head_outputs
    info = ModelInfo(
        *("grouped", "Grouped", "test", 1, H, G, M, D, T, 0, "", "", ""),
    )
    tokens = tuple(Token(f"t{i}", f"t{i}", i, i, i, start=3 * i) for i in range(T))
    layer = LayerTrace(X, queries, keys, values, None, D**-0.5, output, projections=parts)
    return Trace("t0 t1 t2 t3 t4", tokens, (layer,), info, Embeddings(X))


@pytest.mark.parametrize("head", range(4))
def test_cells_of_a_model_with_shared_keys_are_explained_too(grouped, head):
    scene = HeadContext(grouped, 0, head, 2)
    for step in keys():
        assert "$" not in step_of(step).words(scene)
        for cell, value in cells_of(step, scene):
            check_detail(step, scene, cell, value)


@pytest.mark.parametrize("step", keys())
def test_a_model_of_which_only_its_attention_is_known_is_told_as_far_as_it_is(grouped, step):
    layer = replace(grouped.layers[0], inputs=None, projections=None)
    scene = HeadContext(replace(grouped, layers=(layer,), embeddings=None), 0, 3, 2)
    assert "$" not in step_of(step).words(scene)
    assert step_of(step).shapes(scene)
    for cell, value in cells_of(step, scene):
        explained = step_of(step).detail(replace(scene, cell=cell))
        assert "$" not in explained.title + explained.note
        if cell.matrix in ("queries", "keys", "values"):
            assert pattern_of("qkv/cell-unknown").search(shown(explained.note))
            assert len(explained.parts) == 0
        else:
            check_detail(step, scene, cell, value)
