"""Responses to a class's screens, and refusals."""

import asyncio
import csv
import io
import json
import sqlite3
from contextlib import AsyncExitStack
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
import segno
from starlette.testclient import TestClient

from attention.answer.files import STEMS, address_of, kept_file
from attention.classroom import asking, results, screen_page
from attention.classroom.drawing import Shown, show
from attention.classroom.followers import MOST_OF_ONE, event
from attention.classroom.limits import Limit
from attention.classroom.own_store import Taken
from attention.classroom.room_limits import Limits
from attention.classroom.rooms import Rooms
from attention.classroom.store import Answered, Asked
from attention.lesson.plans import plans
from attention.page.page_file import plain
from attention.page.pages import OF_LABS, STEP_BY_STEP
from tests.clock import Clock
from tests.sweep import sweep
from tests.unit.test_room_copies import Browser, joined, opened
from tests.until import until

LINK = {"page": "step_by_step", "link": "model=toy&step=scores&text=Two+geese+fly"}
ROOM = "/_attention/room"


@pytest.fixture
def code(teacher):
    answer = teacher.post(f"{ROOM}/open", json=LINK)
    assert answer.status_code == 200
    return answer.json()["code"]


def test_whoever_opens_a_room_teaches_it_and_whoever_joins_it_follows_it(app, teacher, code):
    assert teacher.get(f"{ROOM}/mine").json() == {"teaches": code, "follows": None}
    pupil = TestClient(app)
    assert pupil.get(f"{ROOM}/mine").json() == {"teaches": None, "follows": None}
    assert pupil.post(f"{ROOM}/{code}/join").json() == {"code": code}
    key = pupil.cookies["attention_pupil"]
    assert pupil.post(f"{ROOM}/{code}/join").status_code == 200
    assert pupil.cookies["attention_pupil"] == key
    assert pupil.get(f"{ROOM}/mine").json() == {"teaches": None, "follows": code}
    # A teacher may look at the room as a pupil does, too.
    teacher.post(f"{ROOM}/{code}/join")
    assert teacher.get(f"{ROOM}/mine").json() == {"teaches": code, "follows": code}
    teacher.post(f"{ROOM}/{code}/end")
    for each in (teacher, pupil):
        assert each.get(f"{ROOM}/mine").json() == {"teaches": None, "follows": None}
    assert pupil.post(f"{ROOM}/{code}/join").status_code == 404


def test_an_answer_needs_a_question_a_place_in_the_room_and_sense(app, teacher, code):
    pupil = TestClient(app)

    def answer(number, given):
        return pupil.post(f"{ROOM}/{code}/answer", json={"number": number, "given": given}).status_code

    assert answer(1, [0]) == 403
    pupil.post(f"{ROOM}/{code}/join")
    assert answer(1, [0]) == 409
    assert teacher.post(f"{ROOM}/{code}/ask").status_code == 200
    assert answer(2, [0]) == 409
    assert answer(1, [99]) == 400
    assert answer(1, "<b>") == 400
    assert answer(1, [0]) == 200
    teacher.post(f"{ROOM}/{code}/reveal")
    assert answer(1, [1]) == 409


def test_more_time_sets_no_limit_where_there_is_none():
    app = Rooms()

    async def follow():
        teacher, code = await opened(app)
        pupil = await joined(app, code)
        assert (await teacher.post(app, f"{code}/ask", {}))[0] == 200
        assert (await teacher.post(app, f"{code}/more-time"))[0] == 200
        assert asking.ends(asked_of(app, code)) is None
        async with pupil.follow(app, f"{code}/events") as late:
            await late.until("question", lambda asked: asked["ends"] is None)

    asyncio.run(follow())


def test_a_question_with_a_limit_takes_no_answer_afterwards_until_there_is_more_time():
    clock = Clock()
    app = Rooms(clock=clock)

    async def follow():
        teacher, code = await opened(app)
        pupil = await joined(app, code)

        async def answer():
            return (await pupil.post(app, f"{code}/answer", {"number": 1, "given": [0]}))[0]

        assert (await teacher.post(app, f"{code}/ask", {"seconds": 20}))[0] == 400
        assert (await teacher.post(app, f"{code}/ask", {"seconds": 30}))[0] == 200
        clock.now += 29
        assert await answer() == 200
        # Who comes late or reloads has the server's time, and the rest of the limit.
        async with pupil.follow(app, f"{code}/events") as late:
            await late.until("question", lambda asked: asked["ends"] - late.latest["time"] == 1)
            clock.now += 60
            assert await answer() == 409
            assert (await pupil.post(app, f"{code}/more-time"))[0] == 403
            await teacher.post(app, f"{code}/more-time")
            await late.until("question", lambda asked: asked["ends"] == clock.now + 30)
            assert await answer() == 200
            # The answer counts, and asking again starts the same limit.
            await teacher.post(app, f"{code}/ask-again")
            await late.until("question", lambda asked: (asked["number"], asked["ends"]) == (2, clock.now + 30))
            assert asking.before(asked_of(app, code))[0] == 1
            # Who reloads meanwhile still has the answer to discuss.
            async with pupil.follow(app, f"{code}/events") as again:
                await again.until("mine", lambda mine: mine == {"number": 1, "given": [0]})
            await teacher.post(app, f"{code}/reveal")
            await late.until("question", lambda asked: asked["told"] and asked["ends"] is None)
            assert (await teacher.post(app, f"{code}/more-time"))[0] == 409

    asyncio.run(follow())


SOFTMAX = {**LINK, "link": "model=toy&step=softmax&word=1&text=Two+geese+fly"}


def test_a_pupil_hears_what_the_own_shares_are_worth_when_the_answers_are_shown_and_nobody_else_does(app):
    async def follow():
        teacher, code = await opened(app)
        await teacher.post(app, f"{code}/show", SOFTMAX)
        await teacher.post(app, f"{code}/ask")
        true = [round(100 * share) for share in asked_of(app, code)["shares"]]
        away = [100 if share == min(true) else 0 for share in true]
        pupils = [Browser() for _ in range(3)]
        for pupil in pupils:
            await pupil.post(app, f"{code}/join")
        wise, other, silent = pupils
        async with (
            wise.follow(app, f"{code}/events") as near,
            other.follow(app, f"{code}/events") as far,
            silent.follow(app, f"{code}/events") as mute,
            Browser().follow(app, f"{code}/screen") as wall,
        ):
            screens = (near, far, mute, wall)
            for screen in screens:
                await screen.until("question", bool)
            for pupil, given in ((wise, true), (other, away)):
                answer = await pupil.post(app, f"{code}/answer", {"number": 1, "given": given})
                assert answer == (200, {"number": 1, "given": given})
            for screen in screens:
                assert "verdict" not in screen.latest
                assert screen.latest["question"]["told"] is None
                assert "shares" not in screen.latest["question"]
            await teacher.post(app, f"{code}/reveal")
            await near.until("verdict", lambda said: said["number"] == 1 and "Right." in said["told"])
            await far.until("verdict", lambda said: said["number"] == 1 and "Not this time." in said["told"])
            for screen in screens:
                await screen.until("question", lambda asked: asked["told"] is not None)
                assert screen.latest["question"]["told"]["shares"] == pytest.approx(true, abs=0.6)
            assert "verdict" not in {**mute.latest, **wall.latest}
        # Who reappears, and whoever comes to a server that has just begun, hears it again.
        for server in (app, Rooms()):
            async with wise.follow(server, f"{code}/events") as again:
                await again.until("verdict", lambda said: "Right." in said["told"])

    asyncio.run(follow())


def asked_of(app, code):
    return app.hall.database.do(lambda store: store.room(code)).question


def test_the_teacher_is_told_which_questions_fit_and_asks_one_by_its_name(app, teacher, code):
    found = teacher.get(f"{ROOM}/{code}/questions").json()["questions"]
    names = [each["name"] for each in found]
    assert {"sums", "cost", "mixed"} <= set(names)
    # The toy has one layer, and "Two geese fly" has no word twice.
    assert not {"namesake", "equal"} & set(names)
    assert all(each["title"] for each in found)
    assert TestClient(app).get(f"{ROOM}/{code}/questions").status_code == 403
    assert teacher.post(f"{ROOM}/{code}/ask", json={"ready": "cost"}).status_code == 200
    question = asked_of(app, code)
    assert question["answers"] == ["9", "18", "36", "72"]
    assert question["right"] == [2]
    assert question["meanwhile"] == "as it is"
    teacher.post(f"{ROOM}/{code}/ask", json={"ready": "mixed"})
    assert asked_of(app, code)["meanwhile"] == "hidden"
    teacher.post(f"{ROOM}/{code}/ask")
    assert asked_of(app, code)["meanwhile"] == "closed"


@pytest.mark.parametrize("name", ["namesake", "nothing", "", 1, ["cost"], {"name": "cost"}, "<b>"])
def test_what_does_not_fit_is_not_asked(app, teacher, code, name):
    answer = teacher.post(f"{ROOM}/{code}/ask", json={"ready": name})
    assert answer.status_code == 409
    assert answer.json()["told"]
    assert asked_of(app, code) is None


def test_notes_of_a_plan_can_be_read_and_those_of_another_name_do_not_exist(app):
    visitor = TestClient(app)
    assert visitor.get(f"{ROOM}/notes/twenty").status_code == 200
    assert visitor.get(f"{ROOM}/notes/thirty").status_code == 404


def test_where_nothing_was_typed_there_is_nothing_to_ask(teacher, code):
    teacher.post(f"{ROOM}/{code}/show", json={"page": "step_by_step", "link": "model=toy&text="})
    assert teacher.get(f"{ROOM}/{code}/questions").json() == {"hasOwn": False, "questions": []}
    assert teacher.post(f"{ROOM}/{code}/ask", json={"ready": "cost"}).status_code == 409


@pytest.mark.parametrize(("page", "has_own"), [("step_by_step", True), ("why_divide", True), ("all_heads", False)])
def test_a_view_is_said_to_have_a_question_of_its_own_where_one_can_be_asked(teacher, code, page, has_own):
    teacher.post(f"{ROOM}/{code}/show", json={"page": page, "link": "model=toy"})
    assert teacher.get(f"{ROOM}/{code}/questions").json()["hasOwn"] == has_own
    assert (teacher.post(f"{ROOM}/{code}/ask").status_code == 200) == has_own


def drawn_in(view):
    return "matrix" in {picture["component"] for picture in view["pictures"]}


def test_a_ready_question_leaves_the_view_unless_that_would_tell_the_answer():
    page, link = LINK["page"], LINK["link"]
    plain, hidden, closed = (show(Shown(page, link, seen)) for seen in ("as it is", "hidden", "closed"))
    assert not hidden["pictures"]
    assert drawn_in(plain)
    assert not drawn_in(closed)
    assert drawn_in(show(Shown(page, link, "opened")))
    assert (hidden["title"], hidden["caption"]) == (plain["title"], plain["caption"])
    assert "reappears" in hidden["html"]


def test_a_place_in_a_room_cannot_be_made_up(app, teacher, code):
    for key in ("x" * 38, "made-up-and-long-enough", ""):
        guesser = TestClient(app, cookies={"attention_pupil": f"{code}.{key}"})
        assert guesser.post(f"{ROOM}/{code}/answer", json={"number": 1, "given": [0]}).status_code == 403
        joined = guesser.post(f"{ROOM}/{code}/join")
        assert joined.cookies["attention_pupil"] not in ("", f"{code}.{key}")
    # Nor does it help to say that one is in a room already, as a pupil or as its teacher.
    tried, guesser = [], TestClient(app)
    for letter in "BCDFGHJKMNPRSTVWXZ" * 2:
        for name in ("attention_pupil", "attention_class"):
            guesser.cookies.set(name, f"BBBBB{letter}.{'x' * 38}")
            tried.append(guesser.get(f"{ROOM}/BBBBB{letter}/code.svg").status_code)
    assert tried.count(404) == 30
    assert set(tried[30:]) == {429}


def test_a_room_takes_so_many_newcomers_and_keeps_who_is_in(app, code):
    member = TestClient(app)
    assert member.post(f"{ROOM}/{code}/join").status_code == 200
    app = limited(newcomers=few("newcomers", 3))
    assert [TestClient(app).post(f"{ROOM}/{code}/join").status_code for _ in range(4)] == [200, 200, 429, 429]
    assert member.post(f"{ROOM}/{code}/join").status_code == 200


def few(name, attempts):
    return replace(getattr(Limits(), name), attempts=attempts)


def limited(**limits):
    """Another copy of the server, with the same rooms."""
    return Rooms(limits=Limits(**limits))


def test_wrong_codes_shut_out_the_browser_that_tries_them_and_nobody_beside_it(app, code):
    guesser, mate = TestClient(app), TestClient(app)
    assert [guesser.post(f"{ROOM}/BBBBBB/join").status_code for _ in range(40)] == [404] * 30 + [429] * 10
    assert guesser.post(f"{ROOM}/{code}/join").status_code == 429
    assert mate.post(f"{ROOM}/{code}/join").status_code == 200


@pytest.mark.parametrize("cookie", ["", "x" * 38])
def test_who_drops_its_cookie_is_counted_by_its_address_apart_from_those_who_were_here(app, code, cookie):
    app = limited(wrong_codes_of_group=few("wrong_codes_of_group", 5))
    here, elsewhere = TestClient(app), TestClient(app, client=("192.0.2.7", 1))
    assert here.get("/room").status_code == 200

    def guess():
        guesser = TestClient(app, cookies={"attention_browser": cookie})
        return guesser.post(f"{ROOM}/BBBBBB/join").status_code

    assert [guess() for _ in range(8)] == [404] * 5 + [429] * 3
    assert TestClient(app).post(f"{ROOM}/{code}/join").status_code == 429
    for each in (here, elsewhere):
        assert each.post(f"{ROOM}/{code}/join").status_code == 200


def test_a_script_that_comes_in_again_and_again_shuts_out_nobody_who_has_opened_the_page(app, code):
    app = limited(newcomers=few("newcomers", 20))
    here, elsewhere, greedy = TestClient(app), TestClient(app, client=("192.0.2.7", 1)), TestClient(app)
    for each in (here, greedy):
        each.get("/room", params={"code": code})
    script = [TestClient(app).post(f"{ROOM}/{code}/join").status_code for _ in range(25)]
    assert (script.count(200), set(script[20:])) == (20, {429})

    def again():
        greedy.cookies.delete("attention_pupil")
        return greedy.post(f"{ROOM}/{code}/join").status_code

    assert greedy.post(f"{ROOM}/{code}/join").status_code == 200
    assert [again() for _ in range(30)] == [200] * 9 + [429] * 21
    for each in (here, elsewhere):
        assert each.post(f"{ROOM}/{code}/join").status_code == 200


def test_the_teachers_own_wall_has_a_place_however_many_others_hang(app):
    async def follow():
        teacher, code = await opened(app)
        async with AsyncExitStack() as screens:
            for _ in range(Limits().walls):
                other = Browser()
                await other.post(app, f"{code}/join")
                wall = await screens.enter_async_context(other.follow(app, f"{code}/screen"))
                await wall.until("view", bool)
            assert await Browser().get(app, f"{code}/screen") == 503
            for _ in range(MOST_OF_ONE + 1):
                wall = await screens.enter_async_context(teacher.follow(app, f"{code}/screen"))
                await wall.until("view", bool)
            assert len(app.hall.screens.live[code].walls) == Limits().walls + MOST_OF_ONE

    asyncio.run(follow())


def test_a_script_without_cookies_takes_a_few_places_on_the_wall(app):
    async def follow():
        _, code = await opened(app)
        known = Browser()
        await known.post(app, f"{code}/join")
        async with AsyncExitStack() as screens:
            for _ in range(2 * Limits().walls):
                script = await screens.enter_async_context(Browser().follow(app, f"{code}/screen"))
                await script.until("view", bool)
            assert len(app.hall.screens.live[code].walls) == MOST_OF_ONE
            wall = await screens.enter_async_context(known.follow(app, f"{code}/screen"))
            await wall.until("view", bool)

    asyncio.run(follow())


@pytest.mark.parametrize("headers", [{"origin": "https://elsewhere.example"}, {"sec-fetch-site": "cross-site"}])
def test_pages_of_others_can_do_nothing(app, teacher, code, headers):
    # Whoever teaches may also follow, and so do all of it.
    teacher.post(f"{ROOM}/{code}/join")
    before = app.hall.database.do(lambda store: store.room(code))
    for act in ("join", *ACTS_OF_PUPILS, *ACTS_OF_TEACHERS):
        assert teacher.post(f"{ROOM}/{code}/{act}", json=LINK, headers=headers).status_code == 403
    assert teacher.post(f"{ROOM}/open", json=LINK, headers=headers).status_code == 403
    assert teacher.get(f"{ROOM}/mine").json()["teaches"] == code
    assert app.hall.database.do(lambda store: store.room(code)) == before


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"x" * (Limits().body + 1), 413),
        (b"[]", 400),
        (b"{", 400),
        (b"\xff", 400),
        (b"[" * 2_000, 400),
        (b'{"a":' * 800, 400),
        (json.dumps({"page": "models", "link": ""}).encode(), 200),
        (json.dumps({"page": 1, "link": ""}).encode(), 409),
        (json.dumps({"page": "step_by_step"}).encode(), 409),
    ],
)
def test_what_is_no_view_is_not_shown(app, teacher, code, body, status):
    before = app.hall.database.do(lambda store: store.room(code))
    answer = teacher.post(f"{ROOM}/{code}/show", content=body)
    assert answer.status_code == status
    assert answer.json()["told"].endswith(".")
    assert app.hall.database.do(lambda store: store.room(code)) == before


@pytest.mark.parametrize("page", ["models", "classroom", ""])
def test_a_room_that_is_opened_where_no_class_follows_begins_with_the_steps(app, teacher, page):
    link = "model=toy&text=Two+geese+fly&plan=90"
    code = teacher.post(f"{ROOM}/open", json={"page": page, "link": link}).json()["code"]
    room = app.hall.database.do(lambda store: store.room(code))
    assert room.page == STEP_BY_STEP.address
    assert "text=Two+geese+fly" in room.link
    assert "plan" not in room.link
    # Without a sentence, there is nothing to see: the default one is not the teacher's.
    code = teacher.post(f"{ROOM}/open", json={"page": page, "link": "plan=90"}).json()["code"]
    room = app.hall.database.do(lambda store: store.room(code))
    for on_wall in (False, True):
        screen = show(Shown(room.page, room.link, on_wall=on_wall))
        assert not screen["title"]
        assert not screen["pictures"]


def test_what_is_no_parameter_of_the_page_is_not_shown_to_a_class(app, teacher, code):
    shown = {"page": "step_by_step", "link": f"{LINK['link']}&me=Anna&answer=00000000-1"}
    assert teacher.post(f"{ROOM}/{code}/show", json=shown).status_code == 200
    room = app.hall.database.do(lambda store: store.room(code))
    assert "Anna" not in room.link
    assert "text=Two+geese+fly" in room.link


def test_the_page_may_load_only_what_lies_beside_it(teacher, code):
    answer = teacher.get("/room", params={"code": code})
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    assert code in answer.text
    hostile = teacher.get("/room", params={"code": "<script>alert(1)</script>"})
    assert "<script>alert" not in hostile.text
    assert teacher.post("/room").status_code == 405


# What a first visit may take, in bytes.
LIGHT = 80_000
TWELVE = "text=My+grandmother+baked+bread+before+the+rain+came+and+we+ate+it"
FORTY = (
    f"{TWELVE}+while+the+children+played+outside+near+the+old+stone+bridge+that+crosses+our+river+and+the+dogs+slept"
    "+under+a+tree+because+they+were+tired+of+all+that"
)
LONG = "model=minilm-l6&step=softmax&text=" + "+".join(f"word{number}" for number in range(45))


@pytest.mark.parametrize(
    ("page", "link"),
    [
        *sorted({(part.page, part.link) for plan in plans() for part in plan.parts}),
        ("step_by_step", LONG),
        *(("step_by_step", f"model=minilm-l6&step={step}&{FORTY}") for step in ("embed", "heads")),
        *(("all_heads", f"model={model}&{TWELVE}") for model in ("minilm-l6", "smollm2-135m")),
        *(("all_heads", f"model={model}&{FORTY}") for model in ("minilm-l6", "smollm2-135m")),
    ],
)
@pytest.mark.parametrize("seen", sweep(("as it is", "closed", "opened"), ("as it is",)))
def test_a_first_visit_is_light_with_all_that_the_stream_brings(page, link, seen):
    drawn = show(Shown(page, link, seen))
    files = {address_of(stem): len(kept_file(stem).packed) for stem in STEMS}
    own = files[address_of("room")] + files[address_of("room_page")] + len(screen_page.page("KMPRTX").encode())
    stream = len(event("view", drawn).packed)
    whole = own + sum(files[address] for address in drawn["modules"].values()) + stream
    assert 10_000 < whole <= LIGHT


@pytest.mark.parametrize("page", [page.address for page in OF_LABS.values()])
@pytest.mark.parametrize("seen", ["as it is", "closed"])
def test_a_closed_lab_has_no_buttons_in_a_room_and_says_what_is_true_there(page, seen):
    drawn = show(Shown(page, "model=minilm-l6&text=The+cat+sat+on+the+mat", seen))
    assert "question" not in {picture["component"] for picture in drawn["pictures"]}
    assert "Show me" not in drawn["html"]
    assert plain({each.address: each for each in OF_LABS.values()}[page].purpose) in drawn["html"]
    assert ("A question may follow" in drawn["html"]) == (seen == "as it is")
    # The app itself would show the answer.
    assert drawn["link"] is None


@pytest.mark.parametrize("seen", ["closed", "opened"])
def test_a_closed_lab_has_a_picture_in_a_room_but_not_the_one_that_answers(seen):
    drawn = show(Shown("explain", "model=toy&text=The+cat+sat+on+the+mat", seen))
    components = {picture["component"] for picture in drawn["pictures"]}
    assert any(name.startswith("matrix") for name in components)
    assert any(name.startswith("chart") for name in components) == (seen == "opened")
    assert ('class="worth_cover cover"' in drawn["html"]) == (seen == "closed")


@pytest.mark.parametrize("on_wall", [False, True])
def test_no_screen_tells_which_head_does_what_a_class_may_look_for(on_wall):
    view = "model=minilm-l6&layer=1&head=3&text=The+cat+sat+on+the+mat"
    drawn = show(Shown("all_heads", view, on_wall=on_wall))
    assert any(picture["component"].startswith("atlas") for picture in drawn["pictures"])
    # What the rules for a head's behaviour call this one.
    assert "word back" not in json.dumps(drawn)


@pytest.mark.parametrize("on_wall", [False, True])
def test_a_repeated_word_has_its_position_in_pictures_as_in_questions(on_wall):
    drawn = show(Shown("step_by_step", "model=toy&text=The+cat+sat+on+the+mat&step=softmax", on_wall=on_wall))
    (weights,) = (each["data"] for each in drawn["pictures"] if each["component"].startswith("matrix"))
    named = ["the (0)", "cat", "sat", "on", "the (4)", "mat"]
    assert [[*weights["rows"]], [*weights["columns"]]] == [named, named]


def test_a_step_that_the_teacher_guesses_has_no_buttons_in_a_room():
    drawn = show(Shown("step_by_step", f"{LINK['link']}&guess=1"))
    assert "question" not in {picture["component"] for picture in drawn["pictures"]}
    assert "A question may follow" in drawn["html"]
    assert drawn["link"] is None


@pytest.mark.slow
def test_a_room_whose_day_is_over_goes_by_itself_and_its_screens_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_DATABASE", f"sqlite:///{tmp_path / 'rooms.sqlite'}")
    app = Rooms(lasts=2.0, swept_every=0.1)

    def kept():
        with sqlite3.connect(tmp_path / "rooms.sqlite") as connection:
            return [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("rooms", "answers")]

    async def follow():
        teacher, code = await opened(app)
        pupil = Browser()
        await pupil.post(app, f"{code}/join")
        await teacher.post(app, f"{code}/ask")
        await pupil.post(app, f"{code}/answer", {"number": 1, "given": [0]})
        async with pupil.follow(app, f"{code}/events") as screen:
            await screen.until("view", bool)
            assert kept() == [1, 1]
            await screen.until("over", lambda said: said["told"] == "The class is over.")
            assert kept() == [0, 0]

    asyncio.run(follow())


def test_what_is_over_goes_when_a_server_begins(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_DATABASE", f"sqlite:///{tmp_path / 'rooms.sqlite'}")
    TestClient(Rooms(lasts=0.01)).post(f"{ROOM}/open", json=LINK)

    def is_gone():
        TestClient(Rooms(), cookies={"attention_class": "BCDFGH.key"}).get(f"{ROOM}/mine")
        with sqlite3.connect(tmp_path / "rooms.sqlite") as connection:
            return connection.execute("SELECT count(*) FROM rooms").fetchone() == (0,)

    until(is_gone)


def test_a_teacher_whom_nobody_follows_hears_what_the_class_is_doing(app):
    async def follow():
        teacher, code = await opened(app)
        await teacher.post(app, f"{code}/task", {"name": "previous"})
        async with teacher.follow(app, f"{code}/desk") as desk:
            await desk.until("task", lambda task: task["number"] == 1)

    asyncio.run(follow())


@pytest.mark.slow
def test_pupils_who_explore_the_app_are_counted_apart_until_they_return(app):
    async def follow():
        teacher, code = await opened(app)
        pupil, other = await joined(app, code), await joined(app, code)
        wall = teacher.follow(app, f"{code}/screen")
        async with teacher.follow(app, f"{code}/desk") as desk, wall as on_wall:

            def counted(here, exploring):
                return lambda now: (now["here"], now["exploring"]) == (here, exploring)

            async with pupil.follow(app, f"{code}/events"), other.follow(app, f"{code}/events"):
                await desk.until("here", counted(2, 0))
            for _ in range(2):
                await pupil.get(app, f"{code}/task")
            await desk.until("here", counted(1, 1))
            # Whoever has the class's page open, too, is there.
            async with other.follow(app, f"{code}/events"):
                await desk.until("here", counted(2, 1))
                # The wall counts all who take part.
                await on_wall.until("present", counted(2, 1))
                await other.get(app, f"{code}/task")
                async with pupil.follow(app, f"{code}/events"):
                    await desk.until("here", counted(2, 0))

    asyncio.run(follow())


def test_all_answers_are_a_table_with_the_question_the_sentence_and_what_was_chosen(app, teacher, code):
    pupils = [TestClient(app) for _ in range(2)]
    for pupil in pupils:
        pupil.post(f"{ROOM}/{code}/join")

    def ask(said, *given, act="ask"):
        assert teacher.post(f"{ROOM}/{code}/{act}", json=said).status_code == 200
        number = teacher.get(f"{ROOM}/{code}/questions") and app.hall.database.do(lambda store: store.room(code)).number
        for pupil, each in zip(pupils, given, strict=False):
            answer = {"number": number, "given": [each]}
            assert pupil.post(f"{ROOM}/{code}/answer", json=answer).status_code == 200

    own = {"question": "=Where?", "answers": ["sky", "<pond>"], "right": 1, "isTyped": False}
    ask({"ready": "cost"}, 2, 0)
    ask({"own": own}, 1, 0)
    ask({"own": {**own, "right": None}}, 1)
    ask({"own": {**own, "right": None, "isTyped": True}}, "=1+1", "Sky")
    for _ in range(2):
        ask({}, "Sky", act="ask-again")
    ask({"own": own}, 0)
    teacher.post(f"{ROOM}/{code}/withdraw")
    table = teacher.get(f"{ROOM}/{code}/results.csv").content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert {row["sentence"] for row in rows} == {"Two geese fly"}
    assert [row["number"] for row in rows] == [*"1122344445"]
    # Which of them is before a discussion, and which after.
    assert [row["round"] for row in rows] == [*"1111111231"]
    # Pupils have no order, and keep their numbers.
    assert len({row["pupil"] for row in rows}) == 2
    answered = {(row["number"], row["answer"], row["right"]) for row in rows}
    costs = {("1", "36", "1"), ("1", "9", "0")}
    # A poll has no right answer.
    others = {("2", "<pond>", "1"), ("2", "sky", "0"), ("3", "<pond>", ""), ("4", "'=1+1", "0"), ("4", "Sky", "1")}
    others |= {("5", "sky", "0")}
    assert answered == costs | others
    assert {row["question"] for row in rows if row["number"] == "2"} == {"'=Where?"}
    assert pupils[0].get(f"{ROOM}/{code}/results.csv").status_code == 403


@pytest.mark.parametrize("on_wall", [False, True])
def test_a_class_sees_the_weights_over_a_picture_from_softmax_on(on_wall):
    def overlays(step):
        shown = Shown("step_by_step", f"model=vit-digits&step={step}", on_wall=on_wall)
        return [each["data"] for each in show(shown)["pictures"] if each["component"] == "overlay"]

    (after,) = overlays("softmax")
    assert not after["isBare"]
    assert all(each["isBare"] for each in overlays("scores"))


def test_who_answers_a_later_question_first_changes_nobodys_number():
    answered = Answered((0,), "right")
    first, later = Asked(1, {}, {"z": answered}), Asked(2, {}, {"a": answered, "z": answered})
    taken = [Taken("", (), {}, pupil="m")]
    assert results.numbers([first], []) == {"z": "1"}
    assert results.numbers([first, later], taken) == {"z": "1", "a": "2", "m": "3"}


def test_a_pupil_who_looks_around_is_told_whether_there_is_a_question(app, teacher, code):
    pupil = TestClient(app)
    pupil.post(f"{ROOM}/{code}/join")

    def asks():
        return pupil.get(f"{ROOM}/{code}/task").json()["asks"]

    assert not asks()
    teacher.post(f"{ROOM}/{code}/ask")
    assert asks()
    teacher.post(f"{ROOM}/{code}/reveal")
    assert not asks()


@pytest.mark.parametrize("act", ["show", "ask", "questions"])
def test_even_a_teacher_has_only_so_much_run_at_once(app, teacher, code, act):
    app = limited(acts_of_teacher=Limit(2, 3600))
    teacher = TestClient(app, cookies=teacher.cookies)

    def does():
        at = f"{ROOM}/{code}/{act}"
        return teacher.get(at) if act == "questions" else teacher.post(at, json=LINK if act == "show" else {})

    assert [does().status_code for _ in range(3)] == [200, 200, 429]
    # It is sent again by itself.
    assert does().json()["isAway"]
    # Another room has its own.
    other = TestClient(app)
    there = other.post(f"{ROOM}/open", json=LINK).json()["code"]
    assert other.get(f"{ROOM}/{there}/questions").status_code == 200


def point_in(view, *at):
    return {"point": {"view": view, "picture": "scores", "at": at}}


def test_a_class_is_told_what_its_teacher_points_at_until_that_ends_or_the_view_changes(app, tmp_path):
    async def follow():
        teacher, code = await opened(app)
        pupil, passer = Browser(), Browser()
        await pupil.post(app, f"{code}/join")

        async def show(link):
            return (await teacher.post(app, f"{code}/show", link))[1]["view"]

        async def point(said, by=teacher):
            return (await by.post(app, f"{code}/point", said))[0]

        async with pupil.follow(app, f"{code}/events") as near, passer.follow(app, f"{code}/screen") as wall:
            screens = (near, wall)

            async def until(kind, holds):
                for screen in screens:
                    await screen.until(kind, holds)

            first = await show(LINK)
            await until("view", lambda view: view["mark"] == first)
            assert "point" not in near.latest
            assert await point(point_in(first, 2, 1)) == 200
            await until("point", lambda point: point == {"view": first, "picture": "scores", "at": [2, 1]})
            # Whoever comes later sees it too.
            late = Browser()
            await late.post(app, f"{code}/join")
            async with late.follow(app, f"{code}/events") as third:
                await third.until("point", lambda point: point["at"] == [2, 1])
            # Of several at once, the last one counts; nobody else may point.
            for at in ((0, 0), (1, 1), (3, 0)):
                await point(point_in(first, *at))
            assert [await point(point_in(first, 4, 4), by) for by in (pupil, passer, Browser())] == [403] * 3
            assert await point(point_in(first, "<b>")) == 400
            await until("point", lambda point: point["at"] == [3, 0])
            assert await point({"point": None}) == 200
            await until("point", lambda point: point is None)
            # Another view has other pictures: what comes late is of the one before.
            await point(point_in(first, 2, 1))
            await until("point", bool)
            second = await show(SOFTMAX)
            await until("view", lambda view: view["mark"] == second)
            await until("point", lambda point: point is None)
            n_told = near.counts["point"]
            assert await point(point_in(first, 2, 1)) == 200
            # A teacher who looks at the answer does not tell it.
            await teacher.post(app, f"{code}/ask")
            await until("question", bool)
            assert await point(point_in(second, 2, 1)) == 200
            await teacher.post(app, f"{code}/reveal")
            await until("question", lambda question: question["told"])
            assert near.counts["point"] == n_told
            assert await point(point_in(second, 1, 1)) == 200
            await until("point", bool)

    asyncio.run(follow())
    # It is kept nowhere.
    assert not [file for file in tmp_path.iterdir() if b'"picture"' in file.read_bytes()]


def test_so_many_points_are_passed_on_and_one_that_is_not_is_sent_again(app, teacher, code):
    teacher = TestClient(limited(points=Limit(2, 3600)), cookies=teacher.cookies)
    answers = [teacher.post(f"{ROOM}/{code}/point", json=point_in("a1", 1)) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].json()["isAway"]
    # Views have a limit of their own.
    assert teacher.post(f"{ROOM}/{code}/show", json=LINK).status_code == 200


def test_the_picture_leads_to_the_room(teacher, code):
    wanted = io.BytesIO()
    segno.make(f"http://testserver/room?code={code}", error="m").save(wanted, kind="svg", scale=8, border=2)
    drawn, expected = (
        ET.fromstring(text).findall(".//{*}path")[-1].get("d")
        for text in (teacher.get(f"{ROOM}/{code}/code.svg").text, wanted.getvalue().decode())
    )
    assert drawn == expected


def test_who_has_not_joined_follows_nothing_and_is_not_counted(app):
    async def follow():
        teacher, code = await opened(app)
        stranger = Browser()
        async with teacher.follow(app, f"{code}/desk") as desk:
            for _ in range(3):
                assert await stranger.get(app, f"{code}/events") == 403
            # A seat in another room is none in this one.
            _, other = await opened(app)
            await stranger.post(app, f"{other}/join")
            assert await stranger.get(app, f"{code}/events") == 403
            pupil = Browser()
            await pupil.post(app, f"{code}/join")
            async with pupil.follow(app, f"{code}/events"), pupil.follow(app, f"{code}/events"):
                await desk.until("here", lambda said: said["here"] == 1)
                assert app.hall.screens.live[code].screens.n_seats == 1

    asyncio.run(follow())


def test_a_full_room_says_so(app):
    small = limited(screens=1)

    async def follow():
        _, code = await opened(app)
        pupil, late = Browser(), Browser()
        await pupil.post(app, f"{code}/join")
        await late.post(app, f"{code}/join")
        async with pupil.follow(small, f"{code}/events") as screen:
            await screen.until("view", bool)
            assert await late.get(small, f"{code}/events") == 503
            status, said = await late.post(small, f"{code}/join")
            assert (status, said["isAway"], bool(said["told"])) == (503, False, True)

    asyncio.run(follow())


def test_a_stream_is_compressed_for_who_takes_it(app):
    async def follow():
        teacher, code = await opened(app)
        sizes = []
        for takes_gzip in (True, False):
            pupil = Browser(takes_gzip=takes_gzip)
            await pupil.post(app, f"{code}/join")
            async with pupil.follow(app, f"{code}/events") as screen:
                await screen.until("view", lambda view: view["title"] == "Two geese fly")
                assert screen.is_packed == takes_gzip
                sizes.append(screen.size)
                await teacher.post(app, f"{code}/ask")
                await screen.until("question", bool)
            await teacher.post(app, f"{code}/withdraw")
        return sizes

    packed, plain = asyncio.run(follow())
    assert packed < 0.6 * plain


ACTS_OF_PUPILS = ("answer", "hand-in", "own/begin", "own/answer")
ACTS_OF_TEACHERS = (
    "show",
    "point",
    "ask",
    "reveal",
    "withdraw",
    "end",
    "task",
    "reveal-task",
    "end-task",
    "own/start",
    "own/finish",
)


@pytest.mark.parametrize("act", [*ACTS_OF_PUPILS, *ACTS_OF_TEACHERS])
@pytest.mark.parametrize("body", [b"[" * 2_000, b'{"number":%s1%s}' % (b"[" * 900, b"]" * 900)], ids=["cut", "whole"])
def test_however_deep_what_is_sent_lies_it_is_refused_in_a_sentence(app, teacher, code, caplog, act, body):
    # Whoever teaches may also follow, and so do all of it.
    teacher.post(f"{ROOM}/{code}/join")
    teacher.post(f"{ROOM}/{code}/own/start", json={})
    answer = teacher.post(f"{ROOM}/{code}/{act}", content=body)
    assert answer.status_code < 500
    assert body.startswith(b"{") or answer.status_code == 400
    assert "Traceback" not in caplog.text
    assert "failed" not in caplog.text


STRANGE_HOSTS = ["[::1", "a]b", "x" * 3_000, "a b", "school.example:x", "school.example:99999", "é", "<b>", "a/b", ""]


@pytest.mark.parametrize("host", STRANGE_HOSTS)
def test_a_host_that_is_none_is_no_address_of_a_room_and_no_fault_of_the_server(teacher, code, caplog, host):
    said = host.encode("latin-1")
    for path in (f"{ROOM}/{code}/code.svg", f"{ROOM}/{code}/desk", f"/room?code={code}&screen=1"):
        assert teacher.get(path, headers={"host": said}).status_code == 400
    # What a proxy says without sense does not count.
    for path in (f"{ROOM}/{code}/code.svg", f"/room?code={code}&screen=1"):
        assert teacher.get(path, headers={"x-forwarded-host": said}).status_code == 200
    assert caplog.text == ""


def garbage(file):
    file.write_bytes(b"no database at all" * 300)


def damage(file):
    """Overwrite all pages but the first, so that the file still looks like a database."""
    TestClient(Rooms()).post(f"{ROOM}/open", json=LINK)
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    whole = file.read_bytes()
    file.write_bytes(whole[:size] + b"\xff" * (len(whole) - size))


@pytest.mark.parametrize("spoil", [garbage, damage])
def test_a_damaged_database_is_set_aside_by_name_and_a_class_can_begin(tmp_path, monkeypatch, caplog, spoil):
    file = tmp_path / "rooms.sqlite"
    monkeypatch.setenv("ATTENTION_DATABASE", f"sqlite:///{file}")
    spoil(file)
    spoiled = file.read_bytes()
    teacher = TestClient(Rooms())
    answers = [teacher.post(f"{ROOM}/open", json=LINK).status_code for _ in range(3)]
    assert answers[-1] == 200
    assert set(answers[:-1]) <= {200, 503}
    kept = tmp_path / "rooms.sqlite.damaged-1"
    assert kept.read_bytes() == spoiled
    assert not list(tmp_path.glob("rooms.sqlite.damaged-2*"))
    assert f"{file} is no database, or is damaged: it was renamed to {kept}" in caplog.text
    assert "Traceback" not in caplog.text


def in_a_file(folder):
    (folder / "file").write_text("")
    return "ATTENTION_CACHE_DIR", str(folder / "file" / "cache")


def in_no_folder(folder):
    return "ATTENTION_DATABASE", f"sqlite:///{folder / 'none' / 'rooms.sqlite'}"


def in_no_database(folder):
    return "ATTENTION_DATABASE", "a secret word"


def in_an_unknown_database(folder):
    return "ATTENTION_DATABASE", "oracle+nothing://user:secret@host/name"


@pytest.mark.parametrize("place", [in_a_file, in_no_folder, in_no_database, in_an_unknown_database])
def test_where_nothing_can_be_kept_the_class_is_told_so_and_the_owner_why(tmp_path, monkeypatch, caplog, place):
    monkeypatch.delenv("ATTENTION_DATABASE", raising=False)
    variable, value = place(tmp_path)
    monkeypatch.setenv(variable, value)
    answer = TestClient(Rooms()).post(f"{ROOM}/open", json=LINK)
    told = "No class can be held on this server now. Its log says why."
    assert (answer.status_code, answer.json()) == (503, {"told": told, "isAway": False})
    (line,) = caplog.messages
    assert variable in line or value.removeprefix("sqlite:///") in line
    assert "secret" not in line
    assert "\n" not in line
