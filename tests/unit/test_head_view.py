"""The head view as data: weights arrive as displayed, and what cannot be drawn is refused."""

import base64
import json
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from attention.figures.head_view import (
    HEAD_COLOURS,
    MAX_HEADS,
    RESOLUTION,
    THRESHOLDS,
    HeadLines,
    HeadView,
    quantise,
)
from tests.sights import apart, linear

shares = st.floats(0, 1, width=32)
matrices = arrays.arrays(np.float32, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=shares)


def view(*weights, **changes):
    rows, columns = weights[0].shape
    parts = {
        "title": "Layer 1",
        "row_labels": tuple(f"r{i}" for i in range(rows)),
        "column_labels": tuple(f"c{i}" for i in range(columns)),
        "heads": tuple(HeadLines(f"Head {i + 1}", each, i % MAX_HEADS) for i, each in enumerate(weights)),
        "alt": "Some weights.",
    }
    return HeadView(**parts | changes)


def decoded(payload):
    shape = (len(payload["heads"]), len(payload["rows"]), len(payload["columns"]))
    return np.frombuffer(base64.b64decode(payload["values"]), "<u2").reshape(shape) / 65535


def softmaxed(seed, *shape):
    scores = np.random.default_rng(seed).normal(size=shape) * 2
    raised = np.exp(scores)
    return (raised / raised.sum(-1, keepdims=True)).astype(np.float32)


# ---------------------------------------------------------------------------------- the first look


def at(name):
    return f"./at/{name}"


def test_of_many_weights_those_of_the_heads_that_are_on_come_first():
    weights = softmaxed(0, 4, 30, 30)
    figure = view(*weights, shown=(2, 0))
    whole, first = figure.payload(), figure.payload(at)
    assert (whole["held"], whole["numbers"]) == (None, None)
    assert first["held"] == first["shown"] == [0, 2]
    assert first["numbers"] == {"id": figure.fingerprint, "at": at(figure.fingerprint)}
    come = np.frombuffer(base64.b64decode(first["values"]), "<u2").reshape(2, 30, 30)
    every = np.frombuffer(figure.numbers, "<u2").reshape(weights.shape)
    assert np.array_equal(come, every[[0, 2]])
    assert np.array_equal(every / 65535, decoded(whole))


def test_which_heads_are_on_is_none_of_the_numbers_and_a_weight_is():
    weights = softmaxed(0, 4, 30, 30)
    other = softmaxed(1, 4, 30, 30)
    assert view(*weights, shown=(1,)).fingerprint == view(*weights, shown=(2, 3)).fingerprint
    assert view(*weights).fingerprint != view(*other).fingerprint


@pytest.mark.parametrize(("n_tokens", "shown"), [(5, (0,)), (40, None), (40, (0, 1, 2, 3))])
def test_few_weights_come_all_at_once_and_so_do_those_of_heads_that_are_all_on(n_tokens, shown):
    figure = view(*softmaxed(0, 4, n_tokens, n_tokens), shown=shown)
    assert figure.payload(at) == figure.payload()


# ------------------------------------------------------------------------------------------ weights


@given(matrices, st.integers(1, 4))
def test_weights_arrive_within_the_resolution(weights, n_heads):
    sent = [weights * np.float32(share) for share in np.linspace(1, 0.3, n_heads)]
    arrived = decoded(view(*sent).payload())
    assert np.abs(arrived - np.stack(sent)).max() < RESOLUTION


def written(value, decimals):
    """A number as JavaScript's toFixed writes it: exactly, and what lies in the middle goes up."""
    return str(Decimal(float(value)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


@pytest.mark.parametrize("decimals", [2, 3])
@given(st.one_of(shares, st.integers(0, 1000).map(lambda i: i / 1000), st.integers(1, 600).map(lambda i: 1 / i)))
def test_what_is_written_of_a_weight_is_what_the_weight_itself_would_be(decimals, weight):
    (arrived,) = quantise(np.array([weight], np.float32)) / 65535
    assert written(arrived, decimals) == written(np.float32(weight), decimals)


def test_all_weights_near_a_border_are_written_true():
    borders = np.arange(1, 2000, 2) / 2000
    near = np.concatenate([borders + shift for shift in (-9e-6, -7e-7, 7e-7, 9e-6)])
    arrived = quantise(near) / 65535
    for decimals in (2, 3):
        assert [written(value, decimals) for value in arrived] == [written(value, decimals) for value in near]


def test_nothing_and_all_arrive_exactly():
    weights = np.array([[0, 1], [1 + 1e-6, -1e-7]], np.float32)
    assert decoded(view(weights).payload()).tolist() == [[[0, 1], [1, 0]]]


def test_a_view_of_another_array_arrives_in_its_own_order():
    weights = softmaxed(0, 3, 5)
    assert np.abs(decoded(view(weights.T).payload())[0] - weights.T).max() < RESOLUTION


# -------------------------------------------------------------------------------------------- sizes


def test_one_layer_of_200_tokens_stays_under_a_twentieth_of_what_others_need():
    assert len(json.dumps(view(*softmaxed(0, 12, 200, 200)).payload())) < 26.5e6 / 20


# ------------------------------------------------------------------------------------------ what is


def test_marks_from_a_link_to_another_sentence_are_left_out():
    weights = softmaxed(0, 1, 3, 2)
    payload = view(*weights, shown=(0, 5), pinned=("query", (-1, 2, 3)), row_breaks=(7,)).payload()
    assert (payload["shown"], payload["pinned"]["positions"], payload["rowBreaks"]) == ([0], [2], [])
    assert view(*weights, pinned=("key", (2,))).payload()["pinned"] == {"side": "key", "positions": []}
    assert view(*weights).payload()["pinned"] is None


@pytest.mark.parametrize("n_columns", [1, 12, 64, 128, 300, 512])
def test_weights_that_are_all_alike_have_lines_by_default(n_columns):
    payload = view(np.full((2, n_columns), 1 / n_columns)).payload()
    assert THRESHOLDS[payload["threshold"]] < 1 / n_columns
    # Small weights, of which there are most, are left out at first.
    assert THRESHOLDS[payload["threshold"]] <= 0.1


@given(st.floats(0, 2))
def test_a_threshold_is_never_higher_than_what_was_asked_for(wanted):
    index = view(np.eye(2), threshold=wanted).payload()["threshold"]
    assert THRESHOLDS[index] <= wanted
    assert index + 1 == len(THRESHOLDS) or THRESHOLDS[index + 1] > wanted


# ------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize("number", [-0.01, 1.01, np.nan, np.inf])
def test_what_is_no_weight_is_refused(number):
    with pytest.raises(ValueError, match=r"0 and 1.*'Head 1'"):
        view(np.array([[number, 0.5]]))


# ------------------------------------------------------------------------------------------ colours


@pytest.mark.parametrize(("theme", "ground"), [(0, "#ffffff"), (1, "#0f1318")])
def test_every_head_can_be_seen_on_the_page(theme, ground):
    for colours in HEAD_COLOURS:
        low, high = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (colours[theme], ground))
        assert (high + 0.05) / (low + 0.05) >= 3


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("sight", "least"), [("all cones", 0.1), ("no long", 0.07), ("no middle", 0.07)])
def test_no_two_heads_look_alike(theme, sight, least):
    seen = [colours[theme] for colours in HEAD_COLOURS]
    assert min(apart(one, other, sight) for one, other in combinations(seen, 2)) >= least


# ------------------------------------------------------------------------------ what a browser says


def test_what_the_mask_hides_travels_as_bits():
    weights = np.tri(5, dtype=np.float32) / np.arange(1, 6, dtype=np.float32)[:, None]
    hidden = ~np.tri(5, dtype=bool)
    sent = view(weights, hidden=hidden).payload()["hidden"]
    bits = np.unpackbits(np.frombuffer(base64.b64decode(sent), np.uint8))[:25].reshape(5, 5)
    assert np.array_equal(bits == 1, hidden)
    assert view(weights).payload()["hidden"] is None
