"""The stated structure of a layer, against the model's modules and recomputed numbers."""

from operator import attrgetter

import numpy as np
import pytest
import torch
from torch.nn.functional import gelu, relu, silu

from attention.core.structure import Structure, Sublayer
from attention.models import list_models
from attention.models.families import ARCHITECTURES
from attention.models.stack import layers_of
from tests.loaded import load
from tests.tiny_models import KINDS, TODAY

BUNDLED = [info.model_id for info in list_models() if info.model_id != "toy"]
TEXTS = {"translator-fr-en": "le chat noir dort", "vit-digits": "0123456789abcdef" * 4, "vit": "0123456789abcdef" * 4}
ACTIVATIONS = {"gelu": gelu, "relu": relu, "silu": silu, "gelu_new": lambda x: gelu(x, approximate="tanh")}
ACTIVATIONS["gelu_pytorch_tanh"] = ACTIVATIONS["gelu_new"]
# Those whose attention and feed-forward network are side by side have no structure.
SIDE_BY_SIDE = ["gpt_neox"]
POST, PRE = ("", "LayerNorm"), ("LayerNorm", "")
BERT = Structure((Sublayer("self", *POST), Sublayer("feed-forward", *POST, width=1536)), "LayerNorm")
WANTED = {
    "toy": (Structure((Sublayer("self"),)),),
    "minilm-l6": (BERT,),
    "smollm2-135m": (
        Structure(
            (Sublayer("self", "RMSNorm"), Sublayer("feed-forward", "RMSNorm", width=1536, is_gated=True)),
            final_norm="RMSNorm",
        ),
    ),
    "translator-fr-en": (
        Structure((Sublayer("self", *POST), Sublayer("feed-forward", *POST, width=160)), "LayerNorm"),
        Structure(
            (Sublayer("self", *POST), Sublayer("cross", *POST), Sublayer("feed-forward", *POST, width=160)), "LayerNorm"
        ),
    ),
    "vit-digits": (
        Structure((Sublayer("self", *PRE), Sublayer("feed-forward", *PRE, width=96)), final_norm="LayerNorm"),
    ),
}


@pytest.fixture(params=[*BUNDLED, *KINDS, *(kind for kind in TODAY if kind not in SIDE_BY_SIDE)])
def loaded(request, model_of):
    """A model with what it reads: those that come with the project, and one of each architecture."""
    model = load(request.param) if request.param in BUNDLED else model_of(request.param)
    return model, TEXTS.get(request.param, "The cat sat on the mat")


def stacks(model, text):
    """Each stack of a model: the modules of its layers, where their parts are, and the traces of its attentions."""
    trace = model.trace(text)
    architecture = model._architecture
    if architecture.decoder is None:
        return [(model._stack, architecture.encoder, [trace])]
    return [
        (model._stack, architecture.encoder, [trace]),
        (model._target._stack, architecture.decoder, [trace.decoder, trace.cross]),
    ]


def part(layer, name):
    """What there is of this name; a name that there is not stands for nothing."""
    return (lambda x: x) if name is None else attrgetter(name)(layer)


@pytest.mark.parametrize("model_id", WANTED)
def test_what_the_bundled_models_are_built_of(model_id):
    trace = load(model_id).trace(TEXTS.get(model_id, "The cat sat"))
    found = [trace.structure] if trace.decoder is None else [trace.structure, trace.decoder.structure]
    assert tuple(found) == WANTED[model_id]
    if trace.cross is not None:
        assert trace.cross.structure == trace.decoder.structure


@torch.inference_mode()
def test_every_norm_of_a_layer_is_where_the_structure_says(loaded):
    """All modules of a layer that are norms, by their classes, are those that are named, and no other."""
    for stack, names, traces in stacks(*loaded):
        structure = traces[0].structure
        # The first layer may lack a norm that all others have.
        layer = layers_of(stack.module, names)[-1]
        of_heads = (names.attention.query_norm, names.attention.key_norm)
        classes = [type(module).__name__ for name, module in layer.named_modules() if name not in of_heads]
        of_layer = [name for name in classes if "Norm" in name]
        told = [
            name for each in structure.sublayers for name in (each.norm_before, each.norm_of, each.norm_after) if name
        ]
        assert len(told) == len(of_layer)
        assert {"LayerNorm" if name == "LayerNorm" else "RMSNorm" for name in of_layer} == set(told)


@torch.inference_mode()
def test_a_layer_worked_out_as_the_structure_says_is_the_models_own(loaded):
    """x ← after(x + of(f(before(x)))), sublayer by sublayer, gives what the model left, and lengths that were noted."""
    for stack, names, traces in stacks(*loaded):
        layers = layers_of(stack.module, names)
        for index, layer in enumerate(layers):
            x = torch.tensor(traces[0].hidden_states[index])
            for trace, where in zip(traces, (names.attention, names.cross), strict=False):
                record = trace.layers[index]
                x = x + part(layer, where.output_norm)(torch.tensor(record.added))
                same_length(record.lengths.summed, x)
                x = part(layer, where.norm_after)(x)
                if where.norm_after is not None:
                    same_length(record.lengths.normed, x)
            fed = part(layer, names.feed_forward.output_norm)(feed(layer, names.feed_forward, x, stack.module.config))
            same_length(traces[-1].layers[index].lengths.fed, fed)
            if names.feed_forward.norm is not None:
                same_length(record.lengths.normed, part(layer, names.feed_forward.norm)(x))
            x = part(layer, names.feed_forward.norm_after)(x + fed)
            same_length(traces[-1].layers[index].lengths.left, x)
            # Of two architectures, the last state that is kept is the one after the norm at the end.
            if index + 1 < len(layers) or names.end_norm in (None, "layernorm"):
                np.testing.assert_allclose(x, traces[0].hidden_states[index + 1], rtol=1e-3, atol=2e-4)


def feed(layer, names, x, config):
    """The feed-forward network on its own, with what it finds in the layer."""
    inside = dict(layer.named_modules())
    inner = next(inside[name] for name in names.inner if name in inside)
    found = next((getattr(config, name) for name in ("hidden_act", "activation", "activation_function",
                 "dense_act_fn", "hidden_activation") if getattr(config, name, None)), "gelu_new")  # fmt: skip
    activation = ACTIVATIONS[found]
    normed = part(layer, names.norm)(x)
    if names.has_gate:
        halves = inner(normed).chunk(2, dim=-1)
        return inside[names.output](activation(halves[0]) * halves[1])
    if names.gate in inside:
        return inside[names.output](activation(inside[names.gate](normed)) * inner(normed))
    return inside[names.output](activation(inner(normed)))


def same_length(noted, vectors):
    np.testing.assert_allclose(noted, torch.linalg.vector_norm(vectors, dim=-1), rtol=1e-3, atol=1e-4)


def test_all_architectures_are_in_this_test():
    same = {"marian": "bart", "camembert": "roberta", "data2vec-text": "roberta"}
    assert set(ARCHITECTURES) - {*KINDS, *TODAY} == set(same)
    for one, other in same.items():
        assert ARCHITECTURES[one].encoder.feed_forward == ARCHITECTURES[other].encoder.feed_forward


def test_the_toy_adds_up_and_does_nothing_else():
    trace = load("toy").trace("The cat sat")
    (layer,) = trace.layers
    np.testing.assert_allclose(layer.lengths.summed, np.linalg.norm(trace.hidden_states[1], axis=1), rtol=1e-6)
    np.testing.assert_array_equal(layer.lengths.left, layer.lengths.summed)
    assert (layer.lengths.normed, layer.lengths.fed) == (None, None)
    assert not layer.lengths.summed.flags.writeable


def test_a_batch_notes_no_lengths():
    model = load("minilm-l6")
    batch = model.trace_batch([model.encode("The cat sat")])
    assert {layer.lengths for layer in batch.layers} == {None}


def test_what_comes_after_a_branch():
    deep = Structure(WANTED["translator-fr-en"][1].sublayers)
    assert deep.after("self") == ("LayerNorm", deep.sublayers[1])
    assert deep.after("cross") == ("LayerNorm", deep.sublayers[2])
    (pre,) = WANTED["smollm2-135m"]
    assert pre.after("self") == ("RMSNorm", pre.sublayers[1])
    (plain,) = WANTED["toy"]
    assert plain.after("self") == ("", None)
    with pytest.raises(StopIteration):
        plain.after("cross")
