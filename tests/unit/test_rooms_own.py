"""Ten questions on pupils' own sentences, as served: what pupils see, and what only teachers see."""

import asyncio
import csv
import io
import json
import threading

import pytest
from starlette.testclient import TestClient

from attention.classroom import own_questions
from attention.classroom.limits import Limit
from attention.classroom.room_limits import Limits
from attention.classroom.rooms import Rooms
from attention.lesson.prose import without_tags
from tests.unit.test_room_copies import joined, opened
from tests.unit.test_rooms import ROOM

LINK = {"page": "step_by_step", "link": "model=toy&step=scores&text=Two+geese+fly"}
SENTENCE = "My little dog likes to chase squirrels in the park"
HOSTILE = "<img src=x onerror=alert(1)> & the dog"


class Class:
    """A room on one server, its teacher, and how it is asked."""

    def __init__(self, app, link=LINK):
        self.app, self.teacher = app, TestClient(app)
        self.code = self.teacher.post(f"{ROOM}/open", json=link).json()["code"]

    def at(self, act):
        return f"{ROOM}/{self.code}/{act}"

    def start(self, *, asks_nickname=False):
        answer = self.teacher.post(self.at("own/start"), json={"asksNickname": asks_nickname})
        assert answer.status_code == 200
        return self

    def pupil(self):
        found = TestClient(self.app)
        assert found.post(self.at("join")).status_code == 200
        return found

    def begin(self, pupil, text=SENTENCE, number=1, **said):
        # A client would refuse half of a pair of surrogates, which JSON may have.
        return pupil.post(self.at("own/begin"), content=json.dumps({"number": number, "text": text, **said}))

    def answer(self, pupil, place, given=0, number=1):
        return pupil.post(self.at("own/answer"), json={"number": number, "place": place, "given": given})

    def pupils(self):
        return self.teacher.get(self.at("own/pupils")).json()["pupils"]

    def rows(self):
        answer = self.teacher.get(self.at("own/results.csv"))
        assert answer.headers["content-disposition"].startswith("attachment")
        return list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))

    def told(self):
        return asyncio.run(self.app.hall.own.told_teacher(self.code))


@pytest.fixture
def school(app):
    return Class(app)


def test_a_pupil_answers_ten_questions_and_the_teacher_sees_how_many_were_right(school):
    school.start()
    one, other = school.pupil(), school.pupil()
    questions = school.begin(one).json()["questions"]
    assert len(questions) == 10
    school.begin(other, "Yesterday we went to the cinema because it was raining")
    rights = []
    for place, question in enumerate(questions):
        assert not {"right", "reason", "why", "given", "way"} & set(question)
        marked = school.answer(one, place, 1).json()
        assert marked["reason"]
        assert not (marked["why"] and 1 in marked["right"])
        rights.append(1 in marked["right"])
    school.answer(other, 0)
    told = school.told()
    assert (told["begun"], told["finished"], told["isOpen"]) == (2, 1, True)
    assert told["underWay"] == [(2, 1)]
    by_title = {each["title"]: each for each in told["questions"]}
    for place, question in enumerate(questions[1:], 1):
        found = by_title[question["title"]]
        assert (found["answered"], found["right"]) == (1, int(rights[place]))
        assert not (found["wrong"] and rights[place])
    # A pupil has the same number in all files of the class.
    own = {"question": "Where?", "answers": ["sky", "pond"], "right": 1, "isTyped": False}
    for pupil in (school.pupil(), other):
        school.teacher.post(school.at("ask"), json={"own": own})
        asked = school.app.hall.database.do(lambda store: store.room(school.code)).number
        assert pupil.post(school.at("answer"), json={"number": asked, "given": [1]}).status_code == 200
    files = (school.teacher.get(school.at(f"{name}results.csv")).text for name in ("own/", ""))
    of_ten, asked = (list(csv.DictReader(io.StringIO(file.removeprefix("\ufeff")))) for file in files)
    (number,) = {row["pupil"] for row in of_ten if row["sentence"].startswith("Yesterday")}
    assert asked[1]["pupil"] == number != asked[0]["pupil"]
    assert {row["right answer"] for row in asked} == {"pond"}
    # The class sees counts only, once the round is over.
    assert asyncio.run(school.app.hall.own.results(school.code)) is None
    school.teacher.post(school.at("own/finish"))
    assert asyncio.run(school.app.hall.own.results(school.code))["questions"] == told["questions"]
    _, *rows = school.rows()
    first, second = sorted(([row[1:] for row in rows if row[0] == n] for n in {row[0] for row in rows}), key=len)[::-1]
    assert len(second) == 1
    assert {row[0] for row in second} == {"Yesterday we went to the cinema because it was raining"}
    for row, question, is_right in zip(first, questions, rights, strict=True):
        assert row[1:4] == [without_tags(question["question"]), question["answers"][1], str(int(is_right))]
        # The right answer stands beside what was chosen.
        assert (row[2] in row[4].split(" / ")) == is_right


@pytest.mark.slow
def test_the_model_is_that_of_the_class_where_it_reads_sentences(app):
    expected = {"toy": "Toy: layer 1, head 3", "minilm-l6": "MiniLM: layer 2, head 3", "vit-digits": "MiniLM: layer"}
    for model, place in expected.items():
        school = Class(app, {"page": "step_by_step", "link": f"model={model}&layer=2&head=3"}).start()
        assert school.begin(school.pupil()).json()["about"].startswith(place)


def test_what_is_told_leads_to_where_it_is_seen(school):
    school.start()
    pupil = school.pupil()
    school.begin(pupil, HOSTILE)
    ways = [school.answer(pupil, place).json()["way"] for place in range(10)]
    assert all(way.startswith("./") for way in ways)
    assert all("text=%3Cimg" in way and "<" not in way for way in ways)
    assert any("step_by_step" in way and "step=softmax" in way for way in ways)
    assert any("all_heads" in way for way in ways)


def test_what_is_typed_is_text(school):
    school.start(asks_nickname=True)
    pupil = school.pupil()
    found = school.begin(pupil, HOSTILE, nickname="<b>Ann</b>").json()
    assert found["sentence"] == HOSTILE
    told = [question["question"] for question in found["questions"]]
    told += [school.answer(pupil, place, 2).json()["reason"] for place in range(10)]
    assert "<img" not in "".join(told)
    # In JSON, it is text; the page writes it as such.
    assert [each["nickname"] for each in school.pupils()] == ["<b>Ann</b>"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Type a sentence"),
        (" \n\u202e ", "Type a sentence"),
        (None, "Type a sentence"),
        (["The cat"], "Type a sentence"),
        ("word " * 60, "This sentence has 300 characters"),
    ],
)
def test_what_is_no_sentence_is_said_so(school, text, sentence):
    school.start()
    answer = school.begin(school.pupil(), text)
    assert answer.status_code == 400
    assert answer.json()["told"].startswith(sentence)
    assert school.told()["begun"] == 0


@pytest.mark.parametrize(
    "text", ["a\x00b\ud800 \u202ecat", "\U0001f40d " * 20, "المدرسة قريبة من البيت", "x" * 200, "hello"]
)
def test_whatever_is_typed_is_asked_about(school, text):
    school.start()
    pupil = school.pupil()
    found = school.begin(pupil, text).json()
    assert 0 < len(found["questions"]) <= 10
    assert school.answer(pupil, 0).status_code == 200


def test_a_nickname_is_asked_for_only_by_the_teacher_and_shown_to_nobody_else(school):
    school.start()
    pupil = school.pupil()
    school.begin(pupil, nickname="Ann")
    assert [each["nickname"] for each in school.pupils()] == [""]
    school.start(asks_nickname=True)
    for nickname in ("", " \u202e", "\u200b", "\u3164 \u2800", "x" * 25, None, 7):
        assert school.begin(pupil, number=2, nickname=nickname).status_code == 400
    assert school.begin(pupil, number=2, nickname=" =Ann \u202e").status_code == 200
    assert [each["nickname"] for each in school.pupils()] == ["=Ann"]
    school.answer(pupil, 0, number=2)
    assert school.rows()[1][0] == "'=Ann"
    for stranger in (school.pupil(), pupil, TestClient(school.app), Class(school.app).teacher):
        for act in ("own/pupils", "own/results.csv"):
            answer = stranger.get(school.at(act))
            assert answer.status_code == 403
            assert "Ann" not in answer.text


@pytest.mark.parametrize("act", ["own/start", "own/finish"])
def test_only_the_teacher_begins_and_ends(school, act):
    school.start()
    for stranger in (school.pupil(), TestClient(school.app), Class(school.app).teacher):
        assert stranger.post(school.at(act), json={}).status_code == 403
    assert school.told()["number"] == 1
    assert school.told()["isOpen"]


def test_an_answer_needs_a_round_a_place_in_it_and_sense(school):
    pupil = school.pupil()
    assert school.begin(pupil).status_code == 409
    school.start()
    assert school.begin(pupil, number=2).status_code == 409
    assert school.begin(TestClient(school.app)).status_code == 403
    assert school.answer(pupil, 0).status_code == 409
    school.begin(pupil)
    for place in (10, -1, True, "0", None):
        assert school.answer(pupil, place).status_code == 400
    for given in (9, -1, None, [0], True):
        assert school.answer(pupil, 0, given).status_code == 400
    assert school.answer(pupil, 0, number=2).status_code == 409
    assert school.answer(pupil, 0).status_code == 200
    school.teacher.post(school.at("own/finish"))
    assert school.answer(pupil, 1).status_code == 409
    assert school.told()["questions"][0]["answered"] == 1
    assert pupil.post(school.at("own/begin"), content=b"x" * (Limits().body + 1)).status_code == 413


def test_a_question_ends_as_everybody_is_on_their_own(school):
    school.teacher.post(school.at("ask"), json={"ready": "cost"})
    school.start()
    assert school.app.hall.database.do(lambda store: store.room(school.code)).question is None


def test_one_pupil_cannot_keep_the_model_busy(school):
    school.start()
    pupil, other = school.pupil(), school.pupil()
    tried = [school.begin(pupil).status_code for _ in range(9)]
    assert tried == [200] * 6 + [429] * 3
    assert school.begin(other).status_code == 200
    answers = [school.answer(pupil, 0).status_code for _ in range(24)]
    assert set(answers[:20]) == {200}
    assert 429 in answers


def test_one_room_cannot_keep_the_model_busy(app):
    school = Class(Rooms(limits=Limits(sentences_of_room=Limit(2, 60))))
    other = Class(school.app).start()
    school.start()
    assert [school.begin(school.pupil()).status_code for _ in range(3)] == [200, 200, 429]
    assert other.begin(other.pupil()).status_code == 200


def test_nothing_of_it_is_logged(school, caplog, monkeypatch):
    school.start(asks_nickname=True)
    pupil = school.pupil()
    school.begin(pupil, nickname="Ann")
    school.answer(pupil, 0)

    def fail(link, text):
        raise ZeroDivisionError(text)

    monkeypatch.setattr(own_questions, "_questions", fail)
    assert school.begin(school.pupil(), nickname="Ann").status_code == 500
    for secret in ("squirrels", "Ann"):
        assert secret not in caplog.text


# ------------------------------------------------------------------------------------- many at once


def test_thirty_at_once_are_read_one_after_another(app, monkeypatch):
    reading, most, lock = 0, 0, threading.Lock()
    questions = own_questions._questions

    def counted(link, text):
        nonlocal reading, most
        with lock:
            reading += 1
            most = max(most, reading)
        try:
            return questions(link, text)
        finally:
            with lock:
                reading -= 1

    monkeypatch.setattr(own_questions, "_questions", counted)

    async def lesson():
        teacher, code = await opened(app)
        await teacher.post(app, f"{code}/own/start")
        pupils = [await joined(app, code) for _ in range(30)]
        said = [{"number": 1, "text": f"{SENTENCE} number {n}"} for n in range(30)]
        answers = await asyncio.gather(
            *(pupil.post(app, f"{code}/own/begin", each) for pupil, each in zip(pupils, said, strict=True))
        )
        assert {status for status, _ in answers} == {200}
        assert [found["sentence"] for _, found in answers] == [each["text"] for each in said]

    asyncio.run(lesson())
    assert most == 1


def test_a_full_queue_says_so_and_a_small_room_does_not_wait_for_a_large_one(app, monkeypatch):
    app = Rooms(limits=Limits(waiting_sentences=8))
    order, asked, all_asked = [], [], threading.Event()
    questions, sentence = own_questions._questions, own_questions._sentence

    def read(link, text):
        # The model is busy until everybody has asked: how many are refused does not depend on how quick it is.
        assert all_asked.wait(60)
        order.append(text)
        return questions(link, text)

    def typed(said):
        asked.append(said)
        if len(asked) == 13:
            # Whoever asks has a place in the queue before the loop goes on to this.
            asyncio.get_running_loop().call_soon(all_asked.set)
        return sentence(said)

    monkeypatch.setattr(own_questions, "_questions", read)
    monkeypatch.setattr(own_questions, "_sentence", typed)

    async def lesson():
        rooms = [await opened(app) for _ in range(2)]
        for teacher, code in rooms:
            await teacher.post(app, f"{code}/own/start")
        (_, large), (_, small) = rooms
        many, one = [await joined(app, large) for _ in range(12)], await joined(app, small)
        waiting = [
            asyncio.create_task(pupil.post(app, f"{large}/own/begin", {"number": 1, "text": f"large {n} room"}))
            for n, pupil in enumerate(many)
        ]
        alone = asyncio.create_task(one.post(app, f"{small}/own/begin", {"number": 1, "text": "a small room"}))
        answers = await asyncio.gather(*waiting)
        assert (await alone)[0] == 200
        refused = [said for status, said in answers if status == 503]
        assert len(refused) == 4
        assert all(said["isAway"] for said in refused)

    asyncio.run(lesson())
    assert len(order) == 9
    # One of the other room is being read when the last has asked, and one may be next.
    assert order.index("a small room") <= 2


# ------------------------------------------------------------------------------------- over time, and on copies


@pytest.mark.slow
def test_who_comes_back_finds_what_was_answered_even_on_another_server(app):
    async def lesson():
        teacher, code = await opened(app)
        pupil = await joined(app, code)
        async with pupil.follow(app, f"{code}/events") as screen, teacher.follow(app, f"{code}/desk") as desk:
            await screen.until("view", bool)
            assert screen.latest["own"] is None
            assert screen.latest["paper"] is None
            await teacher.post(app, f"{code}/own/start", {"asksNickname": True})
            await screen.until("own", lambda told: told and told["number"] == 1)
            assert screen.latest["own"]["asksNickname"]
            await pupil.post(app, f"{code}/own/begin", {"number": 1, "text": SENTENCE, "nickname": "Ann"})
            _, marked = await pupil.post(app, f"{code}/own/answer", {"number": 1, "place": 3, "given": 1})
            await desk.until("own", lambda told: told and told["questions"] and told["begun"] == 1)
        again = Rooms()
        async with pupil.follow(again, f"{code}/events") as screen, teacher.follow(again, f"{code}/desk") as desk:
            await screen.until("paper", bool)
            await desk.until("own", lambda told: told and told["begun"] == 1)
            paper = screen.latest["paper"]
            assert paper["sentence"] == SENTENCE
            assert [each.get("given") for each in paper["questions"]] == [None] * 3 + [1] + [None] * 6
            assert paper["questions"][3]["reason"] == marked["reason"]
            # A nickname is in nothing that is sent by itself.
            assert "Ann" not in str(screen.latest) + str(desk.latest)
            await teacher.post(again, f"{code}/own/finish")
            await screen.until("own", lambda told: told is None)
            await desk.until("own", lambda told: not told["isOpen"])
        again.stop()

    asyncio.run(lesson())


@pytest.mark.slow
def test_what_is_begun_on_one_copy_is_answered_on_another(copies):
    here, there = copies

    async def lesson():
        teacher, code = await opened(here)
        pupil = await joined(there, code)
        async with teacher.follow(here, f"{code}/desk") as desk, pupil.follow(there, f"{code}/events") as screen:
            await screen.until("view", bool)
            await teacher.post(here, f"{code}/own/start")
            await screen.until("own", bool)
            status, found = await pupil.post(there, f"{code}/own/begin", {"number": 1, "text": SENTENCE})
            assert status == 200
            for place, app in enumerate((there, here) * 5):
                said = {"number": 1, "place": place, "given": 0}
                assert (await pupil.post(app, f"{code}/own/answer", said))[0] == 200
            await desk.until("own", lambda told: told and told["finished"] == 1)
            assert {each["answered"] for each in desk.latest["own"]["questions"]} == {1}
            assert len(desk.latest["own"]["questions"]) == len(found["questions"])
            await teacher.post(there, f"{code}/own/finish")
            await screen.until("own", lambda told: told is None)

    asyncio.run(lesson())
