"""*The whole Transformer*: every norm against the model's own vectors, and the page of NumPy against the model."""

import json
import re
from functools import partial

import numpy as np
import pytest

from attention.core.steps import softmax
from attention.figures.stream import PARTS
from attention.lesson.head_context import HeadContext
from attention.page.blocks import Code, Notice, walk
from attention.page.labs.whole import LAB, MOST_TOKENS, SHOWN
from attention.page.pages import OF_LABS, STEP_BY_STEP
from attention.page.settings import HEAD, LAYER
from attention.page.view import View
from tests.fresh import Fresh
from tests.loaded import load
from tests.shades import shown as as_drawn
from tests.unit.labs.seen import figure, prose, table
from tests.unit.labs.seen import scene_of as lab_scene_of
from tests.unit.labs.seen import shown as lab_shown
from tests.unit.saying import says, tells

scene_of = partial(lab_scene_of, head=0)


def shown(scene, what="block", code=False):
    return lab_shown(LAB, scene, Fresh(scene.trace), shown=what, code=code)


@pytest.fixture(params=["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"])
def scene(request):
    return scene_of(request.param)


def has_network(scene):
    return any(each.branch == "feed-forward" for each in scene.trace.structure.sublayers)


def test_lengths_are_those_of_the_vectors_that_the_model_had(scene):
    bars = figure(shown(scene), "lengths").figure.data[0]
    lengths = dict(zip(bars.hovertext, bars.x, strict=True))
    before, after = (state[3] for state in scene.trace.hidden_states[:2])
    added = scene.change[3]
    for name, vector in {"in": before, "attention": added, "sum": before + added, "out": after}.items():
        assert lengths[name] == pytest.approx(np.linalg.norm(vector), rel=1e-3)


def test_the_diagram_has_the_length_of_all_that_is_added_in_every_layer(scene):
    way = figure(shown(scene), "way")
    for layer, attention in enumerate(way.attention.lengths):
        here = HeadContext(scene.trace, layer, 0, 3)
        assert attention == pytest.approx(float(np.linalg.norm(here.change[3])), rel=1e-3)
    assert (way.feed_forward is not None) == has_network(scene)
    # A feed-forward network is told of only where there is one.
    assert tells(prose(shown(scene)), "whole/words") == has_network(scene)
    norms = {each.norm_after for each in scene.trace.structure.sublayers}
    summed = scene.trace.hidden_states[0][3] + scene.change[3]
    if norms == {""}:
        assert way.payload()["between"] == pytest.approx(float(np.linalg.norm(summed)), rel=1e-3)
    elif way.attention.norms.after:
        assert f"brings the sum to {way.payload()['between']:.2f}" in prose(shown(scene, "block"))
    if has_network(scene) and norms == {""}:
        # Where no norm is on the stream, what attention leaves to be added is the feed-forward network's.
        states = scene.trace.hidden_states
        for layer, fed in enumerate(way.feed_forward.lengths):
            change = HeadContext(scene.trace, layer, 0, 3).change[3]
            rest = states[layer + 1][3] - states[layer][3] - change
            assert fed == pytest.approx(float(np.linalg.norm(rest)), rel=1e-2)


def test_a_strip_of_the_diagram_is_the_vector_over_its_length(scene):
    way = figure(shown(scene), "way")
    payload = way.payload()
    states = np.stack([state[3] for state in scene.trace.hidden_states])
    step = -(-scene.info.d_model // 48)
    wanted = (states / np.linalg.norm(states, axis=-1, keepdims=True))[:, ::step]
    assert way.limit <= np.abs(wanted).max() * (1 + 1e-6)
    drawn = as_drawn(payload["strips"], way.limit, is_signed=True).reshape(wanted.shape)
    seen = np.clip(wanted, -way.limit, way.limit)
    np.testing.assert_allclose(np.clip(drawn, -way.limit, way.limit), seen, atol=way.limit / 50)
    rows = table(shown(scene), "way_table")
    columns = np.array([column for name, column in rows.items() if name != "after layer"], float)
    np.testing.assert_allclose(columns.T, states[:, ::step], rtol=1e-6)


def test_the_parts_of_the_heads_add_up_to_what_attention_adds(scene):
    layer = scene.trace.layers[0]
    parts = np.array(table(shown(scene, "attention"), "heads_table")["norm"], float)
    by_head = np.split(layer.projections.W_O, scene.info.n_heads)
    vectors = np.array([output[3] @ matrix for output, matrix in zip(layer.model_output, by_head, strict=True)])
    np.testing.assert_allclose(parts, np.linalg.norm(vectors, axis=-1), rtol=1e-3, atol=1e-5)
    bias = 0 if layer.projections.b_O is None else layer.projections.b_O
    np.testing.assert_allclose(vectors.sum(axis=0) + bias, scene.change[3], atol=1e-3)
    best = int(parts.argmax())
    assert says(prose(shown(scene, "attention")), best + 1, f"{parts[best]:.2f}")
    assert table(shown(scene), "blocks_table")["head that adds most"][0] == str(best + 1)


def test_a_press_opens_a_part_in_its_layer_and_nothing_else(scene):
    touch = figure(shown(scene), "way")
    n_layers = len(scene.trace.layers)
    assert touch.said("open", {"part": "attention", "layer": n_layers - 1}) == {
        "shown": "attention",
        "layer": str(n_layers),
    }
    assert touch.said("open", {"part": "output"}) == {"shown": "output"}
    nothing = [
        {"part": "attention", "layer": n_layers},
        {"part": "attention"},
        {"part": "output", "layer": 0},
        "output",
    ]
    assert [touch.said("open", value) for value in (*nothing, {"part": ["block"], "layer": 0})] == [None] * 5


@pytest.mark.parametrize("part", PARTS)
def test_every_part_says_something_of_its_own(scene, part):
    way = figure(shown(scene, part), "way")
    assert way.part == part
    assert prose(shown(scene, part)) != prose(shown(scene, "block" if part != "block" else "attention"))


def test_before_the_answer_nothing_of_what_the_feed_forward_networks_add_leaves_the_server(scene):
    way = figure(shown(scene), "way")
    added = way.attention.lengths
    numbers = set() if way.feed_forward is None else {f"{each:.2f}" for each in way.feed_forward.lengths}
    for part in PARTS:
        view = View(page=OF_LABS[LAB]).replaced(SHOWN, part)
        blocks = walk(LAB.before(view, scene, Fresh(scene.trace)))
        covered = figure(blocks, "way").payload()
        # All bars of attention are drawn, on a scale of their own.
        np.testing.assert_allclose(covered["attention"]["shares"], added / added.max(), atol=1e-4)
        if way.feed_forward is not None:
            assert [covered["feedForward"][name] for name in ("shares", "lengths", "notes")] == [[]] * 3
        states = [float(np.linalg.norm(state[3])) for state in scene.trace.hidden_states]
        own = {f"{each:.2f}" for each in (*states, *added)}
        assert not (numbers - own) & set(re.findall(r"\d+\.\d\d", prose(blocks) + json.dumps(covered["told"])))


def test_the_one_that_is_longer_in_most_layers_is_the_right_answer(scene):
    guess = LAB.guess(scene)
    rows = table(shown(scene), "blocks_table")
    if "feed-forward" not in rows:
        assert guess is None
        return
    assert len(guess.answers) == 2
    added, fed = (np.array(rows[name], float) for name in ("attention", "feed-forward"))
    n_fed, n_added = int((fed > added).sum()), int((fed < added).sum())
    assert guess.right == ({0, 1} if n_fed == n_added else {int(n_fed > n_added)})


def test_the_question_is_the_same_in_every_layer():
    scene = scene_of("minilm-l6")
    last = HeadContext(scene.trace, len(scene.trace.layers) - 1, 0, 3)
    assert LAB.guess(last).mark == LAB.guess(scene).mark


def test_it_leads_to_the_steps_of_the_layer_in_the_head_that_adds_most():
    scene = scene_of("minilm-l6", layer=4)
    steps, costs = LAB.onward(View(page=OF_LABS[LAB]), scene)
    best = int(np.array(table(shown(scene, "attention"), "heads_table")["norm"], float).argmax())
    assert (steps.address, costs.address) == (STEP_BY_STEP.address, "cost")
    assert dict(steps.values)[LAYER] == 4
    assert dict(steps.values)[HEAD] == best


@pytest.mark.parametrize("model_id", ["minilm-l6", "smollm2-135m"])
def test_neurons_are_sorted_by_their_strength(model_id):
    scene = scene_of(model_id, layer=2)
    blocks = shown(scene, "feed-forward")
    rows = table(blocks, "neurons_table")
    values = np.array(rows["value"], float)
    assert len(values) == 1536
    assert (np.diff(np.abs(values)) <= 0).all()
    few = next(n for n in range(1, 1537) if np.abs(values[:n]).sum() >= np.abs(values).sum() / 2)
    told = prose(blocks)
    assert f"number {rows['unit'][0]} has the strongest activation" in told
    # SmolLM2's has a gate, and so a third matrix.
    assert tells(told, "onward/gated") == (model_id == "smollm2-135m")
    # A sum in another order may put the half one further.
    assert any(says(told, n) for n in (few - 1, few, few + 1))


def test_what_comes_out_is_what_the_model_predicts():
    scene = scene_of("smollm2-135m")
    answer = load("smollm2-135m").next_token(scene.trace)
    likeliest = answer.labels[int(answer.logits[-1].argmax())]
    blocks = shown(scene, "output")
    # The word in focus is another one than the last.
    assert says(prose(blocks), scene.names[-1], likeliest)
    assert any(likeliest in line for line in figure(blocks, "way").ends.lines)
    digits = scene_of("vit-digits")
    logits = load("vit-digits").answer(digits.trace).logits
    rows = table(shown(digits, "output"), "next_table")
    assert rows["token"][0] == str(logits.argmax())
    assert float(rows["probability"][0]) == pytest.approx(float(softmax(logits).max()))


def test_a_model_without_a_prediction_says_so(scene):
    told = prose(shown(scene, "output"))
    says_none = scene.info.model_id not in ("smollm2-135m", "vit-digits")
    assert ("predicts no next token" in told) == says_none
    # The vectors of an encoder that has a decoder are no result.
    assert ("are its result" in told) == (scene.info.model_id in ("toy", "minilm-l6"))


def test_where_neurons_are_missing_it_is_said_why(scene):
    is_on_page = scene.info.model_id in ("minilm-l6", "smollm2-135m")
    told = prose(shown(scene, "feed-forward"))
    assert tells(told, "whole/no-neurons") == (has_network(scene) and not is_on_page)


def test_two_models_are_there_on_one_page(scene):
    blocks = shown(scene, code=True)
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
    assert "or a shorter text" in prose(shown(scene, code=True))
    assert figure(shown(scene), "lengths")
    assert says(prose(shown(scene, "feed-forward")), MOST_TOKENS)


def test_the_parts_of_a_decoder_with_an_encoder_are_not_shown():
    whole = load("translator-fr-en").trace("le chat noir dort")
    for part in (whole.decoder, whole.cross):
        (notice,) = shown(HeadContext(part, 0, 0, 1))
        assert isinstance(notice, Notice)
        assert LAB.guess(HeadContext(part, 0, 0, 1)) is None
