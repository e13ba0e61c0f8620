"""What people type stays between them and the model: it is in no log."""

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
    assert logged, "a log that is empty would prove nothing"
    for word in sentence.split():
        assert word not in logged


@pytest.fixture
def server_with(tmp_path):
    """Start servers in an environment of their own."""
    running = []

    def start(**environment):
        running.append(serve(tmp_path / f"log{len(running)}", environment))
        return running[-1].__enter__()

    yield start
    for each in running:
        each.__exit__(None, None, None)


def test_the_log_does_not_hold_what_was_typed(server_with, new_tab):
    # With all that Streamlit can be asked to log.
    server = server_with(STREAMLIT_LOGGER_LEVEL="info")
    tab = new_tab(at=server).go("", text=f"{SECRET} <b> by a link")
    expect(tab.field).to_have_value(f"{SECRET} <b> by a link")
    tab.type_sentence(f"{SECRET} typed")
    tab.to_page("Step by step")
    expect(tab.chips.filter(has_text="##aran")).to_have_count(1)
    tab.to_step("Scores").matrix("scores").click(1, 1)
    expect(tab.detail).to_contain_text("q(velvet)")
    tab.page.reload()
    tab.settled()
    expect_nothing_of(SECRET, server)


@pytest.mark.slow
def test_the_log_does_not_hold_what_was_typed_when_a_model_fails(server_with, new_tab, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(FAILING_TOY)
    server = server_with(PYTHONPATH=f"{tmp_path}:{ROOT}")
    tab = new_tab(at=server).go(model="toy", text=SECRET, step="scores")
    expect(tab.notices).to_have_text(re.compile("^Toy failed on this sentence"))
    tab.type_sentence(f"{SECRET} again")
    tab.expect_query(model="toy", text=f"{SECRET} again", step="scores")
    assert "RuntimeError" in server.printed()
    expect_nothing_of(SECRET, server)
    # The other model still works.
    tab.pick("Model", "BERT")
    expect(tab.proof).to_contain_text("✓")
