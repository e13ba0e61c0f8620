"""What an attention is, and what a model is built of, is one object each: nobody else asks which one it is."""

import ast
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from attention.kinds import DECODER, ENCODER, ENCODER_DECODER, USES, AttentionKind
from attention.lesson.prose import LESSONS
from attention.masks import MASK_NAMES
from attention.models.toy import TOY_INFO
from attention.trace import PARTS

ROOT = Path(__file__).parents[2]
BUILDS = {"encoder": ENCODER, "decoder": DECODER, "encoder–decoder": ENCODER_DECODER}
# Where kinds are told apart: where they are made, and where models are run.
MAY_ASK = ("attention/kinds.py", "attention/trace.py", "attention/models")
SOURCES = [
    path.relative_to(ROOT)
    for path in sorted([*ROOT.glob("*.py"), *ROOT.glob("attention/**/*.py"), *ROOT.glob("pages/**/*.py")])
]
# What is being moved.
MOVING = ("attention/lesson",)


def asked(source):
    """The lines of a source that ask which kind an attention or a model is."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in ("is_cross", "is_decoder"):
            found.append(node.lineno)
        if isinstance(node, ast.Compare):
            found += [node.lineno for side in (node.left, *node.comparators) if is_kind(side)]
    return found


def is_kind(node):
    return isinstance(node, ast.Attribute) and node.attr in ("build", "use")


@pytest.mark.parametrize(
    "line", ["if info.is_decoder: pass", "x = 'Z' if scene.is_cross else 'X'", "if layer.use is USES['cross']: pass"]
)
def test_the_search_finds_whoever_asks(line):
    assert asked(line)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_nobody_asks_which_kind_it_is(path):
    if not any(path.is_relative_to(part) for part in (*MAY_ASK, *MOVING)):
        assert asked((ROOT / path).read_text("utf-8")) == []


def test_every_kind_of_attention_is_known():
    assert set(USES) == set(get_args(AttentionKind))


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_what_a_build_names_is_there(build):
    assert tuple(build.mask_names) == MASK_NAMES
    assert len(set(build.mask_names.values())) == len(MASK_NAMES)
    assert all((LESSONS / f"{name}.md").is_file() for name in (build.of_heads, build.of_changes) if name)
    assert build.second.placeholder.format(model="X")


def test_a_model_is_built_as_its_sizes_say():
    assert TOY_INFO.build is ENCODER
    assert replace(TOY_INFO, is_decoder=True).build is DECODER
    both = replace(TOY_INFO, n_decoder_layers=2)
    assert both.build is ENCODER_DECODER
    assert [both.part_or_whole(part) for part in PARTS] == list(PARTS)
    assert [TOY_INFO.part_or_whole(part) for part in PARTS] == ["encoder"] * 3
