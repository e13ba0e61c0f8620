"""The time to change between loaded models, and their memory."""

from __future__ import annotations

import asyncio
import statistics

import psutil

from attention.models import list_models
from tests.bench.client import STEP_PAGE, Visitor
from tests.bench.report import ms, p95, undisturbed
from tests.browser.server import AppServer

MAX_SWITCH_MS = 100
MAX_MEMORY_MIB = 2.5 * 1024
N_ROUNDS = 10


def test_switching_models_is_quick_and_all_of_them_fit(report, server: AppServer):
    process = psutil.Process(server.process.pid)
    with undisturbed():
        seconds = asyncio.run(_switch(server.url))
    times = [each for found in seconds.values() for each in found]
    slowest = max(seconds, key=lambda model: statistics.median(seconds[model]))
    what = f"to another of {len(seconds)} models in memory, median"
    report.compare("Models", what, 1000 * statistics.median(times), MAX_SWITCH_MS, " ms", 1)
    report.add("Models", "  95th percentile", ms(p95(times)))
    report.add("Models", f"  slowest model ({slowest}), median", ms(statistics.median(seconds[slowest])))
    resident = process.memory_info().rss
    report.compare("Memory", f"all {len(seconds)} bundled models loaded", resident / 2**20, MAX_MEMORY_MIB, " MiB")


async def _switch(url: str) -> dict[str, list[float]]:
    """Go from model to model, round after round; return the times, except each model's first."""
    visitor = await Visitor.open(url, STEP_PAGE, step="scores")
    seconds: dict[str, list[float]] = {info.model_id: [] for info in list_models()}
    for index in range(N_ROUNDS + 1):
        for model, found in seconds.items():
            drawn = await visitor.follow(step="scores", model=model)
            if index:
                found.append(drawn.seconds)
    await visitor.close()
    return seconds
