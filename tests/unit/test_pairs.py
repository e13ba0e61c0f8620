"""Two sentences read as one: special tokens have the model's own names."""

import re

import numpy as np
import pytest

from attention.lesson.behaviour import head_table, share_table
from attention.lesson.head_context import HeadContext
from attention.lesson.pairs import tell_pair, tell_shares
from attention.lesson.survey import Look, order, survey
from tests.unit.lesson.telling import facts_in
from tests.unit.saying import tells

FIRST, SECOND = "The cat sat", "A small dog ran"
# What a model of each kind writes before, between and after two texts.
NAMES = {
    "bert": ("[CLS] and [SEP]", "[SEP]", "[CLS] and [SEP]"),
    "distilbert": ("[CLS] and [SEP]", "[SEP]", "[CLS] and [SEP]"),
    "roberta": ("<s>, </s> and </s>", "</s>", "<s> and </s>"),
}


@pytest.fixture(params=NAMES)
def kind(request):
    return request.param


@pytest.fixture
def trace(model_of, kind):
    return model_of(kind).trace(FIRST, SECOND)


def test_the_words_of_a_pair_name_the_tokens_that_are_there(trace, kind):
    ours, theirs, both = NAMES[kind]
    told = tell_pair(HeadContext(trace, 0, 0, 1), SECOND)
    names = {"first": FIRST, "second": SECOND, "ours": ours, "theirs": theirs}
    assert facts_in(told, "pair/words", "pair/special") == names
    # Which is whose is counted off the tokens themselves.
    special = [token for token in trace.tokens if token.is_special]
    assert re.split(", | and ", ours) == [token.text for token in special if token.segment == 0]
    # Only a model that has a vector for either segment has token_type ids that say so.
    assert tells(told, "pair/segments") == (kind == "bert")
    assert tells(told, "pair/no-segments") == (kind != "bert")
    surveyed = survey(trace, Look())
    told = tell_shares(np.array([[0.7, 0.3], [0.25, 0.75]]), surveyed.special)
    assert facts_in(told, "pair/shares") == {"across": 0.3, "back": 0.25, "special": both}


def test_the_tables_of_a_pair_name_the_tokens_that_are_there(trace, kind):
    _, _, both = NAMES[kind]
    surveyed = survey(trace, Look())
    table = share_table(surveyed.shares[0], surveyed.word_shares[0], surveyed.special)
    assert [*table] == ["from", "to A", "to B", f"to {both}"]
    assert table["from"][:2] == [f"A, with {both}", f"B, with {both}"]
    heads = head_table(surveyed.summaries, surveyed.shares, surveyed.special)
    begins, ends = both.split(" and ")
    assert heads[begins] == [round(summary.classifier, 4) for summary in surveyed.summaries]
    assert heads[ends] == [round(summary.separator, 4) for summary in surveyed.summaries]
    assert any(heads[ends])
    title, _ = order("across", surveyed, trace, Look(), (0, 0)).groups[0]
    assert f"(with {both})" in title


def test_a_model_without_special_tokens_has_no_column_for_them(smollm2):
    surveyed = survey(smollm2.trace(FIRST), Look())
    assert surveyed.special == ()
    assert {"[CLS]", "[SEP]", "<s>", "</s>"} & set(head_table(surveyed.summaries, None, surveyed.special)) == set()
