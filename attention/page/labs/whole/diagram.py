"""The diagram of a whole model: the path of one token's vector, with each layer's additions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.steps import softmax
from attention.core.structure import Branch, Sublayer
from attention.core.trace import Embeddings
from attention.figures.format import number
from attention.figures.stream import Added, End, Norms, Part, Stream
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import SMALLEST_TOLD
from attention.lesson.residual_path import REACH, Passage, lengths_in
from attention.page.labs.base import Runs

N_NAMED = 3  # outcomes at the end of the path

Outcome = tuple[tuple[str, float], ...]


def diagram(
    scene: HeadContext, found: Sequence[Passage], part: Part, likeliest: Outcome, *, is_covered: bool = False
) -> Stream:
    """Return the diagram for the word in focus, without what the feed-forward networks add if that ``is_covered``."""
    states = np.stack([state[scene.word] for state in scene.trace.hidden_states])
    fed = [each.fed for each in found if each.fed is not None]
    best = [(int(each.heads.argmax()), float(each.heads.max())) for each in found]
    attention = Added(
        message("Attention"),
        np.array([each.attention for each in found]),
        tuple(message("most: head {head}, {length}", head=head + 1, length=number(most)) for head, most in best),
        _norms(scene, "self"),
        REACH["self"],
    )
    norms, reach = _norms(scene, "feed-forward"), REACH["feed-forward"]
    network = Added(message("Feed-forward"), np.array(fed), ("",) * len(fed), norms, reach)
    return Stream(
        label=message(
            "The path of “{word}” through {model}. Arrow keys move between parts, Enter opens one; the tables "
            "below have the numbers.",
            word=scene.names[scene.word],
            model=scene.info.name,
        ),
        states=states,
        attention=attention,
        feed_forward=network if fed else None,
        begins=End(scene.names[scene.word], _begins(scene)),
        ends=_ends(scene, likeliest),
        layer=scene.layer,
        part=part,
        is_covered=is_covered,
        between=_between(scene, attention.norms),
    )


def _between(scene: HeadContext, of_attention: Norms) -> float | None:
    """Return the norm of the vector between what attention and the feed-forward network add; None if unknown."""
    found = lengths_in(scene).get("normed" if of_attention.after else "summed")
    return None if found is None else float(found[scene.word])


def _norms(scene: HeadContext, branch: Branch) -> Norms:
    structure = scene.trace.structure
    sublayers = () if structure is None else structure.sublayers
    own = next((each for each in sublayers if each.branch == branch), None)
    return Norms() if own is None else Norms(own.norm_before, own.norm_of, own.norm_after)


def feed_forward(scene: HeadContext) -> Sublayer | None:
    """Return the feed-forward network of each layer; None if there is none, or it is unknown."""
    last = None if scene.trace.structure is None else scene.trace.structure.sublayers[-1]
    return None if last is None or last.is_attention else last


# ---------------------------------------------------------------------------------------------- both ends


def embedded(scene: HeadContext) -> dict[str, Float[Array, " E"]]:
    """Return the vectors that are added up for the word in focus before the first layer, by name."""
    found: Embeddings | None = scene.trace.embeddings
    if found is None:
        return {}
    unit = scene.info.reading.unit if scene.info.reading.is_laid_out else message("word")
    parts = {unit: found.words, message("position"): found.positions, message("segment"): found.segments}
    return {name: part[scene.word] for name, part in parts.items() if part is not None}


def _begins(scene: HeadContext) -> tuple[str, ...]:
    parts = [f"{name} {number(float(np.linalg.norm(part)))}" for name, part in embedded(scene).items()]
    norm = "" if scene.trace.structure is None else scene.trace.structure.embedding_norm
    return tuple(filter(None, (*parts[:1], *(f"+ {part}" for part in parts[1:]), norm)))


def outcome(runs: Runs | None) -> Outcome:
    """Return the likeliest tokens or classes with their probabilities; () if the model predicts neither."""
    if runs is None:
        return ()
    forecast, answer = runs.forecast(), runs.answer()
    if forecast is not None:
        return tuple((each.label, each.probability) for each in forecast.candidates)
    if answer is None:
        return ()
    probabilities = softmax(answer.logits)
    order = np.argsort(-probabilities, kind="stable")
    return tuple((answer.labels[each], float(probabilities[each])) for each in order)


def _ends(scene: HeadContext, likeliest: Outcome) -> End:
    norm = "" if scene.trace.structure is None else scene.trace.structure.final_norm
    told = [(label, probability) for label, probability in likeliest[:N_NAMED] if probability >= SMALLEST_TOLD]
    named = tuple(f"“{label}” {number(probability)}" for label, probability in told)
    if scene.info.build.says_next:
        after = message("after “{word}”", word=scene.names[-1])
        return End(message("Next token"), tuple(filter(None, (norm, after, *named))))
    if named:
        return End(message("Answer"), tuple(filter(None, (norm, *named))))
    if scene.info.parts:
        return End(message("To the decoder"), tuple(filter(None, (norm, message("as keys and values")))))
    width = message("{n} numbers", n=scene.info.d_model)
    length = message("norm {length}", length=number(float(np.linalg.norm(scene.trace.hidden_states[-1][scene.word]))))
    return End(message("Result"), tuple(filter(None, (norm, width, length))))
