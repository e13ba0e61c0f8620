"""Every architecture against transformers' own eager attention, on tiny random models."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, normalizers, processors
from transformers import AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer

from attention.core import masks, reading
from attention.core.ablation import Change, Shuffle
from attention.core.given import printable
from attention.core.interventions import Ablate
from attention.core.positions import sinusoidal
from attention.core.text import clean
from attention.experiments.shuffled import can_be_reordered, first_head
from attention.models.architectures import info_from_config
from attention.models.families import ARCHITECTURES
from attention.models.huggingface import HuggingFaceModel, check_size
from attention.models.stack import LayerStack
from tests.pairwise import pairwise
from tests.sweep import sweep
from tests.tiny_models import KINDS, TODAY
from tests.unit.eager import ids_of, run_eager

SENTENCE = "The cat didn't sit on naïve 😀  tokenizers, café!"
TARGET = "A small dog, naïve."
PICTURE = "00123456789abcdefg0" * 3 + "0f0f0f0"
PADDED = ["bert", "roberta", "xlm-roberta", "distilbert", "gpt2", "llama"]
ENCODERS_OF_TODAY = ["electra", "albert", "mpnet", "modernbert"]
PRE_NORM = ["gpt2", "llama", "t5", "mt5", "umt5", "pegasus", "mbart", "m2m_100", "blenderbot", "vit"]
TWO_STACKS = ["bart", "t5", "mt5", "umt5", "pegasus", "mbart", "m2m_100", "plbart", "blenderbot", "blenderbot-small"]
# Those whose vectors of positions are waves, and were not learnt.
WAVES = ["pegasus", "m2m_100"]
HAVE_POSITIONS = [kind for kind in TWO_STACKS if kind not in ("t5", "mt5", "umt5")]


def info_of(kind, folder):
    return info_from_config(kind, folder, name=kind.upper(), licence="none", source="random")


def text_of(kind):
    return PICTURE if kind == "vit" else SENTENCE


def assert_equal(trace, attentions):
    """Compare each derived weight, of every layer and head, and the derived outputs with the recorded ones."""
    assert len(trace.layers) == len(attentions) == trace.info.n_layers
    for layer, theirs in zip(trace.layers, attentions, strict=True):
        np.testing.assert_allclose(layer.steps().weights, theirs[0].numpy(), rtol=0, atol=1e-5)
        for head in range(trace.info.n_heads):
            np.testing.assert_allclose(layer.head(head).weights, theirs[0, head].numpy(), rtol=0, atol=1e-5)
    assert trace.check() < 1e-5


# One stack


@pytest.mark.parametrize("kind", [*PADDED, "vit", *TODAY])
def test_weights_and_states_are_those_of_plain_attention(model_of, eager_of, kind):
    trace, reference = model_of(kind).trace(text_of(kind)), eager_of(kind)
    result = run_eager(reference, trace)
    assert_equal(trace, result.attentions)
    for ours, theirs in zip(trace.hidden_states[:-1], result.hidden_states[:-1], strict=True):
        np.testing.assert_allclose(ours, theirs[0].numpy(), rtol=0, atol=1e-5)
    if kind in TODAY:
        return
    # Before a decoder's final norm, ours is what its last layer left.
    final_norm = {"gpt2": "ln_f", "llama": "norm", "vit": "layernorm"}.get(kind)
    last = torch.tensor(trace.hidden_states[-1])
    with torch.inference_mode():
        normed = last if final_norm is None else getattr(reference, final_norm)(last)
    np.testing.assert_allclose(normed.numpy(), result.last_hidden_state[0].numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", [*PADDED, *TODAY])
def test_padding_is_hidden_as_transformers_hides_it(model_of, eager_of, kind):
    trace = model_of(kind).trace(SENTENCE, mask="padding")
    n_tokens = len(trace.tokens) - masks.N_PADDING
    result = run_eager(eager_of(kind), trace, (torch.arange(len(trace.tokens)) < n_tokens)[None].long())
    for layer, theirs in zip(trace.layers, result.attentions, strict=True):
        ours = layer.steps().weights
        np.testing.assert_allclose(ours[:, :n_tokens], theirs[0, :, :n_tokens].numpy(), rtol=0, atol=1e-5)
        assert not ours[..., n_tokens:].any()
    assert trace.check() < 1e-5


@pytest.mark.parametrize("kind", [*PADDED, "vit"])
@pytest.mark.parametrize("name", ["causal", "painted"])
def test_a_mask_is_felt_in_every_layer(model_of, eager_of, kind, name):
    model, text = model_of(kind), text_of(kind)
    n_tokens = len(model.encode(text).tokens)
    hidden = np.zeros((n_tokens, n_tokens), bool)
    hidden[2, :2] = hidden[3:, 1] = True
    mask = masks.causal(n_tokens) if name == "causal" else masks.painted(hidden)
    trace = model.trace(text, mask=mask)
    own = masks.causal(n_tokens) if trace.info.is_decoder else 0
    result = run_eager(eager_of(kind), trace, torch.from_numpy(mask + own)[None, None])
    assert_equal(trace, result.attentions)


@pytest.mark.parametrize("kind", [*KINDS, *TODAY])
def test_what_was_recorded_is_made_of_what_enters_each_layer(model_of, kind):
    for trace in model_of(kind).trace(text_of(kind)).traces:
        for index, layer in enumerate(trace.layers):
            stream = trace.hidden_states[index]
            assert (layer.norm is not None) == (kind in PRE_NORM) or kind in TODAY
            ours = stream if layer.norm is None else layer.norm(stream)
            np.testing.assert_allclose(ours, layer.inputs, rtol=0, atol=1e-5)
            for head in range(trace.info.n_heads):
                found, (queries, keys) = layer.head(head), layer.projected(head)
                np.testing.assert_allclose(layer.finished(queries, "queries"), found.queries, rtol=0, atol=1e-5)
                np.testing.assert_allclose(layer.finished(keys, "keys"), found.keys, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    # A picture has no padding.
    ("kind", "mask"),
    [*((kind, "none") for kind in (*KINDS, *TODAY)), *((kind, "padding") for kind in KINDS if kind != "vit")],
)
def test_the_parts_of_the_embedding_add_up_to_what_enters_layer_1(model_of, kind, mask):
    trace = model_of(kind).trace(text_of(kind), mask=mask)
    for one in (trace, trace.decoder) if trace.decoder else (trace,):
        parts = one.embeddings
        assert (parts.table is None) == (parts.positions is None) or kind in TODAY
        if parts.table is not None and mask == "none":
            np.testing.assert_array_equal(parts.table.rows[: len(one.tokens)], parts.positions)
            assert parts.table.is_learned == (kind not in WAVES)
        total = sum(part for part in (parts.words, parts.positions, parts.segments) if part is not None)
        entering = total
        for made in filter(None, (parts.norm, parts.projection)):
            entering = made(entering)
        assert (parts.projection is not None) == (kind in ("electra", "albert"))
        np.testing.assert_allclose(entering, one.hidden_states[0], rtol=0, atol=1e-5)


def test_a_table_that_is_the_formulas_is_not_taken_for_learnt(tmp_path):
    sizes = {"d_model": 16, "max_position_embeddings": 32, "vocab_size": 50, "pad_token_id": 1}
    layers = {
        f"{part}_{name}": 1 for part in ("encoder", "decoder") for name in ("layers", "attention_heads", "ffn_dim")
    }
    transformers.MarianMTModel(transformers.MarianConfig(**sizes, **layers)).save_pretrained(tmp_path)
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path)
    with torch.inference_mode():
        table = LayerStack(model.base_model, ARCHITECTURES["marian"].encoder).embeddings([3, 4], [0, 0]).table
    assert not table.is_learned
    np.testing.assert_allclose(table.rows[:, :8], sinusoidal(32, 16)[:, 0::2], atol=1e-5)


@pytest.mark.parametrize("kind", [*KINDS, *TODAY])
def test_the_first_head_is_found_from_the_parts_of_the_embedding(model_of, kind):
    trace = model_of(kind).trace(text_of(kind))
    for one in filter(None, (trace, trace.decoder)):
        assert can_be_reordered(one)
        found = first_head(one, 1, range(len(one.tokens)), with_positions=True).head_outputs
        # ALBERT's outputs reach 6.8, where processors round the last bits of a float32 differently.
        np.testing.assert_allclose(found, one.layers[0].model_output[1], rtol=1e-5, atol=1e-5)


def test_the_scale_is_the_models_own(folder_of, tmp_path):
    """GPT-2 may divide by the layer's number too."""
    folder = shutil.copytree(folder_of("gpt2"), tmp_path / "gpt2")
    config = json.loads((folder / "config.json").read_text())
    config |= {"scale_attn_by_inverse_layer_idx": True, "reorder_and_upcast_attn": True}
    (folder / "config.json").write_text(json.dumps(config))
    trace = HuggingFaceModel(info_of("gpt2", folder), folder).trace(SENTENCE)
    eager = AutoModel.from_pretrained(folder, local_files_only=True, attn_implementation="eager").eval()
    assert [layer.scale for layer in trace.layers] == pytest.approx([8**-0.5 / number for number in (1, 2, 3)])
    assert_equal(trace, run_eager(eager, trace).attentions)


HOW = [*(Ablate((0, 1), how) for how in ("zero", "mean", "uniform")), Shuffle(0, (1,), 0)]


@pytest.mark.parametrize(("kind", "how"), list(zip((*KINDS, *TODAY), cycle(HOW))))
def test_a_head_can_be_changed_in_every_architecture_and_in_every_way(model_of, kind, how):
    model = model_of(kind)
    trace = model.trace(text_of(kind))
    changed, plain, again = (
        np.array(output.vectors)
        for output in model.outputs(text_of(kind), None, [Change((how,)), Change(), Change((how,))])
    )
    assert len(plain) == len(trace.tokens)
    assert not np.allclose(plain, changed, atol=1e-5)
    np.testing.assert_allclose(changed, again, rtol=0, atol=1e-5)
    # What is recorded afterwards is the model's own.
    assert model.trace(text_of(kind)).check() < 1e-4


# Tokens


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "vit"])
def test_the_tokens_are_those_of_the_reference_tokenizer(model_of, folder_of, kind):
    reference = AutoTokenizer.from_pretrained(folder_of(kind), local_files_only=True)
    for text in (
        SENTENCE,
        "In 2023",
        "a",
        "Straße, 猫 & <mask> [MASK] </s> — «don't»",
        "def f(x):\n    return x\n\n\tnull  ",
    ):
        tokens = model_of(kind).encode(text).tokens
        assert [token.token_id for token in tokens] == reference(text)["input_ids"]
        added = reference(text, return_special_tokens_mask=True)["special_tokens_mask"]
        assert [token.word is None for token in tokens] == [bool(mark) for mark in added]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "vit"])
def test_each_token_has_what_was_typed_for_it(model_of, kind):
    text = SENTENCE
    tokens = model_of(kind).encode(SENTENCE).tokens
    assert "".join(token.typed for token in tokens) == text.replace(" ", "")
    words = [token.word for token in tokens if token.word is not None]
    assert words == sorted(words)
    assert set(words) == set(range(len(words) and words[-1] + 1))
    for token in tokens:
        assert token.start is None or text[token.start : token.start + len(token.typed)] == token.typed


@given(text=st.text(st.characters()))
@pytest.mark.parametrize("kind", ["roberta", "xlm-roberta", "t5"])
def test_any_text_is_typed_where_it_is_said_to_be(model_of, kind, text):
    text = printable(text)
    try:
        tokens = model_of(kind).encode(text).tokens
    except ValueError:
        return
    for token in tokens:
        assert token.start is None or text[token.start : token.start + len(token.typed)] == token.typed
    words = [token.word for token in tokens if token.word is not None]
    assert words == sorted(words)


def test_a_space_is_seen_in_the_token_and_added_ones_belong_to_no_word(model_of):
    for kind, last in (("roberta", "</s>"), ("t5", "</s>")):
        tokens = model_of(kind).encode("The cat").tokens
        assert tokens[-1].text == last
        assert (tokens[-1].typed, tokens[-1].word, tokens[-1].is_special) == ("", None, True)
        assert "".join(token.text for token in tokens if not token.is_special).lstrip("␣") == "The␣cat"


@pytest.mark.parametrize("kind", ["xlm-roberta", "t5"])
def test_what_the_model_does_not_know_is_typed_and_no_special_token(model_of, kind):
    unknown = [token for token in model_of(kind).encode("a 😀 b").tokens if token.text == "<unk>"]
    assert [(token.typed, token.is_special, token.word) for token in unknown] == [("😀", False, 1)]


def test_a_cased_vocabulary_keeps_capitals(folder_of, tmp_path):
    folder = shutil.copytree(folder_of("bert"), tmp_path / "cased")
    file = folder / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    tokenizer["normalizer"]["lowercase"] = False
    tokenizer["model"]["vocab"]["The"] = tokenizer["model"]["vocab"].pop("the")
    file.write_text(json.dumps(tokenizer))
    tokens = HuggingFaceModel(info_of("bert", folder), folder).encode("The the cat").tokens
    assert [token.text for token in tokens[1:-1]] == ["The", "t", "##h", "##e", "cat"]
    assert [token.typed for token in tokens[1:-1]] == ["The", "t", "h", "e", "cat"]


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "distilbert"])
def test_two_texts_are_told_apart(model_of, eager_of, folder_of, kind):
    trace = model_of(kind).trace("The cat sat", "a dog ran")
    reference = AutoTokenizer.from_pretrained(folder_of(kind), local_files_only=True)
    assert [token.token_id for token in trace.tokens] == reference("The cat sat", "a dog ran")["input_ids"]
    segments = [token.segment for token in trace.tokens]
    assert segments == sorted(segments)
    assert "".join(token.typed for token in trace.tokens if token.segment == 0) == "Thecatsat"
    assert "".join(token.typed for token in trace.tokens if token.segment == 1) == "adogran"
    assert [token.word for token in trace.tokens if token.start == 0 and token.typed] == [0, 3]
    assert_equal(trace, run_eager(eager_of(kind), trace).attentions)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "vit"])
def test_two_texts_are_refused_by_a_model_of_one(model_of, kind):
    with pytest.raises(ValueError, match=f"{kind.upper()}.*two"):
        model_of(kind).trace(text_of(kind), "dog")


@pytest.mark.parametrize("kind", ["roberta", "xlm-roberta", "gpt2", "distilbert", *HAVE_POSITIONS])
def test_a_text_that_is_too_long_is_cut_where_the_model_ends(model_of, kind):
    trace = model_of(kind).trace("The cat sat " * 100)
    assert len(trace.tokens) == trace.cut.kept == 128 < trace.cut.total
    assert trace.check() < 1e-5


# Two stacks


@pytest.mark.parametrize(
    ("kind", "mask", "target"),
    pairwise(TWO_STACKS, ["none", "causal", "padding", "painted"], [TARGET, None]),
)
def test_the_three_attentions_of_an_encoder_decoder_are_those_of_plain_attention(
    model_of, eager_of, kind, target, mask
):
    model, reference = model_of(kind), eager_of(kind)
    n_typed = n_tokens = len(model.encode(SENTENCE).tokens)
    if mask == "painted":
        hidden = np.zeros((n_tokens, n_tokens), bool)
        hidden[2, :2] = True
        mask = masks.painted(hidden)
    trace = model.trace(SENTENCE, target, mask=mask)
    n_tokens = len(trace.tokens)
    with torch.inference_mode():
        additive = masks.build(mask, n_tokens)
        four = None if additive is None else torch.from_numpy(additive)[None, None]
        source = reference.get_encoder()(
            ids_of(trace), attention_mask=four, output_attentions=True, output_hidden_states=True
        )
        result = reference(
            encoder_outputs=source,
            attention_mask=(torch.arange(n_tokens) < n_typed)[None].long(),
            decoder_input_ids=ids_of(trace.decoder),
            output_attentions=True,
            output_hidden_states=True,
            use_cache=False,
        )
    assert_equal(trace, source.attentions)
    assert_equal(trace.decoder, result.decoder_attentions)
    assert_equal(trace.cross, result.cross_attentions)
    for ours, theirs in ((trace, source.hidden_states), (trace.decoder, result.decoder_hidden_states)):
        for state, plain in zip(ours.hidden_states, theirs, strict=True):
            np.testing.assert_allclose(state, plain[0].numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", TWO_STACKS)
def test_the_parts_of_an_encoder_decoder_say_what_they_are(model_of, kind):
    trace = model_of(kind).trace(SENTENCE, "A dog")
    assert trace.info.parts == ("encoder", "decoder", "cross")
    assert (len(trace.layers), len(trace.decoder.layers), len(trace.cross.layers)) == (2, 3, 3)
    assert {layer.kind for layer in trace.layers} == {"self"}
    assert {layer.kind for layer in trace.decoder.layers} == {"masked self"}
    assert {layer.kind for layer in trace.cross.layers} == {"cross"}
    assert trace.decoder.text == trace.cross.text == "A dog"
    assert (trace.cross.tokens, trace.cross.key_tokens) == (trace.decoder.tokens, trace.tokens)
    first = trace.decoder.tokens[0]
    assert (first.is_special, first.word, first.position) == (True, None, 0)
    for layer in trace.cross.layers:
        assert layer.sources is trace.hidden_states[-1]
        assert layer.mask is None
    for layer in trace.decoder.layers:
        assert not np.triu(layer.steps().weights, k=1).any()


@pytest.mark.parametrize("kind", TWO_STACKS)
def test_without_a_second_text_the_decoder_reads_what_the_model_writes(model_of, eager_of, kind):
    trace = model_of(kind).trace(SENTENCE)
    with torch.inference_mode():
        written = eager_of(kind).generate(
            ids_of(trace), do_sample=False, num_beams=1, max_new_tokens=64, use_cache=False
        )
    ids = written[0].tolist()
    end = eager_of(kind).generation_config.eos_token_id
    assert ids_of(trace.decoder)[0].tolist() == (ids[:-1] if ids[-1] == end else ids)
    assert len(ids) > 8
    for token in trace.decoder.tokens:
        assert token.is_special or trace.decoder.text[token.start : token.start + len(token.typed)] == token.typed
    assert "".join(token.typed for token in trace.decoder.tokens) == trace.decoder.text.replace(" ", "")


@given(ids=st.lists(st.integers(0, 66), max_size=12))
@pytest.mark.parametrize("kind", TWO_STACKS)
def test_any_tokens_that_are_written_have_their_place_in_the_text(model_of, kind, ids):
    text, tokens = model_of(kind)._text.written(ids)
    assert clean(text) == text
    assert [token.token_id for token in tokens] == ids
    assert "".join(token.typed for token in tokens) == text.replace(" ", "")
    for token in tokens:
        assert token.start is None or text[token.start : token.start + len(token.typed)] == token.typed
    words = [token.word for token in tokens if token.word is not None]
    assert words == sorted(words)


def test_a_character_that_was_written_in_several_tokens_is_typed_once(model_of):
    reader = model_of("bart")._text
    ids = reader.encode("a 😀 b", None, 99)[0].ids[1:-1]
    text, tokens = reader.written(ids)
    assert text == "a 😀 b"
    assert [token.typed for token in tokens] == [
        token.typed for token in reader.tokens(reader.encode(text, None, 99)[0], text)
    ][1:-1]


@pytest.mark.parametrize("kind", HAVE_POSITIONS)
def test_a_target_that_is_too_long_is_cut(model_of, kind):
    decoder = model_of(kind).trace("The cat", "a dog ran " * 100).decoder
    assert len(decoder.tokens) == decoder.cut.kept == 128 < decoder.cut.total
    assert decoder.check() < 1e-5


def names_of(trace):
    return [token.text for token in trace.tokens]


@pytest.mark.parametrize(
    ("kind", "opening"),
    [
        # What is written there is no special token: then the tokenizer's own is read.
        ("bart", ["</s>", "<s>"]),
        ("t5", ["<pad>"]),
        ("mt5", ["<pad>"]),
        ("umt5", ["<pad>"]),
        ("pegasus", ["<pad>"]),
        ("mbart", ["fr_XX"]),
        ("m2m_100", ["</s>", "__fr__"]),
        ("plbart", ["<s>"]),
        ("blenderbot", ["<s>"]),
        ("blenderbot-small", ["<s>"]),
    ],
)
def test_a_target_that_is_typed_begins_as_what_the_model_writes(model_of, kind, opening):
    written, read = model_of(kind).trace("The cat").decoder, model_of(kind).trace("The cat", "A dog").decoder
    count = len(opening)
    assert names_of(read)[:count] == opening
    assert [token.is_special for token in read.tokens] == [True] * count + [False] * (len(read.tokens) - count)
    assert "".join(token.typed for token in read.tokens) == "Adog"
    assert [token.position for token in read.tokens] == list(range(len(read.tokens)))
    if kind != "bart":
        assert names_of(written)[:count] == opening
        assert not written.tokens[count].is_special


def test_the_code_of_the_sources_language_is_read_where_the_tokenizer_puts_it(model_of):
    assert names_of(model_of("mbart").trace("The cat"))[-2:] == ["</s>", "en_XX"]
    assert names_of(model_of("m2m_100").trace("The cat"))[::3] == ["__en__", "</s>"]


def test_without_a_choice_of_a_language_a_target_has_the_one_that_the_model_writes(folder_of, tmp_path):
    """As NLLB is saved: its tokenizer opens a text with the language of a source."""
    folder = shutil.copytree(folder_of("m2m_100"), tmp_path / "nllb")
    file = folder / "generation_config.json"
    settings = json.loads(file.read_text())
    french = settings.pop("forced_bos_token_id")
    # Made to be what this model of random numbers chooses by itself.
    count = json.loads((folder / "config.json").read_text())["vocab_size"]
    settings["begin_suppress_tokens"] = [number for number in range(count) if number != french]
    file.write_text(json.dumps(settings))
    model = HuggingFaceModel(info_of("m2m_100", folder), folder)
    for target in (None, "A dog"):
        assert names_of(model.trace("The cat", target).decoder)[:2] == ["</s>", "__fr__"]


def test_what_the_source_has_is_not_written_where_a_model_is_told_so(model_of):
    trace = model_of("blenderbot").trace(SENTENCE)
    assert not {token.token_id for token in trace.tokens} & {token.token_id for token in trace.decoder.tokens[1:]}


def test_waves_that_are_not_in_the_files_are_worked_out(folder_of, model_of, tmp_path):
    """As Google's Pegasus is saved."""
    folder = shutil.copytree(folder_of("pegasus"), tmp_path / "pegasus")
    weights = load_file(folder / "model.safetensors")
    kept = {name: values for name, values in weights.items() if not name.endswith("embed_positions.weight")}
    assert len(kept) == len(weights) - 2
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    ours = HuggingFaceModel(info_of("pegasus", folder), folder).trace(SENTENCE, "A dog")
    theirs = model_of("pegasus").trace(SENTENCE, "A dog")
    np.testing.assert_array_equal(ours.cross.layers[-1].queries, theirs.cross.layers[-1].queries)
    np.testing.assert_allclose(ours.embeddings.table.rows[:, :15], sinusoidal(128, 30)[:, 0::2], atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("m2m_100", "M2M100Tokenizer"),
        ("plbart", "PLBartTokenizer"),
        ("blenderbot-small", "BlenderbotSmallTokenizer"),
    ],
)
def test_a_tokenizer_without_a_fast_form_of_its_own_is_read_from_its_file(folder_of, model_of, tmp_path, kind, name):
    folder = shutil.copytree(folder_of(kind), tmp_path / kind)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"tokenizer_class": name}))
    (folder / "vocab.json").write_text('{"__unk__": 0}')
    (folder / "merges.txt").write_text("#version: 0.2\n")
    found = HuggingFaceModel(info_of(kind, folder), folder).encode(SENTENCE)
    assert found.tokens == model_of(kind).encode(SENTENCE).tokens


def test_position_bias_is_kept_once_for_all_layers(model_of):
    trace = model_of("t5").trace(SENTENCE)
    for part in (trace, trace.decoder):
        assert len({id(layer.bias) for layer in part.layers}) == 1
        assert part.layers[0].bias.shape == (4, len(part.tokens), len(part.tokens))
        assert {layer.scale for layer in part.layers} == {1.0}
        layer = part.layers[0]
        scores = np.einsum("hqd,hkd->hqk", layer.queries, layer.keys) + layer.bias
        np.testing.assert_allclose(layer.steps().scores, scores, rtol=0, atol=1e-5)
    assert {layer.bias for layer in trace.cross.layers} == {None}
    assert len({id(layer.bias) for layer in model_of("bloom").trace(SENTENCE).layers}) == 1


# Pictures


def test_a_picture_is_cut_into_patches(model_of):
    tokens = model_of("vit").encode(PICTURE).tokens
    assert (tokens[0].text, tokens[0].is_special, tokens[0].word) == ("[CLS]", True, None)
    assert [token.text for token in tokens[1:7]] == ["r1c1", "r1c2", "r1c3", "r1c4", "r2c1", "r2c2"]
    assert [token.word for token in tokens[1:]] == list(range(16))
    assert len(tokens) == model_of("vit").info.max_tokens


def test_a_picture_is_brought_to_the_size_and_the_colours_of_the_model(tmp_path):
    config = transformers.ViTConfig(
        image_size=32, patch_size=16, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.ViTModel(config).save_pretrained(tmp_path)
    model = HuggingFaceModel(info_of("vit", tmp_path), tmp_path)
    given = model._picture.pixels("0" * 32 + "g" * 32)
    assert given.shape == (1, 3, 32, 32)
    # Far from the border between them, black is -1 and white is 1, in every colour.
    assert given[:, :, :12].unique().tolist() == [-1]
    assert given[:, :, 20:].unique().tolist() == [1]
    trace = model.trace("0" * 32 + "g" * 32)
    assert [token.text for token in trace.tokens] == ["[CLS]", "r1c1", "r1c2", "r2c1", "r2c2"]
    np.testing.assert_allclose(trace.embeddings.words[1], trace.embeddings.words[2], atol=1e-5)
    assert np.abs(trace.embeddings.words[1] - trace.embeddings.words[3]).max() > 1e-3
    assert trace.check() < 1e-5


@pytest.mark.parametrize("text", ["The cat", "0" * 63, "0" * 63 + "h"])
def test_what_is_no_picture_is_an_error_that_says_so(model_of, text):
    for run in (model_of("vit").trace, model_of("vit").encode):
        with pytest.raises(ValueError, match=r"64 characters|pixel"):
            run(text)


def test_a_picture_takes_no_padding(model_of):
    with pytest.raises(ValueError, match="no padding"):
        model_of("vit").trace(PICTURE, mask="padding")


# Batches and threads


@pytest.mark.parametrize("kind", [*KINDS, *TODAY])
def test_a_batch_is_its_texts_one_by_one(model_of, kind):
    model = model_of(kind)
    texts = ["The cat sat on the mat.", "The mat sat on the cat."]
    if kind == "vit":
        texts = [PICTURE, PICTURE[::-1]]
    batch = model.trace_batch([model.encode(text) for text in texts])
    for index, text in enumerate(texts):
        for ours, theirs in zip(batch.layers, model.trace(text).layers, strict=True):
            np.testing.assert_allclose(ours.steps().weights[index], theirs.steps().weights, rtol=0, atol=1e-5)
    assert max(layer.check() for layer in batch.layers) < 1e-5


@pytest.mark.parametrize("kind", sweep(["bart", "t5"], quick=["bart"]))
@pytest.mark.slow
def test_threads_do_not_see_each_other_write(model_of, kind):
    model, texts = model_of(kind), ["The cat sat", "A small dog ran", "happy birds", "Paris"] * 2
    alone = [model.trace(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(model.trace, texts))
    for ours, theirs in zip(together, alone, strict=True):
        assert ours.decoder.tokens == theirs.decoder.tokens
        np.testing.assert_array_equal(ours.cross.layers[-1].queries, theirs.cross.layers[-1].queries)
        assert ours.check() < 1e-5


# What is known of a model without loading it


@pytest.mark.parametrize("kind", [*KINDS, *TODAY])
def test_what_is_said_of_a_model_is_true(model_of, folder_of, kind):
    info, trace = info_of(kind, folder_of(kind)), model_of(kind).trace(text_of(kind))
    for part in trace.traces:
        layer = part.layers[0]
        assert (len(part.layers), layer.queries.shape[0]) == (part.info.n_layers, info.n_heads)
        assert (layer.keys.shape[0], layer.queries.shape[2]) == (info.n_key_value_heads, info.d_head)
        assert layer.inputs.shape[1] == info.d_model
    assert info.n_decoder_layers == (0 if trace.decoder is None else len(trace.decoder.layers))
    assert info.reading is (reading.PICTURE if kind == "vit" else reading.TEXT)
    check_size(info, folder_of(kind))
    assert info.is_decoder == (kind in ("gpt2", "llama") or (kind in TODAY and kind not in ENCODERS_OF_TODAY))
    assert (model_of(kind).next_token(trace) is not None) == info.is_decoder
    config = json.loads((folder_of(kind) / "config.json").read_text())
    whole = getattr(transformers, config["architectures"][0]).from_pretrained(folder_of(kind), local_files_only=True)
    counted = whole.model.language_model if kind == "gemma3" else whole
    assert info.n_parameters == sum(parameter.numel() for parameter in counted.parameters())


@pytest.mark.parametrize(
    ("kind", "name"), [("gpt2", "h.1.attn.c_attn.weight"), ("bart", "encoder.layers.0.self_attn.q_proj.weight")]
)
def test_weights_that_are_missing_are_an_error_and_are_never_made_up(folder_of, tmp_path, kind, name):
    folder = shutil.copytree(folder_of(kind), tmp_path / kind)
    weights = load_file(folder / "model.safetensors")
    (found,) = [key for key in weights if key.endswith(name)]
    del weights[found]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ValueError, match=rf"\b1\b.*{name}"):
        HuggingFaceModel(info_of(kind, folder), folder)


def test_a_bert_of_one_segment_takes_two_texts(folder_of, tmp_path):
    folder = shutil.copytree(folder_of("bert"), tmp_path / "bert")
    config = json.loads((folder / "config.json").read_text()) | {"type_vocab_size": 1}
    (folder / "config.json").write_text(json.dumps(config))
    weights = load_file(folder / "model.safetensors")
    (found,) = [key for key in weights if key.endswith("token_type_embeddings.weight")]
    save_file(weights | {found: weights[found][:1].clone()}, folder / "model.safetensors", metadata={"format": "pt"})
    trace = HuggingFaceModel(info_of("bert", folder), folder).trace("The cat", "sat")
    assert [token.segment for token in trace.tokens] == [0, 0, 0, 0, 1, 1]
    assert trace.check() < 1e-5


# Marian


def marian(folder, tokenizer_folder=None):
    config = transformers.MarianConfig(
        vocab_size=100,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        scale_embedding=True,
        init_std=0.3,
        pad_token_id=99,
        decoder_start_token_id=99,
        eos_token_id=1,
        forced_eos_token_id=1,
    )
    torch.manual_seed(0)
    transformers.MarianMTModel(config).save_pretrained(folder)
    if tokenizer_folder is not None:
        shutil.copy(tokenizer_folder / "tokenizer.json", folder)
        settings = json.loads((tokenizer_folder / "tokenizer_config.json").read_text())
        settings["tokenizer_class"] = "MarianTokenizer"
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def test_marian_without_a_tokenizer_that_can_be_read_is_an_error_that_says_so(tmp_path):
    folder = marian(tmp_path)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "MarianTokenizer"}')
    with pytest.raises(ValueError, match="sentencepiece"):
        HuggingFaceModel(info_of("marian", folder), folder)


def test_marian_with_one_is_recorded(tmp_path, folder_of):
    folder = marian(tmp_path, folder_of("t5"))
    trace = HuggingFaceModel(info_of("marian", folder), folder).trace(SENTENCE, "A dog")
    reference = AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True, attn_implementation="eager").eval()
    with torch.inference_mode():
        result = reference(
            ids_of(trace), decoder_input_ids=ids_of(trace.decoder), output_attentions=True, use_cache=False
        )
    assert_equal(trace, result.encoder_attentions)
    assert_equal(trace.decoder, result.decoder_attentions)
    assert_equal(trace.cross, result.cross_attentions)
    parts = trace.embeddings
    np.testing.assert_allclose(parts.words + parts.positions, trace.hidden_states[0], rtol=0, atol=1e-5)


def test_bart_without_its_head_writes_with_the_table_of_its_words(folder_of, model_of, tmp_path):
    """As facebook/bart-base is saved."""
    transformers.BartModel.from_pretrained(folder_of("bart"), local_files_only=True).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        shutil.copy(folder_of("bart") / name, tmp_path)
    ours, theirs = (
        HuggingFaceModel(info_of("bart", tmp_path), tmp_path).trace("The cat"),
        model_of("bart").trace("The cat"),
    )
    assert ours.decoder.tokens == theirs.decoder.tokens
    np.testing.assert_array_equal(ours.cross.layers[0].queries, theirs.cross.layers[0].queries)


def llama_2_tokenizer(folder):
    """Sentence pieces by byte-pair encoding, with bytes for what has no piece, as Llama 2 has them."""
    letters = list("abcdefghijklmnopqrstuvwxyzT.,'")
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *letters, "ca", "cat", "▁cat"]
    tokenizer = Tokenizer(
        models.BPE(
            {piece: number for number, piece in enumerate(pieces)},
            [("c", "a"), ("ca", "t"), ("▁", "cat")],
            unk_token="<unk>",
            byte_fallback=True,
            fuse_unk=True,
        )
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    ).save_pretrained(folder)


def test_sentence_pieces_with_bytes_for_the_rest(folder_of, tmp_path):
    folder = shutil.copytree(folder_of("llama"), tmp_path / "llama")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    llama_2_tokenizer(folder)
    model = HuggingFaceModel(info_of("llama", folder), folder)
    trace = model.trace("cat é cat")
    assert [token.text for token in trace.tokens] == ["<s>", "␣cat", "␣", "<0xC3>", "<0xA9>", "␣cat"]
    assert [token.typed for token in trace.tokens] == ["", "cat", "", "é", "", "cat"]
    assert [token.word for token in trace.tokens] == [None, 0, 1, 1, 1, 2]
    assert [token.is_special for token in trace.tokens] == [True, False, False, False, False, False]
    found = model.next_token(trace)
    assert (found.texts[found.labels.index("␣cat")], found.texts[found.labels.index("<0xC3>")]) == (" cat", None)


# Models that are of another kind than their architecture is called

CONTRARY = [("is_causal", False), ("use_bidirectional_attention", True), ("is_decoder", True)]


def contrary(folder, to, key, value):
    """A copy of a model with one value of its configuration changed."""
    shutil.copytree(folder, to)
    config = json.loads((to / "config.json").read_text())
    config.get("text_config", config)[key] = value
    (to / "config.json").write_text(json.dumps(config))
    return to


@pytest.mark.parametrize("kind", [*KINDS, *TODAY])
def test_no_decoder_is_shown_that_hides_nothing_and_no_encoder_that_hides_what_is_later(folder_of, tmp_path, kind):
    plain = info_of(kind, folder_of(kind))
    is_decoder = plain.is_decoder or plain.n_decoder_layers > 0
    for key, value in CONTRARY:
        folder = contrary(folder_of(kind), tmp_path / key, key, value)
        if is_decoder == (key == "is_decoder"):
            # It says what it is: the model is shown as before.
            assert info_of(kind, folder) == plain
            continue
        with pytest.raises(ValueError, match=f" {key} = {value}"):
            info_of(kind, folder)


@pytest.mark.parametrize("is_named", [True, False])
def test_an_encoder_that_has_left_its_decoder_behind_is_told_so(folder_of, tmp_path, is_named):
    """Whether its configuration says so, or only its weights do."""
    folder = tmp_path / "alone"
    transformers.T5EncoderModel.from_pretrained(folder_of("t5"), local_files_only=True).save_pretrained(folder)
    for file in folder_of("t5").glob("*token*"):
        shutil.copy(file, folder)
    config = json.loads((folder / "config.json").read_text())
    assert config["architectures"] == ["T5EncoderModel"]
    if is_named:
        shutil.copy(folder_of("t5") / "model.safetensors", folder)
    else:
        config["architectures"] = ["T5ForConditionalGeneration"]
        (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"encoder.*T5"):
        info_of("t5", folder)
