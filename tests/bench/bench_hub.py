"""The delay caused by a silent hub, and the time to cancel a download."""

from __future__ import annotations

import time
from threading import Event, Thread

import pytest

from attention.models import hub, local, store
from attention.models.hub import HubError
from attention.models.hub_download import PATIENCE, Cancelled
from tests import tiny_models
from tests.small_hub import serve_hub

ID = "tiny/bert"
MAX_SECONDS = PATIENCE + 1
MAX_SECONDS_CANCELLED = PATIENCE / 4


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A hub with one tiny model, and an empty cache."""
    with serve_hub() as small:
        small.models[ID] = tiny_models.make("bert", tmp_path / "bert")
        monkeypatch.setenv("HF_ENDPOINT", f"{small.url}/")
        monkeypatch.setenv(hub.ALLOW_VARIABLE, "*")
        monkeypatch.setenv(store.CACHE_DIR_VARIABLE, str(tmp_path / "cache"))
        yield small
        small.go_on.set()


def test_a_silent_hub_is_told_soon(report, small):
    small.is_silent = True
    start = time.perf_counter()
    with pytest.raises(HubError):
        local.fetch(ID, lambda progress: None, lambda: False)
    report.compare(
        "Models", "a hub that says nothing: until one is told", time.perf_counter() - start, MAX_SECONDS, " s", 1
    )


def test_a_download_that_is_cancelled_ends_soon(report, small):
    small.wait_at = 2**15
    cancel, reached = Event(), Event()
    ended = []

    def run():
        try:
            local.fetch(ID, lambda progress: reached.set(), cancel.is_set)
        except Cancelled:
            ended.append(time.perf_counter())

    thread = Thread(target=run)
    thread.start()
    assert reached.wait(30)
    pressed = time.perf_counter()
    cancel.set()
    thread.join(30)
    what = "a download that is cancelled: until it has ended"
    report.compare("Models", what, ended[0] - pressed, MAX_SECONDS_CANCELLED, " s", 2)
