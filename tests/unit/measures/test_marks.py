"""Kinds of tokens, and their shares of weight."""

from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attention.measures.marks import Marks, column_shares, share
from attention.measures.rows import Rows
from tests.plain_loops import average, counted_rows, masked_weights, token, words


def test_the_marks_of_a_sentence():
    texts = ["[CLS]", "The", "cat", "the", ",", "[SEP]", "x", "[SEP]", "[PAD]"]
    tokens = tuple(token(text, i, segment=int(i > 5), is_padding=text == "[PAD]") for i, text in enumerate(texts))
    other = words(9)
    marks = Marks.of([tokens, other])
    marked = {f.name: [np.argwhere(of_text).tolist() for of_text in getattr(marks, f.name)] for f in fields(marks)}
    assert marked == {
        "special": [[[0], [5], [7], [8]], []],
        "classifier": [[[0]], []],
        "separator": [[[5], [7]], []],
        "punctuation": [[[4]], []],
        "padding": [[[8]], []],
        "segments": [[[6], [7], [8]], []],
        "same_word": [[[1, 3], [3, 1]], []],
    }


@given(masked_weights(), st.data())
def test_shares_of_columns_equal_plain_loops(inputs, data):
    weights, mask, counted = inputs
    rows = Rows.of(weights, mask, counted)
    marked = np.array(data.draw(st.lists(st.booleans(), min_size=weights.shape[2], max_size=weights.shape[2])))
    (found,) = share(column_shares(rows)[None], marked[None])
    wanted = [average(head[q, marked].sum() for q in counted_rows(head, counted)) for head in weights]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
