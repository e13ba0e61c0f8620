"""The scripts and style sheets in ``assets``, for the app and for self-contained files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping

import minify

from attention.core.messages import message, script_messages
from attention.core.paths import ASSETS
from attention.figures import colours
from attention.figures.template import TEMPLATES

# The script of the pinned Plotly package; its checksum and licence are beside it.
PLOTLY = "plotly-cartesian-4.1.1.min.js"

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
# Each component and the scripts it is built from, besides ``base``.
COMPONENTS: Mapping[str, tuple[str, ...]] = {
    name: tuple(parts) for name, parts in tomllib.loads((_FOLDER / "built_from.toml").read_text("utf-8")).items()
}
_SCRIPT = "application/javascript"
_COMMENTS = re.compile(r"^[ \t]*(?://.*|/\*\*(?:.|\n)*?\*/)\n", re.MULTILINE)
# A declaration or a statement that begins at the margin.
_DECLARED = re.compile(
    r"^(?=(?:export (?:default )?)?(?:async )?(?:function|const|let|class|for)\b|[\w.]+ ?[(=])", re.MULTILINE
)
_NAMED = re.compile(r"(?:async )?(?:function\*?|const|let|class) (\w+)")
# These share the page's styles; every other component has its own.
OF_THE_PAGE = ("page",)
# Shared scripts with a style sheet, and components with none of their own.
_STYLED = ("cards", "stage", "matrix")
_UNSTYLED = ("matrix_at_rest",)
# The smaller script for a component none of whose pictures is animated.
AT_REST: Mapping[str, str] = {"matrix": "matrix_at_rest"}


def _read(*names: str) -> str:
    return "\n".join((_FOLDER / name).read_text("utf-8") for name in names)


def bare(code: str) -> str:
    r"""Strip whole-line comments from a script, a quarter of its size.

    >>> bare("/** Two. */\n// Why.\nconst two = 2; // here\n")
    'const two = 2; // here\n'
    """
    return _COMMENTS.sub("", code)


def lean(code: str) -> str:
    r"""Minify a script and drop unused declarations, which must begin at the margin; the others keep their names.

    >>> lean('const used = 1;\nconst unused = 2;\nfor (;;) {\n  used + "a  b";\n}\n')
    'const used=1;for(;;)used+"a  b"'
    """
    return minify.string(_SCRIPT, _used(code))


def alone(code: str) -> str:
    """Minify a script that shares no names with others, so that all its names can be shortened.

    >>> alone("const number = 1; show(number + number);")
    '(()=>{const e=1;show(e+e)})()'
    """
    return minify.string(_SCRIPT, f"(() => {{\n{code}\n}})()")


def lean_components(names: Iterable[str]) -> str:
    """Return an object ``components`` of minified components by name, each without unused declarations."""
    return minify.string(
        _SCRIPT, f"const components = {{{','.join(f'{name}: {_as_function(name)}' for name in names)}}};"
    )


def _as_function(name: str) -> str:
    """Wrap a component's script in a function that returns its default export."""
    code = _used(script(name)).replace("export default function (", "function component(", 1)
    return f"(() => {{\n{code}\nreturn component;\n}})()"


def lean_css(styles: str) -> str:
    r"""Strip comments and most white space from a style sheet.

    >>> lean_css("a b {\n  /* Why. */\n  color: red;\n}\n")
    'a b{color: red}'
    """
    # The minifier skips container queries, and is no better elsewhere once its output is compressed.
    bare_styles = re.sub(r"/\*.*?\*/", "", styles, flags=re.DOTALL)
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", bare_styles)).replace(";}", "}").strip()


def _used(code: str) -> str:
    """Keep statements and the declarations they need, directly or indirectly."""
    parts = [part for part in _DECLARED.split(code) if part]
    names = {part: found[1] for part in parts if (found := _NAMED.match(part))}
    named = {name: part for part, name in names.items()}
    waiting, used = [part for part in parts if part not in names], set[str]()
    kept = set(waiting)
    while waiting:
        for name in set(re.findall(r"[\w$]+", waiting.pop())) & named.keys() - used:
            used.add(name)
            waiting.append(named[name])
    return "".join(part for part in parts if part in kept or names.get(part) in used)


def notebook(*names: str) -> str:
    """Return scripts of ``assets/notebook`` with all they need; a component becomes the function ``component``."""
    own = [name for name in names if name not in COMPONENTS]
    needed = (part for name in names for part in _asking_nothing(COMPONENTS.get(name, ())))
    parts = dict.fromkeys(["base", "colours", *needed])
    code = bare(
        "\n".join(
            (
                _read(*(f"{part}.js" for part in (*parts, *(n for n in names if n in COMPONENTS)))),
                *((ASSETS / "notebook" / f"{name}.js").read_text("utf-8") for name in own),
            )
        )
    )
    code = code.replace("export default function (", "function component(")
    return f"{script_messages(code)}{_full()}{code}"


def css(name: str) -> str:
    """Return a component's style sheet, preceded by the shared ones and the colours of Q, K, V and the weights."""
    own = () if name in _UNSTYLED else (name,)
    parts = ("base", *(part for part in COMPONENTS[name] if part in _STYLED), *own)
    return f"{_LETTERS}\n{_read(*(f'{part}.css' for part in parts))}"


def script(name: str, *, asks: bool = False, plotly: str | None = None) -> str:
    """Return a component's script, preceded by the shared code and its texts in the server's language.

    Unless it ``asks`` the server for omitted numbers, its data must be complete. Charts load Plotly from the address
    ``plotly``, unless it is already loaded.
    """
    parts = COMPONENTS[name] if asks else _asking_nothing(COMPONENTS[name])
    code = bare(_read(*(f"{part}.js" for part in ("base", *parts, name))))
    own = _of_charts(plotly) if name == "chart" else ""
    return script_messages(code) + (_full() if "colours" in COMPONENTS[name] else "") + own + code


def _asking_nothing(parts: Iterable[str]) -> Iterator[str]:
    return ("asked_nothing" if part == "asked" else part for part in parts)


def _full() -> str:
    full = json.dumps({theme: dict(scale) for theme, scale in colours.SCALES.items()})
    return f"const FULL = {full};\n"


def _of_charts(address: str | None) -> str:
    # Plotly's own texts, mapped to the server's language.
    words = {
        "Zoom": message("Zoom"),
        "Pan": message("Pan"),
        "Zoom in": message("Zoom in"),
        "Zoom out": message("Zoom out"),
        "Reset axes": message("Reset axes"),
        "Double-click to zoom back out": message("Double-click to zoom back out"),
    }
    given = {"TEMPLATES": {theme: dict(each) for theme, each in TEMPLATES.items()}, "WORDS": words, "PLOTLY": address}
    return "".join(f"const {name} = {json.dumps(value)};\n" for name, value in given.items())


def plotly() -> str:
    """Return Plotly's script: the smallest official bundle with heatmaps."""
    return (ASSETS / "plotly" / PLOTLY).read_text("utf-8")


def module(name: str, plotly: str | None = None) -> str:
    """Return a component as a minified JavaScript module for the app.

    ``default`` draws it, and ``styles`` is its constructed style sheet, if it has one. Charts load Plotly from the
    address ``plotly``.
    """
    code = f"{script(name, asks=True, plotly=plotly)}\n{bare(_read('in_app.js'))}"
    if name in OF_THE_PAGE:
        return lean(code)
    styles = f"export const styles = new CSSStyleSheet();\nstyles.replaceSync({json.dumps(lean_css(css(name)))});\n"
    return lean(f"{code}\n{styles}")


def still() -> str:
    """Return the script that ignores presses in a page without other views."""
    return bare((ASSETS / "file" / "still.js").read_text("utf-8"))


def room_script() -> str:
    """Return the script of a screen that follows a class, with its texts in the server's language."""
    code = bare(
        "\n".join((_read("base.js", "shares.js"), still(), *_of_class("time_left", "js"), *_of_class("room", "js")))
    )
    return lean(script_messages(code) + code)


def class_script() -> str:
    """Return the script of a class on the app's own pages, with its styles and texts."""
    code = bare("\n".join((_read("base.js", "shares.js"), *_of_class("time_left", "js"), *_of_class("class", "js"))))
    styles = lean_css("\n".join((_read("shares.css"), *_of_class("class", "css"))))
    return lean(f"{script_messages(code)}const STYLES = {json.dumps(styles)};\n{code}")


def room_css() -> str:
    """Return the style sheet of a screen that follows a class."""
    return lean_css("\n".join((file_css(), _read("shares.css"), *_of_class("room", "css"))))


def file_css() -> str:
    """Return the style sheet of a page in a file."""
    return "\n".join(((ASSETS / "file" / "page.css").read_text("utf-8"), _read("plot.css")))


def _of_class(name: str, ending: str) -> list[str]:
    """Return a class file and those that extend it."""
    files = (_CLASS / f"{name}.{ending}", *sorted(_CLASS.glob(f"{name}_*.{ending}")))
    return [file.read_text("utf-8") for file in files]


def page_css() -> str:
    """Return the style sheet of the page around the components, preceded by the colours of Q, K, V and the weights."""
    # On a dark page, coloured letters of a formula are lightened towards the text colour, as coloured words are.
    dark = "\n".join(
        f".formula [mathcolor='{colour}'] "
        f"{{ color: light-dark({colour}, color-mix(in oklab, {colour} 65%, #e6e9ef)) !important; }}"
        for colour in (colours.QUERY, colours.KEY, colours.VALUE, colours.WEIGHT)
    )
    own = _read(*(f"{name}.css" for name in (*OF_THE_PAGE, "cards", "plot")))
    return lean_css(f":root {{ {VARIABLES} }}\n{dark}\n{(ASSETS / 'page.css').read_text('utf-8')}\n{own}")
