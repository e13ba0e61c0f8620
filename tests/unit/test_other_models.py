"""Models without an entry: what passes through transformers' interface is exact, and what is found holds."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoModel, AutoModelForSeq2SeqLM

from attention.core import masks
from attention.lesson.proof import TOLERANCE, prove
from attention.models import families
from attention.models.architectures import info_from_config
from attention.models.huggingface import HuggingFaceModel, check_size
from tests.sweep import sweep
from tests.tiny_models import MIXED, OTHERS, PAIRS, PARALLEL, UNEVEN, make
from tests.unit.eager import ids_of

SENTENCE = "The cat didn't sit on the tokenizers, and the birds sang."
SIZES = {
    "vocab_size": 320,
    "hidden_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "intermediate_size": 56,
    "max_position_embeddings": 128,
    "initializer_range": 0.15,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 1,
}
ALONE = {name: size for name, size in SIZES.items() if name != "num_key_value_heads"}
CONFIGS = {
    "Starcoder2": SIZES | {"sliding_window": 4},
    "SmolLM3": SIZES,
    "Granite": SIZES | {"attention_multiplier": 0.3, "logits_scaling": 3.0, "residual_multiplier": 0.5},
    "Olmo2": SIZES,
    "StableLm": SIZES | {"partial_rotary_factor": 0.5},
    "Phi": SIZES | {"num_key_value_heads": 6},
    "Cohere": SIZES | {"logit_scale": 0.3},
    "Glm": SIZES | {"head_dim": 8},
    "Gemma": SIZES | {"head_dim": 8},
    "Nemotron": SIZES,
    "Mixtral": SIZES | {"num_local_experts": 4},
    "RobertaPreLayerNorm": ALONE | {"type_vocab_size": 1},
    "RoCBert": ALONE | {"enable_pronunciation": False, "enable_shape": False},
    # It turns queries and keys by complex numbers, in two layers of three, which see so many tokens at most.
    "Llama4": SIZES
    | {
        "intermediate_size_mlp": 56,
        "num_local_experts": 2,
        "head_dim": 8,
        "no_rope_layers": [1, 1, 0],
        "attention_chunk_size": 8,
    },
}
ENCODERS = ("RobertaPreLayerNorm", "RoCBert")
# Where the configuration of the text alone has a name of its own.
TEXT_CONFIGS = {"Llama4": "Llama4TextConfig"}
# Of the others, something is done to queries and keys that is not known.
FOUND_WHOLE = [
    "Starcoder2",
    "Granite",
    "Olmo2",
    "Cohere",
    "Glm",
    "StableLm",
    "Mixtral",
    "Nemotron",
    "RobertaPreLayerNorm",
    "RoCBert",
]


def saved(name, config, folder):
    """Save a model of random numbers with the tokenizer of a tiny Llama."""
    make("llama", folder)
    (folder / "model.safetensors").unlink()
    is_encoder = name in (*ENCODERS, "Camembert", "Data2VecText", "DebertaV2")
    head = "ForMaskedLM" if is_encoder else "ForCausalLM"
    if name == "Reformer":
        head = "ModelWithLMHead"
    torch.manual_seed(0)
    kind = getattr(transformers, f"{name}{head}")
    config_name = TEXT_CONFIGS.get(name, f"{name}Config")
    kind(getattr(transformers, config_name)(**config)).save_pretrained(folder)
    return folder


def info_of(folder):
    return info_from_config("other", folder, name="Other", licence="", source="")


# One with a window, one with a scale, an encoder, and one that turns by complex numbers.
QUICK = ("Starcoder2", "Granite", "RoCBert", "Llama4")


@pytest.fixture(scope="module", params=sweep(CONFIGS, quick=QUICK))
def other(request, tmp_path_factory):
    folder = saved(request.param, CONFIGS[request.param], tmp_path_factory.mktemp("other") / request.param)
    info = info_of(folder)
    check_size(info, folder)
    model = HuggingFaceModel(info, folder)
    eager = AutoModel.from_pretrained(folder, local_files_only=True, attn_implementation="eager").eval()
    return request.param, model, eager


def test_weights_and_states_are_those_of_plain_attention(other):
    name, model, eager = other
    trace = model.trace(SENTENCE)
    with torch.inference_mode():
        result = eager(
            input_ids=torch.tensor([[token.token_id for token in trace.tokens]]),
            output_attentions=True,
            output_hidden_states=True,
        )
    assert len(trace.layers) == 3
    assert {layer.kind for layer in trace.layers} == {"self" if name in ENCODERS else "masked self"}
    for layer, theirs in zip(trace.layers, result.attentions, strict=True):
        np.testing.assert_allclose(layer.steps().weights, theirs[0].numpy(), rtol=0, atol=1e-5)
    # The last one is before the final norm.
    for ours, theirs in zip(trace.hidden_states[:-1], result.hidden_states[:-1], strict=True):
        np.testing.assert_allclose(ours, theirs[0].numpy(), rtol=0, atol=1e-5)


def test_what_is_told_of_its_parts_holds_and_the_rest_is_not_told(other):
    name, model, _ = other
    for mask in masks.MASK_NAMES:
        trace = model.trace(SENTENCE, mask=mask)
        proof = prove(trace)
        assert proof.holds
        known = {link.name for link in proof.links if link.found is not None}
        whole = {"queries", "keys", "values", "outputs", "added"}
        assert known == (whole if trace.layers[0].projections is not None else {"outputs"})
        assert all(link.found is None or link.found.relative <= TOLERANCE for link in proof.links)
        for layer in trace.layers:
            assert (layer.inputs is None) == (layer.projections is None)
    assert trace.embeddings is None
    assert trace.structure is None
    assert "part by part" in trace.info.note
    if name in FOUND_WHOLE:
        assert trace.layers[0].projections is not None


def test_the_heads_output_is_told_to_be_added_as_it_is_where_the_next_norm_takes_that_sum(other):
    name, model, eager = other
    trace = model.trace(SENTENCE)
    if name in ENCODERS:  # whose norms have other names
        return
    layer, found = eager.layers[0], {}
    # Phi adds what both parts of a layer write at once, and has no norm between them.
    if trace.layers[0].projections is None or not hasattr(layer, "post_attention_layernorm"):
        assert not model.info.adds_as_is
        return
    hooks = [
        layer.self_attn.register_forward_hook(lambda _module, _inputs, output: found.update(added=output[0])),
        layer.post_attention_layernorm.register_forward_pre_hook(lambda _, inputs: found.update(taken=inputs[0])),
        layer.mlp.register_forward_pre_hook(lambda _, inputs: found.update(fed=inputs[0])),
    ]
    with torch.inference_mode():
        state = eager(ids_of(trace), output_hidden_states=True).hidden_states[0]
    for hook in hooks:
        hook.remove()
    is_sum = torch.allclose(found["taken"], state + found["added"], rtol=0, atol=1e-5)
    assert model.info.adds_as_is == is_sum
    # Granite scales what it adds, and OLMo 2 normalises it.
    assert is_sum == (name not in ("Granite", "Olmo2"))
    assert (trace.layers[0].added_norm is not None) == (name == "Olmo2")
    if name == "Olmo2":
        np.testing.assert_allclose(trace.hidden_states[0] + trace.layers[0].moved(), found["fed"][0], rtol=0, atol=1e-5)


def test_what_comes_next_is_what_the_whole_model_says_with_all_layers_and_without_the_last(other):
    name, model, eager = other
    trace = model.trace(SENTENCE)
    assert model.insides() is None
    if name in ENCODERS:
        assert (trace.logits, model.next_token(trace), model.unmasked(SENTENCE)) == (None, None, None)
        return
    head = getattr(transformers, f"{name}ForCausalLM")
    whole = head.from_pretrained(eager.name_or_path, local_files_only=True, attn_implementation="eager").eval()
    with torch.inference_mode():
        every = whole(ids_of(trace)).logits[0].numpy()
        whole.model.layers = whole.model.layers[:2]
        whole.config.num_hidden_layers = 2
        shorter = whole(ids_of(trace)).logits[0, -1].numpy()
    near = {"rtol": 0, "atol": 1e-5 * np.abs(every).max()}
    np.testing.assert_allclose(trace.logits, every, **near)
    np.testing.assert_allclose(model.next_token(trace).logits[2:], [shorter, every[-1]], **near)
    np.testing.assert_allclose(model.unmasked(SENTENCE).logits[0], every[-1], **near)


def test_a_batch_is_its_texts_one_by_one(other):
    _, model, _ = other
    batch = model.trace_batch([model.encode(text) for text in ("The cat sat", "The mat sat")])
    assert max(layer.check() for layer in batch.layers) < 1e-5


def test_a_text_as_long_as_a_relative_of_roberta_takes_is_read(tmp_path):
    """Its positions begin after that of padding, which its kind does not say."""
    config = CONFIGS["RobertaPreLayerNorm"] | {"max_position_embeddings": 40}
    folder = saved("RobertaPreLayerNorm", config, tmp_path / "relative")
    trace = HuggingFaceModel(info_of(folder), folder).trace("The cat sat on the mat. " * 20)
    assert len(trace.tokens) == trace.info.max_tokens == 38
    assert prove(trace).holds


@pytest.mark.parametrize("name", ["Camembert", "Data2VecText"])
def test_roberta_by_another_name_is_shown_with_every_step(tmp_path, name):
    folder = saved(name, ALONE | {"type_vocab_size": 1}, tmp_path / name)
    model = HuggingFaceModel(info_of(folder), folder)
    trace = model.trace(SENTENCE, "The birds sang.")
    eager = AutoModel.from_pretrained(folder, local_files_only=True, attn_implementation="eager").eval()
    with torch.inference_mode():
        result = eager(ids_of(trace), output_attentions=True, output_hidden_states=True)
    expect_alike(trace.layers, result.attentions)
    parts = trace.embeddings
    summed = parts.norm(
        parts.words + parts.positions + eager.embeddings.token_type_embeddings.weight[0].numpy(force=True)
    )
    np.testing.assert_allclose(summed, result.hidden_states[0][0].numpy(), rtol=0, atol=1e-5)
    proof = prove(trace)
    assert proof.holds
    assert all(link.found is not None for link in proof.links)


def test_a_decoder_is_one_without_the_head_that_says_so(tmp_path):
    """What its own code makes of a mask decides."""
    folder = saved("Granite", CONFIGS["Granite"], tmp_path / "granite")
    assert info_of(folder).is_decoder
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["GraniteModel"]}))
    assert info_of(folder).is_decoder
    assert HuggingFaceModel(info_of(folder), folder).trace("The cat").layers[0].kind == "masked self"


def test_a_model_that_hides_more_than_is_said_of_it_is_refused(tmp_path):
    folder = saved("Granite", CONFIGS["Granite"], tmp_path / "granite")
    with pytest.raises(ValueError, match=r"config\.json"):
        HuggingFaceModel(replace(info_of(folder), is_decoder=False), folder)


def test_layers_of_several_widths_are_refused_in_words(tmp_path):
    sizes = SIZES | {"head_dim": 8, "global_head_dim": 16, "layer_types": ["sliding_attention", "full_attention"] * 2}
    config = {**sizes, "num_hidden_layers": 4, "hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 320}
    folder = tmp_path / "gemma4"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "gemma4_text", **config}))
    save_file({f"model.layers.{n}.x": torch.zeros(10**5) for n in range(4)}, folder / "model.safetensors")
    with pytest.raises(ValueError, match="number or width of their heads"):
        check_size(info_of(folder), folder)


DEBERTA = ALONE | {"position_biased_input": False, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("DebertaV2", DEBERTA),
        ("Falcon", ALONE),
        ("GPTJ", {"vocab_size": 320, "n_embd": 48, "n_head": 6, "n_layer": 2, "rotary_dim": 4}),
    ],
)
def test_a_model_that_computes_attention_some_other_way_is_refused_with_the_reason(tmp_path, name, config):
    folder = saved(name, config, tmp_path / name)
    with pytest.raises(ValueError, match="in its own code"):
        info_of(folder)


def test_an_attention_sink_is_a_key_of_its_own_that_makes_rows_add_up(folder_of, model_of):
    """gpt-oss lets a number of each head take a share of the weights; its value adds nothing."""
    trace = model_of("gpt_oss").trace(SENTENCE)
    whole = transformers.GptOssForCausalLM.from_pretrained(folder_of("gpt_oss"), attn_implementation="eager").eval()
    with torch.inference_mode():
        result = whole(ids_of(trace), output_attentions=True)
    expect_alike(trace.layers, result.attentions, None, len(trace.tokens))
    for layer, theirs in zip(trace.layers, result.attentions, strict=True):
        weights = layer.steps().weights
        np.testing.assert_allclose(weights[:, :, -1], 1 - theirs[0].sum(dim=-1).numpy(), rtol=0, atol=1e-5)
        assert weights[:, :, -1].min() > 0.001
        assert not layer.keys[:, -1].any()
        assert not layer.values[:, -1].any()
        assert layer.check() < 1e-5
    assert [token.text for token in trace.key_tokens[:-1]] == [token.text for token in trace.tokens]
    np.testing.assert_allclose(trace.logits, result.logits[0].numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["gpt_oss", "olmo2", "cohere", "switch_transformers", "Qwen2VL", PARALLEL])
def test_projections_are_found_that_give_what_the_model_attended_with(model_of, kind):
    trace = model_of(kind).trace(SENTENCE)
    for layer in trace.layers:
        found = layer.check_projections()
        assert set(found) == {"queries", "keys", "values", "added"}
        assert max(each.relative for each in found.values()) <= TOLERANCE
        for head in range(len(layer.queries)):
            queries, keys = layer.unrotated(head)
            group = head * len(layer.keys) // len(layer.queries)
            assert keys.shape == layer.keys[group].shape
            np.testing.assert_allclose(layer.turned(queries), layer.queries[head], rtol=0, atol=1e-4)
    width = 0 if trace.layers[0].rotary is None else trace.layers[0].rotary.width
    assert width == (0 if kind == "switch_transformers" else trace.info.d_head)
    # One token alone is not rotated: its angles don't tell how they are stored.
    alone = model_of(kind).trace("The").layers[0].rotary
    assert (0 if alone is None else alone.width) == width


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ('{"model_type": "reformer"}', "in its own code"),
        ('{"model_type": "whisper", "vocab_size": 9, "is_encoder_decoder": true}', "does not read text"),
        (
            '{"model_type": "t5gemma", "is_encoder_decoder": true, "encoder": {"head_dim": 4}, "decoder": {}}',
            "differ in vector width",
        ),
        ('{"model_type": "paligemma", "vision_config": {}}', "does not read text alone"),
        ('{"model_type": "llava", "text_config": {}}', "does not state num_hidden_layers"),
        ('{"model_type": "gemma3"}', "does not describe the text part, text_config"),
        ('{"model_type": "clip_vision_model"}', "does not read text"),
        ('{"model_type": "starcoder2", "vocab_size": 9}', "does not state"),
        ('{"model_type": "newer-than-this", "vocab_size": 9}', "version of transformers lacks"),
        ('{"model_type": "encoder-decoder", "is_encoder_decoder": true}', "joins two models"),
        (
            '{"model_type": "lfm2", "vocab_size": 9, "num_hidden_layers": 2, "layer_types": ["linear_attention"]}',
            "No layer",
        ),
        ('{"model_type": "longt5", "vocab_size": 9, "encoder_attention_type": "local"}', "in blocks"),
        ('{"model_type": "diffllama", "vocab_size": 9, "lambda_std_dev": 0.1}', "subtracts one softmax"),
        ('{"model_type": "bamba", "vocab_size": 9, "num_hidden_layers": 9, "attn_layer_indices": []}', "No layer"),
    ],
)
def test_what_cannot_be_shown_is_said_before_anything_is_loaded(tmp_path, config, why):
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(ValueError, match=why):
        info_of(tmp_path)


def test_the_text_part_of_clip_alone_is_shown(tmp_path):
    """Its code has another name than its kind, and its configuration says nothing of tied embeddings."""
    make("llama", tmp_path)
    sizes = {"vocab_size": 320, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.CLIPTextConfig(**sizes, intermediate_size=40, bos_token_id=0, eos_token_id=1, pad_token_id=1)
    transformers.CLIPTextModel(config).save_pretrained(tmp_path)
    trace = HuggingFaceModel(info_of(tmp_path), tmp_path).trace(SENTENCE)
    eager = AutoModel.from_pretrained(tmp_path, local_files_only=True, attn_implementation="eager").eval()
    with torch.inference_mode():
        attentions = eager(ids_of(trace), output_attentions=True).attentions
    expect_alike(trace.layers, attentions)
    assert {layer.kind for layer in trace.layers} == {"masked self"}


@pytest.mark.parametrize("kind", [*OTHERS, *UNEVEN, *MIXED])
def test_the_sizes_of_heads_are_known_before_a_model_is_loaded(folder_of, model_of, kind):
    said, measured = info_of(folder_of(kind)), model_of(kind).info
    for name in ("n_heads", "n_key_value_heads", "d_head"):
        assert getattr(said, name) == getattr(measured, name)
    assert said.d_value == (measured.d_value or said.d_value)


@pytest.mark.parametrize("has_head", [True, False])
def test_a_decoder_that_hides_nothing_is_not_called_one(tmp_path, has_head):
    """What is not in the table is judged by the mask with which it runs."""
    folder = saved("Starcoder2", SIZES | {"is_causal": False}, tmp_path / "both")
    if has_head:
        with pytest.raises(ValueError, match="see later ones"):
            HuggingFaceModel(info_of(folder), folder)
        return
    config = json.loads((folder / "config.json").read_text()) | {"architectures": ["Starcoder2Model"]}
    (folder / "config.json").write_text(json.dumps(config))
    model = HuggingFaceModel(info_of(folder), folder)
    trace = model.trace(SENTENCE)
    assert {layer.kind for layer in trace.layers} == {"self"}
    assert not trace.info.is_decoder
    assert trace.layers[0].steps().weights[:, 0, 1:].all()


@pytest.fixture(scope="module", params=PAIRS)
def of_two(request, model_of, folder_of):
    """A model with an encoder and a decoder, and transformers' own plain attention of it."""
    folder = folder_of(request.param)
    check_size(model_of(request.param).info, folder)
    eager = AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True, attn_implementation="eager").eval()
    return model_of(request.param), eager


def expect_alike(layers, theirs, n_queries=None, n_keys=None):
    for layer, plain in zip(layers, theirs, strict=True):
        ours = layer.steps().weights[:, :n_queries, :n_keys]
        np.testing.assert_allclose(ours, plain[0].numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("mask", ["none", "padding"])
@pytest.mark.parametrize("target", [None, "The mat sat."])
def test_all_three_attentions_are_those_of_plain_attention(of_two, mask, target):
    model, eager = of_two
    trace = model.trace(SENTENCE, target, mask=mask)
    n_read = sum(not token.is_padding for token in trace.tokens)
    with torch.inference_mode():
        result = eager(
            input_ids=ids_of(trace)[:, :n_read],
            decoder_input_ids=ids_of(trace.decoder),
            output_attentions=True,
            output_hidden_states=True,
        )
    expect_alike(trace.layers, result.encoder_attentions, n_read, n_read)
    expect_alike(trace.decoder.layers, result.decoder_attentions)
    expect_alike(trace.cross.layers, result.cross_attentions, None, n_read)
    for layer in trace.cross.layers:
        assert not layer.steps().weights[:, :, n_read:].any()
    for ours, theirs in zip(trace.decoder.hidden_states, result.decoder_hidden_states, strict=True):
        np.testing.assert_allclose(ours, theirs[0].numpy(), rtol=0, atol=1e-5)
    assert len(trace.layers) == trace.info.n_layers == 2
    assert len(trace.decoder.layers) == len(trace.cross.layers) == trace.info.n_decoder_layers == 3
    for part in trace.traces:
        assert prove(part).holds


def test_what_it_writes_is_what_transformers_writes(of_two):
    model, eager = of_two
    trace = model.trace(SENTENCE)
    settings = {"max_new_tokens": 64, "num_beams": 1, "do_sample": False, "use_cache": False}
    written = eager.generate(ids_of(trace), **settings)[0].tolist()
    read = ids_of(trace.decoder)[0].tolist()
    assert read == written[: len(read)]
    assert len(read) > 3


def test_of_a_decoder_nothing_is_told_but_what_was_recorded(of_two):
    model, _ = of_two
    trace = model.trace(SENTENCE)
    assert {layer.kind for layer in trace.decoder.layers} == {"masked self"}
    assert {layer.kind for layer in trace.cross.layers} == {"cross"}
    assert trace.cross.hidden_states == ()
    for layer in (*trace.decoder.layers, *trace.cross.layers):
        assert (layer.inputs, layer.projections, layer.rotary, layer.norm) == (None, None, None, None)


@pytest.mark.parametrize("kind", ["LongT5", "PegasusX", "BigBirdPegasus"])
def test_an_encoder_with_an_attention_of_its_own_is_refused(folder_of, tmp_path, kind):
    """Only the decoders of these leave theirs to transformers."""
    base = "t5" if kind == "LongT5" else "pegasus"
    given = json.loads((folder_of(base) / "config.json").read_text())
    config = {name: value for name, value in given.items() if name not in ("architectures", "model_type")}
    folder = Path(shutil.copytree(folder_of(base), tmp_path / kind))
    (folder / "model.safetensors").unlink()
    made = getattr(transformers, f"{kind}ForConditionalGeneration")(getattr(transformers, f"{kind}Config")(**config))
    made.save_pretrained(folder)
    with pytest.raises(ValueError, match="attends in blocks"):
        info_of(folder)


@pytest.mark.parametrize("kind", sorted(families.USE_INTERFACE))
def test_the_table_names_only_kinds_of_which_transformers_says_less(kind):
    model = transformers.MODEL_MAPPING[transformers.CONFIG_MAPPING[kind]]
    assert not model.is_backend_compatible()
