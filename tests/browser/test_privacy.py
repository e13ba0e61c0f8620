"""Users' texts are in no log."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.server import ROOT, serve

SECRET = "velvet quarantine"
FAILING_TOY = """
from attention.models.toy import ToyModel

def trace(self, text, pair=None, *, mask=None):
    raise RuntimeError(f"cannot run on {text}")

ToyModel.trace = trace
"""


def expect_nothing_of(sentence, server):
    logged = server.printed()
    assert logged, "an empty log"
    for word in sentence.split():
        assert word not in logged


# It logs more than the one that tests share, and one of its models fails.
@pytest.fixture(scope="module")
def talkative(tmp_path_factory):
    """A server that logs all that Streamlit can be asked to log, and whose toy fails on whatever it is given."""
    folder = tmp_path_factory.mktemp("talkative")
    (folder / "sitecustomize.py").write_text(FAILING_TOY)
    environment = {"STREAMLIT_LOGGER_LEVEL": "info", "PYTHONPATH": f"{folder}:{ROOT}"}
    with serve(folder / "log", environment) as server:
        yield server


def test_the_log_does_not_hold_what_was_typed_nor_when_a_model_fails(talkative, new_tab):
    tab = new_tab(at=talkative).go("", text=f"{SECRET} <b> by a link")
    expect(tab.field).to_have_value(f"{SECRET} <b> by a link")
    tab.type_sentence(f"{SECRET} typed")
    tab.to_page("Step by step")
    expect(tab.chips.filter(has_text="##aran")).to_have_count(1)
    tab.to_step("Scores").matrix("scores").click(1, 1)
    expect(tab.detail).to_contain_text("q(velvet)")
    tab.page.reload()
    tab.settled()
    expect_nothing_of(SECRET, talkative)
    tab.go(model="toy", text=SECRET, step="scores")
    expect(tab.notices).to_have_text(re.compile("^Toy "))
    tab.type_sentence(f"{SECRET} again")
    tab.expect_query(model="toy", text=f"{SECRET} again", step="scores")
    assert "RuntimeError" in talkative.printed()
    expect_nothing_of(SECRET, talkative)
    # The other model still works.
    tab.pick("Model", "MiniLM (a small BERT)")
    expect(tab.proof).to_contain_text("✓")
