"""What the benchmarks share: the app in a separate process, and the table at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psutil
import pytest

from attention.models import load
from attention.models.bundled import MINILM
from attention.models.weights import locate
from tests.bench.report import Report
from tests.browser.server import AppServer, serve

REPORT = pytest.StashKey[Report]()
START = pytest.StashKey["Usage"]()
# The machine that the targets are for.
N_CORES = 2


@dataclass(frozen=True, slots=True)
class Usage:
    """The processor time so far, in seconds: of everything, and of this run."""

    everybody: float
    ours: float
    clock: float

    @classmethod
    def now(cls) -> Usage:
        times = psutil.cpu_times()
        idle = times.idle + getattr(times, "iowait", 0.0)
        return cls(sum(times) - idle, sum(os.times()[:4]), time.perf_counter())


def pytest_configure(config: pytest.Config) -> None:
    config.stash[REPORT] = Report()
    config.stash[START] = Usage.now()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    report = config.stash[REPORT]
    if not report.rows:
        return
    terminalreporter.section("benchmark")
    terminalreporter.line(_machine(config.stash[START], Usage.now()))
    terminalreporter.line("")
    for line in report.table():
        terminalreporter.line(line)


@pytest.fixture(scope="session")
def report(pytestconfig) -> Report:
    return pytestconfig.stash[REPORT]


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[AppServer]:
    """The app, restarted for each module, on as many cores as the targets assume."""
    with serve(tmp_path_factory.mktemp("server") / "log") as running:
        limit_cores(running.process.pid)
        yield running


def limit_cores(pid: int) -> None:
    """Limit a process to these cores, if the machine has more and the system allows it."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > N_CORES:
        psutil.Process(pid).cpu_affinity(cores[:N_CORES])


def _machine(start: Usage, end: Usage) -> str:
    n_cores = psutil.cpu_count() or 1
    others = (end.everybody - start.everybody) - (end.ours - start.ours)
    share = max(0.0, others) / (n_cores * (end.clock - start.clock))
    return f"Wall-clock times on {n_cores} cores, which other programs kept {share:.0%} busy meanwhile."


@pytest.fixture(scope="module")
def model():
    return load("minilm-l6")


@pytest.fixture(scope="module")
def plain(model):
    """The same model under transformers' SDPA."""
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.from_pretrained(locate(MINILM.weights), local_files_only=True)
    twin = AutoModel.from_config(config, attn_implementation="sdpa").eval()
    twin.load_state_dict(model._stack.module.state_dict(), assign=True)
    return twin
