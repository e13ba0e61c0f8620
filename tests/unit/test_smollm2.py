"""The decoder: its record, against transformers' own run of the same weights."""

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attention.core.given import printable
from attention.core.words import words_of

SENTENCE = "The cat sat on the mat"


@pytest.fixture(scope="module")
def trace(smollm2):
    return smollm2.trace(SENTENCE)


@pytest.fixture(scope="module")
def reference(eager_smollm2, trace):
    """transformers' own run."""
    with torch.inference_mode():
        ids = torch.tensor([column(trace.tokens, "token_id")])
        return eager_smollm2(ids, output_attentions=True, output_hidden_states=True, use_cache=False)


def column(tokens, name):
    return [getattr(token, name) for token in tokens]


# What was recorded, and what follows from it


def test_the_recorded_states_and_the_derived_weights_are_those_of_the_plain_run(trace, reference):
    assert len(trace.layers) == 30
    # The last one of transformers is after the final norm.
    for ours, theirs in zip(trace.hidden_states[:-1], reference.hidden_states[:-1], strict=True):
        # The first token's vector has numbers of 22,000: float32 keeps seven digits.
        np.testing.assert_allclose(ours, theirs[0].numpy(), rtol=1e-5, atol=1e-3)
    for layer, theirs in zip(trace.layers, reference.attentions, strict=True):
        np.testing.assert_allclose(layer.steps().weights, theirs[0].numpy(), rtol=0, atol=1e-5)


def test_the_default_head_looks_from_sat_to_cat(trace):
    weights = trace.layers[trace.info.default_layer].head(trace.info.default_head).weights
    assert weights[2].argmax() == 1
    assert weights[5, 1:].argmax() == 0


# Tokens


def test_a_character_in_several_tokens_is_typed_once_and_digits_are_one_word(smollm2):
    tokens = smollm2.encode("in 2023 😀").tokens
    assert column(tokens, "typed") == ["in", "", "2", "0", "2", "3", "😀", ""]
    assert column(tokens, "word") == [0, 1, 1, 1, 1, 1, 2, 2]
    assert [word.typed for word in words_of(tokens)] == ["in", "2023", "😀"]


@settings(max_examples=25)
# Its vocabulary lacks some bytes: those of control characters and of the highest planes.
@given(text=st.text(st.characters(exclude_categories=["Cc"], max_codepoint=0x3FFFF) | st.sampled_from("\n\t ")))
@example(text="def f(x):\n    return x\n")
def test_any_text_gives_tokens_that_cover_it(smollm2, text):
    typed = printable(text)
    if not typed:
        with pytest.raises(ValueError, match="no visible text"):
            smollm2.encode(text)
        return
    tokens = smollm2.encode(text).tokens
    assert "".join(column(tokens, "typed")).replace(" ", "") == typed.replace(" ", "")
    for token in tokens:
        assert typed[token.start : token.start + len(token.typed)] == token.typed
    # Words are runs of tokens.
    words = column(tokens, "word")
    assert words == sorted(words)


# What comes next


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


# Memory
