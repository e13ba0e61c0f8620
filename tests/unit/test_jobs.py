"""Jobs: one at a time, in the order of requests; each is a process, which may end in many ways."""

import io
import json

import numpy as np
import pytest

from attention.experiments.costs import JOB, Point, points
from attention.training.jobs import PATIENCE as FOLLOWED
from attention.training.jobs import Job, Jobs, Status, read_frames, write_frame
from attention.training.last_run import LastRuns
from tests.until import until

# Modules that any Python has would say nothing that we can read: so what runs is one of ours.
COUNT = Job("count", "tests.counting")
SLOW = Job("slow", "tests.counting")
SHORT = Job("short", "tests.counting", most_seconds=0.1)
PATIENCE = 60


@pytest.fixture
def jobs(clock):
    made = Jobs(clock=clock)
    yield made
    # Nobody follows anything any more.
    clock.now += FOLLOWED
    made.status(COUNT)
    made.wait(PATIENCE)


def test_frames_come_back_as_they_were_written_and_cannot_be_changed():
    stream = io.BytesIO()
    write_frame(stream, 0.5, a=np.arange(3, dtype=np.float32))
    write_frame(stream, 1.0, a=np.zeros((2, 2)))
    whole = stream.getvalue()
    first, second = read_frames(io.BytesIO(whole))
    assert (float(first["share"]), float(second["share"])) == (0.5, 1.0)
    np.testing.assert_array_equal(first["a"], [0, 1, 2])
    with pytest.raises(ValueError, match="read-only"):
        first["a"][0] = 1
    # Of a frame whose writer was stopped half way, nothing is read.
    assert len(list(read_frames(io.BytesIO(whole[:-1])))) == 1
    assert list(read_frames(io.BytesIO(whole[:5]))) == []


def test_what_a_job_finds_is_kept(jobs):
    assert jobs.start(COUNT, ("3",), "me")
    jobs.wait(PATIENCE)
    found = jobs.status(COUNT).last
    assert (found.ending, found.share, found.arguments) == ("done", 1.0, ("3",))
    assert [int(frame["number"]) for frame in found.frames] == [1, 2, 3]
    assert jobs.status(SLOW).last is None


def test_there_is_one_at_a_time_and_only_who_has_started_it_stops_it(jobs):
    assert jobs.start(SLOW, ("1000",), "me")
    assert not jobs.start(SLOW, (), "me")
    until(lambda: jobs.status(SLOW).now.frames)
    assert jobs.status(SLOW, "me").is_own
    assert not jobs.status(SLOW, "you").is_own
    assert jobs.status(COUNT).is_busy
    jobs.stop(SLOW, "you")
    jobs.stop(COUNT, "me")
    assert jobs.status(SLOW).now is not None
    jobs.stop(SLOW, "me")
    jobs.wait(PATIENCE)
    found = jobs.status(SLOW)
    assert (found.now, found.last.ending) == (None, "stopped")
    assert found.last.frames


def places(jobs, *owners, job=COUNT):
    return [jobs.status(job, owner).place for owner in owners]


def ended(turns):
    """The turns in the order in which they have begun."""
    until(lambda: all(turn.run is not None and turn.run.ending for turn in turns))
    return sorted(turns, key=lambda turn: turn.run.began)


def test_who_asks_while_something_goes_on_comes_next_in_the_order_of_asking(jobs):
    going = jobs.start(SLOW, ("1000",), "me")
    until(lambda: going.run.frames)
    ada, bob = (jobs.start(COUNT, ("1",), owner) for owner in ("ada", "bob"))
    assert places(jobs, "ada", "bob", "cleo") == [1, 2, 0]
    # Where one waits, one waits alone: for another job, one has no place.
    assert places(jobs, "ada", job=SLOW) == [0]
    assert {jobs.status(job, "cleo").n_waiting for job in (SLOW, COUNT)} == {2}
    jobs.stop(SLOW, "me")
    # Who presses again first is behind those who have waited.
    again = jobs.start(SLOW, ("1",), "me")
    assert ended([ada, bob, again, going]) == [going, ada, bob, again]
    jobs.wait(PATIENCE)
    assert jobs.status(SLOW, "me").n_waiting == 0


def test_a_visitor_has_one_place_whatever_is_pressed_and_can_leave_it(jobs):
    jobs.start(SLOW, ("1000",), "me")
    first, bob, second = (jobs.start(COUNT, (n,), owner) for n, owner in (("1", "ada"), ("2", "bob"), ("3", "ada")))
    assert places(jobs, "ada", "bob") == [1, 2]
    jobs.stop(COUNT, "cleo")
    assert places(jobs, "ada", "bob") == [1, 2]
    jobs.stop(SLOW, "me")
    assert ended([bob, second]) == [second, bob]
    assert first.run is None
    jobs.wait(PATIENCE)
    jobs.start(SLOW, ("1000",), "me")
    left, stays = (jobs.start(COUNT, ("1",), owner) for owner in ("ada", "bob"))
    jobs.stop(COUNT, "ada")
    assert places(jobs, "ada", "bob") == [0, 1]
    jobs.stop(SLOW, "me")
    assert ended([stays]) == [stays]
    assert left.run is None


@pytest.mark.parametrize("text", ["", "a text"])
def test_a_run_goes_on_while_somebody_who_may_see_it_follows_it_and_no_longer(jobs, clock, text):
    turn = jobs.start(SLOW, ("1000",), "me", text)
    for owner in ("me", "you", "me"):
        clock.now += FOLLOWED / 2
        jobs.status(SLOW, owner)
    n_frames = len(turn.run.frames)
    until(lambda: len(turn.run.frames) > n_frames + 1)
    assert not turn.run.ending
    # Somebody else sees a run without a text, and only that; who looks at another job, or without a name, does not.
    clock.now += FOLLOWED / 2
    jobs.status(SLOW, "you")
    jobs.status(COUNT, "me")
    clock.now += FOLLOWED / 2
    jobs.status(SLOW)
    n_frames = len(turn.run.frames)
    if not text:
        until(lambda: len(turn.run.frames) > n_frames + 1)
        clock.now += FOLLOWED / 2
    # The run itself notices: nobody need ask.
    jobs.wait(PATIENCE)
    assert turn.run.ending == "stopped"


def test_a_place_whose_visitor_has_gone_is_nobodys(jobs, clock):
    jobs.start(SLOW, ("1000",), "me")
    gone, here = (jobs.start(COUNT, ("1",), owner) for owner in ("ada", "bob"))
    clock.now += FOLLOWED / 2
    jobs.status(SLOW, "me")
    assert places(jobs, "bob") == [2]
    clock.now += FOLLOWED / 2
    assert places(jobs, "bob") == [1]
    jobs.stop(SLOW, "me")
    assert ended([here]) == [here]
    assert gone.run is None


def test_a_run_that_was_stopped_takes_no_place_of_one_that_came_to_its_end(jobs):
    jobs.start(COUNT, ("2",), "me")
    jobs.wait(PATIENCE)
    jobs.start(COUNT, ("1000",), "me")
    until(lambda: jobs.status(COUNT).now.frames)
    jobs.stop(COUNT, "me")
    jobs.wait(PATIENCE)
    assert jobs.status(COUNT).last.arguments == ("2",)


def test_a_job_ends_when_its_time_is_up(jobs):
    jobs.start(SHORT, ("1000",), "me")
    jobs.wait(PATIENCE)
    assert jobs.status(SHORT).last.ending == "late"


def test_a_job_that_fails_is_told_of(jobs, capfd):
    jobs.start(COUNT, ("none",), "me")
    jobs.wait(PATIENCE)
    assert jobs.status(COUNT).last.ending == "failed"
    assert "ValueError" in capfd.readouterr().err


def test_where_no_process_can_be_started_that_is_said_and_nothing_is_in_the_way(jobs, monkeypatch):
    def refuse(*_, **__):
        raise OSError(12, "Cannot allocate memory")

    with monkeypatch.context() as patch:
        patch.setattr("attention.training.jobs.subprocess.Popen", refuse)
        turns = [jobs.start(COUNT, ("1",), "me", text) for text in ("", "a text")]
    assert [turn.run.ending for turn in turns] == ["failed", "failed"]
    assert not jobs.status(COUNT).last.is_private
    whole(jobs, COUNT, "1")
    assert jobs.status(COUNT).last.ending == "done"


# A pipe has room for a third of it.
TEXT = "Ein Kätzchen 🐈\u200d⬛ مرحبا\n" * 8_000


@pytest.mark.parametrize("n_frames", ["3", "none"])
def test_of_a_text_that_a_job_has_read_nothing_is_kept_but_by_who_has_started_it(jobs, capfd, n_frames):
    going = jobs.start(COUNT, (n_frames,), "me", TEXT)
    found = jobs.status(COUNT, "me")
    assert found.is_own
    assert found.now.is_private
    # To anybody else, it is as if something else went on.
    for other in ("you", ""):
        assert jobs.status(COUNT, other) == Status(None, None, is_busy=True)
        jobs.stop(COUNT, other)
    jobs.wait(PATIENCE)
    assert jobs.status(COUNT, "me") == Status()
    assert going.run.ending == ("done" if n_frames == "3" else "failed")
    assert [str(frame["text"]) for frame in going.run.frames] == ([TEXT] * 3 if n_frames == "3" else [])
    assert "Kätzchen" not in "".join(capfd.readouterr())
    assert "Kätzchen" not in repr(going.run)


def test_what_was_found_without_a_text_stays_when_somebody_gives_one(jobs):
    jobs.start(COUNT, ("2",), "you")
    jobs.wait(PATIENCE)
    jobs.start(COUNT, ("3",), "me", TEXT)
    assert jobs.status(COUNT, "you").last.arguments == ("2",)
    jobs.wait(PATIENCE)
    assert jobs.status(COUNT, "me").last.arguments == ("2",)


def test_a_job_need_not_read_what_it_is_given(jobs):
    going = jobs.start(COUNT, ("2", "deaf"), "me", TEXT)
    jobs.wait(PATIENCE)
    assert (going.run.ending, len(going.run.frames)) == ("done", 2)


def number_of(frames):
    return [int(frame["number"]) for frame in frames]


KEPT = Job("kept", "tests.counting", checks=number_of)


def whole(jobs, job, n_frames, text=""):
    jobs.start(job, (n_frames,), "me", text)
    jobs.wait(PATIENCE)
    return jobs.status(job, "me").last


def test_the_last_run_outlives_the_server_with_its_date(tmp_path):
    before = whole(Jobs(LastRuns(tmp_path)), KEPT, "3")
    after = Jobs(LastRuns(tmp_path)).status(KEPT).last
    assert (after.ending, after.share, number_of(after.frames)) == ("done", 1.0, [1, 2, 3])
    assert (after.began, after.seconds, after.arguments) == (before.began, before.seconds, ("3",))
    # Who has started it is nobody's business.
    assert "me" not in json.loads((tmp_path / "kept.json").read_text("utf-8")).values()
    assert [each.name for each in tmp_path.iterdir()] == ["kept.json"]
    with pytest.raises(ValueError, match="read-only"):
        after.frames[0]["number"][...] = 7


def test_a_run_that_failed_takes_no_place_of_one_on_disk(tmp_path, capfd):
    whole(Jobs(LastRuns(tmp_path)), KEPT, "2")
    assert whole(Jobs(LastRuns(tmp_path)), KEPT, "none").arguments == ("2",)
    assert Jobs(LastRuns(tmp_path)).status(KEPT).last.arguments == ("2",)
    assert "ValueError" in capfd.readouterr().err


def test_only_jobs_that_say_so_come_to_the_disk_and_no_text(tmp_path):
    jobs = Jobs(LastRuns(tmp_path))
    whole(jobs, COUNT, "1")
    whole(jobs, KEPT, "1", "a text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "written",
    [
        "",
        '{"began": "2025-01-01", "arguments": [], "ending": "done", "seconds": 1, "frames": [{"number": "x"}]}',
    ],
)
def test_a_file_that_is_no_run_is_as_good_as_none(tmp_path, written):
    (tmp_path / "kept.json").write_text(written, "utf-8")
    assert Jobs(LastRuns(tmp_path)).status(KEPT) == Status()


def test_where_nothing_can_be_written_the_server_goes_on(tmp_path):
    (tmp_path / "file").write_text("")
    assert whole(Jobs(LastRuns(tmp_path / "file")), KEPT, "1").ending == "done"


def test_what_was_measured_is_read_back_as_it_was(tmp_path):
    run = whole(Jobs(), COUNT, "1")
    point = Point("lstm", 64, 0.5, 10, 1e-7)
    frame = {"share": np.float64(1.0), **point.arrays()}
    LastRuns(tmp_path).keep(JOB, type(run)((), "", run.began, (frame,), "done", 1.0))
    assert points(LastRuns(tmp_path).find(JOB).frames) == (point,)
