"""A kind of attention, and a model's structure, are one object each; no other code asks which one it is."""

import ast
from dataclasses import replace
from typing import get_args

import pytest

from attention.core.kinds import CROSS, DECODER, ENCODER, ENCODER_DECODER, SELF, WRITTEN
from attention.core.masks import MASK_NAMES
from attention.core.trace import PARTS, AttentionKind
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lessons
from attention.lesson.steps import keys, step_of
from attention.models import load
from attention.models.toy import TOY_INFO
from tests.sources import parsed

BUILDS = {"encoder": ENCODER, "decoder": DECODER, "encoder–decoder": ENCODER_DECODER}
USES = {"self": SELF, "written": WRITTEN, "cross": CROSS}
NAMES = {"is_decoder", "is_cross", "is_written"}
# Where kinds are told apart: where they are made, and where models are run.
MAY_ASK = ("attention/core/kinds.py", "attention/core/trace.py", "attention/models")


def asked(tree):
    """The lines of a module that ask which kind an attention or a model is."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in NAMES:
            found.append(node.lineno)
        if isinstance(node, ast.Compare):
            found += [node.lineno for side in (node.left, *node.comparators) if is_kind(side)]
    return found


def is_kind(node):
    """Whether an expression is a kind or its name: ``info.build``, ``scene.use``, ``CROSS``, ``"cross"``, …"""
    if isinstance(node, ast.Constant):
        return node.value in get_args(AttentionKind)
    if isinstance(node, ast.Attribute):
        return node.attr in ("build", "use")
    return isinstance(node, ast.Name) and node.id in ("SELF", "WRITTEN", "CROSS", "ENCODER", "DECODER")


@pytest.mark.parametrize(
    "line",
    [
        "if info.is_decoder: pass",
        "x = 'Z' if scene.is_cross else 'X'",
        "if layer.kind == 'cross': pass",
        "if scene.use is CROSS: pass",
        "if scene.trace.info.build in (DECODER,): pass",
    ],
)
def test_the_search_finds_whoever_asks(line):
    assert asked(ast.parse(line))


def test_nobody_asks_which_kind_it_is():
    found = {
        str(path): asked(tree)
        for path, tree in parsed().items()
        if not any(path.is_relative_to(part) for part in MAY_ASK)
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_what_a_use_names_is_there(use):
    of_steps = [*use.formulas, *use.lessons, *use.asides]
    assert set(of_steps) <= set(keys())
    names = [use.hides_later, *use.lessons.values(), *use.asides.values()]
    names += [name for pair in use.variants.items() for name in pair]
    assert set(filter(None, names)) <= set(lessons())
    assert 1 <= len(use.sides) <= 2
    assert len({side.name for side in use.sides}) == len(use.sides)


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_what_a_build_names_is_there(build):
    assert tuple(build.mask_names) == MASK_NAMES
    assert len(set(build.mask_names.values())) == len(MASK_NAMES)
    names = (build.hides_later, build.of_heads, build.of_changes)
    assert set(filter(None, names)) <= set(lessons())
    assert build.second.placeholder.format(model="X")


def test_a_model_is_built_as_its_sizes_say():
    assert TOY_INFO.build is ENCODER
    assert replace(TOY_INFO, is_decoder=True).build is DECODER
    both = replace(TOY_INFO, n_decoder_layers=2)
    assert both.build is ENCODER_DECODER
    assert [both.part_or_whole(part) for part in PARTS] == list(PARTS)
    assert [TOY_INFO.part_or_whole(part) for part in PARTS] == ["encoder"] * 3


@pytest.mark.parametrize("mask", MASK_NAMES)
def test_what_is_read_is_never_told_as_what_is_written(mask):
    """Also where a mask hides from what is read all that comes later, as the decoder does by itself."""
    whole = load("translator-fr-en").trace("le petit chat noir dort", mask=mask)
    assert [whole.part(part).use for part in PARTS] == [SELF, WRITTEN, CROSS]
    told = [step_of("tokens").words(HeadContext(whole.part(part), 0, 0, 1)) for part in PARTS]
    chosen = "which it did not choose itself"
    assert [chosen in text for text in told] == [False, True, False]
    hidden = [step_of("mask").words(HeadContext(whole.part(part), 0, 0, 1)) for part in PARTS]
    assert len(set(hidden)) == len(PARTS)
