"""The weighted sum: its largest contributions."""

import numpy as np

from attention.lesson.steps import step_of
from tests.unit.lesson.telling import facts_in, rounded, shown
from tests.unit.saying import tells


def test_the_largest_contribution_is_the_longest_weighted_value(scene):
    head, at = scene.trace.layers[scene.layer].head(scene.head), scene.word
    lengths = [float(np.linalg.norm(w * v)) for w, v in zip(head.weights[at], head.values, strict=True)]
    best, largest = scene.names[head.weights[at].argmax()], scene.names[int(np.argmax(lengths))]
    told = step_of("sum").words(scene)
    # Only another word is a surprise.
    assert tells(shown(told), "sum/most-other") == (best != largest)
    assert facts_in(told, "sum/words", "sum/most" if best == largest else "sum/most-other") == {
        "unit": scene.info.reading.unit,
        "focus": scene.focus.text,
        "share": rounded(100 * head.weights[at].max(), 0),
        "best": best,
        **({} if best == largest else {"largest": largest}),
        "largest_length": rounded(max(lengths)),
    }
