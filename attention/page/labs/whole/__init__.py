"""The lab The whole Transformer: one token's vector from the embedding to the output, each part to be opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from attention.core.messages import message, messages
from attention.figures.stream import PARTS, Part, Stream, sampled
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, small, word
from attention.lesson.quiz import Guess
from attention.lesson.residual_path import Passage, passages
from attention.page.blocks import Blocks, Code, Fold, Notice, Picture, Prose, Section, Setting, Table
from attention.page.labs.base import ONWARD, Lab, Onward, Runs, always
from attention.page.labs.whole.diagram import diagram, outcome
from attention.page.labs.whole.parts import MOST_TOKENS, detail, passed_of
from attention.page.parameters import FLAG, Choice, Parameter, Values
from attention.page.settings import HEAD, LAYER, MASK, STEP

__all__ = ["CODE", "LAB", "MOST_TOKENS", "SHOWN"]

SHOWN: Parameter[Part] = Parameter("shown", Choice(lambda _: PARTS), "block")
_PARTS: Mapping[Part, str] = {
    "embedding": message("embedding"),
    "block": message("layer"),
    "attention": message("attention"),
    "feed-forward": message("feed-forward"),
    "output": message("output"),
}
# Whether the model's NumPy page is open.
CODE: Parameter[bool] = Parameter("code", FLAG, False)


# ------------------------------------------------------------------------------------- the question


def _guess(scene: HeadContext | None) -> Guess | None:
    """Ask which of a block's two parts adds the longer vector to the word in focus, in most of the blocks.

    Without feed-forward networks there is no question.
    """
    found = () if scene is None or not scene.use.is_reading else passages(scene)
    fed = np.array([each.fed for each in found if each.fed is not None])
    if scene is None or not fed.size:
        return None
    question = lesson("whole/guess", model=word(scene.info.name), focus=scene.focus_word)
    added = np.array([each.attention for each in found])
    more = int((fed > added).sum())
    because = lesson(
        "whole/guess-because",
        more=more,
        n=messages("{n} layer", "{n} layers", len(found)),
        added=added.mean(),
        fed=fed.mean(),
    )
    answers = (message("attention"), message("the feed-forward network"))
    right = {0, 1} if 2 * more == len(found) else {int(2 * more > len(found))}
    return Guess(question, answers, because, frozenset(right))


# -------------------------------------------------------------------------------------- the content


def _before(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    """Return the diagram without what the feed-forward networks add, and the open part if it does not give that."""
    found = () if scene is None or not scene.use.is_reading else passages(scene)
    if scene is None or not found:
        return ()
    part, likeliest = values[SHOWN], outcome(runs)
    return (
        _way(diagram(scene, found, part, likeliest, is_covered=True)),
        Prose(_tell(scene, found)),
        *(detail(scene, part, found, likeliest, runs) if part in ("embedding", "output") else ()),
    )


def _content(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    if scene is None:
        return ()
    if not scene.use.is_reading:
        return (Notice(message("This lab shows an encoder, or a decoder without one.")),)
    found = passages(scene)
    if not found:
        told = message("The parts of a layer of {model} can't be shown one by one.", model=scene.info.name)
        return (Notice(f"{told} {scene.info.note}"),)
    part, likeliest = values[SHOWN], outcome(runs)
    tables = (
        Table("blocks_table", partial(_table_of_blocks, scene, found), file="blocks"),
        Table("way_table", partial(_table_of_states, scene), file="way", is_shown=False),
    )
    return (
        _way(diagram(scene, found, part, likeliest)),
        Prose(_tell(scene, found)),
        Setting(SHOWN, message("Open"), part, {each: _PARTS[each] for each in PARTS}),
        *detail(scene, part, found, likeliest, runs),
        Section(ONWARD, ()),
        Fold("blocks_fold", message("All layers"), tables),
        _on_one_page(values, scene, runs),
    )


def _way(figure: Stream) -> Picture:
    return Picture("way", figure, sets={"shown": SHOWN, "layer": LAYER})


def _tell(scene: HeadContext, found: Sequence[Passage]) -> str:
    has_network = found[0].fed is not None
    told = lesson(
        "whole/words" if has_network else "whole/feed-forward-none",
        focus=scene.focus_word,
        model=word(scene.info.name),
    )
    sublayers = () if scene.trace.structure is None else scene.trace.structure.sublayers
    norm = next((norm for each in sublayers for norm in (each.norm_before, each.norm_after) if norm), "")
    return told + (lesson("whole/norm", norm=norm) if norm else "")


def _onward(_: Values, scene: HeadContext) -> tuple[Onward, ...]:
    """Link to the unfolded layer, in the head that adds most, and to the costs."""
    found = passages(scene) if scene.use.is_reading else ()
    if not found:
        return ()
    head = int(found[scene.layer].heads.argmax())
    steps = message("Attention of layer {layer} step by step ▸", layer=scene.layer + 1)
    return (
        Onward(steps, "step_by_step", ((STEP, "softmax"), (LAYER, scene.layer), (HEAD, head))),
        Onward(message("How cost grows with length ▸"), "cost"),
    )


def _table_of_blocks(scene: HeadContext, found: Sequence[Passage]) -> dict[str, list[str]]:
    states = [float(np.linalg.norm(state[scene.word])) for state in scene.trace.hidden_states]
    columns = {
        message("layer"): [str(layer + 1) for layer in range(len(found))],
        message("in"): [repr(each) for each in states[:-1]],
        message("attention"): [repr(each.attention) for each in found],
        message("head that adds most"): [str(int(each.heads.argmax()) + 1) for each in found],
        message("its part"): [repr(float(each.heads.max())) for each in found],
    }
    if found[0].fed is not None:
        columns[message("feed-forward")] = [repr(each.fed) for each in found]
    return columns | {message("out"): [repr(each) for each in states[1:]]}


def _table_of_states(scene: HeadContext) -> dict[str, list[str]]:
    """Return the components of the vector drawn in the strips, before the first layer and after each."""
    states = scene.trace.hidden_states
    drawn = sampled(scene.info.d_model)
    columns = {scene.dimensions[at]: [repr(float(state[scene.word, at])) for state in states] for at in drawn}
    return {message("after layer"): [str(layer) for layer in range(len(states))]} | columns


def _on_one_page(values: Values, scene: HeadContext, runs: Runs | None) -> Fold:
    """Return the model in NumPy, and its difference from the model itself; run when opened."""
    is_open = values[CODE]
    title = message("{name} on one page of NumPy", name=scene.info.name)
    return Fold("on_one_page", title, _code(scene, runs) if is_open else (), is_open, CODE)


def _code(scene: HeadContext, runs: Runs | None) -> Blocks:
    passed = passed_of(scene, runs)
    if passed is None:
        return (Prose(lesson("whole/no-page", n=MOST_TOKENS)),)
    facts: dict[str, str | int] = {
        "model": word(scene.info.name),
        "lines": len(passed.source.splitlines()),
        "ends": small(passed.ends.absolute),
        "states": small(passed.states.relative),
    }
    return (Prose(lesson("whole/code", **facts)), Code(passed.source))


LAB = Lab(
    address="whole",
    title=message("The whole Transformer"),
    purpose=message("One vector's path through a whole model, part by part."),
    knobs=(SHOWN, CODE),
    guess=_guess,
    content=_content,
    before=_before,
    onward=_onward,
    leaves_out=(MASK,),
    idle=always(HEAD),
    waiting=message("Running the whole model …"),
    minutes=10,
)
