"""Queries, keys and values: statements about them are true."""

import numpy as np
import pytest

from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from tests.unit.lesson.telling import facts_in, rounded


def test_query_key_and_value_have_the_widths_that_are_told(scene):
    head = scene.trace.layers[scene.layer].head(scene.head)
    assert facts_in(step_of("qkv").words(scene), "qkv/words") == {
        "head": scene.head + 1,
        "width": scene.info.d_model,
        "d_head": head.queries.shape[1],
        "focus": scene.focus.text,
    }


def test_the_dimension_that_is_told_is_the_one_where_the_query_is_strongest(scene):
    query = scene.trace.layers[scene.layer].head(scene.head).queries[scene.word]
    told = facts_in(step_of("qkv").words(scene), "qkv/match")
    assert told["focus"] == scene.focus.text
    assert told["value"] == rounded(query[int(told["strongest"])])
    assert abs(told["value"]) == rounded(np.abs(query).max())


@pytest.mark.parametrize(
    ("kind", "part", "source"), [("t5gemma", "cross", "Z"), ("switch_transformers", "decoder", "X")]
)
def test_of_what_is_not_known_no_matrix_of_weights_is_named(model_of, kind, part, source):
    trace = model_of(kind).trace("The cat sat on the mat.").part(part)
    scene = HeadContext(trace, 1, 1, 2)
    lesson = "qkv/words-cross" if part == "cross" else "qkv/words"
    assert facts_in(step_of("qkv").words(scene), lesson, "qkv/unknown")["head"] == 2
    titles = [exhibit.matrix.title for exhibit in step_of("qkv").exhibits(scene)]
    assert titles == ["Q = f_Q(X)", f"K = f_K({source})", f"V = f_V({source})"]
    for step in ("qkv", "heads"):
        formula = step_of(step).formula(scene)
        assert "f_" in formula
        assert "W_" not in formula + step_of(step).shapes(scene)
    assert step_of("heads").words(scene).startswith("<p>The outputs of all")
