"""The head that finds a word's syntactic head: words from tokens, and the best head, chosen fairly and unfairly."""

import numpy as np
import pytest

from attention.core.trace import LayerTrace, ModelInfo, Token
from attention.experiments import corpus, syntax
from attention.experiments.corpus import Annotated
from attention.experiments.study import Run
from attention.experiments.syntax import SyntaxCheck, parse_of, positions_of, word_weights
from attention.measures.dependencies import ALL_RELATIONS, dependency_accuracy
from attention.models.base import Batch, Encoded
from tests.loaded import load

MODELS = ("toy", "minilm-l6")


@pytest.fixture(scope="module")
def models(_one_torch_thread):
    return {model_id: load(model_id) for model_id in MODELS}


def check(model, sentences):
    run = Run(model, [sentence.text for sentence in sentences], SyntaxCheck(model.info, sentences))
    while not run.is_finished:
        run.step()
    return run.collector


@pytest.mark.parametrize("model_id", MODELS)
def test_every_token_that_was_typed_belongs_to_one_word(models, model_id):
    for sentence in corpus.annotated():
        tokens = models[model_id].encode(sentence.text).tokens
        places = positions_of(tokens, sentence)
        found = [position for place in places for position in place]
        assert found == [token.position for token in tokens if token.start is not None]
        for index, (word, place) in enumerate(zip(sentence.words, places, strict=True)):
            typed = "".join(tokens[position].typed for position in place)
            # What the treebank cuts and the model does not is the first word's: weren|'t, or all of don't.
            around = (word, *sentence.words[index + 1 : index + 2])
            assert typed == word or any(each.startswith("'") or each == "n't" for each in around)


def test_word_weights_by_hand():
    sentence = Annotated(
        "can't go", ("ca", "n't", "go"), (2, 2, None), ("aux", "neg", "root"), ((0, 2), (2, 5), (6, 8))
    )
    tokens = [
        Token("[CLS]", "", None, 0, 0, is_special=True),
        Token("can", "can", 0, 1, 0, start=0),
        Token("'", "'", 1, 2, 0, start=3),
        Token("t", "t", 2, 3, 0, start=4),
        Token("go", "go", 3, 4, 0, start=6),
    ]
    assert positions_of(tokens, sentence) == [[1], [2, 3], [4]]
    weights = np.array(
        [
            [1, 0, 0, 0, 0],
            [0.1, 0.2, 0.3, 0.2, 0.2],
            [0.2, 0.4, 0.1, 0.1, 0.2],
            [0, 0.2, 0.2, 0.2, 0.4],
            [0.5, 0.1, 0.1, 0.2, 0.1],
        ]
    )
    # To a word the sum over its tokens, from it their mean.
    np.testing.assert_allclose(
        word_weights(weights, tokens, sentence), [[0.2, 0.5, 0.2], [0.3, 0.3, 0.3], [0.1, 0.3, 0.1]]
    )
    # In one piece, the second word has no token: it neither looks nor is looked at.
    one_piece = [Token("can't", "can't", 0, 0, 0, start=0), Token("go", "go", 1, 1, 0, start=6)]
    np.testing.assert_allclose(
        word_weights(np.array([[0.3, 0.7], [0.6, 0.4]]), one_piece, sentence),
        [[0.3, 0, 0.7], [0, 0, 0], [0.6, 0, 0.4]],
    )


@pytest.mark.parametrize("model_id", MODELS)
def test_the_best_head_is_the_one_that_counting_sentence_by_sentence_finds(models, model_id):
    model, sentences = models[model_id], corpus.annotated()[:60]
    seen = []
    for sentence in sentences:
        trace = model.trace(sentence.text)
        weights = np.stack([layer.steps().weights for layer in trace.layers])
        seen.append((word_weights(weights, trace.tokens, sentence), parse_of(sentence)))
    to_head, to_dependent = (dependency_accuracy(seen, direction) for direction in syntax.DIRECTIONS)
    findings = {finding.relation: finding for finding in check(model, sentences).findings()}
    assert findings.keys() == to_head.keys()
    for relation, finding in findings.items():
        scores = {"dependent to head": to_head[relation], "head to dependent": to_dependent[relation]}
        assert finding.count == to_head[relation].count
        assert finding.accuracy == pytest.approx(max(float(score.accuracy.max()) for score in scores.values()))
        chosen = scores[finding.direction].accuracy[finding.layer, finding.head]
        assert finding.accuracy == pytest.approx(chosen)
        if finding.held_out is not None:
            assert 0 <= finding.held_out <= finding.accuracy + 1e-12
    assert findings[ALL_RELATIONS].count == sum(f.count for r, f in findings.items() if r != ALL_RELATIONS)


def test_bert_has_a_head_for_direct_objects_that_is_far_better_than_any_fixed_offset(models):
    findings = {finding.relation: finding for finding in check(models["minilm-l6"], corpus.annotated()).findings()}
    dobj = findings["dobj"]
    assert dobj.accuracy > dobj.offset_accuracy + 0.2
    assert dobj.held_out > dobj.offset_accuracy + 0.2


def pointing(targets_of_heads):
    """Queries and keys whose softmax looks, for each head, from each word almost only at its target."""
    n_tokens = len(targets_of_heads[0])
    queries = np.array([[40.0 * np.eye(n_tokens)[target] for target in targets] for targets in targets_of_heads])
    return queries, np.broadcast_to(np.eye(n_tokens), (len(targets_of_heads), n_tokens, n_tokens))


def test_held_out_is_what_a_head_does_on_the_half_that_it_was_not_chosen_on():
    """Two sentences, two heads: each head is right in one of them, so that a head chosen on one fails on the other."""
    info = ModelInfo("by hand", "", "", 1, 2, 2, 2, 2, 9, 0, "", "", "")
    sentences = tuple(
        Annotated(text, tuple(text.split()), heads, relations, ((0, 1), (2, 3), (4, 5)))
        for text, heads, relations in (
            ("a b c", (1, None, 0), ("det", "root", "dep")),
            ("d e f", (1, None, 0), ("det", "root", "dep")),
        )
    )
    heads = {"a b c": ([1, 2, 0], [2, 2, 0]), "d e f": ([2, 2, 0], [1, 2, 0])}
    collector = SyntaxCheck(info, sentences)
    for text, targets in heads.items():
        tokens = tuple(Token(word, word, i, i, 0, start=2 * i) for i, word in enumerate(text.split()))
        queries, keys = pointing(targets)
        queries, keys = queries[None], keys[None]
        layer = LayerTrace(None, queries, keys, keys, None, 1.0, np.zeros((1, 2, 3, 3)))
        collector.add(Batch((Encoded(text, tokens),), (layer,), info))
    det = next(finding for finding in collector.findings() if finding.relation == "det")
    # Each head finds the determiner's noun in one sentence of two; chosen on the one, it is wrong in the other.
    assert (det.count, det.layer, det.head, det.direction) == (2, 0, 0, "dependent to head")
    assert det.accuracy == 0.5
    assert det.held_out == 0
    assert (det.offset, det.offset_accuracy) == (1, 1)
    dep = next(finding for finding in collector.findings() if finding.relation == "dep")
    # The first head finds it in both.
    assert (dep.head, dep.accuracy, dep.held_out) == (0, 1, 1)


def test_a_relation_of_one_half_alone_has_no_held_out_score(models):
    sentences = corpus.annotated()[:1]
    assert all(finding.held_out is None for finding in check(models["toy"], sentences).findings())


def test_words_without_a_token_are_counted(models):
    sentence = next(each for each in corpus.annotated() if "n't" in each.words)
    assert check(models["toy"], [sentence]).n_without_token == 1
    assert check(models["minilm-l6"], [sentence]).n_without_token == 0
