"""What shared keys and values save: against numbers worked out by hand, and against the real model's own arrays."""

import re

import pytest

from attention.lesson.savings import PRESETS, costs, savings_table, tell_savings
from attention.models import get_info

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
    assert [name.removesuffix(" (its own)") for name in table] == ["", "multi-head", "grouped", "multi-query"]
    (own,) = (column for name, column in table.items() if name.endswith("(its own)"))
    assert own[0] == str(sizes.n_key_value_heads)
    assert "$" not in tell_savings(sizes)


def test_bytes_are_said_in_the_unit_that_fits():
    column = savings_table(LLAMA)["grouped (its own)"]
    assert column[-2:] == ["128.0 KiB", "1.0 GiB"]
    assert re.fullmatch(r"[\d,]+", column[1])
