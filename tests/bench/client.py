"""A browser tab as the server sees it: a WebSocket that asks for reruns and takes in what they draw.

It speaks Streamlit's own protocol (``streamlit.proto``) and draws nothing, so that what is measured
is the server: the time from asking for a rerun to its end, and the bytes that were sent meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

import httpx2
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

T = TypeVar("T")

STREAM = "/_stcore/stream"
STEP_PAGE = "step_by_step"
# A browser keeps a large message for so many reruns and need not be sent it again.
KEPT_FOR = 2
# How a run ends that was not stopped: of the page, or of a part of it.
FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


def visited(visit: Coroutine[Any, Any, T]) -> T:
    """Return what a visit returns; it runs in a thread of its own, for this one may have the loop of a browser."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, visit).result()


class PageError(AssertionError):
    """The page showed an exception instead of what was asked for."""


@dataclass(slots=True)
class Drawn:
    """What one rerun drew: how long it took, how many bytes came, and every element of the page."""

    seconds: float = 0.0
    n_bytes: int = 0
    # Whether a part of the page ran alone.
    is_part: bool = False
    # With each element the id of the part of the page that can run by itself, or nothing.
    placed: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def elements(self) -> list[Any]:
        """Return all elements, in the order in which they came."""
        return [element for _, element in self.placed]

    def headings(self) -> list[str]:
        """Return the text of every heading of the content."""
        return [block["text"] for block in self._blocks() if block["kind"] in ("h2", "h3")]

    def html(self) -> str:
        """Return everything that was written as HTML."""
        written = [element.html.body for element in self.elements if element.WhichOneof("type") == "html"]
        return "\n".join([*written, *(block["html"] for block in self._blocks() if "html" in block)])

    def components(self, name: str) -> list[dict[str, Any]]:
        """Return the data of every component of this name."""
        address = f"/{name.removeprefix('attention_')}."
        on_sheets = [block["data"] for block in self._blocks() if address in block.get("source", "")]
        return [*self._mounted(name), *on_sheets]

    def _mounted(self, name: str) -> list[dict[str, Any]]:
        found = [element.bidi_component for element in self.elements if element.WhichOneof("type") == "bidi_component"]
        return [json.loads(each.json)[0] for each in found if each.component_name == name]

    def _blocks(self) -> list[dict[str, Any]]:
        """Return all that is on the sheets; what is inside something follows it."""
        return [each for sheet in self._mounted("attention_sheet") for each in _walk(sheet["blocks"])]

    def sheet_of(self, key: str) -> str:
        """Return the key of the sheet on which there is something with this key, or nothing."""
        for element in self.elements:
            mounted = element.bidi_component
            blocks = json.loads(mounted.json)[0]["blocks"] if mounted.component_name == "attention_sheet" else ()
            if key in (block.get("key") for block in _walk(blocks)):
                return str(mounted.id.rsplit("-", 1)[-1])
        return ""

    def widget(self, key: str) -> str:
        """Return the id of the widget with this key."""
        for _, widget_id in self._widgets():
            if widget_id.endswith(f"-{key}"):
                return widget_id
        raise PageError(f"The page has no widget {key!r}.")

    def part(self, widget_id: str) -> str:
        """Return the id of the part of the page in which a widget is, or nothing."""
        return next(part for part, each in self._widgets() if each == widget_id)

    def widgets(self) -> list[str]:
        """Return the ids of all widgets."""
        return sorted({widget_id for _, widget_id in self._widgets() if widget_id.startswith("$$")})

    def _widgets(self) -> Iterator[tuple[str, str]]:
        for part, element in self.placed:
            kind = element.WhichOneof("type")
            widget_id = getattr(getattr(element, kind), "id", "") if kind else ""
            if isinstance(widget_id, str):
                yield part, widget_id


def _redrawn(element: Any, parts: Mapping[str, Any]) -> Any:
    """Return an element with the data that a leaf has for it."""
    if element.WhichOneof("type") != "bidi_component":
        return element
    _, key, run = json.loads(element.bidi_component.json)
    if key not in parts:
        return element
    redrawn = type(element)()
    redrawn.CopyFrom(element)
    redrawn.bidi_component.json = json.dumps([parts[key], key, run])
    return redrawn


def _walk(blocks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        yield block
        for inner in (block.get("blocks", ()), *block.get("columns", ())):
            yield from _walk(inner)


class _Line(ClientConnection):
    """A connection that counts the bytes as they travel: like a browser, it lets the server compress them."""

    n_bytes = 0

    def data_received(self, data: bytes) -> None:
        self.n_bytes += len(data)
        super().data_received(data)


class Visitor:
    """One person's tab on one page; ``async with Visitor.at(url, …) as visitor``."""

    def __init__(self, url: str, connection: _Line, page: str) -> None:
        self._files = httpx2.AsyncClient(base_url=url, trust_env=False, timeout=60)
        self._connection = connection
        # What the stepper says since a leaf was turned: a browser says it with every message.
        self._turned: WidgetState | None = None
        self._page = page
        self._page_hash = ""
        self._query = ""
        self._kept: dict[str, tuple[int, ForwardMsg]] = {}
        self._n_runs = 0
        self._n_presses = 0
        self.drawn = Drawn()

    @classmethod
    async def open(cls, url: str, page: str = "", **query: str) -> Visitor:
        """Connect, and open a page with a link's query; ``visitor.drawn`` is what it drew first."""
        address = url.replace("http", "ws", 1) + STREAM
        connection = await connect(address, max_size=None, proxy=None, create_connection=_Line)
        visitor = cls(url, connection, page)
        visitor._query = urlencode(query)
        await visitor._rerun(BackMsg())
        return visitor

    @property
    def query(self) -> dict[str, str]:
        """Return what the link of the tab says."""
        return dict(parse_qsl(self._query, keep_blank_values=True))

    async def close(self) -> None:
        """Close the tab."""
        await self._files.aclose()
        await self._connection.close()

    async def follow(self, **query: str) -> Drawn:
        """Follow a link to the same page."""
        self._query = urlencode(query)
        message = BackMsg()
        message.rerun_script.is_history_navigation = True
        return await self._rerun(message)

    async def go(self, by: int) -> Drawn:
        """Go so many steps on, or back, if there are such."""
        (data,) = self.drawn.components("attention_stepper")
        keys = [step["key"] for step in data["steps"]]
        wanted = keys[min(max(keys.index(data["current"]) + by, 0), len(keys) - 1)]
        return await self._turn("step", wanted) or await self.send("stepper", "choose", wanted)

    async def _turn(self, name: str, value: str) -> Drawn | None:
        """Draw the page with another value of a parameter without a run of the app, if that can be had (leaves.js)."""
        (page,) = self.drawn.components("attention_leaf")
        if not page["outline"]:
            return None
        start = time.perf_counter()
        answer = await self._files.get(f"{page['address']}/{name}/{value}?{self._query}")
        seconds = time.perf_counter() - start
        leaf = answer.json() if answer.is_success else {}
        if leaf.get("outline") != page["outline"]:
            return None
        head = sum(len(each) + len(said) + 4 for each, said in answer.headers.raw)
        self._query = leaf["link"]
        drawn = [(part, _redrawn(element, leaf["parts"])) for part, element in self.drawn.placed]
        self.drawn = Drawn(seconds, head + answer.num_bytes_downloaded, is_part=True, placed=drawn)
        # Afterwards, the server is told, and does not answer.
        self._n_presses += 1
        said = {"choose": {"value": value, "press": self._n_presses, "on": "", "drawn": True}}
        self._turned = WidgetState(id=self.drawn.widget("stepper"), json_value=json.dumps(said))
        message = BackMsg()
        message.rerun_script.widget_states.widgets.append(self._turned)
        await self._connection.send(message.SerializeToString())
        return self.drawn

    async def send(self, key: str, name: str, value: object, *then: BackMsg) -> Drawn:
        """Send what a component's script sends when something is chosen there, and other messages at once."""
        self._n_presses += 1
        sheet = self.drawn.sheet_of(key)
        if sheet:
            key, name = sheet, f"{key}.{name}"
        said = {name: {"value": value, "press": self._n_presses, "on": ""}}
        return await self.send_state(WidgetState(id=self.drawn.widget(key), json_value=json.dumps(said)), None, *then)

    async def send_state(self, state: WidgetState, part: str | None = None, *then: BackMsg) -> Drawn:
        """Say any value of any widget, in the part of the page where it is, unless another one is given."""
        message = BackMsg()
        if self._turned is not None and self._turned.id != state.id:
            message.rerun_script.widget_states.widgets.append(self._turned)
        message.rerun_script.widget_states.widgets.append(state)
        message.rerun_script.fragment_id = self.drawn.part(state.id) if part is None else part
        return await self._rerun(message, *then)

    async def _rerun(self, *messages: BackMsg) -> Drawn:
        for message in messages:
            request = message.rerun_script
            request.query_string = self._query
            request.page_script_hash = self._page_hash
            request.page_name = "" if self._page_hash else self._page
            request.cached_message_hashes.extend(self._kept)
        drawn = Drawn()
        sent = [message.SerializeToString() for message in messages]

        before = self._connection.n_bytes
        start = time.perf_counter()
        for data in sent:
            await self._connection.send(data)
        received = []
        while True:
            data = await self._connection.recv()
            answer = ForwardMsg.FromString(data)
            received.append(answer)
            is_finished = answer.WhichOneof("type") == "script_finished"
            if is_finished and answer.script_finished in FINISHED:
                break
        drawn.seconds = time.perf_counter() - start
        drawn.n_bytes = self._connection.n_bytes - before

        self._n_runs += 1
        for answer in received:
            self._take(answer, drawn)
        self._kept = {key: kept for key, kept in self._kept.items() if self._n_runs - kept[0] < KEPT_FOR}
        self.drawn = drawn
        return drawn

    def _take(self, message: ForwardMsg, drawn: Drawn) -> None:
        if message.WhichOneof("type") == "ref_hash":
            message = self._kept[message.ref_hash][1]
        if message.metadata.cacheable:
            # Again, with every run that has it.
            self._kept[message.hash] = (self._n_runs, message)
        match message.WhichOneof("type"):
            case "new_session":
                self._page_hash = message.new_session.page_script_hash
                parts = message.metadata.run.fragment_ids
                drawn.is_part = bool(parts)
                drawn.placed = [each for each in self.drawn.placed if parts and each[0] not in parts]
            case "navigation":
                self._page_hash = message.navigation.page_script_hash
            case "page_info_changed":
                self._query = message.page_info_changed.query_string
            case "delta" if message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                if element.WhichOneof("type") == "exception":
                    raise PageError(f"{element.exception.type}: {element.exception.message}")
                drawn.placed.append((message.delta.fragment_id, element))
