"""Batches against single traces, means against single sentences, and interrupted runs."""

import gc
import threading
import weakref

import numpy as np
import pytest

from attention.experiments import corpus, study
from attention.experiments.study import Run, Study
from attention.lesson.proof import Proof
from attention.measures.five_patterns import PATTERN_NAMES
from attention.measures.marks import Marks
from attention.measures.summaries import MEASURES, PATTERN_MEASURES
from tests.loaded import load
from tests.summaries import summarise
from tests.sweep import sweep

# Short and long, of one token and of many; words that come twice, punctuation, pieces, one that the model has to cut.
TEXTS = (
    "Yes",
    "The cat sat on the mat",
    "A dog saw the cat, and the dog ran!",
    "Unbelievably, the tokeniser's naïve word pieces (42 of them!) survived.",
    "no no no no",
    "It rained.",
    "She left.",
    "He slept,",
    "word " * 30,
)
MODELS = ("toy", "minilm-l6", "smollm2-135m")
MEANS = [name for name in MEASURES if name not in ("same_word", *PATTERN_MEASURES)]


@pytest.fixture(scope="module")
def models(_one_torch_thread):
    return {model_id: load(model_id) for model_id in MODELS}


@pytest.fixture(scope="module")
def toy():
    return load("toy")


class Keeper:
    """Keeps the batches of a run."""

    def __init__(self):
        self.batches = []

    def add(self, batch):
        self.batches.append(batch)


def finish(run):
    while not run.is_finished:
        run.step()
    return run.collector


def study_of(model, texts):
    return finish(Run(model, texts, Study(model.info))).result()


def mean_over(summaries, name):
    """The mean over sentences of one number of each head, from summaries of one sentence at a time."""
    return np.mean([[getattr(summary, name) for summary in one] for one in summaries], axis=0)


# -------------------------------------------------------------------------------------------- batches


@pytest.mark.parametrize("model_id", sweep(MODELS, quick=MODELS[:2]))
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_encoded_as_it_is_traced(models, model_id, text):
    encoded, trace = models[model_id].encode(text), models[model_id].trace(text)
    assert (encoded.text, encoded.tokens, encoded.cut) == (trace.text, trace.tokens, trace.cut)


@pytest.mark.parametrize("model_id", sweep(MODELS, quick=MODELS[:2]))
def test_texts_that_cannot_be_run_together_are_refused(models, model_id):
    model = models[model_id]
    with pytest.raises(ValueError, match=r"tokens, got \[\]"):
        model.trace_batch([])
    with pytest.raises(ValueError, match="tokens, got"):
        model.trace_batch([model.encode("one"), model.encode("one two")])
    with pytest.raises(ValueError, match="no visible text"):
        model.encode("")


def test_a_run_takes_every_text_once_in_batches_of_one_length_and_bounded(toy):
    texts = [*corpus.sentences(), *corpus.sentences(), "", "  "]
    run = Run(toy, texts, Keeper())
    batches = finish(run).batches
    assert sorted(text.text for batch in batches for text in batch.texts) == sorted(corpus.sentences() * 2)
    for batch in batches:
        (n_tokens,) = {len(text.tokens) for text in batch.texts}
        assert len(batch.texts) * n_tokens <= study.MAX_BATCH_TOKENS or len(batch.texts) == 1
    assert (run.n_texts, run.n_done, run.n_unreadable) == (1002, 1000, 2)


def test_the_first_half_of_a_run_is_a_fair_sample_of_lengths(toy):
    texts = corpus.sentences()
    run = Run(toy, texts, Keeper())
    while run.n_done < len(texts) / 2:
        run.step()
    mean = np.mean([len(text.tokens) for batch in run.collector.batches for text in batch.texts])
    assert mean == pytest.approx(np.mean([len(toy.encode(text).tokens) for text in texts]), abs=1)


# ---------------------------------------------------------------------------------------------- means


def some_sentences(model_id, n):
    """So many sentences of every kind; of the model that takes longest, a fifth."""
    return corpus.sentences()[: n if model_id != "smollm2-135m" else n // 5]


@pytest.mark.parametrize("model_id", sweep(MODELS, quick=MODELS[:2]))
def test_means_are_those_of_sentences_one_at_a_time(models, model_id):
    model = models[model_id]
    texts = [*TEXTS, *some_sentences(model_id, 60)]
    result = study_of(model, texts)
    traces = [model.trace(text) for text in texts]
    summaries = [summarise(trace) for trace in traces]
    for name in MEANS:
        np.testing.assert_allclose(result.measure(name).ravel(), mean_over(summaries, name), atol=1e-5, err_msg=name)
    for name in PATTERN_MEASURES:
        found = [getattr(summary.pattern, name) for summary in result.summaries]
        scores = [[summary.pattern for summary in one] for one in summaries]
        np.testing.assert_allclose(found, mean_over(scores, name), atol=1e-5, err_msg=name)
    repeating = [
        [summary.same_word for summary in one]
        for one, trace in zip(summaries, traces, strict=True)
        if Marks.of([trace.tokens]).same_word.any()
    ]
    assert result.n_repeating == len(repeating) > 0
    np.testing.assert_allclose(result.measure("same_word").ravel(), np.mean(repeating, axis=0), atol=1e-5)
    assert result.n_tokens == sum(len(trace.tokens) for trace in traces)


@pytest.mark.parametrize("model_id", sweep(MODELS, quick=MODELS[:1]))
def test_patterns_are_counted_sentence_by_sentence(models, model_id):
    model = models[model_id]
    texts = some_sentences(model_id, 80)
    result = study_of(model, texts)
    labels = [[summary.pattern.label for summary in summarise(model.trace(text))] for text in texts]
    for summary, of_head in zip(result.summaries, zip(*labels, strict=True), strict=True):
        counts = result.pattern_counts[summary.layer, summary.head]
        # A score that lies on a threshold may fall to either side in another order of adding up.
        assert np.abs(counts - [of_head.count(name) for name in PATTERN_NAMES]).sum() <= 2
        assert counts.sum() == len(texts)
        name, n_times = result.commonest_pattern(summary.layer, summary.head)
        assert n_times == counts[PATTERN_NAMES.index(name)] == counts.max()


def test_the_averaged_picture_by_hand(models):
    """Each cell over the sentences that have it, from the first token and from the last."""
    model = models["minilm-l6"]
    texts = ["The cat sat", "A dog", "Yes", "Two birds flew away"]
    weights = [np.stack([layer.steps().weights for layer in model.trace(text).layers]) for text in texts]
    result = study_of(model, texts)
    sizes = [each.shape[-1] for each in weights]
    assert sizes == [5, 4, 3, 6]
    for aligned, anchor in ((result.from_start, 0), (result.from_end, -1)):
        assert aligned.weights.shape == (6, 12, 6, 6)
        for i, j in np.ndindex(6, 6):
            # The same places, counted from the other end.
            i_each, j_each = (i, j) if anchor == 0 else (i - 6, j - 6)
            needed = max(i, j) + 1 if anchor == 0 else max(-i_each, -j_each)
            having = [each[..., i_each, j_each] for each, size in zip(weights, sizes, strict=True) if size >= needed]
            assert aligned.counts[i, j] == len(having)
            np.testing.assert_allclose(aligned.weights[..., i, j], np.mean(having, axis=0), atol=1e-6)
    assert result.from_start.names == ("[CLS]", "", "", "", "", "")
    assert result.from_end.names == ("", "", "", "", "", "[SEP]")


def test_the_averaged_picture_shows_only_positions_that_enough_sentences_have(toy):
    texts = ["a cat sat"] * 39 + ["a cat sat on the mat"] * 2 + ["so " * 40]
    result = study_of(toy, texts)
    # 3 of 42 have six words, less than one in ten.
    assert result.from_start.weights.shape == (1, 3, 3, 3)
    assert study_of(toy, texts[-1:]).from_end.weights.shape[-1] == study.MAX_POSITIONS


def test_the_proof_is_over_all_that_was_run(models):
    for model in models.values():
        result = study_of(model, TEXTS)
        assert 0 < result.difference.absolute < 1e-5
        assert result.largest_row_error < 1e-5


def test_a_model_whose_output_is_another_fails_the_proof(toy):
    class Broken:
        info = toy.info
        encode = staticmethod(toy.encode)

        def trace_batch(self, texts):
            batch = toy.trace_batch(texts)
            batch.layers[0].model_output[0, 0, 0, 0] = np.nan if len(texts) > 1 else 5
            return batch

    assert study_of(Broken(), TEXTS[:1]).difference.absolute > 1
    assert not Proof.of_outputs(study_of(Broken(), TEXTS[:1]).difference, 0).holds
    assert np.isnan(study_of(Broken(), ["a b", "b c"]).difference.relative)


# -------------------------------------------------------------------------------- stopping, and order


def test_the_model_reads_the_next_batch_while_one_is_measured(toy):
    """Each waits for the other to have begun: one after the other, neither would ever end."""
    reading, measuring = threading.Barrier(2, timeout=120), []

    class Reader:
        info, encode = toy.info, staticmethod(toy.encode)
        n_read = 0

        def trace_batch(self, texts):
            self.n_read += 1
            if self.n_read > 1:
                reading.wait()
            return toy.trace_batch(texts)

    class Waiting(Keeper):
        def add(self, batch):
            measuring.append(threading.current_thread())
            if len(measuring) < n_batches:
                reading.wait()
            super().add(batch)

    texts = corpus.sentences()[:60]
    n_batches = len(finish(Run(toy, texts, Keeper())).batches)
    assert n_batches > 3
    batches = finish(Run(Reader(), texts, Waiting())).batches
    assert sorted(text.text for batch in batches for text in batch.texts) == sorted(texts)
    assert threading.current_thread() not in measuring


def test_a_run_that_rests_keeps_nothing_and_loses_nothing(toy):
    texts = corpus.sentences()[:40]
    read = []

    class Reader:
        info, encode = toy.info, staticmethod(toy.encode)

        def trace_batch(self, texts):
            batch = toy.trace_batch(texts)
            read.append(weakref.ref(batch.layers[0].queries))
            return batch

    run = Run(Reader(), texts, Study(toy.info))
    while not run.is_finished:
        run.step()
        run.rest()
        if any(each() is not None for each in read):
            gc.collect()
        assert all(each() is None for each in read)
    alone = finish(Run(toy, texts, Study(toy.info))).result()
    np.testing.assert_array_equal(run.collector.result().from_start.weights, alone.from_start.weights)
    assert run.n_done == len(texts)


def test_where_the_next_batch_cannot_be_read_the_one_before_counts(toy):
    texts = corpus.sentences()[:100]

    class Failing:
        info, encode = toy.info, staticmethod(toy.encode)
        n_read = 0

        def trace_batch(self, texts):
            self.n_read += 1
            if self.n_read == 2:
                raise RuntimeError
            return toy.trace_batch(texts)

    run = Run(Failing(), texts, Keeper())
    with pytest.raises(RuntimeError):
        run.step()
    assert run.n_done == sum(len(batch.texts) for batch in run.collector.batches) > 0


def test_nothing_done_is_no_result(toy):
    assert Study(toy.info).result() is None
    run = Run(toy, ["", " "], Study(toy.info))
    finish(run)
    assert (run.n_unreadable, run.collector.result()) == (2, None)


def test_a_run_that_stops_has_the_means_of_what_it_did(toy):
    texts = corpus.sentences()[:100]
    run, keeper = Run(toy, texts, Study(toy.info)), Run(toy, texts, Keeper())
    for _ in range(3):
        run.step()
        keeper.step()
    assert 0 < run.n_done < len(texts)
    assert not run.is_finished
    partial = run.collector.result()
    done = [text.text for batch in keeper.collector.batches for text in batch.texts]
    assert partial.n_sentences == run.n_done == len(done)
    assert_same(partial, study_of(toy, done))
    before = partial.measure("entropy")
    # It goes on from there, and what was told before stays as it was.
    assert_same(finish(run).result(), study_of(toy, texts))
    assert np.array_equal(before, partial.measure("entropy"))


def assert_same(one, other):
    assert (one.n_sentences, one.n_tokens, one.n_repeating) == (other.n_sentences, other.n_tokens, other.n_repeating)
    for name in (*MEANS, "same_word"):
        np.testing.assert_allclose(one.measure(name), other.measure(name), atol=1e-6, err_msg=name)
    for aligned, wanted in ((one.from_start, other.from_start), (one.from_end, other.from_end)):
        assert np.array_equal(aligned.counts, wanted.counts)
        np.testing.assert_allclose(aligned.weights, wanted.weights, atol=1e-6)


def test_texts_longer_than_the_model_takes_are_counted_as_cut(toy):
    run = Run(toy, ["so " * 70, "a cat"], Study(toy.info))
    assert finish(run).result().n_tokens == 66
    assert run.n_cut == 1
