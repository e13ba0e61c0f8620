"""On a slow connection, presses that precede the answers to earlier ones all count."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.line import Line

EXAMPLE = "He was becoming agitated"
OWN = "Two small birds sing"


PRESSES = {
    "an example": lambda tab: tab.pick_example(EXAMPLE),
    "own words": lambda tab: tab.type_sentence(OWN),
    "the toy": lambda tab: tab.pick("Model", "Toy"),
    "BERT": lambda tab: tab.pick("Model", "MiniLM (a small BERT)"),
    "a head": lambda tab: tab.heads().nth(1).click(),
    "a cell": lambda tab: tab.matrix("scores").click(1, 2),
    "next": lambda tab: tab.page.get_by_role("button", name=re.compile("^Next")).click(),
    "code": lambda tab: tab.pick("More about this step", "NumPy"),
}


CASES = [
    (["an example", "next"], {}, {"text": EXAMPLE, "step": "scale"}),
    (["own words", "code"], {}, {"text": OWN, "panel": "numpy"}),
    (["an example", "own words"], {}, {"text": OWN}),
    (["the toy", "a head"], {}, {"model": "toy", "at": "A-15", "head": "2"}),
    (["the toy", "a cell"], {}, {"model": "toy", "cell": "scores-1-2", "word": "1"}),
    (["the toy", "BERT"], {"head": "3"}, {"at": "A-15"}),
    (["BERT", "own words", "next"], {"model": "toy"}, {"text": OWN, "step": "scale"}),
]


@pytest.mark.parametrize(
    ("presses", "start", "end"),
    CASES,
    ids=lambda value: ", ".join(value) if isinstance(value, list) else "",
)
def test_no_press_is_lost_and_none_is_made_up(tab, presses, start, end):
    line = Line(tab.page)
    tab.go(step="scores", **start)
    line.hold()
    for count, press in enumerate(presses, start=1):
        PRESSES[press](tab)
        line.wait_for_answers(count)
    line.release()
    tab.expect_query(**{"step": "scores", **end})
    expect(tab.field).to_have_value(end.get("text", "The cat sat on the mat"))
    chosen = "Toy" if end.get("model") == "toy" else "MiniLM (a small BERT)"
    tab.expect_chosen("Model", chosen)
    expect(tab.notices).to_have_count(0)
