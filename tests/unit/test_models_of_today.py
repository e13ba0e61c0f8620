"""Recent architectures against transformers' own eager attention, at odd sizes, with random weights."""

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoModelForCausalLM

from attention.core import masks
from attention.lesson.proof import TOLERANCE, prove
from attention.models.architectures import info_from_config, info_of_offer, read_config
from attention.models.huggingface import HuggingFaceModel
from tests.tiny_models import TODAY
from tests.unit.eager import run_eager

SENTENCE = "The cat didn't sit on the tokenizers, and the birds sang."
DECODERS = [kind for kind in TODAY if kind not in ("electra", "albert", "mpnet", "modernbert")]


@pytest.fixture(scope="module")
def trace_of(model_of):
    return cache(lambda kind, mask="none": model_of(kind).trace(SENTENCE, mask=mask))


def with_mask(model, mask):
    """Return what a reference has to be given so that each layer hides what is asked for beside what it hides."""
    own = masks.causal(len(mask)) if model.config.model_type not in ("modernbert", "electra", "albert", "mpnet") else 0
    places = np.arange(len(mask))
    distance = places[:, None] - places
    config = model.config.get_text_config()
    reach = getattr(config, "sliding_window", None) or len(mask)
    far = np.abs(distance) > reach if model.config.model_type == "modernbert" else distance >= reach
    types = getattr(config, "layer_types", None)
    if types is None:
        return torch.from_numpy(mask + own + masks.painted(far))[None, None]
    found = {"full_attention": mask + own, "sliding_attention": mask + own + masks.painted(far)}
    return {name: torch.from_numpy(found[name])[None, None] for name in set(types)}


@pytest.mark.parametrize("kind", TODAY)
@pytest.mark.parametrize("mask", masks.MASK_NAMES)
def test_every_link_of_the_proof_is_known_and_holds(trace_of, kind, mask):
    proof = prove(trace_of(kind, mask))
    known = [link.name for link in proof.links if link.found is not None and link.found.relative <= TOLERANCE]
    assert known == ["queries", "keys", "values", "outputs", "added"]
    assert proof.holds


@pytest.mark.parametrize("kind", [kind for kind in TODAY if kind != "bloom"])
def test_a_painted_mask_is_added_to_the_models_own(model_of, eager_of, kind):
    n_tokens = len(model_of(kind).encode(SENTENCE).tokens)
    hidden = np.zeros((n_tokens, n_tokens), bool)
    hidden[2, :2] = hidden[3:, 1] = True
    hidden[9, 5:8] = True
    trace = model_of(kind).trace(SENTENCE, mask=masks.painted(hidden))
    result = run_eager(eager_of(kind), trace, with_mask(eager_of(kind), masks.painted(hidden)))
    for layer, theirs in zip(trace.layers, result.attentions, strict=True):
        np.testing.assert_allclose(layer.steps().weights, theirs[0].numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["bert", "gpt2", *TODAY])
def test_a_row_that_is_hidden_whole_gives_nothing(model_of, kind):
    """Whatever the model's own mask leaves of it."""
    n_tokens = len(model_of(kind).encode(SENTENCE).tokens)
    hidden = np.zeros((n_tokens, n_tokens), bool)
    hidden[7, :8] = True
    hidden[8] = True
    trace = model_of(kind).trace(SENTENCE, mask=masks.painted(hidden))
    assert trace.check() < 1e-5
    for layer in trace.layers:
        assert not layer.model_output[:, 8].any()


def test_where_attention_and_feed_forward_network_run_side_by_side_no_sum_is_told(trace_of):
    trace = trace_of("gpt_neox")
    assert trace.structure is None
    assert {layer.lengths for layer in trace.layers} == {None}


@pytest.fixture
def with_pictures(folder_of, tmp_path):
    """A Gemma 3 that reads pictures, too: a folder of its own."""
    return Path(shutil.copytree(folder_of("gemma3"), tmp_path / "gemma3"))


def loaded(folder):
    return HuggingFaceModel(info_from_config("gemma3", folder, name="Gemma 3", licence="", source=""), folder)


def test_the_part_of_gemma_3_that_reads_the_text_is_found_by_either_of_its_names(with_pictures, trace_of):
    """As the hub has them, and as transformers itself calls them."""
    file = with_pictures / "model.safetensors"
    tensors = load_file(file)
    assert all(name.startswith(("language_model.model.", "vision_tower.", "multi_modal_")) for name in tensors)
    renamed = {name.replace("language_model.model.", "model.language_model."): each for name, each in tensors.items()}
    save_file(renamed, file, {"format": "pt"})
    found = loaded(with_pictures).trace(SENTENCE)
    for ours, theirs in zip(found.hidden_states, trace_of("gemma3").hidden_states, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_sizes_that_gemma_3_leaves_out_are_those_of_transformers(with_pictures):
    """As in the configuration of the one with 4 billion parameters."""
    config = json.loads((with_pictures / "config.json").read_text())
    config["text_config"] = {
        "hidden_size": 2560,
        "intermediate_size": 10_240,
        "model_type": "gemma3_text",
        "num_hidden_layers": 34,
        "sliding_window": 1024,
    }
    (with_pictures / "config.json").write_text(json.dumps(config))
    theirs = transformers.AutoConfig.from_pretrained(with_pictures).get_text_config()
    ours = read_config(with_pictures)
    for name in ("vocab_size", "num_attention_heads", "num_key_value_heads", "head_dim", "max_position_embeddings"):
        assert ours[name] == getattr(theirs, name)
    info = info_of_offer(config, 8_600_000_000)
    assert (info.n_layers, info.n_heads, info.n_key_value_heads, info.d_head) == (34, 8, 4, 256)
    assert info.n_parameters == 2_150_000_000
    # Older ones call the type of its numbers otherwise, and it may be that of the whole alone.
    halves = {name: value for name, value in config.items() if name != "dtype"} | {"torch_dtype": "bfloat16"}
    assert info_of_offer(halves, 8_600_000_000).n_parameters == 4_300_000_000


def test_pictures_are_no_part_of_what_gemma_3_needs(with_pictures):
    file = with_pictures / "model.safetensors"
    save_file({name: each for name, each in load_file(file).items() if "vision" not in name}, file, {"format": "pt"})
    assert prove(loaded(with_pictures).trace(SENTENCE)).holds
    # And without the part for the text, nothing is left.
    save_file({"vision_tower.x": torch.zeros(9)}, file, {"format": "pt"})
    with pytest.raises(ValueError, match=r"\b3 layers\b.*\b0\b"):
        loaded(with_pictures)


@pytest.mark.parametrize("kind", ["gpt2", "llama", *DECODERS])
def test_what_comes_next_is_the_models_own_answer(model_of, trace_of, folder_of, kind):
    whole = AutoModelForCausalLM.from_pretrained(
        folder_of(kind), local_files_only=True, attn_implementation="eager"
    ).eval()
    trace = trace_of(kind)
    ids = torch.tensor([[token.token_id for token in trace.tokens]])
    with torch.inference_mode():
        hidden = whole(ids).logits[0]
        unhidden = None
        if kind != "bloom":
            zeros = torch.zeros(1, 1, ids.shape[1], ids.shape[1])
            types = getattr(whole.config, "layer_types", None)
            unhidden = whole(
                ids,
                attention_mask=zeros if types is None else dict.fromkeys(types, zeros),
                position_ids=torch.arange(ids.shape[1])[None],
            ).logits[0]
    found = model_of(kind).next_token(trace)
    np.testing.assert_allclose(found.logits[-1], hidden[-1].numpy(), rtol=0, atol=1e-5)
    assert found.logits.shape == (trace.info.n_layers + 1, len(found.labels))
    bare = model_of(kind).unmasked(SENTENCE)
    for losses, logits, wanted in zip(bare.losses, bare.logits, (hidden, unhidden), strict=True):
        if wanted is not None:
            np.testing.assert_allclose(logits, wanted[-1].numpy(), rtol=0, atol=1e-5)
            surprise = -torch.log_softmax(wanted[:-1], dim=-1).gather(1, ids[0, 1:, None])[:, 0]
            np.testing.assert_allclose(losses, surprise.numpy(), rtol=0, atol=1e-4)


def test_an_unembedding_of_its_own_is_found_whatever_the_class_is_called(folder_of, tmp_path):
    """As in a GPT2LMHeadModel."""
    config = transformers.GPT2Config.from_pretrained(folder_of("gpt2"), tie_word_embeddings=False)
    torch.manual_seed(0)
    whole = transformers.GPT2LMHeadModel(config).eval()
    folder = Path(shutil.copytree(folder_of("gpt2"), tmp_path / "gpt2"))
    whole.save_pretrained(folder)
    model = HuggingFaceModel(info_from_config("gpt2", folder, name="GPT-2", licence="", source=""), folder)
    trace = model.trace(SENTENCE)
    with torch.inference_mode():
        logits = whole(torch.tensor([[token.token_id for token in trace.tokens]])).logits[0, -1]
    np.testing.assert_allclose(model.next_token(trace).logits[-1], logits.numpy(), rtol=0, atol=1e-5)


def test_a_norm_that_has_learnt_nothing_is_a_norm(folder_of, tmp_path):
    """As in Galactica, which is an OPT."""
    config = transformers.OPTConfig.from_pretrained(folder_of("opt"), layer_norm_elementwise_affine=False)
    torch.manual_seed(0)
    folder = Path(shutil.copytree(folder_of("opt"), tmp_path / "opt"))
    transformers.OPTForCausalLM(config).save_pretrained(folder)
    model = HuggingFaceModel(info_from_config("opt", folder, name="OPT", licence="", source=""), folder)
    trace = model.trace(SENTENCE)
    assert (trace.layers[0].norm.gain == 1).all()
    assert prove(trace).holds


def test_an_unembedding_that_is_not_in_the_files_is_not_made_up(folder_of, tmp_path):
    folder = tmp_path / "bare"
    AutoModel.from_pretrained(folder_of("gpt_neox"), local_files_only=True).save_pretrained(folder)
    for file in folder_of("gpt_neox").glob("tokenizer*"):
        (folder / file.name).write_bytes(file.read_bytes())
    model = HuggingFaceModel(info_from_config("bare", folder, name="Bare", licence="", source=""), folder)
    trace = model.trace("The cat")
    assert prove(trace).holds
    assert model.next_token(trace) is None
    assert model.unmasked("The cat") is None
