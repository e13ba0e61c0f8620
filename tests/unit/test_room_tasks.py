"""Requests about tasks: who may set one, which links are judged, and what everyone sees."""

import json
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from starlette.testclient import TestClient

from attention.classroom.room_limits import Limits
from attention.classroom.rooms import Rooms
from attention.classroom.submission import judge, view_of
from attention.lesson.tasks import TASKS, UnfitError, task_of
from attention.page.pages import ALL_HEADS, COMPARE, FRONT, PAGES
from tests.unit.saying import says

ROOM = "/_attention/room"
BERT = "minilm-l6"
TEXT = "The old baker opened the small shop before sunrise"
RIGHT = "/all_heads?" + urlencode({"model": BERT, "layer": "1", "head": "3", "text": TEXT})
WRONG = "/all_heads?" + urlencode({"model": BERT, "layer": "4", "head": "3", "text": TEXT})
HOST = "testserver"


@pytest.fixture
def code(teacher):
    shown = {"page": "step_by_step", "link": urlencode({"model": BERT, "layer": "2", "head": "5", "text": TEXT})}
    return teacher.post(f"{ROOM}/open", json=shown).json()["code"]


@pytest.fixture
def new_pupil(app, code):
    def make():
        pupil = TestClient(app)
        pupil.post(f"{ROOM}/{code}/join")
        return pupil

    return make


def set_task(teacher, code, name):
    answer = teacher.post(f"{ROOM}/{code}/task", json={"name": name})
    assert answer.status_code == 200
    return answer


def hand_in(pupil, code, link, number=1):
    return pupil.post(f"{ROOM}/{code}/hand-in", json={"number": number, "link": link})


def test_a_wrong_and_then_a_right_head_are_judged_at_once_and_the_best_counts(teacher, code, new_pupil):
    pupil = new_pupil()
    assert pupil.get(f"{ROOM}/{code}/task").json() == {"task": None, "handed": None, "asks": False}
    set_task(teacher, code, "previous")
    asked = pupil.get(f"{ROOM}/{code}/task").json()["task"]
    assert asked["title"] == "Previous token"
    # It begins with the sentence that the class sees.
    assert urlsplit(asked["start"]).path == "./all_heads"
    assert dict(parse_qsl(urlsplit(asked["start"]).query)) == {"model": BERT, "text": TEXT, "find": "previous"}
    assert "Rule:" in asked["rule"]
    assert asked["told"] is None
    first = hand_in(pupil, code, WRONG).json()
    assert not first["verdict"]["isSolved"]
    assert first["verdict"]["headline"].startswith("Not yet. Score: 0.")
    assert first["best"] == first["verdict"]
    second = hand_in(pupil, code, f"http://{HOST}{RIGHT}").json()
    assert second["verdict"]["isSolved"]
    assert says(second["verdict"]["told"], "1", "3", "MiniLM")
    third = hand_in(pupil, code, WRONG).json()
    assert third["verdict"] == first["verdict"]
    assert third["best"] == second["best"] == second["verdict"]
    assert pupil.get(f"{ROOM}/{code}/task").json()["handed"] == {"number": 1, "best": second["verdict"]}


def test_the_best_are_shown_to_all_with_the_reveal_and_not_before(teacher, code, new_pupil):
    set_task(teacher, code, "previous")
    near, far, late = new_pupil(), new_pupil(), new_pupil()
    hand_in(near, code, RIGHT)
    hand_in(far, code, WRONG)
    assert late.get(f"{ROOM}/{code}/task").json()["task"]["told"] is None
    assert teacher.post(f"{ROOM}/{code}/reveal-task").status_code == 200
    told = late.get(f"{ROOM}/{code}/task").json()["task"]["told"]
    assert (told["handed"], told["solved"]) == (2, 1)
    # Where somebody has found it, what is no solution is not shown.
    assert [each["isSolved"] for each in told["best"]] == [True]
    assert told["best"][0]["address"].startswith("./all_heads?")
    assert "over" in hand_in(late, code, RIGHT).json()["told"]
    teacher.post(f"{ROOM}/{code}/end-task")
    assert late.get(f"{ROOM}/{code}/task").json()["task"] is None


def test_where_nobody_has_found_it_a_true_solution_is_shown(teacher, code, new_pupil):
    set_task(teacher, code, "previous")
    hand_in(new_pupil(), code, WRONG)
    teacher.post(f"{ROOM}/{code}/reveal-task")
    told = new_pupil().get(f"{ROOM}/{code}/task").json()["task"]["told"]
    assert (told["handed"], told["solved"]) == (1, 0)
    (ours,) = told["best"]
    assert "Nobody" in ours["headline"]
    # The judge finds it as good, on its own.
    found = judge(task_of("previous"), None, view_of(ours["address"], HOST))
    assert found.is_solved
    assert found.told == ours["told"]


@pytest.mark.parametrize(("name", "text"), [("previous", "The cat sat"), ("adjective", "The cat sat on the mat")])
def test_a_task_that_the_class_sentence_does_not_suit_begins_with_its_own(teacher, code, new_pupil, name, text):
    teacher.post(f"{ROOM}/{code}/show", json={"page": "all_heads", "link": urlencode({"model": BERT, "text": text})})
    set_task(teacher, code, name)
    start = new_pupil().get(f"{ROOM}/{code}/task").json()["task"]["start"]
    assert dict(parse_qsl(urlsplit(start).query)) == {**task_of(name).start(), "find": name}


def test_a_task_stays_while_the_teacher_shows_something_else(teacher, code, new_pupil):
    set_task(teacher, code, "previous")
    teacher.post(f"{ROOM}/{code}/show", json={"page": "masks", "link": "model=toy"})
    assert new_pupil().get(f"{ROOM}/{code}/task").json()["task"]["number"] == 1


def test_a_task_about_a_head_is_about_the_one_on_the_screen(teacher, code, new_pupil):
    set_task(teacher, code, "change")
    pupil = new_pupil()
    asked = pupil.get(f"{ROOM}/{code}/task").json()["task"]
    assert says(asked["rule"], "2", "5", "MiniLM")
    assert {"model=minilm-l6", "layer=2", "head=5"} <= set(asked["start"].partition("?")[2].split("&"))
    two = {"model": BERT, "text": "The river bank was wet today", "versus": "The river bank was red today"}
    other = hand_in(pupil, code, f"compare?{urlencode({**two, 'layer': 2, 'head': 6})}")
    assert says(other.json()["told"], "2", "6", "MiniLM", "2", "5", "MiniLM")
    own = hand_in(pupil, code, f"compare?{urlencode({**two, 'layer': 2, 'head': 5})}").json()
    assert 0 <= float(own["verdict"]["score"]) <= 1


def test_a_head_of_a_picture_is_no_task(teacher, code):
    teacher.post(f"{ROOM}/{code}/show", json={"page": "step_by_step", "link": "model=vit-digits"})
    answer = teacher.post(f"{ROOM}/{code}/task", json={"name": "change"})
    assert answer.status_code == 409
    assert "reads a sentence" in answer.json()["told"]


@pytest.mark.parametrize("name", ["nothing", "", None, 1, ["previous"], "<b>"])
def test_there_is_no_other_task(teacher, code, name):
    answer = teacher.post(f"{ROOM}/{code}/task", json={"name": name})
    assert (answer.status_code, "no such task" in answer.json()["told"]) == (409, True)


@pytest.mark.parametrize("act", ["task", "reveal-task", "end-task"])
def test_nobody_but_the_teacher_sets_shows_or_ends_a_task(teacher, code, new_pupil, act):
    set_task(teacher, code, "previous")
    assert new_pupil().post(f"{ROOM}/{code}/{act}", json={"name": "it"}).status_code == 403
    assert new_pupil().get(f"{ROOM}/{code}/task").json()["task"]["title"] == "Previous token"


def test_whoever_has_not_joined_hands_nothing_in(app, teacher, code, new_pupil):
    set_task(teacher, code, "previous")
    assert hand_in(TestClient(app), code, RIGHT).status_code == 403
    pupil = new_pupil()
    assert "over" in hand_in(pupil, code, RIGHT, number=2).json()["told"]
    assert hand_in(pupil, code, RIGHT, number="1").status_code == 409
    assert hand_in(pupil, code, "x" * 5_000).status_code == 413


def test_one_pupil_cannot_try_every_head_in_no_time(teacher, code, new_pupil):
    set_task(teacher, code, "previous")
    pupil = new_pupil()
    said = [hand_in(pupil, code, "nonsense") for _ in range(12)]
    assert [each.status_code for each in said] == [409] * 10 + [429] * 2
    assert said[-1].json()["told"] not in {each.json()["told"] for each in said[:10]}
    # Others are not kept from it.
    assert hand_in(new_pupil(), code, RIGHT).status_code == 200


def test_where_too_many_wait_one_is_told_so(teacher, code, new_pupil):
    set_task(teacher, code, "previous")
    small = Rooms(limits=Limits(waiting_hand_ins=0))
    answer = hand_in(TestClient(small, cookies=new_pupil().cookies), code, RIGHT)
    assert answer.status_code == 429
    assert answer.json()["told"].startswith("Many are handing in")


def test_what_was_typed_is_text_on_every_screen(teacher, code, new_pupil):
    set_task(teacher, code, "change")
    words = {"text": "Then <img src=x> came to the bank", "versus": "Then <img src=x> went to the bank"}
    answer = hand_in(new_pupil(), code, "compare?" + urlencode({"model": BERT, "layer": 2, "head": 5, **words}))
    assert answer.status_code == 200
    assert "<img" not in json.dumps(answer.json())
    assert "<" not in answer.json()["verdict"]["address"]


def test_the_teacher_alone_is_offered_all_tasks(teacher, code, new_pupil):
    offered = teacher.get(f"{ROOM}/{code}/tasks").json()["tasks"]
    assert [each["name"] for each in offered] == [task.name for task in TASKS]
    assert new_pupil().get(f"{ROOM}/{code}/tasks").status_code == 403


# ------------------------------------------------------------------------------------------- links


@pytest.mark.parametrize(
    ("typed", "page"),
    [
        ("http://testserver/all_heads?model=toy", ALL_HEADS),
        ("https://localhost:8501/school/all_heads?model=toy", ALL_HEADS),
        ("/all_heads?model=toy&utm=7", ALL_HEADS),
        ("compare?model=toy#top", COMPARE),
        ("http://testserver/?model=toy", FRONT),
    ],
)
def test_a_link_of_the_app_is_read_wherever_it_lies(typed, page):
    view = view_of(typed, HOST)
    assert (view.page, view.model) == (page, "toy")


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "Not a link to this app"),
        ("http://[", "Not a link to this app"),
        ("https://example.org/all_heads?model=toy", "another site"),
        ("http://testserver.example.org/compare", "another site"),
        ("/all_heads?model=gpt-5", "is not here"),
        ("/all_heads?model=toy&layer=9", "9"),
        (f"/all_heads?text={'long ' * 700}", "characters"),
    ],
)
def test_a_link_that_cannot_be_judged_is_told_why(typed, why):
    with pytest.raises(UnfitError) as error:
        view_of(typed, HOST)
    assert why in str(error.value)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("all_heads?text=", "no sentence"),
        ("all_heads?model=vit-digits", "does not read English"),
        (f"all_heads?{urlencode({'text': TEXT, 'model': BERT, 'mask': 'causal'})}", "has a mask"),
        (f"all_heads?{urlencode({'text': TEXT, 'model': BERT, 'pair': 'It was dark.'})}", "second sentence"),
        (f"all_heads?{urlencode({'text': ' '.join(['cat'] * 70), 'model': 'toy'})}", "64"),
    ],
)
def test_a_view_of_something_else_is_told_so(link, why):
    with pytest.raises(UnfitError, match=why):
        judge(task_of("previous"), None, view_of(link, HOST))


def test_two_models_are_not_two_sentences():
    with pytest.raises(UnfitError, match="two models"):
        judge(task_of("it"), None, view_of("compare?beside=1&versus=It+was+so", HOST))
    with pytest.raises(UnfitError, match="page Compare"):
        judge(task_of("it"), None, view_of("all_heads?versus=It+was+so", HOST))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.address or "front")
def test_a_head_is_judged_from_whatever_page_it_is_handed_in(page):
    query = urlencode({"model": BERT, "layer": "1", "head": "3", "text": TEXT})
    found = judge(task_of("previous"), None, view_of(f"/{page.address}?{query}", HOST))
    assert found.is_solved
    assert found.page == page.address
