"""The cost of recording: tracing the bundled models, relative to their plain forward passes."""

from __future__ import annotations

import statistics
import time

import numpy as np
import pytest
import torch

from attention.lesson.proof import prove
from attention.models import load, unpacking
from attention.models.bundled import SMOLLM2
from tests.bench.report import ms, undisturbed

MAX_RATIO = 1.4
WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "saw", "two", "birds")


@pytest.mark.parametrize(("n_tokens", "n_rounds"), [(16, 150), (128, 60)])
def test_tracing_costs_little_more_than_the_plain_pass(report, model, plain, n_tokens, n_rounds):
    # [CLS] and [SEP] count as tokens.
    text = " ".join(WORDS[i % len(WORDS)] for i in range(n_tokens - 2))

    def trace():
        return model.trace(text)

    @torch.inference_mode()
    def forward():
        encoding = model._text._tokenizer.encode(text)
        ids, segments = torch.tensor([encoding.ids]), torch.tensor([encoding.type_ids])
        return plain(input_ids=ids, token_type_ids=segments).last_hidden_state

    traced = trace()
    assert len(traced.tokens) == n_tokens
    assert prove(traced).holds
    np.testing.assert_allclose(traced.hidden_states[-1], forward()[0].numpy(), atol=1e-5)

    with undisturbed():
        times = _interleaved((trace, forward), n_rounds)
        proof_time = statistics.median(_interleaved((lambda: prove(traced),), n_rounds)[0])
    traced_time, plain_time = map(statistics.median, times)
    ratio = traced_time / plain_time
    report.compare("Trace", f"tracing BERT ÷ its plain pass, {n_tokens} tokens", ratio, MAX_RATIO, " ×", 2)
    report.add("Trace", "  tracing, tokenising included", ms(traced_time))
    report.add("Trace", "  plain SDPA pass, tokenising included", ms(plain_time))
    report.add("Trace", "  proving the trace, once for each sentence", ms(proof_time))


@pytest.fixture(scope="module")
def decoder():
    return load("smollm2-135m")


@pytest.fixture(scope="module")
def plain_decoder(decoder):
    """The decoder with the same weights, its final norm restored, under transformers' SDPA."""
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.from_pretrained(unpacking.unpacked(SMOLLM2.weights), local_files_only=True)
    twin = AutoModel.from_config(config, attn_implementation="sdpa").eval()
    parameters = {**decoder._stack.module.state_dict(), "norm.weight": decoder._final_norm.weight}
    twin.load_state_dict(parameters, assign=True)
    return twin


@pytest.mark.parametrize(("n_tokens", "n_rounds"), [(32, 20)])
def test_tracing_a_decoder_costs_little_more_than_the_plain_pass(report, decoder, plain_decoder, n_tokens, n_rounds):
    text = " ".join(WORDS[i % len(WORDS)] for i in range(n_tokens))

    def trace():
        return decoder.trace(text)

    @torch.inference_mode()
    def forward():
        ids = torch.tensor([decoder._text._tokenizer.encode(text).ids])
        return plain_decoder(input_ids=ids, use_cache=False).last_hidden_state

    traced = trace()
    assert len(traced.tokens) == n_tokens
    assert prove(traced).holds
    with torch.inference_mode():
        ours = decoder._final_norm(torch.from_numpy(traced.hidden_states[-1].copy()))
    np.testing.assert_allclose(ours, forward()[0], rtol=1e-4, atol=1e-3)

    with undisturbed():
        times = _interleaved((trace, forward), n_rounds)
    traced_time, plain_time = map(statistics.median, times)
    ratio = traced_time / plain_time
    report.compare("Trace", f"tracing SmolLM2 ÷ its plain pass, {n_tokens} tokens", ratio, MAX_RATIO, " ×", 2)
    report.add("Trace", "  tracing, tokenising included", ms(traced_time))
    report.add("Trace", "  plain SDPA pass, tokenising included", ms(plain_time))


def _interleaved(functions, n_rounds):
    """Time functions in alternating order, so that all meet the same machine."""
    times = [[] for _ in functions]
    for index in range(n_rounds + 5):
        order = range(len(functions)) if index % 2 else reversed(range(len(functions)))
        for which in order:
            start = time.perf_counter()
            functions[which]()
            if index >= 5:  # the first ones warm up
                times[which].append(time.perf_counter() - start)
    return times
