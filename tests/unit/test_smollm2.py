"""The decoder: its record, against transformers' own run of the same weights."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from transformers import AutoTokenizer

from attention.core import masks
from attention.core.positions import apply_rotary
from attention.core.steps import rms_norm
from attention.core.text import clean
from attention.core.words import words_of

SENTENCE = "The cat sat on the mat"
HARD = "In 2023, don't say 😀 naïve 日本 tokenizers!"


@pytest.fixture(scope="module")
def trace(smollm2):
    return smollm2.trace(SENTENCE)


@pytest.fixture(scope="module")
def reference(eager_smollm2, trace):
    """transformers' own run, and what each layer's attention added."""
    added = []
    hooks = [
        layer.self_attn.register_forward_hook(lambda _module, _inputs, output: added.append(output[0][0]))
        for layer in eager_smollm2.model.layers
    ]
    with torch.inference_mode():
        ids = torch.tensor([column(trace.tokens, "token_id")])
        result = eager_smollm2(ids, output_attentions=True, output_hidden_states=True, use_cache=False)
    for hook in hooks:
        hook.remove()
    return result, [array.numpy() for array in added]


def column(tokens, name):
    return [getattr(token, name) for token in tokens]


def test_what_the_catalogue_says_of_the_model_is_true(smollm2, smollm2_folder):
    config = json.loads((smollm2_folder / "config.json").read_text())
    info = smollm2.info
    assert (info.n_layers, info.n_heads) == (config["num_hidden_layers"], config["num_attention_heads"])
    assert (info.n_key_value_heads, info.group_size) == (config["num_key_value_heads"], 3)
    assert (info.d_model, info.d_head) == (config["hidden_size"], config["head_dim"])
    assert info.max_tokens <= config["max_position_embeddings"]
    with safe_open(smollm2_folder / "model.safetensors", "np") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118, no dict
    assert info.n_parameters == sum(int(np.prod(shape)) for shape in shapes)


# What was recorded, and what follows from it


def test_the_recorded_states_are_those_of_the_plain_run(trace, reference):
    result, _ = reference
    # The last one of transformers is after the final norm.
    for ours, theirs in zip(trace.hidden_states[:-1], result.hidden_states[:-1], strict=True):
        # The first token's vector has numbers of 22,000: float32 keeps seven digits.
        np.testing.assert_allclose(ours, theirs[0].numpy(), rtol=1e-5, atol=1e-3)


def test_the_derived_outputs_are_the_models_own_on_every_layer_and_head(trace):
    assert len(trace.layers) == 30
    for layer in trace.layers:
        steps = layer.steps()
        assert steps.head_outputs.shape == (9, 6, 64)
        np.testing.assert_allclose(steps.head_outputs, layer.model_output, rtol=0, atol=1e-5)


def test_the_derived_weights_are_those_of_plain_attention_on_every_layer_and_head(trace, reference):
    result, _ = reference
    for layer, theirs in zip(trace.layers, result.attentions, strict=True):
        np.testing.assert_allclose(layer.steps().weights, theirs[0].numpy(), rtol=0, atol=1e-5)


def test_the_derived_change_is_what_each_layer_added(trace, reference):
    _, added = reference
    for layer, theirs in zip(trace.layers, added, strict=True):
        np.testing.assert_allclose(layer.output(), theirs, rtol=1e-5, atol=1e-4)


def test_turning_the_projected_inputs_gives_the_queries_and_keys_of_every_layer_and_head(trace):
    for layer in trace.layers:
        for head in range(9):
            queries, keys = layer.projected(head)
            found = layer.head(head)
            np.testing.assert_allclose(apply_rotary(queries, layer.rotary), found.queries, rtol=1e-5, atol=1e-4)
            np.testing.assert_allclose(apply_rotary(keys, layer.rotary), found.keys, rtol=1e-5, atol=1e-4)
            # At position 0 nothing is turned; elsewhere something is.
            np.testing.assert_allclose(queries[0], found.queries[0], rtol=1e-5, atol=1e-4)
            assert np.abs(queries[1:] - found.queries[1:]).max() > 0.1


def test_the_angles_are_those_of_the_configuration(trace, smollm2_folder):
    config = json.loads((smollm2_folder / "config.json").read_text())
    frequencies = config["rope_parameters"]["rope_theta"] ** (-np.arange(0, 64, 2) / 64)
    turns = trace.layers[0].rotary
    for position in range(6):
        np.testing.assert_allclose(turns.cosines[position], np.cos(position * frequencies), atol=1e-6)
        np.testing.assert_allclose(turns.sines[position], np.sin(position * frequencies), atol=1e-6)


def test_what_enters_the_projections_is_the_stream_after_its_norm(trace):
    for layer, stream in zip(trace.layers, trace.hidden_states, strict=False):
        ours = rms_norm(stream, layer.norm.gain, layer.norm.epsilon)
        np.testing.assert_allclose(layer.inputs, ours, rtol=1e-5, atol=1e-5)


def test_three_query_heads_share_a_key_value_head(trace):
    layer = trace.layers[3]
    assert (layer.queries.shape, layer.keys.shape, layer.values.shape) == ((9, 6, 64), (3, 6, 64), (3, 6, 64))
    for head in range(9):
        np.testing.assert_array_equal(layer.head(head).keys, layer.keys[head // 3])
        np.testing.assert_array_equal(layer.head(head).values, layer.values[head // 3])


def test_the_default_head_looks_from_sat_to_cat(trace):
    weights = trace.layers[trace.info.default_layer].head(trace.info.default_head).weights
    assert weights[2].argmax() == 1
    assert weights[5, 1:].argmax() == 0


# Masks


@pytest.mark.parametrize("mask", ["none", "causal", "padding", None])
def test_whatever_the_mask_no_token_sees_a_later_one(smollm2, mask):
    one, other = (smollm2.trace(f"The cat sat {rest}", mask=mask) for rest in ("on the mat", "by a tree"))
    for layer in one.layers:
        assert layer.kind == "masked self"
        assert not np.triu(layer.steps().weights, k=1).any()
    for ours, theirs in zip(one.hidden_states, other.hidden_states, strict=True):
        np.testing.assert_allclose(ours[:3], theirs[:3], rtol=1e-5, atol=1e-3)
    assert one.check() < 1e-5


def test_padding_is_added_and_hidden(smollm2, trace):
    padded = smollm2.trace(SENTENCE, mask="padding")
    assert column(padded.tokens[6:], "is_padding") == [True] * 3
    for ours, theirs in zip(padded.layers, trace.layers, strict=True):
        np.testing.assert_allclose(ours.steps().weights[:, :6, :6], theirs.steps().weights, rtol=0, atol=1e-5)
        assert not ours.steps().weights[..., 6:].any()


def test_a_painted_mask_hides_more_and_a_word_that_sees_nothing_gets_zeros(smollm2):
    hidden = np.zeros((6, 6), bool)
    hidden[3] = True
    painted = smollm2.trace(SENTENCE, mask=masks.painted(hidden))
    for layer in painted.layers:
        steps = layer.steps()
        assert not steps.weights[:, 3].any()
        assert not np.triu(steps.weights, k=1).any()
    assert painted.check() < 1e-5


def test_one_token_is_masked_self_attention_too(smollm2):
    one = smollm2.trace("cat")
    assert {layer.kind for layer in one.layers} == {"masked self"}
    assert one.check() < 1e-5


# Tokens


def test_the_tokens_are_those_of_the_reference_tokenizer(smollm2, smollm2_folder):
    tokenizer = AutoTokenizer.from_pretrained(smollm2_folder, local_files_only=True)
    for text in (SENTENCE, HARD, "<|im_end|> a\u200db  c"):
        assert column(smollm2.encode(text).tokens, "token_id") == tokenizer(clean(text))["input_ids"]


def test_a_space_is_seen_in_the_token_and_not_in_what_was_typed(smollm2):
    tokens = smollm2.encode("The naïve tokenizers, don't!").tokens
    assert column(tokens, "text") == ["The", "␣na", "ïve", "␣token", "izers", ",", "␣don", "'t", "!"]
    assert column(tokens, "typed") == ["The", "na", "ïve", "token", "izers", ",", "don", "'t", "!"]
    assert column(tokens, "word") == [0, 1, 1, 2, 2, 3, 4, 5, 6]
    assert column(tokens, "start") == [0, 4, 6, 10, 15, 20, 22, 25, 27]
    assert not any(column(tokens, "is_special"))


def test_a_character_in_several_tokens_is_typed_once_and_digits_are_one_word(smollm2):
    tokens = smollm2.encode("in 2023 😀").tokens
    assert column(tokens, "typed") == ["in", "", "2", "0", "2", "3", "😀", ""]
    assert column(tokens, "word") == [0, 1, 1, 1, 1, 1, 2, 2]
    assert [word.typed for word in words_of(tokens)] == ["in", "2023", "😀"]


@settings(max_examples=25)
@given(text=st.text(st.characters()))
def test_any_text_gives_tokens_that_cover_it(smollm2, text):
    cleaned = clean(text)
    if not cleaned:
        with pytest.raises(ValueError, match="no text"):
            smollm2.encode(text)
        return
    tokens = smollm2.encode(text).tokens
    assert "".join(column(tokens, "typed")) == cleaned.replace(" ", "")
    for token in tokens:
        assert cleaned[token.start : token.start + len(token.typed)] == token.typed
    # Words are runs of tokens.
    words = column(tokens, "word")
    assert words == sorted(words)


@pytest.mark.parametrize("text", ["word " * 600, "😀 👩\u200d👩\u200d👧 " * 300], ids=["words", "emoji"])
def test_a_text_that_is_too_long_is_cut(smollm2, text):
    encoded = smollm2.encode(text)
    assert 505 <= len(encoded.tokens) == encoded.cut.kept <= 512 < encoded.cut.total


def test_a_pair_is_refused_in_a_sentence(smollm2):
    with pytest.raises(ValueError, match=r"SmolLM2.*two"):
        smollm2.trace("The cat", "sat")


# What comes next


def test_what_comes_next_after_the_last_layer_is_the_models_own_answer(smollm2, trace, reference):
    result, _ = reference
    found = smollm2.next_token(trace)
    np.testing.assert_allclose(found.logits[-1], result.logits[0, -1].numpy(), rtol=0, atol=1e-4)


def test_what_comes_next_after_each_layer_is_the_final_norm_and_the_unembedding(smollm2, trace, eager_smollm2):
    found = smollm2.next_token(trace)
    assert found.logits.shape == (31, 49152)
    gain, unembedding = (
        parameter.detach().double().numpy()
        for parameter in (eager_smollm2.model.norm.weight, eager_smollm2.lm_head.weight)
    )
    for logits, state in zip(found.logits, trace.hidden_states, strict=True):
        x = state[-1].astype(np.float64)
        normed = x / np.sqrt((x**2).mean() + 1e-5) * gain
        np.testing.assert_allclose(logits, unembedding @ normed, rtol=1e-4, atol=1e-3)


def test_the_capital_of_france_is_paris_and_padding_does_not_change_it(smollm2):
    for mask in ("none", "padding"):
        found = smollm2.next_token(smollm2.trace("The capital of France is", mask=mask))
        best = int(found.logits[-1].argmax())
        assert (found.labels[best], found.texts[best]) == ("␣Paris", " Paris")


def test_what_is_no_text_cannot_be_added(smollm2, trace):
    found = smollm2.next_token(trace)
    assert len(found.labels) == len(found.texts) == 49152
    assert found.texts[2] is None  # <|im_end|>
    assert found.texts[found.labels.index("\\x80")] is None


def test_an_encoder_says_nothing_of_what_comes_next(minilm):
    assert minilm.next_token(minilm.trace(SENTENCE)) is None


# Batches, threads, memory


def test_a_batch_is_its_texts_one_by_one(smollm2):
    texts = [smollm2.encode(text) for text in (SENTENCE, "A dog ran to the tree")]
    batch = smollm2.trace_batch(texts)
    for index, text in enumerate(texts):
        alone = smollm2.trace(text.text)
        for ours, theirs in zip(batch.layers, alone.layers, strict=True):
            np.testing.assert_allclose(ours.steps().weights[index], theirs.steps().weights, rtol=0, atol=1e-5)
    assert max(layer.check() for layer in batch.layers) < 1e-5


@pytest.mark.slow
def test_threads_do_not_see_each_other(smollm2):
    texts = [SENTENCE, "A dog ran", "The capital of France is", "Birds sing"] * 2
    alone = [smollm2.trace(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(smollm2.trace, texts))
    for ours, theirs in zip(together, alone, strict=True):
        assert ours.tokens == theirs.tokens
        for layer, other in zip(ours.layers, theirs.layers, strict=True):
            np.testing.assert_array_equal(layer.queries, other.queries)


@pytest.mark.slow
def test_a_trace_of_512_tokens_holds_at_most_170_mb_and_its_outputs_are_the_models_own(smollm2):
    longest = smollm2.trace("cat mat " * 300)
    assert len(longest.tokens) == 512
    # 30 layers of inputs, queries, keys, values and outputs (2,112 numbers a token) and four lengths a token, 31 states
    # of 576, and a mask.
    wanted = 4 * (512 * (30 * (576 * 3 + 192 * 2 + 4) + 32 * 576) + 512 * 512 + 512 * 64)
    # While it is checked, what the layers added is there too; nobody asks for that again.
    assert longest.without_added().nbytes == wanted <= 170e6
    assert longest.nbytes == wanted + 4 * 512 * 30 * 576
    assert max(np.abs(layer.head(8).head_outputs - layer.model_output[8]).max() for layer in longest.layers) < 1e-5
