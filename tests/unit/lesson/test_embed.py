"""The input of a layer: norms, neighbours and components."""

import numpy as np
import pytest

from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from tests.unit.lesson.telling import TEXT, facts_in, is_told, rounded, trace_of


def test_the_parts_of_a_vector_have_the_lengths_that_are_told(scene_of):
    for model_id in ("toy", "minilm-l6"):
        scene = scene_of(model_id, at=3)
        told, parts = step_of("embed").words(scene), scene.trace.embeddings
        assert facts_in(told, "embed/words") == {
            "width": scene.info.d_model,
            "focus": scene.tokens[3].text,
            "position": 3,
            "word_length": rounded(np.linalg.norm(parts.words[3])),
            "position_length": rounded(np.linalg.norm(parts.positions[3])),
            "length": rounded(np.linalg.norm(scene.attention.inputs[3])),
        }
        assert is_told("embed/normed", told) == (model_id == "minilm-l6")
        assert is_told("embed/segment", told) == (parts.segments is not None)
        if parts.segments is not None:
            assert facts_in(told, "embed/segment")["length"] == rounded(np.linalg.norm(parts.segments[3]))


def test_deeper_vectors_have_the_length_that_is_told(scene_of):
    scene = scene_of("minilm-l6", layer=4, at=3)
    inputs = scene.trace.hidden_states[4].astype(float)
    assert facts_in(step_of("embed").words(scene), "embed/words-deeper") == {
        "layer": 5,
        "before": 4,
        "times": "4 times",
        "width": 384,
        "focus": "sat",
        "length": rounded(np.linalg.norm(inputs[3])),
    }


@pytest.mark.parametrize(
    ("kind", "latex", "name"),
    [
        ("gpt2", r"X = \mathrm{LayerNorm}(E_{\text{word}} + E_{\text{position}})", "embed/words"),
        ("pegasus", r"X = \mathrm{LayerNorm}(E_{\text{word}} + E_{\text{position}})", "embed/words"),
        (
            "mbart",
            r"X = \mathrm{LayerNorm}(\mathrm{LayerNorm}(E_{\text{word}} + E_{\text{position}}))",
            "embed/words",
        ),
        ("bloom", r"X = \mathrm{LayerNorm}(\mathrm{LayerNorm}(E_{\text{word}}))", "embed/bias"),
        ("vit", r"X = \mathrm{LayerNorm}(E_{\text{patch}} + E_{\text{position}})", "embed/words-picture"),
        ("t5", r"X = \mathrm{RMSNorm}(E_{\text{word}})", "embed/bias"),
        ("llama", r"X = \mathrm{RMSNorm}(E_{\text{word}})", "embed/rotary"),
    ],
)
def test_what_enters_layer_1_is_told_as_each_architecture_makes_it(model_of, kind, latex, name):
    text = "0123456789abcdef" * 4 if kind == "vit" else TEXT
    trace = trace_of(model_of(kind), text, "none")
    first, second = HeadContext(trace, 0, 0, 2), HeadContext(trace, 1, 0, 2)
    assert step_of("embed").formula(first) == latex
    norm = trace.layers[0].norm.name
    of_sum = name if trace.embeddings.positions is not None else "embed/words-alone"
    told = facts_in(step_of("embed").words(first), name, of_sum, "embed/normed")
    assert told["norms"].split(" and ") == [norm] * latex.count("Norm")
    assert facts_in(step_of("embed").words(second), "embed/normed")["norms"] == norm
    assert told["length"] == rounded(np.linalg.norm(trace.layers[0].inputs[2]))
    if of_sum == name:
        assert told["position_length"] == rounded(np.linalg.norm(trace.embeddings.positions[2]))
    assert step_of("embed").matrices(second)[0].title == f"X: input of layer 2, after {norm}"


def test_what_enters_the_first_layer_is_shown_with_its_parts_and_deeper_vectors_with_their_positions(scene_of):
    parts = scene_of("minilm-l6").trace.embeddings
    first = {picture.name: picture.values for picture in step_of("embed").matrices(scene_of("minilm-l6"))}
    assert list(first) == ["inputs", "words", "positions"]
    assert np.array_equal(first["words"], parts.words)
    assert np.array_equal(first["positions"], parts.positions)
    deeper, positions = step_of("embed").matrices(scene_of("minilm-l6", layer=3))
    assert np.array_equal(deeper.values, scene_of("minilm-l6").trace.hidden_states[3])
    assert np.array_equal(positions.values, parts.positions)
    assert "before layer 1" in positions.title
