"""The notebook in plain NumPy reproduces the model's own numbers for every kind of model, and fails with others."""

import ast

import numpy as np
import pytest

from attention.core.reading import PICTURE
from attention.core.trace import PARTS
from attention.export.notebook.by_hand import by_hand
from attention.export.notebook.cells import Code, Text, written
from attention.lesson.head_context import HeadContext
from attention.lesson.steps import STEPS
from tests.loaded import load
from tests.notebooks import code_of, executed, run_here
from tests.sweep import sweep
from tests.tiny_models import KINDS, OTHERS, TODAY

TEXT = "The cat sat on the mat"
HOSTILE = 'He said: "it\'s 5% \\n {x} {} $Q ${K}" \\ """ <b>#</b> \u202e\u2028'
MAX_BYTES = 5_000_000
# What comes with Python, and what the picture is drawn with, if it is there.
ALLOWED = {"base64", "io", "numpy", "matplotlib.pyplot"}


def scene_of(model, text=TEXT, *, mask="none", part="encoder", layer=0, head=0, at=2, pair=None):
    trace = model.trace(text, pair, mask=mask).part(part)
    return HeadContext(trace, layer, head, min(at, len(trace.tokens) - 1))


def notebook_of(scene):
    return written("by hand", by_hand(scene, scene.attention.added))


def check(scene):
    """Run the notebook of a scene; its results are those of the record, and it imports nothing of this project."""
    text = notebook_of(scene)
    assert len(text.encode()) < MAX_BYTES
    codes = code_of(text)
    for node in (node for code in codes for node in ast.walk(ast.parse(code))):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= ALLOWED
        elif isinstance(node, ast.ImportFrom):
            assert node.module in ALLOWED
    made, printed = run_here(codes)
    steps = scene.steps
    np.testing.assert_allclose(made["weights"], steps.weights, rtol=0, atol=1e-5)
    largest = np.abs(scene.attention.model_output[scene.head]).max()
    np.testing.assert_allclose(made["output"], scene.attention.model_output[scene.head], rtol=0, atol=1e-4 * largest)
    assert "weights: they differ" in printed
    return made, codes


def test_the_notebook_runs_where_only_numpy_is(tmp_path):
    notebook = executed(notebook_of(scene_of(load("toy"), head=2, mask="padding")), tmp_path)
    titles = [cell.source.splitlines()[0] for cell in notebook.cells if cell.cell_type == "markdown"]
    assert [title.split(" · ")[0] for title in titles[1:10]] == [f"## {number}" for number in range(1, 10)]
    proof = next(cell for cell in notebook.cells if cell.source.startswith("# Proof"))
    assert "weights: they differ" in proof.outputs[0].text
    assert all(cell.outputs for cell in notebook.cells if cell.cell_type == "code")


def test_what_was_typed_is_only_a_literal(tmp_path):
    scene = scene_of(load("toy"), HOSTILE, at=3)
    made, _ = check(scene)
    assert made["tokens"] == [token.text for token in scene.tokens]


@pytest.mark.parametrize("changed", ["W_Q", "X", "W_O", "b_V"])
def test_another_number_and_the_proof_fails(minilm, changed):
    codes = code_of(notebook_of(scene_of(minilm, layer=5, head=6)))
    # After the numbers are read, one of them is another.
    spoilt = f"numbers = dict(numbers)\nnumbers['{changed}'] = numbers['{changed}'] * np.float32(1.01)"
    with pytest.raises(AssertionError):
        run_here([codes[0], spoilt, *codes[1:]])


def test_the_steps_are_the_code_of_the_page_and_go_on_from_one_another(minilm):
    codes = code_of(notebook_of(scene_of(minilm, layer=5, head=6)))
    assert len(codes) == len(STEPS) + 3
    # Queries, keys and weights are computed once, and read from nowhere.
    assert sum("Q = X @ W_Q + b_Q" in code for code in codes) == 1
    assert not any('numbers["Q"]' in code or 'numbers["weights"]' in code for code in codes)
    assert sum("import numpy" in code for code in codes) == 1


@pytest.mark.parametrize("mask", sweep(["none", "causal", "padding"], quick=["causal"]))
@pytest.mark.parametrize(("layer", "head"), [(0, 3), (5, 6)])
def test_bert(minilm, mask, layer, head):
    check(scene_of(minilm, mask=mask, layer=layer, head=head))


def test_two_sentences(minilm):
    check(scene_of(minilm, pair="It slept.", layer=0, head=1))


SMOLLM2_PLACES = [(0, 4, "none"), (13, 8, "none"), (29, 3, "padding")]


@pytest.mark.parametrize(("layer", "head", "mask"), sweep(SMOLLM2_PLACES, quick=SMOLLM2_PLACES[1:2]))
def test_smollm2_with_its_norm_its_rotation_and_its_groups(smollm2, layer, head, mask):
    made, codes = check(scene_of(smollm2, layer=layer, head=head, mask=mask))
    assert any("are not turned" in code for code in codes)
    assert any("RMSNorm" in code for code in codes)
    assert np.isneginf(made["mask"]).any()


@pytest.mark.parametrize("part", PARTS)
def test_the_translator(part):
    made, _ = check(scene_of(load("translator-fr-en"), "le chat noir dort .", part=part, layer=1, head=2))
    assert (made["key_tokens"] == made["tokens"]) == (part != "cross")


@pytest.mark.parametrize("layer", [0, 1])
def test_digits(layer):
    check(scene_of(load("vit-digits"), PICTURE.first, layer=layer, head=2))


@pytest.mark.parametrize("kind", sweep((*KINDS, *TODAY, *OTHERS), quick=["gpt2", "gemma2"]))
def test_every_architecture(model_of, kind):
    model = model_of(kind)
    text = PICTURE.first if model.info.reading is PICTURE else "The cat sat on the mat."
    for part in model.info.parts or PARTS[:1]:
        for layer in (0, model.trace(text).part(part).info.n_layers - 1):
            check(scene_of(model, text, part=part, layer=layer, head=1))


@pytest.mark.slow
def test_every_layer_and_every_head_of_bert_and_smollm2_to_a_hundred_thousandth(minilm, smollm2):
    for model in (minilm, smollm2):
        trace = model.trace(TEXT)
        n_layers, n_heads = len(trace.layers), model.info.n_heads
        for number in range(max(n_layers, n_heads)):
            check(HeadContext(trace, number % n_layers, number % n_heads, 2))


@pytest.mark.slow
@pytest.mark.parametrize("model_id", ["minilm-l6", "smollm2-135m"])
def test_a_long_text_is_kept_small_and_the_notebook_says_so(minilm, smollm2, model_id):
    model = {"minilm-l6": minilm, "smollm2-135m": smollm2}[model_id]
    scene = scene_of(model, "cat mat " * 120, layer=3, head=2, at=150)
    made, _ = check(scene)
    rows = len(made["model_weights"])
    assert 1 < rows < len(scene.tokens) == len(made["weights"])
    opening = by_hand(scene)[0]
    assert isinstance(opening, Text)
    assert f"of {len(scene.tokens)}, around" in opening.markdown


def test_without_what_the_model_adds_the_rest_is_proven(minilm):
    cells = by_hand(scene_of(minilm))
    made, _ = run_here([cell.source for cell in cells if isinstance(cell, Code)])
    assert "model_delta" not in made
    assert "model_output" in made
