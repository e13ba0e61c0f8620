"""The lab Train one and watch: two layers of attention learn to repeat a sequence, and one layer does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.masks import later
from attention.core.messages import message, messages
from attention.core.trace import Token
from attention.experiments.untrained import untrained_weights
from attention.figures import charts
from attention.figures.charts import Chart, Curve
from attention.figures.colours import INACTIVE, WEIGHT
from attention.figures.format import number
from attention.figures.heads import HeadGrid, HeadThumb
from attention.figures.matrix import Matrix
from attention.figures.tokens import TokenStrip
from attention.lesson.head_context import HeadContext, needs_all_layers
from attention.lesson.matrices import between
from attention.lesson.prose import fact, lesson, word
from attention.lesson.quiz import Guess
from attention.lesson.tables import full_precision
from attention.measures.induction import after_earlier_copies, numbered, prefix_matching
from attention.page.blocks import Blocks, Heading, Notice, Picture, Prose, Row, Section, Setting, as_table, beside
from attention.page.labs.base import Lab, Runs, always, covered
from attention.page.labs.work import Words, work
from attention.page.parameters import Number, Parameter, Values
from attention.page.settings import HEAD, LAYER, WORD
from attention.training.induction_results import (
    BATCH,
    EXAMPLE,
    HALF,
    JOB,
    N_CHECKPOINTS,
    N_HEADS,
    N_SCORED,
    N_STARTS,
    N_TOKENS,
    NETWORKS,
    PLACES,
    STEPS,
    SYLLABLES,
    Checkpoint,
    checkpoints,
)
from attention.training.jobs import Run, Status

N_WATCHED = len(PLACES) * N_HEADS
LEAST = 0.5  # above it, a head of the second layer is called an induction head
UPPER, LOWER, SINGLE = PLACES.index((0, 1)), PLACES.index((0, 0)), PLACES.index((1, 0))
ASKED = 4  # the question is about the second copy of this syllable

START: Parameter[int] = Parameter("start", Number(lambda _: N_STARTS, first=1), 0)
CHECKPOINT: Parameter[int | None] = Parameter(
    "checkpoint", Number(lambda _: N_CHECKPOINTS), None, otherwise=message("The last one is shown.")
)
WATCHED: Parameter[int | None] = Parameter(
    "watched",
    Number(lambda _: N_WATCHED, first=1),
    None,
    otherwise=message("The head with the highest score is shown."),
)

_NETWORK_NAMES = (message("Two layers"), message("One layer"))
_PLACE_NAMES = (
    message("Two layers, layer 1"),
    message("Two layers, layer 2"),
    message("One layer"),
)
_LABELS = tuple(SYLLABLES[token] for token in EXAMPLE)


def _guess(_: HeadContext | None) -> Guess:
    """Ask which earlier token lets a head predict the next."""
    before, token, after = (SYLLABLES[EXAMPLE[ASKED + offset]] for offset in (-1, 0, 1))
    answers = (
        message("the first {token}", token=token),
        message("{before}, right before the first {token}", before=before, token=token),
        message("{after}, right after the first {token}", after=after, token=token),
        message("the second {token}, where it stands", token=token),
    )
    reason = lesson("train-one/guess-because", token=word(token), next=word(after))
    return Guess(lesson("train-one/guess", n=HALF, token=word(token)), answers, reason, frozenset({2}))


# -------------------------------------------------------------------------------------- the content


def _content(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    measured = _measured(runs)
    return (
        *_opening(values[START], runs),
        *((*_trained(values, measured), Prose(_tell_task())) if measured else _untrained()),
        *(() if scene is None or runs is None else _on_own_text(scene, runs)),
    )


def _before(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    """Return the syllables, the untrained heads of a recorded training, and covers over a model's scores."""
    first = _measured(runs)[:1]
    heads = covered(_trained(values, first), but=("trained_heads", "trained_weights")) if first else ()
    yours = () if scene is None or runs is None else covered(_on_own_text(scene, runs), but=("yours",))
    return (
        *_opening(values[START], runs),
        *((*heads, Prose(_tell_task())) if first else _untrained()),
        # A text without repetition has only a heading.
        *(yours if len(yours) > 1 else ()),
    )


def _untrained() -> Blocks:
    """Return an untrained head and the task, where no training is recorded."""
    title = message("a head of random numbers, untrained")
    weights = _drawn("untrained", title, untrained_weights(EXAMPLE))
    untrained = Picture("untrained", replace(weights, focus_row=HALF + ASKED))
    return (Row(((untrained,), (Prose(_tell_task()),)), (1, 1)),)


def _tell_task() -> str:
    return lesson("train-one/intro", heads=N_HEADS, vocabulary=N_TOKENS)


def _status(runs: Runs | None) -> Status:
    return Status() if runs is None else runs.job(JOB)


def _measured(runs: Runs | None) -> tuple[Checkpoint, ...]:
    """Return the checkpoints of the current training or, without one, of the last."""
    status = _status(runs)
    run = status.now or status.last
    return () if run is None else checkpoints(run.frames)


def _opening(start: int, runs: Runs | None) -> Blocks:
    heading = Heading(message("Two networks learn"))
    return (_sequence(), heading, *_training(start, _status(runs), is_here=runs is not None))


def _sequence() -> Picture:
    """Return the syllables, with the question's one in focus."""
    tokens = tuple(
        Token(name, name, place, place, int(token))
        for place, (name, token) in enumerate(zip(_LABELS, EXAMPLE, strict=True))
    )
    return Picture("sequence", TokenStrip(tokens, HALF + ASKED, message("Syllables")))


def _training(start: int, status: Status, *, is_here: bool) -> Blocks:
    options = {each: str(each + 1) for each in range(N_STARTS)}
    about = message("The random numbers both networks start from.")
    knob = Setting(START, message("Start"), start, options, is_scale=True, help=about)
    button = work(
        "train",
        JOB,
        status,
        _WORDS,
        is_here=is_here,
        arguments=("--seed", str(start + 1)),
        clears=(CHECKPOINT,),
    )
    return (Section("training", (knob, button), is_line=True),)


def _tell_going(run: Run) -> str:
    step = int(run.frames[-1]["step"]) if run.frames else 0
    return message("From start {start}: step {step} of {steps}", start=run.arguments[-1], step=step, steps=STEPS)


def _tell_ended(run: Run, facts: Mapping[str, str]) -> str:
    return message("Trained on {date}, from start {start}: {how}.", start=run.arguments[-1], **facts)


_WORDS = Words(
    message("Train"),
    message("Train again"),
    message("Nothing trained yet. It takes half a minute."),
    _tell_going,
    _tell_ended,
)


# --------------------------------------------------------------------------------- the trained networks


def _trained(values: Values, measured: tuple[Checkpoint, ...]) -> Blocks:
    """Show a checkpoint of a training, and the curves up to it."""
    last = len(measured) - 1
    chosen = values[CHECKPOINT]
    at = last if chosen is None else min(chosen, last)
    here = measured[at]
    wanted = values[WATCHED]
    watched = int(measured[-1].scores.argmax()) if wanted is None else wanted
    options = {index: str(each.step) for index, each in enumerate(measured)}
    heads = HeadGrid(_thumbs(here), watched, message("The heads of both networks"))
    return (
        Setting(CHECKPOINT, message("Steps of training"), at, options, is_scale=True),
        Picture("trained_heads", heads, sets={"head": WATCHED}),
        Row(
            (
                (Picture("trained_weights", _matrix(here, watched)), Prose(_tell_head(here, watched), "detail")),
                (
                    Picture("trained_scores", _scores(measured, at, watched)),
                    Row(
                        tuple(
                            (Picture(f"losses_{n}", _losses(measured, at, index)),) for index, n in enumerate(NETWORKS)
                        )
                    ),
                ),
            ),
            (1, 1),
        ),
        Prose(_tell_state(here) + _tell_found(here)),
        as_table("checkpoints", partial(_table, measured), file="checkpoints"),
    )


def _place(watched: int) -> tuple[int, int]:
    """Return the place of a head, and its number there."""
    return divmod(watched, N_HEADS)


def _thumbs(here: Checkpoint) -> tuple[HeadThumb, ...]:
    return tuple(
        HeadThumb(
            message("Head {head}", head=head + 1),
            np.where(later(len(EXAMPLE)), np.float32(-np.inf), here.weights[place, head]),
            message("prefix matching {score}", score=number(float(here.scores[place, head]))),
            _PLACE_NAMES[place],
        )
        for place in range(len(PLACES))
        for head in range(N_HEADS)
    )


def _matrix(here: Checkpoint, watched: int) -> Matrix:
    place, head = _place(watched)
    title = message(
        "{place}, head {head}, after {step} steps", place=_PLACE_NAMES[place], head=head + 1, step=here.step
    )
    return _drawn("trained", title, here.weights[place, head])


def _drawn(name: str, title: str, weights: Float[Array, "T T"]) -> Matrix:
    return between(
        name,
        title,
        weights,
        _LABELS,
        message("{title}: weights of {n} syllables.", title=title, n=len(_LABELS)),
        limit=1.0,
        row_groups=(("", 0), ("", HALF)),
        column_groups=((message("first time"), 0), (message("second time"), HALF)),
        hidden=later(len(EXAMPLE)),
    )


def _scores(measured: Sequence[Checkpoint], at: int, watched: int) -> Chart:
    """Return the score of every head, checkpoint by checkpoint."""
    steps = np.array([each.step for each in measured])
    curves = []
    for index in sorted(range(N_WATCHED), key=lambda index: index == watched):
        place, head = _place(index)
        name = message("{place}, head {head}", place=_PLACE_NAMES[place], head=head + 1)
        values = np.array([float(each.scores[place, head]) for each in measured])
        network = PLACES[place][0]
        colour, current = INACTIVE if network else WEIGHT, at if index == watched else None
        curves.append(Curve(name, steps, values, colour, current, group=_NETWORK_NAMES[network]))
    return Chart(
        charts.stages(
            curves,
            message("prefix-matching score of each head"),
            message("Prefix-matching score of every head during training."),
            n_steps=STEPS,
            limits=(0.0, 1.0),
            axis=message("steps"),
        )
    )


def _losses(measured: Sequence[Checkpoint], at: int, network: int) -> Chart:
    """Return the losses of a network on first and second halves, checkpoint by checkpoint."""
    steps = np.array([each.step for each in measured])
    most = max(float(each.losses.max()) for each in measured)
    halves = ((message("first half"), INACTIVE), (message("second half"), WEIGHT))
    title = message("{network}: loss in nats", network=_NETWORK_NAMES[network])
    return Chart(
        charts.stages(
            [
                Curve(name, steps, np.array([float(each.losses[network, half]) for each in measured]), colour, at)
                for half, (name, colour) in enumerate(halves)
            ],
            title,
            message("{title}, on the first and second halves of sequences.", title=title),
            n_steps=STEPS,
            limits=(0.0, most),  # the same for both networks
            axis=message("steps"),
        )
    )


def _tell_state(here: Checkpoint) -> str:
    (hits, hits_one), (loss, loss_one) = here.hits, here.losses[:, 1]
    return lesson(
        "train-one/state",
        step=f"{here.step:,}",
        batch=BATCH,
        loss=loss,
        loss_one=loss_one,
        chance=np.log(N_TOKENS),
        hits=f"{float(hits):.0%}",
        hits_one=f"{float(hits_one):.0%}",
    )


def _previous(weights: Float[Array, "T T"]) -> float:
    """Return the mean weight on the previous token."""
    return float(np.diagonal(weights, -1).mean())


def _tell_found(here: Checkpoint) -> str:
    """Say which head is an induction head, and which previous-token head it relies on."""
    score, single = float(here.scores[UPPER].max()), float(here.scores[SINGLE].max())
    if score <= LEAST:
        return lesson("train-one/not-yet", least=fact(LEAST), score=fact(score), score_one=fact(single))
    before = [_previous(weights) for weights in here.weights[LOWER]]
    return lesson(
        "train-one/found",
        head=int(here.scores[UPPER].argmax()) + 1,
        score=fact(score),
        before=int(np.argmax(before)) + 1,
        previous=fact(max(before)),
        score_one=fact(single),
    )


def _tell_head(here: Checkpoint, watched: int) -> str:
    place, head = _place(watched)
    weights = here.weights[place, head]
    return lesson(
        "train-one/head",
        own=float(prefix_matching(weights, EXAMPLE)),
        previous=fact(_previous(weights)),
        score=here.scores[place, head],
        half=HALF,
        n=N_SCORED,
    )


def _table(measured: Sequence[Checkpoint]) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {message("step"): [str(each.step) for each in measured]}
    for network, name in enumerate(_NETWORK_NAMES):
        for half, title in enumerate((message("loss, first half"), message("loss, second half"))):
            columns[f"{name}: {title}"] = [repr(float(each.losses[network, half])) for each in measured]
        columns[message("{network}: right in the second half", network=name)] = [
            repr(float(each.hits[network])) for each in measured
        ]
    for place, name in enumerate(_PLACE_NAMES):
        for head in range(N_HEADS):
            title = message("{place}, head {head}: prefix matching", place=name, head=head + 1)
            columns[title] = [repr(float(each.scores[place, head])) for each in measured]
    return columns


# ------------------------------------------------------------------------ in a model, on the user's text


def _on_own_text(scene: HeadContext, runs: Runs) -> Blocks:
    """Show the same score for all heads of the model, on the user's text."""
    heading = Heading(message("The heads of {name}", name=scene.info.name))
    if scene.use.looks_elsewhere:
        return (heading, Prose(lesson("train-one/yours-cross", others=word(scene.use.others))))
    if told := scene.other_keys or needs_all_layers(scene.info):
        return (heading, Notice(told))
    n_copies = int(after_earlier_copies(numbered(scene.trace)).any(axis=-1).sum())
    if not n_copies:
        reading = scene.info.reading
        example = message(", such as “the cat sat, the cat sat”") if reading.takes_sentences else ""
        none = reading.lesson("train-one/yours-none")
        return (heading, Prose(lesson(none, model=word(scene.info.name), example=example)))
    scores = runs.prefix_matching()
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    told = lesson(
        "train-one/yours",
        model=word(scene.info.name),
        copies=messages("{n} token has", "{n} tokens have", n_copies),
        layer=int(layer) + 1,
        head=int(head) + 1,
        score=scores.max(),
        own_layer=scene.layer + 1,
        own_head=scene.head + 1,
        own=float(scores[scene.layer, scene.head]),
    )
    title = message("prefix-matching score on your text")
    chart = charts.layers(scores, title, message("score"), (scene.layer, scene.head), is_share=True)
    return (
        heading,
        beside(told, Picture("yours", Chart(chart), sets={"layer": LAYER, "head": HEAD})),
        as_table("yours", partial(_table_of_heads, scores), file="prefix-matching"),
    )


def _table_of_heads(scores: Float[Array, "L H"]) -> dict[str, list[str]]:
    layers, heads = np.indices(scores.shape)
    return {
        message("layer"): [str(layer + 1) for layer in layers.ravel()],
        message("head"): [str(head + 1) for head in heads.ravel()],
        message("prefix matching"): full_precision(scores.ravel()),
    }


LAB = Lab(
    address="train_one",
    title=message("Train one and watch"),
    purpose=message("Two small networks learn to repeat what they read, and one of them cannot."),
    knobs=(START, CHECKPOINT, WATCHED),
    guess=_guess,
    content=_content,
    before=_before,
    idle=always(WORD, LAYER, HEAD),
    job=JOB,
    without=frozenset({"mask"}),
)
