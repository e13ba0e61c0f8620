from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core import masks, steps
from attention.core.trace import Embeddings, LayerTrace, ModelInfo, Projections, Trace
from attention.lesson.proof import prove

INFO = ModelInfo("random", "Random", "none", 3, 6, 2, 24, 4, 8, 0, "none", "none", "Random numbers.")


def make_layer(seed=0, heads=6, groups=2, n_tokens=5, mask=None, projections=None):
    """A layer of random numbers, whose model output is what attention makes of them."""
    rng = np.random.default_rng(seed)
    queries = rng.normal(size=(heads, n_tokens, 4)).astype(np.float32)
    keys, values = rng.normal(size=(2, groups, n_tokens, 4)).astype(np.float32)
    output = steps.attend(queries, keys, values, mask=mask, scale=0.4).head_outputs
    inputs = rng.normal(size=(n_tokens, heads * 4)).astype(np.float32)
    return LayerTrace(inputs, queries, keys, values, mask, 0.4, output, projections=projections)


def make_trace(*layers):
    return Trace("", (), layers, INFO, hidden_states=tuple(layer.inputs for layer in layers))


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([(1, 1), (4, 4), (6, 2), (3, 1)]),
    st.sampled_from(["none", "shared", "one for all", "per head"]),
    st.data(),
)
def test_one_head_is_derived_as_among_all(seed, sizes, mask_kind, data):
    heads, groups = sizes
    shape = {"none": None, "shared": (5, 5), "one for all": (1, 5, 5), "per head": (heads, 5, 5)}[mask_kind]
    mask = None if shape is None else masks.painted(np.random.default_rng(seed).random(shape) < 0.5)
    layer = make_layer(seed, heads, groups, mask=mask)
    layer = replace(layer, softcap=data.draw(st.sampled_from([None, 0.7])))
    head = data.draw(st.integers(0, heads - 1))
    alone, among_all = layer.head(head), layer.steps().head(head)
    assert (alone.capped_scores is None) == (among_all.capped_scores is None) == (layer.softcap is None)
    for field in fields(alone):
        if getattr(alone, field.name) is None:
            continue
        np.testing.assert_allclose(getattr(alone, field.name), getattr(among_all, field.name), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("head", [-1, 6])
def test_a_head_that_is_not_there_is_an_index_error(head):
    with pytest.raises(IndexError, match=f"between 0 and 5, got {head}"):
        make_layer().head(head)


def test_output_mixes_the_heads_with_w_o():
    w_o = np.random.default_rng(1).normal(size=(24, 7)).astype(np.float32)
    unused = np.empty((24, 0), np.float32)
    layer = make_layer(projections=Projections(unused, unused, unused, w_o, b_O=np.full(7, 2, np.float32)))
    # Head by head: each head's output times its own four rows of W_O.
    by_head = np.einsum("hqd,hdm->qm", layer.model_output, w_o.reshape(6, 4, 7)) + 2
    np.testing.assert_allclose(layer.output(), by_head, rtol=1e-5, atol=1e-5)


def test_output_without_w_o_is_an_error_that_says_so():
    with pytest.raises(ValueError, match="W_O"):
        make_layer().output()


@given(st.integers(0, 5), st.integers(0, 4), st.integers(0, 3), st.sampled_from([-0.5, 0.001]))
def test_check_finds_one_number_that_the_model_did_not_compute(head, query, dimension, error):
    honest, tampered = make_layer(1), make_layer(2)
    tampered.model_output[head, query, dimension] += error
    assert honest.check() < 1e-6
    assert tampered.check() == pytest.approx(abs(error), abs=1e-6)
    assert make_trace(honest, tampered).check() == pytest.approx(abs(error), abs=1e-6)


@pytest.mark.parametrize("layer", [0, 1])
def test_check_does_not_pass_over_nan(layer):
    layers = [make_layer(1), make_layer(2)]
    layers[layer].model_output[3, 2, 1] = np.nan
    assert np.isnan(make_trace(*layers).check())


def test_nothing_in_a_trace_can_be_changed():
    layer = make_layer(mask=masks.causal(5))
    embeddings = Embeddings(*np.ones((3, 5, 24), np.float32))
    trace = Trace("", (), (layer,), INFO, embeddings, (np.ones((5, 24), np.float32),))
    names = ("inputs", "queries", "keys", "values", "mask", "model_output")
    arrays = [
        *(getattr(layer, name) for name in names),
        *(embeddings.words, embeddings.positions, embeddings.segments),
        *trace.hidden_states,
    ]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_nbytes_counts_memory_once_however_many_look_at_it():
    layer = make_layer()
    own = sum(array.nbytes for array in (layer.inputs, layer.queries, layer.model_output))
    own += layer.keys.base.nbytes  # keys and values are halves of one array
    assert make_trace(layer).nbytes == own
    assert make_trace(layer, replace(layer, keys=layer.keys[:, ::-1])).nbytes == own


def test_an_encoder_decoder_is_checked_and_weighed_in_all_its_parts():
    wrong = replace(make_layer(2), model_output=make_layer(2).model_output + 1)
    encoder, decoder = make_trace(make_layer(0)), make_trace(make_layer(1))
    cross = replace(make_trace(wrong), memory=(), info=replace(INFO, n_decoder_layers=1))
    whole = replace(encoder, decoder=decoder, cross=cross)
    assert [whole.part(name) for name in cross.info.parts] == [whole, decoder, cross]
    assert whole.check() == pytest.approx(1, abs=1e-5)
    assert not prove(whole).holds
    assert prove(encoder).holds
    assert whole.nbytes == encoder.nbytes + decoder.nbytes + cross.nbytes


def test_a_part_that_a_model_lacks_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="cross"):
        make_trace(make_layer()).part("cross")


def test_keys_of_cross_attention_are_made_of_the_encoders_output():
    rng = np.random.default_rng(3)
    w_q, w_k = rng.normal(size=(2, 24, 24)).astype(np.float32)
    memory = rng.normal(size=(7, 24)).astype(np.float32)
    layer = replace(make_layer(groups=6, projections=Projections(w_q, w_k, w_k, w_q)), key_inputs=memory)
    queries, keys = layer.projected(2)
    np.testing.assert_allclose(queries, (layer.inputs @ w_q)[:, 8:12], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(keys, (memory @ w_k)[:, 8:12], rtol=1e-5, atol=1e-5)
