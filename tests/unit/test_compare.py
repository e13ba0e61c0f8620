"""Two runs compared: words matched in order, differences by hand, unmatched words left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core.steps import softmax
from attention.core.trace import Token
from attention.core.words import merge_words, words_of
from attention.figures.question import Answer
from attention.lesson.compare import (
    Comparison,
    Side,
    align,
    changes,
    changes_picture,
    side_of,
    tell,
    tell_first,
    tell_marked,
)
from attention.lesson.head_context import HeadContext
from attention.models import load
from tests.unit.saying import plain, says

TIRED = "The animal didn't cross the street because it was too tired"
WIDE = "The animal didn't cross the street because it was too wide"


def words(text):
    return words_of([Token(each, each, index, index, 0) for index, each in enumerate(text.split())])


def inside(name):
    return name.replace("The ", "the ")


def side(text, weights=None, name="The first sentence"):
    listed = words(text)
    if weights is None:
        weights = softmax(np.random.default_rng(len(text)).standard_normal((len(listed), len(listed))))
    return Side(name, tuple(listed), np.asarray(weights, np.float32), within=inside(name))


@pytest.fixture(scope="module")
def runs(minilm):
    return minilm.trace(TIRED), minilm.trace(WIDE)


# ---------------------------------------------------------------------------------------- matching


@pytest.mark.parametrize(
    ("first", "second", "places"),
    [
        ("a b c", "a b c", [(0, 0), (1, 1), (2, 2)]),
        ("The cat", "the cat", [(0, 0), (1, 1)]),
        ("a b c", "a x c", [(0, 0), (1, None), (None, 1), (2, 2)]),
        ("a b", "a new b", [(0, 0), (None, 1), (1, 2)]),
        ("a b", "c d", [(0, None), (1, None), (None, 0), (None, 1)]),
        ("the cat and the dog", "the dog", [(0, 0), (1, None), (2, None), (3, None), (4, 1)]),
    ],
)
def test_words_are_matched_in_order(first, second, places):
    found = align(words(first), words(second))
    # Which of two equal words is matched is difflib's choice; how many are is not.
    if first.startswith("the cat and"):
        assert sum(None not in place for place in found) == 2
    else:
        assert found == tuple(places)


@given(st.lists(st.sampled_from("abcAB"), max_size=12), st.lists(st.sampled_from("abcAB"), max_size=12))
def test_every_word_of_both_is_there_once_and_in_order(first, second):
    ours, theirs = (words(" ".join(letters)) for letters in (first, second))
    places = align(ours, theirs)
    assert [one for one, _ in places if one is not None] == list(range(len(first)))
    assert [other for _, other in places if other is not None] == list(range(len(second)))
    for one, other in places:
        if None not in (one, other):
            assert first[one].lower() == second[other].lower()


@given(st.floats(0, 1, width=32))
def test_a_small_difference_has_a_small_part_of_the_colour(change):
    uniform, other = np.full((2, 2), 0.5), np.array([[0.5 - change / 2, 0.5 + change / 2], [0.5, 0.5]])
    compared = Comparison(side("a b", uniform), side("a b", other, "The second sentence"))
    difference = compared.pictures(None)[2]
    # The largest difference has the full colour, unless it is less than a tenth.
    part = np.abs(difference.values).max() / difference.colour_limit
    assert part == pytest.approx(min(1, 10 * change / 2), abs=1e-6)
    table = changes_picture(np.array([[change, 0.0]]), (0, 0))
    assert table.values.max() / table.colour_limit == pytest.approx(change, abs=1e-6)


def test_the_words_that_differ_are_marked_where_they_stand_and_nothing_typed_is_markup(minilm):
    texts = ("A <b> red, red dog", "A <b> red, old dog")
    sides = [side_of(HeadContext(minilm.trace(text), 0, 0, 1), "x") for text in texts]
    told = tell_marked(Comparison(*sides))
    assert "A &lt;b&gt; red, <mark>red</mark> dog" in told
    assert "A &lt;b&gt; red, <mark>old</mark> dog" in told


def test_a_special_token_is_never_a_word_that_looks_like_it():
    special = words_of([Token("[CLS]", "", None, 0, 101, is_special=True)])
    assert align(special, words("[CLS]")) == ((0, None), (None, 0))


# -------------------------------------------------------------------------------------- difference


def test_a_difference_worked_by_hand_is_blank_where_a_word_is_missing():
    first = side("it is tired", [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.2, 0.2, 0.6]])
    second = side("it is wide", [[0.4, 0.4, 0.2], [0.6, 0.3, 0.1], [1, 0, 0]], "The second sentence")
    comparison = Comparison(first, second)
    assert [unit.text for unit in comparison.units] == ["it", "is", "tired", "wide"]
    nan = np.nan
    wanted = [[-0.1, 0.1, nan, nan], [0.5, 0.2, nan, nan], [nan] * 4, [nan] * 4]
    np.testing.assert_allclose(comparison.difference, wanted, atol=1e-6)
    assert comparison.most_changed() == (1, 0)
    assert comparison.swapped == ((2, 3),)
    told = plain(tell(comparison))
    assert says(told, "is", "it", "0.10", "0.60")
    # The row that differs most between the two words: is gives tired .8 and wide .1.
    assert says(told, "is", "tired", "0.80", "wide", "0.10")
    assert says(told, "Only", "first sentence", "tired")
    assert says(told, "Only", "second sentence", "wide")
    chosen = plain(tell_first(comparison, 0, 1))
    assert says(chosen, "it", "is", "0.30", "0.40")


def test_the_three_pictures_stand_on_the_same_words_and_a_blank_is_no_zero():
    comparison = Comparison(side("a b c"), side("a x c", name="The second sentence"))
    first, second, difference = comparison.pictures((0, 0))
    assert first.row_labels == second.column_labels == difference.row_labels == ("a", "b", "x", "c")
    for picture, rows in ((first, [2]), (second, [1]), (difference, [1, 2])):
        blank = np.isnan(picture.values)
        assert blank[rows].all()
        assert blank[:, rows].all()
        assert not np.delete(np.delete(blank, rows, 0), rows, 1).any()
        assert "nan" not in picture.range_text
    assert says(difference.title, "second sentence", "minus", "first sentence")


# ------------------------------------------------------------------------------------------ on BERT


def test_pieces_are_put_together_before_words_are_compared(minilm):
    one, other = minilm.trace("An unbelievableness of cats"), minilm.trace("The unbelievableness of cats")
    sides = [side_of(HeadContext(trace, 2, 4, 1), name) for trace, name in ((one, "a"), (other, "b"))]
    comparison = Comparison(*sides)
    assert "unbelievableness" in [unit.text for unit in comparison.units]
    merged = [merge_words(trace.layers[2].head(4).weights, trace.tokens)[0] for trace in (one, other)]
    assert comparison.difference[3, 3] == pytest.approx(merged[1][2, 2] - merged[0][2, 2], abs=1e-6)


def test_two_models_are_compared_on_the_words_that_both_have(minilm):
    text = "The cat sat on the mat"
    toy = load("toy").trace(text)
    comparison = Comparison(
        side_of(HeadContext(minilm.trace(text), 5, 6, 1), "BERT"), side_of(HeadContext(toy, 0, 1, 1), "Toy")
    )
    assert [unit.text for unit in comparison.units] == ["[CLS]", *text.lower().split(), "[SEP]"]
    assert comparison.shared.tolist() == [False, *[True] * 6, False]
    weights = minilm.trace(text).layers[5].head(6).weights
    np.testing.assert_allclose(
        comparison.difference[1:7, 1:7], toy.layers[0].head(1).weights - weights[1:7, 1:7], atol=1e-6
    )


def test_what_was_typed_is_never_interpreted(minilm):
    trace = minilm.trace("<b> $row"), minilm.trace("<i> $row")
    sides = [side_of(HeadContext(each, 0, 0, 1), name) for each, name in zip(trace, ("One", "Two"), strict=True)]
    told = tell(Comparison(*sides))
    assert "<i>" not in told
    assert says(told, "<bdi>Two</bdi>", "“<bdi>i</bdi>”")


def test_what_a_mask_hides_in_both_runs_stays_hidden_in_the_difference(smollm2, minilm):
    text, other = "The cat sat on the mat", "The dog sat on the mat"
    sides = [
        side_of(HeadContext(smollm2.trace(each), 9, 2, 0), f"The {name} sentence", within=f"the {name} sentence")
        for each, name in ((text, "one"), (other, "two"))
    ]
    comparison = Comparison(*sides)
    in_one, in_two = np.array([[index is not None for index in place] for place in comparison.places]).T
    there = [np.outer(in_one, in_one), np.outer(in_two, in_two)]
    later = ~np.tri(len(comparison.places), dtype=bool)
    for picture, is_there in zip(comparison.pictures(None), (*there, there[0] & there[1]), strict=True):
        assert np.array_equal(np.isneginf(picture.drawn), later & is_there)
        assert np.array_equal(np.isnan(picture.drawn), ~is_there)
    # BERT hides nothing, so nothing is hidden in what it has more or less.
    beside = Comparison(sides[0], side_of(HeadContext(minilm.trace(text), 0, 0, 0), "BERT"))
    first, second, difference = beside.pictures(None)
    assert np.isneginf(first.drawn).any()
    assert not np.isneginf(second.drawn).any()
    assert not np.isneginf(difference.drawn).any()


def comparison_of(runs, layer, head):
    names = ("The first sentence", "The second sentence")
    return Comparison(
        *(
            side_of(HeadContext(trace, layer, head, 1), name, within=inside(name))
            for trace, name in zip(runs, names, strict=True)
        )
    )


def test_the_map_of_all_heads_counts_what_the_sentence_counts(runs):
    """Not what has changed at [CLS], which both say once."""
    changed = changes(*runs)
    largest = np.unravel_index(changed.argmax(), changed.shape)
    for layer, head in (largest, (0, 0), (5, 6)):
        comparison = comparison_of(runs, layer, head)
        cell = comparison.most_changed()
        assert changed[layer, head] == pytest.approx(abs(comparison.difference[cell]), abs=1e-6)
        told = plain(tell(comparison))
        first, second = (weights[cell] for weights in comparison.weights)
        assert says(told, f"{first:.2f}", f"{second:.2f}")
        assert told.count("[CLS] and [SEP]") == 1


def test_two_that_share_special_tokens_alone_have_nothing_to_compare(minilm):
    traces = minilm.trace("cats sleep"), minilm.trace("dogs bark")
    comparison = Comparison(
        *(side_of(HeadContext(trace, 0, 0, 1), name) for trace, name in zip(traces, "ab", strict=True))
    )
    assert comparison.shared.any()
    assert not comparison.counted.any()
    assert "share no word" in plain(tell(comparison))
    assert not changes(*traces).any()


# ---------------------------------------------------------------------------------------- guessing


@pytest.mark.parametrize(
    ("first", "second", "verdicts"),
    [
        (0.64, 0.27, ("other", "right", "other")),
        (0.27, 0.64, ("right", "other", "other")),
        # What differs by no more than 0.02 is the same; whoever saw which is larger was close.
        (0.50, 0.51, ("close", "other", "right")),
        (0.50, 0.49, ("other", "close", "right")),
        (0.50, 0.50, ("other", "other", "right")),
        (0.50, 0.53, ("right", "other", "other")),
    ],
)
def test_more_less_or_the_same_is_judged_by_the_two_weights(first, second, verdicts):
    rows = [[[1 - weight, weight], [0.5, 0.5]] for weight in (first, second)]
    guess = Comparison(side("it animal", rows[0]), side("it animal", rows[1], "The second sentence")).guess((0, 1))
    assert guess.answers == ("more", "less", "the same")
    assert tuple(guess.judge(Answer(guess.mark, (index,))) for index in range(3)) == verdicts
    assert f"gives “animal” a weight of {first:.2f}" in plain(guess.question)
    assert f"{second:.2f}" in plain(guess.reason)
    assert f"{second:.2f}" not in plain(guess.question) or first == second


def test_there_is_nothing_to_guess_about_a_word_of_only_one_sentence():
    comparison = Comparison(side("it was tired"), side("it was wide", name="The second sentence"))
    assert comparison.guess((0, 2)) is None
    assert comparison.guess(None) is None
    assert comparison.guess((0, 1)) is not None
