"""What studying many sentences costs: every head measured, against the plain forward passes over the same batches."""

from __future__ import annotations

import statistics
import time

import torch

from attention import corpus
from attention.study import Run, Study
from tests.bench.report import ms, undisturbed

MAX_RATIO = 1.2
N_ROUNDS = 9


class _Keeper:
    """Keeps the token ids of the batches of a run."""

    def __init__(self):
        self.batches = []

    def add(self, batch):
        self.batches.append([[token.token_id for token in text.tokens] for text in batch.texts])


def _finish(run):
    while not run.is_finished:
        run.step()
    return run.collector


def test_measuring_all_heads_costs_little_more_than_the_plain_passes(report, model, plain):
    texts = corpus.sentences()
    batches = _finish(Run(model, texts, _Keeper())).batches
    results = []

    def study():
        results.append(_finish(Run(model, texts, Study(model.info))).result())

    @torch.inference_mode()
    def forward():
        for batch in batches:
            ids = torch.tensor(batch)
            plain(input_ids=ids, token_type_ids=torch.zeros_like(ids))

    study_times, plain_times = [], []
    with undisturbed():
        for index in range(N_ROUNDS + 1):
            # Each first as often as the other, so that both meet the same machine.
            for function, times in ((study, study_times), (forward, plain_times))[:: 1 if index % 2 else -1]:
                start = time.perf_counter()
                function()
                if index:  # the first round warms up
                    times.append(time.perf_counter() - start)

    assert results[0].n_sentences == sum(map(len, batches)) == len(texts)
    study_time, plain_time = map(statistics.median, (study_times, plain_times))
    what = f"{len(texts)} sentences, {results[0].n_tokens:,} tokens, {len(batches)} batches"
    report.compare(
        "Many sentences", "all heads of BERT measured ÷ its plain passes", study_time / plain_time, MAX_RATIO, " ×", 2
    )
    report.add("Many sentences", "  measuring, tokenising included", ms(study_time))
    report.add("Many sentences", "  plain SDPA passes over the same batches", ms(plain_time))
    report.add("Many sentences", "  over", what)
