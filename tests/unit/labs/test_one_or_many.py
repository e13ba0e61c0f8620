"""*One head or many*: texts and pictures of a split, the mean, a slice and ΔE, against torch and NumPy."""

import re

import numpy as np
import pytest
import torch

from attention.experiments.head_resplit import counts
from attention.page.blocks import Picture, Setting
from attention.page.labs.one_or_many import CUT, LAB
from tests.fresh import Fresh
from tests.unit.labs.seen import prose, scene_of, table
from tests.unit.labs.seen import shown as lab_shown
from tests.unit.saying import says, tells

MODELS = ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"]


@pytest.fixture(scope="module", params=MODELS)
def scene(request):
    return scene_of(request.param)


def shown(scene, heads=1, runs=None):
    return lab_shown(LAB, scene, Fresh(scene.trace, scene) if runs is None else runs, **{CUT.name: heads})


def figure(blocks, key):
    return next((each.figure for each in blocks if isinstance(each, Picture) and each.key == key), None)


def offered(blocks):
    """The numbers of heads among which one can choose; none where there is no choice."""
    settings = [block for block in blocks if isinstance(block, Setting)]
    return [option for setting in settings for option in setting.options]


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "translator-fr-en", "vit-digits"])
def test_the_rows_of_a_cut_are_those_of_torch(model_id):
    scene = scene_of(model_id)
    layer = scene.attention
    own, _, d_head = layer.queries.shape
    for count in offered(shown(scene)):
        drawn = figure(shown(scene, count), "cut_heads")
        if count == own:
            assert drawn is None
            continue
        queries, keys = (
            torch.tensor(np.concatenate(each, axis=-1).astype(np.float64)).view(each.shape[1], count, -1)
            for each in (layer.queries, layer.keys)
        )
        scores = torch.einsum("qhd,khd->hqk", queries, keys) / (own * d_head / count) ** 0.5
        wanted = torch.softmax(scores, dim=-1)[:, scene.word].numpy()
        np.testing.assert_allclose(drawn.values, wanted, atol=1e-5)


def test_the_rows_of_the_models_own_heads_and_their_mean_are_the_models(scene):
    drawn = figure(shown(scene), "own_heads")
    weights = scene.attention.steps().weights[:, scene.word]
    np.testing.assert_allclose(drawn.values, np.vstack([weights, weights.mean(axis=0)]), atol=1e-6)
    assert drawn.row_labels[-1] == "mean"


def test_each_model_offers_the_counts_that_divide_its_width_and_its_own(scene):
    info, blocks = scene.info, shown(scene)
    if info.group_size > 1:
        assert offered(blocks) == []
        assert says(prose(blocks), info.group_size)
        assert figure(blocks, "cut_heads") is None
    else:
        assert offered(blocks) == list(counts(info.n_heads * info.d_head, info.n_heads))


def test_what_is_said_of_a_cut_is_worked_out_from_it():
    scene = scene_of("minilm-l6", word=4)
    layer, parts = scene.attention, scene.attention.projections
    blocks = shown(scene, 4)
    rows = layer.steps().weights[:, 4]
    different = len(set(rows.argmax(axis=1)))
    assert says(prose(blocks), "12", different)
    queries, keys, values = (
        np.concatenate(each, axis=-1).reshape(each.shape[1], 4, 96)
        for each in (layer.queries, layer.keys, layer.values)
    )
    powers = np.exp(np.einsum("hd,khd->hk", queries[4], keys) / 96**0.5)
    outputs = np.einsum("hk,khd->hd", powers / powers.sum(axis=1, keepdims=True), values).ravel()
    moved = np.linalg.norm(outputs @ parts.W_O + parts.b_O - layer.added[4])
    assert says(prose(blocks), f"{moved:.2f}", f"{np.linalg.norm(layer.added[4]):.2f}")
    assert says(prose(blocks), f"{96**0.5:.2f}", f"{32**0.5:.2f}")


def test_the_mean_is_compared_with_each_head(scene):
    blocks = shown(scene)
    weights = np.asarray(scene.attention.steps().weights, np.float64)
    rows = scene.visible.sum(axis=1) > 1
    mean = weights.mean(axis=0)
    shared = np.minimum(weights, mean).sum(axis=-1)[:, rows].mean(axis=1)
    np.testing.assert_allclose(figure(blocks, "likeness").figure.data[0].y, shared, atol=1e-5)
    entropies = np.array(table(blocks, "likeness_table")["entropy in nats"], float)
    wanted = torch.distributions.Categorical(torch.tensor(np.concatenate([weights, mean[None]]))[:, rows]).entropy()
    np.testing.assert_allclose(entropies, wanted.mean(dim=1).numpy(), atol=1e-4)
    # The entropy is concave (Jensen): a mean is at least as even as its heads on average.
    assert entropies[-1] >= entropies[:-1].mean()


@pytest.mark.parametrize("model_id", ["minilm-l6", "smollm2-135m", "translator-fr-en"])
def test_the_question_is_answered_by_the_record_every_head_reads_the_whole_vector(model_id):
    scene = scene_of(model_id)
    guess, n_heads = LAB.guess(scene), scene.info.n_heads
    (right,) = guess.right
    assert guess.answers[right] == f"in all {n_heads}"
    drawn = figure(shown(scene), "read")
    assert (drawn.values > 0).all()
    assert f"{drawn.values.size} of {drawn.values.size} are coloured" in prose(shown(scene))


@pytest.mark.parametrize("word", range(7))
def test_of_the_toy_only_those_heads_count_that_read_the_first_numbers(word):
    scene = scene_of("toy", word=word)
    guess = LAB.guess(scene)
    without = scene.attention.inputs[word].copy()
    without[:8] = 0
    weight = scene.attention.projections.W_Q
    moved = ((without - scene.attention.inputs[word]) @ weight).reshape(3, 8).any(axis=1).sum()
    (right,) = guess.right
    assert guess.answers[right] == ("in none", "in 1 of 3", "in 2 of 3", "in all 3")[moved]


def test_what_each_head_adds_is_shown_and_adds_up(scene):
    blocks, layer = shown(scene), scene.attention
    weight = layer.projections.W_O.reshape(scene.info.n_heads, -1, scene.info.d_model)
    added = np.einsum("hqd,hdm->hqm", layer.model_output, weight)
    np.testing.assert_allclose(figure(blocks, "added").values, np.linalg.norm(added, axis=-1).T, atol=1e-3)
    difference = float(re.search(r"own differ by at most ([\d.e+-]+)\.", prose(blocks))[1])
    assert difference < 1e-5 * np.abs(layer.added).max()
    lengths = np.array(table(blocks, "added_table")["ΔE"], float)
    np.testing.assert_allclose(lengths, np.linalg.norm(layer.added, axis=-1), rtol=1e-4)


def test_a_word_without_a_choice_is_told_so():
    assert tells(prose(shown(scene_of("toy", word=0, mask="causal"))), "one-or-many/row-lone")
    assert not tells(prose(shown(scene_of("toy", word=1, mask="causal"))), "one-or-many/row-lone")
