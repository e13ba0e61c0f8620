import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from transformers import AutoTokenizer, BertConfig, BertModel

from attention.core.text import clean
from attention.models.huggingface import HuggingFaceModel
from tests.sweep import sweep

SENTENCE = "The cat sat on the mat"


@pytest.fixture(scope="module")
def reference_tokenizer(minilm_folder):
    """transformers' own way to encode, without anything of ours."""
    return AutoTokenizer.from_pretrained(minilm_folder, local_files_only=True)


def column(tokens, name):
    return [getattr(token, name) for token in tokens]


def test_what_the_catalogue_says_of_the_model_is_true(minilm, minilm_folder):
    config = json.loads((minilm_folder / "config.json").read_text())
    info = minilm.info
    assert (info.n_layers, info.n_heads) == (config["num_hidden_layers"], config["num_attention_heads"])
    assert (info.d_model, info.max_tokens) == (config["hidden_size"], config["max_position_embeddings"])
    assert info.n_key_value_heads * info.d_head == info.d_model
    with safe_open(minilm_folder / "model.safetensors", "np") as file:
        shapes = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118, no dict
    # position_ids are the numbers 0, 1, 2, …: saved, but not learnt.
    learnt = [shape for name, shape in shapes.items() if not name.endswith("position_ids")]
    assert info.n_parameters == sum(int(np.prod(shape)) for shape in learnt)


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
        ("unbelievable", "Unbelievable", 0, 0),
        (":", ":", 1, 12),
        ("naive", "Naïve", 2, 14),
        ("[UNK]", "😀", 3, 20),
        ("token", "token", 4, 22),
        ("##izer", "izer", 4, 27),
        ("##s", "s", 4, 31),
        ("[SEP]", "", None, None),
    ]
    assert column(tokens, "position") == list(range(9))
    assert column(tokens, "is_special") == [True] + [False] * 7 + [True]


def test_the_tokens_are_those_of_the_reference_tokenizer(minilm, reference_tokenizer):
    for text in (SENTENCE, "Straße, 猫 & [MASK] — don't!"):
        assert column(minilm.trace(text).tokens, "token_id") == reference_tokenizer(text)["input_ids"]


def test_a_pair_has_two_segments_and_words_of_its_own(minilm, reference_tokenizer):
    tokens = minilm.trace("The cat sat", "A cat slept").tokens
    reference = reference_tokenizer("The cat sat", "A cat slept")
    assert column(tokens, "token_id") == reference["input_ids"]
    assert column(tokens, "segment") == reference["token_type_ids"]
    assert column(tokens, "word") == [None, 0, 1, 2, None, 3, 4, 5, None]
    assert column(tokens, "typed") == ["", "The", "cat", "sat", "", "A", "cat", "slept", ""]


def test_the_segment_is_one_of_the_parts_that_are_added(minilm):
    trace = minilm.trace("The cat", "The cat")
    segments = trace.embeddings.segments
    assert np.array_equal(segments[0], segments[1])
    assert not np.array_equal(segments[0], segments[-1])


@given(text=st.text(st.characters()))
def test_any_text_gives_a_trace_or_has_nothing_to_read_in_it(minilm, text):
    cleaned = clean(text)
    try:
        trace = minilm.trace(text)
    except ValueError:
        assert not any(character.isalnum() for character in cleaned)
        return
    assert cleaned
    assert trace.check() < 1e-5
    assert len(trace.tokens) == len(trace.hidden_states[0]) <= minilm.info.max_tokens
    for token in trace.tokens:
        if token.start is not None:
            assert cleaned[token.start : token.start + len(token.typed)] == token.typed != ""


@pytest.mark.parametrize("text", ["", "  \n", "\x00\u202e"])
def test_no_text_is_a_value_error(minilm, text):
    with pytest.raises(ValueError, match="no text"):
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
        "unbelievability " * 300,
        "😀 👩\u200d👩\u200d👧 " * 400,
        "한국어 " * 200,
        "naïve İstanbul, " * 200,
        "a" * 90 + " b" * 500,
    ],
    ids=lambda text: text[:12],
)
def test_a_text_that_is_too_long_is_cut_where_the_model_ends(minilm, reference_tokenizer, text):
    trace = minilm.trace(text)
    whole = reference_tokenizer(clean(text), truncation=False, verbose=False)["input_ids"]
    ids = column(trace.tokens, "token_id")
    # A letter that is several tokens is not cut in two, so a few places may stay empty.
    assert 509 <= len(ids) <= 512
    assert ids == [*whole[: len(ids) - 1], whole[-1]]
    assert (trace.cut.kept, trace.cut.total) == (len(ids), len(whole))
    last = trace.tokens[-2]
    assert clean(text)[: last.start + len(last.typed)].endswith(trace.cut.ending.lstrip("… "))


def test_padding_finds_room_in_a_text_that_is_too_long(minilm):
    trace = minilm.trace("word " * 510, mask="padding")
    assert len(trace.tokens) == 512
    assert column(trace.tokens[-5:], "text") == ["word", "[SEP]", "[PAD]", "[PAD]", "[PAD]"]
    assert (trace.cut.kept, trace.cut.total) == (509, 512)


def test_two_texts_that_are_too_long_together_are_an_error_that_says_so(minilm):
    with pytest.raises(ValueError, match=r"603 tokens.*512"):
        minilm.trace("word " * 300, "word " * 300)


# Masks


def test_padding_tokens_are_appended_and_change_nothing_for_the_others(minilm):
    with_padding, without = minilm.trace(SENTENCE, mask="padding"), minilm.trace(SENTENCE)
    n = len(without.tokens)
    assert with_padding.tokens[:n] == without.tokens
    padding = with_padding.tokens[n:]
    assert {(token.text, token.is_padding, token.is_special) for token in padding} == {("[PAD]", True, True)}
    for ours, theirs in zip(with_padding.hidden_states, without.hidden_states, strict=True):
        np.testing.assert_allclose(ours[:n], theirs, rtol=0, atol=1e-5)
    for layer in with_padding.layers:
        assert not layer.steps().weights[..., n:].any()


def test_with_a_causal_mask_no_token_knows_what_comes_after_it(minilm):
    one, other = (minilm.trace(f"The cat sat {rest}", mask="causal") for rest in ("on the mat", "by a tree"))
    for ours, theirs in zip(one.hidden_states, other.hidden_states, strict=True):
        np.testing.assert_allclose(ours[:4], theirs[:4], rtol=0, atol=1e-5)
    assert not np.allclose(one.hidden_states[-1][4:], other.hidden_states[-1][4:], atol=1e-2)
    assert {layer.kind for layer in one.layers} == {"masked self"}


def test_a_painted_mask_is_felt_in_every_layer(minilm):
    painted = np.zeros((8, 8))
    painted[2, 5] = -np.inf
    masked, free = minilm.trace(SENTENCE, mask=painted), minilm.trace(SENTENCE)
    for layer in masked.layers:
        assert not layer.steps().weights[:, 2, 5].any()
    # The first layer's keys come before any mask. From then on, the token that sees less is another.
    np.testing.assert_array_equal(masked.layers[0].keys, free.layers[0].keys)
    for ours, theirs in zip(masked.layers[1:], free.layers[1:], strict=True):
        assert np.abs(ours.keys[:, 2] - theirs.keys[:, 2]).max() > 1e-3


@pytest.mark.parametrize("rows", [[3], slice(None)], ids=["one row", "every row"])
def test_a_token_that_sees_nothing_gets_zeros_and_never_nan(minilm, rows):
    hidden = np.zeros((8, 8))
    hidden[rows] = -np.inf
    trace = minilm.trace(SENTENCE, mask=hidden)
    for layer in trace.layers:
        found = layer.steps()
        assert not found.weights[:, rows].any()
        assert not found.head_outputs[:, rows].any()
        assert np.isfinite(layer.queries).all()
    assert all(np.isfinite(state).all() for state in trace.hidden_states)
    assert trace.check() < 1e-5


def test_a_mask_of_another_size_is_an_error_that_says_so(minilm):
    with pytest.raises(ValueError, match=r"\(8, 8\) for 8 tokens, got \(6, 6\)"):
        minilm.trace(SENTENCE, mask=np.zeros((6, 6)))


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
