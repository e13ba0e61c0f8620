"""Another step is one file and one name in a list; then the page has it, complete."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from attention.lesson import steps
from attention.lesson.steps import softmax
from attention.models import load
from tests.made_up_step import STEP

TEXT = "The cat sat on the mat"
HEAD, WORD = 2, 4
# As the step itself has it.
HEADING = "8. Ask how undecided a word is"
# The toy's own weights in this head, and what an entropy is, from its definition.
WEIGHTS = load("toy").trace(TEXT).layers[0].head(HEAD).weights.astype(float)
ENTROPIES = np.array([-sum(a * np.log2(a) for a in row if a > 0) for row in WEIGHTS])
PLACE = {"text": TEXT, "model": "toy", "head": str(HEAD + 1), "word": str(WORD)}


@pytest.fixture
def with_step(monkeypatch):
    """Put the step into the list, after the softmax: it is the eighth of ten then."""
    place = steps.number_of(softmax.STEP)
    monkeypatch.setattr(steps, "STEPS", (*steps.STEPS[:place], STEP, *steps.STEPS[place:]))


@pytest.fixture
def shown(with_step, open_page):
    return open_page(step=STEP.key, **PLACE)


def letters(formula):
    """What is written in a formula in MathML, in its order."""
    return list("".join(ET.fromstring(formula).itertext()))


def test_the_line_of_steps_shows_it_and_leads_there_and_on(with_step, open_page):
    shown = open_page(step="softmax", **PLACE)
    assert {"key": "entropy", "name": "Entropy"} in shown.component("stepper")["steps"]
    assert len(shown.component("stepper")["steps"]) == 10
    shown.go()
    assert shown.component("stepper")["current"] == shown.view.step == "entropy"
    assert shown.query["step"] == "entropy"
    assert shown.headings(2) == [HEADING]
    shown.go()
    assert [heading[:3] for heading in shown.headings(2)] == ["9. "]


def test_a_link_opens_it_with_its_heading_formula_words_and_all_heads(shown):
    assert shown.notices == []
    assert shown.headings(2) == [HEADING]
    assert letters(shown.formulas[0]) == list("H=−∑kAklog2Ak")
    assert re.search(rf"the \(4\).*{ENTROPIES[WORD]:.2f} bits", shown.text)
    assert len(shown.component("map")["heads"]["descriptions"]) == load("toy").info.n_heads


def test_a_chosen_cell_is_explained_and_in_the_link(shown):
    shown.send("main_entropies", "select", {"matrix": "entropies", "row": 1, "column": 0})
    assert shown.component("main_entropies")["selected"] == [1, 0]
    assert f"cat has {ENTROPIES[1]:.2f} bits." in shown.text
    assert shown.query["cell"] == "entropies-1-0"
