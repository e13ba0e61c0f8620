"""The atlas as data: thumbnails of all heads hold the weights, in the requested order."""

import base64
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core.steps import softmax
from attention.figures.atlas import LIGHT, MAX_SIDE, Atlas, Tiles, by_layer

# What 12 layers of 12 heads may take on their way to the browser: tokens, bytes, and the spread of the
# scores, from which weights come that are broad or sharp. Of a long text, the sharp ones take most.
MAX_BYTES = [(64, 500_000, 1.0), (64, 500_000, 2.0), (64, 500_000, 4.0), (512, 1_500_000, 4.0)]


def random_weights(n_tokens, *, layers=12, heads=12, spread=2.0, seed=0):
    random = np.random.default_rng(seed)
    shape = (heads, n_tokens, n_tokens)
    return [softmax(random.standard_normal(shape, np.float32) * np.float32(spread)) for _ in range(layers)]


def atlas(tiles, **changes):
    parts = {"groups": by_layer(tiles), "title": "All heads", "alt": "All heads."}
    return Atlas(tiles, **parts | changes)


def decoded(payload):
    raw = zlib.decompress(base64.b64decode(payload["tiles"]))
    return np.frombuffer(raw, np.uint8).reshape(-1, payload["rows"], payload["columns"])


def pooled(head, block):
    """The slow and obvious way."""
    rows, columns = head.shape
    return np.array(
        [[head[r : r + block, c : c + block].max() for c in range(0, columns, block)] for r in range(0, rows, block)]
    )


# --------------------------------------------------------------------------------------- pictures


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_the_weights_arrive_as_the_nearest_of_255_steps(layers, heads, n_tokens, seed):
    weights = random_weights(n_tokens, layers=layers, heads=heads, seed=seed)
    payload = atlas(Tiles.of(weights)).payload()
    pictures = decoded(payload)
    assert pictures.shape == (layers * heads, n_tokens, n_tokens)
    assert np.abs((pictures - 1.0) / 254 - np.concatenate(weights)).max() <= 0.5 / 254 + 1e-6
    assert payload["block"] == [1, 1]


def test_what_the_mask_hides_is_told_from_a_weight_of_nothing():
    weights = np.array([[[1.0, -np.inf, -np.inf], [1.0, 0.0, -np.inf], [1e-9, 0.5, 0.5]]], np.float32)
    (picture,) = decoded(atlas(Tiles.of([weights])).payload())
    assert picture.tolist() == [[255, 0, 0], [255, 1, 0], [1, 128, 128]]


def test_a_block_of_a_long_text_is_hidden_only_if_all_of_it_is():
    weights = np.where(np.tri(100, dtype=bool), np.float32(0), np.float32(-np.inf))[None]
    (picture,) = decoded(atlas(Tiles.of([weights])).payload())
    assert np.array_equal(picture == 0, ~np.tri(50, dtype=bool))


@pytest.mark.parametrize(
    ("n_tokens", "block", "side"), [(64, 1, 64), (65, 2, 33), (100, 2, 50), (129, 3, 43), (512, 8, 64)]
)
def test_a_long_text_is_pooled_and_says_by_how_much(n_tokens, block, side):
    weights = random_weights(n_tokens, layers=1, heads=2)
    tiles = Tiles.of(weights)
    assert (tiles.rows, tiles.columns, tiles.block) == (side, side, (block, block))
    assert side <= MAX_SIDE
    for picture, head in zip(decoded(atlas(tiles).payload()), weights[0], strict=True):
        assert np.array_equal(picture, 1 + np.rint(pooled(head, block) * np.float32(254)))


# ---------------------------------------------------------------------------------- the first look


def at(name):
    return f"./at/{name}"


def test_small_pictures_come_whole_at_once():
    figure = atlas(Tiles.of(random_weights(5, layers=2, heads=4)))
    assert figure.payload(at) == figure.payload()
    assert figure.payload(at)["numbers"] is None


@pytest.mark.parametrize(
    ("layers", "n_tokens", "spread"), [(6, 14, 2.0), (6, 20, 2.0), (12, 64, 4.0), (30, 40, 1.0), (12, 512, 4.0)]
)
def test_large_pictures_are_sketched_with_the_largest_weight_of_each_pixel(layers, n_tokens, spread):
    figure = atlas(Tiles.of(random_weights(n_tokens, layers=layers, spread=spread)))
    whole, sketch = figure.payload(), figure.payload(at)
    assert sketch["numbers"] == {"id": figure.fingerprint, "at": at(figure.fingerprint)}
    assert zlib.decompress(figure.numbers) == zlib.decompress(base64.b64decode(whole["tiles"]))
    assert sketch["whole"] == {name: whole[name] for name in ("rows", "columns", "block")}
    assert len(base64.b64decode(sketch["tiles"])) <= LIGHT
    side = sketch["block"][0] // whole["block"][0]
    assert sketch["block"] == [side * n for n in whole["block"]]
    for drawn, head in zip(decoded(sketch), decoded(whole), strict=True):
        most = (pooled(head, side) - 1.0) / 254
        assert np.abs((drawn - 1.0) / 254 - most).max() <= 1 / 30 + 1 / 254


def test_a_sketch_hides_what_the_mask_hides_and_nothing_else():
    weights = [np.where(np.tri(40, dtype=bool), each, -np.inf) for each in random_weights(40, layers=2, heads=8)]
    sketch, whole = (decoded(atlas(Tiles.of(weights)).payload(ask)) for ask in (at, None))
    side = whole.shape[1] // sketch.shape[1]
    assert np.array_equal(sketch == 0, np.array([pooled(head, side) == 0 for head in whole]))


def test_heads_may_look_at_other_words_than_their_own():
    tiles = Tiles.of([np.full((2, 3, 100), 0.01, np.float32)])
    assert (tiles.rows, tiles.columns, tiles.block) == (3, 50, (1, 2))


@pytest.mark.parametrize(("n_tokens", "max_bytes", "spread"), MAX_BYTES)
def test_144_heads_are_small_enough_to_send(n_tokens, max_bytes, spread):
    tiles = Tiles.of(random_weights(n_tokens, spread=spread))
    described = {(layer, head): "attends to the previous token" for layer in range(12) for head in range(12)}
    payload = atlas(tiles, descriptions=described, badges=dict.fromkeys(described, "0.42")).payload()
    assert len(json.dumps(payload)) <= max_bytes


# ------------------------------------------------------------------------------------------ order


@given(st.data())
def test_any_order_leads_each_head_to_its_own_picture(data):
    weights = random_weights(5, layers=3, heads=4)
    tiles = Tiles.of(weights)
    heads = data.draw(st.permutations([head for _, heads in by_layer(tiles) for head in heads]))
    cut = data.draw(st.integers(0, len(heads)))
    groups = [("some", heads[:cut]), ("others", heads[cut:])]
    payload = atlas(tiles, groups=groups).payload()
    pictures = decoded(payload)
    assert [group["title"] for group in payload["groups"]] == ["some", "others"]
    drawn = [head for group in payload["groups"] for head in group["heads"]]
    assert [(head["layer"], head["head"]) for head in drawn] == heads
    for head in drawn:
        wanted = 1 + np.rint(weights[head["layer"]][head["head"]] * np.float32(254))
        assert np.array_equal(pictures[head["tile"]], wanted)


def test_the_order_changes_nothing_that_must_be_unpacked_again():
    tiles = Tiles.of(random_weights(6, layers=2, heads=2))
    others = atlas(tiles, groups=[("all", [(1, 1), (0, 0)])]).payload()
    assert others["tiles"] == atlas(tiles).payload()["tiles"]


def test_layers_may_have_different_numbers_of_heads():
    weights = [random_weights(4, layers=1, heads=n, seed=n)[0] for n in (1, 3)]
    tiles = Tiles.of(weights)
    payload = atlas(tiles, groups=[("last", [(1, 2)])]).payload()
    assert payload["groups"][0]["heads"][0]["tile"] == 3
    assert np.array_equal(decoded(payload)[3], 1 + np.rint(weights[1][2] * np.float32(254)))


@pytest.mark.parametrize(
    ("groups", "is_table"),
    [
        ([("Layer 2", [(1, 0), (1, 1)]), ("Layer 1", [(0, 0), (0, 1)])], True),
        ([("Layer 1", [(0, 0)])], True),
        ([("Layer 1", [(0, 1), (0, 0)])], False),
        ([("Layer 1", [(0, 1)])], False),
        ([("both", [(0, 0), (1, 1)])], False),
        ([("none", [])], False),
    ],
)
def test_only_rows_of_heads_under_each_other_make_a_table(groups, is_table):
    tiles = Tiles.of(random_weights(3, layers=2, heads=2))
    assert atlas(tiles, groups=groups).is_table == is_table


def test_what_heads_do_their_badges_and_the_current_one_are_sent():
    tiles = Tiles.of(random_weights(3, layers=1, heads=2))
    payload = atlas(tiles, descriptions={(0, 1): "<b>"}, badges={(0, 0): "0.42"}, badge_name="entropy").payload()
    one, other = payload["groups"][0]["heads"]
    assert one == {"layer": 0, "head": 0, "tile": 0, "description": "", "badge": "0.42"}
    assert other == {"layer": 0, "head": 1, "tile": 1, "description": "<b>", "badge": ""}
    assert (payload["badgeName"], payload["current"]) == ("entropy", None)
    assert atlas(tiles, current=(0, 1)).payload()["current"] == [0, 1]
