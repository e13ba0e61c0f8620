"""The time from starting the server to the first picture, and the bytes sent."""

from __future__ import annotations

import base64
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.bench.conftest import limit_cores
from tests.bench.report import kib
from tests.browser.chromium import launch_options
from tests.browser.server import serve
from tests.browser.tab import IS_DRAWN

N_STARTS = 3
PATIENCE = 60_000
FRONT = ("front door", "", 6)
DEEP_LINK = ("link to the scores of BERT", "step_by_step?step=scores&model=minilm-l6", 5)
# A matrix's cells (however drawn), or the arcs of the front page.
PICTURE = ".matrix :is(svg, canvas), .arcs path"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that runs before the server, like a user's."""
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(**launch_options())
        chromium.new_page().close()
        yield chromium
        chromium.close()


@dataclass
class _Traffic:
    """The bytes that a page received: compressed files, and WebSocket messages."""

    files: float = 0
    messages: int = 0

    @classmethod
    def of(cls, context: BrowserContext, page: Page) -> _Traffic:
        traffic = cls()
        session = context.new_cdp_session(page)
        session.on("Network.loadingFinished", traffic._file)
        session.on("Network.webSocketFrameReceived", traffic._message)
        session.send("Network.enable")
        return traffic

    def _file(self, event) -> None:
        self.files += event["encodedDataLength"]

    def _message(self, event) -> None:
        self.messages += len(base64.b64decode(event["response"]["payloadData"]))


@pytest.mark.parametrize(("name", "path", "limit"), [FRONT, DEEP_LINK], ids=["front", "link"])
def test_the_first_picture_is_soon_there(report, browser, tmp_path, name, path, limit):
    firsts, lasts, traffic = [], [], _Traffic()
    for index in range(N_STARTS):
        start = time.perf_counter()
        with serve(tmp_path / f"log{index}") as server:
            limit_cores(server.process.pid)
            context = browser.new_context(viewport={"width": 1400, "height": 900})
            page = context.new_page()
            traffic = _Traffic.of(context, page)
            page.goto(f"{server.url}/{path}", wait_until="commit")
            page.locator(PICTURE).first.wait_for(timeout=PATIENCE)
            firsts.append(time.perf_counter() - start)
            expect(page.get_by_role("note", name="Proof")).to_contain_text("✓", timeout=PATIENCE)
            page.wait_for_function(IS_DRAWN, timeout=PATIENCE)
            lasts.append(time.perf_counter() - start)
            page.wait_for_load_state("networkidle")
            context.close()
    first, last = statistics.median(firsts), statistics.median(lasts)
    report.compare("First picture", f"{name}: from the server's start, weights on disk", first, limit, " s", 1)
    report.add("First picture", "  until the page is complete, BERT's own picture and proof on it", f"{last:.1f} s")
    report.add("Bytes", f"first visit, {name}: what the app says", kib(traffic.messages))
    report.add("Bytes", "  Streamlit's own files, which browsers keep", kib(traffic.files))
