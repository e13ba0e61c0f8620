"""A step is one module with one object."""

from importlib import import_module
from pathlib import Path

from attention.lesson import steps
from attention.lesson.steps.base import Step
from tests.sources import ROOT

HOUSE = Path("attention/lesson/steps")
MODULES = sorted(path.stem for path in (ROOT / HOUSE).glob("*.py") if path.stem not in ("__init__", "base"))


def test_every_module_has_one_step_and_every_step_a_module():
    found = {name: import_module(f"attention.lesson.steps.{name}") for name in MODULES}
    for module in found.values():
        assert [name for name, value in vars(module).items() if isinstance(value, Step)] == ["STEP"]
    assert sorted(module.STEP.key for module in found.values()) == sorted(steps.keys())
    assert {id(module.STEP) for module in found.values()} == set(map(id, steps.STEPS))
