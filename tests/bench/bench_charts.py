"""The cost of a chart: its figure and payload on the server, and drawing it in Chromium."""

from __future__ import annotations

import gzip
import statistics
import time

from playwright.sync_api import Page, expect, sync_playwright

from attention.answer.files import kept_file
from attention.figures.charts import Chart
from tests.bench.report import kib, ms, undisturbed
from tests.browser.chromium import launch_options
from tests.kinds_of_charts import KINDS

MAX_FIGURE_MS, MAX_DRAWN_MS = 4, 150
N_ROUNDS, N_TABS, N_FIRST = 50, 7, 2
# Records when the first chart's placeholder appears, and when it is drawn.
WATCH = """
  window.chart = {};
  new MutationObserver(() => {
    const plot = document.querySelector('.plot');
    if (plot) window.chart.place ??= performance.now();
    if (plot?.querySelector('.main-svg')) window.chart.drawn ??= performance.now();
  }).observe(document, { subtree: true, childList: true });
"""


def test_a_figure_is_soon_made(report):
    slowest = {}
    with undisturbed():
        for kind, make in KINDS.items():
            times = []
            for _ in range(N_ROUNDS):
                start = time.perf_counter()
                Chart(make()).payload()
                times.append(time.perf_counter() - start)
            slowest[kind] = statistics.median(times)
    name = max(slowest, key=slowest.__getitem__)
    what = f"a figure and what is sent of it, slowest of {len(KINDS)} kinds ({name}), median"
    report.compare("Charts", what, 1000 * slowest[name], MAX_FIGURE_MS, " ms", 1)


def test_a_chart_is_soon_drawn(report, server, tmp_path):
    with sync_playwright() as driver:
        # Like a user's browser, which keeps scripts and (from the second time on) their compiled code.
        options = {**launch_options(), "viewport": {"width": 1400, "height": 900}, "reduced_motion": "reduce"}
        context = driver.chromium.launch_persistent_context(tmp_path, **options)
        context.add_init_script(WATCH)
        times = [_drawn(context.new_page(), server.url) for _ in range(N_TABS + N_FIRST)][N_FIRST:]
        context.close()
    what = "a lab's first chart, from its place to its drawing, in Chromium, the script in the cache, median"
    report.compare("Charts", what, statistics.median(times), MAX_DRAWN_MS, " ms")
    report.add("Charts", "  slowest", ms(max(times) / 1000))
    file = kept_file("plotly")
    report.add("Charts", "Plotly's script, compressed", kib(len(file.packed)))
    report.add("Charts", "  and as it is", kib(len(gzip.decompress(file.packed))))


def _drawn(page: Page, url: str) -> float:
    """Return the milliseconds from the placeholder of a lab's first chart to its drawing, in a new tab."""
    page.goto(f"{url}/why_divide?model=toy")
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(".plot .main-svg").first).to_be_visible(timeout=30_000)
    seen = page.evaluate("() => window.chart")
    page.close()
    return float(seen["drawn"] - seen["place"])
