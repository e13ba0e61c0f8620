"""The folders of data files: beside the package in a checkout, inside it once installed."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

with as_file(files("attention")) as _package:
    _PACKAGE = Path(_package)

# The folder in which ``import attention`` finds the package.
ROOT = _PACKAGE.parent


def _data_folder(name: str, beside: Path) -> Path:
    """Return the folder inside the package (as in a wheel, see setup.py) or, in a checkout, the one beside it."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else beside


# Lesson texts, scripts, style sheets, word lists and the bundled models.
ASSETS = _data_folder("_assets", ROOT / "assets")
# The server's app.py, pages and Streamlit settings.
APP = _data_folder("_app", ROOT)
