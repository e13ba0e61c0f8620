"""The path through the rooms while a page is made: from content to lesson to figures, and back as blocks."""

import inspect
import os
import sys
from operator import attrgetter
from pathlib import Path

import pytest

import attention
from attention.lesson import steps
from attention.page.content.registry import CONTENTS
from attention.page.pages import PAGES

HOUSE = f"{Path(attention.__file__).parent}{os.sep}"
# From the top down. What lies deeper is asked by those above it, and asks none of them.
FLOORS = ("page/content", "lesson", "figures", "measures")
# What draws blocks, and knows no more of them than what they are.
DRAWS = ("answer/page_component", "answer/components", "answer/lines")
# What is handed down, and called back: what takes long, and is kept for all who look at the same run; the address at
# which a browser asks for numbers; and the columns of a table, which are made only where it is drawn.
CALLED_BACK = {("page/content", "answer/cache"), ("page/content", "answer/running"), ("figures", "answer/numbers")}
DRAWS_COLUMNS = "_rows"


def room(code):
    """The part of the project in which a function stands; None of anybody else's."""
    if not code.co_filename.startswith(HOUSE):
        return None
    return code.co_filename.removeprefix(HOUSE).removesuffix(".py").replace(os.sep, "/")


@pytest.fixture
def moves():
    """Every call from one room into another while a page is made."""
    found = set()

    def note(frame, event, argument):
        to = room(frame.f_code) if event == "call" else None
        # A generator that goes on was called before, by whoever has made it.
        if to is None or frame.f_code.co_flags & inspect.CO_GENERATOR:
            return
        caller = frame.f_back
        while caller is not None and room(caller.f_code) is None:
            caller = caller.f_back
        if caller is not None and caller.f_code.co_name != DRAWS_COLUMNS and room(caller.f_code) != to:
            found.add((room(caller.f_code), to))

    def watch(run):
        found.clear()
        sys.setprofile(note)
        try:
            run()
        finally:
            sys.setprofile(None)
        return set(found)

    return watch


def floor(room):
    """How far down a room is; None of one that is on no floor."""
    return next((index for index, name in enumerate(FLOORS) if room.startswith(f"{name}/")), None)


def wrong_turns(moves):
    """Climbs from one floor to another, or to the screen, and calls of what draws for what is to be drawn."""
    found = set()
    for a, to in moves:
        is_climb = floor(a) is not None and (
            to.startswith("answer/") or (floor(to) is not None and floor(to) < floor(a))
        )
        makes = a in DRAWS and floor(to) is not None and FLOORS[floor(to)] != "figures"
        if (is_climb or makes) and (FLOORS[floor(a) or 0], to) not in CALLED_BACK:
            found.add((a, to))
    return found


@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
def test_each_step_is_made_on_one_way_down_and_drawn_on_one_way_up(open_page, moves, model):
    shown = open_page(model=model, text="The old clock ticks in the hall", step=steps.STEPS[0].key)
    for _ in steps.STEPS[1:]:
        seen = moves(shown.go)
        # Both ways were watched.
        assert ("answer/page", "answer/page_component") in seen
        assert {(0, 1), (1, 2)} <= {(floor(a), floor(to)) for a, to in seen}
        assert wrong_turns(seen) == set()


@pytest.mark.parametrize("page", [page for page in PAGES if page in CONTENTS], ids=attrgetter("address"))
def test_so_is_every_page_of_blocks(open_page, moves, page):
    shown = open_page(model="minilm-l6", text="The old clock ticks in the hall")
    seen = moves(lambda: shown.open_link(page, {}))
    assert any(floor(a) == 0 for a, _ in seen)
    assert wrong_turns(seen) == set()
