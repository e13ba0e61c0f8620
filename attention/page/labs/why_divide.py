"""The lab Why divide by √d: on random vectors of any width, and in a head of a model."""

from __future__ import annotations

from functools import cache, partial
from typing import Literal, NamedTuple, Self

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.steps import mask_scores, scale_scores, softmax
from attention.experiments.scaling import exponent, gradient_length, random_scores
from attention.figures import charts
from attention.figures.charts import Chart
from attention.figures.format import number
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import weight_matrix
from attention.lesson.prose import exact, fact, lesson
from attention.lesson.quiz import Guess
from attention.lesson.tables import full_precision
from attention.measures.entropies import entropy
from attention.page.blocks import Blocks, Heading, Picture, Prose, Row, Section, Setting, as_table
from attention.page.labs.base import Lab, Runs, covered
from attention.page.parameters import Choice, Parameter, Values
from attention.page.settings import WORD

Divisor = Literal["none", "root", "width"]

WIDTHS = tuple(2**power for power in range(10))
N_QUERIES, N_KEYS = 1250, 8  # each query has its own keys: ten thousand dot products for each width
ASKED_WIDTH, LAST_SEEN = 64, 8  # the width of the question, and the largest one shown before the answer
TEMPERATURES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 10.0)

WIDTH: Parameter[int] = Parameter("width", Choice(lambda _: WIDTHS), ASKED_WIDTH)
DIVISOR: Parameter[Divisor] = Parameter("divisor", Choice(lambda _: ("none", "root", "width")), "root")
TEMPERATURE: Parameter[float] = Parameter("temperature", Choice(lambda _: TEMPERATURES, written="{:g}".format), 1.0)


class _Draws(NamedTuple):
    """Random scores before or after the division by √d, their softmax, and statistics for each width.

    Shapes: scores and weights (W, Q, K); the scores' standard deviation and the mean norm of softmax's gradient (W,).
    """

    scores: Array
    weights: Array
    spreads: Array
    slopes: Array

    @classmethod
    def of(cls, scores: Float[Array, "W Q K"]) -> Self:
        """Derive everything from the scores; the arrays are shared and therefore read-only."""
        weights = softmax(scores)
        found = cls(scores, weights, scores.std(axis=(1, 2)), gradient_length(weights).mean(axis=-1))
        for each in found:
            each.flags.writeable = False
        return found


@cache
def _drawn() -> tuple[_Draws, _Draws]:
    scores = random_scores(WIDTHS, N_QUERIES, N_KEYS)
    roots = np.sqrt(np.array(WIDTHS, dtype=np.float32))[:, None, None]
    return _Draws.of(scores), _Draws.of(scores / roots)


_WIDTH_OPTIONS = {width: str(width) for width in WIDTHS}


# ------------------------------------------------------------------------------------- the question


def _guess(_: HeadContext | None) -> Guess:
    """Ask for the spread of random dot products of one width."""
    at = WIDTHS.index(ASKED_WIDTH)
    root = round(ASKED_WIDTH**0.5)
    answers = (1, root, ASKED_WIDTH, ASKED_WIDTH**2)
    because = lesson(
        "why-divide/guess-because",
        width=ASKED_WIDTH,
        root=root,
        count=f"{N_QUERIES * N_KEYS:,}",
        spread=_drawn()[0].spreads[at],
    )
    question = lesson("why-divide/guess", width=ASKED_WIDTH)
    names = tuple(message("about {value}", value=f"{answer:,}") for answer in answers)
    return Guess(question, names, because, frozenset({answers.index(root)}))


# -------------------------------------------------------------------------------------- the content


def _content(values: Values, scene: HeadContext | None, _: Runs | None) -> Blocks:
    """Return random vectors of the chosen width and, if a model ran, its head."""
    return (*_random(values[WIDTH]), *(() if scene is None else _head(scene, values[DIVISOR], values[TEMPERATURE])))


def _before(values: Values, scene: HeadContext | None, _: Runs | None) -> Blocks:
    """Return the same, but of random vectors only the smallest widths, and any width but the question's."""
    width = values[WIDTH]
    pictures = (_spreads(width, LAST_SEEN), _spread(width))
    shown, asked = ((picture,) for picture in pictures)
    row = Row((shown, covered(asked) if width == ASKED_WIDTH else asked))
    head = () if scene is None else _head(scene, values[DIVISOR], values[TEMPERATURE])
    # The head's text would reveal the spread of random scores.
    return (*_width(width), row, _softmax_charts(width), *covered(head, but=("own_weights", "chosen_weights")))


def _random(width: int) -> Blocks:
    before, after = _drawn()
    at = WIDTHS.index(width)
    told = lesson(
        "why-divide/random",
        count=f"{before.scores[at].size:,}",
        exponent=exact(exponent(WIDTHS, before.spreads), 3),
        width=width,
        before=before.spreads[at],
        after=after.spreads[at],
    )
    softened = lesson(
        "why-divide/softmax",
        keys=N_KEYS,
        width=width,
        largest=before.weights[at].max(axis=-1).mean(),
        largest_after=after.weights[at].max(axis=-1).mean(),
        slope=exact(float(before.slopes[at]), 3),
        slope_after=exact(float(after.slopes[at]), 3),
    )
    return (
        *_width(width),
        Row(((_spreads(width, WIDTHS[-1]),), (_spread(width),))),
        _softmax_charts(width),
        Prose(told + softened),
        as_table("widths", _table_of_widths, file="widths", is_whole=True),
    )


def _width(width: int) -> Blocks:
    knob = Setting(WIDTH, message("Numbers in a query, d"), width, _WIDTH_OPTIONS, is_scale=True)
    return (Heading(message("Random queries and keys")), knob)


def _spreads(width: int, last: int) -> Picture:
    """Return the spread of dot products for every width up to ``last``."""
    n_seen = WIDTHS.index(last) + 1
    before, after = (each.spreads[:n_seen] for each in _drawn())
    return Picture("spread_by_width", _by_width(width, before, after, message("spread of the dot products")))


def _softmax_charts(width: int) -> Row:
    """Return one query's softmax, and softmax's gradient for every width."""
    before, after = _drawn()
    at = WIDTHS.index(width)
    example = _example(width, before.weights[at, 0], after.weights[at, 0])
    slopes = _by_width(width, before.slopes, after.slopes, message("norm of softmax's Jacobian"))
    return Row(((Picture("weights_at_width", example),), (Picture("slope_by_width", slopes),)))


def _by_width(width: int, before: Float[Array, " W"], after: Float[Array, " W"], title: str) -> Chart:
    alt = message("{title} for every width d, before and after dividing by √d.", title=title)
    at = WIDTHS.index(width)
    return Chart(charts.growth(WIDTHS, before, after, title, alt, "d", at if at < len(before) else None))


def _spread(width: int) -> Picture:
    before, after = (each.scores[WIDTHS.index(width)] for each in _drawn())
    return Picture("spread_at_width", Chart(charts.spread(before, after, message("dot products"))))


def _example(width: int, before: Float[Array, " K"], after: Float[Array, " K"]) -> Chart:
    title = message("one query's weights, d = {width}", width=width)
    alt = message("Weights of {n} keys, before and after dividing by √d.", n=N_KEYS)
    return Chart(charts.shares(before, after, tuple(f"k{index + 1}" for index in range(N_KEYS)), title, alt))


def _table_of_widths() -> dict[str, list[str]]:
    before, after = _drawn()
    columns = {
        message("spread"): before.spreads,
        message("spread, divided by √d"): after.spreads,
        message("Jacobian norm"): before.slopes,
        message("Jacobian norm, divided by √d"): after.slopes,
    }
    return {"d": list(map(str, WIDTHS))} | {
        name: [f"{float(value):.6g}" for value in column] for name, column in columns.items()
    }


# ------------------------------------------------------------------------------- in a model's head


def _head(scene: HeadContext, divisor: Divisor, temperature: float) -> Blocks:
    weights = _weights(scene, divisor, temperature)
    is_own = divisor == "root" and temperature == 1 and scene.attention.has_usual_scale
    names: dict[Divisor, str] = {
        "none": message("1 (unchanged)"),
        "root": message("√d = {root}", root=number(scene.d_head**0.5)),
        "width": message("d = {width}", width=scene.d_head),
    }
    knobs = (
        Setting(DIVISOR, message("Divide the scores by"), divisor, names),
        Setting(
            TEMPERATURE,
            message("Temperature"),
            temperature,
            {each: f"{each:g}" for each in TEMPERATURES},
            is_scale=True,
            help=message("The scores are also divided by this."),
        ),
    )
    own = Picture(
        "own_weights",
        weight_matrix(scene, "weights", message("in the model"), scene.steps.weights),
        sets={"row": WORD},
        is_selectable=True,
    )
    chosen = Picture(
        "chosen_weights",
        weight_matrix(scene, "chosen", message("as chosen here"), weights),
        sets={"row": WORD},
        is_selectable=True,
    )
    return (
        Heading(scene.place),
        Section("knobs", knobs, is_line=True),
        Prose(_tell_head(scene)),
        Row(((own,), (chosen,))),
        Prose(_tell_row(scene, weights, is_own=is_own)),
        as_table("rows", partial(_table_of_rows, scene, weights), file="rows"),
    )


def _weights(scene: HeadContext, divisor: Divisor, temperature: float) -> Float[Array, "Q K"]:
    """Return the head's weights with another factor for its scores."""
    factor = {"none": 1.0, "root": scene.d_head**-0.5, "width": 1 / scene.d_head}[divisor] / temperature
    steps = scene.steps
    return softmax(mask_scores(scene.attention.capped(scale_scores(steps.scores, factor)), steps.mask))


def _tell_head(scene: HeadContext) -> str:
    """Say how far the dot products of this head spread, compared with random ones."""
    return lesson("why-divide/head", d_head=scene.d_head, root=fact(scene.d_head**0.5), spread=scene.steps.scores.std())


def _tell_row(scene: HeadContext, weights: Float[Array, "Q K"], *, is_own: bool) -> str:
    """Describe the change's effect on the row in focus."""
    own, row = scene.steps.weights, scene.word
    best = int(own[row].argmax())
    n_visible = int(scene.visible[row].sum())
    if n_visible < 2:
        return lesson("why-divide/row-lone", focus=scene.query_word(row))
    facts = {
        "focus": scene.query_word(row),
        "best": scene.key_word(best),
        "before": fact(float(own[row, best])),
        "most": fact(float(np.log(n_visible))),
        "entropy": fact(float(entropy(own)[row])),
        "slope": exact(float(gradient_length(own)[row]), 3),
    }
    if is_own:
        return lesson("why-divide/row-own", **facts)
    return lesson(
        "why-divide/row",
        after=weights[row, best],
        entropy_after=entropy(weights)[row],
        slope_after=exact(float(gradient_length(weights)[row]), 3),
        **facts,
    )


def _table_of_rows(scene: HeadContext, weights: Float[Array, "Q K"]) -> dict[str, list[str]]:
    table = {message("from"): list(scene.labels)}
    for name, each in ((message("own"), scene.steps.weights), (message("chosen"), weights)):
        table |= {
            message("{name}: largest weight", name=name): full_precision(each.max(axis=-1)),
            message("{name}: entropy in nats", name=name): full_precision(entropy(each)),
            message("{name}: Jacobian norm", name=name): full_precision(gradient_length(each)),
        }
    return table


LAB = Lab(
    address="why_divide",
    title=message("Why divide by √d"),
    purpose=message("How dot products grow with width, and what that does to softmax and its gradient."),
    knobs=(WIDTH, DIVISOR, TEMPERATURE),
    guess=_guess,
    content=_content,
    before=_before,
    sheet="scale",
)
