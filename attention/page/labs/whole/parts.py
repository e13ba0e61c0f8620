"""The parts of a whole model's diagram: each one's computation, and its numbers for the word in focus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.core.structure import Branch
from attention.figures import charts
from attention.figures.bars import candidates_bars, lengths_bars, parts_bars
from attention.figures.stream import Part
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, length, lesson, listed, word
from attention.lesson.residual_path import Passage, lengths_in
from attention.lesson.tables import full_precision
from attention.models.one_page import Passed
from attention.page.blocks import Block, Blocks, Formula, Heading, Picture, Prose, Row, as_table
from attention.page.labs.base import Runs
from attention.page.labs.whole.diagram import Outcome, embedded, feed_forward

N_NEURONS, N_CANDIDATES = 8, 5
MOST_TOKENS = 64  # in the model's NumPy code: the neurons' activations take much memory

_LENGTHS: Mapping[str, str] = {
    "in": message("in"),
    "first": message("normed"),
    "added": message("attention"),
    "summed": message("sum"),
    "normed": message("sum, normed"),
    "fed": message("feed-forward"),
    "left": message("out"),
}


def detail(scene: HeadContext, part: Part, found: Sequence[Passage], likeliest: Outcome, runs: Runs | None) -> Blocks:
    """Return the blocks of an opened part."""
    make: Mapping[Part, Callable[[], Blocks]] = {
        "embedding": partial(_embedding, scene),
        "block": partial(_block, scene),
        "attention": partial(_attention, scene, found[scene.layer]),
        "feed-forward": partial(_feed_forward, scene, runs),
        "output": partial(_output, scene, likeliest),
    }
    return make[part]()


def passed_of(scene: HeadContext, runs: Runs | None) -> Passed | None:
    """Return the result of the model's NumPy page; None if there is none, or the text is too long."""
    return runs.passed() if runs is not None and len(scene.tokens) <= MOST_TOKENS else None


def _beside(told: Blocks, *pictures: Block) -> Row:
    return Row((told, pictures), (4, 5))


def _formula(scene: HeadContext, branch: Branch) -> Blocks:
    """Return how a branch changes the stream: ``x ← after(x + of(f(before(x))))``; X are all tokens' vectors."""
    structure = scene.trace.structure
    if structure is None:
        return ()
    own = next(each for each in structure.sublayers if each.branch == branch)

    def normed(name: str, of: str) -> str:
        return rf"\mathrm{{{name}}}({of})" if name else of

    name, read = (r"\mathrm{FFN}", "x") if branch == "feed-forward" else (r"\mathrm{Attention}", "X")
    added = normed(own.norm_of, f"{name}({normed(own.norm_before, read)})")
    return (Formula(rf"x \leftarrow {normed(own.norm_after, f'x + {added}')}"),)


# -------------------------------------------------------------------------------------- before the layers


def _embedding(scene: HeadContext) -> Blocks:
    parts, structure = embedded(scene), scene.trace.structure
    before, focus = scene.trace.hidden_states[0][scene.word], scene.focus_word
    facts: dict[str, str | int] = {"focus": focus, "width": scene.info.d_model}
    if not parts:
        told = lesson("whole/embedding-unknown", before=length(before), **facts)
        return (Heading(message("Embedding")), Prose(told))
    named = [f"{name} ({length(part)})" for name, part in parts.items()]
    told = lesson("whole/embedding", parts=listed(named), **facts)
    if structure is not None and structure.embedding_norm:
        told += lesson("whole/embedding-norm", norm=structure.embedding_norm, before=length(before))
    labels = (*parts, message("enters layer 1"))
    lengths = [float(np.linalg.norm(each)) for each in (*parts.values(), before)]
    bars = Picture("embedding", lengths_bars(labels, lengths, message("norms")))
    return (Heading(message("Embedding")), _beside((Prose(told),), bars))


# ---------------------------------------------------------------------------------------------- in a layer


def _block(scene: HeadContext) -> Blocks:
    lengths, row = lengths_in(scene), scene.word
    facts: dict[str, str | int] = {
        "focus": scene.query_word(row),
        "layer": scene.layer + 1,
        "before": fact(float(lengths["in"][row])),
        "added": fact(float(lengths["added"][row])),
        "after": fact(float(lengths.get("left", lengths["summed"])[row])),
    }
    if "fed" in lengths:
        network = feed_forward(scene)
        told = lesson(
            "whole/block-before" if "first" in lengths else "whole/block-after",
            norm=lengths.get("normed", lengths["summed"])[row],
            width=f"{0 if network is None else network.width:,}",
            fed=lengths["fed"][row],
            **facts,
        )
    else:
        told = lesson("whole/block-plain", **facts)
    name = message("Layer {layer} of {name}", layer=scene.layer + 1, name=scene.info.name)
    chart = charts.lengths(
        [_LENGTHS[part] for part in lengths], [float(each[row]) for each in lengths.values()], message("norms")
    )
    return (
        Heading(name),
        _beside((Prose(told),), Picture("lengths", charts.Chart(chart))),
    )


def _attention(scene: HeadContext, passage: Passage) -> Blocks:
    best = int(passage.heads.argmax())
    weights = scene.attention.head(best).weights[scene.word]
    looked = int(weights.argmax())
    told = lesson(
        "whole/attention",
        focus=scene.focus_word,
        heads=messages("{n} head", "{n} heads", len(passage.heads)),
        added=fact(passage.attention),
        best=best + 1,
        most=passage.heads[best],
        weight=weights[looked],
        looked=scene.key_word(looked),
    )
    labels = [str(head + 1) for head in range(len(passage.heads))]
    title = message("norm of each head's contribution")
    bars = parts_bars(labels, passage.heads.astype(np.float32), title, are_weights=True)
    columns = {message("head"): labels, message("norm"): full_precision(passage.heads)}
    name = message("Attention in layer {layer}: between tokens", layer=scene.layer + 1)
    return (
        Heading(name),
        _beside((Prose(told), *_formula(scene, "self")), Picture("heads_added", bars)),
        as_table("heads", lambda: columns, file="heads"),
    )


def _feed_forward(scene: HeadContext, runs: Runs | None) -> Blocks:
    """Show the most active neurons for the word in focus, or say why they are missing."""
    name = message("Feed-forward network in layer {layer}: each token alone", layer=scene.layer + 1)
    network = feed_forward(scene)
    if network is None:
        return (Heading(name), Prose(lesson("whole/feed-forward-none", model=word(scene.info.name))))
    told = lesson(
        "whole/feed-forward",
        focus=scene.focus_word,
        width=f"{network.width:,}",
        d_model=scene.info.d_model,
        fed=lengths_in(scene)["fed"][scene.word],
    )
    told += lesson("onward/gated") if network.is_gated else ""
    formula = _formula(scene, "feed-forward")
    passed = passed_of(scene, runs)
    if passed is None:
        return (Heading(name), Prose(told), *formula, Prose(lesson("whole/no-neurons", n=MOST_TOKENS)))
    fired = passed.neurons[scene.layer][scene.word]
    order = np.argsort(-np.abs(fired), kind="stable")
    sizes = np.abs(fired[order]).astype(np.float64).cumsum()
    told += lesson("whole/neurons") + lesson(
        "whole/strongest",
        focus=scene.focus_word,
        n=f"{len(fired):,}",
        few=int(np.searchsorted(sizes, sizes[-1] / 2)) + 1,
        best=int(order[0]),
        most=fired[order[0]],
    )
    strongest = order[:N_NEURONS]
    chart = parts_bars([str(neuron) for neuron in strongest], fired[strongest], message("most active units"))
    return (
        Heading(name),
        _beside((Prose(told), *formula), Picture("neurons", chart)),
        as_table("neurons", partial(_table_of_neurons, fired, order), file="neurons"),
    )


def _table_of_neurons(fired: Float[Array, " F"], order: Array) -> dict[str, list[str]]:
    return {
        message("unit"): [str(neuron) for neuron in order],
        message("value"): [repr(float(fired[neuron])) for neuron in order],
    }


# --------------------------------------------------------------------------------------- after the layers


def _output(scene: HeadContext, likeliest: Outcome) -> Blocks:
    """Show the prediction from the last token's vector, or say where the vector goes."""
    heading = Heading(message("What comes out"))
    if not likeliest:
        none = "whole/next-decoder" if scene.info.parts else "whole/next-none"
        return (heading, Prose(lesson(none, model=word(scene.info.name))))
    labels, probabilities = zip(*likeliest[:N_CANDIDATES], strict=True)
    facts = {"first": word(labels[0]), "probability": fact(probabilities[0])}
    if scene.info.build.says_next:
        told = lesson("whole/next", last=word(scene.names[-1]), **facts)
        bars = candidates_bars(labels, probabilities)
    else:
        told = lesson("whole/answer", whole=scene.query_word(0), **facts)
        bars = lengths_bars(labels, probabilities, message("probability"))
    columns = {message("token"): list(labels), message("probability"): [repr(each) for each in probabilities]}
    return (heading, _beside((Prose(told),), Picture("next", bars)), as_table("next", lambda: columns, file="next"))
