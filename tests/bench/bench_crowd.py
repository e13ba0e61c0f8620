"""Thirty and a hundred simultaneous users with their own sentences: the time of a step, and memory."""

from __future__ import annotations

import asyncio
import base64
import random
import time

import numpy as np
import psutil
import pytest

from attention.lesson.initial_selection import first_place
from attention.models import load
from tests.bench.client import STEP_PAGE, Drawn, Visitor
from tests.bench.report import ms, p95, undisturbed
from tests.bench.walk import MODELS, Walk

# Users, the name in the table, and the target for the 95th percentile, in ms.
CROWDS = [(30, "Thirty people", 100), (100, "A hundred people", 400)]
EVERY = 2.0
DURATION = 40.0
MAX_MEMORY_MIB = 1.2 * 1024

ANIMALS = ("cat", "dog", "bird", "horse", "fox", "mouse", "cow", "sheep", "duck", "frog")
PLACES = ("on the mat", "in the old garden", "near a very small house by the sea")
SENTENCES = tuple(f"The {animal} sat {place}" for animal in ANIMALS for place in PLACES)


@pytest.mark.parametrize(("n_people", "name", "limit"), CROWDS, ids=str)
def test_a_crowd_steps_at_once(report, server, n_people, name, limit):
    process = psutil.Process(server.process.pid)
    with undisturbed():
        times, shown, busy, resident = asyncio.run(_class(server.url, process, n_people))
    _check_weights(shown)
    report.compare(name, f"each a step every {EVERY:g} s: 95th percentile", 1000 * p95(times), limit, " ms")
    report.add(name, "  median", ms(p50(times)))
    report.add(name, "  longest", ms(max(times)))
    report.add(name, "  step changes", f"{len(times):,}")
    report.add(name, "  the server's share of one core", f"{busy:.0%}")
    report.compare("Memory", f"{n_people} people, both models", resident / 2**20, MAX_MEMORY_MIB, " MiB")


def p50(values):
    return sorted(values)[len(values) // 2]


async def _class(url: str, process: psutil.Process, n_people: int):
    walks = []
    for index in range(n_people):
        sentence, model = SENTENCES[index % len(SENTENCES)], MODELS[index % len(MODELS)].model_id
        walks.append(Walk(await Visitor.open(url, STEP_PAGE, text=sentence, model=model)))
    # Warm up with every page and picture.
    for walk in walks:
        for _ in range(Walk.length):
            await walk.step()
    chance = random.Random(0)
    starts = [chance.uniform(0, EVERY) for _ in walks]
    before, start = process.cpu_times(), time.perf_counter()
    results = await asyncio.gather(*map(_person, walks, starts))
    elapsed, after = time.perf_counter() - start, process.cpu_times()
    busy = (after.user + after.system - before.user - before.system) / elapsed
    resident = process.memory_info().rss
    for walk in walks:
        await walk.visitor.close()
    times = [seconds for seconds_of_one, _ in results for seconds in seconds_of_one]
    return times, [shown for _, shown in results], busy, resident


async def _person(walk: Walk, delay: float) -> tuple[list[float], Drawn]:
    """Go on every two seconds; return the times, and the last softmax step shown."""
    times: list[float] = []
    shown = Drawn()
    start = time.perf_counter() + delay
    for index in range(int(DURATION / EVERY)):
        await asyncio.sleep(max(0.0, start + EVERY * index - time.perf_counter()))
        drawn = await walk.step()
        times.append(drawn.seconds)
        if walk.current.key == "softmax":
            shown = drawn
    return times, shown


def _check_weights(shown: list[Drawn]) -> None:
    """Everyone must have seen the weights of their own sentence, in their own model."""
    models = [(info, load(info.model_id)) for info in MODELS]
    for index, drawn in enumerate(shown):
        sentence, (info, model) = SENTENCES[index % len(SENTENCES)], models[index % len(models)]
        layer, head = first_place(info, sentence)
        (matrix,) = drawn.components("matrix")
        weights = np.frombuffer(base64.b64decode(matrix["values"]), "<f4")
        np.testing.assert_allclose(weights, model.trace(sentence).layers[layer].head(head).weights.ravel(), atol=1e-6)
