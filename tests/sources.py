"""The project's source files, parsed once for all tests that scan them."""

import ast
from functools import cache
from pathlib import Path
from types import MappingProxyType

__all__ = ["ROOT", "parsed"]

ROOT = Path(__file__).parents[1]


@cache
def parsed() -> MappingProxyType[Path, ast.Module]:
    """Return the syntax tree of every module of the app, by its path from the project's root."""
    paths = sorted(path for pattern in ("*.py", "attention/**/*.py", "pages/**/*.py") for path in ROOT.glob(pattern))
    return MappingProxyType({path.relative_to(ROOT): ast.parse(path.read_text("utf-8")) for path in paths})
