"""Take the pictures that README shows, from the running app, so that they stay true."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import launch_options
from tests.browser.server import ROOT, serve
from tests.browser.tab import IS_DRAWN

FOLDER = ROOT / "assets" / "screenshots"
STEP_PAGE = "step_by_step?step="
SHOTS = {
    "front": ("", 1280, 720, "light"),
    "scores": (f"{STEP_PAGE}scores&layer=6&head=7&cell=scores-3-6", 1400, 1000, "light"),
    "softmax-dark": (f"{STEP_PAGE}softmax", 1400, 1000, "dark"),
    "side-by-side": (f"{STEP_PAGE}softmax&beside=1", 1400, 1100, "light"),
    "all-heads": ("all_heads", 1400, 900, "light"),
    "cross-attention": (f"{STEP_PAGE}softmax&model=translator-fr-en&part=cross&word=2", 1400, 1100, "light"),
    "digits": (f"{STEP_PAGE}tokens&model=vit-digits", 1400, 1250, "light"),
}


def shoot(browser: Browser, url: str, path: Path, *, width: int, height: int, scheme: str) -> None:
    """Open a page, wait until it is drawn, and save what a person sees."""
    dark = "dark" if scheme == "dark" else "light"
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=dark, reduced_motion="reduce")
    page.goto(url)
    settle(page)
    page.screenshot(path=path)
    page.close()


def settle(page: Page) -> None:
    """Wait until the script has run, everything that it sent is drawn, and the page's style has arrived."""
    page.get_by_role("note", name="Proof").or_(page.get_by_role("status").first).first.wait_for(timeout=60_000)
    page.wait_for_function(IS_DRAWN, timeout=60_000)
    page.wait_for_function("() => document.fonts.ready.then(() => true)")
    # A picture that turns into another one comes to rest.
    expect(page.locator("[data-turning]")).to_have_count(0, timeout=60_000)


def main() -> None:
    """Take every picture."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, serve(Path(scratch) / "log") as server, sync_playwright() as driver:
        browser = driver.chromium.launch(**launch_options())
        for name, (path, width, height, scheme) in SHOTS.items():
            target = FOLDER / f"{name}.png"
            shoot(browser, f"{server.url}/{path}", target, width=width, height=height, scheme=scheme)
            print(target)
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
