"""A step, the neuron view and a comparison in a notebook: the same texts and numbers as in the app."""

import base64
from functools import partial

import numpy as np
import pytest
import torch

from attention import show
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.initial_selection import first_word
from attention.lesson.steps import keys, step_of
from attention.models import bundled, load
from attention.page.page_file import plain
from tests.unit.saying import says
from tests.unpacked import unpacked

TEXTS = {"translator-fr-en": "le chat noir dort"}
LIGHT = [info.model_id for info in bundled.infos() if info.model_id in {"toy", "translator-fr-en", "vit-digits"}]


@pytest.fixture(scope="module")
def toy():
    return load("toy").trace("the cat sat on the mat")


def numbers(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


@pytest.mark.parametrize("name", keys())
def test_every_step_is_shown_with_its_heading_and_its_code(toy, name):
    shown = show.step(toy, name, layer=0, head=1)
    found = unpacked(shown._repr_html_())
    assert f"<h2>{keys().index(name) + 1}. " in found.given["html"]
    scene = HeadContext(toy, 0, 1, first_word(toy))
    step = step_of(name)
    for framework in ("numpy", "pytorch"):
        code = step.code(CodeContext(framework, scene, *step.printed_cell(scene)))
        written = f"<pre><code>{plain(code)}</code></pre>"
        assert written in found.given["html"]
        assert written not in found.instead
    assert step.words(scene) in found.instead
    # Nothing is said of what only the app could do.
    for gone in ("Show the factors of", "What next"):
        assert gone not in found.given["html"]
    assert len(shown.data) < 70_000
    assert "✓ rows sum to 1" in found.given["html"]
    assert not found.bytes_of_numbers
    for picture in found.given["pictures"]:
        assert f"{picture['component']}:(()=>{{" in found.script


@pytest.mark.parametrize("model_id", LIGHT)
def test_every_model_is_shown(model_id):
    model = load(model_id)
    text = TEXTS.get(model_id) or (model.info.reading.examples[0] if model_id == "vit-digits" else "the cat sat")
    trace = model.trace(text)
    parts = [trace.part(name) for name in trace.info.parts] or [trace]
    for part in parts:
        for shown in (show.step(part, "softmax"), show.neuron(part), show.head_view(part), show.atlas(part)):
            assert unpacked(shown._repr_html_()).given


def test_the_opened_cell_is_told(toy):
    shown = unpacked(show.step(toy, "softmax", layer=0, head=0, cell=(2, 1))._repr_html_()).given
    (matrix,) = [each["data"] for each in shown["pictures"] if each["component"] == "matrix"][:1]
    assert matrix["selected"] == [2, 1]
    weight = toy.layers[0].head(0).weights[2, 1]
    assert f"{weight:.2f}" in shown["html"]


def test_the_neuron_view_has_the_vectors_of_its_pair(toy):
    shown = unpacked(show.neuron(toy, layer=0, head=2, word=3, key=1)._repr_html_()).given
    (data,) = [each["data"] for each in shown["pictures"] if each["component"] == "neuron"]
    assert (data["query"], data["key"]) == (3, 1)
    steps = toy.layers[0].head(2)
    assert (numbers(data["queryVector"]) == steps.queries[3]).all()
    assert (numbers(data["weights"]) == steps.weights[3]).all()


def test_two_runs_are_compared_in_the_same_head(toy):
    other = load("toy").trace("the dog sat on the mat")
    shown = unpacked(show.compare(toy, other, layer=0, head=1)._repr_html_()).given
    assert [each["component"] for each in shown["pictures"]] == ["matrix"] * 3
    assert says(shown["html"], "1", "2", "Toy")
    assert "the dog sat on the mat" in shown["html"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "nothing"}, "step must be one of tokens, embed"),
        ({"layer": 1}, "layer must be between 0 and 0, got 1"),
        ({"head": -1}, "head must be between 0 and 2, got -1"),
        ({"word": 99}, "word must be between"),
        ({"cell": (0, 99)}, "has no cell"),
    ],
)
def test_what_there_is_not_is_refused(toy, options, said):
    with pytest.raises(ValueError, match=said):
        show.step(toy, **options)


# A place as a program may have found it: numbers of NumPy, of torch, and the only element of an array.
PLACES = [np.int64, torch.tensor, lambda number: np.array([number]), lambda number: torch.tensor([number])]


@pytest.mark.parametrize("number", PLACES, ids=["np.int64", "tensor", "array of one", "tensor of one"])
def test_any_integer_is_an_integer(toy, number):
    layer, head, word, key = map(number, (0, 2, 3, 1))
    for view, own, place in [
        (partial(show.step, toy, "softmax"), {"layer": layer, "head": head, "word": word, "cell": (word, key)},
         {"layer": 0, "head": 2, "word": 3, "cell": (3, 1)}),
        (partial(show.neuron, toy), {"layer": layer, "head": head, "word": word, "key": key},
         {"layer": 0, "head": 2, "word": 3, "key": 1}),
        (partial(show.compare, toy, toy), {"layer": layer, "head": head}, {"layer": 0, "head": 2}),
        (partial(show.head_view, toy), {"layer": layer, "heads": [head], "include_layers": [layer]},
         {"layer": 0, "heads": [2], "include_layers": [0]}),
        (partial(show.atlas, toy), {"include_heads": [head]}, {"include_heads": [2]}),
    ]:  # fmt: skip
        assert view(**own).data == view(**place).data


@pytest.mark.parametrize("given", ["1", 1.0, None, [1, 2], np.array([1, 2]), torch.tensor([0.5])], ids=repr)
def test_what_is_no_integer_is_refused_by_its_name(toy, given):
    with pytest.raises(TypeError, match="heads must be"):
        show.head_view(toy, heads=[given])
    if given is not None:
        with pytest.raises(TypeError, match="layer must be a whole number, got"):
            show.step(toy, "softmax", layer=given)
        with pytest.raises(TypeError, match="cell must be a whole number, got"):
            show.step(toy, "softmax", cell=(given, 0))


def test_a_picture_can_be_saved_as_a_page(toy, tmp_path):
    shown = show.neuron(toy, layer=0, head=0)
    shown.save(tmp_path / "neuron.html")
    page = (tmp_path / "neuron.html").read_text("utf-8")
    assert shown.data in page
    assert "default-src 'none'" in page
    assert repr(shown) == "<Layer 1, head 1 of Toy: the cat sat on the mat>"
    for name in ("neuron.png", "neuron"):
        with pytest.raises(ValueError, match=rf"must end in \.html, got {name}"):
            shown.save(tmp_path / name)
        assert not (tmp_path / name).exists()
