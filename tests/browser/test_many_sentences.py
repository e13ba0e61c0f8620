"""*Many sentences* in a browser: heads, an uploaded file, cancelling, and accessibility."""

import re

import pytest
from playwright.sync_api import expect

from attention.experiments import corpus
from tests.browser.looks import check
from tests.browser.server import serve
from tests.summaries import summarise

PAGE = "many_sentences"
# Enough for a run that lasts until somebody cancels it.
LONG = "\n".join(f"{first} {second}" for first in corpus.sentences()[:10] for second in corpus.sentences())
SECRET = "xylophone quarantine"


def upload(tab, text):
    own = tab.page.locator("details", has_text="Use your own sentences")
    if own.get_attribute("open") is None:
        own.locator("summary").click()
        expect(own).to_have_attribute("open", "")
    data = text if isinstance(text, bytes) else text.encode()
    tab.page.locator("input[type=file]").set_input_files({"name": "mine.txt", "mimeType": "text/plain", "buffer": data})


def cancel(tab):
    """Cancel once something is done."""
    expect(tab.page.get_by_text(re.compile(r"\b[1-9][\d,]* of 5,000\b")).first).to_be_visible()
    tab.page.get_by_role("button", name="Cancel").click()


def test_a_file_of_ones_own_is_measured_and_a_bad_line_named(tab, models):
    tab.go(PAGE, model="toy")
    upload(tab, b"A cat sat on the mat.\n" + b"caf\xe9\n" + b"A cat sat on the mat.\n")
    expect(tab.notices.first).to_contain_text(re.compile(r"UTF-8\b.*\b2\b"))
    tab.settled()
    # Twice the same sentence: the mean is what it is on one.
    one = summarise(models["toy"].trace("A cat sat on the mat."))[models["toy"].info.default_head]
    expect(tab.words.filter(has_text="over 2 sentences")).to_contain_text(f"entropy is {one.entropy:.2f} nats")
    check(tab, wide="dark")


def test_cancelling_stops_the_work_and_keeps_what_was_done(tab):
    tab.go(PAGE)
    upload(tab, LONG)
    cancel(tab)
    notice = tab.notices.filter(has_text="Cancelled")
    expect(notice).to_have_text(re.compile(r"\b[\d,]+ of 5,000\b"))
    tab.settled()
    said = notice.inner_text()
    n_done = int(re.search(r"([\d,]+) of 5,000\b", said)[1].replace(",", ""))
    assert 0 < n_done < 5000
    expect(tab.words.filter(has_text=f"over {n_done:,} sentences")).to_be_visible()
    # Nobody works on: another head is from as many sentences.
    tab.select("Head", "3 of 12")
    expect(tab.page).to_have_url(re.compile(r"layer=3&head=3&.*hold=1"))
    expect(notice).to_have_text(said)
    expect(tab.words.filter(has_text=f"Layer 3, head 3, over {n_done:,} sentences")).to_be_visible()
    # It goes on from there, and can be cancelled again.
    tab.page.get_by_role("button", name="Continue").click()
    cancel(tab)
    expect(notice).to_be_visible()
    expect(notice).not_to_have_text(said)
    tab.settled()


@pytest.mark.slow
def test_the_log_holds_nothing_of_a_file(new_tab, tmp_path):
    with serve(tmp_path / "log", {"STREAMLIT_LOGGER_LEVEL": "info"}) as server:
        tab = new_tab(at=server).go(PAGE, model="toy")
        upload(tab, f"{SECRET} here\nanother {SECRET}\n".encode() + SECRET.encode() + b" \xe9")
        expect(tab.words.filter(has_text="over 2 sentences").first).to_be_visible()
        tab.settled()
        tab.page.close()
        logged = server.printed()
    # An empty log would prove nothing.
    assert logged
    assert not [word for word in SECRET.split() if word in logged]
