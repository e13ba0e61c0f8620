"""What a class sees of a question, and when."""

import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from attention.classroom import asking, results
from attention.classroom.store import Answered, Asked
from attention.lesson.quiz import Guess

ONE = Guess(
    "Which <b>word</b>?",
    ("cat", "mat", "sat"),
    "It is <b>mat</b>: 0.84.",
    frozenset({1}),
    frozenset({2}),
    whys=("<p>It comes first.</p>", "", "<p>It is near.</p>"),
)
SHARES = Guess("How is it shared?", ("cat", "mat"), "0.9 and 0.1.", shares=(0.9, 0.1))


@pytest.mark.parametrize("guess", [ONE, SHARES])
def test_a_question_survives_json(guess):
    assert asking.unpacked(json.loads(json.dumps(asking.packed(guess)))) == guess


@pytest.mark.parametrize("seen", ["closed", "as it is", "hidden"])
def test_what_is_seen_meanwhile_is_kept_with_the_question(seen):
    data = json.loads(json.dumps(asking.packed(ONE, seen)))
    assert asking.meanwhile(data) == seen
    assert asking.unpacked(data) == ONE
    # A question that was asked before this was kept belongs to its view.
    assert asking.meanwhile(asking.packed(ONE)) == "closed"
    del data["meanwhile"]
    assert asking.meanwhile(data) == "closed"


@pytest.mark.parametrize("guess", [ONE, SHARES])
def test_nothing_of_what_is_true_is_told_before(guess):
    written = json.dumps(asking.seen(guess))
    assert guess.reason not in written
    assert "0.9" not in written
    assert set(asking.seen(guess)) == {"mark", "question", "label", "answers", "shape"}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ([1], Answered((1,), "right")),
        (2, Answered((2,), "close")),
        ([0], Answered((0,), "other")),
        ([3], None),
        ([], None),
        (True, None),
        ("1", None),
        (None, None),
    ],
)
def test_a_browser_can_say_anything(said, wanted):
    assert asking.given(ONE, said) == wanted


@pytest.mark.parametrize(
    ("said", "verdict"),
    [([90, 10], "right"), ([45, 5], "right"), ([70, 30], "close"), ([10, 90], "other"), ([0, 0], None), ([90], None)],
)
def test_shares_are_judged_by_how_far_they_overlap(said, verdict):
    answered = asking.given(SHARES, said)
    assert (None if answered is None else answered.verdict) == verdict


def test_the_tally_counts_each_answer_and_explains_the_commonest_wrong_one():
    answers = Counter({Answered((0,), "other"): 5, Answered((1,), "right"): 9, Answered((2,), "close"): 2})
    told = asking.told(ONE, answers)
    assert told["counts"] == [5, 9, 2]
    assert (told["right"], told["close"]) == ([1], [2])
    lead = "<p><strong>Commonest wrong answer: “<bdi>cat</bdi>” (5)</strong></p>"
    assert told["wrong"] == f"{lead}<p>It comes first.</p>"
    # It is named even if nobody says why one may think so.
    assert asking.told(replace(ONE, whys=()), answers)["wrong"] == lead
    # Neither right nor close needs an excuse, and one pupil is no crowd.
    for given, verdict, n in ((1, "right", 2), (2, "close", 2), (0, "other", 1)):
        assert asking.told(ONE, Counter({Answered((given,), verdict): n}))["wrong"] == ""
    nobody = asking.told(ONE, Counter())
    assert (nobody["counts"], nobody["wrong"]) == ([0, 0, 0], "")


def test_of_wrong_answers_that_are_as_common_none_is_the_commonest():
    none_close = replace(ONE, close=frozenset())
    tie = Counter({Answered((0,), "other"): 2, Answered((1,), "right"): 2, Answered((2,), "other"): 2})
    assert asking.told(none_close, tie)["wrong"] == ""
    assert "“<bdi>sat</bdi>” (3)" in asking.told(none_close, tie + Counter({Answered((2,), "other"): 1}))["wrong"]


def test_what_was_typed_is_text_in_the_commonest_wrong_answer():
    hostile = replace(ONE, answers=("<img src=x>", "mat", "sat"))
    told = asking.told(hostile, Counter({Answered((0,), "other"): 2}))
    assert "<bdi>&lt;img src=x&gt;</bdi>" in told["wrong"]


def test_true_shares_are_told_in_percent_and_only_of_shares():
    assert asking.told(SHARES, Counter())["shares"] == [90.0, 10.0]
    # They add up to 100, as on paper.
    thirds = replace(SHARES, answers=("a", "b", "c"), shares=(1 / 3,) * 3)
    assert asking.told(thirds, Counter())["shares"] == [33.4, 33.3, 33.3]
    # Asked again, each count stands after the first one.
    once = Counter({Answered((60, 20), "close"): 2})
    packed = asking.again(asking.packed(SHARES), once)
    assert asking.unpacked(packed) == SHARES
    assert asking.told(SHARES, Counter(), asking.before(packed))["counted"] == ["0 → 0", "2 → 0", "0 → 0"]
    assert "means" not in asking.told(SHARES, Counter())
    # Two who gave 3 : 1, and one who gave 0 : 8.
    answers = Counter({Answered((60, 20), "close"): 2, Answered((0, 8), "other"): 1})
    assert asking.told(SHARES, answers)["means"] == [50.0, 50.0]
    assert "shares" not in asking.told(ONE, Counter())


def test_each_pupil_is_told_what_the_own_answer_is_worth():
    told = asking.worth(
        SHARES,
        {"a": Answered((9, 1), "right"), "b": Answered((7, 3), "close"), "c": Answered((1, 9), "other")},
    )
    words = {"a": "Right.", "b": "Close.", "c": "Not this time."}
    assert {pupil: re.sub("<.*?>", "", said).strip() for pupil, said in told.items()} == words


def test_a_close_answer_is_neither_right_nor_wrong_in_the_table():
    answers = {"a": Answered((9, 1), "right"), "b": Answered((7, 3), "close"), "c": Answered((1, 9), "other")}
    asked = [Asked(1, asking.packed(SHARES), answers)]
    found = results.table(asked, results.numbers(asked, []))
    assert found["right"] == ["1", "close", "0"]
    # Shares can be read by a program.
    names = SHARES.answers
    for written, true in ((found["answer"][1], (0.7, 0.3)), (found["right answer"][0], SHARES.shares)):
        pairs = dict(pair.split("=") for pair in written.split(";"))
        assert {name: float(share.rstrip("%")) for name, share in pairs.items()} == pytest.approx(
            {name: 100 * share for name, share in zip(names, true, strict=True)}, abs=0.1
        )


def test_shares_are_counted_by_their_verdicts():
    answers = Counter({Answered((90, 10), "right"): 3, Answered((80, 20), "right"): 1, Answered((1, 99), "other"): 2})
    assert asking.told(SHARES, answers)["counts"] == [4, 0, 2]


def own(question="Where will it look?", answers=("cat", "mat"), right=1, is_typed=False):
    return {"question": question, "answers": list(answers), "right": right, "isTyped": is_typed}


def test_a_teachers_own_question_is_judged_and_nothing_in_it_is_interpreted():
    guess = asking.written(own("Is 1 < 2 & <b>bold</b>?", ["yes", "no "], 0))
    assert guess.question == "<p><bdi>Is 1 &lt; 2 &amp; &lt;b&gt;bold&lt;/b&gt;?</bdi></p>"
    assert guess.answers == ("yes", "no")
    assert [asking.given(guess, index).verdict for index in (0, 1)] == ["right", "other"]
    assert asking.unpacked(asking.packed(guess)) == guess


def test_in_a_poll_no_answer_is_right_or_wrong():
    poll = asking.written(own(right=None))
    answers = {"Ada": asking.given(poll, 0), "Ben": asking.given(poll, 0)}
    told = asking.told(poll, Counter(answers.values()))
    assert (told["counts"], told["right"], told["wrong"]) == ([2, 0], [], "")
    assert asking.worth(poll, answers) == {}


@pytest.mark.parametrize(
    "said",
    [
        None,
        "Where?",
        own(""),
        own(answers=["cat"]),
        own(answers=["cat", "\u200b"]),
        own(answers=["cat", "cat "]),
        own(answers=list("abcdefg")),
        own(right=2),
        {"question": "Where?", "answers": ["cat", "mat"]},
        own(answers=list("abcdefg"), is_typed=True),
    ],
)
def test_a_malformed_question_is_refused(said):
    assert asking.written(said) is None


def test_typed_answers_are_counted_by_what_they_mean():
    guess = asking.written(own("Which weight?", ["0.64", "two thirds"], None, is_typed=True))
    assert "0.64" not in json.dumps(asking.seen(guess))
    said = ["0,64", "0.640", "Two Thirds", "one", "ONE", "one", "<i>nan</i>"]
    given = [asking.given(guess, [each]) for each in said]
    assert [each.verdict for each in given] == ["right"] * 3 + ["other"] * 4
    told = asking.told(guess, Counter(given))
    assert told["labels"][0] == "one"
    assert sorted(told["counts"], reverse=True) == told["counts"] == [3, 2, 1, 1]
    assert {told["labels"][index] for index in told["right"]} == {"0,64", "Two Thirds"}
    assert [asking.given(guess, bad) for bad in ("", ["\u200b"], [3], ["a", "b"], None, {})] == [None] * 6
    assert len(asking.given(guess, ["x" * 500]).given[0]) < 100


def test_at_most_a_dozen_typed_answers_are_shown():
    guess = asking.written(own("Which?", [], None, is_typed=True))
    told = asking.told(guess, Counter(asking.given(guess, f"word {index}") for index in range(40)))
    assert len(told["counts"]) == 12
    assert told["right"] == []
