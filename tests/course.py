"""Run the course's notebooks, with the exercises unanswered, or answered right or wrong.

    python -m tests.course

reruns those in ``assets/notebooks`` and saves their outputs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat

from tests.notebooks import executed

__all__ = ["BOOKS", "main", "shown", "tags_of"]

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "notebooks"
BOOKS = sorted(FOLDER.glob("*.ipynb"))


def tags_of(cell: Any) -> list[str]:
    tags: list[str] = cell.metadata.get("tags", [])
    return tags


def shown(notebook: Any) -> list[str]:
    """Return the output of each code cell, as text."""
    codes = (cell for cell in notebook.cells if cell.cell_type == "code")
    return ["".join(_text(each) for each in cell.outputs if each.get("name") != "stderr") for cell in codes]


def _text(output: Any) -> str:
    text: str = output.text if output.output_type == "stream" else output.data["text/plain"]
    return text


def main() -> int:
    """Rerun every notebook of the course, and save it with its outputs."""
    for book in BOOKS:
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(book.read_text("utf-8"), Path(folder), has_attention=True)
        for cell in notebook.cells:
            # Times of execution are irrelevant.
            cell.metadata.pop("execution", None)
            if cell.cell_type == "code":
                # So are libraries' remarks on this machine.
                cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
        nbformat.write(notebook, book)
        sys.stdout.write(f"{book.name}: {book.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
