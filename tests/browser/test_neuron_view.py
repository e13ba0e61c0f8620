"""The neuron view in a browser; its numbers are recomputed with torch."""

import pytest
import torch
from playwright.sync_api import expect

from attention.lesson.initial_selection import first_place
from tests.browser.tab import is_rounded, is_said

SENTENCE = "My old dog chased a ball"
PAGE = "neuron_view"


class Neuron:
    """The picture and its parts."""

    def __init__(self, tab):
        self.root = tab.page.locator(".st-key-neuron")
        self.rows = self.root.locator(".keys .row")
        self.queries = self.root.locator(".queries .token")
        self.readout = self.root.locator(".readout")


def head_of(models, model):
    """Queries and keys of the model's own head, as torch tensors, and the factor of the scores."""
    info = models[model].info
    trace = models[model].trace(SENTENCE)
    first, head = first_place(info, SENTENCE)
    layer = trace.layers[first]
    vectors = [torch.tensor(each[head]) for each in (layer.queries, layer.keys)]
    return [token.text for token in trace.tokens], *vectors, info.d_head**-0.5


@pytest.mark.parametrize("model", ["toy", pytest.param("minilm-l6", marks=pytest.mark.quick)])
def test_every_number_that_stands_there_is_torchs_own(opened, models, model):
    tab = opened(PAGE, text=SENTENCE, model=model, word="2")
    texts, queries, keys, scale = head_of(models, model)
    neuron = Neuron(tab)
    expect(neuron.rows).to_have_count(len(texts))
    dots = torch.stack([torch.dot(queries[2], key) for key in keys])
    weights = torch.softmax(dots * scale, dim=0)
    for index, text in enumerate(texts):
        row = neuron.rows.nth(index)
        expect(row.locator(".text")).to_have_text(text)
        assert is_rounded(row.locator(".score").inner_text(), float(dots[index]))
        assert is_rounded(row.locator(".scaled").inner_text(), float(dots[index] * scale))
        assert is_rounded(row.locator(".weight .number").inner_text(), float(weights[index]))
    # Number by number, with the keyboard alone.
    key = int(weights.argmax())
    neuron.rows.nth(key).focus()
    for dimension in range(3):
        tab.page.keyboard.press("ArrowRight")
        expect(neuron.readout).to_contain_text(f"{texts[2]} → {texts[key]}, dimension {dimension}: q ")
        said = neuron.readout.locator("b").all_inner_texts()
        q, k = queries[2, dimension], keys[key, dimension]
        assert all(is_said(text, float(value)) for text, value in zip(said, (q, k, q * k), strict=True))


def test_the_strips_have_a_pixel_for_every_number(opened, models):
    tab = opened(PAGE, text=SENTENCE, word="2")
    texts, queries, keys, _ = head_of(models, "minilm-l6")
    sizes = Neuron(tab).root.locator("canvas").evaluate_all("all => all.map(each => [each.width, each.height])")
    assert sorted(sizes) == sorted([[32, len(texts)], [32, len(texts)], [32, 1]])
    # Red is above zero and blue below, in every pixel whose number is large enough to have a colour.
    pixels = (
        Neuron(tab)
        .root.locator("canvas.second")
        .evaluate("canvas => [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]")
    )
    colours = torch.tensor(pixels).reshape(len(texts), 32, 4)
    products = queries[2] * keys
    is_strong = products.abs() > 0.1 * products.abs().max()
    redness = colours[..., 0] - colours[..., 2]
    assert is_strong.sum() > 20
    assert torch.equal(redness[is_strong] > 0, products[is_strong] > 0)


def test_a_key_and_a_query_can_be_chosen_with_the_mouse_and_lead_somebody_else_there(opened, new_tab):
    tab = opened(PAGE, text=SENTENCE, model="toy")
    neuron = Neuron(tab)
    neuron.rows.nth(5).click()
    tab.expect_query(text=SENTENCE, model="toy", word="2", cell="neuron-2-5")
    expect(tab.words.last).to_contain_text("q(dog) · k(ball) = ")
    neuron.queries.nth(1).click()
    tab.expect_query(text=SENTENCE, model="toy", word="1", cell="neuron-1-5")
    expect(tab.words.last).to_contain_text("q(old) · k(ball) = ")
    expect(tab.page.locator(".st-key-meeting .shape")).to_have_text("3×8")

    there = new_tab(viewport={"width": 1400, "height": 900}).go_to(tab.page.url)
    expect(Neuron(there).rows.nth(5)).to_have_attribute("aria-pressed", "true")
    expect(Neuron(there).queries.nth(1)).to_have_attribute("aria-pressed", "true")
    tab.page.go_back()
    tab.expect_query(text=SENTENCE, model="toy", word="2", cell="neuron-2-5")


def test_pairs_can_be_chosen_with_the_keyboard_alone(opened):
    tab = opened(PAGE, text=SENTENCE, model="toy")
    neuron = Neuron(tab)
    neuron.queries.nth(2).focus()
    tab.page.keyboard.press("End")
    expect(neuron.queries.nth(5)).to_be_focused()
    tab.page.keyboard.press("Enter")
    tab.expect_query(text=SENTENCE, model="toy", word="5", cell="neuron-5-1")
    expect(neuron.queries.nth(5)).to_be_focused()
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Home")
    expect(neuron.rows.nth(0)).to_be_focused()
    tab.page.keyboard.press("Space")
    tab.expect_query(text=SENTENCE, model="toy", word="5", cell="neuron-5-0")


def test_pointing_at_a_number_reads_it(opened, models):
    tab = opened(PAGE, text=SENTENCE, model="toy", word="2")
    texts, queries, keys, _ = head_of(models, "toy")
    neuron = Neuron(tab)
    box = neuron.root.locator("canvas.first").bounding_box()
    pitch, cell = box["height"] / len(texts), box["width"] / 8
    neuron.root.locator("canvas.first").scroll_into_view_if_needed()
    box = neuron.root.locator("canvas.first").bounding_box()
    tab.page.mouse.move(box["x"] + 3.5 * cell, box["y"] + 4.5 * pitch)
    expect(neuron.readout).to_contain_text(f"dog → {texts[4]}, dimension 3: q ")
    said = neuron.readout.locator("b").all_inner_texts()
    assert is_said(said[1], float(keys[4, 3]))
    assert is_said(said[2], float(queries[2, 3] * keys[4, 3]))


def test_a_long_sentence_moves_inside_and_the_page_stays_where_it_is(opened):
    tab = opened(PAGE, text=" ".join(["so and on"] * 40), word="100")
    scroller = Neuron(tab).root.locator(".scroller")
    height, inside = scroller.evaluate("each => [each.clientHeight, each.scrollHeight]")
    assert height <= 640 < inside
    # It opens where the query is.
    expect(Neuron(tab).queries.nth(100)).to_be_in_viewport()
