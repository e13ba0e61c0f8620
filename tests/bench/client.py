"""A browser tab as the server sees it: a WebSocket that asks for reruns and takes in what they draw.

It speaks Streamlit's own protocol (``streamlit.proto``) and draws nothing, so that what is measured
is the server: the time from asking for a rerun to its end, and the bytes that were sent meanwhile.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

STREAM = "/_stcore/stream"
STEP_PAGE = "step_by_step"
# A browser keeps a large message for so many reruns and need not be sent it again.
KEPT_FOR = 2


class PageError(AssertionError):
    """The page showed an exception instead of what was asked for."""


@dataclass(slots=True)
class Drawn:
    """What one rerun drew: how long it took, how many bytes came, and every element of the page."""

    seconds: float = 0.0
    n_bytes: int = 0
    elements: list[Any] = field(default_factory=list)

    def headings(self) -> list[str]:
        """Return the text of every heading."""
        return [element.heading.body for element in self.elements if element.WhichOneof("type") == "heading"]

    def html(self) -> str:
        """Return everything that was written as HTML."""
        return "\n".join(element.html.body for element in self.elements if element.WhichOneof("type") == "html")

    def components(self, name: str) -> list[dict[str, Any]]:
        """Return the data of every component of this name."""
        found = [element.bidi_component for element in self.elements if element.WhichOneof("type") == "bidi_component"]
        return [json.loads(each.json)[0] for each in found if each.component_name == name]

    def widget(self, key: str) -> str:
        """Return the id of the widget with this key."""
        for element in self.elements:
            kind = element.WhichOneof("type")
            widget_id = getattr(getattr(element, kind), "id", "") if kind else ""
            if isinstance(widget_id, str) and widget_id.endswith(f"-{key}"):
                return widget_id
        raise PageError(f"The page has no widget {key!r}.")

    def widgets(self) -> list[str]:
        """Return the ids of all widgets."""
        kinds = ((element, element.WhichOneof("type")) for element in self.elements)
        ids = {getattr(getattr(element, kind), "id", "") for element, kind in kinds if kind}
        return sorted(each for each in ids if isinstance(each, str) and each.startswith("$$"))


class _Line(ClientConnection):
    """A connection that counts the bytes as they travel: like a browser, it lets the server compress them."""

    n_bytes = 0

    def data_received(self, data: bytes) -> None:
        self.n_bytes += len(data)
        super().data_received(data)


class Visitor:
    """One person's tab on one page; ``async with Visitor.at(url, …) as visitor``."""

    def __init__(self, connection: _Line, page: str) -> None:
        self._connection = connection
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
        visitor = cls(connection, page)
        visitor._query = urlencode(query)
        await visitor._rerun(BackMsg())
        return visitor

    async def close(self) -> None:
        """Close the tab."""
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
        place = min(max(keys.index(data["current"]) + by, 0), len(keys) - 1)
        return await self.send("stepper", "choose", keys[place])

    async def send(self, key: str, name: str, value: object) -> Drawn:
        """Send what a component's script sends when something is chosen there."""
        self._n_presses += 1
        said = {name: {"value": value, "press": self._n_presses, "on": ""}}
        return await self.send_state(WidgetState(id=self.drawn.widget(key), json_value=json.dumps(said)))

    async def choose(self, key: str, option: str) -> Drawn:
        """Choose an option of the segmented control with this key."""
        state = WidgetState(id=self.drawn.widget(key))
        state.string_array_value.data.append(option)
        return await self.send_state(state)

    async def send_state(self, state: WidgetState) -> Drawn:
        """Say any value of any widget."""
        message = BackMsg()
        message.rerun_script.widget_states.widgets.append(state)
        return await self._rerun(message)

    async def _rerun(self, message: BackMsg) -> Drawn:
        request = message.rerun_script
        request.query_string = self._query
        request.page_script_hash = self._page_hash
        request.page_name = "" if self._page_hash else self._page
        request.cached_message_hashes.extend(self._kept)
        drawn = Drawn()
        data = message.SerializeToString()

        before = self._connection.n_bytes
        start = time.perf_counter()
        await self._connection.send(data)
        received = []
        while True:
            data = await self._connection.recv()
            answer = ForwardMsg.FromString(data)
            received.append(answer)
            is_finished = answer.WhichOneof("type") == "script_finished"
            if is_finished and answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
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
                drawn.elements.clear()
            case "navigation":
                self._page_hash = message.navigation.page_script_hash
            case "page_info_changed":
                self._query = message.page_info_changed.query_string
            case "delta" if message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                if element.WhichOneof("type") == "exception":
                    raise PageError(f"{element.exception.type}: {element.exception.message}")
                drawn.elements.append(element)
