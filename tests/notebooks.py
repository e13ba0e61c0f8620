"""Run notebooks as a reader does: in a kernel of their own, where this project cannot be imported."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

__all__ = ["code_of", "executed", "run_here"]

_ROOT = Path(__file__).resolve().parents[1]


def executed(text: str, folder: Path, *, has_attention: bool = False) -> Any:
    """Return a notebook after running all its cells in an empty folder; errors are raised.

    Unless it ``has_attention``, importing this project fails there.
    """
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    path = _ROOT
    if not has_attention:
        path = folder / "not_here"
        path.mkdir()
        (path / "attention.py").write_text("raise ImportError('attention is not here')\n")
    environment = {
        **os.environ,
        "PYTHONPATH": str(path),
        "HF_HUB_OFFLINE": "1",
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    client = NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.create_kernel_manager()
    # The kernel of this Python, whatever others the user has installed.
    client.km.kernel_spec.argv[0] = sys.executable
    client.execute(env=environment)
    return notebook


def code_of(text: str) -> list[str]:
    return [cell.source for cell in nbformat.reads(text, as_version=4).cells if cell.cell_type == "code"]


def run_here(codes: list[str], variables: dict[str, Any] | None = None) -> tuple[dict[str, Any], str]:
    """Run code cells in this process; return their variables and what they print."""
    namespace: dict[str, Any] = {} if variables is None else variables
    with redirect_stdout(StringIO()) as printed:
        for number, code in enumerate(codes):
            exec(compile(code, f"cell {number}", "exec"), namespace)
    return namespace, printed.getvalue()
