"""Answers to questions about a step, with numbers recomputed here."""

import re
from dataclasses import replace

import numpy as np
import pytest

from attention.figures.format import number
from attention.lesson.steps import STEPS, step_of
from tests.unit.saying import plain, says, tells

SENTENCE = "the dog saw the old cat near the house"


def told(scene, key):
    return plain(step_of(key).whys(scene))


@pytest.fixture(params=["toy", "minilm-l6", "smollm2-135m"])
def asked(request, scene_of):
    info = scene_of(request.param, SENTENCE).info
    return scene_of(request.param, SENTENCE, layer=info.default_layer, head=info.default_head, at=5)


def test_every_question_is_answered_and_no_place_is_left_open(asked):
    for step in STEPS:
        answer = told(asked, step.key)
        assert bool(answer) == bool(step.why), step.key
        assert "$" not in step.words(asked) + answer


def test_with_one_matrix_for_queries_and_keys_the_scores_are_symmetric(asked):
    same = asked.steps.queries @ asked.steps.queries.T
    np.testing.assert_allclose(same, same.T, atol=1e-4)
    scores, focus = asked.steps.scores, asked.word
    others = [token.position for token in asked.tokens if token.word is not None and token.position != focus]
    other = max(others, key=lambda key: abs(scores[focus, key] - scores[key, focus]))
    for value in (same[focus, other], scores[focus, other], scores[other, focus]):
        assert number(float(value)) in told(asked, "qkv")


def test_the_slope_of_softmax_is_weight_times_one_minus_weight(asked):
    scores = asked.steps.masked_scores[asked.word].astype(np.float64)
    key, tiny = int(asked.steps.weights[asked.word].argmax()), 1e-6

    def weight(change):
        row = np.exp(scores - scores.max() + change * (np.arange(scores.size) == key))
        return row[key] / row.sum()

    slope = (weight(tiny) - weight(-tiny)) / (2 * tiny)
    assert number(slope, 4) in re.findall(r"\d\.\d+", told(asked, "scale"))


@pytest.mark.parametrize(("mask", "at"), [("causal", 3), ("causal", 6), ("none", 0), ("none", 5)])
@pytest.mark.parametrize("head", range(3))
def test_the_weight_of_a_score_of_0_is_no_reason_for_0(scene_of, mask, at, head):
    """Where the others are so high that 0 would do as well as −∞, lower ones show that it would not."""
    scene = scene_of("toy", SENTENCE, mask=mask, at=at, head=head)
    of_zero, lowered = {}, {}
    for row, seen in enumerate(scene.visible if mask == "causal" else scene.visible[:-1]):
        scores, hidden = scene.steps.scaled_scores[row].astype(np.float64), np.flatnonzero(~seen)
        # Where nothing is hidden, a decoder would hide the later keys.
        first = row + 1 if mask == "none" else 0
        others = np.delete(scores, [*hidden, hidden[0] if hidden.size else first + scores[first:].argmin()])
        if seen.sum() > 1:
            of_zero[row] = 1 / (1 + np.exp(others).sum())
            lowered[row] = 1 / (1 + np.exp(others - others.max()).sum())
    text = told(scene, "mask")
    best = max(of_zero.values())
    assert says(text, number(of_zero[at] if of_zero[at] >= 0.01 else best if best >= 0.01 else lowered[at], 4))
    # No tiny weight is told, as e.g. 4.2e-08, which would speak for 0.
    assert "e-" not in text
    assert best >= 0.01 or lowered[at] >= 0.1


def test_attention_is_not_symmetric_and_columns_do_not_add_up_to_1(asked):
    text, weights = told(asked, "softmax"), asked.steps.weights
    seen = [
        token.position
        for token in asked.tokens
        if token.word is not None and token.position != asked.word and asked.visible[asked.word, token.position]
    ]
    other = max(seen, key=lambda key: weights[asked.word, key])
    is_hidden = not asked.visible[other, asked.word]
    ways = asked.steps.scores if is_hidden else weights
    assert is_hidden == (tells(text, "softmax/why-asymmetric-hidden"))
    for value in (
        weights[asked.word, other],
        ways[asked.word, other],
        ways[other, asked.word],
        weights[:, other].sum(),
    ):
        assert number(float(value)) in text


@pytest.mark.parametrize("at", range(9))
def test_where_the_largest_weight_is_not_the_longest_contribution_a_row_shows_it(asked, at):
    scene = replace(asked, word=at)
    weights, values = scene.steps.weights, scene.steps.values
    lengths = np.linalg.norm(weights[..., None] * values, axis=-1)
    rows = [at, *(row for row in range(len(weights)) if row != at)]
    differing = [row for row in rows if weights[row].argmax() != lengths[row].argmax()]
    text = told(scene, "sum")
    if scene.visible[at].sum() < 2:
        assert text == ""
    elif not differing:
        assert tells(text, "sum/why-importance-agreed")
        assert says(text, scene.key_names[lengths[at].argmax()], number(float(lengths[at].max())))
    else:
        row = (
            at
            if at in differing
            else max(differing, key=lambda row: lengths[row].max() - lengths[row][weights[row].argmax()])
        )
        best, longest = weights[row].argmax(), lengths[row].argmax()
        assert says(text, scene.key_names[best], number(float(weights[row, best])))
        assert says(text, number(float(lengths[row, longest])), scene.key_names[longest])


def test_a_text_that_is_twice_as_long_has_four_times_as_many_scores(asked):
    size = len(asked.tokens)
    assert f"{size**2} scores" in told(asked, "scores")
    assert f"{(2 * size) ** 2:,} in each head" in told(asked, "scores")


def test_the_same_word_twice_is_told_apart_by_its_positions_alone(scene_of):
    scene = scene_of("toy", SENTENCE, at=1)
    parts = scene.trace.embeddings
    np.testing.assert_array_equal(parts.words[0], parts.words[3])
    assert says(told(scene, "embed"), "0", "3")
    assert number(float(np.linalg.norm(parts.positions[0] - parts.positions[3]))) in told(scene, "embed")


def test_two_heads_answer_differently_and_their_mean_like_neither(asked):
    rows = np.stack([asked.attention.head(head).weights[asked.word] for head in range(asked.info.n_heads)])
    head = int(rows.max(axis=1).argmax())
    text = plain(step_of("heads").words(asked))
    assert f"ead {head + 1} gives most to “{asked.key_names[rows[head].argmax()]}”" in text
    assert number(float(rows.mean(axis=0)[rows[head].argmax()])) in text


def test_how_many_heads_of_the_layer_leave_their_weight_where_it_says_little(asked):
    weights = asked.attention.steps().weights
    idle = [token.position == 0 or token.is_special for token in asked.tokens]
    rows = slice(1, None) if asked.hides_later else slice(None)
    n_idle = (weights[:, rows][..., idle].sum(-1).mean(1) > 0.5).sum()
    text = told(asked, "softmax")
    assert tells(text, "softmax/why-one-idle") == (n_idle > 0)
    # A sum of weights that are shown with fewer decimals has more.
    given = number(float(asked.steps.weights[asked.word, idle].sum()), 4)
    assert n_idle == 0 or says(text, given, n_idle, len(weights))
