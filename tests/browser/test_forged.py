"""What a browser says over its line need not be what a widget can say: nothing raises, and nothing of it is logged."""

import json
import random
from collections import Counter

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from attention.pages import PAGES
from tests.bench.client import Visitor, visited

# A word that is nowhere else, to look for in what the server prints.
SECRET = "zyzzyvaquokka"
N_PER_PAGE = 60
TEXTS = ("", SECRET, SECRET * 300, f"\x00{SECRET}", f"<b>{SECRET}", "[1,2", "NaN", '{"a":' * 2000, "none", "7", "␣")
SENT = (None, SECRET, -1, 10**30, [], {}, [[]], {"row": SECRET}, {"matrix": "scores", "row": 0, "column": 99}, True)


def forged(chance, widget_id):
    """Return a value of any kind for a widget of any kind."""
    state, text = WidgetState(id=widget_id), chance.choice(TEXTS)
    name = chance.choice(("choose", "select", "pin", "heads", "threshold", "draw", "ask", "press"))
    event = {"value": chance.choice(SENT), "press": chance.choice((1, 10**40, SECRET, None)), "on": chance.choice(SENT)}
    match chance.randrange(12):
        case 0:
            state.string_value = text
        case 1:
            state.bool_value = True
        case 2:
            state.int_value = chance.choice((-1, 0, 10**9))
        case 3:
            state.double_value = chance.choice((float("nan"), 1e308, -1.0))
        case 4:
            state.json_value = chance.choice((text, json.dumps([SECRET]), json.dumps({name: SECRET}), "null"))
        case 5 | 6:
            state.json_value = json.dumps({name: event})
        case 7:
            state.trigger_value = True
        case 8:
            state.string_array_value.data.extend([text] * chance.choice((0, 1, 3)))
        case 9:
            state.int_array_value.data.extend([chance.choice((-1, 0, 99_999))] * chance.choice((0, 1, 3)))
        case 10:
            state.bytes_value = SECRET.encode()
        case 11:
            state.json_trigger_value = text
    return state


async def _say(url, page, seed):
    chance, kinds = random.Random(seed), Counter()
    visitor = await Visitor.open(url, page, model="toy")
    for _ in range(N_PER_PAGE):
        state = forged(chance, chance.choice(visitor.drawn.widgets()))
        # It raises where the page shows an exception.
        await visitor.send_state(state)
        kinds[state.WhichOneof("value")] += 1
    await visitor.close()
    return kinds


QUICK = "step_by_step"


# The page is the seed: a red test is red again.
@pytest.mark.parametrize(
    "page",
    [pytest.param(page.address, marks=[pytest.mark.quick] if page.address == QUICK else []) for page in PAGES],
)
def test_no_value_raises_and_none_is_logged(server, page):
    kinds = visited(_say(server.url, page, page))
    assert len(kinds) > 8
    assert SECRET not in server.printed()
    assert "Uncaught" not in server.printed()
