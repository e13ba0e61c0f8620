"""The server's cost of a step change for one user: time, processor time and bytes."""

from __future__ import annotations

import asyncio
import statistics
from collections import defaultdict

import psutil

from attention.lesson.steps import STEPS
from tests.bench.client import STEP_PAGE, Visitor
from tests.bench.report import ms, p95, undisturbed
from tests.bench.walk import MODELS, Walk
from tests.browser.server import ROOT

PAGES = ("", *(path.stem for path in sorted((ROOT / "pages").glob("*.py"))))
MAX_MEDIAN_MS = 25
MAX_PROCESSOR_MS = 16
MAX_MEDIAN_KIB, MAX_LARGEST_KIB = 12, 25
# Twelve words, for pictures as large as in a class.
SENTENCE = "The old cat sat on the mat near a very small house"
N_ROUND_TRIPS = 8


def test_a_step_change_is_quick_for_one_person(report, server):
    process = psutil.Process(server.process.pid)
    with undisturbed():
        by_step, n_bytes, busy = asyncio.run(_walk_through(server.url, process))
        by_page = asyncio.run(_open_pages(server.url))
    seconds = [each for times in by_step.values() for each in times]
    slowest = max(by_step, key=lambda step: statistics.median(by_step[step]))
    n_models = len(MODELS)

    what = f"median over {len(STEPS)} steps and {n_models} models"
    report.compare("Step change", f"one person: {what}", 1000 * statistics.median(seconds), MAX_MEDIAN_MS, " ms", 1)
    report.add("Step change", "  95th percentile", ms(p95(seconds)))
    report.add("Step change", f"  slowest step ({slowest}), median", ms(statistics.median(by_step[slowest])))
    each = 1000 * busy / len(seconds)
    report.compare("Step change", "  processor time of the server for each", each, MAX_PROCESSOR_MS, " ms", 1)
    slowest = max(by_page, key=lambda page: by_page[page])
    report.add("Step change", f"  opening the slowest page ({slowest or 'front'}), models loaded", ms(by_page[slowest]))
    median, largest = statistics.median(n_bytes) / 1024, max(n_bytes) / 1024
    report.compare("Bytes", "one step change, twelve words: median", median, MAX_MEDIAN_KIB, " KiB", 1)
    report.compare("Bytes", "  largest", largest, MAX_LARGEST_KIB, " KiB", 1)


async def _walk_through(url: str, process: psutil.Process) -> tuple[dict[str, list[float]], list[int], float]:
    """Step forth and back with every model; return the times by step, the bytes, and the processor time."""
    by_step: dict[str, list[float]] = defaultdict(list)
    n_bytes: list[int] = []
    busy = 0.0
    # A fresh server imports what models need while it already answers; exclude that.
    for info in MODELS:
        await (await Visitor.open(url, STEP_PAGE, model=info.model_id)).close()
    for info in MODELS:
        visitor = await Visitor.open(url, STEP_PAGE, model=info.model_id, text=SENTENCE)
        walk = Walk(visitor)
        for _ in range(walk.length):  # the first round trip warms up
            await walk.step()
        before = process.cpu_times()
        for _ in range(N_ROUND_TRIPS * walk.length):
            drawn = await walk.step()
            by_step[walk.current.name].append(drawn.seconds)
            n_bytes.append(drawn.n_bytes)
        after = process.cpu_times()
        busy += after.user + after.system - before.user - before.system
        await visitor.close()
    return by_step, n_bytes, busy


async def _open_pages(url: str) -> dict[str, float]:
    """Open every page as a new visitor, with the models loaded; return the median time of each."""
    times: dict[str, list[float]] = defaultdict(list)
    for index in range(N_ROUND_TRIPS + 1):
        for page in PAGES:
            visitor = await Visitor.open(url, page)
            if index:  # the first time imports what the page needs
                times[page].append(visitor.drawn.seconds)
            await visitor.close()
    return {page: statistics.median(each) for page, each in times.items()}
