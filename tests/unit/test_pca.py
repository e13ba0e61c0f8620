"""Planes of vectors, against torch's eigenvectors; and what heads send, against the model's own ΔE."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention.core.steps import join_heads, output_projection
from attention.core.trace import Difference
from attention.experiments.pca import along, cosines, fit, mean_cosine, sent
from tests.loaded import load

SENTENCE = "Four grey geese cross the cold river"
TEXTS = {"translator-fr-en": "le chat noir dort", "vit-digits": load("vit-digits").info.reading.first}
MODELS = ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"]
seeds = st.integers(0, 2**32 - 1)


def draws(seed, n, width):
    chance = np.random.default_rng(seed)
    return chance.normal(size=(n, width)) * np.linspace(3, 0.5, width)


@given(seeds, st.integers(3, 12), st.integers(3, 8))
def test_the_plane_is_that_of_torchs_principal_components(seed, n, width):
    vectors = draws(seed, n, width)
    plane = fit(vectors)
    values, axes = torch.linalg.eigh(torch.tensor(np.cov(vectors.T)))
    share = values.flip(0) / values.sum()
    np.testing.assert_allclose(plane.shares, share[:2].numpy(), atol=1e-9)
    np.testing.assert_allclose(np.abs(plane.axes @ axes.flip(1)[:, :2].numpy()), np.eye(2), atol=1e-5)


@pytest.mark.parametrize("model_id", MODELS)
def test_the_plane_of_a_run_is_that_of_numpys_singular_vectors(model_id):
    trace = load(model_id).trace(TEXTS.get(model_id, SENTENCE))
    states = np.concatenate(trace.hidden_states)
    plane = fit(states)
    _, sizes, axes = np.linalg.svd(states.astype(np.float64) - plane.centre, full_matrices=False)
    np.testing.assert_allclose(np.abs(plane.axes @ axes[:2].T), np.eye(2), atol=1e-6)
    np.testing.assert_allclose(plane.shares, (sizes**2)[:2] / np.square(sizes).sum(), rtol=1e-4)
    # The same way round for everybody.
    assert (plane.axes[np.arange(2), np.abs(plane.axes).argmax(axis=1)] > 0).all()


@given(seeds, st.integers(1, 8), st.integers(2, 8))
def test_the_axes_are_at_right_angles_whatever_is_to_be_seen(seed, n, width):
    vectors, steps = draws(seed, n, width), draws(seed + 1, 3, width)
    for plane in (fit(vectors), along(vectors, steps), along(vectors[:1], steps[:1]), along(vectors, steps * 0)):
        np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-9)
        assert 0 <= plane.shares.sum() <= 1 + 1e-9


@given(seeds, st.integers(1, 6), st.integers(3, 8))
def test_steps_lead_to_the_right_and_add_up_in_the_plane(seed, n, width):
    steps = draws(seed, n, width)
    plane = along(draws(seed + 1, 5, width), steps)
    seen = plane.steps(steps)
    whole = np.linalg.norm(steps.sum(axis=0))
    np.testing.assert_allclose(seen.sum(axis=0), [whole, 0], atol=1e-9 * max(whole, 1))
    # No other axis at right angles to the sum shows more of the steps.
    other = np.random.default_rng(seed).normal(size=width)
    other -= (other @ plane.axes[0]) * plane.axes[0]
    assert np.square(seen[:, 1]).sum() >= np.square(steps @ other / np.linalg.norm(other)).sum() - 1e-9


@given(seeds)
def test_steps_that_lead_one_way_are_seen_with_what_the_vectors_spread(seed):
    vectors, step = draws(seed, 6, 8).astype(np.float32), draws(seed + 1, 1, 8).astype(np.float32)
    # As often as they are added up otherwise, their sum is rounded otherwise.
    planes = [along(vectors, np.repeat(step * np.float32(1 / n), n, axis=0)) for n in (1, 3, 7)]
    for plane in planes[1:]:
        np.testing.assert_allclose(plane.axes, planes[0].axes, atol=1e-3)


@pytest.mark.parametrize("model_id", MODELS)
def test_what_all_tokens_send_by_all_heads_is_what_the_model_adds(model_id):
    trace = load(model_id).trace(TEXTS.get(model_id, SENTENCE))
    for part in trace.traces:
        for layer in part.layers:
            bias = layer.projections.b_O
            found = sent(layer, 1).sum(axis=0) + (0 if bias is None else bias)
            assert Difference.between(found, layer.added[1]).relative < 2e-5


def test_what_is_sent_by_one_head_is_its_part_of_w_o():
    layer = load("minilm-l6").trace(SENTENCE).layers[3]
    outputs = np.zeros_like(layer.model_output)
    outputs[5] = layer.model_output[5]
    wanted = output_projection(join_heads(outputs), layer.projections.W_O)
    np.testing.assert_allclose(sent(layer, 2, 5).sum(axis=0), wanted[2], atol=1e-5)


@given(seeds, st.integers(1, 5))
def test_cosines_are_torchs(seed, n):
    first, second = draws(seed, n, 6), draws(seed + 1, n, 6)
    wanted = torch.nn.functional.cosine_similarity(torch.tensor(first), torch.tensor(second), dim=-1)
    np.testing.assert_allclose(cosines(first, second), wanted.numpy(), atol=1e-9)


def test_of_a_vector_of_zeros_there_is_no_cosine():
    assert np.isnan(cosines(np.zeros(3), np.ones(3)))


@given(seeds, st.integers(1, 5), st.integers(1, 5))
def test_the_mean_cosine_is_that_of_torch_over_the_pairs_that_count(seed, one, two):
    chance = np.random.default_rng(seed)
    first, second = chance.normal(size=(one, 6)), chance.normal(size=(two, 6))
    first[0] *= chance.integers(2)
    which = chance.random((one, two)) < 0.7
    cosine = torch.nn.functional.cosine_similarity
    pairs = [
        float(cosine(torch.tensor(first[row]), torch.tensor(second[column]), dim=0))
        for row, column in zip(*np.nonzero(which), strict=True)
        if first[row].any()
    ]
    found = mean_cosine(first, second, which)
    assert np.isnan(found) if not pairs else found == pytest.approx(np.mean(pairs), abs=1e-9)
