"""Whole models on one page of NumPy, against the models themselves, on generated texts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.models.one_page import is_written, run
from tests.loaded import load

TEXTS = ("The cat sat on the mat", "Yes", "Unbelievably, naïve word pieces (42 of them!) survived 😀.")
MODELS = ("minilm-l6", "smollm2-135m")


def passed(model, trace):
    found = model.next_token(trace)
    return run(model.insides(), trace) if found is None else run(model.insides(), trace, found.logits[-1], found.labels)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("model_id", MODELS)
def test_the_page_gives_what_the_model_gives(model_id, text):
    model = load(model_id)
    trace = model.trace(text)
    found = passed(model, trace)
    assert found.ends.absolute < 1e-4
    assert found.states.relative < 1e-5
    if model_id == "smollm2-135m":
        answer = model.next_token(trace)
        assert found.candidates[0][0] == answer.labels[int(answer.logits[-1].argmax())]
    else:
        assert found.candidates == ()
    assert len(found.neurons) == trace.info.n_layers
    assert {each.shape for each in found.neurons} == {(len(trace.tokens), 1536)}
    assert not found.neurons[0].flags.writeable


@settings(max_examples=10)
@given(st.text(st.characters(categories=("L", "N", "P", "Zs")), min_size=1, max_size=40).filter(str.strip))
def test_berts_page_reads_any_text(text):
    model = load("minilm-l6")
    assert passed(model, model.trace(f"a {text}")).ends.absolute < 1e-4


def test_bert_reads_two_texts_on_its_page_too():
    model = load("minilm-l6")
    assert passed(model, model.trace("The cat sat", "It was tired")).ends.absolute < 1e-4


@pytest.mark.parametrize("model_id", MODELS)
def test_it_fits_on_a_page(model_id):
    source = passed(load(model_id), load(model_id).trace("Yes")).source
    assert len(source.splitlines()) <= 80
    assert "torch" not in source


def test_a_model_that_is_not_quite_the_same_has_no_page():
    insides = load("minilm-l6").insides()
    assert is_written(insides)
    other = replace(insides, config={**insides.config, "hidden_act": "relu"})
    assert not is_written(other)
    with pytest.raises(ValueError, match="'bert'"):
        run(other, load("minilm-l6").trace("Yes"))
    llama = load("smollm2-135m").insides()
    assert is_written(llama)
    for change in ({"tie_word_embeddings": False}, {"attention_bias": True}, {"head_dim": 32}):
        assert not is_written(replace(llama, config={**llama.config, **change}))
    assert load("toy").insides() is None
    assert load("translator-fr-en").insides() is None
    assert not is_written(load("vit-digits").insides())


def test_nobody_can_change_the_models_weights():
    for model_id in MODELS:
        arrays = load(model_id).insides().arrays
        assert not [name for name, array in arrays.items() if array.flags.writeable]
        assert np.isfinite(arrays[next(iter(arrays))]).all()
