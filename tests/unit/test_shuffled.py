"""Reordered tokens: against the models themselves, which read them in that order."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import models
from attention.core.trace import Difference
from attention.experiments.shuffled import can_be_reordered, first_head
from attention.models.base import Encoded
from tests.loaded import load

SENTENCE = "Four grey geese cross the cold river"
TEXTS = {"translator-fr-en": "le chat noir dort"}
MODELS = ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"]
TEXT_MODELS = MODELS[:-1]


def trace_of(model_id):
    model = load(model_id)
    return model.trace(TEXTS.get(model_id, model.info.reading.first if model_id == "vit-digits" else SENTENCE))


def some_order(n_tokens):
    return [int(each) for each in np.random.default_rng(3).permutation(n_tokens)]


def outputs_of(model, trace, order, head):
    """What the model computes in its first layer when it reads the tokens in this order."""
    tokens = tuple(replace(trace.tokens[token], position=place) for place, token in enumerate(order))
    (first, *_) = model.trace_batch([Encoded(trace.text, tokens)]).layers
    return first.model_output[0, head]


def test_what_a_decoder_has_written_can_be_reordered_and_what_it_looks_up_cannot():
    trace = trace_of("translator-fr-en")
    assert can_be_reordered(trace.decoder)
    assert not can_be_reordered(trace.cross)
    assert not can_be_reordered(replace(trace, embeddings=None))


@pytest.mark.parametrize("model_id", TEXT_MODELS)
def test_with_positions_it_is_what_the_model_computes_from_that_order(model_id):
    trace = trace_of(model_id)
    order = some_order(len(trace.tokens))
    for head in (0, trace.info.n_heads - 1):
        wanted = outputs_of(load(model_id), trace, order, head)
        ours = first_head(trace, head, order, with_positions=True).head_outputs
        assert Difference.between(ours, wanted).relative < 1e-5


def test_without_positions_it_is_what_a_bert_with_an_empty_table_computes():
    trace = trace_of("minilm-l6")
    order = some_order(len(trace.tokens))
    emptied = models.load("minilm-l6")
    with torch.no_grad():
        emptied._stack.module.embeddings.position_embeddings.weight.zero_()
    wanted = outputs_of(emptied, trace, order, 5)
    ours = first_head(trace, 5, order, with_positions=False).head_outputs
    assert Difference.between(ours, wanted).relative < 1e-5


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["toy", "minilm-l6", "translator-fr-en", "vit-digits"]), st.integers(0, 1), st.randoms())
def test_without_positions_an_encoder_shuffles_its_outputs_and_does_nothing_else(model_id, head, chance):
    trace = trace_of(model_id)
    order = list(range(len(trace.tokens)))
    chance.shuffle(order)
    typed = first_head(trace, head, range(len(order)), with_positions=False)
    moved = first_head(trace, head, order, with_positions=False)
    assert Difference.between(moved.head_outputs, typed.head_outputs[order]).relative < 1e-5
    assert Difference.between(moved.weights, typed.weights[np.ix_(order, order)]).relative < 1e-4


def test_a_decoder_knows_the_order_by_its_mask_alone():
    trace = trace_of("smollm2-135m")
    order = some_order(len(trace.tokens))
    for with_mask, is_same in ((True, False), (False, True)):
        runs = [
            first_head(trace, 0, each, with_positions=False, with_mask=with_mask).head_outputs
            for each in (range(len(order)), order)
        ]
        assert (Difference.between(runs[1], runs[0][order]).relative < 1e-5) == is_same
