"""Ten questions on a pupil's own sentence: selection, right answers, and what teacher and pupil see."""

import csv
import io
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.classroom import asking, own
from attention.classroom.own_store import Taken, Tally
from attention.lesson.head_context import HeadContext
from attention.lesson.questions import QUESTIONS, ready
from attention.lesson.tables import to_csv
from tests.loaded import load
from tests.unit.classroom.test_questions import TRUE, Plain

SENTENCES = (
    "The cat sat on the mat",
    "My little dog likes to chase squirrels in the park",
    "Yesterday we went to the cinema because it was raining",
    "Purple volcanoes whisper quietly tonight",
)


@pytest.fixture(scope="module", params=["toy", "minilm-l6", "smollm2-135m"])
def model(request, minilm, smollm2):
    return {"toy": load("toy"), "minilm-l6": minilm, "smollm2-135m": smollm2}[request.param]


def scene_of(model, sentence, word=2):
    trace = model.trace(sentence)
    return HeadContext(trace, trace.info.default_layer, trace.info.default_head, word)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_there_are_ten_always_the_same_in_the_order_of_the_steps(model, sentence):
    found = own.questions_on(scene_of(model, sentence))
    names = [each["name"] for each in found]
    assert len(set(names)) == len(names) == 10
    assert own.questions_on(scene_of(model, sentence)) == found
    assert names == [each.name for each in own.ASKABLE if each.name in names]


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6"])
def test_most_of_the_ten_have_another_answer_for_another_sentence(model_id, minilm):
    model = minilm if model_id == "minilm-l6" else load("toy")
    asked = [own.questions_on(scene_of(model, text)) for text in SENTENCES]
    papers = [{each["name"]: {each["answers"][index] for index in each["right"]} for each in paper} for paper in asked]
    differing = {name for one in papers for other in papers for name in one if other.get(name) != one[name]}
    assert len(differing) >= 6


def test_sentences_of_one_class_are_asked_much_the_same():
    """A teacher who looks at a question finds most of the class there."""
    toy = load("toy")
    asked = Counter(each["name"] for text in SENTENCES for each in own.questions_on(scene_of(toy, text)))
    assert list(asked.values()).count(len(SENTENCES)) >= 8


@pytest.mark.parametrize("sentence", SENTENCES)
def test_an_answer_is_right_where_the_record_says_so(model, sentence):
    scene = scene_of(model, sentence)
    # The questions of the steps are tested with the steps.
    for question in (each for each in own.questions_on(scene) if each["name"] in TRUE):
        guess = asking.unpacked(question)
        true = TRUE[question["name"]](Plain(scene), guess)
        for index, answer in enumerate(guess.answers):
            mark = own.judged(question, index)
            assert (mark.question, mark.given, mark.is_right) == (question["name"], index, answer == true)
            told = own.marked(question, index)
            assert [guess.answers[right] for right in told["right"]] == [true]
            assert (told["why"] == "") == mark.is_right


@pytest.mark.parametrize("given", [-1, 7, 99, True, 1.0])
def test_what_is_none_of_the_answers_is_none(given):
    for question in own.questions_on(scene_of(load("toy"), SENTENCES[0])):
        assert own.judged(question, given) is None


def test_before_it_is_answered_a_question_tells_nothing_of_what_is_true(model):
    for question in own.questions_on(scene_of(model, SENTENCES[1])):
        seen = own.seen(question)
        assert set(seen) == {"title", "question", "label", "answers"}
        written = json.dumps(seen)
        for hidden in (question["reason"], *filter(None, question["whys"])):
            assert json.dumps(hidden)[1:-1] not in written


def test_a_teacher_is_told_no_word_of_a_sentence(model):
    """What was thought is told without it, and an answer that is one of its words is not told at all."""
    words = {"purple", "volcano", "whisper", "quietly", "tonight"}
    for word in range(1, 5):
        scene = scene_of(model, SENTENCES[3], word)
        for question in own.ASKABLE:
            guess = question.make(scene)
            asked = None if guess is None else {"name": question.name, **asking.packed(guess)}
            for index in range(0 if guess is None else len(guess.answers)):
                mark = own.judged(asked, index)
                told = f"{mark.answer} {mark.thought}".lower()
                assert not [each for each in words if each in told]
                assert "<" not in told
                assert not (mark.thought and mark.is_right)


def test_where_one_can_see_it_is_a_step_or_a_page_of_the_app():
    from attention.lesson.steps import STEPS
    from attention.page.pages import PAGES

    places = {step.key for step in STEPS} | {page.address for page in PAGES}
    assert {question.seen_at for question in QUESTIONS} <= places


# ------------------------------------------------------------------------------------- for the teacher


def test_the_commonest_wrong_answer_is_the_one_that_most_gave():
    tallies = [
        Tally("sums", True, "", "", 4),
        Tally("sums", False, "Softmax …", "those of each column", 2),
        Tally("sums", False, "Softmax …", "all of them together", 3),
        Tally("cost", False, "twice", "12", 1),
        Tally("cost", False, "twice", "14", 1),
        Tally("zero", False, "nothing", "none", 2),
        Tally("zero", False, "as much", "the same", 2),
    ]
    sums, zero, cost = own.summary(tallies)
    assert zero["wrong"] is None
    assert (sums["title"], sums["answered"], sums["right"]) == (ready("sums").title, 9, 4)
    assert sums["wrong"] == {"answer": "all of them together", "why": "Softmax …", "count": 3}
    # Of the wrong answers, most are to one question.
    assert [each["isHardest"] for each in (sums, zero, cost)] == [True, False, False]
    # For sentences of all lengths, it is one answer.
    assert cost["wrong"] == {"answer": "", "why": "twice", "count": 2}


def test_of_questions_that_are_equally_hard_none_is_the_hardest():
    tallies = [Tally(name, False, "", "x", 3) for name in ("sums", "zero")] + [Tally("cost", False, "", "x", 2)]
    assert not any(each["isHardest"] for each in own.summary(tallies))


@given(
    st.lists(
        st.builds(
            Tally,
            st.sampled_from([each.name for each in QUESTIONS]),
            st.booleans(),
            st.just("why"),
            st.sampled_from(["x", "y 1", "y 2"]),
            st.integers(1, 30),
        ),
        max_size=20,
    )
)
def test_whatever_was_answered_is_counted_once(tallies):
    told = own.summary(tallies)
    assert sum(each["answered"] for each in told) == sum(each.count for each in tallies)
    assert sum(each["right"] for each in told) == sum(each.count for each in tallies if each.is_right)
    for each in told:
        answers = Counter()
        for tally in tallies:
            if ready(tally.question).title == each["title"] and not tally.is_right:
                answers[tally.answer.rstrip("12")] += tally.count
        leads = [count for count in answers.values() if count == max(answers.values())]
        assert (each["wrong"] or {}).get("count") == (leads[0] if len(leads) == 1 else None)


def read(taken, numbers=None):
    return list(csv.reader(io.StringIO(to_csv(own.table(taken, numbers)))))


def test_the_table_has_a_row_for_each_answer_of_each_pupil():
    right = {"sums": True, "cost": False}
    given = {"sums": "those of each row", "cost": "4"}
    asked = {"sums": "<p>Which <em>sums</em> are 1?</p>", "cost": "<p>How many?</p>", "zero": "<p>Is it 0?</p>"}
    ann = Taken("Ann", ("sums", "cost"), right, "Geese fly", given, {"cost": "-1 / 9"}, asked, "key")
    heading, *rows = read([ann, Taken("Ben", ("zero",), {}, "Rain falls", asked=asked)])
    assert heading == ["pupil", "sentence", "question", "answer", "right", "right answer"]
    assert rows == [
        ["Ann", "Geese fly", "Which sums are 1?", "those of each row", "1", ""],
        ["Ann", "Geese fly", "How many?", "4", "0", "'-1 / 9"],
    ]
    assert [row[0] for row in read([ann], {"key": "7"})] == ["pupil", "7", "7"]
    assert read([]) == [heading]


@pytest.mark.parametrize("typed", ["=1+1", "＝1", "-0.5", "007"])
def test_what_a_pupil_typed_is_text_in_every_spreadsheet(typed):
    ((_, row)) = read([Taken(typed, ("sums",), {"sums": True}, typed)])
    assert row[:2] == [f"'{typed}"] * 2
