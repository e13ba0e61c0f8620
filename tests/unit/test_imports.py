"""Imports run one way, and the heavy libraries stay where they are needed."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.sources import ROOT, parsed

HEAVY = ("streamlit", "torch", "transformers")
# What a part of the project may import of the project, where that is limited.
MAY_IMPORT = {
    "attention/steps.py": set(),
    "attention/masks.py": set(),
    "attention/positions.py": set(),
    "attention/pixels.py": set(),
    "attention/places.py": set(),
    "attention/snippets.py": {"attention.places"},
    "attention/structure.py": set(),
    "attention/text.py": set(),
    "attention/messages.py": {"attention.places"},
    "attention/reading.py": {"attention.masks", "attention.messages", "attention.pixels", "attention.places"},
    "attention/kinds.py": {"attention.masks", "attention.messages"},
    "attention/trace.py": {
        "attention.kinds",
        "attention.positions",
        "attention.reading",
        "attention.steps",
        "attention.structure",
    },
}
MUST_NOT_IMPORT = {
    # Content is made on the way down, from a page to its figures, and drawn on the way up, from blocks to the screen.
    "attention/content": {"attention.ui"},
    "attention/ui/sheet.py": {"attention.content", "attention.lesson"},
    "attention/page_file.py": {"attention.content", "attention.lesson", "attention.ui"},
    # What can be set, which page has it, and what a link says: each builds on the ones before.
    "attention/parameters.py": {"attention.settings", "attention.pages", "attention.view", "attention.ui"},
    "attention/settings.py": {"attention.pages", "attention.view", "attention.ui"},
    "attention/pages.py": {"attention.view", "attention.ui"},
    "attention/view.py": {"attention.ui"},
    "attention/lesson": {"attention.settings", "attention.pages", "attention.view", "attention.ui"},
    "attention/measures": {
        "attention.models",
        "attention.study",
        "attention.lesson",
        "attention.figures",
        "attention.ui",
    },
    "attention/figures": {"attention.models", "attention.ui"},
    "attention/notebook": {
        "attention.content",
        "attention.pages",
        "attention.settings",
        "attention.view",
        "attention.ui",
    },
    "attention/room": {"attention.models", "attention.content", "attention.ui"},
    "attention/models": {"attention.figures", "attention.ui"},
    "attention/five_ways": {"attention.models", "attention.lesson", "attention.figures", "attention.ui"},
    "attention/training": {"attention.models", "attention.lesson", "attention.figures", "attention.ui"},
}
# What trains the project's own models; the app may read the translator's grammar and vocabulary, and no more.
TRAINING = ["attention.training.loop", "attention.training.translator", "attention.training.digits"]

# The code that the code lab shows, where that is PyTorch's.
FIVE_WAYS = [f"attention.five_ways.{name}" for name in ("fused", "listed", "module", "sdpa")]


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
            # `from attention import masks` names a module, `from attention.masks import build` does not.
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
    wrong = set()
    for path, modules in imports().items():
        own = {module for module in modules if within(module, ["attention"])}
        for part, allowed in MAY_IMPORT.items():
            if path.is_relative_to(part):
                wrong |= {(str(path), module) for module in own - allowed}
        for part, forbidden in MUST_NOT_IMPORT.items():
            if path.is_relative_to(part):
                wrong |= {(str(path), module) for module in own if within(module, forbidden)}
    assert wrong == set()


def test_the_parts_of_which_imports_are_limited_are_there():
    assert [part for part in (*MAY_IMPORT, *MUST_NOT_IMPORT) if not (ROOT / part).exists()] == []


def test_only_training_trains():
    assert importers([*TRAINING, "sklearn"], outside=["attention/training"]) == {}


def test_only_the_pages_and_their_ui_import_streamlit():
    assert importers(["streamlit"], outside=["app.py", "pages", "attention/ui"]) == {}


def test_imports_are_found_wherever_they_stand_and_however_they_are_written():
    source = "import torch.nn\ndef f():\n    from . import masks\n    from ..steps import attend"
    found = imports_of(Path("attention/models/toy.py"), ast.parse(source))
    assert found == {"torch.nn", "attention.models", "attention.steps"}
    found = imports_of(Path("attention/view.py"), ast.parse("from . import masks\nfrom attention import steps"))
    assert found == {"attention.masks", "attention.steps"}


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


def test_everything_but_ui_and_the_torch_models_imports_without_the_heavy_libraries():
    names = ("altering", "encoder_decoder", "huggingface", "own_attention", "picture", "recorder", "stack")
    names = (*names, "other_stack", "tokens")
    needs_torch = [f"attention.models.{name}" for name in names] + TRAINING + FIVE_WAYS
    # The server starts these in a process of their own.
    needs_torch += ["attention.training.induction", "attention.training.writing"]
    modules = [module_name(path) for path in parsed() if path.parts[0] == "attention"]
    light = [module for module in modules if not within(module, ["attention.ui", *needs_torch])]
    assert {"attention.steps", "attention.trace", "attention.models", "attention.models.toy"} <= set(light)
    # The recorder comes last, to show that the measurement sees what it is to see.
    found = brought_in([*light, "attention.models.recorder"])
    assert found.pop("attention.models.recorder") == ["torch", "transformers"]
    assert {module: heavy for module, heavy in found.items() if heavy} == {}
