import math
from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import masks, patterns
from attention.models.toy import ToyModel
from attention.patterns import BEHAVIOUR_RULES, HeadSummary, Parse
from attention.trace import LayerTrace, Projections, Token
from attention.words import merge_words

NEAR_BY, MEANING, FAR = range(3)
SENTENCE = "The cat sat on the mat"
MODEL = ToyModel()
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 7)


def token(text, position, *, segment=0, is_padding=False):
    is_special = text.startswith("[")
    return Token(text, "" if is_special else text, position, position, 0, is_special, segment, is_padding=is_padding)


def tokens_of(text, segment=0):
    return tuple(token(word, position, segment=segment) for position, word in enumerate(text.split()))


def words(n_tokens):
    return tokens_of(" ".join(f"w{i}" for i in range(n_tokens)))


def random_weights(seed, *shape, sharpness=1.0, mask=None):
    """Weights as a softmax makes them, with rows of 0 where all is masked."""
    likelihoods = np.exp(sharpness * np.random.default_rng(seed).normal(size=shape))
    likelihoods = likelihoods if mask is None else np.where(np.isneginf(mask), 0, likelihoods)
    total = likelihoods.sum(axis=-1, keepdims=True)
    return likelihoods / np.where(total == 0, 1, total)


@st.composite
def masked_weights(draw):
    """Weights (H, Q, K), the mask that they were made with, and the rows to be counted."""
    n_heads, n_queries, n_keys = draw(st.integers(1, 3)), draw(sizes), draw(sizes)
    seed = draw(seeds)
    rng = np.random.default_rng(seed)
    match draw(st.sampled_from(["none", "causal", "padding", "painted", "painted per head"])):
        case "none":
            mask = None
        case "causal":
            mask = masks.painted(np.triu(np.ones((n_queries, n_keys), bool), k=1))
        case "padding":
            mask = masks.painted(np.broadcast_to(np.arange(n_keys) >= n_keys - 1, (n_queries, n_keys)))
        case "painted":
            mask = masks.painted(rng.random((n_queries, n_keys)) < 0.5)
        case _:
            mask = masks.painted(rng.random((n_heads, n_queries, n_keys)) < 0.5)
    weights = random_weights(seed, n_heads, n_queries, n_keys, sharpness=draw(st.sampled_from([0, 1, 5])), mask=mask)
    return weights, mask, draw(st.none() | st.just(rng.random(n_queries) < 0.7))


def visible(mask, head, query, key):
    if mask is None:
        return True
    return not np.isneginf(mask[head, query, key] if mask.ndim == 3 else mask[query, key])


def counted_rows(head_weights, rows):
    return [q for q, row in enumerate(head_weights) if row.any() and (rows is None or rows[q])]


def average(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


# ------------------------------------------------------------------------------------ entropy


@pytest.mark.parametrize(
    ("row", "nats"),
    [
        ([1, 0, 0, 0], 0),
        ([0.5, 0.5, 0, 0], math.log(2)),
        ([0.25] * 4, math.log(4)),
        ([0.5, 0.25, 0.125, 0.125], 1.75 * math.log(2)),
        ([0, 0, 0, 0], 0),
    ],
)
def test_entropy_by_hand(row, nats):
    found = patterns.entropy(np.array(row, np.float32))
    assert found == pytest.approx(nats, abs=1e-7)
    assert not np.signbit(found)


@given(masked_weights())
def test_entropy_lies_between_nothing_and_even(inputs):
    weights, mask, _ = inputs
    found, normalised = patterns.entropy(weights), patterns.normalised_entropy(weights, mask)
    for head, query in np.ndindex(found.shape):
        row = weights[head, query]
        n_keys = sum(visible(mask, head, query, key) for key in range(row.size))
        assert found[head, query] == pytest.approx(-sum(p * math.log(p) for p in row if p), abs=1e-12)
        assert 0 <= found[head, query] <= math.log(max(n_keys, 1)) + 1e-12
        wanted = found[head, query] / math.log(n_keys) if n_keys > 1 else 0
        assert normalised[head, query] == pytest.approx(wanted, abs=1e-12)


@given(seeds, st.data())
def test_entropy_does_not_know_which_key_is_which(seed, data):
    weights = random_weights(seed, 2, 4, 6)
    order = data.draw(st.permutations(range(6)))
    np.testing.assert_allclose(patterns.entropy(weights[..., order]), patterns.entropy(weights), atol=1e-12)


def test_even_causal_rows_are_as_broad_as_can_be_and_the_first_has_no_choice():
    weights = random_weights(0, 5, 5, sharpness=0, mask=masks.causal(5))
    np.testing.assert_allclose(patterns.normalised_entropy(weights, masks.causal(5)), [0, 1, 1, 1, 1])
    (summary,) = patterns.summarise_weights(weights[None], words(5), masks.causal(5))
    assert summary.normalised_entropy == pytest.approx(1)


# ------------------------------------------------------------------------ distances and shares


@given(masked_weights())
def test_distances_offsets_and_shares_equal_plain_loops(inputs):
    weights, _, rows = inputs
    cells = np.random.default_rng(0).random(weights.shape[1:]) < 0.4
    measures = [
        (patterns.mean_distance(weights, rows), lambda q, k: abs(k - q)),
        (patterns.mean_offset(weights, rows), lambda q, k: k - q),
        (patterns.share(weights, cells, rows), lambda q, k: cells[q, k]),
    ]
    for found, per_cell in measures:
        wanted = [
            average(sum(a * per_cell(q, k) for k, a in enumerate(head[q])) for q in counted_rows(head, rows))
            for head in weights
        ]
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_one_head_serves_as_well_as_many():
    weights = random_weights(0, 3, 4, 4)
    for measure in (patterns.mean_distance, patterns.mean_offset, patterns.positional_score):
        np.testing.assert_allclose([measure(head) for head in weights], measure(weights))


def test_cells_of_a_sentence():
    tokens = tuple(
        token(text, i) for i, text in enumerate(["[CLS]", "The", "cat", "the", ",", "[SEP]", "x", "[SEP]", "[PAD]"])
    )
    cells = patterns.cells_of(tokens)
    marked = {f.name: {(int(q), int(k)) for q, k in np.argwhere(getattr(cells, f.name))} for f in fields(cells)}
    everyone = range(9)
    assert marked == {
        "previous": {(q, q - 1) for q in range(1, 9)},
        "itself": {(q, q) for q in everyone},
        "next": {(q, q + 1) for q in range(8)},
        "first": {(q, 0) for q in everyone},
        "classifier": {(q, 0) for q in everyone},
        "separator": {(q, k) for q in everyone for k in (5, 7)},
        "punctuation": {(q, 4) for q in everyone},
        "same_word": {(1, 3), (3, 1)},
    }


def test_cells_must_fit():
    with pytest.raises(ValueError, match=r"cells must have shape \(3, 3\)"):
        patterns.share(np.ones((2, 3, 3)), np.ones((2, 2), bool))


# ------------------------------------------------------------------------------- the offset alone


def adjusted_r_squared(cells):
    """The score by the book, from a list of (offset, weight)."""
    offsets = {offset for offset, _ in cells}
    n, p = len(cells), len(offsets)
    mean = average(a for _, a in cells)
    total = sum((a - mean) ** 2 for _, a in cells)
    if n <= p or total <= n * patterns.EVEN**2:
        return 0.0
    means = {offset: average(a for o, a in cells if o == offset) for offset in offsets}
    unexplained = sum((a - means[offset]) ** 2 for offset, a in cells)
    return min(max(1 - unexplained / total * (n - 1) / (n - p), 0), 1)


@given(masked_weights())
def test_positional_score_equals_plain_loops(inputs):
    weights, mask, rows = inputs
    for head, found in enumerate(patterns.positional_score(weights, mask, rows)):
        cells = [
            (k - q, weights[head, q, k])
            for q in counted_rows(weights[head], rows)
            for k in range(weights.shape[2])
            if visible(mask, head, q, k)
        ]
        assert found == pytest.approx(adjusted_r_squared(cells), abs=1e-9)


def test_weights_that_are_the_same_at_each_offset_are_positional():
    offsets = np.subtract.outer(np.arange(9), np.arange(9))
    assert patterns.positional_score(np.exp(-(offsets**2.0))) == pytest.approx(1)
    assert patterns.positional_score(np.full((9, 9), 1 / 9)) == 0
    column = np.zeros((9, 9))
    column[:, 4] = 1
    assert patterns.positional_score(column) < 0.1


def test_chance_is_not_positional():
    scores = patterns.positional_score(random_weights(1, 300, 8, 8, sharpness=2))
    assert np.mean(scores) < 0.1
    assert np.mean(scores > patterns.POSITIONAL) < 0.01


# --------------------------------------------------------------------------------- head to head


def js_bits(p, q):
    return (
        sum(
            (a * math.log2(2 * a / (a + b)) if a else 0) + (b * math.log2(2 * b / (a + b)) if b else 0)
            for a, b in zip(p, q, strict=True)
        )
        / 2
    )


@pytest.mark.parametrize(
    ("p", "q", "distance"),
    [
        ([1, 0], [0, 1], 1),
        ([0.3, 0.7], [0.3, 0.7], 0),
        # H(3/4, 1/4) = 0.811278 bits, less half of H(1/2, 1/2) = 1 bit.
        ([1, 0], [0.5, 0.5], math.sqrt(0.8112781244591328 - 0.5)),
    ],
)
def test_head_distance_by_hand(p, q, distance):
    assert patterns.head_distance(np.array([p]), np.array([q])) == pytest.approx(distance, abs=1e-12)


@given(masked_weights())
def test_head_distances_equal_plain_loops_and_are_a_metric(inputs):
    weights, _, rows = inputs
    found = patterns.head_distances(weights, rows)
    shared = set.intersection(*(set(counted_rows(head, rows)) for head in weights))
    for i, j in np.ndindex(found.shape):
        wanted = math.sqrt(max(average(js_bits(weights[i, q], weights[j, q]) for q in shared), 0))
        assert found[i, j] == pytest.approx(wanted, abs=1e-7)
    assert not found.diagonal().any()
    np.testing.assert_array_equal(found, found.T)
    assert (found >= 0).all()
    assert (found <= 1).all()
    for i, j, k in product(range(len(weights)), repeat=3):
        assert found[i, k] <= found[i, j] + found[j, k] + 1e-7


@given(seeds, st.data())
def test_head_distances_do_not_know_which_key_or_query_is_which(seed, data):
    weights = random_weights(seed, 3, 4, 5, sharpness=3)
    order, queries = data.draw(st.permutations(range(5))), data.draw(st.permutations(range(4)))
    found = patterns.head_distances(weights)
    np.testing.assert_allclose(patterns.head_distances(weights[:, queries][..., order]), found, atol=1e-7)
    np.testing.assert_array_equal(patterns.head_distances(weights[::-1]), found[::-1, ::-1])


def test_equal_heads_are_at_no_distance_whatever_their_rounding():
    weights = random_weights(0, 1, 33, 33).astype(np.float32)
    assert not patterns.head_distances(np.concatenate([weights] * 7)).any()


def test_the_sum_of_clark_orders_pairs_as_we_do():
    """Their sum over tokens in nats, without the smoothing, is n ln 2 times the square of our distance."""
    weights = random_weights(4, 5, 6, 6)
    middle = (weights[:, None] + weights) / 2
    terms = weights[:, None] * np.log(middle / weights[:, None]) + weights * np.log(middle / weights)
    theirs = -terms.sum(axis=(-2, -1)) / 2
    np.testing.assert_allclose(patterns.head_distances(weights) ** 2 * 6 * math.log(2), theirs, atol=1e-9)


def test_many_heads_and_cells_are_taken_in_parts():
    weights = random_weights(0, 40, 70, 70)
    found = patterns.head_distances(weights)
    for i, j in ((0, 1), (3, 39), (20, 21)):
        assert found[i, j] == pytest.approx(patterns.head_distance(weights[i], weights[j]), abs=1e-9)


def test_the_distances_of_a_trace_are_those_of_its_heads_without_padding():
    plain, padded = (patterns.trace_head_distances(MODEL.trace(SENTENCE, mask=mask)) for mask in ("none", "padding"))
    weights = MODEL.trace(SENTENCE).layers[0].steps().weights
    for i, j in product(range(3), repeat=2):
        assert plain[i, j] == pytest.approx(patterns.head_distance(weights[i], weights[j]), abs=1e-9)
    np.testing.assert_allclose(padded, plain, atol=1e-6)


# ----------------------------------------------------------------------------------- patterns

PAIR = tuple(
    token(text, position, segment=int(position > 6))
    for position, text in enumerate(["[CLS]", *"abcde", "[SEP]", *"fghij", "[SEP]"])
)
N = len(PAIR)
EVEN = np.full((N, N), 1 / N)
TO_SEPARATORS = np.zeros((N, N))
TO_SEPARATORS[:, [6, 12]] = 0.5
TO_C = np.zeros((N, N))
TO_C[:, 3] = 1
TO_NEXT = np.eye(N, k=1)
TO_NEXT[-1, -1] = 1
TO_PREVIOUS = TO_NEXT[::-1, ::-1]
OWN_SEGMENT = np.array([[float(a.segment == b.segment) for b in PAIR] for a in PAIR])
OWN_SEGMENT /= OWN_SEGMENT.sum(axis=1, keepdims=True)
ELSEWHERE = np.random.default_rng(5).permuted(np.eye(N), axis=1)  # each row to one token, by chance


@pytest.mark.parametrize(
    ("weights", "label"),
    [
        (EVEN, "heterogeneous"),
        (ELSEWHERE, "heterogeneous"),
        (TO_SEPARATORS, "vertical"),
        (TO_C, "vertical"),
        (0.6 * TO_SEPARATORS + 0.4 * EVEN, "vertical"),
        (TO_NEXT, "diagonal"),
        (TO_PREVIOUS, "diagonal"),
        (np.eye(N), "diagonal"),
        (0.65 * TO_PREVIOUS + 0.35 * EVEN, "diagonal"),
        (0.5 * TO_SEPARATORS + 0.5 * TO_NEXT, "vertical + diagonal"),
        (0.3 * TO_C + 0.4 * TO_PREVIOUS + 0.3 * EVEN, "vertical + diagonal"),
        (OWN_SEGMENT, "block"),
        (0.85 * OWN_SEGMENT + 0.15 * EVEN, "block"),
    ],
)
def test_patterns_that_the_eye_sees(weights, label):
    (scores,) = patterns.pattern_scores(weights[None], PAIR)
    assert scores.label == label
    assert list(scores.as_dict()) == list(patterns.PATTERN_NAMES)
    assert all(0 <= score <= 1 for score in scores.as_dict().values())


def test_there_is_no_block_in_one_segment():
    one = tuple(replace(token, segment=0) for token in PAIR)
    (scores,) = patterns.pattern_scores(OWN_SEGMENT[None], one)
    assert scores.block == 0
    assert scores.label == "heterogeneous"


def lift(share, even):
    return min(max((share - even) / (1 - even), 0), 1) if 1 - even > patterns.EVEN else 0.0


@settings(max_examples=30)
@given(seeds, st.sampled_from(["none", "causal"]), st.sampled_from([1, 3]))
def test_pattern_scores_equal_plain_loops(seed, mask_name, sharpness):
    mask = masks.build(mask_name, N)
    weights = random_weights(seed, N, N, sharpness=sharpness, mask=mask)
    even = random_weights(seed, N, N, sharpness=0, mask=mask)

    def on(array, is_cell):
        return average(sum(array[q, k] for k in range(N) if is_cell(q, k)) for q in range(N))

    def lifted(is_cell):
        return lift(on(weights, is_cell), on(even, is_cell))

    def near(q, k):
        return abs(q - k) <= 1

    def far(q, k):
        return not near(q, k) and not PAIR[k].is_special

    def within(q, k):
        return far(q, k) and PAIR[q].segment == PAIR[k].segment

    column_sets = [{0, 6, 12}, *({k} for k in range(N))]
    verticals = [lifted(lambda q, k, c=columns: k in c) for columns in column_sets]
    columns = column_sets[int(np.argmax(verticals))]
    vertical, diagonal = max(verticals), lifted(near)
    mixed = lifted(lambda q, k: near(q, k) or k in columns) if min(vertical, diagonal) >= 0.2 else 0
    fraction = on(even, within) / on(even, far)
    block = max((on(weights, within) - fraction * on(weights, far)) / (1 - fraction), 0)

    (scores,) = patterns.pattern_scores(weights[None], PAIR, mask)
    wanted = (vertical, diagonal, mixed, block, 1 - max(vertical, diagonal, mixed, block))
    assert list(scores.as_dict().values()) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("n_tokens", [1, 2, 3])
def test_two_tokens_make_no_pattern(n_tokens):
    """Where neighbours are all that there is, weight on neighbours says nothing."""
    weights = np.stack([np.eye(n_tokens), np.full((n_tokens, n_tokens), 1 / n_tokens)])
    for scores in patterns.pattern_scores(weights, words(n_tokens)):
        assert n_tokens > 2 or scores.label == "heterogeneous"
        assert all(math.isfinite(score) for score in scores.as_dict().values())


# ---------------------------------------------------------------------------------- behaviours


def behaviours(weights, tokens=PAIR):
    (summary,) = patterns.summarise_weights(weights[None], tokens)
    return summary.behaviour_names


def test_a_head_is_known_by_what_it_does():
    assert behaviours(TO_PREVIOUS) == ("previous token", "positional")
    assert behaviours(TO_NEXT) == ("next token", "positional")
    assert behaviours(TO_SEPARATORS) == ("separator sink",)
    assert behaviours(EVEN) == ("broad",)
    assert behaviours(ELSEWHERE) == ()
    to_start = np.zeros((N, N))
    to_start[:, 0] = 1
    assert behaviours(to_start) == ("start sink",)
    tokens = tokens_of("the cat saw the dog see the mat")
    same = patterns.cells_of(tokens).same_word / 2 + np.diag([0, 1, 1, 0, 1, 1, 0, 1])
    assert "same word" in behaviours(same, tokens)


def test_thresholds_are_those_of_clark():
    thresholds = {rule.name: rule.threshold for rule in BEHAVIOUR_RULES}
    assert thresholds["previous token"] == thresholds["next token"] == 0.5
    assert thresholds["separator sink"] == thresholds["start sink"] == 0.6
    assert thresholds["broad"] * math.log(128) == pytest.approx(3.8)
    names = {field.name for field in fields(HeadSummary)}
    assert {rule.measure for rule in BEHAVIOUR_RULES} <= names


def test_a_behaviour_must_exceed_its_threshold():
    half = 0.5 * np.eye(N, k=-1) + 0.5 * np.eye(N)
    (summary,) = patterns.summarise_weights(half[None], PAIR)
    above, at = replace(summary, previous=0.51), replace(summary, previous=0.5)
    assert [summary.behaviours[0].passes for summary in (above, at)] == [True, False]
    assert (above.behaviours[0].name, above.behaviours[0].score) == ("previous token", 0.51)


# ----------------------------------------------------------------------------------- summaries


def assert_summaries_equal_the_functions(trace, summaries):
    rows = np.array([not token.is_padding for token in trace.tokens])
    cells = patterns.cells_of(trace.tokens)
    assert [(s.layer, s.head) for s in summaries] == list(np.ndindex(trace.info.n_layers, trace.info.n_heads))
    for summary in summaries:
        layer = trace.layers[summary.layer]
        weights = layer.head(summary.head).weights
        shared_mask = layer.mask
        counted = counted_rows(weights, rows)
        choice = [q for q in counted if shared_mask is None or np.isfinite(shared_mask[q]).sum() > 1]
        repeated = [
            q
            for q in counted
            if (cells.same_word[q] & (True if shared_mask is None else np.isfinite(shared_mask[q]))).any()
        ]
        same = [weights[q, cells.same_word[q]].sum(dtype=np.float64) for q in repeated]
        wanted = {
            "entropy": average(patterns.entropy(weights)[counted]),
            "normalised_entropy": average(patterns.normalised_entropy(weights, shared_mask)[choice]),
            "mean_distance": patterns.mean_distance(weights, rows),
            "mean_offset": patterns.mean_offset(weights, rows),
            "same_word": average(same),
            "positional": patterns.positional_score(weights, shared_mask, rows),
            **{
                name: patterns.share(weights, getattr(cells, name), rows)
                for name in ("previous", "itself", "next", "first", "classifier", "separator", "punctuation")
            },
        }
        found = {name: getattr(summary, name) for name in wanted}
        assert found == pytest.approx(wanted, abs=1e-6)
        assert all(type(number) is float and math.isfinite(number) for number in found.values())
        (scores,) = patterns.pattern_scores(weights[None], trace.tokens, shared_mask)
        assert summary.pattern.as_dict() == pytest.approx(scores.as_dict(), abs=1e-6)


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
@pytest.mark.parametrize("text", [SENTENCE, "the cat and the dog and the mat .", "Alone"])
def test_the_toy_summarised(text, mask):
    trace = MODEL.trace(text, mask=mask)
    assert_summaries_equal_the_functions(trace, patterns.summarise(trace))


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("Unbelievably, the zookeepers saw the elephants that the keepers fed.", None),
        ("The man bought a new car.", "The car broke down the next day, said the man."),
        ("Yes", None),
    ],
)
def test_the_bert_summarised(minilm, text, pair, mask):
    trace = minilm.trace(text, pair, mask=mask)
    summaries = patterns.summarise(trace)
    assert len(summaries) == 72
    assert_summaries_equal_the_functions(trace, summaries)
    distances = patterns.trace_head_distances(trace)
    assert distances.shape == (72, 72)
    assert np.isfinite(distances).all()
    assert not distances.diagonal().any()
    rolled = patterns.trace_rollout(trace)
    np.testing.assert_allclose(rolled.sum(axis=-1), 1, atol=1e-5)
    for layer in trace.layers:
        norms = patterns.weighted_norms(layer)
        assert np.isfinite(norms).all()
        assert (norms >= 0).all()


def test_padding_changes_no_number():
    for plain, padded in zip(
        *(patterns.summarise(MODEL.trace(SENTENCE, mask=mask)) for mask in ("none", "padding")), strict=True
    ):
        for field in fields(HeadSummary):
            if field.name != "pattern":
                assert getattr(padded, field.name) == pytest.approx(getattr(plain, field.name), abs=1e-6)
        assert padded.pattern.as_dict() == pytest.approx(plain.pattern.as_dict(), abs=1e-6)


def test_a_painted_mask_that_hides_all_gives_zeros_not_nan():
    n_tokens = 6
    trace = MODEL.trace(SENTENCE, mask=masks.painted(np.ones((n_tokens, n_tokens), bool)))
    for summary in patterns.summarise(trace):
        assert (summary.entropy, summary.previous, summary.positional) == (0, 0, 0)
        assert summary.pattern.label == "heterogeneous"
    assert not patterns.trace_head_distances(trace).any()


def test_words_are_summarised_as_tokens_are(minilm):
    trace = minilm.trace("The zookeepers bamboozled the zookeepers.")
    merged, merged_words = merge_words(trace.layers[2].steps().weights, trace.tokens)
    summaries = patterns.summarise_weights(merged, merged_words, layer=2)
    assert {summary.layer for summary in summaries} == {2}
    zookeepers = [i for i, word in enumerate(merged_words) if word.text == "zookeepers"]
    the = [i for i, word in enumerate(merged_words) if word.text == "the"]
    pairs = [(*zookeepers,), (*zookeepers[::-1],), (*the,), (*the[::-1],)]
    for summary, weights in zip(summaries, merged, strict=True):
        assert summary.same_word == pytest.approx(average(weights[pair] for pair in pairs), abs=1e-6)


def test_weights_and_tokens_must_fit():
    for weights in (np.ones((3, 3)), np.ones((2, 3, 4)), np.ones((2, 4, 4))):
        with pytest.raises(ValueError, match=r"weights must have shape \(heads, 3, 3\) for 3 tokens"):
            patterns.summarise_weights(weights, words(3))
        with pytest.raises(ValueError, match=r"weights must have shape \(heads, 3, 3\) for 3 tokens"):
            patterns.pattern_scores(weights, words(3))


# ------------------------------------------------------------------- what the toy's heads do


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE,
        "a fluffy blue creature roamed the verdant forest",
        "The animal didn't cross the street because it was too tired",
        " ".join(["word"] * 40),
    ],
)
def test_the_near_by_head_looks_near_and_the_far_head_far(text):
    near_by, _, far = patterns.summarise(MODEL.trace(text))
    assert near_by.previous + near_by.next >= 0.7
    assert near_by.pattern.label == "diagonal"
    assert "positional" in near_by.behaviour_names
    assert far.mean_distance > near_by.mean_distance + 1
    assert far.previous + far.next < 0.2
    assert near_by.entropy < math.log(len(text.split()))


def test_the_matching_head_is_not_positional():
    _, meaning, _ = patterns.summarise(MODEL.trace("a fluffy blue creature roamed the verdant forest"))
    assert meaning.positional < patterns.POSITIONAL
    assert not {"previous token", "next token", "broad"} & set(meaning.behaviour_names)


# ---------------------------------------------------------------------------- rollout and norms


def test_rollout_of_even_weights_is_the_published_one():
    """Unmasked: with a causal mask the first token could only keep all of itself."""
    rolled = patterns.rollout(np.full((3, 4, 4), 0.25))
    np.testing.assert_allclose(rolled[-1, 0], [0.34375, 0.21875, 0.21875, 0.21875], atol=1e-15)
    np.testing.assert_allclose(rolled[0], np.eye(4) / 2 + 1 / 8, atol=1e-15)
    causal = np.stack([random_weights(0, 4, 4, sharpness=0, mask=masks.causal(4))] * 3)
    np.testing.assert_allclose(patterns.rollout(causal)[-1, 0], [1, 0, 0, 0], atol=1e-15)


@given(seeds, st.integers(1, 3), st.integers(1, 4))
def test_rollout_adds_up_all_paths(seed, n_layers, n_tokens):
    weights = random_weights(seed, n_layers, n_tokens, n_tokens)
    rolled = patterns.rollout(weights)[-1]
    for start, end in np.ndindex(rolled.shape):
        paths = product(range(n_tokens), repeat=n_layers - 1)
        total = 0.0
        for path in paths:
            # From the top layer down to the input.
            stops = (start, *path, end)
            steps = zip(range(n_layers - 1, -1, -1), stops, stops[1:], strict=False)
            total += math.prod((weights[layer, q, k] + (q == k)) / 2 for layer, q, k in steps)
        assert rolled[start, end] == pytest.approx(total, abs=1e-12)
    np.testing.assert_allclose(rolled.sum(axis=-1), 1, atol=1e-12)


def test_a_token_that_sees_nothing_keeps_itself():
    weights = np.zeros((2, 3, 3))
    weights[:, 1:] = 1 / 3
    np.testing.assert_array_equal(patterns.rollout(weights)[-1, 0], [1, 0, 0])


def test_the_rollout_of_a_trace_takes_the_mean_of_its_heads():
    trace = MODEL.trace(SENTENCE)
    mean = trace.layers[0].steps().weights.mean(axis=0)
    np.testing.assert_allclose(patterns.trace_rollout(trace)[0], (mean + np.eye(6)) / 2, atol=1e-6)


def test_rollout_wants_square_matrices():
    with pytest.raises(ValueError, match="weights must have shape"):
        patterns.rollout(np.ones((2, 3, 4)))


@given(seeds, st.integers(1, 3), st.integers(1, 3))
def test_norms_equal_plain_loops_with_grouped_heads_too(seed, n_groups, group_size):
    rng = np.random.default_rng(seed)
    n_heads, n_queries, n_keys, d_head, d_value, d_model = n_groups * group_size, 3, 4, 2, 3, 5
    queries, keys = rng.normal(size=(n_heads, n_queries, d_head)), rng.normal(size=(n_groups, n_keys, d_head))
    values, W_O = rng.normal(size=(n_groups, n_keys, d_value)), rng.normal(size=(n_heads * d_value, d_model))
    unused = np.zeros((1, 1))
    projections = Projections(unused, unused, unused, W_O, b_O=rng.normal(size=d_model))
    layer = LayerTrace(None, queries, keys, values, None, 1.0, unused, projections=projections)

    weights, norms = layer.steps().weights, patterns.weighted_norms(layer)
    assert norms.shape == (n_heads, n_queries, n_keys)
    outputs = np.zeros((n_queries, d_model))
    for h, q, k in np.ndindex(norms.shape):
        given_vector = weights[h, q, k] * values[h // group_size, k] @ W_O[h * d_value : (h + 1) * d_value]
        assert norms[h, q, k] == pytest.approx(np.linalg.norm(given_vector), abs=1e-12)
        outputs[q] += given_vector
    # These vectors are what the layer adds to a token, all but the bias.
    np.testing.assert_allclose(outputs + projections.b_O, layer.output(), atol=1e-12)
    assert (norms <= patterns.value_norms(layer)[:, None] + 1e-12).all()


def test_norms_need_the_projections():
    layer = replace(MODEL.trace(SENTENCE).layers[0], projections=None)
    with pytest.raises(ValueError, match="projections of this architecture are not known"):
        patterns.weighted_norms(layer)


# --------------------------------------------------------------------------------- dependencies

# The old dog slept
PARSE = Parse((2, 2, 3, None), ("det", "amod", "nsubj", "root"))


def pointing(*targets):
    """Weights of a head in which each word looks at one other, and half as much at itself."""
    weights = np.eye(len(targets)) * 0.6
    weights[range(len(targets)), targets] += 0.4
    return weights


def test_dependency_accuracy_by_hand():
    always, next_word, never = pointing(2, 2, 3, 0), pointing(1, 2, 3, 0), pointing(3, 0, 0, 0)
    weights = np.stack([always, next_word, never])
    scores = patterns.dependency_accuracy([(weights, PARSE)])
    assert {relation: (score.count, score.accuracy.tolist()) for relation, score in scores.items()} == {
        "det": (1, [1, 0, 0]),
        "amod": (1, [1, 1, 0]),
        "nsubj": (1, [1, 1, 0]),
        "all": (3, [1, pytest.approx(2 / 3), 0]),
    }


def test_from_head_to_dependent_the_columns_are_asked():
    weights = pointing(2, 2, 3, 0).T
    forward = patterns.dependency_accuracy([(weights, PARSE)])
    backward = patterns.dependency_accuracy([(weights, PARSE)], direction="head to dependent")
    assert float(backward["all"].accuracy) == 1
    assert float(forward["all"].accuracy) < 1


def test_sentences_of_any_length_are_added_up():
    short = Parse((1, None), ("det", "root"))
    heads = [(np.stack([pointing(2, 2, 3, 0)] * 2), PARSE), (np.stack([pointing(1, 0), np.eye(2)]), short)]
    scores = patterns.dependency_accuracy(iter(heads))
    assert (scores["det"].count, scores["det"].accuracy.tolist()) == (2, [1, 0.5])
    assert (scores["all"].count, scores["all"].accuracy.tolist()) == (4, [1, 0.75])


def test_a_word_that_sees_no_other_is_a_miss():
    causal = random_weights(0, 2, 2, mask=masks.causal(2))
    parses = [Parse((1, None), ("det", "root")), Parse((None, 0), ("root", "dobj"))]
    blind = [patterns.dependency_accuracy([(weights, parses[1])]) for weights in (np.zeros((2, 2)), np.eye(2))]
    assert [float(score["dobj"].accuracy) for score in blind] == [0, 0]
    assert float(patterns.dependency_accuracy([(causal, parses[0])])["det"].accuracy) == 0
    assert float(patterns.dependency_accuracy([(causal, parses[1])])["dobj"].accuracy) == 1


def test_the_possessive_mark_speaks_for_its_word():
    # John 's book fell; her book
    parse = Parse((2, 0, 3, None), ("poss", "possessive", "nsubj", "root"))
    weights = pointing(1, 2, 3, 0)
    assert float(patterns.dependency_accuracy([(weights, parse)])["poss"].accuracy) == 1
    assert patterns.best_offset([parse])["poss"].offset == 1
    pronoun = Parse((1, None), ("poss", "root"))
    assert float(patterns.dependency_accuracy([(pointing(1, 0), pronoun)])["poss"].accuracy) == 1


def test_the_best_fixed_offset_by_hand():
    other = Parse((1, None, 3, 1), ("nsubj", "root", "det", "dobj"))
    best = patterns.best_offset([PARSE, other])
    assert {relation: (score.count, score.offset, score.accuracy) for relation, score in best.items()} == {
        "det": (2, 1, 0.5),  # distances 2 and 1: the first offset of equally good ones
        "amod": (1, 1, 1),
        "nsubj": (2, 1, 1),
        "dobj": (1, -2, 1),
        "all": (6, 1, pytest.approx(4 / 6)),
    }


@given(seeds, st.integers(2, 6))
def test_an_offset_is_as_good_as_a_head_that_looks_there(seed, n_words):
    rng = np.random.default_rng(seed)
    heads = tuple(int(rng.choice([j for j in range(n_words) if j != i])) for i in range(n_words))
    parse = Parse(heads, tuple(rng.choice(["det", "dobj"], n_words).tolist()))
    attention = np.stack([np.eye(n_words, k=offset) for offset in patterns.OFFSETS])
    scores, best = patterns.dependency_accuracy([(attention, parse)]), patterns.best_offset([parse])
    assert scores.keys() == best.keys()
    for relation, score in scores.items():
        assert best[relation].accuracy == score.accuracy.max()
        assert best[relation].offset == patterns.OFFSETS[score.accuracy.argmax()]


def test_a_parse_is_checked():
    with pytest.raises(ValueError, match="one relation per head, got 1 and 2"):
        Parse((1, None), ("det",))
    for head in (0, 2, -1):
        with pytest.raises(ValueError, match="a head must be another word of 2"):
            Parse((head, None), ("det", "root"))
    with pytest.raises(ValueError, match=r"weights must end in \(4, 4\) for 4 words"):
        patterns.dependency_accuracy([(np.ones((3, 3)), PARSE)])
