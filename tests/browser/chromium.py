"""The Chromium for the browser tests: find or install it.

    python tests/browser/chromium.py             # report which one
    python tests/browser/chromium.py --install   # install one if there is none

It looks at the environment variable CHROMIUM, for Chromium or Chrome on the PATH, and in Playwright's folder.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

# The shell first: it has no window of its own, for which a whole Chromium keeps a renderer busy even without a screen.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
DEBIANS_PACKAGES = ("chromium-headless-shell", "chromium")
ADVICE = "No Chromium for the browser tests: install the package chromium, or set CHROMIUM to one's path."


def find() -> str | None:
    """Return the path of a Chromium on this machine, or None.

    If CHROMIUM is set but not runnable, no other one is used instead.
    """
    asked_for = os.environ.get("CHROMIUM")
    if asked_for:
        return shutil.which(asked_for)
    for name in NAMES:
        if path := shutil.which(name):
            return path
    return _playwrights_own()


def _playwrights_own() -> str | None:
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return None
    try:
        with sync_playwright() as playwright:
            path = playwright.chromium.executable_path
    except Error:
        return None
    return path if os.access(path, os.X_OK) else None


def install() -> str | None:
    """Install a Chromium and return its path, or None if that fails.

    Use Debian's packages (as root, with apt-get), otherwise Playwright's downloader. If CHROMIUM is set but wrong, do
    nothing.
    """
    if os.environ.get("CHROMIUM"):
        return None
    if _is_root() and shutil.which("apt-get"):
        _run("apt-get", "update", "--quiet")
        options = ("--yes", "--quiet", "--no-install-recommends")
        for package in DEBIANS_PACKAGES:
            _run("apt-get", "install", *options, package, "fonts-dejavu-core")
            if path := find():
                return path
    _run(sys.executable, "-m", "playwright", "install", "chromium")
    return find()


def _run(*command: str) -> None:
    """Run a command; callers check for success themselves."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def launch_options() -> dict[str, object]:
    """Return the keyword arguments of Playwright's ``chromium.launch``; raise FileNotFoundError without a Chromium."""
    path = find()
    if path is None:
        raise FileNotFoundError(ADVICE)
    arguments = [
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        # Letters as wide as those of a whole Chromium: the shell's hinting would widen them.
        "--font-render-hinting=none",
    ]
    if _is_root():  # Chromium's sandbox refuses to run as root
        arguments.insert(0, "--no-sandbox")
    return {"executable_path": path, "args": arguments}


def main() -> int:
    """Report the Chromium, after installing one if asked to; return 1 if there is none."""
    parser = argparse.ArgumentParser(description="Find the Chromium that the browser tests drive.")
    parser.add_argument("--install", action="store_true", help="install one where there is none")
    arguments = parser.parse_args()
    path = find()
    if path is None and arguments.install:
        print("No Chromium on this machine yet: installing one.", flush=True)
        path = install()
    if path is None:
        print(ADVICE, file=sys.stderr)
        return 1
    print(f"Chromium: {Path(path)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
