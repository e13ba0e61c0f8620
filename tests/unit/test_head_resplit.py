"""One width split into heads: against torch's attention, the model's own ΔE, and vectors actually set to 0."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention.core.trace import Difference, LayerTrace, Projections
from attention.experiments.head_resplit import contributions, counts, obstacle, query_changes, recut, slices
from tests.loaded import load

SENTENCE = "Four grey geese cross the cold river"
TEXTS = {"translator-fr-en": "le chat noir dort", "vit-digits": load("vit-digits").info.reading.first}
CUT = ["toy", "minilm-l6", "translator-fr-en", "vit-digits"]


def layers(model_id, **how):
    trace = load(model_id).trace(TEXTS.get(model_id, SENTENCE), **how)
    return [layer for part in trace.traces for layer in part.layers]


def sizes(layer):
    n_heads, _, d_head = layer.queries.shape
    return n_heads, n_heads * d_head


@pytest.mark.parametrize("how", [{}, {"mask": "causal"}], ids=["own mask", "causal"])
@pytest.mark.parametrize("model_id", CUT)
def test_a_cut_is_what_torch_makes_of_the_same_vectors(model_id, how):
    for layer in layers(model_id, **how):
        own, width = sizes(layer)
        for n_heads in counts(width, own):
            vectors = (layer.queries, layer.keys, layer.values)
            queries, keys, values = (
                torch.tensor(np.concatenate(each, axis=-1)).view(each.shape[1], n_heads, -1).transpose(0, 1)
                for each in vectors
            )
            mask = None if layer.mask is None else torch.tensor(layer.mask)
            wanted = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
            np.testing.assert_allclose(recut(layer, n_heads).head_outputs, wanted.numpy(), atol=2e-5)


@pytest.mark.parametrize("model_id", CUT)
def test_the_score_of_the_uncut_head_is_the_sum_of_the_scores_of_all_heads(model_id):
    for layer in layers(model_id):
        scores = layer.steps().scores
        np.testing.assert_allclose(recut(layer, 1).scores[0], scores.sum(axis=0), atol=1e-5 * np.abs(scores).max() * 12)


def test_some_rows_alone_are_those_of_all():
    (layer,) = layers("toy", mask="causal")
    some, every = recut(layer, 4, slice(2, 4)), recut(layer, 4)
    np.testing.assert_allclose(some.weights, every.weights[:, 2:4], atol=1e-6)
    assert not some.weights[:, 0, 3:].any()


def test_a_model_that_does_not_divide_by_the_root_keeps_its_own_factor():
    (layer,) = layers("toy")
    undivided = replace(layer, scale=1.0)
    np.testing.assert_array_equal(recut(undivided, 2).scaled_scores, recut(undivided, 2).scores)
    np.testing.assert_allclose(recut(layer, 2).scaled_scores, recut(layer, 2).scores / 12**0.5, rtol=1e-6)


def test_what_cannot_be_cut_anew_is_refused_and_says_why():
    (layer,) = layers("toy")
    n_heads, n_tokens, _ = layer.queries.shape
    biased = replace(layer, bias=np.zeros((n_heads, n_tokens, n_tokens), np.float32))
    masked = replace(layer, mask=np.zeros((n_heads, n_tokens, n_tokens), np.float32))
    for each, reason in ((layers("smollm2-135m")[0], "shared"), (biased, "positions"), (masked, "positions")):
        assert obstacle(each) == reason
        with pytest.raises(ValueError, match=reason):
            recut(each, 1)
    with pytest.raises(ValueError, match="multiple of 5"):
        recut(layer, 5)


@given(st.integers(1, 12), st.integers(1, 64))
def test_every_count_divides_the_width_and_the_models_own_is_among_them(own, d_head):
    found = counts(own * d_head, own)
    assert own in found
    assert 1 in found
    assert list(found) == sorted(set(found))
    assert all(own * d_head % count == 0 for count in found)


# --------------------------------------------------------------------------------- what a head reads


@given(st.integers(1, 40), st.integers(1, 40))
def test_slices_cover_a_vector_once(width, each):
    found = np.concatenate([np.arange(width)[part] for part in slices(width, each)])
    np.testing.assert_array_equal(found, np.arange(width))


@pytest.mark.parametrize("model_id", [*CUT, "smollm2-135m"])
def test_a_query_moves_as_far_as_it_does_if_the_slice_is_really_set_to_0(model_id):
    layer = layers(model_id)[0]
    n_heads, d_head = layer.queries.shape[0], layer.queries.shape[2]
    found = query_changes(layer.inputs[2], layer.projections, n_heads)
    for index, part in enumerate(slices(layer.inputs.shape[1], d_head)):
        inputs = layer.inputs.copy()
        inputs[:, part] = 0
        without = replace(layer, inputs=inputs)
        for head in range(n_heads):
            before, after = layer.projected(head)[0][2], without.projected(head)[0][2]
            wanted = np.linalg.norm(after - before) / np.linalg.norm(before)
            assert found[head, index] == pytest.approx(wanted, abs=1e-4)


def test_of_a_query_that_is_0_no_part_can_be_told():
    weights = np.zeros((4, 4), np.float32)
    weights[2:, 2:] = 1
    found = query_changes(np.ones(4, np.float32), Projections(weights, weights, weights, weights), 2)
    np.testing.assert_array_equal(found, [[np.nan, np.nan], [0, 1]])


# --------------------------------------------------------------------------------- what a head adds


@pytest.mark.parametrize("model_id", [*CUT, "smollm2-135m"])
def test_what_the_heads_add_is_added_up_to_what_the_model_adds(model_id):
    for layer in layers(model_id):
        found = contributions(layer.steps().head_outputs, layer.projections)
        assert Difference.between(found.total, layer.added).relative < 1e-5


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 5), st.booleans())
def test_a_head_adds_what_is_missing_without_it(seed, n_heads, n_tokens, has_bias):
    chance = np.random.default_rng(seed)
    outputs, weight = chance.normal(size=(n_heads, n_tokens, 3)), chance.normal(size=(3 * n_heads, 7))
    parts = Projections(weight, weight, weight, weight, b_O=chance.normal(size=7) if has_bias else None)
    found = contributions(outputs, parts)
    for head in range(n_heads):
        without = outputs.copy()
        without[head] = 0
        lost = found.total - contributions(without, parts).total
        np.testing.assert_allclose(np.linalg.norm(lost, axis=-1), found.lengths[:, head], atol=1e-9)


def test_a_w_o_of_another_width_is_refused():
    (layer,) = layers("toy")
    assert isinstance(layer, LayerTrace)
    with pytest.raises(ValueError, match="24 rows"):
        contributions(layer.steps().head_outputs, replace(layer.projections, W_O=np.zeros((23, 16), np.float32)))
