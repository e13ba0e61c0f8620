"""Savings by shared keys and values: against values by hand, and the real model's own arrays."""

import re

import numpy as np
import pytest
import torch

from attention.core import steps
from attention.lesson.head_context import HeadContext
from attention.lesson.savings import (
    PRESETS,
    Sizes,
    costs,
    savings_table,
    shared,
    shared_pictures,
    sizes_of,
    tell_cache,
    tell_savings,
    tell_shared,
)
from attention.models import get_info
from tests.loaded import load
from tests.unit.saying import says

SMOLLM2, LLAMA, GPT3 = PRESETS


def test_llama_3_keeps_128_kib_a_token_and_would_keep_four_times_as_much():
    # 2 · 32 layers · 8 heads · 128 numbers · 2 bytes = 131,072 bytes; 8,192 tokens of that are one GiB.
    grouped = costs(LLAMA, 8)
    assert (grouped.bytes_per_token, grouped.bytes_per_context) == (128 * 1024, 1024**3)
    assert costs(LLAMA, 32).bytes_per_context == 4 * 1024**3
    # W_Q and W_O are 4096 × 4096 in each of 32 layers, W_K and W_V 4096 × 1024.
    assert grouped.weights == 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024)


def test_gpt_3_keeps_nine_gib():
    assert costs(GPT3, 96).bytes_per_context == 9 * 1024**3
    assert costs(GPT3, 1).bytes_per_context * 96 == 9 * 1024**3


def test_the_sizes_of_the_bundled_model_are_its_own(smollm2):
    info = get_info("smollm2-135m")
    assert (SMOLLM2.n_layers, SMOLLM2.n_heads, SMOLLM2.n_key_value_heads) == (30, info.n_heads, info.n_key_value_heads)
    trace = smollm2.trace("The cat sat on the mat")
    found = costs(SMOLLM2, 3)
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        real = sum(getattr(layer.projections, name).size for layer in trace.layers)
        assert getattr(found, name) == real
    # The recorded keys and values are float32, twice as wide as what the cache is counted in.
    cached = sum(layer.keys.nbytes + layer.values.nbytes for layer in trace.layers)
    assert found.bytes_per_token * 6 * 2 == cached


@pytest.mark.parametrize("sizes", PRESETS, ids=lambda sizes: sizes.name)
def test_the_table_has_three_variants_and_marks_the_models_own(sizes):
    table = savings_table(sizes)
    assert [name.removesuffix(", as in the model") for name in table] == ["", "multi-head", "grouped", "multi-query"]
    (own,) = (column for name, column in table.items() if name.endswith(", as in the model"))
    assert own[0] == str(sizes.n_key_value_heads)
    assert "$" not in tell_savings(sizes)


def test_bytes_are_said_in_the_unit_that_fits():
    column = savings_table(LLAMA)["grouped, as in the model"]
    assert column[-2:] == ["128.0 KiB", "1.0 GiB"]
    assert re.fullmatch(r"[\d,]+", column[1])


@pytest.mark.parametrize(("model_id", "counts"), [("toy", [3, 1]), ("minilm-l6", [12, 3, 1]), ("smollm2-135m", [3, 1])])
def test_sharing_is_worked_out_on_the_trace_as_torch_does_it(model_id, counts):
    trace = load(model_id).trace("The cat sat on the mat")
    scene = HeadContext(trace, 0, 2, 1)
    layer, variants = trace.layers[0], shared(scene)
    assert [variant.n_key_value_heads for variant in variants] == counts
    for variant in variants:
        groups = torch.tensor(layer.keys).chunk(variant.n_key_value_heads)
        keys = torch.stack([group.mean(0) for group in groups]).repeat_interleave(
            len(layer.queries) // variant.n_key_value_heads, 0
        )
        values = torch.stack([group.mean(0) for group in torch.tensor(layer.values).chunk(variant.n_key_value_heads)])
        mask = None if layer.mask is None else torch.tensor(layer.mask)
        wanted = torch.nn.functional.scaled_dot_product_attention(
            *(torch.tensor(layer.queries), keys, values.repeat_interleave(len(keys) // len(values), 0)),
            attn_mask=mask,
            scale=layer.scale,
        )
        np.testing.assert_allclose(variant.head_outputs, wanted, atol=1e-5)
    # With as many as the model has, nothing changes.
    np.testing.assert_allclose(variants[0].head_outputs, layer.model_output, atol=1e-5)
    pictures = shared_pictures(scene, variants)
    assert [picture.title.endswith("as in the model") for picture in pictures] == [True] + [False] * (len(counts) - 1)
    largest = np.abs(variants[-1].weights[2] - variants[0].weights[2]).max()
    assert f"{largest:.2f}" in tell_shared(scene, variants)


@pytest.mark.parametrize(("model_id", "variants"), [("toy", [3, 1]), ("minilm-l6", [12, 3, 1])])
def test_the_costs_of_the_model_on_the_page_are_those_of_its_own_arrays(model_id, variants):
    trace = load(model_id).trace("The cat sat on the mat")
    sizes = sizes_of(trace)
    assert list(sizes.variants.values()) == variants
    found = costs(sizes, sizes.n_heads)
    assert sum(layer.projections.W_K.size for layer in trace.layers) == found.W_K
    cached = sum(layer.keys.nbytes + layer.values.nbytes for layer in trace.layers)
    assert found.bytes_per_context * 2 == cached


@pytest.mark.parametrize(
    ("part", "said"), [("encoder", "need no cache"), ("decoder", None), ("cross", "computed once")]
)
def test_of_an_encoder_decoder_they_are_those_of_the_layers_on_the_page(part, said):
    trace = load("translator-fr-en").trace("le chat dort sur la table").part(part)
    sizes = sizes_of(trace)
    found = costs(sizes, sizes.n_heads)
    assert sum(layer.projections.W_K.size for layer in trace.layers) == found.W_K
    cached = sum(layer.keys.nbytes + layer.values.nbytes for layer in trace.layers)
    assert found.bytes_per_context * 2 == cached
    told = tell_cache(HeadContext(trace, 0, 0, 0))
    assert (told == "") if said is None else (said in told)


@pytest.mark.parametrize(("kind", "d_head", "d_value"), [("deepseek_v3", 14, 7), ("mobilebert", 8, None)])
def test_heads_that_are_no_equal_shares_of_a_vector_cost_what_was_recorded(model_of, kind, d_head, d_value):
    trace = model_of(kind).trace("The cat sat on the mat")
    sizes = sizes_of(trace)
    assert (sizes.d_head, sizes.d_value) == (trace.info.d_head, trace.info.d_value) == (d_head, d_value)
    found = costs(sizes, sizes.n_heads)
    cached = sum(layer.keys.nbytes + layer.values.nbytes for layer in trace.layers)
    assert found.bytes_per_context * 2 == cached
    # It has no matrix from a token's vector to its queries: the vector is narrowed first.
    assert [len(column) for column in savings_table(sizes).values()] == [3, 3, 3, 3]
    assert "4 query heads with " + str(d_head) in tell_savings(sizes)
    assert (f"have {d_value} numbers each" in tell_savings(sizes)) == (d_value is not None)


def test_a_model_with_one_head_has_nothing_to_share_and_says_so():
    sizes = Sizes("Single", 2, 1, 1, 32, 32, 6, "a test")
    assert list(sizes.variants.values()) == [1]
    assert [len(column) for column in savings_table(sizes).values()] == [8, 8]
    assert list(savings_table(sizes))[1:] == ["single-head, as in the model"]
    told = tell_savings(sizes)
    assert says(told, "1", "32")
    assert "nothing to share" in told
    assert "other columns" not in told


def test_heads_that_cannot_be_shared_evenly_are_an_error_that_says_so():
    with pytest.raises(ValueError, match="3 heads, got 2"):
        steps.share_heads(np.zeros((3, 2, 4), np.float32), 2)
