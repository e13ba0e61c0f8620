"""What lies below the head of a page runs by itself: the head stays, and both are as a fresh link shows them."""

import json

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.bench.client import STEP_PAGE, Visitor, visited

# Presses below the head: the key of a component, what it sends, and the value.
PRESSES = {
    "a step": (STEP_PAGE, "stepper", "choose", "sum"),
    "a word": (STEP_PAGE, "context", "word", "3"),
    "the mask": (STEP_PAGE, "context", "mask", "causal"),
    "side by side": (STEP_PAGE, "context", "beside", True),
    "the guess": (STEP_PAGE, "context", "guess", True),
    "a head on the map": (STEP_PAGE, "map", "go", {"head": 2}),
    "a head of all": ("all_heads", "atlas", "select", {"layer": 1, "head": 0}),
    "a word of the neuron view": ("neuron_view", "context", "word", "2"),
}
# What the head shows.
ABOVE = {
    "a sentence": ("header", "text", "A quick brown fox"),
    "a model": ("header", "model", "minilm-l6"),
    "for a room": ("stepper", "present", True),
}


async def after(url, page, key, name, value, **query):
    """Open a page, press, and open what the link says then as somebody else."""
    visitor = await Visitor.open(url, page, **query)
    drawn = await visitor.send(key, name, value)
    fresh = await Visitor.open(url, page, **visitor.query)
    await visitor.close()
    await fresh.close()
    return drawn, fresh.drawn


def shown(drawn):
    """Return all that a page shows, without the number of the run and what an element is called by."""
    found = []
    for element in drawn.elements:
        kind = element.WhichOneof("type")
        if kind == "bidi_component":
            found.append((element.bidi_component.component_name, *json.loads(element.bidi_component.json)[:2]))
        elif kind in ("html", "markdown", "heading"):
            found.append((kind, getattr(element, kind).body))
        # A bar that is over leaves nothing behind but its place.
        elif kind not in ("text_input", "empty"):
            found.append((kind, getattr(getattr(element, kind), "label", "")))
    return found


@pytest.mark.parametrize("press", PRESSES)
def test_what_runs_alone_is_what_a_fresh_link_shows(server, press):
    page, *sent = PRESSES[press]
    drawn, fresh = visited(after(server.url, page, *sent, model="toy"))
    assert drawn.is_part
    assert not fresh.is_part
    assert shown(drawn) == shown(fresh)


@pytest.mark.parametrize("press", ABOVE)
def test_what_changes_the_head_runs_the_whole_page(server, press):
    drawn, fresh = visited(after(server.url, STEP_PAGE, *ABOVE[press], model="toy"))
    assert not drawn.is_part
    assert shown(drawn) == shown(fresh)


def test_a_press_in_a_part_of_which_the_server_does_not_know_runs_the_whole_page(server):
    async def press():
        visitor = await Visitor.open(server.url, STEP_PAGE, model="toy")
        state = WidgetState(id=visitor.drawn.widget("stepper"))
        state.json_value = '{"choose": {"value": "sum", "press": 1, "on": ""}}'
        drawn = await visitor.send_state(state, part="0" * 32)
        await visitor.close()
        return drawn, visitor.query

    drawn, query = visited(press())
    assert not drawn.is_part
    assert query["step"] == "sum"
