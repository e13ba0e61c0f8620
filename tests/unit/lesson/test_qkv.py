"""Queries, keys and values: what is told of them is what they are."""

import numpy as np

from attention.lesson.steps import step_of
from tests.unit.lesson.telling import facts_in, rounded


def test_query_key_and_value_have_the_lengths_that_are_told(scene):
    head, at = scene.trace.layers[scene.layer].head(scene.head), scene.word
    assert facts_in(step_of("qkv").words(scene), "qkv/words") == {
        "head": scene.head + 1,
        "width": scene.info.d_model,
        "d_head": head.queries.shape[1],
        "focus": scene.focus.text,
        "query": rounded(np.linalg.norm(head.queries[at])),
        "key": rounded(np.linalg.norm(head.keys[at])),
        "value": rounded(np.linalg.norm(head.values[at])),
    }
