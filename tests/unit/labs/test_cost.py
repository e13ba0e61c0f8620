"""*What it costs*: statements about a measurement against its numbers, and the paper part against arithmetic."""

import re
from datetime import UTC, datetime
from functools import partial

import numpy as np
import pytest

from attention.experiments.costs import JOB, LENGTHS, NEW, Measured, Point, shipped
from attention.lesson.head_context import HeadContext
from attention.models import list_models
from attention.page.blocks import Panels, Picture, Section, Table, Work, walk
from attention.page.labs.cost import COST, LAB
from attention.page.labs.cost.amounts import as_bytes, count, seconds, short
from attention.page.pages import OF_LABS
from attention.page.view import View
from attention.training.jobs import Run
from tests.drawn import current
from tests.fresh import OfJob
from tests.loaded import load
from tests.unit.labs.seen import content as lab_content
from tests.unit.labs.seen import one, prose
from tests.unit.saying import plain, says, tells

BEGAN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
MODELS = [info.model_id for info in list_models()]
# Made-up laws: seconds and bytes by the number of tokens.
LAWS = {
    "explicit": (lambda n: 5e-8 * n**2, lambda n: 32 * n**2 + 1024 * n),
    "fused": (lambda n: 2e-8 * n**1.9, lambda n: 1200 * n),
    "lstm": (lambda n: 3e-5 * n, lambda n: 2**21 + 9000 * n),
    "cached": (lambda n: 4e-4 * n, lambda n: 4096 * n),
    "anew": (lambda n: 2e-5 * n**2, lambda n: 0),
}


Runs = partial(OfJob, JOB)


def measured(**laws):
    laws = LAWS | laws
    order = [(way, n) for n in LENGTHS for way in ("explicit", "fused", "lstm")]
    order += [(way, n) for way in ("cached", "anew") for n in NEW]
    return [Point(way, n, laws[way][0](n), int(laws[way][1](n)), 3e-7) for way, n in order]


def run(n=None, ending="done", **laws):
    points = measured(**laws)
    frames = tuple(
        {"share": np.float64(done / len(points))} | point.arrays() for done, point in enumerate(points[:n], 1)
    )
    return Run((), "", BEGAN, frames, ending, 21.4)


def shown(runs, scene=None, **knobs):
    return lab_content(LAB, scene, runs, **knobs)


def side(blocks, name):
    (panels,) = (block for block in blocks if isinstance(block, Panels))
    return walk(panels.contents[name])


def pictures(blocks, *names):
    return [block for name in names for block in side(blocks, name) if isinstance(block, Picture)]


def test_before_anything_is_measured_here_what_was_measured_elsewhere_is_shown_and_named():
    blocks = shown(Runs())
    work = one(blocks, Work, "measure")
    assert (work.label, work.arguments, work.share, work.is_off) == ("Measure time and memory", (), None, False)
    there = shipped()
    drawn = pictures(blocks, "time", "writing")
    points = [float(y) for block in drawn for trace in block.figure.figure.data for y in trace.y]
    assert sorted(points) == pytest.approx(sorted(1000 * each.seconds for each in there.points))
    for name in ("time", "memory", "writing", "paper"):
        told = prose(side(blocks, name))
        # What is on paper was not measured.
        assert {each in told for each in (there.machine.processor, there.machine.day)} == {name != "paper"}
    # Once there is something of this server's own, nothing of the other machine is said.
    own = prose(side(shown(Runs(last=run())), "time"))
    assert there.machine.processor not in own
    assert tells(own, "cost/own")


def test_what_ships_is_a_whole_measurement_of_the_ways_and_lengths_that_are_shown():
    there = shipped()
    assert {(each.way, each.length) for each in there.points} == {(each.way, each.length) for each in measured()}
    assert Measured.read(there.written()) == there
    assert all(each.seconds > 0 for each in there.points)
    assert not re.search(r"[/\\]", there.machine.processor)


@pytest.mark.parametrize("runs", [Runs(), Runs(last=run())], ids=["shipped", "own"])
@pytest.mark.parametrize("name", ["time", "memory", "writing", "paper"])
def test_before_the_answer_only_what_grows_evenly_is_drawn(name, runs):
    blocks = walk(LAB.before(View(page=OF_LABS[LAB]).replaced(COST, name), None, runs))
    drawn = [trace.name for block in pictures(blocks, name) for trace in block.figure.figure.data]
    has_cover = any(isinstance(block, Section) and block.is_cover for block in blocks)
    assert (drawn, has_cover) == ((["LSTM"], False) if name in ("time", "memory") else ([], True))
    assert not any(isinstance(block, Table) for block in blocks)
    assert not says(prose(blocks), "2.00")


@pytest.mark.parametrize(("name", "way"), [("time", 0), ("memory", 1)])
def test_how_much_more_an_lstm_takes_is_what_was_measured(name, way):
    blocks = LAB.before(View(page=OF_LABS[LAB]).replaced(COST, name), None, Runs(last=run()))
    first, last = LENGTHS[0], LENGTHS[-1]
    grown = LAWS["lstm"][way](last) / LAWS["lstm"][way](first)
    assert says(prose(walk(blocks)), last // first, f"{grown:.1f}")


def test_every_point_adds_to_the_pictures_and_who_only_watches_cannot_stop_it():
    for n in range(1, len(measured()) + 1):
        blocks = shown(Runs(now=run(n, ending=""), last=run(), is_own=True))
        drawn = pictures(blocks, "time", "writing")
        assert sum(len(trace.y) for block in drawn for trace in block.figure.figure.data) == n
        for block in walk(blocks):
            if isinstance(block, Picture):
                block.figure.payload()
    work = one(shown(Runs(now=run(9, ending=""), is_own=False)), Work, "measure")
    assert "up to 256 tokens" in work.told
    assert (work.share, work.is_off, work.stops) == (9 / 33, False, "")


def test_the_powers_that_are_told_are_those_of_what_was_measured():
    blocks = shown(Runs(last=run()))
    time = prose(side(blocks, "time"))
    assert says(time, "512", "4,096", "2.00")
    assert says(time, "1.90", "1.00")
    memory = prose(side(blocks, "memory"))
    assert says(memory, "541 MB")
    assert "268 MB each" in memory
    writing = prose(side(blocks, "writing"))
    assert says(writing, "512", "5.24 s", "205 ms", "25.6")
    assert says(writing, "2.00", "1.00")
    assert says(writing, "2.10 MB")


def test_where_the_fused_way_keeps_all_scores_that_is_said():
    blocks = shown(Runs(last=run(fused=LAWS["explicit"])))
    assert tells(prose(side(blocks, "memory")), "cost/memory-whole")


def test_while_only_some_ways_have_a_length_it_is_not_told_of():
    blocks = shown(Runs(now=run(10, ending=""), is_own=True))
    time = prose(side(blocks, "time"))
    # The explicit way has 512 already, and the others have not.
    assert "From 128 to 256 tokens" in time
    assert tells(prose(side(shown(Runs(now=run(5, ending=""))), "time")), "cost/not-enough")


def test_the_pictures_and_the_tables_have_every_point():
    blocks = shown(Runs(last=run()))
    drawn = one(blocks, Picture, "memory_chart").figure
    for trace, way in zip(drawn.figure.data, ("explicit", "fused", "lstm"), strict=True):
        np.testing.assert_allclose(trace.y, [int(LAWS[way][1](n)) / 1e6 for n in LENGTHS])
    table = one(blocks, Table, "lengths_table").make()
    assert table["tokens"] == list(map(str, LENGTHS))
    assert [float(each) for each in table["LSTM: seconds"]] == [3e-5 * n for n in LENGTHS]
    table = one(blocks, Table, "writing_table").make()
    assert [int(each) for each in table["with a cache: bytes"]] == [4096 * n for n in NEW]


@pytest.mark.parametrize(
    ("tokens", "kept", "told"),
    [
        (2**10, 8, ("1,024 × 1,024 = 1.05 million", "1.07 billion", "134 MB", "268 million")),
        (2**17, 8, ("17.2 billion scores", "17.6 trillion", "131,072 bytes", "17.2 GB", "34.4 billion")),
        (
            2**20,
            8,
            ("1.10 trillion scores", "1.13 quadrillion", "137 GB", "275 billion", "stops at 131,072"),
        ),
        (2**17, 32, ("524,288 bytes", "68.7 GB for all", "8.31 billion", "31,700 tokens")),
    ],
)
def test_what_is_told_on_paper_is_what_arithmetic_gives(tokens, kept, told):
    blocks = side(shown(Runs(), tokens=tokens, kept=kept), "paper")
    text = prose(blocks)
    for each in told:
        assert each in text
    assert ("The paper stops" in text) == (tokens > 2**17)
    drawn = one(blocks, Picture, "caches").figure
    assert [current(trace) for trace in drawn.figure.data].count(tokens.bit_length() - 11) == 1


def test_the_curves_on_paper_cross_where_the_text_says():
    blocks = side(shown(Runs(), tokens=2**15, kept=8), "paper")
    rest, back = one(blocks, Picture, "looking_back").figure.figure.data
    assert "equal at 28,628 tokens" in prose(blocks)
    assert [bool(one > other) for one, other in zip(back.y, rest.y, strict=True)] == [False] * 5 + [True] * 6


@pytest.mark.parametrize("model", MODELS)
def test_what_is_said_of_a_text_is_what_its_model_made_of_it(model):
    made = load(model)
    trace = made.trace(made.info.reading.first)
    for part in (None, *(("cross",) if trace.decoder is not None else ())):
        own = trace if part is None else trace.part(part)
        scene = HeadContext(own, 0, 0, 0)
        n_queries, n_keys = len(own.tokens), len(own.key_tokens)
        told = prose(shown(Runs(), scene))
        assert says(told, f"{n_queries * n_keys:,}")
        total = n_queries * n_keys * len(own.layers) * trace.info.n_heads
        assert f"{total:,} in all" in told
        guess = LAB.guess(scene)
        assert guess.answers[min(guess.right)] == "four times as many"
        assert f"= {4 * n_queries * n_keys:,} scores" in plain(guess.reason)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (as_bytes(999), "999 B"),
        (as_bytes(1000), "1.00 kB"),
        (as_bytes(2.2e12), "2.20 TB"),
        (seconds(3.1e-5), "31.0 µs"),
        (count(999_999), "999,999"),
        (count(2**30), "1.07 billion"),
        (short(2**17), "128k"),
    ],
)
def test_amounts_have_three_digits_and_a_unit(written, wanted):
    assert plain(written) == wanted
