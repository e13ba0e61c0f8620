"""The page *Neuron view*."""

import base64

import numpy as np
import pytest

from attention.lesson.initial_selection import first_place
from attention.models import list_models
from attention.page.pages import STEP_BY_STEP
from tests.loaded import load

PAGE = "pages/neuron_view.py"


def decoded(data, name):
    return np.frombuffer(base64.b64decode(data[name]), "<f4")


@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
def test_it_is_drawn_for_every_model_and_every_mask(open_page, model, mask):
    shown = open_page(PAGE, model=model, mask=mask)
    assert shown.notices == []
    info = next(info for info in list_models() if info.model_id == model)
    data = shown.component("neuron")
    trace = load(model).trace("The cat sat on the mat", mask=mask)
    layer, head = first_place(info, trace.text)
    steps = trace.layers[layer].head(head)
    assert data["width"] == info.d_head
    np.testing.assert_array_equal(decoded(data, "weights"), steps.weights[data["query"]])
    assert data["key"] == steps.weights[data["query"]].argmax()
    assert len(shown.proofs) == 1


def test_the_pair_of_a_link_is_the_one_that_is_shown(open_page):
    shown = open_page(PAGE, model="toy", word="5", cell="neuron-5-1")
    data = shown.component("neuron")
    assert (data["query"], data["key"]) == (5, 1)
    assert "q(mat) · k(cat) = " in shown.text
    assert shown.component("meeting")["rows"] == ["q(mat)", "k(cat)", "q ∘ k"]
    shown.choose("word", 0)
    assert shown.view.pane.cell is None


def test_a_cell_that_was_opened_at_a_step_is_a_pair_too(open_page):
    data = open_page(PAGE, model="toy", word="2", cell="scores-2-4").component("neuron")
    assert (data["query"], data["key"]) == (2, 4)
    # ... but a number of a vector is none.
    assert open_page(PAGE, model="toy", word="2", cell="keys-2-4").component("neuron")["key"] == 1


def test_a_key_that_the_sentence_lacks_is_told(open_page):
    shown = open_page(PAGE, model="toy", cell="neuron-2-40")
    (notice,) = shown.notices
    assert "key 40" in notice


def test_the_way_to_other_pages_leaves_the_pair_behind(open_page):
    shown = open_page(PAGE, model="toy", word="5", cell="neuron-5-1")
    assert shown.query["cell"] == "neuron-5-1"
    assert "cell" not in shown.to_page(STEP_BY_STEP).query
