"""Imports run one way, and heavy libraries stay where they are needed."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.sources import ROOT, parsed

HEAVY = ("streamlit", "torch", "transformers")
# What trains the project's own models; the app may read the translator's grammar and vocabulary, and no more.
TRAINING = ["attention.training.loop", "attention.training.translator", "attention.training.digits"]

# The code that the code lab shows, where that is PyTorch's.
FIVE_WAYS = [f"attention.experiments.five_ways.{name}" for name in ("fused", "listed", "module", "sdpa")]


def module_name(path):
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


@cache
def imports():
    """Of each file, every module that it names in an import, at its top or inside a function."""
    return {path: imports_of(path, tree) for path, tree in parsed().items()}


def imports_of(path, tree):
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = path.parts[: len(path.parts) - node.level] if node.level else ()
            base = ".".join([*package, *([node.module] if node.module else [])])
            # `from attention import masks` names a module, `from attention.core.masks import build` does not.
            found |= {f"{base}.{alias.name}" for alias in node.names if is_module(f"{base}.{alias.name}")} or {base}
    return found


@cache
def is_module(name):
    path = ROOT / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


def within(module, packages):
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def importers(packages, *, outside):
    """The files that import any of some packages, and what, but for those that may."""
    found = {
        str(path): {module for module in modules if within(module, packages)}
        for path, modules in imports().items()
        if not any(path.is_relative_to(part) for part in outside)
    }
    return {path: modules for path, modules in found.items() if modules}


def test_imports_run_one_way():
    """The contracts are in pyproject.toml; without its cache, it reads what is there now."""
    linter = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
    process = subprocess.run(linter, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert not process.returncode, process.stdout + process.stderr


def test_only_training_trains():
    assert importers([*TRAINING, "sklearn"], outside=["attention/training"]) == {}


def test_only_the_pages_and_their_ui_import_streamlit():
    assert importers(["streamlit"], outside=["app.py", "pages", "attention/app", "attention/answer/hosts.py"]) == {}


def test_imports_are_found_wherever_they_stand_and_however_they_are_written():
    source = "import torch.nn\ndef f():\n    from . import masks\n    from ..core.steps import attend"
    found = imports_of(Path("attention/models/toy.py"), ast.parse(source))
    assert found == {"torch.nn", "attention.models", "attention.core.steps"}
    found = imports_of(
        Path("attention/page/view.py"), ast.parse("from . import view\nfrom attention.core import steps")
    )
    assert found == {"attention.page.view", "attention.core.steps"}


def brought_in(modules):
    """Import modules one after the other in a new interpreter; return what heavy libraries each brings in."""
    script = (
        "import importlib, sys\n"
        f"for module in {modules!r}:\n"
        "    importlib.import_module(module)\n"
        f"    print(module, *[heavy for heavy in {HEAVY!r} if heavy in sys.modules])\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert not process.returncode, process.stderr
    return {line.split()[0]: line.split()[1:] for line in process.stdout.splitlines()}


@pytest.mark.slow
def test_everything_but_the_server_and_the_torch_models_imports_without_the_heavy_libraries():
    names = ("altering", "encoder_decoder", "huggingface", "own_attention", "picture", "recorder", "stack")
    names = (*names, "generic_stack", "in_memory", "tensors", "tokens")
    needs_torch = [f"attention.models.{name}" for name in names] + TRAINING + FIVE_WAYS
    # The server starts these in a process of their own.
    needs_torch += ["attention.training.induction", "attention.training.writing"]
    modules = [module_name(path) for path in parsed() if path.parts[0] == "attention"]
    light = [
        module
        for module in modules
        if not within(module, ["attention.answer", "attention.app", "attention.classroom", *needs_torch])
    ]
    assert {"attention.core.steps", "attention.core.trace", "attention.models", "attention.models.toy"} <= set(light)
    # The recorder comes last, to show that the measurement sees what it is to see.
    found = brought_in([*light, "attention.models.recorder"])
    assert found.pop("attention.models.recorder") == ["torch", "transformers"]
    assert {module: heavy for module, heavy in found.items() if heavy} == {}
