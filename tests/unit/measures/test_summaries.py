"""All measures, of a text and of batches, against plain loops; and their results for the bundled models."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core import masks
from attention.core.words import merge_words
from attention.measures.marks import Marks
from attention.measures.rows import Rows
from attention.measures.summaries import (
    MEASURES,
    PATTERN_MEASURES,
    HeadSummary,
    measure,
    summarise_weights,
)
from attention.models.toy import ToyModel
from tests.plain_loops import Plain, average, random_weights, seeds, token, words
from tests.summaries import summarise

MODEL = ToyModel()
SENTENCE = "The cat sat on the mat"


def numbers_of(summary):
    """All numbers of a summary, by the names that they have where they are measured."""
    patterns = {name: getattr(summary.pattern, name) for name in PATTERN_MEASURES}
    return {name: getattr(summary, name) for name in MEASURES if name not in patterns} | patterns


# ------------------------------------------------------------------------------- batches of texts


@st.composite
def batches(draw):
    """Texts of one length with special tokens, words that come twice, segments and padding, and weights between them.

    The mask is one for all, one for each head, one for each text or one for each layer; or there is none.
    """
    n_layers, n_texts, n_heads, n_tokens = (draw(st.integers(1, most)) for most in (2, 3, 2, 7))
    names = st.sampled_from(["[CLS]", "[SEP]", "[PAD]", "The", "the", "cat", ",", "a1"])
    texts = []
    for _ in range(n_texts):
        chosen = draw(st.lists(names, min_size=n_tokens, max_size=n_tokens))
        cut = draw(st.integers(0, n_tokens))
        texts.append(
            [token(name, i, segment=int(i >= cut), is_padding=name == "[PAD]") for i, name in enumerate(chosen)]
        )
    seed = draw(seeds)
    shape = (n_layers, n_texts, n_heads, n_tokens, n_tokens)
    axes = draw(st.sampled_from([None, (), (n_heads,), (n_texts, 1), (n_layers, 1, 1)]))
    mask = None
    if axes is not None:
        hidden = np.random.default_rng(seed).random((*axes, n_tokens, n_tokens)) < draw(st.sampled_from([0.2, 0.7]))
        mask = masks.painted(hidden)
    weights = random_weights(seed, *shape, sharpness=draw(st.sampled_from([0, 1, 5])), mask=mask)
    return texts, weights, mask


@given(batches())
def test_a_batch_of_texts_is_measured_as_plain_loops_measure_each_head_on_each_text(batch):
    texts, weights, mask = batch
    marks = Marks.of(texts)
    measured = measure(Rows.of(weights, mask, ~marks.padding[:, None]), marks)
    assert set(measured) == set(MEASURES)
    assert {values.shape for values in measured.values()} == {weights.shape[:3]}
    seen = np.ones(weights.shape, bool) if mask is None else np.broadcast_to(~np.isneginf(mask), weights.shape)
    for at in np.ndindex(weights.shape[:3]):
        wanted = Plain(weights[at], texts[at[1]], seen[at]).measures()
        assert {name: float(values[at]) for name, values in measured.items()} == pytest.approx(wanted, abs=1e-9)


@given(batches())
def test_the_measures_of_a_text_do_not_depend_on_what_is_measured_with_it(batch):
    texts, weights, mask = batch
    whole = np.broadcast_to(np.zeros(()) if mask is None else mask, weights.shape)
    for text, tokens in enumerate(texts):
        for layer in range(len(weights)):
            summaries = summarise_weights(weights[layer, text], tokens, whole[layer, text], layer)
            marks = Marks.of(texts)
            measured = measure(Rows.of(weights, mask, ~marks.padding[:, None]), marks)
            for head, summary in enumerate(summaries):
                wanted = {name: float(values[layer, text, head]) for name, values in measured.items()}
                assert numbers_of(summary) == pytest.approx(wanted, abs=1e-9)


# ------------------------------------------------------------------------------------ real models


def test_padding_changes_no_number():
    for plain, padded in zip(
        *(summarise(MODEL.trace(SENTENCE, mask=mask)) for mask in ("none", "padding")), strict=True
    ):
        for field in fields(HeadSummary):
            if field.name != "pattern":
                assert getattr(padded, field.name) == pytest.approx(getattr(plain, field.name), abs=1e-6)
        assert padded.pattern.as_dict() == pytest.approx(plain.pattern.as_dict(), abs=1e-6)


def test_a_painted_mask_that_hides_all_gives_zeros_not_nan():
    n_tokens = 6
    trace = MODEL.trace(SENTENCE, mask=masks.painted(np.ones((n_tokens, n_tokens), bool)))
    for summary in summarise(trace):
        assert (summary.entropy, summary.previous, summary.positional) == (0, 0, 0)
        assert summary.pattern.label == "heterogeneous"


def test_words_are_summarised_as_tokens_are(minilm):
    trace = minilm.trace("The zookeepers bamboozled the zookeepers.")
    merged, merged_words = merge_words(trace.layers[2].steps().weights, trace.tokens)
    summaries = summarise_weights(merged, merged_words, layer=2)
    assert {summary.layer for summary in summaries} == {2}
    zookeepers = [i for i, word in enumerate(merged_words) if word.text == "zookeepers"]
    the = [i for i, word in enumerate(merged_words) if word.text == "the"]
    pairs = [(*zookeepers,), (*zookeepers[::-1],), (*the,), (*the[::-1],)]
    for summary, weights in zip(summaries, merged, strict=True):
        assert summary.same_word == pytest.approx(average(weights[pair] for pair in pairs), abs=1e-6)


def test_weights_and_tokens_must_fit():
    for weights in (np.ones((3, 3)), np.ones((2, 3, 4)), np.ones((2, 4, 4))):
        with pytest.raises(ValueError, match=r"weights.*\(heads, 3, 3\)"):
            summarise_weights(weights, words(3))


# ------------------------------------------------------------------- what the toy's heads do
