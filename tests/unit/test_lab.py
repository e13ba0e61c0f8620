import dataclasses

import numpy as np
import pytest

from attention import lab, steps
from attention.models import load

WAYS = ["numpy_head", "module", "fused", "listed", "sdpa"]
TEXT = "The cat sat on the mat"


@pytest.fixture(scope="module", params=["toy", "minilm-l6"])
def trace(request, _one_torch_thread):
    model = load("toy") if request.param == "toy" else request.getfixturevalue("minilm")
    return model.trace(TEXT)


@pytest.fixture(scope="module", params=["none", "causal"])
def masked_layer(request):
    return load("toy").trace(TEXT, mask=request.param).layers[0]


def test_all_five_give_what_the_model_recorded(trace):
    for layer in trace.layers:
        results = lab.agree(layer, head=1)
        assert [result.name for result in results] == WAYS
        recorded = steps.output_projection(
            steps.join_heads(layer.model_output), layer.projections.W_O, layer.projections.b_O
        )
        np.testing.assert_allclose(results[0].output, layer.model_output[1], atol=2e-5)
        for result in results[1:]:
            np.testing.assert_allclose(result.output, recorded, atol=2e-5)
        for result in results:
            assert result.difference <= 2e-5
            assert result.seconds > 0


@pytest.mark.parametrize("way", range(5))
def test_each_obeys_the_mask(masked_layer, way):
    assert lab.agree(masked_layer)[way].difference <= 2e-5


@pytest.mark.parametrize("way", range(5))
def test_the_difference_is_seen(trace, way):
    """Were the recorded output another one, none would agree with it."""
    layer = trace.layers[0]
    other = dataclasses.replace(layer, model_output=layer.model_output + 1)
    assert lab.agree(other)[way].difference > 0.01


def test_the_shapes_are_those_of_this_sentence(trace):
    layer = trace.layers[0]
    n_heads, n_tokens, d_head = layer.queries.shape
    d_model = layer.inputs.shape[1]
    shapes = {result.name: dict(result.shapes) for result in lab.agree(layer)}
    assert shapes["numpy_head"]["queries"] == (n_tokens, d_head)
    assert shapes["numpy_head"]["scores"] == (n_tokens, n_tokens)
    assert shapes["module"]["queries"] == (1, n_heads, n_tokens, d_head)
    assert shapes["module"]["scores"] == (1, n_heads, n_tokens, n_tokens)
    assert shapes["fused"]["fused"] == (1, n_tokens, 3 * n_heads * d_head)
    assert shapes["listed"]["weights"] == (1, n_tokens, n_tokens)
    assert shapes["listed"]["joined"] == (1, n_tokens, n_heads * d_head)
    assert shapes["sdpa"]["output"] == (1, n_tokens, d_model)
    # PyTorch's own function never shows its weights.
    assert "weights" not in shapes["sdpa"]
    assert next(iter(shapes["numpy_head"])) == "x"


def test_the_code_that_is_shown_runs(trace):
    """Its text alone, pasted elsewhere, is a module that computes the same."""
    layer = trace.layers[0]
    result = lab.agree(layer)[0]
    pasted = {}
    exec(result.code, pasted)
    width = layer.queries.shape[-1]
    parts = layer.projections
    biases = [np.zeros(width) if b is None else b[:width] for b in (parts.b_Q, parts.b_K, parts.b_V)]
    weights = [W[:, :width] for W in (parts.W_Q, parts.W_K, parts.W_V)]
    n_tokens = len(layer.inputs)
    output = pasted["attend"](layer.inputs, *weights, *biases, np.zeros((n_tokens, n_tokens)))
    np.testing.assert_allclose(output, result.output, atol=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_the_code_is_short(way):
    code = (lab.FOLDER / f"{way}.py").read_text()
    assert len(code.splitlines()) <= 60


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"projections": None}, "not known"),
        ({"inputs": None}, "not known"),
        ({"key_inputs": np.zeros((6, 16), np.float32)}, "cross-attention"),
        ({"scale": 1.0}, "scales by"),
        ({"keys": np.zeros((1, 6, 8), np.float32)}, "share"),
        ({"mask": np.full((6, 6), -np.inf, np.float32)}, "hides every word"),
        ({"mask": np.zeros((3, 6, 6), np.float32)}, "mask of its own"),
    ],
)
def test_what_it_does_not_cover_is_said(change, message):
    layer = dataclasses.replace(load("toy").trace(TEXT).layers[0], **change)
    with pytest.raises(ValueError, match=message):
        lab.agree(layer)


def test_a_head_that_is_not_there():
    with pytest.raises(IndexError, match="between 0 and 2"):
        lab.agree(load("toy").trace(TEXT).layers[0], head=3)
