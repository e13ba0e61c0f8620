"""The path after the heads: the order of parts in each model, and the norms of its vectors."""

from dataclasses import replace

import numpy as np
import pytest

from attention.core.trace import PARTS
from attention.lesson.head_context import HeadContext
from attention.lesson.residual_path import has_next_layer, places, tell_onward
from tests.loaded import load
from tests.unit.lesson.telling import facts_in, pattern_of, rounded, shown, trace_of
from tests.unit.saying import says

TEXTS = {"translator-fr-en": "le chat noir dort", "vit-digits": "0123456789abcdef" * 4}
POST = ["norm-after", "feed-forward", "left-normed"]
# Of each model, and of each of its attentions, what follows the sum in this order.
FOLLOWS = {
    ("toy", "encoder"): ["bare"],
    ("minilm-l6", "encoder"): POST,
    ("smollm2-135m", "encoder"): ["norm-before", "feed-forward", "gated", "left"],
    ("translator-fr-en", "encoder"): POST,
    ("translator-fr-en", "decoder"): ["norm-after", "attention"],
    ("translator-fr-en", "cross"): POST,
    ("vit-digits", "encoder"): ["norm-before", "feed-forward", "left"],
}
WHOLE = [*POST, "norm-before", "gated", "left", "bare", "attention", "next", "last", "last-normed"]


@pytest.fixture(params=FOLLOWS, ids="-".join)
def last_and_first(request):
    """Scenes of one attention of a model, in its first and its last layer, and the name of both."""
    model_id, part = request.param
    trace = trace_of(load(model_id), TEXTS.get(model_id, "The cat sat on the mat"), "none").part(part)
    return request.param, [HeadContext(trace, layer, 1, 2) for layer in sorted({0, len(trace.layers) - 1})]


def in_order(markup):
    """What is told of all that may follow, in the order in which it is told."""
    found = {name: pattern_of(f"onward/{name}").search(shown(markup)) for name in WHOLE}
    return sorted((name for name, match in found.items() if match), key=lambda name: found[name].start())


def test_what_follows_is_told_in_the_order_of_the_models_own_modules(last_and_first):
    name, scenes = last_and_first
    for scene in scenes:
        told = in_order(tell_onward(scene))
        *middle, end = told if "attention" not in told else [*told, None]
        assert middle == FOLLOWS[name]
        if end is not None:
            is_normed = name[0] in ("smollm2-135m", "vit-digits")
            assert end == ("next" if has_next_layer(scene) else "last-normed" if is_normed else "last")


def test_every_length_is_that_of_a_vector_of_the_model(last_and_first):
    _, scenes = last_and_first
    for scene in scenes:
        layer, row = scene.attention, scene.word
        facts = facts_in(tell_onward(scene), "onward/added")
        stream = scene.trace.hidden_states[scene.layer][row] if layer.norm is not None else layer.inputs[row]
        added = np.concatenate(list(layer.model_output[:, row])) @ layer.projections.W_O
        added += 0 if layer.projections.b_O is None else layer.projections.b_O
        lengths = [float(np.linalg.norm(vector)) for vector in (stream, added, stream + added)]
        assert [facts[name] for name in ("before", "change", "summed")] == [rounded(length) for length in lengths]
        assert [place.length for place in places(scene)[:3]] == pytest.approx(lengths, rel=1e-4)


@pytest.mark.parametrize(("model_id", "part"), [each for each in FOLLOWS if each[1] != "decoder"])
def test_what_leaves_a_layer_is_what_the_next_one_gets(model_id, part):
    whole = trace_of(load(model_id), TEXTS.get(model_id, "The cat sat on the mat"), "none")
    trace = whole.part(part)
    # What the decoder's layers hand on is the record of its self-attention.
    states = (whole if part == PARTS[0] else whole.decoder).hidden_states
    for layer in range(len(trace.layers)):
        *_, left = places(HeadContext(trace, layer, 0, 1))
        assert left.length == pytest.approx(float(np.linalg.norm(states[layer + 1][1])), rel=1e-4)


def test_the_lengths_of_bert_are_those_of_its_own_modules(minilm, eager_bert):
    """Each worked out anew with transformers' own layer, from the vectors that enter it."""
    import torch

    trace = minilm.trace("The cat sat on the mat")
    own = eager_bert.encoder.layer[2]
    with torch.inference_mode():
        x = torch.from_numpy(trace.hidden_states[2].copy())[None]
        joined = own.attention.self(x)[0]
        summed = own.attention.output.dense(joined) + x
        normed = own.attention.output.LayerNorm(summed)
        fed = own.output.dense(own.intermediate(normed))
        left = own.output.LayerNorm(fed + normed)
    facts = facts_in(tell_onward(HeadContext(trace, 2, 8, 5)), "onward/added", *(f"onward/{name}" for name in POST))
    vectors = {"before": x, "summed": summed, "normed": normed, "fed": fed, "left": left}
    for name, vector in vectors.items():
        assert facts[name] == rounded(vector[0, 5].norm()), name
    assert facts["width"] == "1,536"
    assert facts["layer"] == 3


def test_nothing_is_told_where_nothing_was_recorded(scene_of):
    scene = scene_of("minilm-l6")
    for trace in (
        replace(scene.trace, structure=None),
        replace(scene.trace, layers=tuple(replace(layer, lengths=None) for layer in scene.trace.layers)),
    ):
        assert places(HeadContext(trace, 0, 0, 1)) == ()
        assert tell_onward(HeadContext(trace, 0, 0, 1)) == ""


@pytest.mark.parametrize(
    ("model", "attention", "feed_forward"),
    [
        # Of BERT W_Q, W_K, W_V and W_O are 384 × 384, and its two others 384 × 1536.
        ("minilm-l6", 4 * 384 * 384, 2 * 384 * 1536),
        # SmolLM2 has nine query heads of 64, three key/value heads, and three matrices of 576 × 1536.
        ("smollm2-135m", 2 * 576 * 576 + 2 * 576 * 192, 3 * 576 * 1536),
    ],
)
def test_how_many_more_weights_the_feed_forward_network_has(model, attention, feed_forward):
    trace = load(model).trace("The cat sat")
    told = tell_onward(HeadContext(trace, 0, 0, 1))
    assert says(shown(told), f"{feed_forward / attention:.1f}")
