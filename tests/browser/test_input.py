"""Any input is shown as text, and the page keeps working."""

from itertools import cycle

import pytest
from playwright.sync_api import expect

from attention.core.text import as_typed
from attention.lesson.initial_selection import first_place

NASTY = {
    "script": "<script>window.hacked = 1</script> ran",
    "markdown": "# **bold** _it_ [link](javascript:alert(1)) `code`",
    "latex": r"so $x^2$ and $$\frac{1}{2}$$ and \(y\)",
    "streamlit": ":red[x] :cat: :material/home: :blue-background[y]",
    "family": "👩‍👩‍👧‍👦 hug 🏳️‍🌈",
    "right to left": "שלום עולם مرحبا",
    "mask": "the [MASK] sat [SEP] [PAD]",
    "prototype": "__proto__ constructor toString",
    "long word": "w" * 300,
}
DEFAULT = "The cat sat on the mat"
ENCODED = ["%00%1B%5B31mcat", "%ED%A0%80"]


@pytest.fixture(scope="module")
def shared_tab(new_shared_tab):
    tab = new_shared_tab()
    tab.page.on("dialog", lambda dialog: tab.errors.append(f"a dialog: {dialog.message}"))
    return tab


def expect_tokens(tab, trace):
    """Wait for the tokens of a trace, to the letter; what cannot be seen has a mark in its place."""
    expect(tab.chips.locator(".text")).to_have_text([token.text.strip() or "␣" for token in trace.tokens])


def expect_nothing_interpreted(tab):
    assert tab.page.evaluate("() => window.hacked") is None
    place = tab.page.get_by_test_id("stMainBlockContainer")
    # Links are those to the pages and between them. Formulas stand where the step has one.
    for made in (
        *("script", "iframe", "img:not(.card img)", "[onerror]", "[onload]", "a[href^=javascript]"),
        *(".prose a", ".prose h1", ".prose em", ".prose math", ".stMarkdownColoredText"),
    ):
        expect(place.locator(made)).to_have_count(0)


# How a text is shown is the same with every model, so that the models take turns.
@pytest.mark.parametrize(("name", "model"), [*zip(NASTY, cycle(["toy", "minilm-l6"]), strict=False)])
def test_what_is_typed_is_shown_as_text(opened, shared_tab, models, name, model):
    tab, text = shared_tab, NASTY[name]
    if tab.page.url == "about:blank":
        opened(model="toy")
    kept = as_typed(text)
    tab.to_step("Tokens").pick("Model", {"toy": "Toy", "minilm-l6": "MiniLM (a small BERT)"}[model])
    tab.type_sentence(text)
    expect(tab.field).to_have_value(kept)
    trace = models[model].trace(kept)
    expect_tokens(tab, trace)
    expect_nothing_interpreted(tab)
    tab.to_step("Scores")
    layer, head = first_place(trace.info, trace.text)
    tab.matrix("scores").expect_to_show(trace.layers[layer].head(head).scores)
    expect_nothing_interpreted(tab)
    expect(tab.proof).to_contain_text("✓")
    # The drop-down list of words has the same words.
    options = [f"{token.position} {token.text}" for token in trace.tokens]
    assert tab.control("Word").locator("option").all_text_contents() == options
    expect_nothing_interpreted(tab)


def test_what_a_link_says_is_shown_as_text_on_both_pages(opened, models):
    text = " ".join(NASTY[name] for name in ("script", "streamlit", "latex"))
    weights = models["toy"].trace(text).layers[0].head(1).weights
    tab = opened("", text=text, model="toy")
    expect(tab.field).to_have_value(text)
    words = [token.text for token in models["toy"].trace(text).tokens]
    expect(tab.page.locator(".arcs .name")).to_have_text(words)
    expect_nothing_interpreted(tab)
    tab = opened(text=text, step="softmax", beside="1", model="toy")
    tab.matrix("weights").expect_to_show(weights)
    expect_nothing_interpreted(tab)


# A link is read in one way for all pages, so that the pages take turns.
@pytest.mark.parametrize(("encoded", "page"), [*zip(ENCODED, cycle(["step_by_step", ""]), strict=False)])
def test_bytes_that_are_no_text_are_no_error(shared_tab, page, encoded):
    """A lone surrogate, control characters, bytes that are not UTF-8, and what nobody can see."""
    tab = shared_tab.go_to(f"{shared_tab.url}/{page}?text={encoded}&step=scores")
    expect(tab.field).to_be_visible()
    value = tab.field.input_value()
    assert as_typed(value) == value
    assert ("cat" in value) == ("cat" in encoded)
    tab.type_sentence(DEFAULT)
    expect(tab.proof.locator("div").first).to_contain_text("✓")


def test_a_text_of_several_lines_is_typed_pasted_linked_and_read(opened, models):
    tab, code = opened(model="smollm2-135m", step="tokens"), "def f(x):\n    return x\n\ty "
    one_row = tab.field.bounding_box()["height"]
    tab.field.fill("def f(x):")
    tab.field.press("Shift+Enter")
    tab.field.press_sequentially("    return x")
    assert tab.query().get("text") != "def f(x):\n    return x"
    assert tab.field.bounding_box()["height"] > one_row
    tab.field.press("Enter")
    expect_tokens(tab, models["smollm2-135m"].trace("def f(x):\n    return x"))
    tab.type_sentence(code)
    trace = models["smollm2-135m"].trace(code)
    expect_tokens(tab, trace)
    assert tab.query()["text"] == code
    tab.page.reload()
    tab.settled()
    expect(tab.field).to_have_value(code)
    expect_tokens(tab, trace)
    expect(tab.notices).to_have_count(0)


def test_escape_brings_back_the_sentence_that_the_page_shows(opened):
    tab = opened(text=DEFAULT)
    tab.field.fill("Two birds\nsing")
    tab.field.press("Escape")
    expect(tab.field).to_have_value(DEFAULT)
    assert tab.field.get_attribute("rows") == "1"
    expect(tab.page.locator(".examples")).to_be_hidden()
    # Leaving the field sends what stands in it.
    tab.field.press("Tab")
    assert tab.settled().query().get("text", DEFAULT) == DEFAULT
    tab.type_sentence("Two birds sing")
    expect(tab.chips.locator(".text")).to_have_text(["[CLS]", "two", "birds", "sing", "[SEP]"])
