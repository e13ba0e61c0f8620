"""Texts and pictures of the pages about many sentences, against their numbers."""

import logging
import threading
from contextlib import nullcontext

import numpy as np
import pytest

from attention.experiments import corpus
from attention.experiments.corpus import MAX_BYTES
from attention.experiments.measuring import MAX_KEPT, Measurement, Measurements, content_key
from attention.experiments.study import Run, Study
from attention.experiments.syntax import SyntaxCheck
from attention.figures import charts
from attention.lesson import many_sentences, syntax_check
from attention.measures.dependencies import ALL_RELATIONS
from attention.page.own_files import KEPT_BYTES, KEPT_SECONDS, OwnFiles
from attention.page.settings import FILE
from tests.loaded import load
from tests.unit.saying import plain, says

TEXTS = corpus.sentences()[:40]
HEAD = (2, 8)


@pytest.fixture(scope="module")
def model(_one_torch_thread):
    return load("minilm-l6")


@pytest.fixture(scope="module")
def result(model):
    return study_of(model)


@pytest.fixture(scope="module")
def findings(model):
    sentences = corpus.annotated()
    run = Run(model, [sentence.text for sentence in sentences], SyntaxCheck(model.info, sentences))
    while not run.is_finished:
        run.step()
    return run.collector.findings()


def test_a_head_is_described_with_its_own_means(result):
    told = plain(many_sentences.describe(result, HEAD))
    assert says(told, "3", "9", "40")
    for name in ("entropy", "mean_distance", "previous", "itself", "next", "classifier", "separator"):
        assert f"{result.measure(name)[HEAD]:.2f}" in told
    pattern, n_times = result.commonest_pattern(*HEAD)
    assert f"{pattern} ({n_times} of 40 sentences)" in told


def test_the_matrix_and_the_atlas_are_the_means(result):
    for alignment in many_sentences.ALIGNMENTS:
        mean = many_sentences.aligned(result, alignment)
        matrix = many_sentences.mean_matrix(result, alignment, HEAD)
        assert np.array_equal(matrix.values, mean.weights[HEAD])
        atlas = many_sentences.averages(result, alignment, HEAD)
        assert (atlas.tiles.rows, atlas.tiles.n_heads, atlas.is_table) == (len(mean.names), (12,) * 6, True)


def test_positions_are_counted_from_the_end_where_sentences_are_laid_on_each_other(result):
    start, end = (
        many_sentences.mean_matrix(result, alignment, HEAD).row_labels for alignment in many_sentences.ALIGNMENTS
    )
    assert start[:3] == ("[CLS]", "1", "2")
    assert end[-3:] == ("−3", "−2", "[SEP]")
    assert len(set(start)) == len(start)
    assert len(set(end)) == len(end)


def test_the_number_of_sentences_behind_a_cell_is_told(model, result):
    lengths = [len(model.encode(text).tokens) for text in TEXTS]
    told = many_sentences.how_many(result, "start")
    shown = len(result.from_start.names)
    assert says(told, "40", min(lengths))
    assert f"{sum(length >= shown for length in lengths)} have all {shown}" in told


def test_shares_are_drawn_on_one_scale_and_special_tokens_only_where_there_are_any(result):
    low, high = charts.layers(result.measure("separator"), "", "share", HEAD, is_share=True).layout.yaxis.range
    assert -0.1 < low < 0 < 1 < high < 1.1
    assert len(many_sentences.layer_measures(result)) == 5
    of_toy = study_of(load("toy"))
    assert [measure.name for measure in many_sentences.layer_measures(of_toy)] == [
        "punctuation",
        "entropy",
        "mean_distance",
    ]
    assert "[SEP]" not in many_sentences.tell_layers(of_toy)
    assert "[SEP]" in many_sentences.tell_layers(result)
    assert "[CLS]" not in plain(many_sentences.describe(of_toy, (0, 1)))
    # A column of zeros would say that there is a [CLS] to look at.
    assert {"[CLS]", "[SEP]"} & set(many_sentences.study_table(of_toy)) == set()
    assert {"[CLS]", "[SEP]"} <= set(many_sentences.study_table(result))


def test_the_table_has_one_row_per_head_and_says_how_common_its_pattern_is(result):
    table = many_sentences.study_table(result)
    assert {len(column) for column in table.values()} == {72}
    row = HEAD[0] * 12 + HEAD[1]
    pattern, n_times = result.commonest_pattern(*HEAD)
    assert (table["layer"][row], table["head"][row]) == (3, 9)
    assert (table["pattern"][row], table["of sentences, %"][row]) == (pattern, round(100 * n_times / 40, 1))
    assert table["entropy (nats)"][row] == pytest.approx(result.measure("entropy")[HEAD], abs=1e-4)


def study_of(model):
    run = Run(model, TEXTS, Study(model.info))
    while not run.is_finished:
        run.step()
    return run.collector.result()


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_of_a_models_special_tokens_only_what_is_known_is_said(model_of, kind):
    """Not that it is smaller, or trained again: of a model in a folder, nobody knows."""
    model = model_of(kind)
    of_kind = study_of(model)
    told = plain(many_sentences.tell_layers(of_kind))
    assert "trained again" not in told
    assert "smaller" not in told
    assert f"{kind.upper()} has {model.info.n_layers} layers of {model.info.n_heads} heads" in told
    begins, ends = ("<s>", "</s>") if kind == "roberta" else ("[CLS]", "[SEP]")
    for name, measure in ((begins, "classifier"), (ends, "separator")):
        share = of_kind.measure(measure).mean(axis=1)
        assert says(told, name, share.argmax() + 1, f"{share.max():.2f}")
    titles = [measure.title for measure in many_sentences.layer_measures(of_kind)]
    assert titles[:2] == [f"Weight on {ends}", f"Weight on {begins}"]
    described = plain(many_sentences.describe(of_kind, (0, 1)))
    shares = [f"{of_kind.measure(measure)[0, 1]:.2f}" for measure in ("classifier", "separator")]
    assert says(described, begins, shares[0], ends, shares[1])
    table = many_sentences.study_table(of_kind)
    assert table[ends][1] == pytest.approx(of_kind.measure("separator")[0, 1], abs=1e-4)
    assert ("[SEP]" in table) == (kind != "roberta")


# ------------------------------------------------------------------------------------------- syntax


def test_the_table_of_relations_has_the_findings_and_the_papers_numbers(findings):
    shown = syntax_check.relations(findings, with_rare=False)
    assert all(finding.count >= syntax_check.FEW for finding in shown)
    assert ALL_RELATIONS not in {finding.relation for finding in syntax_check.relations(findings, with_rare=True)}
    table = syntax_check.findings_table(shown)
    row = table["relation"].index("dobj")
    (dobj,) = (finding for finding in shown if finding.relation == "dobj")
    assert table["head"][row] == f"{dobj.layer + 1}-{dobj.head + 1}"
    assert table["right %"][row] == round(100 * dobj.accuracy, 1)
    assert (table["BERT-base"][row], table["BERT-base %"][row], table["its offset %"][row]) == ("8-10", 86.8, 40.0)
    assert table["BERT-base"][table["relation"].index("punct")] is None


def test_every_relation_can_be_told(findings):
    for finding in syntax_check.relations(findings, with_rare=True):
        told = plain(syntax_check.describe(finding, 72))
        assert f"{100 * finding.accuracy:.1f}" in told
        assert f"{finding.count} cases" in told
        assert ("tendency" in told) == (finding.count < syntax_check.FEW)


@pytest.mark.slow
def test_a_case_of_an_example_is_right_as_often_as_the_finding_says(model, findings):
    for relation in ("dobj", "conj", "poss"):
        (finding,) = (finding for finding in findings if finding.relation == relation)
        n_cases = n_right = 0
        for sentence in syntax_check.examples(corpus.annotated(), relation):
            weights = syntax_check.example_weights(model.trace(sentence.text), sentence, finding)
            for case in syntax_check.cases(weights, sentence, finding):
                told = plain(syntax_check.tell_case(case, sentence, finding))
                assert sentence.words[case.taken] in told
                n_cases += 1
                n_right += "✓" in told
                assert ("✓" in told) != ("It should be" in told)
        assert (n_cases, n_right / n_cases) == (finding.count, pytest.approx(finding.accuracy))


def test_the_marked_cell_of_an_example_is_the_one_that_is_asked_and_right(model, findings):
    for finding in syntax_check.relations(findings, with_rare=False):
        sentence = syntax_check.examples(corpus.annotated(), finding.relation)[0]
        trace = model.trace(sentence.text)
        weights = syntax_check.example_weights(trace, sentence, finding)
        case = syntax_check.cases(weights, sentence, finding)[0]
        row, column = syntax_check.example_matrix(trace, sentence, finding, case).selected
        asked, found = (row, column) if finding.direction == "dependent to head" else (column, row)
        assert found == sentence.heads[case.dependent]
        assert asked == case.asked


# ------------------------------------------------------------------------------------- measurements


def test_a_measurement_is_shared_by_those_who_have_the_same_sentences_and_by_no_others():
    toy, kept = load("toy"), Measurements()
    one = kept.study(toy, TEXTS)
    assert kept.study(toy, list(TEXTS)) is one
    assert kept.study(toy, TEXTS[1:]) is not one
    assert content_key(["a b"]) != content_key(["a", "b"])
    for number in range(MAX_KEPT):
        kept.study(toy, [str(number)])
    assert kept.study(toy, TEXTS) is not one


def test_several_people_carry_a_measurement_on_together_and_every_sentence_counts_once():
    measurement = Measurements().study(load("toy"), corpus.sentences())

    def carry_on():
        while not measurement.is_over():
            measurement.advance()

    people = [threading.Thread(target=carry_on) for _ in range(4)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert measurement.failure == ""
    assert measurement.measured().result.n_sentences == 500


def test_a_result_is_made_once_until_the_measurement_goes_on():
    measurement = Measurements().study(load("toy"), corpus.sentences())
    assert measurement.measured().result is None
    measurement.advance()
    first = measurement.measured()
    assert measurement.measured().result is first.result
    assert first.share == first.n_done / 500
    measurement.advance()
    assert measurement.measured().result.n_sentences > first.result.n_sentences


def test_a_measurement_is_carried_on_for_a_while_and_again_to_its_end():
    now, batches = [0.0], []

    class Slow(Study):
        """Takes a second for each batch."""

        def add(self, batch):
            super().add(batch)
            batches.append(len(batch.texts))
            now[0] += 1

    toy = load("toy")
    measurement = Measurement(toy, corpus.sentences(), Slow(toy.info), nullcontext(), clock=lambda: now[0])
    measurement.carry_on(0)
    assert measurement.measured().share == 0
    measurement.carry_on(1.5)
    assert len(batches) == 2
    found = measurement.measured()
    assert (found.n_done, found.is_over) == (sum(batches), False)
    measurement.carry_on(1000)
    found = measurement.measured()
    assert (found.is_over, found.share, found.n_done, sum(batches)) == (True, 1, 500, 500)


def test_a_model_that_fails_ends_the_measurement_and_the_log_holds_no_sentence(caplog):
    toy = load("toy")

    class Failing:
        info = toy.info
        encode = staticmethod(toy.encode)

        def trace_batch(self, texts):
            raise RuntimeError(f"cannot run on {texts[0].text}")

    measurement = Measurements().study(Failing(), ["xylophone quarantine"])
    with caplog.at_level(logging.DEBUG):
        measurement.advance()
    found = measurement.measured()
    assert found.is_over
    assert "RuntimeError" in found.failure
    assert "RuntimeError" in caplog.text
    assert "xylophone" not in caplog.text + found.failure
    assert found.result is None


# ----------------------------------------------------------------------------------- files of one's own


def test_a_file_is_found_by_its_key_while_it_is_kept():
    now = [0.0]
    files = OwnFiles(clock=lambda: now[0])
    key = files.keep(b"A cat sat.\ncaf\xe9")
    assert files.keep(b"A cat sat.\ncaf\xe9") == key != files.keep(b"A cat sat.")
    assert FILE.kind.fits(key, None)
    assert files.find(key).lines == ("A cat sat.",)
    assert "line 2" in files.find(key).problems[0]
    assert files.find(files.keep(b"")).lines == ()
    assert files.find("x") is None
    now[0] = KEPT_SECONDS
    assert files.find(key) is None


def test_the_oldest_files_make_room_for_the_newest():
    files = OwnFiles()
    size = MAX_BYTES // 2
    keys = [files.keep(str(number).encode() * size + b"\n") for number in range(2)]
    lines = b"so " * 600 + b"\n"
    many = [files.keep(str(number).encode() + lines * (MAX_BYTES // len(lines))) for number in range(40)]
    assert files.find(keys[0]) is None
    assert files.find(many[0]) is None
    kept = [key for key in many if files.find(key) is not None]
    assert many[-1] in kept
    assert sum(len(line) for key in kept for line in files.find(key).lines) <= KEPT_BYTES
