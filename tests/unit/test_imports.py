"""Imports run one way, and heavy libraries stay where they are needed."""

import subprocess
import sys
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


def within(module, packages):
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def test_imports_run_one_way():
    """The contracts are in pyproject.toml; without its cache, it reads what is there now."""
    linter = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
    process = subprocess.run(linter, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert not process.returncode, process.stdout + process.stderr


def brought_in(modules):
    """Import modules one after the other in a new interpreter; return what heavy libraries each brings in."""
    script = (
        "import importlib, sys\n"
        f"for module in {modules!r}:\n"
        "    importlib.import_module(module)\n"
        f"    print(module, *[heavy for heavy in {HEAVY!r} if heavy in sys.modules])\n"
    )
    return {line.split()[0]: line.split()[1:] for line in printed(script).splitlines()}


def printed(script):
    """Return what a script prints in a new interpreter."""
    process = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert not process.returncode, process.stderr
    return process.stdout


# The first thread is where a new server is when its first page is opened.
TWO_THREADS = """
import importlib, sys, torch
from threading import Thread
from attention.models.generic_models import other_architecture

other = Thread(target=importlib.import_module, args=("transformers",))
other.start()
while "transformers" not in sys.modules:
    pass
print(other_architecture({"model_type": "olmo2", "vocab_size": 9}).name)
other.join()
"""


def test_a_model_is_described_while_another_thread_imports_transformers():
    assert printed(TWO_THREADS) == "olmo2, partly known\n"


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
