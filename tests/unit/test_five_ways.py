"""Five implementations of attention: all equal, on the models' own layers and against torch's module."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attention.experiments import five_ways
from attention.lesson.five_ways import shape_table, tell_five_ways
from attention.lesson.head_context import HeadContext
from tests.loaded import load
from tests.unit.saying import tells

SENTENCE = "the old sailor told a long story"


@pytest.fixture(scope="module", params=["toy", "minilm-l6"])
def trace(request):
    return load(request.param).trace(SENTENCE)


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
@pytest.mark.parametrize("model_id", ["toy", "minilm-l6"])
def test_all_five_give_what_the_model_itself_produced(model_id, mask):
    trace = load(model_id).trace(SENTENCE, mask=mask)
    for layer in trace.layers[:2]:
        by_hand, *whole = five_ways.run(layer, 2)
        np.testing.assert_allclose(by_hand.output, layer.model_output[2], atol=2e-5)
        for result in whole:
            np.testing.assert_allclose(result.output, layer.output(), atol=2e-5)
            np.testing.assert_allclose(result.output, whole[0].output, atol=2e-5)
            assert result.difference.absolute < 2e-5
            assert result.is_models_own


def test_they_are_what_torchs_own_module_computes(minilm):
    layer = minilm.trace(SENTENCE).layers[0]
    parts, n_heads = layer.projections, len(layer.queries)
    width = parts.W_Q.shape[0]
    reference = torch.nn.MultiheadAttention(width, n_heads, batch_first=True).eval()
    in_weight = torch.tensor(np.concatenate([parts.W_Q.T, parts.W_K.T, parts.W_V.T]))
    in_bias = torch.tensor(np.concatenate([parts.b_Q, parts.b_K, parts.b_V]))
    state = {"in_proj_weight": in_weight, "in_proj_bias": in_bias}
    state |= {"out_proj.weight": torch.tensor(parts.W_O.T), "out_proj.bias": torch.tensor(parts.b_O)}
    reference.load_state_dict(state)
    x = torch.tensor(layer.inputs)
    with torch.inference_mode():
        wanted = reference(x, x, x, need_weights=False)[0].numpy()
    for result in five_ways.run(layer, 0)[1:]:
        np.testing.assert_allclose(result.output, wanted, atol=2e-5)


def test_the_shapes_are_those_of_this_text(trace):
    layer = trace.layers[0]
    n_tokens, (n_heads, _, d_head) = len(trace.tokens), layer.queries.shape
    by_hand, module, fused, listed, library = five_ways.run(layer, 0)
    assert by_hand.shapes["scores"] == (n_tokens, n_tokens)
    assert by_hand.shapes["Q"] == (n_tokens, d_head)
    assert module.shapes["weights"] == (n_heads, n_tokens, n_tokens)
    assert fused.shapes["qkv"] == (n_tokens, 3 * n_heads * d_head)
    assert listed.shapes["joined"] == (n_tokens, n_heads * d_head)
    # PyTorch never writes the weights down.
    assert "weights" not in library.shapes
    assert library.shapes["outputs"] == (n_heads, n_tokens, d_head)
    assert shape_table(module)["variable"] == list(module.shapes)


def test_what_is_shown_is_the_code_that_ran(trace):
    for result in five_ways.run(trace.layers[0], 0):
        compiled = compile(result.way.source, "shown", "exec")
        shown = {name for code in _codes(compiled) for name in code.co_varnames}
        assert set(result.shapes) <= shown


def _codes(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from _codes(constant)


def test_a_wrong_weight_shows(trace):
    layer = trace.layers[0]
    wrong = layer.projections.W_V.copy()
    wrong[0, 0] += 1
    results = five_ways.run(replace(layer, projections=replace(layer.projections, W_V=wrong)), 0)
    assert min(result.difference.absolute for result in results) > 1e-3
    assert tells(tell_five_ways(HeadContext(trace, 0, 0, 0), results), "five-ways/disagree")


def test_a_layer_that_does_more_is_refused_in_a_sentence(smollm2):
    layer = smollm2.trace(SENTENCE).layers[0]
    assert "rotates queries" in five_ways.why_not(layer)
    with pytest.raises(ValueError, match="rotates queries"):
        five_ways.run(layer, 0)
    plain = load("toy").trace(SENTENCE).layers[0]
    assert five_ways.why_not(plain) == ""
    assert "self-attention" in five_ways.why_not(replace(plain, kind="cross", key_inputs=plain.inputs))
    assert "scales" in five_ways.why_not(replace(plain, scale=1.0))
    assert "share" in five_ways.why_not(replace(plain, keys=plain.keys[:1], values=plain.values[:1]))
    assert "unknown" in five_ways.why_not(replace(plain, inputs=None))


def test_a_whole_layer_is_compared_with_what_the_model_itself_added_and_not_with_our_product(trace):
    layer = trace.layers[0]
    # The model's own output of its output projection is altered; its heads and W_O, and all that we compute, are not.
    added = layer.added.copy()
    added[1, 3] += 0.01
    by_hand, *whole = five_ways.run(replace(layer, added=added), 0)
    assert by_hand.difference.absolute < 1e-5
    assert [result.difference.absolute for result in whole] == pytest.approx([0.01] * 4, rel=1e-2)
    told = tell_five_ways(HeadContext(trace, 0, 0, 2), [by_hand, *whole])
    assert tells(told, "five-ways/disagree")
    assert "1.0e-02" in told


def test_where_the_models_own_is_not_known_the_page_says_what_they_are_compared_with(trace):
    results = five_ways.run(replace(trace.layers[0], added=None), 0)
    assert [result.is_models_own for result in results] == [True, *[False] * 4]
    told = tell_five_ways(HeadContext(trace, 0, 0, 2), results)
    assert "They agree" in told
    assert "was not recorded" in told
    assert "was not recorded" not in tell_five_ways(HeadContext(trace, 0, 0, 2), five_ways.run(trace.layers[0], 0))
