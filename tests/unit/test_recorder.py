import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from attention.core import masks
from attention.models.recorder import ATTENTION_NAME, note_added, note_lengths, recording

SENTENCES = (
    "The cat sat on the mat",
    "Yes",
    "Unbelievably, the tokeniser's naïve word pieces (42 of them!) survived 😀.",
)
MASKS = ("none", "causal", "padding")


def run(model, token_ids, additive=None, segments=None):
    """Run a transformers model as it is, and return all that it tells."""
    with torch.inference_mode():
        return model(
            input_ids=torch.tensor([token_ids]),
            token_type_ids=torch.tensor([segments or [0] * len(token_ids)]),
            attention_mask=None if additive is None else torch.from_numpy(additive)[None, None],
            output_hidden_states=True,
            output_attentions=model.config._attn_implementation == "eager",
        )


@pytest.fixture(scope="module", params=[(text, mask) for text in SENTENCES for mask in MASKS], ids=str)
def traced(request, minilm, eager_bert):
    """A trace, what the plain model says about the same tokens, and what its layers added to their input."""
    text, mask = request.param
    trace = minilm.trace(text, mask=mask)
    added = []
    hooks = [
        layer.attention.output.dense.register_forward_hook(lambda _, __, output: added.append(output[0].numpy()))
        for layer in eager_bert.encoder.layer
    ]
    try:
        reference = run(eager_bert, [token.token_id for token in trace.tokens], masks.build(mask, len(trace.tokens)))
    finally:
        for hook in hooks:
            hook.remove()
    return trace, reference, added


@pytest.fixture(scope="module")
def load_bert_once(load_bert):
    return functools.cache(load_bert)


def assert_hidden_states(trace, model, atol):
    ids, mask = [token.token_id for token in trace.tokens], trace.layers[0].mask
    reference = run(model, ids, None if mask is None else mask.astype(str(model.dtype).removeprefix("torch.")))
    for ours, theirs in zip(trace.hidden_states, reference.hidden_states, strict=True):
        np.testing.assert_allclose(ours, theirs[0].numpy(), rtol=0, atol=atol)


def test_what_follows_from_a_trace_is_what_the_model_computed(traced):
    trace, reference, _ = traced
    assert len(trace.layers) == len(reference.attentions) == trace.info.n_layers
    for layer, weights in zip(trace.layers, reference.attentions, strict=True):
        derived = layer.steps()
        np.testing.assert_allclose(derived.head_outputs, layer.model_output, rtol=0, atol=1e-5)
        np.testing.assert_allclose(derived.weights, weights[0].numpy(), rtol=0, atol=1e-5)
    assert trace.check() < 1e-5


def test_recording_changes_no_bit_of_what_the_model_computes(traced, load_bert_once):
    assert_hidden_states(traced[0], load_bert_once("sdpa", torch.float32), atol=0)


def test_the_hidden_states_are_right_to_the_precision_of_float32(traced, load_bert_once):
    # Plain float32 attention strays from float64 by up to 2e-5 here too, most at padding.
    assert_hidden_states(traced[0], load_bert_once("eager", torch.float64), atol=5e-5)


def test_output_is_what_the_layer_added_to_its_input(traced):
    trace, _, added = traced
    for layer, output in zip(trace.layers, added, strict=True):
        np.testing.assert_allclose(layer.output(), output, rtol=0, atol=1e-4)
        # What is recorded of it is the model's own.
        np.testing.assert_allclose(layer.added, output, rtol=0, atol=1e-5)


@pytest.mark.slow
def test_traces_from_many_threads_at_once_are_those_from_one(minilm):
    jobs = [
        (f"{SENTENCES[i % len(SENTENCES)]} {'very ' * (i % 7)}number {i}", MASKS[i % len(MASKS)]) for i in range(80)
    ]
    with ThreadPoolExecutor(8) as pool:
        at_once = list(pool.map(lambda job: minilm.trace(job[0], mask=job[1]), jobs))
    for (text, mask), trace in zip(jobs, at_once, strict=True):
        alone = minilm.trace(text, mask=mask)
        assert trace.tokens == alone.tokens
        assert len(trace.layers) == len(alone.layers)
        for ours, theirs in zip(trace.layers, alone.layers, strict=True):
            for name in ("inputs", "queries", "keys", "values", "model_output"):
                np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-6)
        for ours, theirs in zip(trace.hidden_states, alone.hidden_states, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def recorded_bert(load_bert):
    return load_bert(ATTENTION_NAME)


IDS = [101, 1996, 4937, 102]


def test_a_call_holds_the_tensors_that_the_model_used(recorded_bert):
    with recording() as calls:
        run(recorded_bert, IDS, masks.causal(4))
    attentions = [layer.attention.self for layer in recorded_bert.encoder.layer]
    assert [call.module for call in calls] == attentions
    for call in calls:
        assert call.query.shape == call.key.shape == call.value.shape == (1, 12, 4, 32)
        assert call.output.shape == (1, 4, 12, 32)
        assert call.scaling == pytest.approx(32**-0.5)
        np.testing.assert_array_equal(call.mask[0, 0].numpy(), masks.causal(4))


def test_nothing_is_recorded_after_the_block_not_even_after_an_error(recorded_bert):
    with pytest.raises(RuntimeError, match="on purpose"), recording() as calls:
        run(recorded_bert, IDS)
        raise RuntimeError("on purpose")
    run(recorded_bert, IDS)
    assert len(calls) == 6


def test_a_recording_within_a_recording_keeps_its_calls_to_itself(recorded_bert):
    with recording() as outer:
        run(recorded_bert, IDS)
        with recording() as inner:
            run(recorded_bert, IDS[:3])
        run(recorded_bert, IDS)
    assert [call.query.shape[2] for call in inner] == [3] * 6
    assert [call.query.shape[2] for call in outer] == [4] * 12


def test_another_threads_calls_are_not_recorded(recorded_bert):
    with recording() as calls:
        thread = threading.Thread(target=run, args=(recorded_bert, IDS))
        thread.start()
        thread.join()
    assert calls == []


def test_a_recorded_run_leaves_nothing_on_the_modules(load_bert):
    model = load_bert(ATTENTION_NAME)

    def state():
        return {
            name: {key: len(value) if isinstance(value, dict) else id(value) for key, value in vars(module).items()}
            for name, module in model.named_modules()
        }

    before = state()
    with recording(), torch.inference_mode():
        model(input_ids=torch.tensor([IDS]))
    assert state() == before


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_comes_after_attention_is_noted_in_a_whole_recording_only(load_bert, is_whole):
    model = load_bert(ATTENTION_NAME)
    for layer in model.encoder.layer:
        layer.attention.output.dense.register_forward_hook(note_added)
        layer.register_forward_hook(note_lengths(of_output="left"))
    with recording(is_whole=is_whole) as calls:
        run(model, IDS)
    assert len(calls) == len(model.encoder.layer)
    assert {(call.added is not None, bool(call.lengths)) for call in calls} == {(is_whole, is_whole)}
