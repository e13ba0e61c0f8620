import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script with nothing in its environment but what the test gives it."""
    return subprocess.run(
        [sys.executable, "tests/browser/chromium.py", *options],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def a_program(folder: Path, name: str) -> str:
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def nowhere(tmp_path):
    """A PATH, a home and a place for Playwright's browsers, all empty."""
    empty = tmp_path / "empty"
    empty.mkdir()
    return {"PATH": str(empty), "HOME": str(empty), "PLAYWRIGHT_BROWSERS_PATH": str(empty)}


def test_without_a_chromium_one_line_says_what_to_install(nowhere):
    done = run(**nowhere)
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "install the package chromium" in done.stderr


@pytest.mark.slow
def test_a_failed_installation_says_the_same(nowhere):
    # No apt-get on this PATH, and nobody answers at Playwright's download host.
    done = run("--install", **nowhere, PLAYWRIGHT_DOWNLOAD_HOST="http://127.0.0.1:9")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "install the package chromium" in done.stderr


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_finds_one_on_the_path(nowhere, tmp_path, name):
    path = a_program(tmp_path, name)
    done = run(**nowhere | {"PATH": f"{nowhere['PATH']}{os.pathsep}{tmp_path}"})
    assert done.returncode == 0
    assert done.stdout == f"Chromium: {path}\n"


def test_the_one_that_was_asked_for_comes_first(nowhere, tmp_path):
    a_program(tmp_path, "chromium")
    mine = a_program(tmp_path, "my-browser")
    done = run(**nowhere | {"PATH": str(tmp_path), "CHROMIUM": mine})
    assert done.stdout == f"Chromium: {mine}\n"


def test_no_other_one_stands_in_for_the_one_that_was_asked_for(nowhere, tmp_path):
    a_program(tmp_path, "chromium")
    done = run("--install", **nowhere | {"PATH": str(tmp_path), "CHROMIUM": str(tmp_path / "gone")})
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
