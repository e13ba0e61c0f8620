"""Presses in a picture: whatever a browser sends is an existing choice, as in a link, or ignored."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core.trace import Token
from attention.figures import charts
from attention.figures.atlas import MAX_ZOOM, Atlas, Tiles, by_layer
from attention.figures.buttons import Button, Buttons
from attention.figures.head_view import THRESHOLDS, HeadLines, HeadView
from attention.figures.heads import HeadGrid, HeadThumb
from attention.figures.matrix import Matrix
from attention.figures.neuron import Neuron
from attention.figures.order import OrderStrip
from attention.figures.overlay import HeadOverlay, Overlay
from attention.figures.tokens import TokenStrip
from attention.models import list_models
from attention.page.labs.positions import ORDER
from attention.page.parameters import Context
from attention.page.settings import CELL, HEAD, LAYER, LEAST, ON, PINS, TEXT, WORD, ZOOM

NAMED = {
    "cell": CELL,
    "row": WORD,
    "word": WORD,
    "layer": LAYER,
    "head": HEAD,
    "pins": PINS,
    "zoom": ZOOM,
    "on": ON,
    "least": LEAST,
    "text": TEXT,
    "order": ORDER,
}
CONTEXT = Context({info.model_id: info for info in list_models()}, "minilm-l6")
WEIGHTS = np.full((3, 3), 1 / 3, np.float32)
LABELS = ("a", "b", "c")
VECTORS = np.zeros((3, 4), np.float32)
ROW = np.zeros(3, np.float32)

MATRIX = Matrix("scores", "S", WEIGHTS, LABELS, LABELS, "rows", "columns", "weights", "A picture.")
TILES = Tiles.of([np.stack([WEIGHTS] * 2), np.stack([WEIGHTS] * 5)])
ATLAS = Atlas(TILES, by_layer(TILES), "Heads", "All heads.")
LINKED = replace(ATLAS, zoom=100)
LINES = HeadView(
    "Layer 1",
    LABELS,
    LABELS,
    (HeadLines("Head 1", WEIGHTS), HeadLines("Head 2", WEIGHTS)),
    "Lines.",
    row_start=4,
    column_start=7,
)
NEURON = Neuron("N", "A picture.", LABELS, 0, 0, VECTORS[0], VECTORS, VECTORS, ROW, ROW, ROW, "1")
OVERLAY = Overlay("L", "a", np.zeros((2, 2)), ("p",), (HeadOverlay("Head 1", np.ones(1), 0.0, ""),), 0, (5,))
CHART = charts.Chart(charts.layers(np.zeros((2, 4)), "Heads", "", (0, 0), is_share=True))
GRID = HeadGrid((HeadThumb("Head 1", WEIGHTS), HeadThumb("Head 2", WEIGHTS)), 0)
TOKENS = TokenStrip(tuple(Token(text, text, index, index, index) for index, text in enumerate(LABELS)), 1)
STRIP = OrderStrip("words", LABELS, (1, 2, 3), (0, 1, 2))
BUTTONS = Buttons("next", (Button("on", parts={"text": "a b"}), Button("off")))

# A press that there is, and what it sets.
PRESSES = [
    (MATRIX, "select", {"matrix": "scores", "row": 2, "column": 1}, {"cell": "scores-2-1", "row": "2"}),
    (ATLAS, "choose", {"layer": 1, "head": 4}, {"layer": "2", "head": "5"}),
    (LINKED, "zoom", 225, {"zoom": "225"}),
    (LINKED, "zoom", MAX_ZOOM, {"zoom": str(MAX_ZOOM)}),
    (CHART, "choose", {"layer": 1, "head": 3}, {"layer": "2", "head": "4"}),
    (LINES, "pin", {"side": "query", "positions": [2, 0, 2]}, {"pins": "query-4-6"}),
    (LINES, "pin", {"side": "key", "positions": [1]}, {"pins": "key-8"}),
    (LINES, "pin", {"side": "key", "positions": []}, {"pins": None}),
    (LINES, "heads", [1], {"on": "2"}),
    (LINES, "heads", [], {"on": ""}),
    (LINES, "threshold", 7, {"least": "0.1"}),
    (NEURON, "choose", {"query": 2, "key": 0}, {"cell": "neuron-2-0", "word": "2"}),
    (OVERLAY, "ask", 0, {"word": "5"}),
    (OVERLAY, "choose", 0, {"head": "1"}),
    (GRID, "choose", 1, {"head": "2"}),
    (TOKENS, "choose", 2, {"word": "2"}),
    (BUTTONS, "press", 0, {"text": "a b"}),
    (STRIP, "arrange", [2, 0, 1], {"order": "3-1-2"}),
    (STRIP, "arrange", [0, 1, 2], {"order": ""}),
]
# Presses that there are not: of another matrix, beside the picture, of something that is off, of another kind.
NONE = [
    (MATRIX, "select", {"matrix": "weights", "row": 0, "column": 0}),
    (MATRIX, "select", {"matrix": "scores", "row": 3, "column": 0}),
    (MATRIX, "select", {"matrix": "scores", "row": True, "column": 0}),
    (MATRIX, "choose", {"matrix": "scores", "row": 0, "column": 0}),
    (ATLAS, "choose", {"layer": 0, "head": 2}),
    (ATLAS, "zoom", 225),
    (LINKED, "zoom", 99),
    (LINKED, "zoom", 150.5),
    (CHART, "choose", {"layer": 0, "head": 4}),
    (LINES, "pin", {"side": "both", "positions": [0]}),
    (LINES, "pin", {"side": "key", "positions": [3]}),
    (LINES, "heads", [2]),
    (LINES, "threshold", len(THRESHOLDS)),
    (NEURON, "choose", {"query": 3, "key": 0}),
    (OVERLAY, "ask", 1),
    (GRID, "choose", -1),
    (TOKENS, "choose", 3),
    (BUTTONS, "press", 1),
    (STRIP, "arrange", [0, 1, 1]),
    (STRIP, "arrange", [0, 1, True]),
]


@pytest.mark.parametrize(("figure", "act", "value", "parts"), PRESSES)
def test_a_press_sets_what_was_pressed(figure, act, value, parts):
    assert figure.said(act, value) == parts
    for name, written in parts.items():
        if written is not None:
            parameter = NAMED[name]
            assert parameter.kind.write(parameter.kind.read(written, CONTEXT)) == written


@pytest.mark.parametrize(("figure", "act", "value"), NONE)
def test_what_there_is_not_sets_nothing(figure, act, value):
    assert figure.said(act, value) is None


KEYS = ["matrix", "row", "column", "layer", "head", "side", "positions", "query", "key"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 12) | st.floats() | st.sampled_from(["scores", "query", "key", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=6,
)
FIGURES = [MATRIX, ATLAS, CHART, LINES, NEURON, OVERLAY, GRID, TOKENS, BUTTONS, STRIP]


@given(st.sampled_from(FIGURES), st.data(), VALUES)
def test_whatever_a_browser_sends_is_a_choice_that_a_link_has_or_none(figure, data, value):
    act = data.draw(st.sampled_from([*figure.acts, "other", ""]))
    for name, written in (figure.said(act, value) or {}).items():
        if written is not None:
            NAMED[name].kind.read(written, CONTEXT)
