"""Memory growth: over many interactions, and when long texts fill the caches."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import httpx2
import numpy as np
import psutil
import pytest

from attention.core.masks import MASK_NAMES
from attention.lesson.steps import keys
from tests.bench.client import STEP_PAGE, Visitor
from tests.bench.report import mib, undisturbed
from tests.bench.walk import MODELS
from tests.browser.server import serve

N_VISITORS = 4
N_WARM_UP = 200
N_INTERACTIONS = 2000
SAMPLE_EVERY = 100
# The limit of growth, in percent.
MAX_GROWTH = 2.0

SENTENCES = (
    "The cat sat on the mat",
    "The old dog slept near the warm fire",
    "She gave him the red book",
    "They were playing tennis in the park yesterday",
)
PANELS = ("shapes", "numpy", "pytorch", "table")

N_LONG = 30
# Longer than the model reads, so it is cut; as long as a link allows.
LONG = "cat dog bird and mat " * 115
MAX_MEMORY_MIB = 1000

# Words that are one token in BERT and in SmolLM2.
WORDS = ("cat", "dog", "bird", "and", "mat", "sun", "sea", "tree", "fire", "house")
N_TOKENS = 480
N_TEXTS, N_SESSIONS = 60, 20
TRACE_PAGES = ("all_heads", "neuron_view")
MAX_SESSIONS_MIB = 1.6 * 1024

N_ASKED, MAX_ASKED_MIB = 5_000, 1.2 * 1024
ASKED = (
    "file/step_by_step/now/page/step-by-step.html",
    "file/step_by_step/now/worksheet/worksheet.html",
    "file/step_by_step/now/notebook/attention-by-hand.ipynb",
    "file/all_heads/now/page/all-heads.html",
    "file/all_heads/now/heatmap.json/heatmap.json",
    "file/all_heads/now/trace.npz/trace.npz",
    "file/all_heads/now/heads_table/heads.csv",
    "file/neuron_view/now/page/neuron-view.html",
)


def test_memory_does_not_grow(report, server):
    process = psutil.Process(server.process.pid)
    with undisturbed():
        counts, resident = asyncio.run(_interact(server.url, lambda: process.memory_info().rss))
    first, last = resident[0], resident[-1]
    slope = np.polyfit(counts, resident, 1)[0]
    growth = 100 * (last - first) / first
    report.compare("Memory", f"growth over {N_INTERACTIONS:,} interactions", growth, MAX_GROWTH, "%", 1)
    report.add("Memory", f"  after {N_WARM_UP}, and after {N_WARM_UP + N_INTERACTIONS:,}", f"{mib(first)}, {mib(last)}")
    report.add("Memory", "  slope of a straight line through it", f"{slope / 1024:+.2f} KiB for each")


async def _interact(url: str, resident: Callable[[], int]) -> tuple[list[int], list[int]]:
    """Let some visitors use everything; return the memory at each count after the warm-up."""
    visitors = [await Visitor.open(url, STEP_PAGE) for _ in range(N_VISITORS)]
    # Fill the cache of traces first, because filling it up to its limit is not growth.
    for query in ({"text": s, "model": m.model_id, "mask": k} for s in SENTENCES for m in MODELS for k in MASK_NAMES):
        await visitors[0].follow(**query)
    chance = random.Random(0)
    counts, sizes = [], []
    for done in range(0, N_WARM_UP + N_INTERACTIONS + 1, N_VISITORS):
        if done >= N_WARM_UP and done % SAMPLE_EVERY == 0:
            counts.append(done)
            sizes.append(resident())
        await asyncio.gather(*(_interaction(visitor, chance) for visitor in visitors))
    for visitor in visitors:
        await visitor.close()
    return counts, sizes


async def _interaction(visitor: Visitor, chance: random.Random) -> None:
    """Do one thing that a user does: mostly another step; or another panel, cell, head, mask, word, sentence."""
    kind = chance.random()
    if kind < 0.5:
        await visitor.go(chance.choice((-1, 1)))
    elif kind < 0.6:
        await visitor.send("main_panel", "main_panel", chance.choice(PANELS))
    else:
        info = chance.choice(MODELS)
        await visitor.follow(
            text=chance.choice(SENTENCES),
            model=info.model_id,
            step=chance.choice(keys()),
            mask=chance.choice(MASK_NAMES),
            layer=str(chance.randint(1, info.n_layers)),
            head=str(chance.randint(1, info.n_heads)),
            word=str(chance.randint(0, 4)),
            beside=chance.choice("001"),
        )


def test_long_texts_at_once_fit(report, server):
    process = psutil.Process(server.process.pid)
    peak = asyncio.run(_read_long_texts(server.url, lambda: process.memory_info().rss))
    what = f"peak, {N_LONG} people open 512 tokens at once"
    report.compare("Memory", what, peak / 2**20, MAX_MEMORY_MIB, " MiB")


async def _read_long_texts(url: str, resident: Callable[[], int]) -> int:
    peak = 0

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max(peak, resident())
            await asyncio.sleep(0.02)

    watching = asyncio.create_task(watch())
    links = [{"text": f"person {i} wrote {LONG}", "step": "softmax"} for i in range(N_LONG)]
    visitors = await asyncio.gather(*(Visitor.open(url, STEP_PAGE, **link) for link in links))
    await asyncio.gather(*(visitor.go(1) for visitor in visitors))
    watching.cancel()
    for visitor in visitors:
        await visitor.close()
    return peak


@pytest.fixture
def fresh(tmp_path):
    """An unused server, and its memory."""
    with serve(tmp_path / "log") as running:
        process = psutil.Process(running.process.pid)
        yield running.url, lambda: process.memory_info().rss


def test_many_long_texts_of_one_visitor_fit(report, fresh):
    url, resident = fresh
    peak, closed = asyncio.run(_read_one_after_the_other(url, resident))
    what = f"peak, one person reads {N_TEXTS} texts of {N_TOKENS} tokens"
    report.compare("Memory", what, peak / 2**20, MAX_SESSIONS_MIB, " MiB")
    report.add("Memory", "  after that", mib(closed))


@pytest.mark.parametrize("page", TRACE_PAGES)
def test_many_sessions_with_long_texts_fit(report, fresh, page):
    url, resident = fresh
    peak, closed = asyncio.run(_stay(url, resident, page))
    report.compare("Memory", f"peak, {N_SESSIONS} sessions on {page}", peak / 2**20, MAX_SESSIONS_MIB, " MiB")
    report.add("Memory", "  after they were closed", mib(closed))


def long_text(number: int) -> str:
    """Return a text of about this many tokens; each number gives a different one."""
    n_words = N_TOKENS - 4
    return " ".join(WORDS[(number // 10 ** min(i, 2) + i * i) % len(WORDS)] for i in range(n_words))


async def _read_one_after_the_other(url: str, resident: Callable[[], int]) -> tuple[int, int]:
    """Let one visitor read text after text with both models, on page after page; return peak and final memory."""
    peak = 0
    for page in (STEP_PAGE, *TRACE_PAGES):
        visitor = await Visitor.open(url, page)
        for number in range(N_TEXTS // 3):
            for model in ("minilm-l6", "smollm2-135m"):
                await visitor.follow(text=long_text(number), model=model)
                peak = max(peak, resident())
        await visitor.close()
    return peak, resident()


async def _stay(url: str, resident: Callable[[], int], page: str) -> tuple[int, int]:
    """Let visitors come one after the other, each with a text of their own, and stay; return peak and final memory."""
    peak, visitors = 0, []
    for number in range(N_SESSIONS):
        visitors.append(await Visitor.open(url, page, text=long_text(number), model="smollm2-135m"))
        peak = max(peak, resident())
    for visitor in visitors:
        await visitor.close()
    # A last page without a trace: the globals of the previous one would keep theirs.
    await (await Visitor.open(url, "models")).close()
    return peak, resident()


def test_files_and_leaves_of_many_texts_fit(report, fresh):
    url, resident = fresh
    peak = _ask_for_files(url, resident)
    what = f"peak, one person asks for {N_ASKED:,} files and steps of as many texts"
    report.compare("Memory", what, peak / 2**20, MAX_ASKED_MIB, " MiB")


def _ask_for_files(url: str, resident: Callable[[], int]) -> int:
    """Request a file or a step of text after text; return the peak memory."""
    peak, chance = 0, random.Random(0)
    with httpx2.Client(base_url=url, trust_env=False, timeout=60) as client:
        for number in range(N_ASKED):
            words = chance.choices(WORDS, k=chance.choice((4, 8, 12, 20, 40)))
            link = {"text": f"{number} {' '.join(words)}", "model": chance.choice(("toy", "minilm-l6"))}
            path = f"leaf/{STEP_PAGE}/step/{chance.choice(keys())}" if number % 3 == 0 else chance.choice(ASKED)
            answer = client.get(f"/_attention/{path}", params=link)
            # A step with remarks beside its pictures may be unavailable as a file.
            assert answer.status_code in ((200, 410) if number % 3 == 0 else (200,)), path
            peak = max(peak, resident())
    return peak
