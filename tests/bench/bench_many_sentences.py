"""The cost of studying many sentences: measuring every head, relative to plain forward passes over the same batches.

The speed of a shared machine changes within seconds: runs of two seconds, one after the other, gave ratios of 1.03 to
1.31. So each batch is timed beside its own plain pass, and medians over all rounds are compared. The rest depends on
the processor: the faster it multiplies matrices, the larger the relative overhead.
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
    """Keeps the texts of a run's batches."""

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
                # Alternate the order, so that both find the same caches.
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
