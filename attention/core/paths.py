"""Where the files are that are no modules: beside the package in a checkout, inside it once it is installed."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

__all__ = ["APP", "ASSETS", "ROOT"]

with as_file(files("attention")) as _package:
    _PACKAGE = Path(_package)

# The folder in which ``import attention`` finds the package.
ROOT = _PACKAGE.parent


def _place(name: str, beside: Path) -> Path:
    """Return the folder that a wheel has inside the package (see setup.py); in a checkout, where it comes from."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else beside


# Lesson texts, scripts, style sheets, word lists and the models that were trained here.
ASSETS = _place("_assets", ROOT / "assets")
# What the server runs: app.py, its pages, and Streamlit's settings for them.
APP = _place("_app", ROOT)
