"""The atlas and the lines of one layer, compared with BertViz on the same random weights in the same browser."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, sync_playwright

from attention.core.steps import softmax
from attention.figures.atlas import Atlas, Tiles, by_layer
from attention.figures.head_view import HeadLines, HeadView
from attention.page.figure_files import figure_html
from tests.bench import peer
from tests.bench.report import kib, ms
from tests.browser.chromium import launch_options

N_LAYERS, N_HEADS = 12, 12
N_TOKENS, N_MANY = 64, 512
N_RUNS = 3
PATIENCE = 120_000
# Targets relative to BertViz: time and bytes.
ATLAS, LINES = (1 / 10, 1 / 50), (1 / 2, 1 / 20)
MAX_SECONDS_MANY, MAX_MIB_MANY = 3, 4

# When everything is drawn and shown: every line of theirs, every pixel of ours.
THEIR_LINES = "count => document.querySelectorAll('svg line').length >= count"
OUR_ATLAS = "() => document.querySelector('[data-picture]')?.shadowRoot?.querySelector('.atlas')?.dataset.milliseconds"
OUR_LINES = (
    "() => document.querySelector('[data-picture]')?.shadowRoot?.querySelector('.root :is(canvas, svg)')?.clientHeight"
)
SHOWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"


@pytest.fixture(scope="module")
def page():
    with sync_playwright() as driver:
        browser = driver.chromium.launch(**launch_options())
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        yield page
        browser.close()


def _weights(n_tokens: int) -> np.ndarray:
    scores = np.random.default_rng(0).normal(scale=2, size=(N_LAYERS, N_HEADS, n_tokens, n_tokens))
    return softmax(scores.astype(np.float32))


def _atlas(weights: np.ndarray) -> str:
    tiles = Tiles.of(list(weights))
    title = f"{N_LAYERS * N_HEADS} heads"
    return figure_html(Atlas(tiles, by_layer(tiles), title, title, (0, 0)), title)


def _lines(weights: np.ndarray) -> str:
    labels = tuple(f"word{index}" for index in range(weights.shape[-1]))
    heads = tuple(HeadLines(f"Head {index + 1}", head, index) for index, head in enumerate(weights[0]))
    view = HeadView("Layer 1", labels, labels, heads, "Lines", shown=tuple(range(len(heads))))
    return figure_html(view, "Layer 1")


def _drawn_after(page: Page, file: Path, is_drawn: str, argument: int | None = None) -> float:
    """Return the median time in seconds from opening a page until the browser has shown all of it."""
    seconds = []
    for _ in range(N_RUNS):
        page.goto("about:blank")
        page.goto(file.as_uri(), wait_until="commit")
        page.wait_for_function(is_drawn, arg=argument, timeout=PATIENCE, polling="raf")
        seconds.append(page.evaluate(SHOWN) / 1000)
    return statistics.median(seconds)


def test_beside_bertviz(report, page, tmp_path):
    reason = peer.install()
    if reason is not None:
        report.add("All heads", f"beside BertViz {peer.VERSION}: not measured", reason)
        pytest.skip(reason)
    weights = _weights(N_TOKENS)
    np.save(tmp_path / "weights.npy", weights)
    theirs = peer.pages(tmp_path / "weights.npy", tmp_path)
    n_lines = {"model_view": weights.size, "head_view": weights[0].size}
    for name, ours, is_drawn, (of_time, of_bytes) in (
        ("model_view", _atlas(weights), OUR_ATLAS, ATLAS),
        ("head_view", _lines(weights), OUR_LINES, LINES),
    ):
        file = tmp_path / f"our_{name}.html"
        file.write_text(ours, "utf-8")
        time_theirs = _drawn_after(page, theirs[name], THEIR_LINES, n_lines[name])
        time_ours = _drawn_after(page, file, is_drawn)
        size_theirs, size_ours = theirs[name].stat().st_size, file.stat().st_size
        what = f"{'atlas ÷ model view' if name == 'model_view' else 'lines ÷ head view'} of BertViz, {N_TOKENS} tokens"
        report.compare("All heads", f"{what}: time", time_ours / time_theirs, of_time, " ×", 3)
        report.add("All heads", "  until drawn: ours, and theirs", f"{ms(time_ours)}, {ms(time_theirs)}")
        report.compare("All heads", f"{what}: bytes", size_ours / size_theirs, of_bytes, " ×", 3)
        report.add("All heads", "  the page: ours, and theirs", f"{kib(size_ours)}, {kib(size_theirs)}")


def test_a_long_text(report, page, tmp_path):
    weights = _weights(N_MANY)
    start = time.perf_counter()
    content = _atlas(weights)
    made = time.perf_counter() - start
    file = tmp_path / "long.html"
    file.write_text(content, "utf-8")
    seconds = made + _drawn_after(page, file, OUR_ATLAS)
    report.compare("All heads", f"atlas of {N_MANY} tokens, made and drawn", seconds, MAX_SECONDS_MANY, " s", 2)
    report.compare("All heads", "  its page", file.stat().st_size / 2**20, MAX_MIB_MANY, " MiB", 2)
