"""A step is one module with one object, and no other code asks which step it is."""

import ast
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from attention.lesson import steps
from attention.lesson.steps.base import Step
from tests.sources import ROOT, parsed

HOUSE = Path("attention/lesson/steps")
MODULES = sorted(path.stem for path in (ROOT / HOUSE).glob("*.py") if path.stem not in ("__init__", "base"))
# Words that are compared with the name of a step and are something else: what is done in the picture of the lines.
OTHERS = {Path("attention/figures/head_view.py"): {"heads"}}


def asked(tree, keys):
    """The names of steps that a module compares with anything, matches on or has a table of, each with its line."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        elif isinstance(node, ast.Subscript) and is_list_of_steps(node.value):
            # A course begins with its first step, whichever that is; any other number stands for one of them.
            found += [] if ast.unparse(node.slice) == "0" else [(node.lineno, ast.unparse(node))]
            continue
        elif isinstance(node, ast.Dict) and len(set(strings(node.keys)) & keys) > 2:
            parts = node.keys
        else:
            continue
        found += [(node.lineno, key) for key in strings(parts) if key in keys]
    return found


def strings(parts):
    """All texts that are written out in some expressions."""
    nodes = [node for part in parts if part is not None for node in ast.walk(part)]
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def is_list_of_steps(node):
    """Whether an expression is the list of steps, of which a number takes one."""
    return (isinstance(node, ast.Attribute) and node.attr == "STEPS") or (
        isinstance(node, ast.Name) and node.id == "STEPS"
    )


@pytest.mark.parametrize(
    "line",
    [
        "if step.key == 'qkv': pass",
        "x = 1 if view.step in ('softmax', 'mask') else 2",
        "is_row = 'scale' != step",
        "if keys().index(view.step) < keys().index('qkv'): pass",
        "if step is STEPS[-1]: pass",
        "match step.key:\n    case 'heads': pass",
        "tellers = {'scores': 1, 'scale': 2, 'mask': 3}",
    ],
)
def test_the_search_finds_whoever_asks(line):
    assert asked(ast.parse(line), set(steps.keys()))


def test_nobody_asks_which_step_it_is():
    found = {
        str(path): asked(tree, set(steps.keys()) - OTHERS.get(path, set()))
        for path, tree in parsed().items()
        if path.parent != HOUSE or path.stem not in MODULES
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_every_module_has_one_step_and_every_step_a_module():
    found = {name: import_module(f"attention.lesson.steps.{name}") for name in MODULES}
    for module in found.values():
        assert [name for name, value in vars(module).items() if isinstance(value, Step)] == ["STEP"]
    assert sorted(module.STEP.key for module in found.values()) == sorted(steps.keys())
    assert {id(module.STEP) for module in found.values()} == set(map(id, steps.STEPS))


def test_what_a_step_consists_of_is_said_in_one_place():
    said = Step.__doc__.split("Attributes:")[1]
    for part in fields(Step):
        assert f"\n        {part.name}: " in said
