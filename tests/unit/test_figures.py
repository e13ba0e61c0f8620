"""Pictures as data: they contain their numbers, and format them for people."""

import base64
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from attention.figures import assets, colours
from attention.figures.bars import MAX_NAMED, parts_bars, spread_bars
from attention.figures.dials import Dials
from attention.figures.format import MAX_LABELLED, named, number, shades
from attention.figures.heads import MAX_SIDE, HeadThumb, shrink
from attention.figures.matrix import MAX_CELLS, Matrix
from tests.shades import shown
from tests.sights import SIGHTS, apart

floats = st.floats(-1e6, 1e6, width=32)
matrices = arrays.arrays(np.float32, arrays.array_shapes(min_dims=2, max_dims=2, max_side=12), elements=floats)


def matrix(values, **changes):
    values = np.asarray(values, np.float32)
    rows, columns = values.shape
    parts = {
        "name": "scores",
        "title": "S",
        "values": values,
        "row_labels": tuple(f"r{i}" for i in range(rows)),
        "column_labels": tuple(f"c{i}" for i in range(columns)),
        "row_axis": "queries",
        "column_axis": "keys",
        "palette": "signed",
        "alt": "Some scores.",
    }
    return Matrix(**parts | changes)


def decoded(payload, rows, columns):
    return np.frombuffer(base64.b64decode(payload["values"]), "<f4").reshape(rows, columns)


# ---------------------------------------------------------------------------------------- numbers


@given(floats, st.integers(0, 6))
def test_what_is_written_is_the_number_rounded(value, decimals):
    written = number(value, decimals)
    assert "-" not in written
    assert float(written.replace("−", "-")) == pytest.approx(value, abs=0.5 * 10**-decimals * 1.0001)
    if "−" in written:
        assert float(written.replace("−", "-")) < 0


# ---------------------------------------------------------------------------------------- matrices


@given(matrices)
def test_the_numbers_arrive_as_they_were_sent(values):
    # A view of another array, which lies in memory in another order.
    values = values.T
    payload = matrix(values).payload()
    assert np.array_equal(decoded(payload, *values.shape), values)
    assert (len(payload["rows"]), len(payload["columns"])) == values.shape
    assert payload["shape"] == f"{values.shape[0]}×{values.shape[1]}"


@given(matrices)
def test_the_range_is_that_of_the_numbers(values):
    low, high = (float(end.replace("−", "-")) for end in matrix(values).range_text.split(" … "))
    # Two decimals or, where these are all that there is, two digits.
    error = min(0.005, max(0.05 * float(np.abs(values).max()), 5e-7)) * 1.0001
    assert low == pytest.approx(float(values.min()), abs=error)
    assert high == pytest.approx(float(values.max()), abs=error)


def test_what_is_masked_is_in_no_range_and_has_no_colour():
    half = matrix([[1, -np.inf], [-2, 0]])
    assert half.range_text == "−2.00 … 1.00"
    assert half.colour_limit == 2
    hidden = matrix([[-np.inf, -np.inf]])
    assert hidden.range_text == "all masked"
    assert hidden.colour_limit == 1


def test_a_weight_that_the_mask_hides_arrives_as_masked_and_not_as_a_number():
    hidden = np.array([[False, True], [False, False]])
    half = matrix([[1, 0], [0.25, 0]], palette="weights", hidden=hidden)
    assert decoded(half.payload(), 2, 2).tolist() == [[1, -np.inf], [0.25, 0]]
    assert half.payload()["masked"] == "0"
    assert half.range_text == "0.00 … 1.00"
    assert matrix([[1, -np.inf]]).payload()["masked"] == "−∞"
    # What is not there at all stays so.
    nothing = matrix([[1, np.nan], [0, 0]], palette="weights", hidden=hidden)
    assert np.isnan(nothing.drawn[0, 1])


@given(matrices)
def test_where_the_numbers_can_be_read_the_full_colour_is_for_the_largest(values):
    assert matrix(values).colour_limit == (np.abs(values).max().astype(float) or 1)
    assert not matrix(values).beyond.any()


@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 60), st.integers(25, 60)), elements=floats))
def test_the_full_colour_is_for_the_largest_number_unless_a_few_are_far_larger_than_the_rest(values):
    data, sizes = matrix(values), np.abs(values).astype(float)
    limit, largest = data.colour_limit, sizes.max()
    assert limit > 0
    usual = [usual_of(sizes)]
    for lines in (sizes, sizes.T):
        sums = lines.sum(axis=1)
        largest_ones = np.flatnonzero((sums >= sums.max() * (1 - 1e-9)) & (4 <= len(lines) <= 50))
        usual += [usual_of(np.delete(lines, index, axis=0)) for index in largest_ones]
    # One of the lines with the same sum is left out, or none.
    possible = [each if 0 < 3 * each < largest else largest or 1 for each in usual]
    assert any(limit == pytest.approx(each, rel=1e-5) for each in possible)
    assert limit <= largest or not largest
    assert np.array_equal(data.beyond, np.abs(data.values) > limit)
    assert data.beyond.mean() <= 0.02 + 1 / sizes.size + max(
        (1 / len(lines) for lines in (sizes, sizes.T) if 4 <= len(lines) <= 50), default=0
    )


def usual_of(sizes):
    """The size that 98 of 100 lie below, between the numbers before and after that place."""
    ordered = np.sort(sizes.ravel())
    return np.interp(0.98 * (ordered.size - 1), np.arange(ordered.size), ordered)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_whole_row_or_column_of_outliers_does_not_bleach_a_picture_either(axis):
    rng = np.random.default_rng(0)
    values = rng.uniform(-2, 2, (30, 40)).astype(np.float32)
    values[(slice(None), 3) if axis else 3] = rng.uniform(400, 700, 30 if axis else 40)
    outliers = matrix(values)
    assert 1 < outliers.colour_limit < 2
    # They are marked, and with them at most the few that are larger than nearly all others.
    assert outliers.beyond.take(3, axis=axis).all()
    assert np.delete(outliers.beyond, 3, axis=axis).mean() <= 0.025
    # Two rows that are as large as one another, of which one is the sum, are no exception.
    values[(slice(None), 4) if axis else 4] = values.take(3, axis=axis)
    assert matrix(values).colour_limit == np.abs(values).max()
    # Of three, nobody knows which are usual.
    assert matrix(np.repeat([[1.0], [1.0], [100.0]], 40, axis=1)).colour_limit == 100


@pytest.mark.parametrize(("side", "has_numbers"), [(MAX_LABELLED, True), (MAX_LABELLED + 1, False)])
def test_numbers_are_in_the_cells_while_they_fit(side, has_numbers):
    assert matrix(np.zeros((2, side))).payload()["showNumbers"] == has_numbers
    assert matrix(np.zeros((side, 2))).payload()["showNumbers"] == has_numbers


def test_weights_have_one_scale_from_0_to_1_whatever_they_are():
    assert matrix([[0.1, 0.2]], palette="weights").colour_limit == 1
    assert matrix([[0.1, 0.2]], limit=13.4).colour_limit == 13.4


def test_where_heads_and_totals_are_parted_is_sent():
    payload = matrix([[1, 2], [3, 4]], block_width=2, has_total_row=True).payload()
    assert (payload["blockWidth"], payload["hasTotalRow"]) == (2, True)


# ------------------------------------------------------------------------------------------ shades


everything = st.floats(width=32, allow_infinity=False) | st.just(-np.inf)


@given(arrays.arrays(np.float32, st.integers(1, 40), elements=everything), st.booleans())
def test_a_shade_is_off_by_half_a_step_and_what_is_hidden_or_missing_stays_so(values, is_signed):
    finite = values[np.isfinite(values)]
    limit = float(np.abs(finite).max(initial=0)) or 1.0
    found = shown(shades(values, limit, is_signed=is_signed), limit, is_signed=is_signed)
    assert np.array_equal(np.isneginf(found), np.isneginf(values))
    assert np.array_equal(np.isnan(found), np.isnan(values))
    drawn = finite if is_signed else np.maximum(finite, 0)
    off = np.abs(found[np.isfinite(found)] / limit - drawn / limit)
    assert off.max(initial=0) <= 1 / (58 if is_signed else 96) + 1e-6


def test_nothing_is_drawn_of_zero_and_beyond_the_limit_the_colour_is_full():
    assert shown(shades(np.float32([0, -0.0]), 3, is_signed=True), 3, is_signed=True).tolist() == [0, 0]
    assert shown(shades(np.float32([0, -0.0]), 1, is_signed=False), 1, is_signed=False).tolist() == [0, 0]
    # Signed numbers beyond it are told apart from one that is just as large.
    about = shown(shades(np.float32([9, -9, 3, -3]), 3, is_signed=True), 3, is_signed=True)
    assert about.tolist() == pytest.approx([3 * 30 / 29, -3 * 30 / 29, 3, -3])
    assert shown(shades(np.float32([3e38]), 1e-38, is_signed=False), 1, is_signed=False).tolist() == [1]


LARGE = np.random.default_rng(0).normal(size=(4, MAX_CELLS // 4 + 1)).astype(np.float32)


def test_an_image_is_sent_in_shades_and_its_numbers_can_be_asked_for():
    large = matrix(LARGE, selected=(1, 2))
    payload = large.payload(lambda name: f"./at/{name}")
    assert "values" not in payload
    assert payload["numbers"] == {"id": large.fingerprint, "at": f"./at/{large.fingerprint}"}
    assert np.array_equal(np.frombuffer(large.numbers, "<f4").reshape(LARGE.shape), LARGE)
    assert numbers(payload["selectedValue"]).tolist() == [LARGE[1, 2]]
    drawn = shown(payload["shades"], payload["limit"], is_signed=True)
    np.testing.assert_allclose(drawn, LARGE.ravel(), atol=payload["limit"] / 58 + 1e-6)
    assert not payload["areFew"]
    # In a file, where nobody can be asked, they are there.
    assert np.array_equal(decoded(large.payload(), *LARGE.shape), LARGE)


@pytest.mark.parametrize("is_signed", [True, False])
def test_many_numbers_come_in_fewer_shades(is_signed):
    values = np.linspace(-1 if is_signed else 0, 1, 9_000, dtype=np.float32)
    found = shown(shades(values, 1, is_signed=is_signed), 1, is_signed=is_signed)
    assert np.abs(found - values).max() <= (1 / 14 + 1 / 58 if is_signed else 1 / 32 + 1e-6)
    assert len(np.unique(found)) == (15 if is_signed else 17)
    assert matrix(values.reshape(90, 100)).payload(str)["areFew"]


def test_a_matrix_whose_cells_are_drawn_one_by_one_is_sent_as_it_is():
    small = matrix(LARGE[:, :-1])
    assert small.values.size == MAX_CELLS
    assert small.payload(str) == small.payload()
    script = (assets._FOLDER / "matrix.js").read_text("utf-8")
    assert re.search(r"MAX_CELLS = (\d+);", script)[1] == str(MAX_CELLS)


def test_other_numbers_have_another_fingerprint_and_what_is_hidden_counts():
    hidden = np.zeros(LARGE.shape, bool)
    hidden[0, 0] = True
    changed = LARGE.copy()
    changed[-1, -1] = np.nextafter(changed[-1, -1], np.float32(9))
    names = [each.fingerprint for each in (matrix(LARGE), matrix(changed), matrix(LARGE, hidden=hidden))]
    assert len(set(names)) == 3
    assert matrix(LARGE.copy(), title="another").fingerprint == names[0]


def test_names_that_are_numbers_are_counted():
    assert (named(("0", "1")), named(("1", "2")), named(("0", "01")), named(())) == (2, ["1", "2"], ["0", "01"], 0)
    assert matrix([[1, 2]], column_labels=("0", "1")).payload()["columns"] == 2


# ------------------------------------------------------------------------------------------- heads


@given(st.integers(1, 300), st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_a_small_picture_keeps_the_highest_weight_and_never_grows_too_large(rows, columns, seed):
    weights = np.random.default_rng(seed).random((rows, columns), np.float32)
    small = shrink(weights)
    assert max(small.shape) <= MAX_SIDE
    assert small.max() == weights.max()
    if max(weights.shape) <= MAX_SIDE:
        assert small is weights


def test_a_small_picture_arrives_in_shades():
    weights = np.random.default_rng(0).random((5, 7)).astype(np.float32)
    payload = HeadThumb("Head 1", weights, "does nothing").payload()
    drawn = shown(payload["shades"], 1, is_signed=False)
    np.testing.assert_allclose(drawn, weights.ravel(), atol=1 / 96 + 1e-6)
    assert (payload["rows"], payload["columns"], payload["label"]) == (5, 7, "Head 1")
    assert payload["description"] == "does nothing"


# ------------------------------------------------------------------------------------------ charts


def numbers(written):
    return np.frombuffer(base64.b64decode(written), "<f4")


def test_one_bar_for_each_part_in_the_colour_of_its_sign():
    parts = np.array([1.5, -0.25, 0.0], np.float32)
    sent = parts_bars(["a", "b", "c"], parts, "parts").payload()
    (bars,) = sent["series"]
    assert list(numbers(bars["values"])) == [1.5, -0.25, 0.0]
    assert bars["ink"] == "signed"
    assert sent["labels"] == ["a", "b", "c"]


def test_so_many_bars_that_there_is_no_room_have_no_names_under_them():
    sent = [parts_bars(list(map(str, range(n))), np.ones(n), "parts").payload() for n in (MAX_NAMED, MAX_NAMED + 1)]
    assert [each["areNamed"] for each in sent] == [True, False]


def test_bars_say_how_often_each_score_occurs():
    bars = spread_bars(np.array([[0.0, 6.0]]), np.array([[0.0, 3.0]]))
    (_, _, before), (_, _, after) = bars.series
    assert (bars.labels[0], bars.labels[-1]) == ("scores near 0.10", "scores near 5.90")
    assert np.flatnonzero(before).tolist() == [0, 29]
    assert np.flatnonzero(after).tolist() == [0, 15]


# ------------------------------------------------------------------------------------------ colours


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("theme", "ground"), [("light", "#ffffff"), ("dark", "#0f1318")])
@pytest.mark.parametrize("sight", SIGHTS)
def test_signs_can_be_told_from_one_another_from_queries_and_from_weights(theme, ground, sight):
    scale = colours.SCALES[theme]
    weights, signs = scale["weights"], (scale["positive"], scale["negative"])
    assert min(contrast(colour, ground) for colour in scale.values()) >= 3
    assert apart(*signs, sight) >= 0.09
    assert min(apart(sign, other, sight) for sign in signs for other in (colours.QUERY, weights)) >= 0.07
    assert apart(scale["negative"], colours.QUERY, sight) >= 0.08


@pytest.mark.parametrize("ground", ["#ffffff", "#0f1318"])
@pytest.mark.parametrize("sight", SIGHTS)
def test_the_bars_above_and_below_zero_can_be_told_apart(ground, sight):
    assert min(contrast(colour, ground) for colour in (colours.POSITIVE, colours.NEGATIVE)) >= 3
    assert apart(colours.POSITIVE, colours.NEGATIVE, sight) >= 0.07
    assert apart(colours.NEGATIVE, colours.QUERY, sight) >= 0.07


# ----------------------------------------------------------------------------------------- dials


def dials(**changes):
    parts = {
        "title": "Pairs",
        "alt": "Some pairs.",
        "query_name": "query: cat",
        "key_name": "key: mat",
        "query": np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0]]),
        "key": np.array([[2.0, 0.0], [-4.0, 0.0], [0.0, 0.0]]),
        "turned": np.array([0.5, 0.25, 0.0]),
        "captions": (("one",), ("two",), ("none",)),
    }
    return Dials(**parts | changes)


def test_arrows_are_sent_as_angles_and_as_parts_of_the_longer_one():
    one, other, none = dials().payload()["dials"]
    assert one == {"angles": [0.9273, 0.0], "lengths": [1.0, 0.4], "turned": 0.5, "captions": ["one"]}
    assert other["angles"] == [1.5708, 3.1416]
    assert other["lengths"] == [0.5, 1.0]
    assert none["lengths"] == [0.0, 0.0]


# ------------------------------------------------------------------------------- counts and lines


def test_whole_numbers_are_written_without_decimals():
    found = matrix([[1, 17], [0, 3]], are_counts=True)
    assert found.range_text == "0 … 17"
    assert found.written(17) == "17"
    assert found.payload()["areCounts"] is True
    assert matrix([[1, 17], [0, 3]]).range_text == "0.00 … 17.00"


@pytest.mark.parametrize(
    ("values", "positive"), [([[0.0, 0.5]], True), ([[0.0, -0.5]], False), ([[-np.inf, 1.0]], True)]
)
def test_whether_there_is_something_negative_is_told(values, positive):
    matrix = Matrix("m", "M", np.array(values, np.float32), ("a",), ("b", "c"), "rows", "columns", "signed", "alt")
    assert matrix.payload()["isPositive"] is positive
