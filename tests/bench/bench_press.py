"""A step change in Chromium: from the key press to the new heading, and to the last change."""

from __future__ import annotations

import statistics

from playwright.sync_api import Page, expect, sync_playwright

from attention.lesson.steps import STEPS
from tests.bench.report import ms, p95
from tests.bench.walk import MODELS
from tests.browser.chromium import launch_options
from tests.browser.tab import IS_DRAWN

MAX_HEADING_MS, MAX_LAST_MS = 70, 110
N_ROUND_TRIPS = 3
# In ms: a press without an answer by then is lost.
PATIENCE = 20_000
# Records when each press came, and when its heading and last change were shown.
WATCH = """() => {
  window.seen = null;
  document.addEventListener('keydown', event => {
    window.seen = { press: event.timeStamp, heading: null, last: null, before: title() };
  }, { capture: true });
  const title = () => document.querySelector('h2')?.textContent;
  // What is drawn for a frame is on the screen when the next one begins.
  const painted = note => requestAnimationFrame(() => requestAnimationFrame(note));
  const change = () => {
    if (!window.seen) return;
    const seen = window.seen;
    const isNew = seen.heading === null && title() && title() !== seen.before;
    if (isNew) seen.heading = -1;
    painted(now => {
      if (isNew) seen.heading = now;
      seen.last = now;
    });
  };
  const observer = new MutationObserver(change);
  const watched = { subtree: true, childList: true, characterData: true, attributes: true };
  observer.observe(document.querySelector('.page'), watched);
  // A picture lies in a shadow of its own, which is watched as soon as there is one.
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const shadow = attach.call(this, options);
    observer.observe(shadow, watched);
    return shadow;
  };
  for (const host of document.querySelectorAll('.page *')) {
    if (host.shadowRoot) observer.observe(host.shadowRoot, watched);
  }
}"""
# The page is complete, and nothing has changed for a while.
SETTLED = """() => window.seen?.heading > 0 && performance.now() - window.seen.last > 300"""


def test_a_press_is_soon_answered(report, server):
    headings, lasts = [], []
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(**launch_options())
        for info in MODELS:
            # Without turns, which move for a second after the answer.
            page = chromium.new_page(viewport={"width": 1400, "height": 900}, reduced_motion="reduce")
            page.goto(f"{server.url}/step_by_step?model={info.model_id}")
            expect(page.get_by_role("note", name="Proof")).to_contain_text("✓", timeout=60_000)
            page.wait_for_function(IS_DRAWN)
            page.evaluate(WATCH)
            for index in range(N_ROUND_TRIPS + 1):
                seen = _round_trip(page)
                if index:  # the first one fetches what the pictures need
                    headings += [each["heading"] - each["press"] for each in seen]
                    lasts += [each["last"] - each["press"] for each in seen]
            page.close()
        chromium.close()
    what = f"Chromium, {len(STEPS)} steps and {len(MODELS)} models"
    for name, times, limit in (("new heading", headings, MAX_HEADING_MS), ("last change", lasts, MAX_LAST_MS)):
        report.compare("Press", f"from a key to the {name}: median, {what}", statistics.median(times), limit, " ms")
        report.add("Press", "  95th percentile", ms(p95(times) / 1000))


def _round_trip(page: Page) -> list[dict[str, float]]:
    seen = []
    for key in ["ArrowRight"] * (len(STEPS) - 1) + ["ArrowLeft"] * (len(STEPS) - 1):
        page.keyboard.press(key)
        page.wait_for_function(SETTLED, timeout=PATIENCE)
        seen.append(page.evaluate("() => window.seen"))
    return seen
