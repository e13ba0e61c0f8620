"""Charts show the user's words as they were typed, and say of each bar what it is, by mouse and by keyboard."""

import re

import pytest
from playwright.sync_api import expect

from attention.lesson.opening import first_place
from attention.lesson.steps import keys
from tests.sweep import sweep

# What other charts would take for markup, an entity and a formula.
TYPED = '"Tom" & <b>Jerry</b> &amp; $x$'
MODELS = ["toy", "minilm-l6", "smollm2-135m"]
# The steps whose opened cell has a bar for each token.
BY_TOKEN = ("mask", "softmax", "sum")


@pytest.fixture(scope="module")
def tab(new_shared_tab):
    """One tab for all tests of this file."""
    return new_shared_tab()


def chart_of(tab, key="main_parts"):
    return tab.page.locator(f".st-key-{key} .chart")


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("step", sweep(keys(), quick=("softmax", "heads")))
def test_every_chart_of_a_step_names_tokens_as_they_are(tab, models, model, step):
    tab.go(model=model, text=TYPED, step=step)
    if step == "tokens":
        expect(chart_of(tab)).to_have_count(0)
        return
    expect(chart_of(tab).locator("svg")).to_be_visible()
    shown = tab.page.locator(".chart svg text").all_text_contents()
    tokens = [f"{token.position} {token.text}" for token in models[model].trace(TYPED).tokens]
    assert (set(tokens) <= set(shown)) == (step in BY_TOKEN)
    if model == "smollm2-135m" and step == "heads":
        found = models[model].next_token(models[model].trace(TYPED))
        likeliest = [found.labels[index] for index in (-found.logits[-1]).argsort()[:10]]
        assert set(likeliest) <= set(shown)


@pytest.mark.parametrize("model", MODELS)
def test_every_bar_is_as_long_as_its_weight_and_says_it(tab, models, model):
    tab.go(model=model, text=TYPED, step="softmax", word="5")
    trace = models[model].trace(TYPED)
    layer, head = first_place(trace.info, TYPED)
    weights = trace.layers[layer].head(head).weights[5]
    chart = chart_of(tab)
    bars = chart.locator(".mark")
    expect(bars).to_have_count(len(trace.tokens))
    lengths = [float(bar.get_attribute("height")) for bar in bars.all()]
    for length, weight in zip(lengths, weights, strict=True):
        assert length == pytest.approx(max(lengths) * weight / weights.max(), abs=0.01)
    chart.evaluate("chart => chart.scrollIntoView({ block: 'center' })")
    box = chart.locator("svg").bounding_box()
    for place, token in enumerate(trace.tokens):
        # However low a bar is, what is above it counts.
        bar = bars.nth(place).bounding_box()
        tab.page.mouse.move(bar["x"] + bar["width"] / 2, box["y"] + 20)
        said = f"{place} {token.text}: {weights[place]:.4f}"
        expect(chart.locator(".readout")).to_have_text(said)


def test_the_arrow_keys_lead_from_bar_to_bar_and_not_to_another_step(tab):
    tab.go(model="toy", text="A dog sleeps", step="softmax")
    chart = chart_of(tab)
    chart.locator(".picture").focus()
    for key, said in (
        ("ArrowRight", "0 a: "),
        ("ArrowRight", "1 dog: "),
        ("End", "2 sleeps: "),
        ("ArrowLeft", "1 dog: "),
    ):
        tab.page.keyboard.press(key)
        expect(chart.locator(".readout")).to_contain_text(said)
    tab.expect_query(model="toy", text="A dog sleeps", step="softmax")


def test_before_and_after_scaling_are_told_together(tab):
    tab.go(model="minilm-l6", text="A dog sleeps", step="scale")
    chart = chart_of(tab, "main_spread")
    chart.locator(".picture").focus()
    tab.page.keyboard.press("Home")
    pattern = re.compile(r"^scores about −?\d+\.\d\d: before \d+, after \d+$")
    expect(chart.locator(".readout")).to_have_text(pattern)
    expect(chart.locator(".legend span")).to_have_text(["before", "after"])
    assert chart.locator(".mark").count() == 60
