"""The survey of all heads: orders, hidden tokens, and numbers that follow from the weights."""

import html

import numpy as np
import pytest

from attention.lesson.behaviour import describe, head_table
from attention.lesson.survey import Look, order, place, survey
from attention.measures.five_patterns import PATTERN_TITLES
from attention.measures.likeness import head_distance
from tests.loaded import load

TEXT = "The unbelievableness of a cat sat on the mat, didn't it?"
CURRENT = (5, 6)


@pytest.fixture(scope="module")
def trace():
    return load("minilm-l6").trace(TEXT)


@pytest.fixture(scope="module")
def surveyed(trace):
    return survey(trace, Look())


@pytest.mark.parametrize("sorting", ["layer", "entropy", "pattern", "similarity"])
def test_every_order_has_every_head_once(trace, surveyed, sorting):
    groups = order(sorting, surveyed, trace, Look(), CURRENT).groups
    heads = [head for _, heads in groups for head in heads]
    assert sorted(heads) == [(layer, head) for layer in range(6) for head in range(12)]


def test_the_order_by_entropy_is_that_of_entropies_worked_out_anew(trace, surveyed):
    ((_, heads),) = order("entropy", surveyed, trace, Look(), CURRENT).groups
    entropies = []
    for layer, head in heads:
        weights = trace.layers[layer].head(head).weights.astype(np.float64)
        entropies.append(-(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=1).mean())
    assert np.all(np.diff(entropies) > -1e-6)


def test_a_head_is_most_like_itself_and_the_rest_follow_by_distance(trace, surveyed):
    ((_, heads),) = order("similarity", surveyed, trace, Look(), CURRENT).groups
    weights = np.concatenate([layer.steps().weights for layer in trace.layers])
    row = [head_distance(weights[CURRENT[0] * 12 + CURRENT[1]], each) for each in weights]
    assert heads[0] == CURRENT
    assert np.all(np.diff([row[layer * 12 + head] for layer, head in heads]) > -1e-9)


def test_in_the_order_by_pattern_each_head_stands_under_its_own_label(trace, surveyed):
    for title, heads in order("pattern", surveyed, trace, Look(), CURRENT).groups:
        assert {PATTERN_TITLES[surveyed.summary(head).pattern.label].capitalize() for head in heads} == {
            title.split(":")[0]
        }


def test_heads_that_find_a_pronouns_noun_lead_and_irregular_ones_come_last(surveyed):
    listed = surveyed.by_clarity()
    assert sorted(listed) == [*range(72)]
    finds = [surveyed.gazes[at].pronoun_pair is not None for at in listed]
    assert 0 < sum(finds) < 72
    assert finds == sorted(finds, reverse=True)
    irregular = [
        surveyed.summaries[at].pattern.label == "heterogeneous" for at in listed if not surveyed.gazes[at].pronoun_pair
    ]
    assert 0 < sum(irregular) < len(irregular)
    assert irregular == sorted(irregular)


def test_words_have_rows_that_sum_to_one_and_what_is_hidden_gets_nothing(trace):
    look = Look(words=True)
    units = look.units(trace.tokens)
    assert len(units) < len(trace.tokens)
    assert np.allclose(look.weights(trace.layers[2], trace).sum(axis=-1), 1, atol=1e-5)

    hidden = Look(words=True, hide="punctuation")
    kept = hidden.kept(trace.tokens)
    assert [unit.text for unit, is_kept in zip(units, kept, strict=True) if not is_kept].count("[CLS]") == 1
    assert not kept[[unit.text for unit in units].index(",")]
    weights = hidden.weights(trace.layers[2], trace)
    assert not weights[:, :, ~kept].any()
    assert weights[:, kept].sum(axis=-1).max() < 1

    again = Look(words=True, hide="punctuation", renormalise=True).weights(trace.layers[2], trace)
    assert np.allclose(again[:, kept].sum(axis=-1), 1, atol=1e-5)


def test_numbers_do_not_depend_on_what_is_hidden(trace, surveyed):
    assert survey(trace, Look(hide="special", renormalise=True)).summaries == surveyed.summaries


def test_the_table_has_one_row_per_head_and_the_words_about_it_its_numbers(surveyed):
    table = head_table(surveyed.summaries)
    assert list(zip(table["layer"], table["head"], strict=True)) == [
        (layer + 1, head + 1) for layer, head in map(place, surveyed.summaries)
    ]
    for summary in surveyed.summaries:
        words = surveyed.in_words(place(summary))
        told = describe(summary, words)
        assert words in html.unescape(told)
        assert f"{summary.previous:.2f}" in told
        assert all(name in told for name in summary.behaviour_names)
