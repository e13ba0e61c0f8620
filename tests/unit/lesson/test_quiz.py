"""Questions before a step: judged by the record, with the true answer recomputed here."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.figures.question import Answer, Question
from attention.lesson import front
from attention.lesson.head_context import HeadContext
from attention.lesson.quiz import TIE, Guess, around, comes_near, overlap, ranked
from attention.lesson.steps import STEPS, step_of

SENTENCE = "The animal didn't cross the street because it was extraordinarily tired."


def labelled(guess):
    return [guess.answers[index] for index in sorted(guess.right)]


def verdict(guess, index):
    return guess.judge(Answer(guess.mark, (index,)))


@pytest.fixture(params=["toy", "minilm-l6", "smollm2-135m"])
def asked(request, scene_of):
    """A scene in which every step has something to ask."""
    info = scene_of(request.param, SENTENCE).info
    return scene_of(request.param, SENTENCE, layer=info.default_layer, head=info.default_head, at=9)


def test_every_step_asks_something_of_every_model(asked):
    for step in STEPS:
        guess = step.guess(asked)
        assert guess is not None, step.key
        assert "$" not in guess.question + guess.reason
        assert guess.shares or guess.right
        assert len(set(guess.answers)) == len(guess.answers) >= 2


def test_most_steps_say_why_one_may_think_otherwise_and_never_in_the_question(asked):
    explained = set()
    for step in STEPS:
        guess = step.guess(asked)
        assert len(guess.whys) in (0, len(guess.answers)), step.key
        wrong = [why for index, why in enumerate(guess.whys) if why and index not in guess.right]
        explained |= {step.key} if wrong else set()
        for why in wrong:
            assert why.startswith("<p>")
            assert "$" not in why
            assert why not in guess.question
    assert {"mask", "scale", "scores"} <= explained


def test_what_one_may_think_of_a_score_is_true(asked):
    guess, row = step_of("scores").guess(asked), asked.steps.scores[asked.word]
    for answer, why in zip(guess.answers, guess.whys, strict=True):
        key = asked.key_names.index(answer)
        assert ("next to" in why) == (abs(key - asked.word) == 1)
        assert ("different matrices" in why) == (key == asked.word)
        if "comes close" in why:
            assert f"<b>{row[key]:.2f}</b>" in why.replace("\N{MINUS SIGN}", "-")


def test_who_takes_the_longer_value_for_the_longer_part_is_told_its_length(scene_of):
    for at in range(9):
        scene = scene_of("toy", SENTENCE, at=at)
        guess = step_of("sum").guess(scene)
        lengths = np.linalg.norm(scene.steps.values, axis=1)
        best = int(scene.steps.weights[scene.word].argmax())
        assert bool(guess.whys[1]) == (lengths.argmax() != best)
        if guess.whys[1]:
            assert f"<b>{lengths.max():.2f}</b>" in guess.whys[1]


def test_the_longest_word_is_counted_as_the_model_cuts_it(scene_of):
    scene = scene_of("minilm-l6", SENTENCE)
    assert labelled(step_of("tokens").guess(scene)) == ["4"]  # extra ##ord ##ina ##rily
    assert labelled(step_of("tokens").guess(scene_of("toy", SENTENCE))) == ["1"]


def test_the_most_similar_vectors_are_those_with_the_largest_cosine(asked):
    x = asked.attention.inputs.astype(np.float64)
    cosines = (x @ x.T) / np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(x, axis=1))
    guess = step_of("embed").guess(asked)
    names = {name: position for position, name in enumerate(asked.names)}
    of = [cosines[tuple(names[each] for each in answer.split(" – "))] for answer in guess.answers]
    for index, cosine in enumerate(of):
        assert (index in guess.right) == (cosine >= max(of) - TIE - 1e-6)


TROPHY = "The trophy did not fit in the suitcase because it was too small."


@pytest.mark.parametrize(("model", "text"), [("toy", TROPHY), ("minilm-l6", TROPHY), ("smollm2-135m", TROPHY)])
def test_the_largest_of_a_row_and_the_nouns_are_offered_whatever_the_word(scene_of, model, text):
    at_start = scene_of(model, text)
    nouns = [token.position for token in at_start.tokens if token.typed.strip() in ("trophy", "suitcase", "suit")]
    for layer, at in product(range(0, at_start.info.n_layers, 7), range(len(at_start.tokens))):
        scene = scene_of(model, text, layer=layer, head=layer % 3, at=at)
        seen = [key for key in range(len(scene.tokens)) if key <= at or not scene.info.is_decoder]
        rows = ((step_of("scores").guess(scene), scene.steps.scores[at]), (front.guess(scene), scene.steps.weights[at]))
        for guess, row in rows:
            if guess is None:
                continue
            assert scene.key_names[max(seen, key=row.__getitem__)] in labelled(guess)
            for noun in set(nouns).intersection(seen):
                pieces = scene.key_names[noun : noun + 2] if scene.tokens[noun].text.endswith("suit") else ()
                # A word in pieces is offered once.
                assert len({scene.key_names[noun], *pieces}.intersection(guess.answers)) == 1


def test_a_special_token_is_offered_whether_or_not_it_is_right(scene_of):
    rights = set()
    for at in range(1, 7):
        scene = scene_of("minilm-l6", "The cat sat on the mat", layer=2, head=8, at=at)
        guess = front.guess(scene)
        (special,) = (answer for answer in guess.answers if answer.startswith("["))
        assert f"<bdi>{special}</bdi>” is a special token" in guess.question
        rights.add(special in labelled(guess))
    assert rights == {True, False}


def test_pairs_of_nouns_are_among_those_that_may_be_most_alike(scene_of):
    answers = step_of("embed").guess(scene_of("minilm-l6", TROPHY)).answers
    assert "trophy – suitcase" in answers


def test_what_the_largest_weight_becomes_without_the_division(asked):
    scores = np.where(asked.visible[asked.word], asked.steps.scores[asked.word], -np.inf).astype(np.float64)
    plain = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    scaled = asked.steps.weights[asked.word]
    key = int(scaled.argmax())
    (right,) = step_of("scale").guess(asked).right
    change = plain[key] - scaled[key]
    assert right == (1 if abs(change) <= TIE else 0 if change < 0 else 3 if plain[key] >= 0.9 else 2)


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_a_causal_mask_closes_all_cells_above_the_diagonal(scene_of, mask):
    scene = scene_of("toy", "one two three four", mask=mask)
    size = len(scene.tokens)
    assert labelled(step_of("mask").guess(scene)) == [str(np.triu(np.ones((size, size)), 1).sum().astype(int))]


def test_the_shares_of_a_row_are_its_weights(asked):
    guess = step_of("softmax").guess(asked)
    assert sum(guess.shares) == pytest.approx(1, abs=1e-5)
    weights = asked.steps.weights[asked.word]
    for name, share in zip(guess.answers, guess.shares, strict=True):
        if ", score " in name:
            key = asked.key_names.index(name.rpartition(", score ")[0])
            assert share == pytest.approx(weights[key], abs=1e-7)
    assert guess.judge(Answer(guess.mark, tuple(round(100 * share) for share in guess.shares))) == "right"


def test_the_largest_contribution_is_weight_times_length(scene_of):
    scene = scene_of("minilm-l6", SENTENCE, layer=5, head=6, at=3)
    lengths = scene.steps.weights[3] * np.linalg.norm(scene.steps.values, axis=1)
    assert scene.key_names[scene.steps.weights[3].argmax()] == "[CLS]" != scene.key_names[lengths.argmax()]
    assert labelled(step_of("sum").guess(scene)) == ["no, another does"]


def test_the_head_that_looks_most_decidedly_is_told_from_the_one_that_adds_most(asked):
    parts = asked.attention.projections
    width = asked.steps.values.shape[-1]
    lengths = [
        np.linalg.norm(asked.all_outputs[head, asked.word] @ parts.W_O[head * width : (head + 1) * width])
        for head in range(asked.info.n_heads)
    ]
    largest = [asked.attention.head(head).weights[asked.word].max() for head in range(asked.info.n_heads)]
    right = "yes" if np.argmax(largest) == np.argmax(lengths) else "no, another head adds a larger vector"
    assert labelled(step_of("heads").guess(asked)) == [right]


def test_a_word_that_sees_only_itself_leaves_nothing_to_guess(scene_of):
    scene = scene_of("toy", "Hello", mask="causal", at=0)
    for key in ("qkv", "scores", "scale", "softmax", "sum"):
        assert step_of(key).guess(scene) is None


# ---------------------------------------------------------------------------------------- judging


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=40))
def test_of_many_the_largest_is_always_offered_and_right_and_ties_count(values):
    guess = ranked("?", [str(index) for index in range(len(values))], values, "")
    offered = [values[int(name)] for name in guess.answers]
    assert max(values) in offered
    assert len(offered) == min(7, len(values))
    # Where several are right, it is said why.
    assert (str(TIE) in guess.reason) == (len(guess.right) > 1)
    for index, value in enumerate(offered):
        assert (verdict(guess, index) == "right") == (value >= max(values) - TIE)
        if verdict(guess, index) == "close":
            between = [each for each in values if value + TIE < each < max(values) - TIE]
            assert not between
            assert max(values) - value <= 0.1 * abs(max(values))


@pytest.mark.parametrize(
    ("values", "near"),
    [
        ([0.01, 0.8, 0.02, 0.01], []),
        ([1.43, 2.34, 0.1, 0.2], []),
        ([2.2, 2.34, 0.1, 0.2], [0]),
        # Far below 0, a number may be far away although much larger ones are further still.
        ([-5.0, 1.0, -100.0], []),
        # Among numbers that hardly differ, one that differs most is not near.
        ([50.0, 50.1, 50.05], []),
        ([-10.0, -10.5, -30.0], [1]),
    ],
)
def test_near_is_said_only_of_what_is_near(values, near):
    guess = ranked("?", list(map(str, values)), values, "", lambda index: comes_near(values, index))
    assert [index for index in range(len(values)) if verdict(guess, index) == "close"] == near
    assert [index for index, why in enumerate(guess.whys) if why] == near


@given(st.lists(st.floats(-100, 100), min_size=7, max_size=40), st.data())
def test_what_people_think_of_is_offered_beside_the_largest(values, data):
    natural = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=11, unique=True))
    guess = ranked("?", [str(index) for index in range(len(values))], values, "", natural=natural, most=12)
    assert len(guess.answers) == min(len(values), max(7, len(natural) + 1))
    assert set(map(str, natural)) <= set(guess.answers)
    assert max(values) in [values[int(name)] for name in guess.answers]


@given(st.integers(1, 200), st.text(max_size=20))
def test_a_number_is_offered_among_its_neighbours(value, question):
    guess = around(value, question, "")
    assert labelled(guess) == [str(value)]
    assert all(abs(int(guess.answers[index]) - value) == 1 for index in guess.close)
    assert min(map(int, guess.answers)) >= 1


def test_shares_are_judged_by_how_much_they_overlap():
    assert overlap(np.array([1.0, 1.0]), np.array([0.5, 0.5])) == 1
    assert overlap(np.array([30.0, 0.0]), np.array([0.25, 0.75])) == pytest.approx(0.25)
    guess = Guess("?", ("a", "b"), "", shares=(0.75, 0.25))
    assert [guess.judge(Answer(guess.mark, given)) for given in ((80, 20), (50, 50), (0, 9), (0, 0), (1, 1, 1))] == [
        "right",
        "close",
        "other",
        None,
        None,
    ]


def test_an_answer_to_another_question_is_none_to_this():
    one, other = (Guess(question, ("a", "b"), "", frozenset({0})) for question in ("One?", "Another?"))
    assert one.judge(Answer(other.mark, (0,))) is None
    assert one.judge(Answer(one.mark)) == "shown"
    assert one.judge(Answer(one.mark, (2,))) is None
    assert re.fullmatch("[0-9a-f]{8}", one.mark)


@given(st.one_of(st.none(), st.text(), st.integers(), st.lists(st.integers())), st.sampled_from(["choose", "share"]))
def test_a_browser_can_say_anything(value, act):
    for shape in ("one", "shares"):
        touch = Question("0a1b2c3d", "", ("a", "b"), shape)
        said = touch.said(act, value)
        if shape == "one":
            assert (said is not None) == (act == "choose" and value in (0, 1) and type(value) is int)
        else:
            fits = isinstance(value, list) and len(value) == 2 and all(0 <= share <= 100 for share in value)
            assert (said is not None) == (act == "share" and fits and any(value))


def test_the_next_word_is_asked_about_where_there_is_one():
    assert Question("0a1b2c3d", "", ("a", "b"), next_word=4).said("next", None) == {"word": "4"}
    assert Question("0a1b2c3d", "", ("a", "b")).said("next", None) is None


def test_to_be_asked_again_the_answer_goes():
    for shape in ("one", "shares"):
        assert Question("0a1b2c3d", "", ("a", "b"), shape).said("again", None) == {"answer": None}


def test_a_scene_of_one_token_has_no_question_that_has_only_one_answer(scene_of):
    scene = scene_of("minilm-l6", "!")
    for step in STEPS:
        guess = step.guess(HeadContext(scene.trace, 0, 0, 1))
        assert guess is None or len(guess.answers) >= 2, step.key
