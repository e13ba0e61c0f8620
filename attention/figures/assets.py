"""The scripts and style sheets in ``assets``, as text, for the page and for a self-contained file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from attention.figures import colours
from attention.messages import script_messages
from attention.places import ASSETS

__all__ = [
    "COMPONENTS",
    "OF_THE_PAGE",
    "VARIABLES",
    "bare",
    "class_script",
    "css",
    "module",
    "page_css",
    "room_css",
    "room_script",
    "script",
    "still",
]

_FOLDER = ASSETS / "components"
_CLASS = ASSETS / "room"
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
# Every component, and the scripts that it shares with others or is divided into, beside the base.
COMPONENTS: Mapping[str, tuple[str, ...]] = {
    "arrows": ("svg", "marks"),
    "atlas": ("colours",),
    "buttons": (),
    "chart": ("colours", "svg", "marks"),
    "dials": ("svg",),
    "drawing": ("colours",),
    "head_grid": ("colours", "thumb"),
    "head_view": ("colours",),
    "leaf": ("leaves",),
    "line": (),
    "matrix": ("colours", "svg", "stage", "turn_overlay", "turn_cells", "turn_products", "turn_share", "turn_join"),
    "model_map": ("colours", "thumb"),
    "neuron": ("colours", "svg"),
    "order": (),
    "overlay": ("colours",),
    "question": (),
    "sheet": (),
    "stepper": ("leaves",),
    "tokens": ("stage", "turn_split"),
    "work": (),
}
_COMMENTS = re.compile(r"^[ \t]*(?://.*|/\*\*(?:.|\n)*?\*/)\n", re.MULTILINE)
# These are part of the page, and have its styles; each of the others has its own.
OF_THE_PAGE = ("leaf", "sheet")
# The shared scripts that have a style sheet.
_STYLED = ("stage",)


def _read(*names: str) -> str:
    """Return the files of ``assets/components`` with these names as one text, in this order."""
    return "\n".join((_FOLDER / name).read_text("utf-8") for name in names)


def bare(code: str) -> str:
    r"""Return a script without its comments that stand in lines of their own: a quarter of what travels and is kept.

    >>> bare("/** Two. */\n// Why.\nconst two = 2; // here\n")
    'const two = 2; // here\n'
    """
    return _COMMENTS.sub("", code)


def css(name: str) -> str:
    """Return the style sheet of a component, preceded by the shared ones and the colours of Q, K, V and the weights."""
    parts = ("base", *(part for part in COMPONENTS[name] if part in _STYLED), name)
    return f"{_LETTERS}\n{_read(*(f'{part}.css' for part in parts))}"


def script(name: str) -> str:
    """Return the script of a component, preceded by the shared code and its texts in the server's language."""
    code = bare(_read(*(f"{part}.js" for part in ("base", *COMPONENTS[name], name))))
    full = json.dumps({theme: dict(scale) for theme, scale in colours.SCALES.items()})
    return script_messages(code) + (f"const FULL = {full};\n" if "colours" in COMPONENTS[name] else "") + code


def module(name: str) -> str:
    """Return a component as one JavaScript module for the app.

    ``default`` draws it, ``mount`` does so for Streamlit, and ``styles`` is its constructed style sheet, if it has one.
    """
    if name in OF_THE_PAGE:
        return f"{script(name)}\n{_read('in_app.js')}"
    styles = f"export const styles = new CSSStyleSheet();\nstyles.replaceSync({json.dumps(css(name))});\n"
    return f"{script(name)}\n{_read('in_app.js')}\n{styles}"


def still() -> str:
    """Return the script that has the presses in a picture do nothing where there is no other view."""
    return bare((ASSETS / "file" / "still.js").read_text("utf-8"))


def room_script() -> str:
    """Return the script of a screen that follows a class, with its texts in the server's language."""
    code = bare(f"{_read('base.js')}\n{still()}\n{(_CLASS / 'room.js').read_text('utf-8')}")
    return script_messages(code) + code


def class_script() -> str:
    """Return the script of a class over the app's own pages, with its styles and its texts."""
    own = (file.read_text("utf-8") for file in (_CLASS / "class.js", *sorted(_CLASS.glob("class_*.js"))))
    code = bare("\n".join((_read("base.js"), *own)))
    styles = (_CLASS / "class.css").read_text("utf-8")
    return f"{script_messages(code)}const STYLES = {json.dumps(styles)};\n{code}"


def room_css() -> str:
    """Return the style sheet of such a screen: that of a page in a file, and its own."""
    return "\n".join((ASSETS / folder).read_text("utf-8") for folder in ("file/page.css", "room/room.css"))


def page_css() -> str:
    """Return the style sheet of the page around the components, preceded by the colours of Q, K, V and the weights."""
    # On a dark page, the coloured letters of a formula are lightened towards the text colour, as coloured words are.
    dark = "\n".join(
        f".katex [style*='{_as_in_styles(colour)}'] "
        f"{{ color: light-dark({colour}, color-mix(in oklab, {colour} 65%, #e6e9ef)) !important; }}"
        for colour in (colours.QUERY, colours.KEY, colours.VALUE, colours.WEIGHT)
    )
    own = _read(*(f"{name}.css" for name in OF_THE_PAGE))
    return f":root {{ {VARIABLES} }}\n{dark}\n{(ASSETS / 'page.css').read_text('utf-8')}\n{own}"


def _as_in_styles(colour: str) -> str:
    """Write #0072B2 as browsers write it in an element's style: rgb(0, 114, 178)."""
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"
