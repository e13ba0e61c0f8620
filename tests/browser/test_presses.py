"""No press is lost: not a quick one, not before the page is complete, not during a restart of the server."""

import os
import re
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.server import LOCAL, serve
from tests.ports import free_port

# In one task of the browser, so that the second press always comes before the answer to the first.
PRESS_BOTH = """([one, two]) => {
  const find = (name, root = document) => {
    for (const element of root.querySelectorAll("button, [role=radio], [role=switch], input")) {
      const said = element.getAttribute("aria-label") || element.innerText || element.value || "";
      if (said.replace(/\\s+/g, " ").trim() === name) return element;
    }
    for (const element of root.querySelectorAll("*")) {
      const found = element.shadowRoot && find(name, element.shadowRoot);
      if (found) return found;
    }
    return null;
  };
  for (const name of [one, two]) {
    const element = find(name);
    if (!element) throw new Error(`nothing is called ${name}`);
    element.click();
  }
}"""
STEPS = {"4 Scores": "scores", "5 Scale": "scale", "6 Mask": "mask", "7 Softmax": "softmax"}


# Twelve pairs: every step with either text, either pressed first, with a wait after it or none.
@pytest.mark.parametrize("n_pairs", [pytest.param(24, marks=pytest.mark.quick), 120])
def test_of_many_quick_pairs_of_presses_every_one_counts(tab, n_pairs):
    tab.go(model="toy", step="qkv")
    steps, examples = list(STEPS.items()), ["He was becoming agitated", "The cat sat on the mat"]
    for number in range(n_pairs):
        name, step = steps[number % len(steps)]
        text = examples[number % 2]
        presses = [name, text] if number % 3 else [text, name]
        tab.page.evaluate(PRESS_BOTH, presses)
        wanted = {"model": "toy", "step": step, "text": text if number % 2 == 0 else None}
        tab.page.wait_for_function(
            "wanted => { const found = new URLSearchParams(location.search); "
            "return Object.entries(wanted).every(([name, value]) => found.get(name) === value); }",
            arg=wanted,
            timeout=60_000,
        )
        # Every third time the next pair comes as soon as the address is right, while the page is still being drawn.
        if number % 3 == 0:
            tab.settled()
            expect(tab.heading).to_have_text(re.compile(rf"^{name[0]}\. "))
            expect(tab.field).to_have_value(text)


def test_a_key_that_is_pressed_while_the_model_is_being_loaded_counts(new_tab, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = (sys.executable, "-m", "tests.browser.held_model", "minilm-l6", str(pipe), *LOCAL[3:])
    with serve(tmp_path / "log", command=command) as fresh:
        tab = new_tab(fresh)
        tab.page.goto(f"{tab.url}/step_by_step?step=scores")
        tab.steps.wait_for()
        assert tab.heading.count() == 0
        tab.page.keyboard.press("ArrowRight")
        # Waits until the server reads it, which is when it loads the model.
        pipe.write_bytes(b"")
        tab.expect_query(step="scale")
        expect(tab.heading).to_have_text(re.compile("^5"))
        # Before its server goes: a page that calls for it in vain would tell so.
        tab.page.close()


def test_the_first_press_and_the_first_sentence_after_a_restart_count(new_tab, tmp_path):
    """Two pages are open while their server is started anew; the old one's numbers mean nothing to the new one."""
    port = free_port()
    with serve(tmp_path / "first", port=port) as first:
        tabs = presses, types = [new_tab(first).go(model="toy", step="scores").next() for _ in range(2)]
    with serve(tmp_path / "second", port=port):
        for tab in tabs:
            expect(tab.page.locator('[data-testid="stApp"]')).to_have_attribute(
                "data-test-connection-state", "CONNECTED", timeout=60_000
            )
            # That the old one did not answer any more is no fault of the page.
            tab.errors.clear()
        presses.next()
        presses.expect_query(model="toy", step="mask")
        types.page.bring_to_front()
        types.type_sentence("Two small birds sing")
        types.expect_query(model="toy", step="scale", text="Two small birds sing")
        expect(types.field).to_have_value("Two small birds sing")
        # Before their server goes: a page that calls for it in vain would tell so.
        for tab in tabs:
            tab.page.close()


def test_a_page_and_a_model_that_are_chosen_at_once_are_both_there(tab):
    tab.go(model="minilm-l6")
    tab.to_page("All heads").pick("Model", "Toy")
    expect(tab.page).to_have_title(re.compile("^All heads"))
    tab.expect_query(model="toy", at="A-15")
