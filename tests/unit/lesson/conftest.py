"""What the tests of the lesson share: scenes of every kind of model."""

import pytest

from attention.lesson.head_context import HeadContext
from tests.loaded import load
from tests.unit.lesson.telling import TEXT, TOY, trace_of


@pytest.fixture(scope="module")
def scene_of(minilm, smollm2):
    """Make a scene of one of the models; of the translator, in one of its parts."""
    translator = load("translator-fr-en")
    models = {"toy": TOY, "minilm-l6": minilm, "smollm2-135m": smollm2, "translator-fr-en": translator}

    def make(model_id="toy", text=TEXT, *, mask="none", layer=0, head=0, at=None, cell=None, part="encoder"):
        trace = trace_of(models[model_id], text, mask).part(part)
        return HeadContext(trace, layer, head, len(trace.tokens) // 2 if at is None else at, cell)

    return make


PLACES = [
    ("toy", "none", 0, 0, 2),
    ("toy", "causal", 0, 1, 5),
    ("toy", "padding", 0, 2, 1),
    ("minilm-l6", "none", 5, 6, 3),
    ("minilm-l6", "causal", 0, 0, 6),
    ("minilm-l6", "padding", 2, 11, 0),
    ("smollm2-135m", "none", 13, 8, 2),
    ("smollm2-135m", "causal", 0, 4, 5),
    ("smollm2-135m", "padding", 29, 3, 3),
]


@pytest.fixture(params=PLACES, ids=lambda place: "-".join(map(str, place)))
def scene(request, scene_of):
    model_id, mask, layer, head, at = request.param
    return scene_of(model_id, mask=mask, layer=layer, head=head, at=at)
