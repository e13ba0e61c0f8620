"""A browser tab as the server sees it: it requests pages, and the next page after each press.

It draws nothing, so that only the server is measured: response times and bytes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, urlencode

import httpx2

T = TypeVar("T")

PAGES = "_attention/page"
STEP_PAGE = "step_by_step"


def visited(visit: Coroutine[Any, Any, T]) -> T:
    """Run a visit in a separate thread (this one may have a browser's event loop), and return its result."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, visit).result()


class PageError(AssertionError):
    """The page shows something unexpected."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A response: its time in seconds, its bytes with headers, and the page."""

    seconds: float = 0.0
    n_bytes: int = 0
    page: Mapping[str, Any] = field(default_factory=dict)

    def headings(self) -> list[str]:
        """Return the text of every heading of the content."""
        return [block["text"] for block in self.blocks() if block["kind"] in ("h2", "h3")]

    def html(self) -> str:
        """Return everything that is HTML."""
        return "\n".join(block["html"] for block in self.blocks() if "html" in block)

    def components(self, name: str) -> list[dict[str, Any]]:
        """Return the data of every component of this name."""
        return [block["data"] for block in self.blocks() if f"/{name}." in block.get("source", "")]

    def blocks(self) -> list[dict[str, Any]]:
        """Return all blocks of the page, depth first."""
        return list(_walk(self.page["blocks"]))


def _walk(blocks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        yield block
        for inner in (block.get("blocks", ()), *block.get("columns", ())):
            yield from _walk(inner)


class Visitor:
    """A user's tab; requests go to several copies of the app in turn."""

    def __init__(self, urls: Sequence[str], page: str, link: str) -> None:
        self._copies = [httpx2.AsyncClient(base_url=url, trust_env=False, timeout=60) for url in urls]
        self._turns = cycle(self._copies)
        self._page = page
        self._link = link
        self._memory: Mapping[str, Any] = {}
        self.drawn = Drawn()

    @classmethod
    async def open(cls, url: str | Sequence[str], page: str = "", **query: str) -> Self:
        """Open a link; ``visitor.drawn`` is the page once all its models are loaded."""
        visitor = cls([url] if isinstance(url, str) else url, page, urlencode(query))
        await visitor._ask()
        return visitor

    @property
    def query(self) -> dict[str, str]:
        """Return the parameters of the tab's link."""
        return dict(parse_qsl(self._link, keep_blank_values=True))

    async def close(self) -> None:
        for copy in self._copies:
            await copy.aclose()

    async def follow(self, **query: str) -> Drawn:
        """Follow a link to the same page."""
        self._link = urlencode(query)
        return await self._ask()

    async def go(self, by: int) -> Drawn:
        """Go forward (or back) by some steps, if they exist."""
        (data,) = self.drawn.components("stepper")
        keys = [step["key"] for step in data["steps"]]
        wanted = keys[min(max(keys.index(data["current"]) + by, 0), len(keys) - 1)]
        return await self.send("stepper", "choose", wanted)

    async def send(self, key: str, name: str, value: object) -> Drawn:
        """Choose something in the component with this key."""
        return await self._ask({"key": f"{key}.{name}", "value": value})

    async def _ask(self, *presses: Mapping[str, object]) -> Drawn:
        while True:
            said = {"link": self._link, "presses": presses, "memory": self._memory, "visitor": "somebody"}
            start = time.perf_counter()
            answer = await next(self._turns).post(f"{PAGES}/{self._page}", json=said)
            seconds = time.perf_counter() - start
            if not answer.is_success:
                raise PageError(f"The server answered {answer.status_code}.")
            page = answer.json()
            head = sum(len(name) + len(value) + 4 for name, value in answer.headers.raw)
            self._page, self._link, self._memory = page["page"], page["link"], page["memory"]
            self.drawn = Drawn(seconds, head + answer.num_bytes_downloaded, page)
            if not any(block["kind"] == "waiting" for block in self.drawn.blocks()):
                return self.drawn
            # A model is being loaded.
            presses = ()
            await asyncio.sleep(page["follow"])
