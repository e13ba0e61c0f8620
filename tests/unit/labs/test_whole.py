"""The whole Transformer: every length against the model's own vectors, and the page of NumPy against the model."""

import re
from functools import cache

import numpy as np
import pytest

from attention.lesson.head_context import HeadContext
from attention.models.one_page import is_written, run
from attention.page.blocks import Code, Notice
from attention.page.labs.whole import LAB, MOST_TOKENS, SHOWN
from tests.loaded import load
from tests.unit.labs.seen import figure, prose, table
from tests.unit.labs.seen import shown as lab_shown
from tests.unit.saying import says, tells

SENTENCE = "Four grey geese cross the cold river"
TEXTS = {"translator-fr-en": "le chat noir dort", "vit-digits": None}


class Runs:
    def __init__(self, trace):
        self.trace = trace

    def unmasked(self):
        return None

    def effects(self, changes):
        return None

    def passed(self):
        model = load(self.trace.info.model_id)
        insides, found = model.insides(), model.next_token(self.trace)
        if insides is None or not is_written(insides):
            return None
        return run(insides, self.trace) if found is None else run(insides, self.trace, found.logits[-1], found.labels)


@cache
def trace_of(model_id):
    model = load(model_id)
    return model.trace(TEXTS.get(model_id, SENTENCE) or model.info.reading.first)


def scene_of(model_id, layer=0, word=3):
    return HeadContext(trace_of(model_id), layer, 0, word)


def shown(scene, what="block"):
    return lab_shown(LAB, scene, Runs(scene.trace), **{SHOWN.name: what})


@pytest.fixture(params=["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"])
def scene(request):
    return scene_of(request.param)


def test_lengths_are_those_of_the_vectors_that_the_model_had(scene):
    rows = table(shown(scene), "lengths_table")
    states, added = scene.trace.hidden_states, scene.change
    lengths = {name: np.array(column, float) for name, column in rows.items() if name != "token"}
    np.testing.assert_allclose(lengths["in"], np.linalg.norm(states[0], axis=-1), rtol=1e-4)
    np.testing.assert_allclose(lengths["attention"], np.linalg.norm(added, axis=-1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(lengths["sum"], np.linalg.norm(states[0] + added, axis=-1), rtol=1e-3)
    np.testing.assert_allclose(lengths["out"], np.linalg.norm(states[1], axis=-1), rtol=1e-3)
    bars = figure(shown(scene), "lengths").figure.data[0]
    np.testing.assert_allclose(bars.x, [column[3] for column in lengths.values()])


def test_the_longer_of_the_two_is_the_right_answer(scene):
    guess = LAB.guess(scene)
    rows = table(shown(scene), "lengths_table")
    if "feed-forward" not in rows:
        assert guess.right == {2}
        return
    added, fed = (float(rows[name][3]) for name in ("attention", "feed-forward"))
    assert guess.right == {int(fed > added)}


@pytest.mark.parametrize("model_id", ["minilm-l6", "smollm2-135m"])
def test_neurons_are_sorted_by_their_strength(model_id):
    scene = scene_of(model_id, layer=2)
    blocks = shown(scene)
    rows = table(blocks, "neurons_table")
    values = np.array(rows["value"], float)
    assert len(values) == 1536
    assert (np.diff(np.abs(values)) <= 0).all()
    few = next(n for n in range(1, 1537) if np.abs(values[:n]).sum() >= np.abs(values).sum() / 2)
    told = prose(blocks)
    assert f"number {rows['neuron'][0]} is the strongest" in told
    assert tells(told, "whole/neurons-gated") == (model_id == "smollm2-135m")
    # A sum in another order may put the half one further.
    assert any(says(told, n) for n in (few - 1, few, few + 1))


def test_all_blocks_are_drawn_with_what_comes_next():
    scene = scene_of("smollm2-135m")
    blocks = shown(scene, "blocks")
    attention, fed = figure(blocks, "by_block").figure.data
    lengths = scene.trace.layers[17].lengths
    assert fed.y[17] == pytest.approx(float(lengths.fed[3]), rel=1e-5)
    added = HeadContext(scene.trace, 17, 0, 3).change[3]
    assert attention.y[17] == pytest.approx(float(np.linalg.norm(added)), rel=1e-4)
    answer = load("smollm2-135m").next_token(scene.trace)
    likeliest = answer.labels[int(answer.logits[-1].argmax())]
    # The word in focus is another one than the last.
    assert says(prose(blocks), scene.names[-1], likeliest)


def test_a_model_without_a_prediction_says_so(scene):
    told = prose(shown(scene, "blocks"))
    assert ("does not say what comes next" in told) == (scene.info.model_id != "smollm2-135m")
    # The vectors of an encoder that has a decoder are no result, nor are those of a classifier.
    assert ("are its result" in told) == (scene.info.model_id in ("toy", "minilm-l6"))


def test_where_neurons_are_missing_it_is_said_why(scene):
    has_network = any(each.branch == "feed-forward" for each in scene.trace.structure.sublayers)
    is_on_page = scene.info.model_id in ("minilm-l6", "smollm2-135m")
    assert tells(prose(shown(scene)), "whole/no-neurons") == (has_network and not is_on_page)


def test_two_models_are_there_on_one_page(scene):
    blocks = shown(scene, "code")
    code = [block for block in blocks if isinstance(block, Code)]
    if scene.info.model_id not in ("minilm-l6", "smollm2-135m"):
        assert code == []
        assert tells(prose(blocks), "whole/no-page")
        return
    assert "import numpy as np" in code[0].source
    differences = re.findall(r"at most (\d\.\de[-+]\d\d)", prose(blocks))
    assert len(differences) == 2
    assert max(map(float, differences)) < 1e-4


def test_a_long_text_is_not_run_on_one_page():
    trace = load("minilm-l6").trace("word " * MOST_TOKENS)
    scene = HeadContext(trace, 0, 0, 3)
    assert "or a shorter text" in prose(shown(scene, "code"))
    assert figure(shown(scene), "lengths")
    assert says(prose(shown(scene)), MOST_TOKENS)
    decoder = load("smollm2-135m").trace("word " * (MOST_TOKENS + 1))
    assert says(prose(shown(HeadContext(decoder, 0, 0, 3), "blocks")), MOST_TOKENS)


def test_the_parts_of_a_decoder_with_an_encoder_are_not_shown():
    whole = load("translator-fr-en").trace("le chat noir dort")
    for part in (whole.decoder, whole.cross):
        (notice,) = shown(HeadContext(part, 0, 0, 1))
        assert isinstance(notice, Notice)
        assert LAB.guess(HeadContext(part, 0, 0, 1)) is None
