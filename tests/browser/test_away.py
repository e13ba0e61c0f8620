"""An unreachable server: the page reports it in one sentence of its own, and recovers."""

import re

import pytest
from playwright.sync_api import expect

from attention.lesson.steps import step_of
from tests.browser.cable import cable_to

# What Streamlit tells the console when it would open a dialog.
IN_VAIN = re.compile("server is not responding|Streamlit still running")
# Streamlit has another remedy for whoever looks at an app of this very machine.
SCREENS = [("127.0.0.1", {"width": 1280, "height": 720}), ("localhost", {"width": 390, "height": 844})]


@pytest.fixture
def cable(server):
    """A way to the server that can be cut."""
    with cable_to(server) as cable:
        yield cable


def lose(tab, cable):
    """Cut the cable, and wait until Streamlit has looked for its server in vain."""
    with tab.page.expect_console_message(lambda said: IN_VAIN.search(said.text), timeout=60_000):
        cable.cut()


def come_back(tab, cable):
    """Mend the cable, and wait until the page has its server again."""
    cable.mend()
    app = tab.page.get_by_test_id("stApp")
    expect(app).to_have_attribute("data-test-connection-state", "CONNECTED", timeout=60_000)
    expect(tab.page.get_by_text("Connection lost").locator("visible=true")).to_have_count(0)
    # That it was sought in vain is no fault of the page.
    tab.errors.clear()


@pytest.mark.parametrize(("host", "viewport"), SCREENS)
def test_while_the_server_is_away_the_page_says_so_once_and_can_be_read_on(cable, new_tab, host, viewport):
    cable.url = cable.url.replace("127.0.0.1", host)
    tab = new_tab(cable, viewport=viewport)
    tab.go(model="toy", step="scores")
    sentence = tab.page.get_by_role("status").filter(has_text="Connection lost")
    expect(sentence).to_have_count(0)
    lose(tab, cable)
    expect(sentence).to_be_in_viewport(ratio=1)
    of_streamlit = tab.page.get_by_text(re.compile(r"Streamlit|\bConnecting", re.IGNORECASE))
    expect(of_streamlit.locator("visible=true")).to_have_count(0)
    # What needs no server is still there for the eye and the hand.
    reason = tab.page.locator("details").filter(has_text=step_of("scores").why).first
    reason.locator("summary").click()
    expect(reason).to_have_attribute("open", "")
    come_back(tab, cable)
    tab.next()


def test_where_a_class_has_its_bar_the_bar_alone_says_it(cable, new_tab):
    tab = new_tab(cable, locale="en-GB")
    tab.go(model="toy", step="scores").menu("Share")
    tab.page.get_by_role("button", name="Open a room for a class").click()
    tab.page.get_by_role("button", name="Close").click()
    sentence = tab.page.get_by_text("Connection lost").locator("visible=true")
    lose(tab, cable)
    expect(sentence).to_have_count(1)
    expect(tab.page.get_by_role("region", name="Class", exact=True).get_by_role("alert")).to_contain_text(
        "Connection lost"
    )
    come_back(tab, cable)
    tab.next()
