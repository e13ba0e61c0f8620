"""The joined heads: their change is the layer's output."""

import numpy as np
import pytest

from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from attention.lesson.transitions import joining
from tests.unit.lesson.telling import facts_in, rounded


@pytest.mark.parametrize(
    ("kind", "told", "is_added"),
    [
        ("llama", "The result, ΔE, is added to the vector that came in", True),
        ("gpt_neox", "The result, ΔE, is added to the vector that came in", True),
        ("gemma2", "The result, ΔE, is normalised (RMSNorm), then added", False),
        ("Qwen2VL", "The result, ΔE, is added to the vector that came in", True),
        ("t5gemma", "The result, ΔE, is normalised (RMSNorm), then added", False),
        # Cohere adds it together with the output of the feed-forward network, which is not known here.
        ("cohere", "is unknown", False),
    ],
)
def test_what_becomes_of_what_the_heads_change_is_said_as_far_as_it_is_known(model_of, kind, told, is_added):
    scene = HeadContext(model_of(kind).trace("The cat sat on the mat."), 1, 1, 2)
    assert told in step_of("heads").words(scene)
    assert (joining(scene).stream is not None) == is_added


def test_what_the_heads_change_is_the_output_of_the_layer(scene):
    layer, at = scene.trace.layers[scene.layer], scene.word
    width = layer.model_output.shape[-1]
    lengths = [
        float(np.linalg.norm(output[at] @ layer.projections.W_O[head * width : (head + 1) * width]))
        for head, output in enumerate(layer.model_output)
    ]
    joined = np.concatenate(list(layer.model_output[:, at]))
    bias = 0 if layer.projections.b_O is None else layer.projections.b_O
    told, group = step_of("heads").words(scene), scene.info.n_heads // scene.info.n_key_value_heads
    joining = facts_in(told, "heads/joining" if group == 1 else "heads/joining-shared")
    assert joining.pop("n_heads") == scene.info.n_heads
    has_bias = layer.projections.b_O is not None
    assert joining.pop("matrix") == ("WO, with a bias bO" if has_bias else "WO")
    assert joining == ({} if group == 1 else {"size": group})
    assert facts_in(told, "heads/words") == {
        "focus": scene.focus.text,
        "change": rounded(np.linalg.norm(joined @ layer.projections.W_O + bias)),
        "largest": int(np.argmax(lengths)) + 1,
        "largest_length": rounded(max(lengths)),
    }
