from threading import Event

import pytest

from attention.models.downloads import MAX_AT_ONCE, Download, Downloads
from attention.models.hub import HubError
from attention.models.hub_download import Cancelled
from attention.models.store import Progress

PATIENCE = 120


class Fetch:
    """Goes on as it is told to, for each model."""

    def __init__(self):
        self.asked = []
        self.go_on = Event()
        self.error = None

    def __call__(self, model_id, on_progress, is_cancelled):
        self.asked.append(model_id)
        on_progress(Progress(30, 120, "bytes"))
        while not self.go_on.wait(0.01):
            if is_cancelled():
                raise Cancelled
        if self.error is not None:
            raise self.error
        on_progress(Progress(120, 120, "bytes"))


@pytest.fixture
def fetch():
    fetch = Fetch()
    yield fetch
    fetch.go_on.set()


def ended(download):
    download.wait(PATIENCE)
    return download.state()


def test_it_goes_on_by_itself_and_says_how_far_it_is(fetch):
    now = [0.0]
    download = Download("a", fetch, clock=lambda: now[0])
    fetch.go_on.set()
    state = ended(download)
    assert (state.is_over, state.is_cancelled, state.failure) == (True, False, None)
    assert state.progress == Progress(120, 120, "bytes")


def test_speed_and_rest_follow_from_the_time(fetch):
    times = iter([100.0, 110.0, 110.0])
    noted = Event()

    def slow(model_id, on_progress, is_cancelled):
        on_progress(Progress(30, 120, "bytes"))
        noted.set()
        fetch.go_on.wait(PATIENCE)

    download = Download("a", slow, clock=lambda: next(times))
    assert noted.wait(PATIENCE)
    state = download.state()
    assert (state.seconds, state.bytes_per_second, state.seconds_left) == (10.0, 3.0, 30.0)
    fetch.go_on.set()
    assert ended(download).seconds == 10.0


def test_one_download_for_each_model_whoever_asks(fetch):
    downloads = Downloads(fetch)
    first = downloads.start("a")
    assert downloads.start("a") is first
    assert downloads.all() == [first]
    fetch.go_on.set()
    ended(first)
    again = downloads.start("a")
    assert again is not first
    ended(again)
    assert fetch.asked == ["a", "a"]


def test_only_so_many_at_once(fetch):
    downloads = Downloads(fetch)
    running = [downloads.start(f"model-{i}") for i in range(MAX_AT_ONCE)]
    with pytest.raises(HubError, match="being fetched already"):
        downloads.start("one more")
    running[0].cancel()
    ended(running[0])
    fetch.go_on.set()
    ended(downloads.start("one more"))


def test_who_cancels_is_heard(fetch):
    download = Download("a", fetch)
    download.cancel()
    state = ended(download)
    assert (state.is_over, state.is_cancelled, state.failure) == (True, True, None)


def test_who_cancels_too_late_has_the_model():
    reached, go_on = Event(), Event()

    def deaf(model_id, on_progress, is_cancelled):
        reached.set()
        go_on.wait(PATIENCE)

    download = Download("a", deaf)
    assert reached.wait(PATIENCE)
    download.cancel()
    go_on.set()
    assert not ended(download).is_cancelled


def test_a_failure_is_kept_as_its_sentence(fetch):
    fetch.error = HubError("The hub is out of order.")
    fetch.go_on.set()
    assert ended(Download("a", fetch)).failure == "The hub is out of order."


def test_whatever_goes_wrong_becomes_a_sentence(fetch, caplog):
    fetch.error = RuntimeError("boom")
    fetch.go_on.set()
    failure = ended(Download("a", fetch)).failure
    assert failure.startswith("Couldn't fetch a ")
    assert "(RuntimeError)" in failure
    assert "RuntimeError" in caplog.text


def test_those_that_are_over_are_remembered_for_a_while(fetch):
    downloads = Downloads(fetch)
    fetch.go_on.set()
    for index in range(20):
        ended(downloads.start(f"model-{index}"))
    names = [each.model_id for each in downloads.all()]
    assert names[-1] == "model-19"
    assert len(names) < 12
