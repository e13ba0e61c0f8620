"""A class of a thousand, and a hundred classes: from the teacher's press to all screens, answers, and memory."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter

import httpx2
import psutil
import pytest

from attention.lesson.steps import STEPS
from tests import services
from tests.bench.bench_crowd import SENTENCES
from tests.bench.client import STEP_PAGE, Visitor
from tests.bench.conftest import limit_cores
from tests.bench.report import ms, p95, undisturbed
from tests.bench.screens import ROOM, watched
from tests.bench.walk import MODELS, Walk
from tests.browser.server import serve

N_SCREENS, N_STEPPERS = 1_000, 30
N_ANSWERS, N_CHANGED = 1_000, 100
N_ROOMS, N_IN_A_ROOM = 100, 30
N_PRESSES, EVERY = 10, 1.5
# In seconds: each of the hundred teachers presses once in this time; and how many times.
LESSON, N_LESSONS = 10.0, 2
SENTENCE = "The cat sat on the mat"
# The teacher's steps, repeated.
WAY = [step.key for step in STEPS if step.key != "tokens"]


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    """The app, with a database of rooms of its own."""
    folder = tmp_path_factory.mktemp("school")
    with serve(folder / "log", {"ATTENTION_DATABASE": f"sqlite:///{folder / 'rooms.sqlite'}"}) as running:
        limit_cores(running.process.pid)
        yield running


class Teacher:
    """The owner of a room."""

    def __init__(self, url, sentence=SENTENCE, number=0):
        # Each teacher has an address of its own, as if behind a proxy: one address may not open so many rooms.
        headers = {"X-Forwarded-For": f"10.1.{number // 250}.{number % 250 + 1}"}
        self.client = httpx2.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=60)
        self.sentence, self.code, self.at = sentence, "", 0

    async def post(self, path, said=None):
        answer = await self.client.post(f"{ROOM}/{path}", json=said or {})
        answer.raise_for_status()
        return answer.json()

    def link(self):
        step = WAY[self.at % len(WAY)]
        return {"page": STEP_PAGE, "link": str(httpx2.QueryParams(model="toy", text=self.sentence, step=step))}

    async def open(self):
        self.code = (await self.post("open", self.link()))["code"]
        return self

    async def press(self):
        """Go on by one step; return the room, the step, and the time of the press."""
        self.at += 1
        start = time.perf_counter()
        await self.post(f"{self.code}/show", self.link())
        return self.code, WAY[self.at % len(WAY)], start


async def gathered(screens, presses, n_screens):
    """Return each screen's delay for each press, once all have arrived."""
    nth, begun = Counter(), {}
    for code, step, start in presses:
        begun[code, step, nth[code, step]] = start
        nth[code, step] += 1
    seen, deadline = [], time.perf_counter() + 30
    while len(seen) < len(presses) * n_screens and time.perf_counter() < deadline:
        await asyncio.sleep(0.2)
        seen += await asyncio.to_thread(screens.seen)
    assert len(seen) == len(presses) * n_screens
    came, waits = Counter(), []
    for each in sorted(seen, key=lambda each: each.at):
        # A step is repeated only after everyone has seen it.
        waits.append(each.at - begun[each.code, each.step, came[each.code, each.step] // n_screens])
        came[each.code, each.step] += 1
    return waits


async def _steps(walk, delay, until):
    times = []
    await asyncio.sleep(delay)
    while time.perf_counter() < until:
        start = time.perf_counter()
        times.append((await walk.step()).seconds)
        await asyncio.sleep(max(0.0, start + 2 - time.perf_counter()))
    return times


def test_a_thousand_screens_of_one_room(report, school):
    async def lesson(screens):
        walks = []
        for index in range(N_STEPPERS):
            sentence, model = SENTENCES[index % len(SENTENCES)], MODELS[index % len(MODELS)].model_id
            walks.append(Walk(await Visitor.open(school.url, STEP_PAGE, text=sentence, model=model)))
        for walk in walks:
            for _ in range(Walk.length):
                await walk.step()
        teacher = await Teacher(school.url).open()
        process = psutil.Process(school.process.pid)
        # Draw everything once before, so that only the screens are measured.
        await asyncio.to_thread(screens.open, [teacher.code] * 10)
        for _ in WAY:
            await teacher.press()
        before = process.memory_info().rss
        opened = await asyncio.to_thread(screens.open, [teacher.code] * N_SCREENS)
        for _ in WAY:
            await teacher.press()
        grown = process.memory_info().rss - before
        await asyncio.sleep(1)
        await asyncio.to_thread(screens.seen)
        with undisturbed():
            until = time.perf_counter() + N_PRESSES * EVERY
            steps = [asyncio.create_task(_steps(walk, index / 15, until)) for index, walk in enumerate(walks)]
            presses = []
            for _ in range(N_PRESSES):
                presses.append(await teacher.press())
                await asyncio.sleep(EVERY)
            stepped = [seconds for of_one in await asyncio.gather(*steps) for seconds in of_one]
        waits = await gathered(screens, presses, N_SCREENS + 10)
        while WAY[teacher.at % len(WAY)] != "scale":
            await teacher.press()
        await teacher.post(f"{teacher.code}/ask")
        given = [pupil % 2 for pupil in range(N_ANSWERS)]
        whole, each = await asyncio.to_thread(screens.answer, teacher.code, 1, given)
        # Some change their answers, and count once.
        await asyncio.to_thread(screens.answer, teacher.code, 1, [1] * N_CHANGED)
        counts = await _tally(teacher)
        for walk in walks:
            await walk.visitor.close()
        await teacher.client.aclose()
        return opened, grown, waits, stepped, whole, each, counts

    with watched(school.url) as screens:
        opened, grown, waits, stepped, whole, each, counts = asyncio.run(lesson(screens))
    assert counts == [(N_ANSWERS - N_CHANGED) // 2, (N_ANSWERS + N_CHANGED) // 2, *[0] * (len(counts) - 2)]
    name = "A class"
    report.compare(name, "1,000 screens see a press, 30 people step: 95th percentile", 1000 * p95(waits), 150, " ms")
    report.add(name, "  median", ms(sorted(waits)[len(waits) // 2]))
    report.add(name, "  longest", ms(max(waits)))
    report.add(name, "  a step of the 30, 95th percentile", ms(p95(stepped)))
    report.add(name, "  until all 1,000 are in", f"{opened:.1f} s")
    report.compare(name, "1,000 answers, all counted once", whole, 5, " s", 1)
    report.add(name, "  one answer, 95th percentile", ms(p95(each)))
    report.compare("Memory", "one of 1,000 screens of a room", grown / N_SCREENS / 1000, 60, " kB")


def test_a_thousand_answers_in_postgresql(report, tmp_path):
    if services.find("initdb") is None:
        pytest.skip(services.MISSING.format("PostgreSQL"))

    async def ask(url, screens):
        teacher = Teacher(url)
        teacher.at = WAY.index("scale")
        await teacher.open()
        await asyncio.to_thread(screens.open, [teacher.code])
        await teacher.post(f"{teacher.code}/ask")
        given = [pupil % 2 for pupil in range(N_ANSWERS)]
        with undisturbed():
            whole, each = await asyncio.to_thread(screens.answer, teacher.code, 1, given)
        await asyncio.to_thread(screens.answer, teacher.code, 1, [1] * N_CHANGED)
        counts = await _tally(teacher)
        await teacher.client.aclose()
        return whole, each, counts

    with services.postgres() as database, serve(tmp_path / "log", {"ATTENTION_DATABASE": database.new()}) as server:
        limit_cores(server.process.pid)
        with watched(server.url) as screens:
            whole, each, counts = asyncio.run(ask(server.url, screens))
    assert counts == [(N_ANSWERS - N_CHANGED) // 2, (N_ANSWERS + N_CHANGED) // 2, *[0] * (len(counts) - 2)]
    name = "A class"
    # A quarter below the requirement, because more machines share a PostgreSQL.
    report.compare(name, "1,000 answers in PostgreSQL, all counted once", whole, 3.75, " s", 1)
    report.add(name, "  one answer in PostgreSQL, 95th percentile", ms(p95(each)))


async def _tally(teacher):
    """Return the count of each answer after the reveal."""
    await teacher.post(f"{teacher.code}/reveal")
    async with teacher.client.stream("GET", f"{ROOM}/{teacher.code}/screen") as answer:
        lines = answer.aiter_lines()
        async for line in lines:
            if line == "event: question":
                return json.loads((await anext(lines)).removeprefix("data: "))["told"]["counts"]
    raise AssertionError("the question was not sent")


def test_a_hundred_rooms_of_thirty(report, school):
    async def lessons(screens):
        teachers = []
        for number in range(N_ROOMS):
            sentence = SENTENCES[number % len(SENTENCES)]
            teachers.append(await Teacher(school.url, sentence, number).open())
        codes = [teacher.code for teacher in teachers for _ in range(N_IN_A_ROOM)]
        opened = await asyncio.to_thread(screens.open, codes)
        await asyncio.to_thread(screens.seen)

        async def teach(index, teacher):
            presses = []
            start = time.perf_counter() + LESSON * index / N_ROOMS
            for nth in range(N_LESSONS):
                await asyncio.sleep(max(0.0, start + LESSON * nth - time.perf_counter()))
                presses.append(await teacher.press())
            return presses

        with undisturbed():
            found = await asyncio.gather(*(teach(*each) for each in enumerate(teachers)))
        waits = await gathered(screens, [each for of_one in found for each in of_one], N_IN_A_ROOM)
        for teacher in teachers:
            await teacher.client.aclose()
        return opened, waits

    with watched(school.url) as screens:
        opened, waits = asyncio.run(lessons(screens))
    name = "A class"
    report.compare(name, "100 rooms of 30, ten presses a second: 95th percentile", 1000 * p95(waits), 500, " ms")
    report.add(name, "  until all 3,000 are in", f"{opened:.1f} s")
