"""Models of which only some layers have softmax attention: those layers are recorded, the others are named."""

import json

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

import attention
from attention import Ablate, show
from attention.core.ablation import Change
from attention.lesson.proof import prove
from attention.lesson.survey import Look, order, survey
from attention.models.architectures import info_from_config
from attention.models.generic_models import layer_kinds
from attention.models.huggingface import check_size
from tests.tiny_models import MIXED, PARALLEL
from tests.unit.eager import ids_of

SENTENCE = "The cat didn't sit on the tokenizers, and the birds sang."
WITH, WITHOUT = (1, 3), (0, 2)
KINDS = {"qwen3_next": "linear attention", "lfm2": "convolution", "jamba": "Mamba", "bamba": "Mamba"}


@pytest.fixture(scope="module", params=MIXED)
def mixed(request, model_of, folder_of):
    """A model, and transformers' own plain attention of it."""
    folder = folder_of(request.param)
    check_size(model_of(request.param).info, folder)
    eager = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, attn_implementation="eager").eval()
    return request.param, model_of(request.param), eager


def test_each_layer_with_attention_is_exact_and_the_others_are_named(mixed):
    kind, model, eager = mixed
    trace = model.trace(SENTENCE)
    with torch.inference_mode():
        result = eager(ids_of(trace), output_attentions=True)
    attentions = [each for each in result.attentions if each is not None]
    assert len(trace.layers) == 4
    assert tuple(trace.attended) == trace.info.attention_layers == WITH
    for number, theirs in zip(WITH, attentions, strict=True):
        np.testing.assert_allclose(trace.weights[number], theirs[0].numpy(), rtol=0, atol=1e-5)
    assert np.isnan(trace.weights[list(WITHOUT)]).all()
    assert {trace.info.layer_kinds[number] for number in WITHOUT} == {KINDS[kind]}
    np.testing.assert_allclose(trace.logits, result.logits[0].numpy(), rtol=0, atol=1e-4)
    assert prove(trace).holds
    assert trace.check() < 1e-5


def test_what_it_is_is_told_before_it_is_loaded(folder_of, model_of):
    for kind in MIXED:
        told = info_from_config(kind, folder_of(kind), name=kind, licence="", source="")
        assert told.layer_kinds == model_of(kind).info.layer_kinds
        assert told.default_layer in WITH


def test_layers_are_changed_by_the_models_own_numbers(mixed):
    _, model, _ = mixed
    plain, changed = model.trace(SENTENCE), model.run(SENTENCE, [Ablate((3, 1), "zero")]).trace
    np.testing.assert_array_equal(plain[1].model_output, changed[1].model_output)
    assert not changed[3].model_output[1].any()
    assert changed[3].model_output[0].any()
    whole, ablated = model.outputs(SENTENCE, None, [Change(), Change((Ablate((3, 1)),))])
    assert not np.allclose(whole.logits, ablated.logits)
    np.testing.assert_allclose(ablated.logits, changed.logits[-1], rtol=0, atol=1e-4)
    for run in (lambda: model.run(SENTENCE, [Ablate((0, 1))]), lambda: next(model.outputs(SENTENCE, None, [BAD]))):
        with pytest.raises(ValueError, match="layer 0 has no attention"):
            run()


BAD = Change((Ablate((0, 1)),))


def test_a_trace_keeps_the_models_own_numbers(mixed, tmp_path):
    _, model, _ = mixed
    trace = model.trace(SENTENCE)
    assert trace[3].has_attention
    assert not trace[0].has_attention
    with pytest.raises(IndexError, match="layer 2 has no attention"):
        _ = trace[2, 0]
    assert tuple(trace.to_pandas()["layer"].unique()) == WITH
    trace.save(tmp_path / "run.npz")
    again = attention.Trace.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.weights, trace.weights)
    batch = model.trace_batch([model.encode(SENTENCE)] * 2)
    np.testing.assert_allclose(batch.layers[3].queries[0], trace[3].queries, rtol=0, atol=1e-4)
    assert batch.layers[0].queries.shape[1] == 0


def test_pictures_number_layers_as_the_model_does(mixed):
    kind, model, _ = mixed
    trace = model.trace(SENTENCE)
    groups = order("layer", survey(trace, Look()), trace, Look(), (1, 0)).groups
    assert [len(heads) for _, heads in groups] == [0, 4, 0, 4]
    assert KINDS[kind] in groups[0][0]
    assert groups[3][1][0] == (3, 0)
    figure = show.figure(trace, layer=3, head=1)
    np.testing.assert_allclose(np.array(figure.data[0].z, float), trace[3, 1].weights, rtol=0, atol=1e-6)
    assert show.atlas_figure(trace, include_layers=[3]).data
    with pytest.raises(ValueError, match="layer 0"):
        show.step(trace, "scores", layer=0)


def test_layers_with_attention_beside_something_else_all_count(model_of):
    trace = model_of(PARALLEL).trace(SENTENCE)
    assert trace.info.layer_kinds == ()
    assert len(trace.attended) == 4
    assert prove(trace).holds


@pytest.mark.parametrize(
    ("config", "attending"),
    [
        ({"num_hidden_layers": 8, "attn_layer_period": 4, "attn_layer_offset": 1}, (1, 5)),
        ({"num_hidden_layers": 8, "full_attention_interval": 4}, (3, 7)),
        ({"num_hidden_layers": 4, "attn_layer_indices": [2]}, (2,)),
        ({"num_hidden_layers": 5, "block_types": ["recurrent", "recurrent", "attention"]}, (2,)),
        ({"num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"]}, ()),
        ({"num_hidden_layers": 2, "layers_block_type": ["hybrid", "mamba"]}, (0,)),
        ({"layer_types": ["conv"]}, ()),
        ({"num_hidden_layers": "many", "layer_types": ["conv"]}, ()),
        ({"num_hidden_layers": 10**9, "layer_types": ["conv"]}, ()),
    ],
)
def test_which_layers_attend_is_read_from_the_configuration(config, attending):
    kinds = layer_kinds(json.loads(json.dumps(config)))
    assert tuple(number for number, kind in enumerate(kinds) if not kind) == attending
