"""The page *Train one and watch*: a training is started, followed and stopped, and the results stay."""

import re

import pytest

from attention.answer.jobs import follows, jobs
from attention.page.labs.train_one import CHECKPOINT, LAB
from attention.page.pages import OF_LABS
from attention.training.induction_results import JOB
from tests.pages.conftest import PATIENCE
from tests.pages.test_memory import fetch, is_refused
from tests.until import until

PAGE = "pages/train_one.py"

pytestmark = pytest.mark.usefixtures("_nothing_goes_on")


@pytest.mark.slow
def test_a_training_is_started_followed_and_stopped_and_whoever_comes_next_sees_it(open_page):
    shown = open_page(PAGE, model="toy", start="5", checkpoint="7").send("question", "show", True)
    assert shown.component("train")["share"] is None
    # A browser can say anything.
    shown.send("train", "press", "dance")
    shown.send("train", "press", {"seed": "; rm"})
    assert jobs().status(JOB).now is None
    shown.send("train", "press", "start")
    assert jobs().status(JOB).now.arguments == ("--seed", "5")
    assert follows(OF_LABS[LAB])
    assert shown.view[CHECKPOINT] is None
    # What stands there is the run that goes on, and not what was before.
    until(lambda: len(jobs().status(JOB).now.frames) > 1)
    shown.run()
    assert shown.component("train")["share"] > 0
    assert "From start 5: step" in shown.component("train")["told"]
    assert len(shown.component("trained_heads")["heads"]) == 12
    shown.send("train", "press", "stop")
    jobs().wait(PATIENCE)
    assert not follows(OF_LABS[LAB])
    there = open_page(PAGE, **shown.view.to_query(), checkpoint="1", watched="2")
    assert there.notices == []
    assert re.search(r"\b5\b.*stopped", there.component("train")["told"])
    assert "After 15 steps" in there.text
    assert re.findall(r"\d+", there.component("trained_weights")["title"]) == ["1", "2", "15"]
    for address in there.files.values():
        assert not is_refused(fetch(address))
