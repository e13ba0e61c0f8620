"""Cross-attention heads, against plain loops."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.measures.cross import summarise_cross
from tests.plain_loops import (
    average,
    counted_rows,
    entropy,
    lift,
    masked_weights,
    random_weights,
    token,
    visible,
    words,
)

NAMES = st.sampled_from(["</s>", "[SEP]", "chat", "noir"])


@given(masked_weights(), st.data())
def test_a_head_between_two_texts_is_measured_as_plain_loops_measure_it(inputs, data):
    weights, mask, kept = inputs
    _, n_queries, n_keys = weights.shape
    is_padding = [kept is not None and not kept[q] for q in range(n_queries)]
    tokens = [token("w", q, is_padding=is_padding[q]) for q in range(n_queries)]
    key_tokens = [token(name, k) for k, name in enumerate(data.draw(st.lists(NAMES, min_size=n_keys, max_size=n_keys)))]
    for head, found in enumerate(summarise_cross(weights, tokens, key_tokens, mask, layer=3)):
        rows = counted_rows(weights[head], kept)
        seen = {q: [k for k in range(n_keys) if visible(mask, head, q, k)] for q in rows}
        entropies = {q: entropy(weights[head, q]) for q in rows}
        lifts = [
            lift(average(weights[head, q, k] for q in rows), average((k in seen[q]) / len(seen[q]) for q in rows))
            for k in range(n_keys)
        ]
        special = [k for k in range(n_keys) if key_tokens[k].is_special]
        assert asdict(found) == pytest.approx(
            {
                "layer": 3,
                "head": head,
                "entropy": average(entropies.values()),
                "normalised_entropy": average(entropies[q] / math.log(len(seen[q])) for q in rows if len(seen[q]) > 1),
                "largest": average(max(weights[head, q]) for q in rows),
                "special": average(weights[head, q, special].sum() for q in rows),
                "vertical": max(lifts),
            },
            abs=1e-9,
        )


def test_weights_and_tokens_must_fit():
    with pytest.raises(ValueError, match=r"weights.*\(heads, 3, 4\)"):
        summarise_cross(random_weights(0, 2, 4, 3), words(3), words(4))


def test_numbers_are_plain_and_finite():
    (summary,) = summarise_cross(np.zeros((1, 2, 3)), words(2), words(3))
    assert asdict(summary) == dict.fromkeys(asdict(summary), 0)
    assert {type(value) for name, value in asdict(summary).items() if name not in ("layer", "head")} == {float}
