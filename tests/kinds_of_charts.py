"""One chart of every kind, made again at every call."""

import numpy as np

from attention.figures import charts
from attention.figures.charts import Curve
from attention.figures.plane import Chain, plane_of_arrows

__all__ = ["HOSTILE", "KINDS"]

HOSTILE = "<script>alert(1)</script>"
BEFORE, AFTER = np.array([0.5, 0.25, 0.125, 0.0625]), np.array([0.1, 0.2, 0.3, 0.4])
LAYERS = np.linspace(0, 1, 12).reshape(3, 4)
NAMES = ("the", "cat", "cat", HOSTILE)
CHAIN = Chain("cat", np.array([[0.0, 0.0], [2.0, 1.0], [3.0, 3.0]]), ("one", "two"), ("sent", "other"), ("a", "b"))
# Arrows so short that their names have no space beside one another.
CLOSE = Chain(
    "dog",
    np.array([[0.0, 0.0], [9.0, 9.0], [9.1, 9.1], [9.2, 9.2]]),
    ("far", "near", "next"),
    ("sent",) * 3,
    ("a",) * 3,
)
AXES = ("60% of the variance", "20% of the variance")

KINDS = {
    "layers": lambda: charts.layers(LAYERS, "Heads", "share", (1, 2), is_share=True),
    "by_layer": lambda: charts.by_layer(
        [("raw", BEFORE), ("rolled", AFTER)], "By layer", "Ranks.", (-1, 1), [("flow", 2, 0.5)]
    ),
    "growth": lambda: charts.growth((1, 8, 64, 512), BEFORE, AFTER, "Growth", "Growth.", "d", 2),
    "spread": lambda: charts.spread(100 * LAYERS, 10 * LAYERS, "dot products"),
    "shares": lambda: charts.shares(BEFORE, AFTER, NAMES, "Shares", "Shares of weight."),
    "compared": lambda: charts.compared(
        tuple(f"token {n}" for n in range(24)), ("one", np.ones(24)), ("two", np.ones(24)), "", ""
    ),
    "portions": lambda: charts.portions(tuple("1234"), BEFORE, "Portions", "Portions.", "head"),
    "lengths": lambda: charts.lengths(("a long name of many letters", *NAMES[1:]), 1e3 * BEFORE, "Lengths"),
    "lines": lambda: charts.lines([("sine", np.sin(np.arange(64.0)))], "A wave", "A wave.", "position", current=7),
    "stages": lambda: charts.stages(
        [Curve("training", np.arange(4), BEFORE), Curve("held out", np.arange(4), AFTER, is_dashed=True)],
        *("Loss", "The loss."),
        n_steps=400,
        limits=(0, 1),
        axis="steps",
    ),
    "spots": lambda: charts.spots(
        ("this head", "this layer", "all layers"), LAYERS, LAYERS.mean(axis=1), "how far it moves"
    ),
    "plane": lambda: plane_of_arrows(
        [CHAIN], {"sent": "sent by a token", "other": "all else"}, "The way", "Arrows.", AXES
    ),
    "close plane": lambda: plane_of_arrows([CLOSE], {"sent": "sent by a token"}, "The way", "Arrows.", AXES),
}
