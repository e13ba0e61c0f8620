"""Take the pictures for README, docs/ and the cards from the running app."""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, expect, sync_playwright

from attention.page import pages
from tests.browser.chromium import launch_options
from tests.browser.server import ROOT, serve
from tests.browser.tab import IS_DRAWN

FOLDER = ROOT / "assets" / "screenshots"
THUMBNAILS = ROOT / "assets" / "thumbnails"
# A card shows the largest picture of a page's first screen, from its corner, in 16:9.
SMALL = (480, 270)
LARGEST = """() => {
  const sizes = [...document.querySelectorAll(".page .figure, .page .st-key-cards")].flatMap((each) => {
    if (each.shadowRoot?.querySelector(".root")?.matches(".line, .stepper, .question, .work, .map")) return [];
    const { x, y, width, bottom } = each.getBoundingClientRect();
    return [{ x, y, width, area: width * (Math.min(bottom, innerHeight) - y) }];
  });
  return sizes.sort((one, other) => other.area - one.area)[0];
}"""
HAS_IMAGES_AND_CHARTS = """() => {
  const plots = [...document.querySelectorAll(".page .figure")].flatMap((each) => [
    ...(each.shadowRoot?.querySelectorAll(".plot") ?? []),
  ]);
  return [...document.images].every((each) => each.complete) && plots.every((each) => each.querySelector(".main-svg"));
}"""
# Views to show instead of a page's default.
BEST = {pages.STEP_BY_STEP: "?step=softmax"}
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
# The frames of the animated picture in README, and how long each is shown, in ms.
TOUR = ("", *(f"{STEP_PAGE}{step}" for step in ("tokens", "qkv", "scores", "softmax", "sum", "heads")), "all_heads")
FRAME, FRAME_MS = (960, 540), 1800


def shoot(browser: Browser, url: str, path: Path, *, width: int, height: int, scheme: str) -> None:
    """Open a page, wait until it is drawn, and save a screenshot."""
    dark = "dark" if scheme == "dark" else "light"
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=dark, reduced_motion="reduce")
    page.goto(url)
    settle(page)
    page.screenshot(path=path)
    page.close()


def settle(page: Page) -> None:
    """Wait until the page, its pictures and its styles are complete."""
    below_the_head = page.locator(".page:not([aria-busy]) > :not(.around-masthead, .around-way, [hidden])")
    below_the_head.first.wait_for(timeout=60_000)
    expect(page.locator(".page > .waiting")).to_have_count(0, timeout=60_000)
    page.wait_for_function(IS_DRAWN, timeout=60_000)
    page.wait_for_function("() => document.fonts.ready.then(() => true)")
    page.wait_for_function(HAS_IMAGES_AND_CHARTS)
    # Wait for turns to end.
    expect(page.locator("[data-turning]")).to_have_count(0, timeout=60_000)


def shoot_tour(browser: Browser, url: str, path: Path) -> None:
    """Save an animated picture of the way from the front page through the steps."""
    page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light", reduced_motion="reduce")
    text = "text=The+animal+didn%27t+cross+the+street+because+it+was+too+tired"
    frames = []
    for each in TOUR:
        page.goto(f"{url}/{each}{'&' if '?' in each else '?'}{text}")
        settle(page)
        frames.append(Image.open(BytesIO(page.screenshot())).convert("RGB").resize(FRAME))
    page.close()
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=FRAME_MS, loop=0, quality=60, method=6)


def shoot_thumbnails(browser: Browser, url: str) -> None:
    """Save a light and a dark thumbnail of every page, and delete those of former pages."""
    THUMBNAILS.mkdir(parents=True, exist_ok=True)
    of_now = {THUMBNAILS / f"{each.name}-{scheme}.webp" for each in pages.PAGES for scheme in ("light", "dark")}
    # The others stay meanwhile: the overviews show them.
    for old in {*THUMBNAILS.glob("*.webp")} - of_now:
        old.unlink()
    for scheme in ("light", "dark"):
        tab = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme=scheme, reduced_motion="reduce")
        for each in pages.PAGES:
            tab.goto(f"{url}/{each.address}{BEST.get(each, '')}")
            settle(tab)
            picture = Image.open(BytesIO(tab.screenshot(clip=_cut(tab.evaluate(LARGEST))))).resize(SMALL)
            picture.save(THUMBNAILS / f"{each.name}-{scheme}.webp", quality=55, method=6)
        tab.close()


def _cut(largest: dict[str, float]) -> FloatRect:
    """Return the area to cut out around the largest picture, within a screen of 1280 × 720."""
    width = min(max(largest["width"], 480), 1240)
    height = width * 9 / 16
    return {
        "x": max(0, min(largest["x"] - 8, 1280 - width)),
        "y": max(0, min(largest["y"] - 8, 720 - height)),
        "width": width,
        "height": height,
    }


def main() -> None:
    """Take every picture, or only the thumbnails (``--thumbnails``)."""
    is_small = "--thumbnails" in sys.argv[1:]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, serve(Path(scratch) / "log") as server, sync_playwright() as driver:
        browser = driver.chromium.launch(**launch_options())
        for name, (path, width, height, scheme) in ({} if is_small else SHOTS).items():
            target = FOLDER / f"{name}.png"
            shoot(browser, f"{server.url}/{path}", target, width=width, height=height, scheme=scheme)
            print(target)
        if not is_small:
            shoot_tour(browser, server.url, FOLDER / "tour.webp")
        shoot_thumbnails(browser, server.url)
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
