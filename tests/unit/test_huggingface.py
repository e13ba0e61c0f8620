import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer, BertConfig, BertModel

from attention.core.given import printable
from attention.models.huggingface import HuggingFaceModel
from tests.sweep import sweep

SENTENCE = "The cat sat on the mat"


@pytest.fixture(scope="module")
def reference_tokenizer(minilm_folder):
    """transformers' own way to encode, without anything of ours."""
    return AutoTokenizer.from_pretrained(minilm_folder, local_files_only=True)


def column(tokens, name):
    return [getattr(token, name) for token in tokens]


def test_at_the_default_layer_and_head_sat_and_mat_look_at_cat_most_of_all_words(minilm):
    trace = minilm.trace(SENTENCE)
    weights = trace.layers[minilm.info.default_layer].head(minilm.info.default_head).weights
    words = [token.position for token in trace.tokens if not token.is_special]
    texts = column(trace.tokens, "text")
    for word in ("sat", "mat"):
        looked_at = words[weights[texts.index(word), words].argmax()]
        assert texts[looked_at] == "cat"


# Tokens


def test_word_pieces_share_their_word_and_keep_what_was_typed(minilm):
    tokens = minilm.trace("  Unbelievable:\nNaïve 😀 tokenizers").tokens
    assert [(token.text, token.typed, token.word, token.start) for token in tokens] == [
        ("[CLS]", "", None, None),
        ("unbelievable", "Unbelievable", 0, 2),
        (":", ":", 1, 14),
        ("naive", "Naïve", 2, 16),
        ("[UNK]", "😀", 3, 22),
        ("token", "token", 4, 24),
        ("##izer", "izer", 4, 29),
        ("##s", "s", 4, 33),
        ("[SEP]", "", None, None),
    ]
    assert column(tokens, "position") == list(range(9))
    assert column(tokens, "is_special") == [True] + [False] * 7 + [True]


@given(text=st.text(st.characters()))
def test_any_text_gives_a_trace_or_has_nothing_to_read_in_it(minilm, text):
    typed = printable(text)
    try:
        trace = minilm.trace(text)
    except ValueError:
        assert not any(character.isalnum() for character in typed)
        return
    assert trace.check() < 1e-5
    assert len(trace.tokens) == len(trace.hidden_states[0]) <= minilm.info.max_tokens
    for token in trace.tokens:
        if token.start is not None:
            assert typed[token.start : token.start + len(token.typed)] == token.typed != ""


@pytest.mark.parametrize("text", ["", "  \n", "\x00\u202e"])
def test_no_text_is_a_value_error(minilm, text):
    with pytest.raises(ValueError, match="no visible text"):
        minilm.trace(text)


# Length


def test_as_many_tokens_as_the_model_takes_are_not_cut(minilm):
    trace = minilm.trace("word " * 510)
    assert len(trace.tokens) == 512
    assert trace.cut is None


@pytest.mark.parametrize(
    "text",
    [
        "word " * 511,
        "😀 👩\u200d👩\u200d👧 " * 400,
        "a" * 90 + " b" * 500,
    ],
    ids=lambda text: text[:12],
)
def test_a_text_that_is_too_long_is_cut_where_the_model_ends(minilm, reference_tokenizer, text):
    trace = minilm.trace(text)
    whole = reference_tokenizer(text, truncation=False, verbose=False)["input_ids"]
    ids = column(trace.tokens, "token_id")
    # A letter that is several tokens is not cut in two, so a few places may stay empty.
    assert 509 <= len(ids) <= 512
    assert ids == [*whole[: len(ids) - 1], whole[-1]]
    assert (trace.cut.kept, trace.cut.total) == (len(ids), len(whole))
    last = trace.tokens[-2]
    assert text[: last.start + len(last.typed)].endswith(trace.cut.ending.lstrip("… "))


def test_padding_finds_room_in_a_text_that_is_too_long(minilm):
    trace = minilm.trace("word " * 510, mask="padding")
    assert len(trace.tokens) == 512
    assert column(trace.tokens[-5:], "text") == ["word", "[SEP]", "[PAD]", "[PAD]", "[PAD]"]
    assert (trace.cut.kept, trace.cut.total) == (509, 512)


def test_two_texts_that_are_too_long_together_are_an_error_that_says_so(minilm):
    with pytest.raises(ValueError, match=r"603 tokens.*512"):
        minilm.trace("word " * 300, "word " * 300)


# Memory


@pytest.fixture(scope="module")
def bert_base(minilm, minilm_folder, tmp_path_factory):
    """A BERT of 12 layers, 12 heads and d_model 768, of random numbers."""
    folder = tmp_path_factory.mktemp("bert-base")
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(minilm_folder / name, folder)
    # Attention is measured, so the rest is kept small.
    BertModel(BertConfig(intermediate_size=64)).save_pretrained(folder)
    sizes = {"n_layers": 12, "n_heads": 12, "n_key_value_heads": 12, "d_model": 768, "d_head": 64}
    return HuggingFaceModel(replace(minilm.info, model_id="bert-base", **sizes), folder)


def storages(trace):
    """The bytes of every block of memory that a trace holds on to, by address."""
    records = [trace.embeddings, *trace.layers]
    values = [getattr(record, name) for record in records for name in record.__dataclass_fields__]
    found = {}
    for array in (*values, *trace.hidden_states):
        if not isinstance(array, np.ndarray):
            continue
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if isinstance(owner.base, torch.Tensor):
            # What torch holds may be larger than the part that NumPy looks at.
            storage = owner.base.untyped_storage()
            found[storage.data_ptr()] = storage.nbytes()
        else:
            found[owner.ctypes.data] = owner.nbytes
    return found


@pytest.mark.parametrize("mask", sweep(["none", "causal"], quick=["causal"]))
def test_a_trace_of_512_tokens_of_a_12_by_12_model_holds_at_most_100_mb(bert_base, mask):
    # What the layers added is let go as soon as it is checked.
    trace = bert_base.trace("word " * 510, mask=mask).without_added()
    assert len(trace.tokens) == 512
    assert len(trace.layers) == 12
    # Memory that another trace holds too is the model's own.
    shared = storages(bert_base.trace("word")).keys()
    held = sum(size for address, size in storages(trace).items() if address not in shared)
    assert held <= 100e6
    # nbytes never says too little, and too much at most by what may be the model's own.
    parts = trace.embeddings
    assert held <= trace.nbytes <= held + parts.positions.nbytes + parts.segments.nbytes
