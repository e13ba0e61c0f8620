"""*The vector moves*: arrows that add up to the record, and cosines against torch's."""

import re
from typing import NamedTuple

import numpy as np
import pytest
import torch

from attention.core.words import words_of
from attention.lesson.head_context import HeadContext
from attention.models import list_models
from attention.page.blocks import Picture, walk
from attention.page.labs.vector_moves import BESIDE_TEXT, LAB, N_SENT, SCOPE
from attention.page.pages import OF_LABS
from attention.page.settings import VERSUS
from attention.page.view import View
from tests.drawn import arrows, names_in, traces, way_of
from tests.fresh import Fresh
from tests.loaded import load
from tests.unit.labs.seen import figure, prose, table
from tests.unit.labs.seen import scene_of as lab_scene_of
from tests.unit.labs.seen import shown as lab_shown
from tests.unit.saying import says, tells

MODELS = ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"]


@pytest.fixture(scope="module", params=MODELS)
def scene(request):
    return scene_of(request.param)


def scene_of(model_id, text=None, word=2):
    return lab_scene_of(model_id, text, layer=load(model_id).info.n_layers // 2, word=word)


def shown(scene, scope="heads", beside="alone", versus=None):
    knobs = {SCOPE.name: scope, BESIDE_TEXT.name: beside, VERSUS.name: versus}
    return lab_shown(LAB, scene, Fresh(scene.trace), **knobs)


class Way(NamedTuple):
    """A chain of arrows: its places, what its arrows say, and the parts of the legend they have."""

    places: np.ndarray
    labels: list[str]
    inks: list[str]


def chains_of(blocks):
    """The chains, in the order in which they are drawn; each begins where a series starts one."""
    chains = {}
    for trace in traces(figure(blocks, "way")):
        chains.setdefault(trace.meta["chain"], []).extend(arrows(trace))
    ways = [way_of(some) for some in chains.values()]
    return [Way(places, [each.label for each in path], [each.ink for each in path]) for places, path in ways]


def tags(blocks):
    """What is written beside the arrows."""
    return names_in(figure(blocks, "way"), "bottom center")


def test_in_a_layer_what_is_sent_adds_up_to_what_the_model_adds(scene):
    blocks, row = shown(scene), scene.word
    sent, change, rest = chains_of(blocks)
    added = scene.attention.added[row]
    size = np.linalg.norm(added)
    # To the right is the direction of ΔE, which is seen as long as it is.
    np.testing.assert_allclose(change.places[1] - change.places[0], [size, 0], atol=1e-3 * size)
    np.testing.assert_allclose(sent.places[-1], change.places[-1], atol=1e-3 * size)
    np.testing.assert_allclose(rest.places[0], change.places[-1], atol=1e-3 * size)
    steps = table(blocks, "way_table")
    assert float(steps["norm"][-1]) == pytest.approx(size, rel=1e-4)
    assert sum(map(float, steps["component along the sum"][:-1])) == pytest.approx(size, rel=1e-3)
    assert len(sent.labels) <= N_SENT + 2
    assert says(prose(blocks), f"{size:.2f}")


@pytest.mark.parametrize("scope", ["head", "heads", "layers"])
def test_the_shares_of_the_two_axes_add_up_to_that_of_the_plane_as_they_are_written(scene, scope):
    blocks = shown(scene, scope)
    layout = figure(blocks, "way").figure.layout
    axes = layout.xaxis.title.text, layout.yaxis.title.text
    written = [round(10 * float(re.match(r"([\d.]+)% of", axis)[1])) for axis in axes]
    assert sum(written) == round(10 * float(re.search(r"([\d.]+)% of the variance", prose(blocks))[1]))


def test_one_head_sends_its_own_part(scene):
    blocks, row = shown(scene, "head"), scene.word
    sent, change = chains_of(blocks)
    weight = scene.attention.projections.W_O.reshape(scene.info.n_heads, -1, scene.info.d_model)[1]
    part = np.linalg.norm(scene.attention.model_output[1, row] @ weight)
    assert says(prose(blocks), f"{part:.2f}")
    np.testing.assert_allclose(sent.places[-1], change.places[-1], atol=1e-3 * max(part, 1))


def test_through_all_layers_the_arrows_lead_from_state_to_state(scene):
    blocks = shown(scene, "layers")
    chain, _ = chains_of(blocks)
    states = [state[scene.word] for state in scene.trace.hidden_states]
    lengths = np.array(table(blocks, "way_table")["norm of ΔE"], float)
    wanted = [np.linalg.norm(layer.added[scene.word]) for layer in scene.trace.layers]
    np.testing.assert_allclose(lengths, wanted, rtol=1e-3)
    found = np.array(table(blocks, "way_table")["cosine with the start"], float)
    first = torch.tensor(states[0])[None]
    wanted = torch.nn.functional.cosine_similarity(torch.tensor(np.stack(states[1:])), first).numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    # Every second place is where the vector is between two layers; in a plane, nothing looks longer than it is.
    seen = np.linalg.norm(np.diff(chain.places[::2], axis=0), axis=1)
    assert (seen <= np.linalg.norm(np.diff(np.stack(states), axis=0), axis=1) * 1.001).all()


def test_in_all_layers_what_each_token_sends_leads_to_the_end(scene):
    blocks, row = shown(scene, "layers"), scene.word
    layers, words = chains_of(blocks)
    size = np.linalg.norm(scene.trace.hidden_states[-1][row] - scene.trace.hidden_states[0][row])
    np.testing.assert_allclose(words.places[[0, -1]], layers.places[[0, -1]], atol=2e-3 * size)
    assert len(words.labels) <= N_SENT + 3
    assert words.inks[-1] == "other"
    # What a token sends in all layers, worked out anew with torch from weights and values.
    best = tags(blocks)[0]
    place = scene.key_names.index(best)
    total = torch.zeros(scene.info.d_model)
    for layer in scene.trace.layers:
        output = torch.tensor(layer.projections.W_O).reshape(scene.info.n_heads, -1, scene.info.d_model)
        steps = [layer.head(head) for head in range(scene.info.n_heads)]
        for step, weight in zip(steps, output, strict=True):
            total += float(step.weights[row, place]) * (torch.tensor(step.values[place]) @ weight)
    table_of_words = table(blocks, "words_table")
    assert float(table_of_words["norm"][0]) == pytest.approx(float(total.norm()), rel=1e-3)
    assert sum(map(float, table_of_words["component along the sum"][:-1])) == pytest.approx(size, rel=1e-3)
    assert says(prose(blocks), f"{size:.2f}")


@pytest.mark.parametrize("scope", ["head", "heads", "layers"])
def test_what_is_masked_sends_nothing_and_is_not_named(scope):
    scene = scene_of("smollm2-135m", "The cat sat on the mat", word=2)
    written = tags(shown(scene, scope))
    assert set(scene.names[:3]) <= set(written)
    assert not set(scene.names[3:]) & set(written)


def test_the_question_is_answered_by_the_record(scene):
    guess = LAB.guess(scene)
    (right,) = guess.right
    first, last = (torch.tensor(scene.trace.hidden_states[at][scene.word]) for at in (0, -1))
    cosine = float(torch.nn.functional.cosine_similarity(first, last, dim=0))
    assert right == (0 if cosine > 0.9 else 1 if cosine > 0.5 else 2 if cosine > 0 else 3)
    assert f"{cosine:.2f}".replace("-", "−") in guess.reason


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "smollm2-135m"])
@pytest.mark.parametrize(
    ("beside", "texts"),
    [
        ("after", ("the bank of the river", "the bank of the city")),
        ("before", ("the river has a bank", "the city has a bank")),
    ],
)
def test_a_word_drifts_apart_as_torch_says(model_id, beside, texts):
    blocks = shown(scene_of(model_id), beside=beside)
    found = np.array(table(blocks, "drift_table")["the same word"], float)
    traces = [load(model_id).trace(text) for text in texts]
    places = [next(each.position for each in trace.tokens if each.typed.strip() == "bank") for trace in traces]
    states = [
        torch.tensor(np.stack([state[place] for state in trace.hidden_states]))
        for trace, place in zip(traces, places, strict=True)
    ]
    np.testing.assert_allclose(found, torch.nn.functional.cosine_similarity(*states).numpy(), atol=1e-4)
    told = prose(blocks)
    # A decoder sees nothing of what comes later; the toy knows both for nouns.
    assert tells(told, "vector-moves/drift-causal") == (model_id == "smollm2-135m" and beside == "after")
    assert tells(told, "vector-moves/drift-same") == (model_id == "toy")


@pytest.mark.parametrize("beside", ["after", "alone"])
def test_while_a_cosine_is_asked_no_other_one_is_told(beside):
    scene = scene_of("minilm-l6")
    view = View(page=OF_LABS[LAB]).replaced(BESIDE_TEXT, beside)
    blocks = list(walk(LAB.before(view, scene, Fresh(scene.trace))))
    assert {"way", "stream"} <= {each.key for each in blocks if isinstance(each, Picture)}
    assert "cosine" not in prose(blocks)


@pytest.mark.parametrize(("model_id", "first"), [("minilm-l6", "after"), ("smollm2-135m", "before")])
def test_the_pair_that_is_shown_first_differs_where_the_word_can_see_it(model_id, first):
    scene, models = scene_of(model_id), {info.model_id: info for info in list_models()}
    drawn = {beside: figure(shown(scene, beside=beside), "drift") for beside in (None, "after", "before")}
    np.testing.assert_array_equal(drawn[None].figure.data[0].y, drawn[first].figure.data[0].y)
    assert drawn[None].figure.data[0].y[-1] < 0.99
    # A link to either pair opens it.
    for beside in ("after", "before"):
        link = {"model": model_id, BESIDE_TEXT.name: beside}
        view, notices = View.from_query(link, OF_LABS[LAB], models)
        assert (view[BESIDE_TEXT], notices, view.to_query()[BESIDE_TEXT.name]) == (beside, [], beside)


def test_a_word_read_alone_is_found_again_or_that_is_said():
    alone = table(shown(scene_of("minilm-l6")), "drift_table")
    assert float(alone["the same word"][0]) > float(alone["different words"][0])
    sat = scene_of("smollm2-135m", "The cat sat on the mat")
    assert says(prose(shown(sat)), "␣sat", "sat")
    assert tells(prose(shown(scene_of("minilm-l6", word=0))), "vector-moves/drift-none")
    assert tells(prose(shown(scene_of("vit-digits"))), "vector-moves/drift-not-here")


def at(trace, word, which=0):
    """The place of a word that was typed, or of its last piece."""
    words = [each for each in words_of(trace.tokens) if each.typed.strip().casefold() == word]
    return words[which].positions[-1]


def buttons(blocks):
    found = [each.figure for each in blocks if isinstance(each, Picture) and each.key == "shared"]
    return {each.text: each.parts for figure in found for each in figure.row}


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "smollm2-135m"])
@pytest.mark.parametrize(
    ("word", "compared", "which"),
    # The word in focus if both have it, the second with the second; else the longest that both have.
    [("river", "river", (0, 0)), ("the", "the", (1, 1)), ("cold", "river", (0, 0))],
)
def test_a_word_of_two_typed_texts_drifts_apart_as_torch_says(model_id, word, compared, which):
    first, second = "The geese cross the cold river", "The river bends where the road ends"
    trace, other = (load(model_id).trace(text) for text in (first, second))
    scene = HeadContext(trace, 0, 0, at(trace, word, -1))
    blocks = shown(scene, beside="typed", versus=second)
    states = [
        torch.tensor(np.stack([state[at(run, compared, place)] for state in run.hidden_states]))
        for run, place in zip((trace, other), which, strict=True)
    ]
    found = np.array(table(blocks, "drift_table")["the same word"], float)
    np.testing.assert_allclose(found, torch.nn.functional.cosine_similarity(*states).numpy(), atol=1e-4)
    # The others can be chosen: each button puts its word in focus.
    offered = {text.casefold(): parts for text, parts in buttons(blocks).items()}
    assert set(offered) == {"the", "river"}
    assert offered[compared] is None
    rest = "the" if compared == "river" else "river"
    assert offered[rest] == {"word": str(at(trace, rest))}


def test_two_texts_without_a_common_word_are_told_so():
    scene = scene_of("minilm-l6")
    assert tells(prose(shown(scene, beside="typed", versus="Nobody sings , nobody !")), "vector-moves/drift-shared")
    for empty in (None, "", "  "):
        assert tells(prose(shown(scene, beside="typed", versus=empty)), "vector-moves/drift-shared")


def test_a_text_that_cannot_be_read_is_told_so():
    class Deaf(Fresh):
        def reading(self, text):
            return None

    scene = scene_of("minilm-l6")
    for beside in ("typed", "after"):
        view = View(page=OF_LABS[LAB]).with_value(BESIDE_TEXT, beside).with_value(VERSUS, "the river")
        assert tells(prose(walk(LAB.content(view, scene, Deaf(scene.trace)))), "vector-moves/drift-unread")


def test_a_piece_of_a_word_meets_the_same_piece():
    first, second = "Unembroidered things", "She sells unembroidered hats"
    scene = scene_of("minilm-l6", first, word=2)
    assert scene.focus.text == "##mb"
    other = load("minilm-l6").trace(second)
    found = np.array(table(shown(scene, beside="typed", versus=second), "drift_table")["the same word"], float)
    (place,) = (each.position for each in other.tokens if each.text == "##mb")
    places = ((scene.trace, 2), (other, place))
    states = [torch.tensor(np.stack([state[at] for state in run.hidden_states])) for run, at in places]
    np.testing.assert_allclose(found, torch.nn.functional.cosine_similarity(*states).numpy(), atol=1e-4)


def test_much_longer_vectors_are_left_out_and_named():
    scene = scene_of("smollm2-135m")
    told = prose(shown(scene))
    assert says(told, "3", "Four")
    assert "␣grey" not in told[told.index("norms more than") :]


def test_what_is_added_is_as_long_as_the_model_has_it():
    scene = scene_of("minilm-l6")
    numbers = table(shown(scene), "stream_table")
    layers, row = scene.trace.layers, scene.word
    fed = np.array(numbers["norm of the feed-forward network's output"], float)
    np.testing.assert_allclose(fed, [layer.lengths.fed[row] for layer in layers], rtol=1e-6)
    wanted = [np.linalg.norm(layer.added[row]) for layer in layers]
    np.testing.assert_allclose(np.array(numbers["norm of ΔE"], float), wanted, rtol=1e-4)


def test_a_lone_word_moves_too():
    assert "is ΔE" in prose(shown(scene_of("toy", "geese", 0)))


def test_one_layer_says_what_it_adds_and_an_uneven_course_is_drawn_by_factors():
    assert figure(shown(scene_of("smollm2-135m", word=0)), "stream").figure.layout.yaxis.type == "log"
    assert not figure(shown(scene_of("minilm-l6")), "stream").figure.layout.yaxis.type
