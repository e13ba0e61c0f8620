"""What all tests share: Hypothesis's settings, and the list of slow files."""

from collections import Counter

from attention.app.process import prepare

# Before NumPy and its libraries are imported, as in the app.
prepare()

from hypothesis import settings  # noqa: E402

# No deadline, because the machine may be busy. Derandomised, so that failures repeat.
settings.register_profile("all", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("all")


def pytest_configure(config):
    config.pluginmanager.register(SlowestFiles())


class SlowestFiles:
    """Lists the ten slowest files at the end of a run."""

    def __init__(self):
        self.seconds = Counter()

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("slowest files")
        for file, seconds in self.seconds.most_common(10):
            terminalreporter.write_line(f"{seconds:6.0f} s  {file}")
