"""On a slow line, people press before the answer to the press before has come: every press counts."""

import re
import time

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

EXAMPLE = "He was becoming agitated"
OWN = "Two small birds sing"


class Line:
    """The line from the server to a page, on which answers can be held back."""

    def __init__(self, page):
        self.page = page
        self.socket = None
        self.held = None
        page.route_web_socket(re.compile("/_stcore/stream"), self._connect)

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

    def hold(self):
        """From now on, the page hears nothing."""
        self.held = []

    def wait_for_answers(self, count):
        """Wait until the server has answered so many presses in full."""
        deadline = time.monotonic() + 30
        while sum(map(is_last_of_an_answer, self.held)) < count:
            assert time.monotonic() < deadline, "the server has not answered"
            # Messages arrive while the browser is spoken to.
            self.page.evaluate("null")

    def release(self):
        """Let everything through that was held back, in its order."""
        held, self.held = self.held, None
        for message in held:
            self.socket.send(message)


def is_last_of_an_answer(message):
    parsed = ForwardMsg()
    parsed.ParseFromString(message)
    # An answer that a newer press has overtaken ends with FINISHED_EARLY_FOR_RERUN.
    return (
        parsed.WhichOneof("type") == "script_finished"
        and parsed.script_finished == ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY
    )


PRESSES = {
    "an example": lambda tab: tab.pick("Examples", EXAMPLE),
    "own words": lambda tab: tab.type_sentence(OWN),
    "the toy": lambda tab: tab.pick("Model", "Toy"),
    "BERT": lambda tab: tab.pick("Model", "BERT"),
    "a head": lambda tab: tab.heads().nth(1).click(),
    "a cell": lambda tab: tab.matrix("scores").click(1, 2),
    "next": lambda tab: tab.page.get_by_role("button", name=re.compile("^Next")).click(),
    "code": lambda tab: tab.pick("More about this step", "NumPy"),
}


@pytest.mark.parametrize(
    ("presses", "start", "end"),
    [
        (["an example", "next"], {}, {"text": EXAMPLE, "step": "scale"}),
        (["own words", "next"], {}, {"text": OWN, "step": "scale"}),
        (["own words", "the toy"], {}, {"text": OWN, "model": "toy"}),
        (["own words", "code"], {}, {"text": OWN}),
        (["an example", "own words"], {}, {"text": OWN}),
        (["own words", "an example"], {}, {"text": EXAMPLE}),
        (["the toy", "own words"], {}, {"model": "toy", "text": OWN}),
        (["the toy", "a head"], {}, {"model": "toy", "head": "2"}),
        (["the toy", "a cell"], {}, {"model": "toy", "cell": "scores-1-2", "word": "1"}),
        (["the toy", "BERT"], {"head": "3"}, {}),
        (["BERT", "own words", "next"], {"model": "toy"}, {"text": OWN, "step": "scale"}),
        (["next", "the toy", "an example"], {}, {"model": "toy", "text": EXAMPLE, "step": "scale"}),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, list) else "",
)
def test_no_press_is_lost_and_none_is_made_up(tab, presses, start, end):
    line = Line(tab.page)
    tab.go(step="scores", **start)
    line.hold()
    for count, press in enumerate(presses, start=1):
        PRESSES[press](tab)
        line.wait_for_answers(count)
    line.release()
    tab.expect_query(**{"step": "scores", **end})
    expect(tab.field).to_have_value(end.get("text", "The cat sat on the mat"))
    chosen = "Toy" if end.get("model") == "toy" else "BERT"
    expect(tab.alternatives("Model").get_by_role("radio", name=chosen, exact=True)).to_be_checked()
    expect(tab.notices).to_have_count(0)
