"""The server's cost of the atlas of all heads."""

from __future__ import annotations

import time

import numpy as np

from attention.core.steps import softmax
from attention.figures.atlas import Atlas, Tiles, by_layer
from tests.bench.report import undisturbed

N_LAYERS, N_HEADS, N_TOKENS = 12, 12, 64
MAX_MS = 60
N_ROUNDS = 5


def test_144_heads_are_quick_to_make(report):
    random = np.random.default_rng(0)
    shape = (N_HEADS, N_TOKENS, N_TOKENS)
    weights = [softmax(2 * random.standard_normal(shape, np.float32)) for _ in range(N_LAYERS)]
    seconds = []
    with undisturbed():
        for _ in range(N_ROUNDS):
            start = time.process_time()
            tiles = Tiles.of(weights)
            Atlas(tiles, groups=by_layer(tiles), title="All heads", alt="All heads.").payload()
            seconds.append(time.process_time() - start)
    what = f"{N_LAYERS * N_HEADS} pictures of {N_TOKENS} tokens, made: processor time"
    report.compare("All heads", what, 1000 * min(seconds), MAX_MS, " ms", 1)
