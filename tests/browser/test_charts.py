"""Charts show the user's words as they were typed: plotly's own markup and entities are never made of them."""

import pytest
from playwright.sync_api import expect

from attention.lesson.course import STEP_KEYS

# Quotes, which are no markup; two tags and an entity, which plotly would take for some; and a formula.
TYPED = '"Tom" & <b>Jerry</b> &amp; $x$'
MODELS = ["toy", "minilm-l6", "smollm2-135m"]
# The steps whose opened cell has a bar for each token.
BY_TOKEN = ("mask", "softmax", "sum")
PAGES = ["step_by_step", "all_heads", "neuron_view", "compare", "many_sentences", "syntax_check", "code_lab"]
ENTITIES = ("&quot;", "&amp;", "&lt;", "&gt;", "&#")


@pytest.fixture(scope="module")
def tab(new_shared_tab):
    """One tab for all tests of this file."""
    return new_shared_tab()


def texts_of(tab):
    """Every text that stands on a chart of the page, once all of them are drawn."""
    charts = tab.page.locator(".stPlotlyChart:visible")
    for index in range(charts.count()):
        expect(charts.nth(index).locator(".main-svg").first).to_be_visible()
    return charts.locator("text").all_text_contents()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("step", STEP_KEYS)
def test_every_chart_of_a_step_names_tokens_as_they_are(tab, models, model, step):
    tab.go(model=model, text=TYPED, step=step)
    if step != "tokens":
        expect(tab.page.locator(".stPlotlyChart .main-svg").first).to_be_visible()
    shown = texts_of(tab)
    assert not [text for text in shown for entity in ENTITIES if entity in text]
    tokens = [f"{token.position} {token.text}" for token in models[model].trace(TYPED).tokens]
    assert (set(tokens) <= set(shown)) == (step in BY_TOKEN)
    if model == "smollm2-135m" and step == "heads":
        found = models[model].next_token(models[model].trace(TYPED))
        likeliest = [found.labels[index] for index in (-found.logits[-1]).argsort()[:10]]
        assert set(likeliest) <= set(shown)


@pytest.mark.parametrize("model", MODELS)
def test_a_bar_that_is_pointed_at_says_its_token_as_it_is(tab, models, model):
    tab.go(model=model, text=TYPED, step="softmax", word="5")
    trace = models[model].trace(TYPED)
    info = models[model].info
    weights = trace.layers[info.default_layer].head(info.default_head).weights[5]
    chart = tab.page.locator(".st-key-main_parts .js-plotly-plot")
    expect(chart.locator(".bars .point")).to_have_count(len(trace.tokens))
    for place in (0, 1, 4, 5):
        if weights[place] < 0.02:  # a bar that is too low to be pointed at
            continue
        chart.locator(".bars .point path").nth(place).hover(force=True)
        expect(chart.locator(".hoverlayer")).to_contain_text(f"{place} {trace.tokens[place].text}: ")


@pytest.mark.parametrize("page", PAGES)
def test_no_chart_of_any_page_shows_an_entity(tab, page):
    tab.go(page, text=TYPED, versus=f"{TYPED} too")
    assert not [text for text in texts_of(tab) for entity in ENTITIES if entity in text]
