"""The whole Transformer: one block with real numbers, all blocks, and the forward pass on one page of NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.core.steps import join_heads, output_projection
from attention.core.structure import Sublayer
from attention.figures import charts
from attention.figures.bars import candidates_bars, parts_bars
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, lesson, small, word
from attention.lesson.quiz import Guess
from attention.models.one_page import Passed
from attention.page.blocks import Blocks, Code, Fold, Heading, Notice, Option, Picture, Prose, Row, Setting, Table
from attention.page.labs.base import Lab, Runs, always
from attention.page.parameters import Choice, Parameter, Values
from attention.page.settings import HEAD, MASK

__all__ = ["LAB", "SHOWN"]

Shown = Literal["block", "blocks", "code"]

SHOWN: Parameter[Shown] = Parameter("shown", Choice(lambda _: get_args(Shown)), "block")

N_NEURONS = 8
# More tokens are not run on one page: what their neurons do takes much memory.
MOST_TOKENS = 64

_SHOWN: dict[Shown, str] = {
    "block": message("one block"),
    "blocks": message("all blocks"),
    "code": message("on one page of NumPy"),
}

# What has a length in each block, in this order.
_LENGTHS: Mapping[str, str] = {
    "in": message("in"),
    "first": message("normed"),
    "added": message("attention"),
    "summed": message("sum"),
    "normed": message("sum, normed"),
    "fed": message("feed-forward"),
    "left": message("out"),
}


def _lengths(scene: HeadContext, layer: int) -> dict[str, Float[Array, " T"]]:
    """Return how long each token's vector is on its way through a block, as the model had it; {} if that is unknown."""
    record, states = scene.trace.layers[layer], scene.trace.hidden_states
    if record.lengths is None or record.projections is None or len(states) <= layer:
        return {}
    added = output_projection(join_heads(record.model_output), record.projections.W_O, record.projections.b_O)
    added = added if record.added_norm is None else record.added_norm(added)
    found = {
        "in": np.linalg.norm(states[layer], axis=-1),
        "first": None if record.norm is None or record.inputs is None else np.linalg.norm(record.inputs, axis=-1),
        "added": np.linalg.norm(added, axis=-1),
        "summed": record.lengths.summed,
        "normed": record.lengths.normed,
        "fed": record.lengths.fed,
        "left": record.lengths.left,
    }
    return {name: found[name] for name in _LENGTHS if found[name] is not None}


# ------------------------------------------------------------------------------- what is asked first


def _guess(scene: HeadContext | None) -> Guess | None:
    """Ask which of the two parts of a block adds the longer vector to the word in focus."""
    lengths = {} if scene is None or not scene.use.is_reading else _lengths(scene, scene.layer)
    if scene is None or not lengths:
        return None
    answers = (
        message("what attention adds"),
        message("what the feed-forward network adds"),
        message("there is no feed-forward network"),
    )
    facts: dict[str, str | int] = {
        "layer": scene.layer + 1,
        "model": word(scene.info.name),
        "focus": word(scene.names[scene.word]),
    }
    added = float(lengths["added"][scene.word])
    question = lesson("whole/guess", **facts)
    if "fed" not in lengths:
        return Guess(question, answers, lesson("whole/guess-none", added=fact(added), **facts), frozenset({2}))
    fed = float(lengths["fed"][scene.word])
    because = lesson("whole/guess-because", added=fact(added), fed=fact(fed), **facts)
    return Guess(question, answers, because, frozenset({int(fed > added)}))


# ------------------------------------------------------------------------------------ what is shown


def _content(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    if scene is None:
        return ()
    if not scene.use.is_reading:
        return (Notice(message("Here, the blocks of an encoder are shown, or of a decoder that stands alone.")),)
    if not _lengths(scene, scene.layer):
        told = message("The parts of a block of {model} cannot be shown one after another.", model=scene.info.name)
        return (Notice(f"{told} {scene.info.note}"),)
    shown = values[SHOWN]
    options = tuple(Option(name, label) for name, label in _SHOWN.items())
    choice = Setting("shown", SHOWN, message("Show"), shown, options)
    if shown == "code":
        return (choice, *_code(scene, runs))
    return (choice, *(_all_blocks(scene, runs) if shown == "blocks" else _block(scene, runs)))


def _passed(scene: HeadContext, runs: Runs | None) -> Passed | None:
    return runs.passed() if runs is not None and len(scene.tokens) <= MOST_TOKENS else None


def _block(scene: HeadContext, runs: Runs | None) -> Blocks:
    """Show what becomes of the word in focus in one block."""
    lengths, row = _lengths(scene, scene.layer), scene.word
    facts: dict[str, str | int] = {
        "focus": word(scene.names[row]),
        "layer": scene.layer + 1,
        "before": fact(float(lengths["in"][row])),
        "added": fact(float(lengths["added"][row])),
        "summed": fact(float(lengths["summed"][row])),
    }
    if "fed" in lengths:
        feed_forward = _feed_forward(scene)
        told = lesson(
            "whole/block-before" if "first" in lengths else "whole/block-after",
            norm=fact(float(lengths.get("normed", lengths["summed"])[row])),
            width=f"{0 if feed_forward is None else feed_forward.width:,}",
            fed=fact(float(lengths["fed"][row])),
            after=fact(float(lengths["left"][row])),
            **facts,
        )
    else:
        told = lesson("whole/block-plain", **facts)
    name = message("Block {layer} of {name}", layer=scene.layer + 1, name=scene.info.name)
    chart = charts.lengths(
        [_LENGTHS[part] for part in lengths], [float(each[row]) for each in lengths.values()], message("lengths")
    )
    return (
        Heading(name),
        Row(((Prose(told),), (Picture("lengths", charts.Chart(chart)),)), (4, 5)),
        *_neurons(scene, _passed(scene, runs)),
        Fold(
            "lengths_fold",
            message("Every token as a table"),
            (Table("lengths_table", partial(_table_of_tokens, scene, lengths), file="block"),),
        ),
    )


def _table_of_tokens(scene: HeadContext, lengths: dict[str, Float[Array, " T"]]) -> dict[str, list[str]]:
    columns = {_LENGTHS[name]: [repr(float(each)) for each in column] for name, column in lengths.items()}
    return {message("token"): list(scene.labels)} | columns


def _feed_forward(scene: HeadContext) -> Sublayer | None:
    """Return the feed-forward network of each block; None if there is none, or if it is not known."""
    last = None if scene.trace.structure is None else scene.trace.structure.sublayers[-1]
    return None if last is None or last.is_attention else last


def _neurons(scene: HeadContext, passed: Passed | None) -> Blocks:
    """Show which neurons fire most on the word in focus, or say why they are not there."""
    feed_forward = _feed_forward(scene)
    if feed_forward is None:
        return ()
    if passed is None:
        return (Prose(lesson("whole/no-neurons", n=MOST_TOKENS)),)
    fired = passed.neurons[scene.layer][scene.word]
    order = np.argsort(-np.abs(fired), kind="stable")
    sizes = np.abs(fired[order]).astype(np.float64).cumsum()
    told = lesson(
        "whole/neurons-gated" if feed_forward.is_gated else "whole/neurons",
        focus=word(scene.names[scene.word]),
        n=f"{len(fired):,}",
        few=int(np.searchsorted(sizes, sizes[-1] / 2)) + 1,
        best=int(order[0]),
        most=fact(float(fired[order[0]])),
    )
    strongest = order[:N_NEURONS]
    chart = parts_bars([str(neuron) for neuron in strongest], fired[strongest], message("the strongest neurons"))
    table = Table("neurons_table", partial(_table_of_neurons, fired, order), file="neurons")
    fold = Fold("neurons_fold", message("Every neuron as a table"), (table,))
    return (Row(((Prose(told),), (Picture("neurons", chart),)), (4, 5)), fold)


def _table_of_neurons(fired: Float[Array, " F"], order: Array) -> dict[str, list[str]]:
    return {
        message("neuron"): [str(neuron) for neuron in order],
        message("value"): [repr(float(fired[neuron])) for neuron in order],
    }


def _all_blocks(scene: HeadContext, runs: Runs | None) -> Blocks:
    """Show what each block adds to the word in focus and, of a decoder, what comes next."""
    row = scene.word
    layers = [_lengths(scene, layer) for layer in range(len(scene.trace.layers))]
    parts = {name: np.array([each[name][row] for each in layers]) for name in layers[0]}
    chart = charts.by_layer(
        [(_LENGTHS[name], parts[name]) for name in ("added", "fed") if name in parts],
        message("lengths of what is added"),
        message("How long what attention and what the feed-forward network adds is, block by block."),
    )
    told = lesson(
        "whole/blocks" if "fed" in parts else "whole/blocks-plain",
        n=messages("{n} block", "{n} blocks", len(layers)),
        focus=word(scene.names[row]),
        before=fact(float(parts["in"][0])),
        after=fact(float(np.linalg.norm(scene.trace.hidden_states[-1][row]))),
    )
    return (
        Heading(message("From the first block to the last")),
        Row(((Prose(told),), (Picture("by_block", charts.Chart(chart)),)), (4, 5)),
        *_next(scene, _passed(scene, runs)),
        Fold(
            "blocks_fold",
            message("Every block as a table"),
            (Table("blocks_table", partial(_table_of_blocks, parts), file="blocks"),),
        ),
    )


def _next(scene: HeadContext, passed: Passed | None) -> Blocks:
    """Show what the final norm and the vocabulary make of the last token's vector, or say why that is not there."""
    if not scene.info.build.says_next:
        none = "whole/next-decoder" if scene.info.parts else scene.info.reading.lesson("whole/next-none")
        return (Prose(lesson(none, model=word(scene.info.name))),)
    if passed is None or not passed.candidates:
        return (Prose(lesson("whole/no-next", n=MOST_TOKENS)),)
    labels, probabilities = zip(*passed.candidates, strict=True)
    last, first = word(scene.names[-1]), word(labels[0])
    told = lesson("whole/next", last=last, first=first, probability=fact(probabilities[0]))
    columns = {message("token"): list(labels), message("probability"): [repr(each) for each in probabilities]}
    table = Table("next_table", lambda: columns, file="next")
    return (
        Row(((Prose(told),), (Picture("next", candidates_bars(labels, probabilities)),)), (4, 5)),
        Fold("next_fold", message("What comes next, as a table"), (table,)),
    )


def _table_of_blocks(parts: dict[str, Float[Array, " L"]]) -> dict[str, list[str]]:
    n_layers = len(parts["in"])
    columns = {_LENGTHS[name]: [repr(float(each)) for each in column] for name, column in parts.items()}
    return {message("layer"): [str(layer + 1) for layer in range(n_layers)]} | columns


def _code(scene: HeadContext, runs: Runs | None) -> Blocks:
    """Show the forward pass on one page, and how far it is from the model's own."""
    passed = _passed(scene, runs)
    if passed is None:
        return (Prose(lesson("whole/no-page", n=MOST_TOKENS)),)
    facts: dict[str, str | int] = {
        "model": word(scene.info.name),
        "lines": len(passed.source.splitlines()),
        "ends": small(passed.ends.absolute),
        "states": small(passed.states.relative),
    }
    told = lesson("whole/code-next" if passed.candidates else "whole/code", **facts)
    return (Heading(message("{name} on one page", name=scene.info.name)), Prose(told), Code(passed.source))


LAB = Lab(
    address="whole",
    title=message("The whole Transformer"),
    purpose=message("One block with real numbers, all blocks, and BERT and SmolLM2 whole, on one page of NumPy each."),
    knobs=(SHOWN,),
    guess=_guess,
    content=_content,
    leaves_out=(MASK,),
    idle=always(HEAD),
    waiting=message("Running the whole model in NumPy …"),
)
