"""The notebooks of the course: run, with the exercises unanswered, answered, or answered wrongly.

    python -m tests.course

runs those in ``assets/notebooks`` again and keeps what their cells show, so that it can be read where nothing runs.
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
    """Return the tags of a cell."""
    tags: list[str] = cell.metadata.get("tags", [])
    return tags


def shown(notebook: Any) -> list[str]:
    """Return what each code cell shows, as text."""
    codes = (cell for cell in notebook.cells if cell.cell_type == "code")
    return ["".join(_text(each) for each in cell.outputs if each.get("name") != "stderr") for cell in codes]


def _text(output: Any) -> str:
    text: str = output.text if output.output_type == "stream" else output.data["text/plain"]
    return text


def main() -> int:
    """Run every notebook of the course, and write it back with what it shows."""
    for book in BOOKS:
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(book.read_text("utf-8"), Path(folder), has_attention=True)
        for cell in notebook.cells:
            # When it was run says nothing.
            cell.metadata.pop("execution", None)
            if cell.cell_type == "code":
                # Nor what libraries say of this machine.
                cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
        nbformat.write(notebook, book)
        sys.stdout.write(f"{book.name}: {book.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
