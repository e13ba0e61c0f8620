"""The map shows a model's structure, and leads only to places that exist."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.lesson.head_context import HeadContext
from attention.lesson.steps import STEPS, keys
from attention.page.content.on_map import on_map
from attention.page.content.pane import Pane
from attention.page.view import View
from tests import shades
from tests.loaded import load
from tests.unit.saying import says

TEXTS = {
    "translator-fr-en": "le chat noir dort",
    "vit-digits": "0019fb0000bg8e6002ga099001g4088004g4088001g51b3000ccaa00001ad300",
}


def map_of(model_id, layer=0, head=0, step="scores", part="encoder", **query):
    """The map of a model, as it stands beside a step."""
    trace = load(model_id).trace(TEXTS.get(model_id, "The cat sat on the mat"))
    view = View.of(model=model_id, step=step, **({} if part == "encoder" else {"part": part}), **query)
    scene = HeadContext(trace.part(part), layer, head, 1)
    (section,) = on_map(view, Pane(trace.info, is_other=False, scene=scene, whole=trace))
    (picture,) = section.blocks
    return section.key, picture.figure


# Of the unfolded layer, from its foot to its head: the norms and branches, and where norms stand.
BUILT = {
    "toy": ["self"],
    "minilm-l6": ["self", "after", "feed-forward", "after"],
    "smollm2-135m": ["before", "self", "before", "feed-forward"],
    "vit-digits": ["before", "self", "before", "feed-forward"],
}


@pytest.mark.parametrize("model_id", BUILT)
def test_the_unfolded_layer_is_built_as_the_model_is(model_id):
    (column,) = map_of(model_id)[1].columns
    found = []
    for box in column.boxes:
        found += ["before"] * bool(box.norm_before)
        found += ["self" if box.part else "feed-forward"]
        found += ["after"] * bool(box.norm_after)
    assert found == BUILT[model_id]
    info = load(model_id).info
    assert column.n_layers == info.n_layers
    assert len(column.boxes[0].head_labels) == info.n_heads


def test_norms_and_shared_heads_are_those_that_were_published():
    (column,) = map_of("smollm2-135m")[1].columns
    attention = column.boxes[0]
    assert attention.group_size == 3
    assert says(attention.head_labels[3], "4", "2")
    assert column.top[0] == "RMSNorm"


def test_every_step_is_on_the_map_once():
    for model_id in BUILT:
        (column,) = map_of(model_id)[1].columns
        dots = [*column.base_dots, *column.entry_dots]
        for box in column.boxes:
            dots += [*box.dots, *box.sum_dots]
        assert [dot.key for dot in dots] == list(keys())
        assert [dot.number for dot in dots] == list(range(1, len(STEPS) + 1))


@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
def test_an_encoder_and_a_decoder_are_two_columns_of_which_one_is_unfolded(part):
    figure = map_of("translator-fr-en", part=part)[1]
    encoder, decoder = figure.columns
    assert (encoder.layer is None, decoder.layer is None) == (part != "encoder", part == "encoder")
    assert (encoder.is_fed, decoder.is_fed) == (False, True)
    # A press on another layer stays with the attention that is looked at, where that column has it.
    assert (encoder.part, decoder.part) == ("encoder", "decoder" if part == "encoder" else part)
    boxes = encoder.boxes or decoder.boxes
    assert [box.part for box in boxes] == (["encoder", ""] if part == "encoder" else ["decoder", "cross", ""])
    assert [bool(box.dots) for box in boxes] == [box.part == part for box in boxes]
    assert [box.is_fed for box in boxes] == [box.part == "cross" for box in boxes]


@pytest.mark.parametrize("model_id", BUILT)
def test_what_is_read_is_drawn_in_patches_where_it_is_a_picture(model_id):
    (column,) = map_of(model_id)[1].payload()["columns"]
    if model_id != "vit-digits":
        assert column["picture"] is None
        return
    picture = column["picture"]
    assert (picture["side"], picture["across"]) == (8, 4)
    drawn = shades.shown(picture["shades"], 1, is_signed=False)
    levels = [int(character, 17) for character in TEXTS[model_id]]
    np.testing.assert_allclose(drawn, np.array(levels) / 16, atol=1e-6)
    # Few bytes, as it comes with every step.
    assert len(json.dumps(picture)) < 150


def test_during_a_guess_the_picture_does_not_tell_how_many_patches_there_are():
    trace = load("vit-digits").trace(TEXTS["vit-digits"])
    pane = Pane(trace.info, is_other=False, scene=HeadContext(trace, 0, 0, 1), whole=trace)
    (section,) = on_map(View.of(model="vit-digits", step="tokens"), pane, is_asked=True)
    assert section.blocks[0].figure.columns[0].picture is None


def test_the_map_says_where_one_is_and_can_be_folded():
    key, figure = map_of("minilm-l6", layer=2, head=8, step="softmax")
    assert key == "step_map"
    assert says(figure.place, "3", "6", "9", "12", "7", "Softmax")
    assert says(figure.here, "layer 3", "head 9", "step 7")
    key, figure = map_of("minilm-l6", map=False)
    assert (key, figure.is_open) == ("step_map_folded", False)


def test_a_press_leads_to_a_place_as_a_link_has_it():
    touch = map_of("translator-fr-en", part="cross")[1]
    assert touch.said("go", {"layer": 1}) == {"layer": "2"}
    assert touch.said("go", {"part": "encoder", "layer": 0}) == {"part": "encoder", "layer": "1"}
    assert touch.said("go", {"head": 3}) == {"head": "4"}
    assert touch.said("go", {"step": "mask"}) == {"step": "mask"}
    assert touch.said("open", False) == {"map": "0"}
    for value in ({"layer": 99}, {"head": -1}, {"step": "magic"}, {"part": "x"}, {"part": ["x"]}, {"text": "x"}, {}):
        assert touch.said("go", value) is None


def test_what_is_not_attention_leads_to_where_it_is_shown():
    touch = map_of("minilm-l6")[1]
    assert [touch.said("lead", part) for part in ("feed-forward", "output")] == [
        {"to": "feed-forward"},
        {"to": "output"},
    ]
    assert map_of("smollm2-135m")[1].said("lead", "output") == {"step": "heads", "next": "1"}
    for value in ("", "heads", 1, None, ["output"], {"to": "output"}):
        assert touch.said("lead", value) is None


@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists), act=st.text())
def test_what_is_no_place_leads_nowhere(value, act):
    touch = map_of("toy")[1]
    assert touch.said("go", {"step": value}) is None or value in keys()
    assert touch.said("go", value) is None
    assert touch.said(act, {"layer": 0}) is None or act == "go"


def test_a_small_picture_of_each_head_has_its_weights_in_few_shades():
    figure = map_of("smollm2-135m", layer=13)[1]
    heads = figure.payload()["heads"]
    trace = load("smollm2-135m").trace("The cat sat on the mat")
    drawn = shades.shown(heads["shades"], 1, is_signed=False).reshape(-1, heads["rows"], heads["columns"])
    n = len(trace.tokens)
    assert drawn.shape == (9, n, n) == (len(heads["descriptions"]), n, n)
    for head, picture in enumerate(drawn):
        weights = trace.layers[13].head(head).weights
        seen = np.tri(n, dtype=bool)
        # What the mask hides has no shade; of the rest, each is off by half a step at most.
        assert np.array_equal(np.isfinite(picture), seen)
        np.testing.assert_allclose(picture[seen], weights[seen], atol=1 / 32 + 1e-6)
    # A long text has pictures no larger.
    long = Pane(trace.info, is_other=False, scene=HeadContext(load("toy").trace("the cat " * 40), 0, 0, 1))
    whole = long.scene.trace
    (section,) = on_map(View.of(model="toy", step="scores"), replace(long, whole=whole))
    assert section.blocks[0].figure.payload()["heads"]["rows"] <= 24
