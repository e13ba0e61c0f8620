"""The page *What it costs*: measuring is started, followed and stopped, and the results stay."""

import pytest

from attention.answer.jobs import follows, jobs
from attention.experiments.costs import JOB
from attention.page.labs.cost import COST, LAB
from attention.page.pages import OF_LABS
from tests.pages.conftest import PATIENCE
from tests.pages.test_memory import fetch, is_refused
from tests.until import until

PAGE = "pages/cost.py"

pytestmark = pytest.mark.usefixtures("_nothing_goes_on")


@pytest.mark.slow
def test_it_is_started_followed_and_stopped_and_whoever_comes_next_sees_it(open_page):
    shown = open_page(PAGE, model="toy").send("question", "show", True)
    assert shown.component("measure")["share"] is None
    # A browser can say anything.
    shown.send("measure", "press", "dance")
    assert jobs().status(JOB).now is None
    shown.send("measure", "press", "start")
    assert jobs().status(JOB).now.arguments == ()
    assert follows(OF_LABS[LAB])
    until(lambda: len(jobs().status(JOB).now.frames) >= 9)
    shown.run()
    assert shown.component("measure")["share"] > 0
    assert [each["name"] for each in shown.component("time_chart")["data"]] == ["explicit", "fused", "LSTM"]
    shown.send("measure", "press", "stop")
    jobs().wait(PATIENCE)
    assert not follows(OF_LABS[LAB])
    there = open_page(PAGE, **shown.view.to_query(), cost="memory")
    assert there.notices == []
    assert there.view[COST] == "memory"
    assert "stopped after" in there.component("measure")["told"]
    assert "explicit attention held" in there.text
    # 2 arrays of scores of 4 heads, and the queries divided by √d, in numbers of 4 bytes.
    table = fetch(next(address for name, address in there.files.items() if "lengths" in name)).decode()
    titles, *rows = (line.split(",") for line in table.lstrip("\ufeff").splitlines())
    at = titles.index("explicit: bytes")
    assert [int(row[at]) for row in rows if row[at]][:3] == [4 * (8 * n**2 + 256 * n) for n in (64, 128, 256)]
    for address in there.files.values():
        assert not is_refused(fetch(address))
