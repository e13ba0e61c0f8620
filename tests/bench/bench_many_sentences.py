"""What studying many sentences costs: every head measured, against the plain forward passes over the same batches.

A machine that others use too changes its speed from one second to the next: whole runs of two seconds, one after the
other, gave ratios from 1.03 to 1.31. So each batch is measured beside its own plain pass, and of either the median
over all rounds counts. What is left depends on the processor: the faster it multiplies matrices, the more the rest
weighs.
"""

from __future__ import annotations

import time

import numpy as np
import torch

from attention.experiments import corpus
from attention.experiments.study import Run, Study
from tests.bench.report import ms, undisturbed

MAX_RATIO = 1.15
N_ROUNDS = 9


class _Keeper:
    """Keeps the texts of the batches of a run."""

    def __init__(self):
        self.batches = []

    def add(self, batch):
        self.batches.append(batch.texts)


def _batches(model, texts):
    run = Run(model, texts, _Keeper())
    while not run.is_finished:
        run.step()
    return run.collector.batches


def test_measuring_all_heads_costs_little_more_than_the_plain_passes(report, model, plain):
    texts = corpus.sentences()
    batches = _batches(model, texts)
    ids = [[[token.token_id for token in text.tokens] for text in batch] for batch in batches]
    times = np.zeros((2, N_ROUNDS + 1, len(batches)))
    worked = [0.0, 0.0]

    @torch.inference_mode()
    def forward(index):
        tokens = torch.tensor(ids[index])
        plain(input_ids=tokens, token_type_ids=torch.zeros_like(tokens))

    with undisturbed():
        for at_round in range(N_ROUNDS + 1):
            run = Run(model, texts, Study(model.info))
            for index in range(len(batches)):
                # Each first as often as the other, so that both find the same in the cache.
                for which in (0, 1) if (at_round + index) % 2 else (1, 0):
                    start, before = time.perf_counter(), time.process_time()
                    forward(index) if which else run.step()
                    times[which, at_round, index] = time.perf_counter() - start
                    worked[which] += time.process_time() - before

    result = run.collector.result()
    assert result.n_sentences == len(texts)
    study_time, plain_time = np.median(times[:, 1:], axis=1).sum(axis=1).tolist()  # the first round warms up
    what = f"{len(texts)} sentences, {result.n_tokens:,} tokens, {len(batches)} batches"
    report.compare(
        "Many sentences", "all heads of BERT measured ÷ its plain passes", study_time / plain_time, MAX_RATIO, " ×", 2
    )
    report.add("Many sentences", "  measuring, tokenising included", ms(study_time))
    report.add("Many sentences", "  plain SDPA passes over the same batches", ms(plain_time))
    report.add("Many sentences", "  processor time ÷ that of the plain passes", f"{worked[0] / worked[1]:.2f} ×")
    report.add("Many sentences", "  over", what)
