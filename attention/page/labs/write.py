"""The lab Train it on your text: a small Transformer learns from a text, and writes before, during and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from attention.core.masks import later
from attention.core.messages import message, messages
from attention.figures import charts
from attention.figures.charts import Chart, Curve
from attention.figures.colours import INACTIVE, WEIGHT
from attention.figures.format import number
from attention.figures.heads import HeadGrid, HeadThumb
from attention.figures.matrix import Matrix
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import between
from attention.lesson.prose import fact, lesson, typed
from attention.lesson.quiz import Guess
from attention.page.blocks import Blocks, Fold, Heading, LongText, Notice, Picture, Prose, Row, Setting, as_table
from attention.page.labs.base import Lab, Runs, always, covered
from attention.page.labs.work import Words, work
from attention.page.parameters import Choice, Number, Parameter, Values
from attention.page.settings import HEAD, LAYER, WORD
from attention.training.jobs import Run, Status
from attention.training.writing_results import (
    BATCH,
    CONTEXT,
    DEPTHS,
    JOB,
    LEAST,
    MOMENTS,
    MOST,
    N_HEADS,
    STEPS,
    TEMPERATURES,
    WIDTH,
    Moment,
    bundled,
    moments,
    parameters,
    uniform,
)

LAYERS: Parameter[int] = Parameter("n_layers", Choice(lambda _: DEPTHS), 2)
STAGE: Parameter[int | None] = Parameter(
    "stage", Number(lambda _: len(MOMENTS)), None, otherwise=message("The last one is shown.")
)
WATCHED: Parameter[int] = Parameter("seen_head", Number(lambda _: DEPTHS[-1] * N_HEADS, first=1), 0)

_PARTS: Mapping[str, str] = {
    "embedding": message("embedding"),
    "positions": message("positions"),
    "attention": message("attention"),
    "feed_forward": message("feed-forward"),
    "norms": message("norms"),
    "output": message("output"),
}
N_COMMON = 6
_ASKED = ("embedding", "attention", "feed_forward", "output")


def _guess(_: HeadContext | None) -> Guess:
    """Ask which part has most of the parameters."""
    n_symbols = len(set(bundled()))
    counts = parameters(n_symbols, LAYERS.default)
    question = lesson(
        "write/guess",
        layers=LAYERS.default,
        symbols=n_symbols,
        width=WIDTH,
        all=f"{sum(counts.values()):,}",
    )
    because = lesson(
        "write/guess-because", feed_forward=f"{counts['feed_forward']:,}", attention=f"{counts['attention']:,}"
    )
    largest = max(_ASKED, key=lambda part: counts[part])
    return Guess(question, tuple(_PARTS[part] for part in _ASKED), because, frozenset({_ASKED.index(largest)}))


# -------------------------------------------------------------------------------------- the content


def _content(values: Values, _: HeadContext | None, runs: Runs | None) -> Blocks:
    return _shown(values, runs, _counted(values[LAYERS], _n_symbols(runs)))


def _before(values: Values, _: HeadContext | None, runs: Runs | None) -> Blocks:
    """Return all blocks, with the sizes of the parts covered."""
    return _shown(values, runs, covered(_counted(values[LAYERS], _n_symbols(runs))))


def _run(runs: Runs | None) -> tuple[Status, Run | None]:
    status = Status() if runs is None else runs.job(JOB)
    return status, status.now or status.last


def _n_symbols(runs: Runs | None) -> int:
    """Return the number of different characters in the training text."""
    _, run = _run(runs)
    found = () if run is None else moments(run.frames)
    return found[0].sizes[2] if found else len(set(bundled()))


def _shown(values: Values, runs: Runs | None, counted: Blocks) -> Blocks:
    status, run = _run(runs)
    found = () if run is None else moments(run.frames)
    shown = () if run is None or not found else _trained(values, run, found)
    training = _training(values, status, is_here=runs is not None)
    return (
        Heading(message("A small Transformer learns to write")),
        Row(((Prose(lesson("write/intro")), *training), (Picture("characters", _characters()),))),
        *shown,
        *counted,
        Fold("story_fold", message("The story"), (Prose(lesson("write/story", text=typed(bundled()))),)),
    )


def _training(values: Values, status: Status, *, is_here: bool) -> Blocks:
    text = LongText(
        message("Your text"),
        message("Paste at least {least} characters. Without a text, a story is used.", least=f"{LEAST:,}"),
        LEAST,
        MOST,
    )
    arguments = ("--layers", str(values[LAYERS]))
    button = work("train", JOB, status, _WORDS, is_here=is_here, arguments=arguments, clears=(STAGE,), text=text)
    options = {depth: str(depth) for depth in DEPTHS}
    return (
        Setting(LAYERS, message("Layers"), values[LAYERS], options),
        button,
        *((Notice(status.problem),) if status.problem else ()),
        Prose(lesson("write/private"), "detail"),
    )


def _what(run: Run) -> str:
    return message("your text") if run.is_private else message("the story")


def _tell_going(run: Run) -> str:
    step = int(run.frames[-1]["step"]) if run.frames else 0
    return message("Learning from {what}: step {step} of {steps}", what=_what(run), step=step, steps=STEPS)


def _tell_ended(run: Run, facts: Mapping[str, str]) -> str:
    layers = messages("{n} layer", "{n} layers", int(run.arguments[1]))
    return message("Learnt from {what} on {date}, with {layers}: {how}.", what=_what(run), layers=layers, **facts)


_WORDS = Words(
    message("Train"),
    message("Train again"),
    message("Nothing trained yet. It takes half a minute."),
    _tell_going,
    _tell_ended,
)


# --------------------------------------------------------------------------------------- the trained model


def _trained(values: Values, run: Run, found: tuple[Moment, ...]) -> Blocks:
    """Show a stage of a training: samples, losses and heads."""
    last = len(found) - 1
    chosen = values[STAGE]
    at = last if chosen is None else min(chosen, last)
    here = found[at]
    options = {index: str(each.step) for index, each in enumerate(found)}
    # A file is made from the link, which lacks the text.
    return (
        Setting(STAGE, message("Steps of training"), at, options, is_scale=True),
        Row(
            (
                _written(here),
                (Picture("losses", _losses(found, at)), Prose(_tell_state(found, at))),
            ),
            (1, 1),
        ),
        *_heads(here, values[WATCHED]),
        as_table("stages", partial(_table, found), file="" if run.is_private else "stages"),
    )


def _written(here: Moment) -> Blocks:
    """Return the samples at each temperature; the first is 1."""
    as_is, bolder = here.written
    return (
        Prose(lesson("write/as-is", text=typed(as_is))),
        Prose(lesson("write/bolder", text=typed(bolder), temperature=str(TEMPERATURES[1]))),
    )


def _tell_state(found: Sequence[Moment], at: int) -> str:
    here = found[at]
    _, n_held_out, n_symbols = here.sizes
    told = lesson(
        "write/state",
        step=here.step,
        batch=BATCH,
        context=CONTEXT,
        learnt=here.losses[0],
        held_out=here.losses[1],
        n_held_out=f"{n_held_out:,}",
        symbols=f"{n_symbols:,}",
        uniform=fact(uniform(n_symbols)),
        unigram=fact(here.unigram),
    )
    best = min(found[: at + 1], key=lambda each: float(each.losses[1]))
    if best is not here and here.losses[0] < best.losses[0]:
        told += lesson("write/by-heart", best=best.step, loss=best.losses[1])
    return told + lesson("write/copied", copied=f"<b>{here.copied[0]}</b>")


def _losses(found: Sequence[Moment], at: int) -> Chart:
    """Return the losses at every stage, and two baselines."""
    steps = np.array([each.step for each in found])
    parts = ((message("training"), WEIGHT), (message("held out"), None))
    lines = [
        Curve(name, steps, np.array([float(each.losses[part]) for each in found]), colour, at)
        for part, (name, colour) in enumerate(parts)
    ]
    known = (
        (message("all equally likely"), uniform(found[0].sizes[2])),
        (message("by frequency"), found[0].unigram),
    )
    # The baselines share one colour.
    references = [
        Curve(f"{name}: {number(loss)}", np.array([0, STEPS]), np.array([loss, loss]), INACTIVE, is_dashed=index > 0)
        for index, (name, loss) in enumerate(known)
    ]
    most = max(float(curve.values.max()) for curve in (*lines, *references))
    return Chart(
        charts.stages(
            (*references, *lines),
            message("loss in nats per character"),
            message("Loss on training and held-out text, and two baselines."),
            n_steps=STEPS,
            limits=(0.0, most),
            axis=message("steps"),
        )
    )


def _heads(here: Moment, wanted: int) -> Blocks:
    n_layers, n_heads = here.weights.shape[:2]
    watched = min(wanted, n_layers * n_heads - 1)
    layer, head = divmod(watched, n_heads)
    weights = here.weights[layer, head]
    hidden = later(len(weights))
    thumbs = tuple(
        HeadThumb(
            message("Head {head}", head=place % n_heads + 1),
            np.where(hidden, np.float32(-np.inf), here.weights[divmod(place, n_heads)]),
            "",
            message("Layer {layer}", layer=place // n_heads + 1),
        )
        for place in range(n_layers * n_heads)
    )
    grid = HeadGrid(thumbs, watched, message("The heads of all layers"))
    own, previous = (fact(float(np.diagonal(weights, offset).mean())) for offset in (0, -1))
    told = lesson("write/head", own=own, previous=previous)
    return (
        Heading(message("What its heads attend to"), 3),
        Picture("written_heads", grid, sets={"head": WATCHED}),
        Row(((Picture("written_weights", _matrix(here, layer, head)),), (Prose(told, "detail"),)), (1, 1)),
    )


def _matrix(here: Moment, layer: int, head: int) -> Matrix:
    weights = here.weights[layer, head]
    labels = tuple(here.beginning)
    title = message("Layer {layer}, head {head}, after {step} steps", layer=layer + 1, head=head + 1, step=here.step)
    alt = message("{title}: weights of the first {n} characters of the text.", title=title, n=len(labels))
    return between("written", title, weights, labels, alt, limit=1.0, hidden=later(len(weights)))


def _table(found: Sequence[Moment]) -> dict[str, list[str]]:
    return {
        message("step"): [str(each.step) for each in found],
        message("loss, training"): [repr(float(each.losses[0])) for each in found],
        message("loss, held out"): [repr(float(each.losses[1])) for each in found],
        message("longest passage copied"): [str(each.copied[0]) for each in found],
        **{
            message("written at temperature {temperature}", temperature=each): [
                moment.written[index] for moment in found
            ]
            for index, each in enumerate(TEMPERATURES)
        },
    }


# ---------------------------------------------------------------------------------------------- its size


def _counted(n_layers: int, n_symbols: int) -> Blocks:
    """Return the parameters of each part, for the chosen number of layers."""
    counts = parameters(n_symbols, n_layers)
    total = sum(counts.values())
    names = tuple(_PARTS[part] for part in counts)
    chart = charts.lengths(
        names,
        np.array(list(counts.values())),
        message("parameters of each part"),
        alt=message("Parameters of each part of the Transformer."),
        are_counts=True,
    )
    told = lesson(
        "write/parts",
        layers=n_layers,
        heads=N_HEADS,
        width=WIDTH,
        symbols=f"{n_symbols:,}",
        all=f"<b>{total:,}</b>",
        attention_share=f"{counts['attention'] / total:.0%}",
        feed_forward_share=f"{counts['feed_forward'] / total:.0%}",
    )
    columns = {message("part"): list(names), message("parameters"): [str(count) for count in counts.values()]}
    return (
        Heading(message("How large it is")),
        Picture("parts", Chart(chart)),
        Prose(told),
        as_table("counted", lambda: columns, file="parameters"),
    )


def _characters() -> Chart:
    common = Counter(bundled()).most_common(N_COMMON)
    names = [message("space") if character == " " else character for character, _ in common]
    title = message("the {n} most common characters of the story", n=N_COMMON)
    return Chart(charts.lengths(names, [count for _, count in common], title, are_counts=True))


LAB = Lab(
    address="write",
    title=message("Train it on your text"),
    purpose=message("A small Transformer learns to write like your text."),
    knobs=(LAYERS, STAGE, WATCHED),
    guess=_guess,
    content=_content,
    before=_before,
    idle=always(WORD, LAYER, HEAD),
    job=JOB,
    without=frozenset({"mask", "parts"}),
    minutes=10,
)
