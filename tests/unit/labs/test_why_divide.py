"""*Why divide by √d*: displays of random vectors and of a head, against NumPy and torch."""

import re
from functools import partial

import numpy as np
import pytest
import torch

from attention.lesson.head_context import HeadContext
from attention.page.blocks import Picture
from attention.page.labs.why_divide import ASKED_WIDTH, LAB, TEMPERATURES, WIDTHS
from tests.loaded import load
from tests.pairwise import pairwise
from tests.unit.labs.seen import SENTENCE, prose, scene_of, table
from tests.unit.labs.seen import shown as lab_shown
from tests.unit.lesson.telling import facts_in
from tests.unit.saying import says, tells

FACTORS = {"none": lambda _: 1.0, "root": lambda d: d**0.5, "width": float}


MODELS = ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en"]


@pytest.fixture(params=MODELS)
def scene(request):
    return scene_of(request.param)


shown = partial(lab_shown, LAB)


@pytest.mark.parametrize(("temperature", "model_id", "divisor"), pairwise(TEMPERATURES, MODELS, FACTORS))
def test_the_weights_as_chosen_are_those_of_torch(model_id, divisor, temperature):
    scene = scene_of(model_id)
    blocks = shown(scene, divisor=divisor, temperature=temperature)
    (drawn,) = [each.figure for each in blocks if isinstance(each, Picture) and each.key == "chosen_weights"]
    scores = torch.tensor(np.asarray(scene.steps.scores, dtype=np.float64))
    scores = scores / FACTORS[divisor](scene.d_head) / temperature + torch.tensor(np.asarray(scene.steps.mask))
    wanted = torch.softmax(scores, dim=-1).numpy()
    np.testing.assert_allclose(np.nan_to_num(drawn.values), np.where(scene.visible, wanted, 0), atol=2e-5)
    rows = table(blocks, "rows_table")
    logs = np.log(wanted, where=wanted > 0, out=np.zeros_like(wanted))
    found = np.array(rows["chosen: entropy in nats"], dtype=float)
    np.testing.assert_allclose(found, -(wanted * logs).sum(axis=-1), atol=1e-4)


def test_as_the_model_does_it_nothing_changes_and_that_is_told(scene):
    blocks = shown(scene)
    rows = table(blocks, "rows_table")
    assert tells(prose(blocks), "why-divide/row-own")
    assert tells(prose(shown(scene, temperature=2.0)), "why-divide/row")
    for what in ("largest weight", "entropy in nats", "Jacobian norm"):
        own, chosen = (np.array(rows[f"{whose}: {what}"], dtype=float) for whose in ("own", "chosen"))
        np.testing.assert_allclose(own, chosen, atol=1e-6)


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_said_of_a_width_is_in_the_table_and_as_theory_has_it(width):
    blocks = shown(None, width=width)
    numbers = table(blocks, "widths_table")
    at = numbers["d"].index(str(width))
    before, after = (float(numbers[name][at]) for name in ("spread", "spread, divided by √d"))
    assert before == pytest.approx(width**0.5, rel=0.03)
    assert after == pytest.approx(1, rel=0.03)
    told = prose(blocks)
    assert says(told, width, f"{before:.2f}", f"{after:.2f}")
    power = float(re.search(r"to the power of ([\d.]+)", told)[1])
    assert power == pytest.approx(0.5, abs=0.02)
    # The gradient dies as d grows, and does not after the division.
    slopes, kept = (np.array(numbers[name], dtype=float) for name in ("Jacobian norm", "Jacobian norm, divided by √d"))
    assert np.all(np.diff(slopes[1:]) < 0)
    assert kept.min() > 0.9 * kept.max()


def test_the_question_is_answered_by_what_was_measured():
    guess = LAB.guess(None)
    (right,) = guess.right
    assert guess.answers[right] == "about 8"
    assert facts_in(guess.reason, "why-divide/guess-because")["spread"] == pytest.approx(ASKED_WIDTH**0.5, rel=0.03)


def test_a_word_without_a_choice_is_told_so():
    trace = load("toy").trace(SENTENCE, mask="causal")
    assert tells(prose(shown(HeadContext(trace, 0, 0, 0), divisor="none")), "why-divide/row-lone")
