"""The hand-written model: what its heads do, and that it accepts any text."""

import unicodedata

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attention.core import masks
from attention.models import toy
from attention.models.toy import ToyModel

NEAR_BY, MEANING, FAR = range(3)
EXAMPLES = [
    "The cat sat on the mat",
    "a fluffy blue creature roamed the verdant forest",
    "Jane visite l'Afrique en septembre",
    "He was becoming agitated",
    "The animal didn't cross the street because it was too tired",
]

MODEL = ToyModel()
LEXICON = toy.read_lexicon()
KNOWN_WORDS = st.sampled_from(sorted(LEXICON))
SENTENCES = st.lists(KNOWN_WORDS, min_size=1, max_size=toy.MAX_TOKENS).map(" ".join)


def weights(text, head, model=MODEL, mask=None):
    return model.trace(text, mask=mask).layers[0].head(head).weights


def row(text, word, head):
    """Return how much ``word`` looks at each token, as {token: weight}; equal tokens are added up."""
    trace = MODEL.trace(text)
    words = [token.text for token in trace.tokens]
    shares = dict.fromkeys(words, 0.0)
    for other, weight in zip(words, trace.layers[0].head(head).weights[words.index(word)], strict=True):
        shares[other] += float(weight)
    return shares


def top(text, word, head):
    shares = row(text, word, head)
    return max(shares, key=shares.get)


def distances(n_tokens):
    return np.abs(np.subtract.outer(np.arange(n_tokens), np.arange(n_tokens)))


# -------------------------------------------------------------------------- what the heads do


def test_sat_looks_near_by_at_meaning_and_far():
    sentence = EXAMPLES[0]
    assert top(sentence, "sat", NEAR_BY) in {"cat", "on"}
    assert top(sentence, "sat", MEANING) in {"cat", "mat"}
    assert top(sentence, "sat", FAR) == "mat"
    near_by = row(sentence, "sat", NEAR_BY)
    assert near_by["cat"] + near_by["on"] > 0.9


def test_creature_is_fluffy_and_blue():
    shares = row(EXAMPLES[1], "creature", MEANING)
    assert shares["fluffy"] + shares["blue"] > 0.5
    assert min(shares["fluffy"], shares["blue"]) > max(
        share for word, share in shares.items() if word not in {"fluffy", "blue"}
    )


@pytest.mark.parametrize(
    ("sentence", "word", "wanted"),
    [
        (EXAMPLES[0], "on", "mat"),
        (EXAMPLES[1], "forest", "verdant"),
        (EXAMPLES[3], "becoming", "he"),
        (EXAMPLES[4], "it", "animal"),
        ("The quick brown fox jumps over the lazy dog.", "dog", "lazy"),
        ("she quickly wrote a long letter", "quickly", "wrote"),
        # Words that the lexicon lacks, known by their endings.
        ("the marvellous zorps glimmered", "zorps", "marvellous"),
        ("the zorps were glimmering", "glimmering", "zorps"),
    ],
)
def test_the_meaning_head_finds_what_belongs_together(sentence, word, wanted):
    assert top(sentence, word, MEANING) == wanted


def test_of_two_nouns_equally_near_a_determiner_takes_the_one_that_follows():
    the, creature, forest = 5, 3, 7
    shares = weights(EXAMPLES[1], MEANING)[the]
    assert forest - the == the - creature
    assert shares.argmax() == forest
    assert shares[forest] > 1.2 * shares[creature]


def test_the_far_head_prefers_a_noun_to_a_full_stop_just_beyond_it():
    shares = row(EXAMPLES[0] + ".", "sat", FAR)
    assert shares["mat"] > 3 * shares["."]


def test_the_far_head_reaches_across_a_long_text():
    n_tokens = toy.MAX_TOKENS
    head = weights(" ".join(["word"] * n_tokens), FAR)
    assert (head * distances(n_tokens)).sum(axis=1).min() > n_tokens / 4
    assert head[0, n_tokens // 2 :].sum() > 0.9


def test_the_near_by_head_does_not_know_the_words():
    np.testing.assert_array_equal(weights(EXAMPLES[0], NEAR_BY), weights("six other words are in here", NEAR_BY))


@pytest.mark.parametrize("n_tokens", range(2, toy.MAX_TOKENS + 1))
def test_the_near_by_head_prefers_a_direct_neighbour_everywhere(n_tokens):
    head = weights(" ".join(["word"] * n_tokens), NEAR_BY)
    distance = distances(n_tokens)
    neighbours, others = np.where(distance == 1, head, 0), np.where(distance == 1, 0, head)
    assert (neighbours.max(axis=1) > 5 * others.max(axis=1)).all()
    assert (neighbours.sum(axis=1) > 0.7).all()


@pytest.mark.parametrize("n_tokens", range(6, toy.MAX_TOKENS + 1))
def test_the_far_head_reaches_further_even_if_all_that_is_near_is_loudest(n_tokens):
    """The worst that words can do: nouns up to some distance from the word that looks, small words beyond."""
    small, noun = (MODEL.trace(" ".join([word] * n_tokens)).layers[0] for word in ("the", "cat"))
    scores = np.stack([layer.head(FAR).scaled_scores for layer in (small, noun)]).astype(np.float64)
    distance = distances(n_tokens)
    mean_distances = []
    for reach in range(-1, n_tokens):
        mixed = np.where(distance <= reach, scores[1], scores[0])
        likelihoods = np.exp(mixed - mixed.max(axis=1, keepdims=True))
        mean_distances.append((likelihoods * distance).sum(axis=1) / likelihoods.sum(axis=1))
    near_by = (small.head(NEAR_BY).weights * distance).sum(axis=1)
    assert np.min(mean_distances, axis=0).mean() > near_by.mean()


def test_nothing_is_louder_than_a_noun_and_nothing_quieter_than_a_small_word():
    """The test above takes these two for the extremes."""
    salience = np.array([*LEXICON.values()]) @ toy.PROJECTIONS.W_K[: len(toy.WORD_FEATURES), FAR * toy.D_HEAD + 4]
    cat, the = (LEXICON[word] @ toy.PROJECTIONS.W_K[:10, FAR * toy.D_HEAD + 4] for word in ("cat", "the"))
    assert the == salience.min() == 0
    assert cat == salience.max()


# --------------------------------------------------------------------------------------- any text


def is_visible(character):
    return unicodedata.category(character)[0] in "LMNPS"


def assert_is_sound(trace):
    n_tokens = len(trace.tokens)
    assert 1 <= n_tokens <= toy.MAX_TOKENS
    steps = trace.layers[0].steps()
    assert steps.weights.shape == (3, n_tokens, n_tokens)
    np.testing.assert_allclose(steps.weights.sum(axis=-1), 1, atol=1e-5)
    assert all(np.isfinite(state).all() for state in trace.hidden_states)
    assert trace.check() <= 1e-5
    assert [token.position for token in trace.tokens] == list(range(n_tokens))
    assert all(token.typed.strip() for token in trace.tokens)


@settings(max_examples=300)
@given(st.one_of(st.text(), st.text(st.characters(codec=None), max_size=100), SENTENCES))
def test_any_text_with_something_to_see_works(text):
    assume(any(map(is_visible, text)))
    assert_is_sound(MODEL.trace(text))


@given(st.text(st.characters(categories=["Cc", "Cf", "Zs", "Zl", "Zp"]), max_size=10))
def test_any_text_with_nothing_to_see_is_refused(text):
    with pytest.raises(ValueError, match="one word"):
        MODEL.trace(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("What?! 🐱🐱", ["what", "?", "!", "🐱", "🐱"]),
        ("I don't – you’re “right”", ["i", "don't", "–", "you’re", "“", "right", "”"]),
        ("'tis dogs'", ["'", "tis", "dogs", "'"]),
        ("well-known", ["well", "-", "known"]),
        ("Pay 1,000.50 by 3rd.", ["pay", "1,000.50", "by", "3rd", "."]),
        ("Straße ÉTÉ e\u0301te\u0301", ["straße", "été", "e\u0301te\u0301"]),
        ("สวัสดีชาวโลก", ["สวัสดีชาวโลก"]),
        ("我喜欢猫。", ["我", "喜", "欢", "猫", "。"]),
        ("👩‍👩‍👧‍👦🇫🇷🇬🇧👍🏽1️⃣❤️‍🔥", ["👩‍👩‍👧‍👦", "🇫🇷", "🇬🇧", "👍🏽", "1️⃣", "❤️‍🔥"]),
        ("a\x00b\ud800c", ["a", "b", "\ufffd", "c"]),
        ("so\u00adft a\u200bb", ["so\u00adft", "a", "b"]),
    ],
)
def test_text_is_cut_into_words_of_any_script(text, tokens):
    trace = MODEL.trace(text)
    assert [token.text for token in trace.tokens] == tokens
    assert "".join(token.typed for token in trace.tokens) == trace.text.replace(" ", "").replace("\u200b", "")
    assert_is_sound(trace)


@given(st.text())
def test_no_character_is_lost_but_blanks_and_invisible_ones(text):
    kept = "".join(text[start:end] for start, end in toy._spans(text))
    assert sorted(c for c in kept if is_visible(c)) == sorted(c for c in text if is_visible(c))


def test_a_pair_is_refused():
    with pytest.raises(ValueError, match="one text"):
        MODEL.trace("one", "two")


@pytest.mark.parametrize("n_words", [1, 60, 64])
def test_up_to_the_limit_nothing_is_cut(n_words):
    trace = MODEL.trace(" ".join(["word"] * n_words))
    assert len(trace.tokens) == n_words
    assert trace.cut is None


def test_a_long_text_is_cut_and_says_so():
    trace = MODEL.trace(" ".join(f"Word{i}" for i in range(100)))
    assert len(trace.tokens) == 64
    assert (trace.cut.kept, trace.cut.total, trace.cut.ending) == (
        64,
        100,
        "… Word59 Word60 Word61 Word62 Word63",
    )
    assert_is_sound(trace)


def test_a_very_long_word_full_of_apostrophes_works():
    assert_is_sound(MODEL.trace("'".join("a" * 3000)))


# ------------------------------------------------------------------------------- what a word is


@pytest.mark.parametrize(
    ("word", "features"),
    [
        ("the", {"determiner": 1}),
        ("cat", {"noun": 1, "living": 1}),
        ("cat's", {"noun": 1, "living": 1}),
        ("was", {"verb": 0.5}),
        ("didn’t", {"verb": 0.5}),
        ("j'aime", {"verb": 1}),
        ("l'Afrique", {"noun": 1}),
        ("O'Zorp", {"noun": 1}),
        ("cities", {"noun": 1}),
        ("glimmered", {"verb": 1}),
        ("zorply", {"adverb": 1}),
        ("zorpy", {"adjective": 1}),
        ("zorpness", {"noun": 1}),
        ("string", {"noun": 1}),  # no vowel is left without -ing
        ("zorp", {"noun": 1}),
        ("42", {"symbol": 1, "determiner": 1}),
        ("🐱", {"symbol": 1, "noun": 0.5}),
    ],
)
def test_features_of_words(word, features):
    described = toy.describe(word, LEXICON)
    assert {name: value for name, value in zip(toy.WORD_FEATURES, described, strict=True) if value} == features


@given(st.text(min_size=1))
def test_every_word_has_some_feature_and_none_beyond_one(word):
    described = toy.describe(word, LEXICON)
    assert described.shape == (10,)
    assert 0 < described.max() <= 1
    assert described.min() >= 0


def test_the_lexicon_is_a_sorted_table_of_single_words():
    words = list(LEXICON)
    rows = toy.LEXICON_PATH.read_text(encoding="utf-8").splitlines()
    assert rows[0] == "word\tfeatures"
    assert len(rows) - 1 == len(words)  # no word twice
    assert words == sorted(words)
    assert len(words) > 600
    for word in words:
        assert [token.typed for token in MODEL.encode(word).tokens] == [word]
        np.testing.assert_array_equal(toy.describe(word.upper(), LEXICON), LEXICON[word])
        assert LEXICON[word].any()


def test_token_ids_are_rows_of_the_lexicon():
    tokens = MODEL.trace("The zorp sat").tokens
    words = list(LEXICON)
    assert [words[token.token_id] if token.token_id >= 0 else None for token in tokens] == ["the", None, "sat"]
    assert [(token.typed, token.word, token.is_special) for token in tokens] == [
        ("The", 0, False),
        ("zorp", 1, False),
        ("sat", 2, False),
    ]


# ------------------------------------------------------------------------------------------ masks


@given(SENTENCES)
def test_padding_changes_nothing_for_the_real_words(text):
    plain, padded = MODEL.trace(text), MODEL.trace(text, mask="padding")
    n_tokens = len(plain.tokens)
    assert [token.text for token in padded.tokens[n_tokens:]] == ["[PAD]"] * masks.N_PADDING
    assert all(token.is_special and token.word is None for token in padded.tokens[n_tokens:])
    assert not padded.embeddings.words[n_tokens:].any()
    np.testing.assert_allclose(padded.hidden_states[-1][:n_tokens], plain.hidden_states[-1], atol=1e-6)
    steps = padded.layers[0].steps()
    assert not steps.weights[:, :, n_tokens:].any()
    np.testing.assert_allclose(steps.weights[:, :n_tokens, :n_tokens], plain.layers[0].steps().weights, atol=1e-6)


@given(st.integers(1, 12), st.integers(0, 2**16))
def test_painted_masks_hide_exactly_their_cells(n_tokens, seed):
    hidden = np.random.default_rng(seed).random((n_tokens, n_tokens)) < 0.6
    trace = MODEL.trace(" ".join(["cat"] * n_tokens), mask=masks.painted(hidden))
    steps = trace.layers[0].steps()
    assert not steps.weights[:, hidden].any()
    blind = hidden.all(axis=1)
    np.testing.assert_allclose(steps.weights.sum(axis=-1), np.where(blind, 0, 1)[None].repeat(3, axis=0), atol=1e-5)
    assert not trace.layers[0].model_output[:, blind].any()
    np.testing.assert_array_equal(trace.hidden_states[1][blind], trace.hidden_states[0][blind])
    assert trace.check() <= 1e-5


def test_a_bias_on_the_scores_is_felt():
    bias = np.zeros((6, 6), np.float32)
    bias[2, 0] = 5
    plain, biased = (weights(EXAMPLES[0], MEANING, mask=mask) for mask in (None, bias))
    assert biased[2, 0] > plain[2, 0]
    np.testing.assert_array_equal(np.delete(biased, 2, axis=0), np.delete(plain, 2, axis=0))
    assert MODEL.trace(EXAMPLES[0], mask=bias).check() <= 1e-5


# ------------------------------------------------------------------------------------- the record


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_record_fits_together(text):
    trace = MODEL.trace(text)
    layer = trace.layers[0]
    np.testing.assert_array_equal(layer.inputs, trace.embeddings.words + trace.embeddings.positions)
    np.testing.assert_array_equal(trace.hidden_states[0], layer.inputs)
    np.testing.assert_allclose(trace.hidden_states[1], layer.inputs + layer.output(), atol=1e-5)
    assert layer.kind == "self"
    assert layer.scale == pytest.approx(1 / np.sqrt(toy.D_HEAD))
    assert 0 < trace.check() <= 1e-6  # two computations: float32 in matrices, float64 word by word


def test_attention_adds_to_the_words_and_leaves_their_positions():
    trace = MODEL.trace(EXAMPLES[1])
    added = trace.hidden_states[1] - trace.hidden_states[0]
    creature, adjective = 3, toy.FEATURES.index("adjective")
    assert added[creature, adjective] > 0.3
    assert not added[:, len(toy.WORD_FEATURES) :].any()


def test_every_array_is_float32_read_only_and_contiguous():
    trace = MODEL.trace(EXAMPLES[0], mask="causal")
    layer, projections = trace.layers[0], trace.layers[0].projections
    arrays = [
        *(layer.inputs, layer.queries, layer.keys, layer.values, layer.mask, layer.model_output),
        *(projections.W_Q, projections.W_K, projections.W_V, projections.W_O, projections.b_Q),
        *(trace.embeddings.words, trace.embeddings.positions, *trace.hidden_states, *LEXICON.values()),
    ]
    for array in arrays:
        assert array.dtype == np.float32
        assert array.flags.c_contiguous
        assert not array.flags.writeable


# --------------------------------------------------------------------------------- what was guessed


@pytest.mark.parametrize(
    ("text", "guessed"),
    [
        (
            "The cat's mats sat on l'Afrique 3 times !",
            [],
        ),  # plurals, what is cut short, numbers, marks
        ("The quokka sat", ["quokka"]),
        ("Кошка сидит", ["Кошка", "сидит"]),
        ("The 猫 sat 🙂", ["猫"]),
        ("roamed roams", ["roamed"]),
    ],
)
def test_a_word_is_guessed_where_neither_it_nor_its_singular_is_in_the_lexicon(text, guessed):
    tokens = MODEL.trace(text).tokens
    assert [token.typed for token in tokens if token.is_guessed] == guessed


@given(st.text(st.characters(), max_size=30))
def test_what_is_guessed_does_not_depend_on_a_longer_lexicon_having_other_words(text):
    """A guess is what the word's own letters say: with an empty lexicon it is the same."""
    for word in (text[start:end] for start, end in toy._spans(text)):
        if toy.is_guessed(word, LEXICON) or not any(map(str.isalpha, word)):
            np.testing.assert_array_equal(toy.describe(word, LEXICON), toy.describe(word, {}))
        else:
            assert toy.is_guessed(word, {})


def test_among_words_that_are_all_guessed_to_be_nouns_matching_meaning_goes_by_distance_alone():
    """As the page says of it: the scores of head 2 are the same wherever two words are equally far apart."""
    trace = MODEL.trace("Кошка сидит на коврике и смотрит")
    assert all(token.is_guessed for token in trace.tokens)
    scores = trace.layers[0].head(1).scores
    for offset in range(-5, 6):
        diagonal = scores.diagonal(offset)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-4)
    known = MODEL.trace("the old cat sat on mats").layers[0].head(1).scores
    assert np.ptp(known.diagonal(1)) > 1
