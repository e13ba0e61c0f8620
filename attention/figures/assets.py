"""The scripts and style sheets of the components, as text: for the page and for a file that stands alone."""

from __future__ import annotations

from pathlib import Path

from attention.figures import colours

__all__ = ["css", "read"]

_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "components"
_COLOURS = {
    "query": colours.QUERY,
    "key": colours.KEY,
    "value": colours.VALUE,
    "weight": colours.WEIGHT,
    "positive": colours.POSITIVE,
    "negative": colours.NEGATIVE,
    "inactive": colours.INACTIVE,
}
_LETTERS = f":host {{ {' '.join(f'--{name}: {colour};' for name, colour in _COLOURS.items())} }}"


def read(*names: str) -> str:
    """Return these files of ``assets/components`` as one text, in this order."""
    return "\n".join((_FOLDER / name).read_text("utf-8") for name in names)


def css(name: str) -> str:
    """Return the style sheet of a component, the shared one and the colours of the letters first."""
    return f"{_LETTERS}\n{read('base.css', f'{name}.css')}"
