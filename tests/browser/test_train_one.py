"""*Train one and watch* in a browser: started, followed, stopped, and replayed with the slider."""

import re

import pytest
import torch
from playwright.sync_api import expect

from attention.training.induction import train
from attention.training.induction_results import EVERY
from tests.browser.looks import check, expect_to_fit
from tests.browser.test_labs import show

ADDRESS = "train_one"
SEED = 4
# A busy machine takes long to start a process that needs torch.
PATIENCE = 60_000


@pytest.fixture(scope="module")
def first():
    """The first two checkpoints of the training that the page is asked for, worked out here."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    found = list(train(SEED, steps=EVERY, every=EVERY))
    torch.set_num_threads(before)
    return found


def test_a_training_is_started_followed_stopped_and_looked_through(tab, new_tab, first):
    show(tab.go(ADDRESS, model="toy", start=str(SEED)))
    start, stop = (tab.page.get_by_role("button", name=name, exact=True) for name in ("Train", "Stop"))
    expect(stop).to_be_hidden()
    start.press("Enter")
    expect(stop).to_be_visible(timeout=PATIENCE)
    expect(start).to_be_hidden()
    # It moves by itself.
    expect(tab.page.get_by_text(re.compile(r"After (30|45|[6-9]\d|\d{3}) steps"))).to_be_visible(timeout=PATIENCE)
    stop.click()
    expect(tab.page.get_by_text("stopped after")).to_be_visible()
    expect(tab.page.get_by_role("button", name="Train again")).to_be_enabled()
    tab.settled()
    # Back to the beginning with the keyboard, and one step on.
    slider = tab.page.get_by_role("slider", name="Steps of training")
    slider.focus()
    slider.press("Home")
    for index, found in enumerate(first):
        loss, loss_one = found.losses[:, 1]
        told = f"After {found.step} steps"
        expect(tab.words.filter(has_text=told)).to_contain_text(re.compile(rf" {loss:.2f} nats .* {loss_one:.2f}\b"))
        expect(tab.page).to_have_url(re.compile(f"checkpoint={index}"))
        slider.press("ArrowRight")
    # A head by the mouse.
    tab.page.locator(".st-key-trained_heads").get_by_role("button").nth(5).click()
    expect(tab.page).to_have_url(re.compile("watched=6"))
    expect(tab.page.locator(".st-key-trained_weights")).to_contain_text("layer 2, head 2")
    # Whoever comes next sees what there is, and everybody can read it.
    there = new_tab()
    there.page.goto(tab.page.url)
    expect(there.page.get_by_text("stopped after")).to_be_visible()
    check(tab)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    expect_to_fit(tab)
