"""The server's time for a lab's response: every position of its first knob, with every bundled model."""

from __future__ import annotations

import asyncio
import statistics

from attention.models import list_models
from attention.page.labs import LABS, Lab
from attention.page.pages import OF_LABS
from attention.page.parameters import Context
from tests.bench.client import PageError, Visitor
from tests.bench.report import undisturbed
from tests.browser.server import AppServer

MODELS = {info.model_id: info for info in list_models()}
# Without labs that measure, train, or run a model repeatedly.
AT_ONCE = tuple(lab for lab in LABS if lab.job is None and lab.measured_guess is None)
MAX_MEDIAN_MS = 100
N_ROUNDS = 5


def test_an_answer_of_a_lab_is_quick(report, server: AppServer):
    with undisturbed():
        medians = asyncio.run(_answers(server.url))
    what = f"an answer, over {len(AT_ONCE)} labs and {len(MODELS)} models"
    report.compare("Labs", f"{what}, median", 1000 * statistics.median(medians.values()), MAX_MEDIAN_MS, " ms", 1)
    for lab in AT_ONCE:
        slowest = max((each for each in medians if each[0] == lab.address), key=lambda each: medians[each])
        _, model, position = slowest
        name = f"  slowest of {lab.address} ({model}, {position}), median"
        report.compare("Labs", name, 1000 * medians[slowest], MAX_MEDIAN_MS, " ms", 1)


async def _answers(url: str) -> dict[tuple[str, str, str], float]:
    """Return the median response time for each lab, model and position of the first knob."""
    found: dict[tuple[str, str, str], float] = {}
    for lab in AT_ONCE:
        for model, info in MODELS.items():
            if lab.is_for(info):
                found |= await _of_model(url, lab, model)
    return found


async def _of_model(url: str, lab: Lab, model: str) -> dict[tuple[str, str, str], float]:
    visitor = await Visitor.open(url, OF_LABS[lab].address, model=model)
    await visitor.send("question", "show", True)
    opened, knob = visitor.query, lab.knobs[0]
    positions = [knob.kind.write(each) for each in knob.kind.options(Context(MODELS, model))]
    seconds: dict[str, list[float]] = {each: [] for each in positions}
    for index in range(N_ROUNDS + 1):
        for position, times in seconds.items():
            drawn = await visitor.follow(**{**opened, knob.name: position})
            (question,) = drawn.components("question")
            if question.get("verdict") is None:
                raise PageError(f"{lab.address} shows nothing with {model} at {position!r}.")
            if index:  # the first request runs the model
                times.append(drawn.seconds)
    await visitor.close()
    return {(lab.address, model, position): statistics.median(times) for position, times in seconds.items()}
