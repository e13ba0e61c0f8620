"""The scripts and style sheets in ``assets``, as text, for the page and for a self-contained file."""

from __future__ import annotations

import json
from pathlib import Path

from attention.figures import colours
from attention.messages import script_messages

__all__ = ["COMPONENTS", "VARIABLES", "css", "module", "page_css", "script"]

_ASSETS = Path(__file__).resolve().parents[2] / "assets"
_FOLDER = _ASSETS / "components"
_COLOURS = {
    "query": colours.QUERY,
    "key": colours.KEY,
    "value": colours.VALUE,
    "weight": colours.WEIGHT,
    "positive": colours.POSITIVE,
    "negative": colours.NEGATIVE,
    "inactive": colours.INACTIVE,
}
VARIABLES = " ".join(f"--{name}: {colour};" for name, colour in _COLOURS.items())
_LETTERS = f":host {{ {VARIABLES} }}"
# Every component, and whether its script needs the colour scales for numbers.
COMPONENTS = {
    "atlas": True,
    "buttons": False,
    "chart": True,
    "drawing": True,
    "head_grid": True,
    "head_view": True,
    "matrix": True,
    "neuron": True,
    "overlay": True,
    "question": False,
    "share": False,
    "stepper": False,
    "tokens": False,
}


def _read(*names: str) -> str:
    """Return the files of ``assets/components`` with these names as one text, in this order."""
    return "\n".join((_FOLDER / name).read_text("utf-8") for name in names)


def css(name: str) -> str:
    """Return the style sheet of a component, preceded by the shared one and the colours of Q, K, V and the weights."""
    return f"{_LETTERS}\n{_read('base.css', f'{name}.css')}"


def script(name: str) -> str:
    """Return the script of a component, preceded by the shared code and its texts in the server's language."""
    code = _read("base.js", *(["colours.js"] if COMPONENTS[name] else []), f"{name}.js")
    return script_messages(code) + code


def module(name: str) -> str:
    """Return a component as one JavaScript module for the app.

    ``default`` draws it, ``ask`` asks the server for it, and ``styles`` is its constructed style sheet.
    """
    styles = f"export const styles = new CSSStyleSheet();\nstyles.replaceSync({json.dumps(css(name))});\n"
    return f"{script(name)}\n{_read('asking.js')}\n{styles}"


def page_css() -> str:
    """Return the style sheet of the page around the components, preceded by the colours of Q, K, V and the weights."""
    # On a dark page, the coloured letters of a formula are lightened towards the text colour, as coloured words are.
    dark = "\n".join(
        f"[class*=st-key-formula] .katex [style*='{_as_in_styles(colour)}'] "
        f"{{ color: light-dark({colour}, color-mix(in oklab, {colour} 65%, #e6e9ef)) !important; }}"
        for colour in (colours.QUERY, colours.KEY, colours.VALUE, colours.WEIGHT)
    )
    return f":root {{ {VARIABLES} }}\n{dark}\n{(_ASSETS / 'page.css').read_text('utf-8')}"


def _as_in_styles(colour: str) -> str:
    """Write #0072B2 as browsers write it in an element's style: rgb(0, 114, 178)."""
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"
