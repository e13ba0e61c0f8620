"""Multimodal models: the extracted text part computes what the whole model does."""

import json

import numpy as np
import pytest
import torch
import transformers

from attention.lesson.proof import prove
from attention.models.architectures import info_from_config
from attention.models.families import TEXT_PARTS
from attention.models.huggingface import check_size
from tests.sweep import sweep
from tests.tiny_models import BESIDE

TEXT = "The cat sat on the mat, and the birds sang."
QUICK = ["SmolVLM", "Qwen2_5_VL"]
# The architectures of their texts are in the table, so that they have every step, and say what comes next.
KNOWN = ("Mistral3", "Llava", "LlavaNext", "Idefics3", "SmolVLM", "InternVL", "Qwen2Audio", "Voxtral")


@pytest.fixture(scope="module")
def whole_of(folder_of):
    """The whole model, with transformers' plain attention."""

    def load(kind):
        maker = getattr(transformers, f"{kind}ForConditionalGeneration")
        return maker.from_pretrained(folder_of(kind), attn_implementation="eager", local_files_only=True).eval()

    return load


def run(whole, trace):
    ids = torch.tensor([[token.token_id for token in trace.tokens]])
    with torch.inference_mode():
        return whole(input_ids=ids, use_cache=False, output_attentions=True, output_hidden_states=True)


@pytest.mark.parametrize("kind", sweep(BESIDE, quick=QUICK))
def test_weights_and_vectors_are_those_of_the_whole_model(model_of, whole_of, kind):
    trace = model_of(kind).trace(TEXT)
    found = run(whole_of(kind), trace)
    assert len(found.attentions) == len(trace.layers) == 3
    for layer, theirs in zip(trace.layers, found.attentions, strict=True):
        np.testing.assert_allclose(layer.steps().weights, theirs[0].numpy(), rtol=0, atol=1e-5)
        assert layer.check() < 1e-5
    for ours, theirs in zip(trace.hidden_states[:-1], found.hidden_states[:-1], strict=True):
        np.testing.assert_allclose(ours, theirs[0].numpy(), rtol=0, atol=1e-4)
    assert prove(trace).holds


@pytest.mark.parametrize("kind", sweep(BESIDE, quick=QUICK))
def test_what_comes_next_is_what_the_whole_model_says_where_it_is_known(model_of, whole_of, kind):
    model = model_of(kind)
    trace = model.trace(TEXT)
    assert (trace.embeddings is not None) == (kind in KNOWN)
    found = model.next_token(trace)
    assert (found is not None) == (kind in KNOWN)
    if found is not None:
        theirs = run(whole_of(kind), trace).logits[0, -1].numpy()
        np.testing.assert_allclose(found.logits[-1], theirs, rtol=0, atol=1e-4)


@pytest.mark.parametrize("kind", sweep(BESIDE, quick=QUICK))
def test_only_the_part_for_the_text_is_counted_and_told(model_of, folder_of, whole_of, kind):
    info, whole = model_of(kind).info, whole_of(kind)
    check_size(info, folder_of(kind))
    read = (*whole.get_decoder().parameters(), *whole.get_output_embeddings().parameters())
    assert info.n_parameters == sum({id(each): each.numel() for each in read}.values())
    assert info.is_decoder
    assert info.note


def test_each_that_is_taken_is_in_this_test(folder_of):
    there = {json.loads((folder_of(kind) / "config.json").read_text())["model_type"] for kind in BESIDE}
    assert there | {"gemma3"} == set(TEXT_PARTS)


def test_an_older_file_has_what_it_says_of_the_text_beside_the_rest(folder_of, tmp_path):
    folder = folder_of("Qwen2_5_VL")
    config = json.loads((folder / "config.json").read_text())
    config |= {name: value for name, value in config.pop("text_config").items() if name not in config}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.safetensors").symlink_to(folder / "model.safetensors")
    told = [info_from_config("x", each, name="X", licence="", source="") for each in (folder, tmp_path)]
    assert told[0] == told[1]
