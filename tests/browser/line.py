"""The line from the server to a page, made slow."""

from __future__ import annotations

import re
import time

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


class Line:
    """The line from the server to a page, on which answers can be held back."""

    def __init__(self, page):
        self.page = page
        self.socket = None
        self.held = None
        page.route_web_socket(re.compile("/_stcore/stream"), self._connect)
        page.route(re.compile("/_attention/leaf/"), self._give)

    def _connect(self, socket):
        self.socket = socket
        server = socket.connect_to_server()
        server.on_message(self._answer)
        socket.on_message(server.send)

    def _answer(self, message):
        if self.held is None:
            self.socket.send(message)
        else:
            self.held.append(message)

    def _give(self, route):
        # One that is held back is never wanted later: the page has asked in another way by then.
        if self.held is None:
            route.continue_()

    def hold(self):
        """From now on, the page hears nothing."""
        self.held = []

    def wait_for_answers(self, count):
        """Wait until the server has answered so many presses in full."""
        deadline = time.monotonic() + 120
        while sum(map(is_last_of_an_answer, self.held)) < count:
            assert time.monotonic() < deadline, "the server has not answered"
            # Messages arrive while the browser is spoken to.
            self.page.evaluate("null")

    def release(self):
        """Let everything through that was held back, in its order."""
        held, self.held = self.held, None
        for message in held:
            self.socket.send(message)

    def release_first(self):
        """Let the first answer through that was held back, and nothing after it."""
        end = next(index for index, message in enumerate(self.held, start=1) if is_last_of_an_answer(message))
        first, self.held = self.held[:end], self.held[end:]
        for message in first:
            self.socket.send(message)


def is_last_of_an_answer(message):
    parsed = ForwardMsg()
    parsed.ParseFromString(message)
    # An answer that a newer press has overtaken ends with FINISHED_EARLY_FOR_RERUN.
    return parsed.WhichOneof("type") == "script_finished" and parsed.script_finished in (
        ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY,
        ForwardMsg.ScriptFinishedStatus.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
    )
