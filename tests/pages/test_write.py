"""The page *Train it on your text*: a text is refused, learnt, followed, stopped, and kept private."""

import re
from itertools import count

import pytest

from attention.answer.jobs import follows, jobs
from attention.page.labs.write import LAB, STAGE
from attention.page.pages import OF_LABS
from attention.training.writing_results import JOB, LEAST, bundled
from tests.pages.conftest import PATIENCE
from tests.pages.test_memory import fetch, is_refused
from tests.until import until

PAGE = "pages/write.py"
SECRET = "<b>velvet</b> quarantine\n"
TEXT = SECRET * (LEAST // len(SECRET) + 1)

pytestmark = pytest.mark.usefixtures("_nothing_goes_on")


# Each page that is opened is another visitor's.
VISITORS = map("visitor {}".format, count())


def running(visitor):
    return jobs().status(JOB, visitor).now


def opened(open_page, **query):
    shown = open_page(PAGE, model="toy", **query)
    shown.visitor = next(VISITORS)
    return shown.send("question", "show", True)


def everywhere(shown):
    """All that is on a page, in its link and in its files."""
    files = [fetch(address).decode("utf-8", "replace") for address in shown.files.values()]
    return " ".join([*shown.html, shown.text, str(shown.view.to_query()), *files])


def test_a_text_is_learnt_by_the_visitor_who_has_given_it_and_nobody_else_sees_it(open_page, caplog, capfd):
    shown = opened(open_page, stage="7", n_layers="1")
    shown.send("train", "press", {"start": TEXT})
    assert shown.notices == []
    assert running(shown.visitor).is_private
    assert running(shown.visitor).arguments == ("--layers", "1")
    assert shown.view[STAGE] is None
    # To somebody else, it is as if something else went on, and the page waits for that.
    other = opened(open_page)
    assert jobs().status(JOB).is_busy
    assert follows(OF_LABS[LAB])
    until(lambda: len(running(shown.visitor).frames) > 1)
    shown.run()
    assert re.search("step [1-9]", shown.component("train")["told"])
    assert shown.component("written_weights")["rows"][:4] == ["<", "b", ">", "v"]
    # A press that is not one leaves it be.
    shown.send("train", "press", "taken")
    assert running(shown.visitor) is not None
    shown.send("train", "press", "stop")
    jobs().wait(PATIENCE)
    shown.run()
    assert "stopped" in shown.component("train")["told"]
    assert not follows(OF_LABS[LAB])
    assert shown.component("written_heads")
    other.run()
    assert "written_heads" not in other.components()
    there = open_page(PAGE, **{**shown.view.to_query(), "stage": "1"})
    assert "written_heads" not in there.components()
    for each in (other, there):
        assert "velvet" not in everywhere(each)
    # Nor does a file of the page of whoever has given it, which is made from the link.
    for address in shown.files.values():
        assert b"velvet" not in fetch(address)
    assert "velvet" not in caplog.text + "".join(capfd.readouterr())


@pytest.mark.slow
def test_what_the_story_has_taught_is_seen_by_everybody(open_page):
    shown = opened(open_page)
    shown.send("train", "press", {"start": ""})
    until(lambda: len(running(shown.visitor).frames) > 1)
    assert not running(shown.visitor).is_private
    shown.send("train", "press", "stop")
    jobs().wait(PATIENCE)
    there = opened(open_page, stage="1", seen_head="2")
    assert there.notices == []
    assert re.findall(r"\d+", there.component("written_weights")["title"]) == ["1", "2", "10"]
    assert "".join(there.component("written_weights")["rows"]).startswith(bundled()[:3])
    for address in there.files.values():
        assert not is_refused(fetch(address))


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"start": "too short"}, "at least 2,000 characters"),
        ("dance", None),
        ({"start": 7}, None),
        ({"start": [TEXT]}, None),
    ],
)
def test_what_cannot_be_learnt_starts_nothing_and_a_reason_is_given(open_page, wish, said):
    shown = opened(open_page).send("train", "press", wish)
    assert running(shown.visitor) is None
    assert [said in notice for notice in shown.notices] == ([True] if said else [])
    # The next press that is one takes it away.
    if said:
        shown.send("train", "press", {"start": TEXT})
        assert shown.notices == []
        assert running(shown.visitor).is_private
        shown.send("train", "press", "stop")
