"""Interventions: each against torch's own layers with the change, and its measured effect by hand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention.core.ablation import Change, Output, Shuffle, cosine_distance, effects, shuffled, variation
from attention.core.interventions import Ablate
from attention.models.toy import PROJECTIONS
from tests.loaded import load
from tests.sweep import sweep

SENTENCE = "Four grey geese cross the cold river"
TEXTS = {"translator-fr-en": "le chat noir dort", "vit-digits": None}
MODELS = ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"]


def text_of(model_id):
    model = load(model_id)
    return TEXTS.get(model_id, SENTENCE) or model.info.reading.first


def without(how, *heads):
    """A run without these heads."""
    if how != "shuffled":
        return Change(tuple(Ablate(head, how) for head in heads))
    layers = {layer: tuple(head for at, head in heads if at == layer) for layer, _ in heads}
    return Change(tuple(Shuffle(layer, some, 0) for layer, some in layers.items()))


def run(model_id, *changes):
    outputs = load(model_id).outputs(text_of(model_id), None, changes)
    return [Output(np.array(each.vectors), each.logits, each.labels) for each in outputs]


# --------------------------------------------------------------------------------------- in a model


@pytest.mark.parametrize("model_id", MODELS)
def test_without_a_change_the_model_says_what_it_always_says(model_id):
    (output,) = run(model_id, Change())
    model = load(model_id)
    trace = model.trace(text_of(model_id))
    if model.next_token(trace) is not None:
        np.testing.assert_allclose(output.logits, model.next_token(trace).logits[-1], atol=2e-3)
    elif model.answer(trace) is not None:
        np.testing.assert_allclose(output.logits, model.answer(trace).logits, atol=1e-4)
    else:
        assert output.logits is None
        np.testing.assert_allclose(output.vectors, trace.hidden_states[-1], atol=1e-4)


@pytest.mark.parametrize("model_id", sweep(MODELS, quick={*MODELS} - {"smollm2-135m"}))
@pytest.mark.parametrize("how", ["zero", "mean", "uniform", "shuffled"])
def test_in_a_batch_each_run_has_its_own_change(model_id, how):
    info = load(model_id).info
    last = (info.n_layers - 1, info.n_heads - 1)
    changes = [Change(), without(how, (0, 0)), without(how, last, (0, 1)), Change()]
    together = run(model_id, *changes)
    np.testing.assert_allclose(together[0].vectors, together[3].vectors, atol=2e-4)
    for change, output in zip(changes, together, strict=True):
        (alone,) = run(model_id, change)
        np.testing.assert_allclose(output.vectors, alone.vectors, rtol=1e-3, atol=2e-3)
    assert np.abs(together[1].vectors - together[0].vectors).max() > 1e-3


def test_a_head_of_bert_that_hands_on_zeros_is_one_whose_rows_of_the_output_matrix_are_zero(eager_bert):
    trace = load("minilm-l6").trace(SENTENCE)
    ids = torch.tensor([[token.token_id for token in trace.tokens]])
    for layer, head in ((0, 3), (5, 11)):
        weight = eager_bert.encoder.layer[layer].attention.output.dense.weight
        columns = slice(head * 32, (head + 1) * 32)
        kept = weight.detach().clone()
        try:
            with torch.no_grad():
                weight[:, columns] = 0
                wanted = eager_bert(input_ids=ids).last_hidden_state[0].numpy()
        finally:
            with torch.no_grad():
                weight.copy_(kept)
        (output,) = run("minilm-l6", without("zero", (layer, head)))
        np.testing.assert_allclose(output.vectors, wanted, atol=2e-5)


@pytest.mark.parametrize("how", ["mean", "uniform"])
def test_a_head_of_bert_that_is_off_otherwise(eager_bert, how):
    """A hook on the library's own attention, whose weights and values are read off another run of it."""
    trace = load("minilm-l6").trace(SENTENCE)
    ids = torch.tensor([[token.token_id for token in trace.tokens]])
    layer, head = 2, 5

    def instead(_module, _inputs, output):
        joined = output[0].clone()
        columns = slice(head * 32, (head + 1) * 32)
        # The mean of the outputs, or of the values: those that even weights give.
        source = joined[0, :, columns] if how == "mean" else values[0, :, columns]
        joined[:, :, columns] = source.mean(dim=0)
        return (joined, *output[1:])

    found = []
    attention = eager_bert.encoder.layer[layer].attention.self
    hooks = [attention.value.register_forward_hook(lambda _m, _i, output: found.append(output))]
    with torch.inference_mode():
        eager_bert(input_ids=ids)
        (values,) = found
        hooks.append(attention.register_forward_hook(instead))
        wanted = eager_bert(input_ids=ids).last_hidden_state[0].numpy()
    for hook in hooks:
        hook.remove()
    (output,) = run("minilm-l6", without(how, (layer, head)))
    np.testing.assert_allclose(output.vectors, wanted, atol=2e-5)


def test_a_decoders_even_weights_hide_what_comes_later():
    info = load("smollm2-135m").info
    every = list(np.ndindex(info.n_layers, info.n_heads))
    model = load("smollm2-135m")
    for how in ("uniform", "shuffled"):
        (whole,) = model.outputs("one two three four", None, [without(how, *every)])
        (first,) = model.outputs("one two", None, [without(how, *every)])
        if how == "uniform":
            np.testing.assert_allclose(first.vectors, whole.vectors[: len(first.vectors)], rtol=1e-3, atol=2e-3)
        # The first token sees itself alone, whatever the weights.
        np.testing.assert_allclose(first.vectors[0], whole.vectors[0], rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Change(without=-1),
        lambda: Shuffle(-1, (0,), 0),
        lambda: Shuffle(0, (-1,), 0),
        lambda: Shuffle(0, (0,), -1),
    ],
)
def test_a_change_that_no_model_can_make_is_refused(make):
    with pytest.raises(ValueError, match="must not be negative"):
        make()


def test_a_change_takes_any_integers():
    assert Change(without=np.int64(4)) == Change(without=4)
    assert Shuffle(np.int64(1), np.array([2, 3]), np.int64(4)) == Shuffle(1, (2, 3), 4)
    with pytest.raises(TypeError, match="heads must be a whole number, got 'a'"):
        Shuffle(0, ("a",), 0)


@pytest.mark.parametrize("how", ["zero", "shuffled"])
@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "translator-fr-en", "vit-digits"])
def test_a_change_of_what_a_model_does_not_have_is_refused(model_id, how):
    model = load(model_id)
    text = {"translator-fr-en": "le chat dort", "vit-digits": model.info.reading.first}.get(model_id, SENTENCE)
    sizes = {"layer": model.info.n_layers, "head": model.info.n_heads, "token": len(model.encode(text).tokens)}
    for noun, count in sizes.items():
        last, beyond = (
            Change(without=number) if noun == "token" else without(how, (number, 0) if noun == "layer" else (0, number))
            for number in (count - 1, count)
        )
        with pytest.raises(ValueError, match=f"{noun} must be between 0 and {count - 1}, got {count}"):
            list(model.outputs(text, None, [Change(), beyond]))
        assert len(list(model.outputs(text, None, [last]))) == 1


def test_the_toy_without_a_head_adds_what_the_others_add():
    trace = load("toy").trace(SENTENCE)
    outputs = trace.layers[0].steps().head_outputs
    kept = [head for head in range(3) if head != 1]
    wanted = trace.hidden_states[0] + sum(outputs[head] @ PROJECTIONS.W_O[8 * head : 8 * head + 8] for head in kept)
    (output,) = run("toy", without("zero", (0, 1)))
    np.testing.assert_allclose(output.vectors, wanted, atol=1e-6)


def test_a_token_that_is_blotted_out_is_read_as_an_unknown_one():
    trace = load("minilm-l6").trace(SENTENCE)
    unknown = load("minilm-l6").outputs(SENTENCE.replace("geese", "\u2e3a"), None, [Change()])
    place = next(token.position for token in trace.tokens if token.text == "geese")
    (blotted,) = run("minilm-l6", Change(without=place))
    np.testing.assert_allclose(blotted.vectors, next(iter(unknown)).vectors, atol=2e-5)
    (plain, without) = run("toy", Change(), Change(without=2))
    assert not without.vectors[2, :10].all()
    assert np.abs(plain.vectors - without.vectors).max() > 0.1


def test_a_patch_that_is_blotted_out_is_black():
    text = text_of("vit-digits")
    model = load("vit-digits")
    n_patches = len(model.trace(text).tokens) - 1
    assert n_patches == 16
    rows = [text[start : start + 8] for start in range(0, 64, 8)]
    # The sixth patch is the second of the second row: two pixels wide and high.
    for row in (2, 3):
        rows[row] = rows[row][:2] + "00" + rows[row][4:]
    (wanted,) = model.outputs("".join(rows), None, [Change()])
    (blotted,) = model.outputs(text, None, [Change(without=6)])
    np.testing.assert_allclose(blotted.logits, wanted.logits, atol=1e-5)


def test_a_run_afterwards_is_as_it_was():
    before = load("minilm-l6").trace(SENTENCE).hidden_states[-1]
    outputs = load("minilm-l6").outputs(SENTENCE, None, [without("zero", (0, 0))] * 3)
    next(outputs)
    # Also while the others have not been asked for yet.
    np.testing.assert_array_equal(load("minilm-l6").trace(SENTENCE).hidden_states[-1], before)
    assert len(list(outputs)) == 2


# --------------------------------------------------------------------------------------- what is put in its place


@given(st.integers(0, 2**31), st.integers(1, 7), st.booleans())
def test_shuffled_rows_have_the_same_weights_in_what_they_may_see(seed, n, is_causal):
    chance = np.random.default_rng(seed)
    visible = np.tril(np.ones((2, n, n), bool)) if is_causal else np.ones((2, n, n), bool)
    weights = np.where(visible, chance.random((2, n, n)), 0)
    found = shuffled(weights, visible, np.random.default_rng(seed))
    assert not found[~visible].any()
    np.testing.assert_array_equal(np.sort(found, axis=-1), np.sort(weights, axis=-1))
    np.testing.assert_array_equal(found, shuffled(weights, visible, np.random.default_rng(seed)))


def test_every_order_is_as_likely():
    chance, weights = np.random.default_rng(0), np.tile([0.1, 0.2, 0.7], (6000, 1))
    found = shuffled(weights, np.ones(weights.shape, bool), chance)
    _, counts = np.unique(found, axis=0, return_counts=True)
    assert len(counts) == 6
    np.testing.assert_allclose(counts, 1000, rtol=0.15)


# --------------------------------------------------------------------------------------- what is measured


def test_the_distance_of_predictions_and_of_vectors_by_hand():
    assert variation(np.array([0.5, 0.5, 0]), np.array([0, 0.5, 0.5])) == 0.5
    assert cosine_distance(np.array([1.0, 0]), np.array([0, 3.0])) == 1
    assert cosine_distance(np.array([1.0, 2]), np.array([2.0, 4])) == pytest.approx(0, abs=1e-12)
    assert cosine_distance(np.zeros(2), np.array([2.0, 4])) == 1
    assert cosine_distance(np.zeros(2), np.zeros(2)) == 0


def test_effects_are_told_from_the_first_output():
    counted = np.array([False, True, True])
    vectors = np.array([[5.0, 5], [1, 0], [1, 0]], np.float32)
    moved = np.array([[5.0, 5], [0, 1], [0, 2]], np.float32)
    same, turned = effects([Output(vectors), Output(moved)], counted)
    assert same.moved == 0
    assert turned.moved == pytest.approx(1)
    np.testing.assert_allclose(turned.tokens, [0, math.sqrt(2), math.sqrt(5)], rtol=1e-6)
    assert turned.likeliest == ""
    assert math.isnan(turned.kept)
    assert not turned.tokens.flags.writeable


def test_effects_on_predictions():
    vectors, labels = np.ones((2, 2), np.float32), ("a", "b")
    logits = [np.log(np.array(p, np.float32)) for p in ((0.75, 0.25), (0.25, 0.75))]
    same, turned = effects([Output(vectors, each, labels) for each in logits], np.ones(2, bool))
    assert (same.likeliest, turned.likeliest) == ("a", "b")
    assert (same.moved, same.kept) == (0, pytest.approx(0.75))
    assert (turned.moved, turned.kept) == (pytest.approx(0.5), pytest.approx(0.25))
