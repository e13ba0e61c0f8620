"""Two sentences read together: whose tokens are whose, and the weight between them, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core.steps import softmax
from attention.core.trace import Token
from attention.core.words import words_of
from attention.lesson.behaviour import head_table, share_table
from attention.lesson.head_context import HeadContext
from attention.lesson.survey import Lines, Look, head_matrix, layer_lines, order, place, survey
from attention.measures.segments import BLOCK_NAMES, block_shares, groups, is_pair, span

FIRST, SECOND = "The cat sat on the mat", "It was unbelievably tired"


def token(text, position, segment, is_special=False, is_padding=False):
    return Token(text, text, None if is_special else position, position, 0, is_special, segment, None, is_padding)


# [CLS] a [SEP] b c [SEP]
TOKENS = (
    token("[CLS]", 0, 0, is_special=True),
    token("a", 1, 0),
    token("[SEP]", 2, 0, is_special=True),
    token("b", 3, 1),
    token("c", 4, 1),
    token("[SEP]", 5, 1, is_special=True),
)
PADDED = (*TOKENS, token("[PAD]", 6, 0, is_special=True, is_padding=True))


@pytest.fixture(scope="module")
def trace(minilm):
    return minilm.trace(FIRST, SECOND)


# ------------------------------------------------------------------------------------------ by hand


def test_shares_of_weights_that_are_worked_out_by_hand():
    weights = np.array(
        [
            [0.5, 0.0, 0.0, 0.5, 0.0, 0.0],
            [0.1, 0.2, 0.3, 0.1, 0.1, 0.2],  # a
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.6, 0.1, 0.1, 0.1, 0.1],  # b
            [0.2, 0.0, 0.0, 0.4, 0.4, 0.0],  # c
            [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        ]
    )
    # From A: rows 0, 1, 2 give A .5, .6, 1. From B: rows 3, 4, 5 give A .7, .2, 0.
    np.testing.assert_allclose(block_shares(weights, TOKENS), [[2.1 / 3, 0.9 / 3], [0.9 / 3, 2.1 / 3]])
    # Words alone: a gives a .2, and b and c .2. b gives a .6, and b and c .2; c gives 0 and .8.
    np.testing.assert_allclose(block_shares(weights, TOKENS, special=False), [[0.2, 0.2], [0.3, 0.5]])


def test_rows_that_look_at_nothing_and_padding_do_not_count():
    weights = np.zeros((7, 7))
    weights[1] = [0, 0.25, 0, 0.75, 0, 0, 0]
    weights[3] = [0, 1, 0, 0, 0, 0, 0]
    weights[6] = [0, 1, 0, 0, 0, 0, 0]  # padding asks too, and is nobody
    np.testing.assert_allclose(block_shares(weights, PADDED), [[0.25, 0.75], [1, 0]])


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
def test_with_special_tokens_the_shares_of_each_sentence_sum_to_one(seed, first, second):
    n = first + second + 3
    segments = [0] * (first + 2) + [1] * (second + 1)
    special = {0, first + 1, n - 1}
    tokens = [token("x", i, segment, is_special=i in special) for i, segment in enumerate(segments)]
    weights = softmax(np.random.default_rng(seed).standard_normal((3, n, n)))
    shares, words = block_shares(weights, tokens), block_shares(weights, tokens, special=False)
    np.testing.assert_allclose(shares.sum(axis=-1), 1)
    assert np.all(words.sum(axis=-1) < 1)
    # A row's share is the plain mean of what its cells hold.
    np.testing.assert_allclose(shares[:, 1, 0], weights[:, first + 2 :, : first + 2].sum(-1).mean(-1))


def test_groups_are_named_and_padding_has_no_name():
    assert groups(TOKENS) == (("A", 0), ("B", 3))
    assert groups(PADDED) == (("A", 0), ("B", 3), ("", 6))
    assert span(PADDED, "A") == (0, 3)
    assert span(PADDED, "B") == (3, 6)
    assert groups(TOKENS[:3]) == ()
    assert not is_pair(TOKENS[:3])


# ----------------------------------------------------------------------------------------- on BERT


def test_special_tokens_belong_to_the_sentence_that_bert_itself_puts_them_in(trace, minilm_folder):
    from transformers import AutoTokenizer

    encoded = AutoTokenizer.from_pretrained(minilm_folder, local_files_only=True)(FIRST, SECOND)
    start, end = span(trace.tokens, "B")
    types = encoded["token_type_ids"]
    assert [int(start <= position < end) for position in range(len(types))] == types
    assert trace.tokens[start - 1].text == "[SEP]"
    assert trace.tokens[end - 1].text == "[SEP]"


@pytest.mark.parametrize("words", [False, True])
def test_the_table_of_heads_has_the_shares_of_every_head_and_the_order_follows_them(trace, words):
    look = Look(words=words)
    surveyed = survey(trace, look)
    table = head_table(surveyed.summaries, surveyed.shares)
    units = look.units(trace.tokens)
    start, _ = span(units, "B")
    for row, summary in enumerate(surveyed.summaries):
        layer, head = place(summary)
        weights = look.weights(trace.layers[layer], trace)[head]
        assert table["A → B"][row] == pytest.approx(weights[:start, start:].sum(-1).mean(), abs=1e-4)
        assert table["B → A"][row] == pytest.approx(weights[start:, :start].sum(-1).mean(), abs=1e-4)
    ((_, heads),) = order("across", surveyed, trace, look, (5, 6)).groups
    sorted_by = [table["A → B"][surveyed.index(head)] for head in heads]
    assert len(set(heads)) == 72
    assert all(np.diff(sorted_by) <= 1e-4)


def test_one_sentence_has_no_shares_and_its_order_across_is_the_plain_one(minilm):
    trace = minilm.trace(FIRST)
    surveyed = survey(trace, Look())
    assert surveyed.shares is None
    assert "A → B" not in head_table(surveyed.summaries, surveyed.shares)
    assert order("across", surveyed, trace, Look(), (0, 0)) == order("layer", surveyed, trace, Look(), (0, 0))


@pytest.mark.parametrize("block", BLOCK_NAMES)
@pytest.mark.parametrize("words", [False, True])
def test_the_lines_of_a_block_are_those_weights_and_their_positions(trace, block, words):
    look = Look(words=words)
    units = look.units(trace.tokens)
    lines = layer_lines(HeadContext(trace, 5, 6, 3), look, 6, block=block)
    names = {"A": range(*span(units, "A")), "B": range(*span(units, "B"))}
    everyone = range(len(units))
    rows, columns = (everyone, everyone) if block == "all" else (names[block[0]], names[block[1]])
    whole = look.weights(trace.layers[5], trace)
    for head, drawn in enumerate(lines.heads):
        np.testing.assert_array_equal(drawn.weights, whole[head][np.ix_(rows, columns)])
    assert lines.row_labels == tuple(units[row].text for row in rows)
    assert (lines.row_start, lines.column_start) == (rows[0], columns[0])
    assert lines.row_breaks == ((names["B"][0],) if block == "all" else ())


def test_what_is_set_in_the_head_view_is_drawn_and_pins_are_counted_from_the_part_that_is_there(trace):
    scene = HeadContext(trace, 5, 6, 3)
    set_by_hand = Lines(heads=(0, 4), threshold=0.05, pinned=("query", (3, 9)))
    payload = layer_lines(scene, Look(), 6, set_by_hand).payload()
    assert payload["shown"] == [0, 4]
    assert payload["thresholds"][payload["threshold"]] == 0.05
    assert payload["pinned"] == {"side": "query", "positions": [3, 9]}
    # Of B, which begins at token 8, the token 9 is the second; 3 is none of its tokens.
    assert layer_lines(scene, Look(), 6, set_by_hand, "BA").payload()["pinned"]["positions"] == [1]
    assert layer_lines(scene, Look(), 6, set_by_hand, "AB").payload()["pinned"]["positions"] == [3]
    alone = layer_lines(scene, Look(), 6).payload()
    assert (alone["shown"], alone["pinned"]["positions"]) == ([6], [])
    mean = layer_lines(scene, Look(), 6, Lines(heads=(3,), mean=True))
    assert mean.payload()["shown"] == [0]
    np.testing.assert_allclose(mean.heads[0].weights, trace.layers[5].steps().weights.mean(axis=0))


def test_the_matrix_is_parted_where_the_second_sentence_begins(trace):
    for look in (Look(), Look(words=True)):
        units = look.units(trace.tokens)
        payload = head_matrix(HeadContext(trace, 5, 6, 3), look, 6).payload()
        assert payload["rowGroups"] == payload["columnGroups"] == [["A", 0], ["B", span(units, "B")[0]]]
    assert len(words_of(trace.tokens)) < len(trace.tokens)


def test_the_small_table_says_both_ways_of_counting():
    table = share_table(np.array([[0.7, 0.3], [0.25, 0.75]]), np.array([[0.2, 0.2], [0.3, 0.5]]), ("[CLS]", "[SEP]"))
    assert table["to A"] == ["0.70", "0.25", "0.20", "0.30"]
    assert table["to B"] == ["0.30", "0.75", "0.20", "0.50"]
    assert table["to [CLS] and [SEP]"] == ["–", "–", "0.60", "0.20"]
