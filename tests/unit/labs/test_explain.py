"""*Does attention explain?*: texts and pictures of each experiment, against numbers computed here."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from attention.core.ablation import Change, Shuffle
from attention.core.interventions import Ablate
from attention.figures.colours import WEIGHT
from attention.lesson.head_context import HeadContext
from attention.measures.flow import flow_to, rollout
from attention.page.blocks import Notice
from attention.page.labs.explain import EXPERIMENT, LAB, MOST_FLOW, _format_effect
from tests.drawn import current
from tests.fresh import Fresh
from tests.loaded import load
from tests.sweep import sweep
from tests.unit.labs.seen import SENTENCE, figure, prose, scene_of, table, trace_of
from tests.unit.labs.seen import shown as lab_shown
from tests.unit.saying import plain, says, tells


class Runs(Fresh):
    """A model that is run again, and what was run."""

    def __init__(self, trace):
        super().__init__(trace)
        self.asked = []

    def effects(self, changes):
        self.asked.append(changes)
        return super().effects(changes)


@pytest.fixture(
    params=sweep(["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"], ("toy", "vit-digits"))
)
def scene(request):
    return scene_of(request.param)


shown = partial(lab_shown, LAB)


def vectors_of(model_id, *changes):
    """The mean of the last vectors, with each change."""
    trace = trace_of(model_id)
    words = [token.position for token in trace.tokens if not token.is_special]
    outputs = load(model_id).outputs(trace.text, None, changes)
    return [np.array(output.vectors, np.float64)[words].mean(axis=0) for output in outputs]


def probabilities_of(model_id, *changes):
    """The probabilities of the next token, with each change."""
    outputs = load(model_id).outputs(trace_of(model_id).text, None, changes)
    powers = [np.exp(output.logits.astype(np.float64) - output.logits.max()) for output in outputs]
    return [each / each.sum() for each in powers]


def one_minus_cosine(one, other):
    return 1 - one @ other / np.linalg.norm(one) / np.linalg.norm(other)


@pytest.mark.parametrize(
    ("moved", "written"),
    [(0.01, "0.0100"), (0.010004, "0.010004"), (0.0099951, "0.009995"), (0.0123456, "0.0123"), (0.0, "0.0000")],
)
def test_what_hardly_moves_is_told_from_what_moves_by_a_little_more(moved, written):
    assert _format_effect(moved) == f"<b>{written}</b>"


# --------------------------------------------------------------------------------------- the question


def asked(scene, runs, experiment="heads"):
    return LAB.measured_guess({EXPERIMENT: experiment}, scene, runs)


def sizes_of(trace, heads):
    """The largest weight of a row, on average, of each head."""
    return np.array([trace.layers[layer].head(head).weights.max(axis=1).mean() for layer, head in heads])


def test_what_is_asked_is_answered_by_switching_each_head_off():
    scene = scene_of("minilm-l6", layer=5)
    guess = asked(scene, Runs(scene.trace))
    heads = list(np.ndindex(6, 12))
    whole, *changed = vectors_of("minilm-l6", Change(), *(Change((Ablate(head),)) for head in heads))
    moved, sizes = np.array([one_minus_cosine(whole, each) for each in changed]), sizes_of(scene.trace, heads)
    sharpest, best = sizes.argmax(), moved.argmax()
    rank = int((moved > moved[sharpest]).sum()) + 1
    assert guess.right == {0 if rank == 1 else 1 if rank <= 36 else 2}
    layer, head = heads[sharpest]
    told = plain(guess.reason)
    assert says(told, layer + 1, head + 1, f"{sizes.max():.2f}", f"{moved[sharpest]:.4f}", rank, "72")
    assert says(told, f"{moved.max():.4f}", heads[best][0] + 1, heads[best][1] + 1)
    # Whoever chooses another head is not asked anew.
    other = scene_of("minilm-l6", layer=2, head=7)
    assert asked(other, Runs(other.trace)).mark == guess.mark
    # The same is said in the end.
    end = prose(shown(scene, Runs(scene.trace))[-1:])
    assert says(end, layer + 1, head + 1, f"{sizes.max():.2f}", rank, "72")
    assert says(end, heads[best][0] + 1, heads[best][1] + 1, f"{sizes[best]:.2f}")
    order = np.corrcoef(sizes.argsort().argsort(), moved.argsort().argsort())[0, 1]
    assert order < 0.5
    assert tells(end, "explain/differed")
    assert says(end, f"{order:.2f}".replace("-", "−"))


@pytest.mark.parametrize("experiment", ["lengths", "words", "shuffled"])
def test_another_experiment_ablates_no_head_and_ends_without_its_conclusion(experiment):
    scene = scene_of("minilm-l6", layer=2, head=8, word=4)
    runs = Runs(scene.trace)
    blocks = shown(scene, runs, experiment=experiment)
    made = [each for changes in runs.asked for change in changes for each in change.interventions]
    assert not [each for each in made if isinstance(each, Ablate) and each.how != "uniform"]
    assert not tells(prose(blocks), "explain/showed")


@pytest.mark.parametrize("layer", sweep([0, 13], quick=[13]))
def test_where_one_layer_alone_is_tried_its_heads_are_compared(layer):
    scene = scene_of("smollm2-135m", layer=layer)
    guess = asked(scene, Runs(scene.trace))
    heads = [(layer, head) for head in range(9)]
    plain, *changed = probabilities_of("smollm2-135m", Change(), *(Change((Ablate(head),)) for head in heads))
    moved = np.array([np.abs(plain - each).sum() / 2 for each in changed])
    rank = int((moved > moved[sizes_of(scene.trace, heads).argmax()]).sum()) + 1
    assert guess.right == {0 if rank == 1 else 1 if rank <= 5 else 2}


@pytest.mark.parametrize("experiment", EXPERIMENT.kind.options(None))
def test_every_model_is_asked_about_every_experiment_and_there_is_a_wrong_answer(scene, experiment):
    guess = asked(scene, Runs(scene.trace), experiment)
    # Words may nearly tie.
    assert len(guess.right) == 1 or (experiment == "words" and guess.right)
    assert len(guess.answers) > len(guess.right | guess.close)
    assert LAB.guess(scene) is None


def test_what_is_asked_about_another_experiment_is_answered_by_its_numbers():
    scene = scene_of("minilm-l6", text="The dog chased the cat because it was angry today", layer=2, head=8, word=7)
    runs = Runs(scene.trace)
    blocks = shown(scene, runs, experiment="words")
    moved, names = figure(blocks, "occluded").figure.data[0].x, table(blocks, "words_table")["occluded"]
    guess = asked(scene, runs, "words")
    assert names[np.argmax(moved)] in [guess.answers[index] for index in guess.right]
    assert says(plain(guess.reason), f"{max(moved):.2f}")
    assert {"dog", "chased", "cat", "was", "angry", "today"} <= {*guess.answers}
    rows = table(shown(scene, runs, experiment="shuffled"), "shuffles_table")
    *shuffles, even = map(float, rows["all layers"])
    assert asked(scene, runs, "shuffled").right == {int(even > np.median(shuffles))}
    W_O = scene.attention.projections.W_O.reshape(12, 32, 384)
    weights, norms = scene.attention.steps().weights, np.linalg.norm(scene.attention.values @ W_O, axis=-1)
    same = (weights * norms[:, None]).argmax(axis=-1) == weights.argmax(axis=-1)
    guess = asked(scene, runs, "lengths")
    assert guess.right == {int(np.mean(same) <= 0.5)}
    assert says(plain(guess.reason), np.sum(same), np.size(same))


# --------------------------------------------------------------------------------------- heads off


def test_all_heads_of_bert_are_drawn_and_sorted_in_the_table():
    scene, changes = scene_of("minilm-l6", layer=5, head=2), []
    for layer, head in np.ndindex(6, 12):
        others = [Ablate((layer, other), "uniform") for other in range(12) if other != head]
        changes.append(Change(tuple(others)))
    plain, *changed = vectors_of("minilm-l6", Change(), *changes)
    wanted = np.array([one_minus_cosine(plain, each) for each in changed])
    blocks = shown(scene, Runs(scene.trace), off="even", only="rest")
    drawn = figure(blocks, "worth").figure.data[1]
    np.testing.assert_allclose(drawn.y, wanted, atol=1e-5)
    assert current(drawn) == 5 * 12 + 2
    rows = pd.DataFrame(table(blocks, "heads_table"))
    found = rows["the model's output moves by"].astype(float)
    assert found.is_monotonic_decreasing
    places = (rows["layer"].astype(int) - 1) * 12 + rows["head"].astype(int) - 1
    np.testing.assert_allclose(found, wanted[places], atol=1e-5)
    assert sorted(places) == list(range(72))
    assert set(rows["replaced with"]) == {"equal weights"}


def test_of_a_decoder_the_next_token_is_what_moves():
    scene = scene_of("smollm2-135m", layer=13, head=6)
    trace = scene.trace
    plain, changed = probabilities_of("smollm2-135m", Change(), Change((Ablate((13, 6)),)))
    blocks = shown(scene, Runs(trace))
    told = prose(blocks)
    assert says(told, f"{np.abs(plain - changed).sum() / 2:.4f}")
    assert f"({plain.max():.2f})" in told
    assert f"has a probability of {changed[plain.argmax()]:.2f}" in told
    # Only the heads of its layer are tried.
    assert set(table(blocks, "heads_table")["layer"]) == {"14"}
    # Each of their bars is a head to press, and that which is looked at stands out.
    (bars,) = figure(blocks, "worth").figure.data
    assert bars.customdata.tolist() == [[14, head + 1] for head in range(9)]
    assert [colour == WEIGHT for colour in bars.marker.color] == [head == 6 for head in range(9)]
    assert figure(blocks, "worth").said("choose", {"layer": 13, "head": 8}) == {"layer": "14", "head": "9"}
    assert figure(blocks, "worth").said("choose", {"layer": 12, "head": 0}) is None
    assert tells(told, "explain/layer-only")


def test_every_knob_and_model_has_something_to_show(scene):
    runs = Runs(scene.trace)
    for off in ("zero", "mean", "even"):
        for only in ("one", "rest"):
            blocks = shown(scene, runs, off=off, only=only)
            assert figure(blocks, "worth")
            moved = [float(each) for each in list(table(blocks, "heads_table").values())[4]]
            assert moved == sorted(moved, reverse=True)
            assert not [block for block in blocks if isinstance(block, Notice)]
    # The heads of the same model are the same, whatever the layer.
    assert {len(changes) for changes in runs.asked} <= {scene.info.n_heads, scene.info.n_layers * scene.info.n_heads}


# --------------------------------------------------------------------------------------- weights and lengths


def test_lengths_are_those_of_the_vectors_that_are_added_up():
    scene = scene_of("minilm-l6", layer=2, head=8, word=4)
    parts, layer = scene.attention.projections, scene.attention
    added = scene.steps.weights[:, :, None] * (layer.values[8] @ parts.W_O[8 * 32 : 9 * 32])
    lengths = np.sqrt((added.astype(np.float64) ** 2).sum(axis=-1))
    shares = lengths / lengths.sum(axis=-1, keepdims=True)
    blocks = shown(scene, None, experiment="lengths")
    np.testing.assert_allclose(figure(blocks, "length_shares").values, shares, atol=1e-5)
    np.testing.assert_array_equal(figure(blocks, "own_weights").values, scene.steps.weights)
    told = prose(blocks)
    specials = [0, len(scene.tokens) - 1]
    assert f"get {scene.steps.weights[:, specials].sum(axis=1).mean():.2f} of all weight" in told
    assert f"and {shares[:, specials].sum(axis=1).mean():.2f} of the norms" in told
    rho = np.corrcoef(pd.Series(scene.steps.weights.ravel()).rank(), pd.Series(lengths.ravel()).rank())[0, 1]
    same = scene.steps.weights.argmax(axis=1) == lengths.argmax(axis=1)
    assert says(told, same.sum(), same.size, f"{rho:.2f}")
    rows = table(blocks, "lengths_table")
    np.testing.assert_allclose(np.array(rows["‖α f(x)‖"], float), lengths.ravel(), rtol=1e-4, atol=1e-6)


# --------------------------------------------------------------------------------------- words blotted out


@pytest.mark.slow
def test_blotting_out_is_compared_with_weights_and_rollout():
    scene = scene_of("minilm-l6", word=3)
    others = [position for position in range(len(scene.tokens)) if position != 3]
    changes = [Change(), *(Change(without=position) for position in others)]
    plain, *changed = (np.array(output.vectors[3]) for output in load("minilm-l6").outputs(SENTENCE, None, changes))
    moved = np.array([np.linalg.norm(each - plain) / np.linalg.norm(plain) for each in changed])
    blocks = shown(scene, Runs(scene.trace), experiment="words")
    np.testing.assert_allclose(figure(blocks, "occluded").figure.data[0].x, moved, atol=1e-5)
    means = np.stack([layer.steps().weights.mean(axis=0) for layer in scene.trace.layers]).astype(np.float64)

    def rho(row):
        return np.corrcoef(pd.Series(row[others]).rank(), pd.Series(moved).rank())[0, 1]

    raw, rolled, _ = figure(blocks, "ranks").figure.data
    np.testing.assert_allclose(figure(blocks, "last_row").figure.data[0].x, means[-1][3][others], atol=1e-6)
    np.testing.assert_allclose(raw.y, [rho(layer[3]) for layer in means], atol=1e-6)
    np.testing.assert_allclose(rolled.y, [rho(layer[3]) for layer in rollout(means)], atol=1e-6)
    assert says(prose(blocks), f"{raw.y[-1]:.2f}".replace("-", "−"))
    for layer in (1, scene.info.n_layers - 1):
        there = replace(scene, layer=layer)
        blocks = shown(there, Runs(scene.trace), experiment="words")
        columns = table(blocks, "words_table")
        flow = flow_to(means[: layer + 1], 3)[others]
        point = figure(blocks, "ranks").figure.data[-1]
        assert (point.name, point.x.tolist()) == ("flow to this layer", [layer + 1])
        assert point.y[0] == pytest.approx(np.corrcoef(pd.Series(flow).rank(), pd.Series(moved).rank())[0, 1])
        np.testing.assert_allclose(np.array(columns[f"flow to layer {layer + 1}"], float), flow, atol=1e-6)
        assert f"up to layer {layer + 1}," in prose(blocks)


@pytest.mark.parametrize("n_others", [3, 4, 5])
def test_an_order_of_fewer_than_five_is_not_compared(n_others):
    scene = scene_of("smollm2-135m", word=n_others)
    told = prose(shown(scene, Runs(scene.trace), experiment="words"))
    assert tells(told, "explain/words-ranks") == (n_others > 4)


@pytest.mark.parametrize("word", range(1, 8))
def test_the_largest_weight_is_told_beside_the_largest_effect(word):
    scene = scene_of("minilm-l6", word=word)
    blocks = shown(scene, Runs(scene.trace), experiment="words")
    moved, weights = (np.array(figure(blocks, key).figure.data[0].x) for key in ("occluded", "last_row"))
    best, most = weights.argmax(), moved.argmax()
    names = [name for place, name in enumerate(scene.names) if place != word]
    told = prose(blocks)
    assert tells(told, "explain/words-same" if best == most else "explain/words-other")
    assert says(told, names[best], f"{weights[best]:.2f}", names[most], f"{moved[most]:.2f}", f"{moved[best]:.2f}")


def test_a_decoder_looks_back_only_and_its_first_token_at_nothing_else():
    scene = scene_of("smollm2-135m", word=2)
    blocks = shown(scene, Runs(scene.trace), experiment="words")
    assert table(blocks, "words_table")["occluded"] == list(scene.names[:2])
    first = scene_of("smollm2-135m", word=0)
    (notice,) = [each for each in shown(first, Runs(first.trace), experiment="words") if isinstance(each, Notice)]
    assert "Choose another" in notice.sentence


@pytest.mark.slow
def test_of_many_tokens_the_flow_is_left_out():
    trace = load("minilm-l6").trace("word " * 24)
    scene = HeadContext(trace, 5, 0, 3)
    assert 6 * len(trace.tokens) ** 3 > MOST_FLOW
    blocks = shown(scene, Runs(trace), experiment="words")
    rows = table(blocks, "words_table")
    assert "rollout" in rows
    assert not [name for name in rows if "flow" in name]


# --------------------------------------------------------------------------------------- weights shuffled


def test_shuffles_are_drawn_one_by_one_with_their_medians(scene):
    runs = Runs(scene.trace)
    blocks = shown(scene, runs, experiment="shuffled")
    rows = table(blocks, "shuffles_table")
    once, median = figure(blocks, "shuffles").figure.data
    # The places are not steps of anything, so no line leads from one to the next.
    assert {once.mode, median.mode} == {"markers"}
    n = once.y.size // 3
    for index, name in enumerate(("this head", "this layer", "all layers")):
        numbers = np.array(rows[name], float)
        np.testing.assert_allclose(once.y[n * index : n * (index + 1)], numbers[:-1], rtol=1e-5)
        assert median.y[index] == pytest.approx(np.median(numbers[:-1]), rel=1e-5)
    drawn = [each for changes in runs.asked for each in changes[:n] if isinstance(each.interventions[0], Shuffle)]
    assert drawn == [Change((Shuffle(scene.layer, (scene.head,), seed),)) for seed in range(n)]


# --------------------------------------------------------------------------------------- what cannot be shown


def test_what_takes_too_long_is_not_run_and_is_told_so():
    trace = load("smollm2-135m").trace("word " * 120)
    scene, runs = HeadContext(trace, 0, 0, 100), Runs(trace)
    assert asked(scene, runs) is None
    for experiment in ("heads", "words", "shuffled"):
        (notice,) = [each for each in shown(scene, runs, experiment=experiment) if isinstance(each, Notice)]
        assert "Shorten the text" in notice.sentence
    assert runs.asked == []


def test_a_model_that_is_gone_is_told_of(scene):
    class Gone(Runs):
        def effects(self, changes):
            return None

    assert asked(scene, Gone(scene.trace)) is None
    for experiment in ("heads", "words", "shuffled"):
        for runs in (None, Gone(scene.trace)):
            (notice,) = [each for each in shown(scene, runs, experiment=experiment) if isinstance(each, Notice)]
            assert "load the page" in notice.sentence


def test_where_one_text_looks_at_another_the_encoder_is_to_be_chosen():
    whole = load("translator-fr-en").trace("le chat noir dort")
    for part in (whole.decoder, whole.cross):
        scene = HeadContext(part, 0, 0, 1)
        assert asked(scene, Runs(whole)) is None
        (notice,) = shown(scene, Runs(whole))
        assert "Choose the encoder" in notice.sentence
