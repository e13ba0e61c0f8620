import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core.trace import Token
from attention.core.words import Word, hide_tokens, is_punctuation, merge, merge_words, words_of

seeds = st.integers(0, 2**32 - 1)


def random_weights(seed, *shape):
    weights = np.random.default_rng(seed).random(shape) + 1e-3
    return weights / weights.sum(axis=-1, keepdims=True)


def token(text, word, position, **fields):
    return Token(text, fields.pop("typed", text.removeprefix("##")), word, position, 0, **fields)


def special(text, position, **fields):
    return token(text, None, position, typed="", is_special=True, **fields)


# [CLS] un ##aff ##able cats [SEP]
TOKENS = (
    special("[CLS]", 0),
    token("un", 0, 1, typed="Un"),
    token("##aff", 0, 2),
    token("##able", 0, 3),
    token("cats", 1, 4, typed="cats"),
    special("[SEP]", 5),
)


@st.composite
def sentences(draw):
    """Tokens of one or two segments, whose words have one to four pieces, with some padding."""
    tokens = [special("[CLS]", 0)]
    word = 0
    for segment in range(draw(st.integers(1, 2))):
        for n_pieces in draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)):
            for piece in range(n_pieces):
                tokens.append(token("##b" if piece else "a", word, len(tokens), segment=segment))
            word += 1
        tokens.append(special("[SEP]", len(tokens), segment=segment))
    tokens += [special("[PAD]", len(tokens) + i, is_padding=True) for i in range(draw(st.integers(0, 2)))]
    return tuple(tokens)


# ------------------------------------------------------------------------------------------- words


def test_pieces_become_words_and_special_tokens_stay():
    assert words_of(TOKENS) == [
        Word("[CLS]", "", 0, (0,), is_special=True),
        Word("unaffable", "Unaffable", 1, (1, 2, 3)),
        Word("cats", "cats", 4, (4,)),
        Word("[SEP]", "", 5, (5,), is_special=True),
    ]


def test_two_special_tokens_side_by_side_stay_two():
    tokens = (special("[SEP]", 0), special("[PAD]", 1, is_padding=True), special("[PAD]", 2, is_padding=True))
    assert [(word.text, word.is_padding) for word in words_of(tokens)] == [
        ("[SEP]", False),
        ("[PAD]", True),
        ("[PAD]", True),
    ]


def test_a_special_token_that_was_typed_stays_on_its_own():
    tokens = (token("a", 0, 0), token("[SEP]", 1, 1, is_special=True), token("[SEP]", 1, 2, is_special=True))
    assert [word.positions for word in words_of(tokens)] == [(0,), (1,), (2,)]


@given(sentences())
def test_words_hold_every_token_once_and_in_order(tokens):
    words = words_of(tokens)
    assert [position for word in words for position in word.positions] == list(range(len(tokens)))
    for word in words:
        pieces = [tokens[position] for position in word.positions]
        assert word.position == word.positions[0]
        assert {piece.segment for piece in pieces} == {word.segment}
        assert word.typed == "".join(piece.typed for piece in pieces)
        assert "##" not in word.text
        assert len(pieces) == 1 or not word.is_special


# ----------------------------------------------------------------------------------------- merging


@given(sentences(), seeds, st.sampled_from([(), (3,), (2, 3)]))
def test_merging_is_a_sum_over_keys_and_a_mean_over_queries(tokens, seed, heads):
    weights = random_weights(seed, *heads, len(tokens), len(tokens))
    merged, words = merge_words(weights, tokens)
    assert merged.shape == (*heads, len(words), len(words))
    for i, row_word in enumerate(words):
        for j, column_word in enumerate(words):
            block = weights[..., row_word.positions, :][..., column_word.positions]
            np.testing.assert_allclose(merged[..., i, j], block.sum(axis=-1).mean(axis=-1), atol=1e-12)
    np.testing.assert_allclose(merged.sum(axis=-1), 1, atol=1e-12)


@given(sentences(), seeds)
def test_rows_that_see_nothing_stay_zero_and_do_not_dilute_their_word(tokens, seed):
    weights = random_weights(seed, 2, len(tokens), len(tokens))
    blind = np.random.default_rng(seed).random(len(tokens)) < 0.5
    weights[:, blind] = 0
    merged, words = merge_words(weights, tokens)
    sees = [not blind[list(word.positions)].all() for word in words]
    np.testing.assert_allclose(merged.sum(axis=-1), np.broadcast_to(sees, merged.shape[:-1]), atol=1e-12)
    assert np.isfinite(merged).all()


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match=r"weights.*\(6, 6\).*got \(2, 5, 5\)"):
        merge_words(np.ones((2, 5, 5)), TOKENS)
    for groups in ([[0], []], [[0, 3]], [[-1]]):
        with pytest.raises(ValueError, match="0 and 2"):
            merge(np.ones((3, 3)), groups)


# ---------------------------------------------------------------------------------------- hiding


@given(st.data(), seeds)
def test_hiding_tokens(data, seed):
    n_tokens = data.draw(st.integers(1, 8))
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=n_tokens, max_size=n_tokens)))
    weights = random_weights(seed, 3, n_tokens, n_tokens)
    before = weights.copy()
    hidden, renormalised = hide_tokens(weights, keep, renormalise=False), hide_tokens(weights, keep, renormalise=True)
    np.testing.assert_array_equal(weights, before)
    for shown in (hidden, renormalised):
        assert not shown[:, ~keep].any()
        assert not shown[:, :, ~keep].any()
    both = np.ix_(range(3), keep, keep)
    np.testing.assert_array_equal(hidden[both], weights[both])
    np.testing.assert_allclose(renormalised.sum(axis=-1), np.broadcast_to(keep, (3, n_tokens)), atol=1e-12)
    # What is left keeps its proportions.
    np.testing.assert_allclose(renormalised * hidden.sum(axis=-1, keepdims=True), hidden, atol=1e-12)


def test_a_row_with_nothing_left_is_zero():
    weights = np.array([[0.0, 1.0], [0.5, 0.5]], np.float32)
    hidden = hide_tokens(weights, np.array([True, False]), renormalise=True)
    np.testing.assert_array_equal(hidden, [[0, 0], [0, 0]])
    assert hidden.dtype == np.float32


def test_keep_must_be_one_truth_value_per_token():
    with pytest.raises(ValueError, match=r"keep.*\(3,\)"):
        hide_tokens(np.ones((3, 3)), np.array([True, False]))


# ------------------------------------------------------------------------------------ punctuation


@pytest.mark.parametrize("typed", [".", ",", "…", "?!", "—", "«", "'", "$", "+", "。"])
def test_punctuation(typed):
    assert is_punctuation(token(typed, 0, 0))
    assert is_punctuation(Word(typed, typed, 0, (0,)))


@pytest.mark.parametrize("typed", ["cat", "3", "3.14", "don't", "🦛", "é", "€"])
def test_no_punctuation(typed):
    assert not is_punctuation(token(typed, 0, 0))


def test_special_tokens_are_no_punctuation():
    assert not is_punctuation(special("[SEP]", 0))
    assert not is_punctuation(token("...", 0, 0, is_special=True))


def test_what_was_typed_tells_not_how_the_model_writes_it():
    assert is_punctuation(Token("[UNK]", "⸘", 0, 0, 100))


def test_the_bert_cuts_off_what_we_call_punctuation(minilm):
    tokens = minilm.trace("Well, it costs $3 (or €4)!").tokens
    assert [token.text for token in tokens if is_punctuation(token)] == [",", "$", "(", ")", "!"]
