import math
from dataclasses import fields

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from attention.core import masks, steps

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 6)


@st.composite
def attention_inputs(draw):
    """Queries, keys and values in float64, a mask of any kind that broadcasts, and a scale."""
    rng = np.random.default_rng(draw(seeds))
    groups, group_size = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    heads, n_queries, n_keys, d_head, d_value = groups * group_size, *(draw(sizes) for _ in range(4))
    queries = rng.normal(size=(heads, n_queries, d_head))
    keys = rng.normal(size=(groups, n_keys, d_head))
    values = rng.normal(size=(groups, n_keys, d_value))
    match draw(st.sampled_from(["none", "causal", "padding", "painted", "bias"])):
        case "none":
            mask = None
        case "causal":
            mask = masks.painted(np.triu(np.ones((n_queries, n_keys), bool), k=1))
        case "padding":
            mask = masks.painted(np.arange(n_keys) >= draw(st.integers(0, n_keys)))
        case kind:
            shape = draw(
                st.sampled_from([(n_queries, n_keys), (1, n_keys), (heads, n_queries, n_keys), (heads, 1, n_keys)])
            )
            mask = masks.painted(rng.random(shape) < draw(st.sampled_from([0.3, 0.8, 1.0])))
            mask = mask + rng.normal(size=shape) if kind == "bias" else mask
    scale = draw(st.none() | st.floats(0.01, 10))
    return queries, keys, values, mask, scale


@given(attention_inputs())
def test_attend_equals_scaled_dot_product_attention(inputs):
    queries, keys, values, mask, scale = inputs
    ours = steps.attend(queries, keys, values, mask=mask, scale=scale)

    full_mask = np.zeros(ours.scores.shape) + (0.0 if mask is None else mask)
    q, k, v, m = (torch.from_numpy(array)[None] for array in (queries, keys, values, full_mask))
    theirs = scaled_dot_product_attention(q, k, v, attn_mask=m, scale=scale, enable_gqa=True)[0].numpy()

    sees_nothing = np.isneginf(full_mask).all(axis=-1)
    np.testing.assert_allclose(ours.head_outputs[~sees_nothing], theirs[~sees_nothing], rtol=1e-10, atol=1e-10)
    assert not ours.head_outputs[sees_nothing].any()
    assert not ours.weights[sees_nothing].any()
    np.testing.assert_allclose(ours.weights.sum(axis=-1), ~sees_nothing, atol=1e-12)


@given(attention_inputs(), seeds)
def test_a_bias_is_a_part_of_the_scores(inputs, seed):
    queries, keys, values, mask, _ = inputs
    bias = np.random.default_rng(seed).normal(size=(len(queries), queries.shape[1], keys.shape[1]))
    ours = steps.attend(queries, keys, values, mask=mask, scale=1.0, bias=bias)
    np.testing.assert_allclose(ours.scores - bias, steps.attend(queries, keys, values).scores, atol=1e-12)

    added = bias + (0.0 if mask is None else mask)
    q, k, v, m = (torch.from_numpy(array)[None] for array in (queries, keys, values, added))
    theirs = scaled_dot_product_attention(q, k, v, attn_mask=m, scale=1.0, enable_gqa=True)[0].numpy()
    sees_nothing = np.isneginf(added).all(axis=-1)
    np.testing.assert_allclose(ours.head_outputs[~sees_nothing], theirs[~sees_nothing], rtol=1e-10, atol=1e-10)


@given(seeds, sizes, st.integers(2, 8))
def test_the_norms_are_those_of_torch(seed, n_tokens, width):
    rng = np.random.default_rng(seed)
    x, gain, bias = rng.normal(2, 3, size=(n_tokens, width)), rng.normal(size=width), rng.normal(size=width)
    x_torch, gain_torch, bias_torch = map(torch.from_numpy, (x, gain, bias))
    for b in (None, bias):
        theirs = torch.nn.functional.layer_norm(x_torch, (width,), gain_torch, None if b is None else bias_torch, 1e-5)
        np.testing.assert_allclose(steps.layer_norm(x, gain, b, 1e-5), theirs.numpy(), rtol=1e-9, atol=1e-9)
    theirs = torch.nn.functional.rms_norm(x_torch, (width,), gain_torch, 1e-5)
    np.testing.assert_allclose(steps.rms_norm(x, gain, 1e-5), theirs.numpy(), rtol=1e-9, atol=1e-9)


@given(seeds, st.integers(1, 4), sizes, sizes, sizes)
def test_the_steps_in_a_row_equal_multihead_attention(seed, heads, d_head, n_queries, n_keys):
    d_model = heads * d_head
    generator = torch.Generator().manual_seed(seed)
    reference = torch.nn.MultiheadAttention(d_model, heads, batch_first=True, dtype=torch.float64).eval()
    for parameter in reference.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    to_queries, to_keys = (
        torch.randn(1, n, d_model, dtype=torch.float64, generator=generator) for n in (n_queries, n_keys)
    )
    with torch.no_grad():
        output, weights = reference(to_queries, to_keys, to_keys, average_attn_weights=False)

    in_weights = reference.in_proj_weight.detach().numpy().T
    in_biases = reference.in_proj_bias.detach().numpy()
    query_inputs, key_inputs = to_queries[0].numpy(), to_keys[0].numpy()
    queries, keys, values = (
        steps.split_heads(steps.project(inputs, weight, bias), heads)
        for inputs, weight, bias in zip(
            (query_inputs, key_inputs, key_inputs),
            np.split(in_weights, 3, axis=1),
            np.split(in_biases, 3),
            strict=True,
        )
    )
    ours = steps.attend(queries, keys, values)
    np.testing.assert_allclose(ours.weights, weights[0].numpy(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        steps.output_projection(
            steps.join_heads(ours.head_outputs),
            reference.out_proj.weight.detach().numpy().T,
            reference.out_proj.bias.detach().numpy(),
        ),
        output[0].numpy(),
        rtol=1e-10,
        atol=1e-10,
    )


# Two tokens, d_head 4, so that the scale is 1/2: "a" scores 0 and ln 3, hence e⁰ : e^ln 3 = 1 : 3;
# "b" scores 0 and 0, hence 1 : 1.
BY_HAND = {
    "queries": np.array([[[2 * math.log(3), 0, 0, 0], [0, 0, 5, 0]]]),
    "keys": np.array([[[0.0, 0, 0, 7], [1, 0, 0, 0]]]),
    "values": np.array([[[4.0], [8.0]]]),
}


def test_attend_by_hand():
    found = steps.attend(**BY_HAND)
    np.testing.assert_allclose(found.scores, [[[0, 2.1972245773], [0, 0]]], atol=1e-9)
    np.testing.assert_allclose(found.scaled_scores, [[[0, 1.0986122887], [0, 0]]], atol=1e-9)
    np.testing.assert_allclose(found.weights, [[[1 / 4, 3 / 4], [1 / 2, 1 / 2]]])
    np.testing.assert_allclose(found.head_outputs, [[[4 / 4 + 3 * 8 / 4], [(4 + 8) / 2]]])


@given(attention_inputs(), st.data())
def test_head_is_that_row_of_every_step(inputs, data):
    found = steps.attend(*inputs[:3], mask=inputs[3], scale=inputs[4])
    assert found.capped_scores is None
    assert found.unmasked_scores is found.scaled_scores
    found = steps.attend(*inputs[:3], mask=inputs[3], scale=inputs[4], softcap=data.draw(st.floats(0.5, 50)))
    assert found.unmasked_scores is found.capped_scores
    head = data.draw(st.integers(0, found.queries.shape[0] - 1))
    for field in fields(found):
        np.testing.assert_array_equal(getattr(found.head(head), field.name), getattr(found, field.name)[head])


@given(attention_inputs(), st.floats(0.5, 50))
def test_capped_scores_keep_their_order_and_are_within_the_cap(inputs, cap):
    """And where nothing is hidden, softmax of them is PyTorch's of cap · tanh(score / cap)."""
    found = steps.attend(*inputs[:3], scale=inputs[4], softcap=cap)
    scaled, capped = found.scaled_scores, found.capped_scores
    assert np.abs(capped).max() <= cap
    assert (np.abs(capped) <= np.abs(scaled) + 1e-12).all()
    assert (np.diff(np.take_along_axis(capped, scaled.argsort(axis=-1), axis=-1), axis=-1) >= -1e-12).all()
    wanted = torch.softmax(cap * torch.tanh(torch.from_numpy(np.array(scaled)) / cap), dim=-1)
    np.testing.assert_allclose(found.weights, wanted.numpy(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_floating_point_type_is_kept(dtype):
    rng = np.random.default_rng(0)
    queries, keys, values = rng.normal(size=(3, 2, 4, 3)).astype(dtype)
    # The mask and the scale are of another type on purpose.
    found = steps.attend(queries, keys, values, mask=np.zeros((4, 4)), scale=np.float64(0.3), softcap=3)
    assert {getattr(found, field.name).dtype for field in fields(found)} == {np.dtype(dtype)}


@pytest.mark.parametrize("highest", [1e4, -1e4, 1e30])
def test_huge_scores_do_not_overflow(highest):
    # The second row is far below the first, or far above it.
    scores = np.array([[highest, highest - abs(highest) / 2, highest], [0, 0, -np.inf]], np.float32)
    np.testing.assert_array_equal(steps.softmax(scores), [[0.5, 0, 0.5], [0.5, 0.5, 0]])


@given(seeds, sizes, sizes, sizes)
def test_split_heads_gives_each_head_its_columns_and_join_heads_puts_them_back(seed, heads, n_tokens, d_head):
    joined = np.random.default_rng(seed).normal(size=(n_tokens, heads * d_head))
    split = steps.split_heads(joined, heads)
    for head in range(heads):
        np.testing.assert_array_equal(split[head], joined[:, head * d_head : (head + 1) * d_head])
    np.testing.assert_array_equal(steps.join_heads(split), joined)


@given(seeds, sizes, st.sampled_from([(4, 4), (4, 2), (4, 1)]), sizes, st.booleans())
def test_several_texts_at_once_are_each_of_them_alone(seed, n_texts, heads, n_tokens, has_mask):
    random = np.random.default_rng(seed)
    # The heads beside one another in memory, as in a model.
    queries, keys, values = (
        random.normal(size=(n_texts, n_tokens, count, 3)).swapaxes(1, 2) for count in (heads[0], heads[1], heads[1])
    )
    mask = np.where(np.tri(n_tokens), 0, -np.inf) if has_mask else None
    bias = random.normal(size=(heads[0], n_tokens, n_tokens))
    together = steps.attend(queries, keys, values, mask=mask, bias=bias)
    for text in range(n_texts):
        alone = steps.attend(queries[text], keys[text], values[text], mask=mask, bias=bias)
        for field in fields(together):
            ours, theirs = getattr(together, field.name), getattr(alone, field.name)
            if theirs is not None:
                np.testing.assert_allclose(ours[text], theirs, rtol=1e-12)


def zeros(*shape):
    return np.zeros(shape)


@pytest.mark.parametrize(
    ("queries", "keys", "values", "mask", "wanted", "got"),
    [
        (zeros(4, 3), zeros(2, 4, 3), zeros(2, 4, 3), None, "queries must have 3 axes", r"\(4, 3\)"),
        (zeros(5, 2, 4, 3), zeros(6, 2, 4, 3), zeros(5, 2, 4, 3), None, r"keys .*after \(5,\)", r"\(6, 2, 4, 3\)"),
        (zeros(2, 4, 3), zeros(2, 4, 5), zeros(2, 4, 3), None, "keys must have width 3", "got 5"),
        (zeros(2, 4, 3), zeros(2, 4, 3), zeros(2, 7, 3), None, "values must have 2 heads and 4", "got 2 and 7"),
        (zeros(2, 4, 3), zeros(2, 4, 3), zeros(1, 4, 3), None, "values must have 2 heads and 4", "got 1 and 4"),
        (zeros(3, 4, 3), zeros(2, 4, 3), zeros(2, 4, 3), None, "must be a multiple", "got 3 and 2"),
        (zeros(2, 4, 3), zeros(2, 0, 3), zeros(2, 0, 3), None, "at least one token", r"\(2, 0, 3\)"),
        (zeros(2, 4, 3), zeros(2, 5, 3), zeros(2, 5, 3), zeros(5, 4), r"\(2, 4, 5\)", r"got \(5, 4\)"),
        (zeros(2, 4, 3), zeros(2, 5, 3), zeros(2, 5, 3), zeros(1, 2, 4, 5), r"\(2, 4, 5\)", r"\(1, 2, 4, 5\)"),
    ],
)
def test_attend_says_what_shape_came_and_what_was_wanted(queries, keys, values, mask, wanted, got):
    with pytest.raises(ValueError, match=f"{wanted}.*{got}"):
        steps.attend(queries, keys, values, mask=mask)


def test_a_bias_of_another_shape_is_an_error_that_says_so():
    with pytest.raises(ValueError, match=r"bias.*\(2, 4, 5\).*got \(3, 4, 5\)"):
        steps.attend(zeros(2, 4, 3), zeros(2, 5, 3), zeros(2, 5, 3), bias=zeros(3, 4, 5))


def test_projecting_says_what_shape_came_and_what_was_wanted():
    with pytest.raises(ValueError, match=r"\(3, N\).*got \(4, 2\)"):
        steps.project(zeros(5, 3), zeros(4, 2))
    with pytest.raises(ValueError, match="4 heads, got 10"):
        steps.split_heads(zeros(5, 10), 4)
