"""A class on three copies of the server behind nginx, with PostgreSQL: two are killed, and the database restarts."""

import json
import signal
import urllib.request
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice

import httpx2
import pytest
from playwright.sync_api import expect

from tests import services
from tests.browser.classroom import Pupil, Teacher
from tests.browser.server import serve
from tests.ports import free_port
from tests.small_servers import small_server
from tests.until import until

N_COPIES = 3
# So many more pupils, without a browser.
N_OTHERS = 60
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass
class School:
    """Three copies at one address, and the cookie by which one comes to each of them."""

    url: str
    ways: list[str]
    copies: list
    postgres: services.Postgres


def ways_to(url, ports):
    """Return one cookie for each copy: in its place, a small server says which it is."""
    found = {}
    with ExitStack() as stack:
        for port in ports:
            stack.enter_context(small_server(port))
        while len(found) < len(ports):
            with DIRECT.open(url, timeout=10) as answer:
                cookie = answer.headers["Set-Cookie"].partition("=")[2].partition(";")[0]
                found.setdefault(json.loads(answer.read())["copy"], cookie)
    return [found[port] for port in ports]


@pytest.fixture
def school(tmp_path):
    for program, name in (("nginx", "nginx"), ("initdb", "PostgreSQL")):
        if services.find(program) is None:
            pytest.skip(services.MISSING.format(name))
    ports = [free_port() for _ in range(N_COPIES)]
    with ExitStack() as stack:
        postgres = stack.enter_context(services.postgres())
        url = stack.enter_context(services.front(ports))
        environment = {
            "ATTENTION_DATABASE": postgres.new(),
            "STREAMLIT_SERVER_COOKIE_SECRET": "one for all copies",
            "FORWARDED_ALLOW_IPS": "127.0.0.1",
        }
        ways = ways_to(url, ports)
        with ThreadPoolExecutor(N_COPIES) as starting:
            begun = [
                starting.submit(stack.enter_context, serve(tmp_path / f"log{port}", environment, port))
                for port in ports
            ]
        yield School(url, ways, [each.result() for each in begun], postgres)


@pytest.fixture
def tab_on(school, new_person):
    """Make a tab, in a browser of its own, that comes to one of the copies."""

    def make(copy):
        tab = new_person(school)
        tab.page.context.add_cookies([{"name": "attention_way", "value": school.ways[copy], "url": school.url}])
        return tab

    return make


def answered_by(school, code, number, pupil):
    """Have a pupil without a browser answer, as often as it takes, as the page does; return what was answered."""
    given = [pupil % 4]
    with httpx2.Client(base_url=school.url, trust_env=False, timeout=20) as client:
        client.cookies.set("attention_way", school.ways[pupil % N_COPIES])

        def post(act, said):
            try:
                return client.post(f"/_attention/room/{code}/{act}", json=said).is_success
            except httpx2.TransportError:
                return False

        until(lambda: post("join", {}))
        until(lambda: post("answer", {"number": number, "given": given}))
    return given[0]


# One school for all that happens to it, for it takes long to build: two copies are killed, and the database restarts.
def test_a_lesson_goes_on_when_the_database_restarts_and_when_a_copy_and_that_of_the_teacher_are_killed(tab_on, school):
    teacher = Teacher(tab_on(0)).open(step="scale")
    pupils = [Pupil(tab_on(copy)).join(teacher.code) for copy in range(N_COPIES)]
    for pupil in pupils:
        pupil.expect_step(5)
    teacher.expect_here(N_COPIES)
    teacher.press("Ask")
    pupils[0].answer(1)
    pupils[1].answer(1)
    school.postgres.stop()
    for place in (teacher.trouble, *(pupil.status for pupil in pupils)):
        expect(place).not_to_be_empty()
    # What there is stays, and what is sent now arrives later, by itself.
    for pupil in pupils[:2]:
        expect(pupil.question.get_by_role("button").nth(1)).to_have_attribute("aria-pressed", "true")
    late = pupils[2].question.get_by_role("button").nth(2)
    late.click()
    expect(pupils[2].said).not_to_be_empty()
    expect(late).to_have_attribute("aria-pressed", "false")
    teacher.tab.page.get_by_role("button", name="Next: Mask").wait_for()
    school.postgres.start()
    expect(teacher.trouble).to_have_count(0)
    for pupil in pupils:
        expect(pupil.status).to_be_empty()
    expect(late).to_have_attribute("aria-pressed", "true")
    expect(teacher.bar).to_contain_text("3 of 3 answered")
    teacher.press("Show the answers")
    expect_told(pupils, [0, 2, 1, 0])
    teacher.press("Next")

    # A copy is killed while many answer.
    teacher.press("Ask")
    for index, pupil in enumerate(pupils):
        pupil.answer(index)
    with ThreadPoolExecutor(8) as others:
        answers = [others.submit(answered_by, school, teacher.code, 2, pupil) for pupil in range(N_OTHERS)]
        next(islice(as_completed(answers), N_OTHERS // 3, None))
        assert not all(each.done() for each in answers)
        school.copies[1].process.send_signal(signal.SIGKILL)
        expect(pupils[1].status).not_to_be_empty()
        expect(pupils[1].status).to_be_empty()
        given = [each.result() for each in answers]
    expect(pupils[1].question.get_by_role("button").nth(1)).to_have_attribute("aria-pressed", "true")
    # On another copy, an answer can be changed as before.
    pupils[1].answer(3)
    # The others have answered without a screen that follows: there are more answers than screens.
    expect(teacher.bar).to_contain_text(f"{N_OTHERS + N_COPIES} answered")
    teacher.press("Show the answers")
    expect_told(pupils, [given.count(index) + [0, 2, 3].count(index) for index in range(4)])
    teacher.press("Next")

    # That of the teacher is killed, too.
    teacher.press("Ask")
    pupils[2].answer(1)
    expect(teacher.bar).to_contain_text("1 of 3 answered")
    school.copies[0].process.send_signal(signal.SIGKILL)
    expect(teacher.trouble).not_to_be_empty()
    expect(teacher.trouble).to_have_count(0)
    pupils[2].answer(2)
    teacher.press("Show the answers")
    expect_told(pupils[2:], [0, 0, 1, 0])
    teacher.press("Next")
    teacher.tab.page.get_by_role("button", name="Next: Mask").click()
    for pupil in pupils:
        pupil.expect_step(6)
    for each in (teacher, *pupils):
        each.tab.errors.clear()  # the browser counts what is refused, and a connection that is lost


def expect_told(pupils, counts):
    """Wait until the answers are shown, and see how many gave each."""
    for pupil in pupils:
        expect(pupil.question.locator("tr.right")).not_to_have_count(0)
        assert pupil.counts() == counts
