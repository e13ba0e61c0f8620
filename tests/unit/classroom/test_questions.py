"""Ready questions: right answers are recomputed here from queries, keys and values, in plain sums."""

import json
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attention.classroom import asking
from attention.core.text import clean
from attention.figures.question import Answer
from attention.lesson.head_context import HeadContext
from attention.lesson.questions import QUESTIONS, ready
from tests.loaded import load
from tests.unit.lesson.telling import facts_in

TEXTS = ("The cat sat on the mat", "The animal didn't cross the street because it was too tired.")
MODELS = ("toy", "minilm-l6", "smollm2-135m")
SHARES = ["all of them", "more than half, but not all", "half or fewer, but at least one", "none"]


def exps(scores):
    """Softmax, one number after the other."""
    parts = [math.exp(score - max(scores)) for score in scores]
    return np.array([part / sum(parts) for part in parts])


@dataclass
class Plain:
    """One head of a scene in float64, and everything that a question may be about."""

    scene: HeadContext

    def scores(self, layer, head):
        of = self.scene.trace.layers[layer]
        keys = of.keys[head * len(of.keys) // len(of.queries)]
        return of.queries[head].astype(float) @ keys.astype(float).T

    def seen(self, row):
        return range(row + 1 if self.scene.info.is_decoder else len(self.scene.tokens))

    def weights(self, layer, head):
        scores = self.scores(layer, head) / math.sqrt(self.scene.d_head)
        found = np.zeros_like(scores)
        for row in range(len(scores)):
            seen = list(self.seen(row))
            found[row, seen] = exps(scores[row, seen])
        return found

    @cached_property
    def own(self):
        return self.weights(self.scene.layer, self.scene.head)

    @cached_property
    def given(self):
        """What softmax gets in the row in focus, of the keys that are seen."""
        scores = self.scores(self.scene.layer, self.scene.head)[self.scene.word]
        return scores[list(self.seen(self.scene.word))] / math.sqrt(self.scene.d_head)

    @property
    def row(self):
        return self.own[self.scene.word]

    @property
    def choosing(self):
        return [row for row in range(len(self.own)) if len(self.seen(row)) > 1]

    @cached_property
    def values(self):
        of = self.scene.attention
        return of.values[self.scene.head * len(of.values) // len(of.queries)].astype(float)

    def at(self, name):
        return self.scene.names.index(name)


def is_first(row, key):
    """The toy likes both neighbours of a word the same."""
    return row[key] >= max(row) - 1e-4


def share_of(count, total):
    return SHARES[0 if count == total else 1 if count > total / 2 else 2 if count else 3]


def sums(plain, _):
    assert np.allclose(plain.own.sum(axis=1), 1)
    return (
        "those of each row" if abs(plain.own.sum(axis=0) - 1).max() > 0.02 else "those of each row, and of each column"
    )


def zero(plain, guess):
    facts = facts_in(guess.question, "questions/zero")
    key = plain.at(facts["key"])
    assert plain.given[key] == pytest.approx(facts["score"], abs=0.006)
    without = np.delete(np.exp(plain.given), key).sum()
    new = 1 / (without + 1)
    assert facts_in(guess.reason, "questions/zero-because")["new"] == pytest.approx(new, abs=0.006)
    return "more than now" if new > plain.row[key] else "less than now, but some"


def added(plain, _):
    assert exps(plain.given + 5) == pytest.approx(exps(plain.given))
    return "nothing"


def doubled(plain, _):
    assert exps(2 * plain.given).max() > exps(plain.given).max()
    return "the largest grows at the cost of others"


def scaled(plain, _):
    raw = exps(plain.given * math.sqrt(plain.scene.d_head))
    assert list(np.argsort(raw, kind="stable")) == list(np.argsort(plain.given, kind="stable"))
    return f"the order stays; the largest weight {'shrinks' if raw.max() > plain.row.max() else 'grows'}"


def negative(plain, guess):
    facts = facts_in(guess.question, "questions/negative")
    row, key = plain.at(facts["query"]), plain.at(facts["key"])
    scores = plain.scores(plain.scene.layer, plain.scene.head) / math.sqrt(plain.scene.d_head)
    assert facts["score"] == pytest.approx(
        min(scores[each, other] for each in plain.choosing for other in plain.seen(each)), abs=0.006
    )
    assert facts["score"] < 0 < plain.own[row, key]
    return "one above 0"


def after(plain, guess):
    facts = facts_in(guess.question, "questions/after") | facts_in(guess.reason, "questions/after-because")
    key, other = plain.at(facts["key"]), plain.at(facts["other"])
    rest = np.delete(plain.row, key)
    assert facts["rest"] == pytest.approx(rest.sum(), abs=0.006)
    kept = [each for each in plain.seen(plain.scene.word) if each != key]
    masked = dict(zip(kept, exps(plain.given[kept]), strict=True))
    assert facts["shared"] == pytest.approx(masked[other], abs=0.006)
    return "to less than 1" if rest.sum() < 1 else "to 1, as before"


def even(plain, guess):
    facts = facts_in(guess.question, "questions/even")

    def evenness(name):
        row = plain.at(name)
        shares = plain.own[row][plain.own[row] > 0]
        return -sum(share * math.log(share) for share in shares) / math.log(len(plain.seen(row)))

    return f"those of {max(facts['one'], facts['two'], key=evenness)}"


def symmetric(plain, guess):
    facts = facts_in(guess.question, "questions/symmetric")
    scores = plain.scores(plain.scene.layer, plain.scene.head)
    focus, other = plain.at(facts["focus"]), plain.at(facts["other"])
    forth, back = scores[focus, other], scores[other, focus]
    assert facts["forth"] == pytest.approx(forth, abs=0.006)
    if abs(forth - back) < 0.005:
        return "the same number"
    return "the same number, opposite sign" if abs(forth + back) < 0.005 else "a different number"


def largest(plain, _):
    rows = plain.choosing
    scores = plain.scores(plain.scene.layer, plain.scene.head)
    best = max((scores[row, key], row) for row in rows for key in plain.seen(row))[1]
    heaviest = max((plain.own[row, key], row) for row in rows for key in plain.seen(row))[1]
    return "at that pair" if best == heaviest else "in another row"


def itself(plain, _):
    return share_of(sum(is_first(plain.own[row], row) for row in plain.choosing), len(plain.choosing))


def longer(plain, guess):
    facts = facts_in(guess.question, "questions/longer")
    names = facts["one"], facts["two"]
    parts = [math.dist(plain.row[at] * plain.values[at], 0 * plain.values[at]) for at in map(plain.at, names)]
    assert (parts[0] < parts[1]) == (plain.row[plain.at(names[0])] > plain.row[plain.at(names[1])])
    return names[int(parts[1] > parts[0])]


def special(plain, guess):
    idle = [each.position for each in plain.scene.tokens if each.is_special] or [0]
    share = float(np.mean([sum(plain.own[row, key] for key in idle) for row in plain.choosing]))
    fair = float(np.mean([len(idle) / len(plain.seen(row)) for row in plain.choosing]))
    assert f"{0.8 * fair:.2f}" in guess.answers[0]
    assert f"{1.2 * fair:.2f}" in guess.answers[2]
    return guess.answers[0 if share < 0.8 * fair else 1 if share < 1.2 * fair else 2]


def first(_plain, _guess):
    return "only itself, with weight 1"


def mean(plain, guess):
    n_heads = plain.scene.info.n_heads
    rows = [plain.weights(plain.scene.layer, head)[plain.scene.word] for head in range(n_heads)]
    best = int((sum(rows) / n_heads).argmax())
    assert facts_in(guess.question, "questions/mean")["best"] == plain.scene.names[best]
    return share_of(sum(is_first(row, best) for row in rows), n_heads)


def namesake(plain, guess):
    scene = plain.scene
    words = [each for each in plain.seen(scene.word) if scene.tokens[each].typed.strip().strip("'.")]
    rows = [plain.weights(layer, scene.head)[scene.word] for layer in range(len(scene.trace.layers))]
    own = max(words, key=rows.pop(scene.layer).__getitem__)
    assert facts_in(guess.question, "questions/namesake")["best"] == scene.names[own]
    return share_of(sum(row[own] >= max(row[words]) - 1e-4 for row in rows), len(rows))


def mixed(plain, guess):
    scene, W_O = plain.scene, plain.scene.attention.projections.W_O
    dimension = scene.dimension_names.index(facts_in(guess.question, "questions/mixed")["dimension"])
    width, parts = plain.values.shape[-1], []
    for head in range(scene.info.n_heads):
        values = scene.attention.values[head * len(scene.attention.values) // scene.info.n_heads]
        output = plain.weights(scene.layer, head)[scene.word] @ values
        parts.append(output @ W_O[head * width : (head + 1) * width, dimension])
    count = sum(abs(part) > 1e-5 for part in parts)
    every = f"all {scene.info.n_heads}"
    return every if count == len(parts) else SINGLE if count == 1 else "several, but not all"


SINGLE = "one: each head fills its own numbers"


def shape(plain, _):
    return " × ".join(map(str, (plain.own @ plain.values).shape))


def rows(_plain, _guess):
    return "both the same"


def equal(plain, guess):
    facts = facts_in(guess.question, "questions/equal")
    one, other = (plain.at(facts[name]) for name in ("one", "other"))
    assert plain.scene.labels[one] == plain.scene.labels[other]
    x = plain.scene.trace.layers[plain.scene.layer].inputs
    told = facts_in(guess.reason, "questions/equal-because")
    assert told["difference"] == pytest.approx(math.dist(x[one], x[other]), abs=0.006)
    return "yes, number for number"


def turned(plain, guess):
    """Read the words in reverse, from their vectors on, without what tells their places."""
    scene, trace = plain.scene, plain.scene.trace
    parts, layer = trace.embeddings, trace.layers[0]
    facts = facts_in(guess.question, "questions/turned")
    one, other = plain.at(facts["one"]), plain.at(facts["other"])
    vectors = parts.words if parts.segments is None else parts.words + parts.segments
    for norm in (parts.norm, layer.norm):
        vectors = vectors if norm is None else norm(vectors)
    width, own = scene.d_head, layer.projections
    of_query, of_key = scene.head, scene.head // scene.info.group_size

    def made(weight, bias, head):
        columns = slice(head * width, (head + 1) * width)
        return vectors @ weight[:, columns] + (0 if bias is None else bias[columns])

    scores = made(own.W_Q, own.b_Q, of_query) @ made(own.W_K, own.b_K, of_key).T / math.sqrt(width)
    words = [each for each in range(len(scene.tokens)) if scene.tokens[each].typed.strip().strip("'.")]
    order = list(range(len(scene.tokens)))
    for place, token in zip(words, reversed(words), strict=True):
        order[place] = token
    found = []
    for tokens in (list(range(len(order))), order):
        seen = [tokens[place] for place in plain.seen(tokens.index(one))]
        found.append(dict(zip(seen, exps(scores[one][seen]), strict=True)).get(other, 0.0))
    assert facts["before"] == pytest.approx(found[0], abs=0.006)
    is_same = found[0] == pytest.approx(found[1], abs=1e-4)
    return "the same number" if is_same else "a different number: the positions differ"


def cost(plain, _):
    return f"{(2 * len(plain.scene.tokens)) ** 2:,}"


TRUE = {
    each.__name__: each
    for each in (
        sums,
        zero,
        added,
        doubled,
        scaled,
        negative,
        after,
        even,
        symmetric,
        largest,
        itself,
        longer,
        special,
        first,
        mean,
        namesake,
        mixed,
        shape,
        rows,
        equal,
        turned,
        cost,
    )
}


@pytest.fixture(scope="module", params=[(model, text) for model in MODELS for text in TEXTS], ids=str)
def traced(request, minilm, smollm2):
    model_id, text = request.param
    return {"toy": load("toy"), "minilm-l6": minilm, "smollm2-135m": smollm2}[model_id].trace(text)


@pytest.fixture(params=[1, 3, 5])
def scene(request, traced):
    info = traced.info
    return HeadContext(traced, info.default_layer, info.default_head, request.param)


def test_what_is_right_in_every_question_is_what_the_model_did(scene):
    plain = Plain(scene)
    guesses = {question.name: question.make(scene) for question in QUESTIONS}
    right = {name: [guess.answers[at] for at in guess.right] for name, guess in guesses.items() if guess is not None}
    assert right == {name: [TRUE[name](plain, guesses[name])] for name in right}


def expect_well_made(guess):
    """Told in full, with one right answer, and a word on each of the others."""
    assert "$" not in guess.question + guess.reason + "".join(guess.whys)
    assert len(set(guess.answers)) == len(guess.answers) >= 2
    (right,) = guess.right
    assert [bool(why) for why in guess.whys] == [index != right for index in range(len(guess.answers))]
    assert guess.judge(Answer(guess.mark, (right,))) == "right"
    assert asking.unpacked(json.loads(json.dumps(asking.packed(guess, "hidden")))) == guess


def that_fit(scene):
    return [each for each in QUESTIONS if each.make(scene) is not None]


def test_a_question_is_told_in_full(scene):
    for question in that_fit(scene):
        expect_well_made(question.make(scene))


@pytest.mark.parametrize("at", range(8))
def test_nearly_all_questions_fit_the_first_example_on_bert(minilm, at):
    trace = minilm.trace(TEXTS[0])
    assert len(that_fit(HeadContext(trace, trace.info.default_layer, trace.info.default_head, at))) >= 18


def test_most_questions_can_be_answered_wrongly_and_rightly_somewhere(minilm, smollm2):
    """What is right depends on the text and the head where it can."""
    found = {}
    for model in (minilm, smollm2, load("toy")):
        trace = model.trace(TEXTS[1])
        for layer in range(0, len(trace.layers), 3):
            for head in range(0, trace.info.n_heads, 2):
                place = HeadContext(trace, layer, head, 4)
                for question in QUESTIONS:
                    guess = question.make(place)
                    if guess is not None:
                        found.setdefault(question.name, set()).update(guess.right)
    assert set(found) == {each.name for each in QUESTIONS}
    changing = {name for name, right in found.items() if len(right) > 1}
    assert changing >= {"zero", "even", "largest", "itself", "longer", "special", "mean", "namesake", "turned"}


@pytest.mark.parametrize("text", ["a", "mat", "no no", "a b c"])
@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
def test_where_there_is_no_such_case_nothing_is_asked(text, mask):
    trace = load("toy").trace(text, mask=mask)
    for word in range(len(trace.tokens)):
        for question in that_fit(HeadContext(trace, 0, 1, word)):
            expect_well_made(question.make(HeadContext(trace, 0, 1, word)))
    alone = {"after", "zero", "sums", "itself", "largest", "even", "longer", "symmetric", "turned", "equal"}
    if len(trace.tokens) == 1:
        assert not alone & {each.name for each in that_fit(HeadContext(trace, 0, 1, 0))}


@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
def test_two_texts_are_not_taken_for_one(part):
    trace = load("translator-fr-en").trace("le petit chat noir dort").part(part)
    scene = HeadContext(trace, 0, 1, 1)
    found = {each.name: each.make(scene) for each in that_fit(scene)}
    for guess in found.values():
        expect_well_made(guess)
    (right,) = found["rows"].right
    n_queries, n_keys = len(trace.tokens), len(trace.key_tokens)
    assert right == (2 if n_queries == n_keys else int(n_keys > n_queries))
    assert ("cost" in found) == ("itself" in found) == (part != "cross")


@settings(max_examples=25)
@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=7).map(" ".join), st.integers(0, 2), st.data())
def test_whatever_is_typed_is_asked_about_as_text(text, head, data):
    assume(clean(text))
    trace = load("toy").trace(text)
    scene = HeadContext(trace, 0, head, data.draw(st.integers(0, len(trace.tokens) - 1)))
    for question in that_fit(scene):
        guess = question.make(scene)
        assert len(guess.right) == 1
        assert len(set(guess.answers)) == len(guess.answers)
        assert "<script" not in guess.question


def test_what_is_typed_stays_text():
    scene = HeadContext(load("toy").trace("<script>x</script> <b>cat</b> <b>cat</b> $mat"), 0, 1, 1)
    for question in that_fit(scene):
        guess = question.make(scene)
        told = guess.question + guess.reason + "".join(guess.whys)
        assert "<script" not in told
        assert "<b>cat" not in told


def test_each_has_a_name_and_a_title_of_its_own():
    assert len({each.name for each in QUESTIONS}) == len({each.title for each in QUESTIONS}) == len(QUESTIONS) >= 20
    assert all(ready(each.name) is each for each in QUESTIONS)
    assert ready("nothing") is None
    assert set(TRUE) == {each.name for each in QUESTIONS}
