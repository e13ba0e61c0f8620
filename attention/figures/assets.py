"""The scripts and style sheets in ``assets``, as text, for the page and for a self-contained file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

import minify

from attention.core.messages import message, script_messages
from attention.core.paths import ASSETS
from attention.figures import colours
from attention.figures.template import TEMPLATES

__all__ = [
    "AT_REST",
    "COMPONENTS",
    "OF_THE_PAGE",
    "PLOTLY",
    "VARIABLES",
    "alone",
    "bare",
    "class_script",
    "css",
    "file_css",
    "lean",
    "lean_components",
    "lean_css",
    "module",
    "notebook",
    "page_css",
    "plotly",
    "room_css",
    "room_script",
    "script",
    "still",
]

# The script of the pinned package's version of Plotly; its checksum and its licence lie beside it.
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
# Every component, and the scripts that it shares with others or is divided into, beside the base.
COMPONENTS: Mapping[str, tuple[str, ...]] = {
    "arcs": ("svg",),
    "atlas": ("colours", "asked"),
    "bars": (),
    "buttons": (),
    "chart": ("colours",),
    "dials": ("svg",),
    "drawing": ("colours",),
    "head_grid": ("colours", "thumb"),
    "head_view": ("colours", "asked"),
    "line": ("cards",),
    "matrix": (
        "colours",
        "svg",
        "asked",
        "stage",
        "turn_overlay",
        "turn_cells",
        "turn_products",
        "turn_share",
        "turn_join",
    ),
    "matrix_at_rest": ("colours", "svg", "asked", "matrix"),
    "model_map": ("colours", "svg", "thumb"),
    "neuron": ("colours", "svg"),
    "order": (),
    "overlay": ("colours",),
    "question": ("shares",),
    "page": ("cards",),
    "stepper": (),
    "stream": ("colours",),
    "table": (),
    "tokens": ("stage", "turn_split"),
    "upload": (),
    "work": (),
}
_SCRIPT = "application/javascript"
_COMMENTS = re.compile(r"^[ \t]*(?://.*|/\*\*(?:.|\n)*?\*/)\n", re.MULTILINE)
# Where a script declares something by a name, or does something, at its margin.
_DECLARED = re.compile(
    r"^(?=(?:export (?:default )?)?(?:async )?(?:function|const|let|class|for)\b|[\w.]+ ?[(=])", re.MULTILINE
)
_NAMED = re.compile(r"(?:async )?(?:function\*?|const|let|class) (\w+)")
# These are part of the page, and have its styles; each of the others has its own.
OF_THE_PAGE = ("page",)
# The shared scripts that have a style sheet, and the components that have none but theirs.
_STYLED = ("cards", "stage", "matrix")
_UNSTYLED = ("matrix_at_rest",)
# What draws the pictures of a component of which none ever comes from another.
AT_REST: Mapping[str, str] = {"matrix": "matrix_at_rest"}


def _read(*names: str) -> str:
    """Return the files of ``assets/components`` with these names as one text, in this order."""
    return "\n".join((_FOLDER / name).read_text("utf-8") for name in names)


def bare(code: str) -> str:
    r"""Return a script without its comments that stand in lines of their own: a quarter of what travels and is kept.

    >>> bare("/** Two. */\n// Why.\nconst two = 2; // here\n")
    'const two = 2; // here\n'
    """
    return _COMMENTS.sub("", code)


def lean(code: str) -> str:
    r"""Return a script without what nothing in it uses, and otherwise as short as it can be written.

    Declarations begin at the margin, as everywhere in ``assets``; these keep their names.

    >>> lean('const used = 1;\nconst unused = 2;\nfor (;;) {\n  used + "a  b";\n}\n')
    'const used=1;for(;;)used+"a  b"'
    """
    return minify.string(_SCRIPT, _used(code))


def alone(code: str) -> str:
    """Return a script that nobody else has names of, so that all of its own can be short.

    >>> alone("const number = 1; show(number + number);")
    '(()=>{const e=1;show(e+e)})()'
    """
    return minify.string(_SCRIPT, f"(() => {{\n{code}\n}})()")


def lean_components(names: Iterable[str]) -> str:
    """Return components by name in the object ``components``, each without what it does not use."""
    return minify.string(
        _SCRIPT, f"const components = {{{','.join(f'{name}: {_as_function(name)}' for name in names)}}};"
    )


def _as_function(name: str) -> str:
    """Return a component's script as a function, in which its default export is named ``component``."""
    code = _used(script(name)).replace("export default function (", "function component(", 1)
    return f"(() => {{\n{code}\nreturn component;\n}})()"


def lean_css(styles: str) -> str:
    r"""Return a style sheet without comments and most of its white space.

    >>> lean_css("a b {\n  /* Why. */\n  color: red;\n}\n")
    'a b{color: red}'
    """
    # The minifier copies what stands in a container query as it is, and is no shorter elsewhere once it is compressed.
    bare_styles = re.sub(r"/\*.*?\*/", "", styles, flags=re.DOTALL)
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", bare_styles)).replace(";}", "}").strip()


def _used(code: str) -> str:
    """Return the declarations that are used by what is no declaration, or by one another."""
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
    """Return these scripts of ``assets/notebook``, preceded by what they share with the components, and their texts.

    A component among the names is the function ``component`` in them.
    """
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
    """Return the style sheet of a component, preceded by the shared ones and the colours of Q, K, V and the weights."""
    own = () if name in _UNSTYLED else (name,)
    parts = ("base", *(part for part in COMPONENTS[name] if part in _STYLED), *own)
    return f"{_LETTERS}\n{_read(*(f'{part}.css' for part in parts))}"


def script(name: str, *, asks: bool = False, plotly: str | None = None) -> str:
    """Return the script of a component, preceded by the shared code and its texts in the server's language.

    Unless it ``asks`` the server for what was left out, its data has all that is drawn. Charts fetch Plotly's script
    from the address ``plotly``, unless it is there already.
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
    # What Plotly says, in its own words and in the language of the server.
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
    """Return Plotly's script, in the smallest of its official bundles that draws heatmaps."""
    return (ASSETS / "plotly" / PLOTLY).read_text("utf-8")


def module(name: str, plotly: str | None = None) -> str:
    """Return a component as one short JavaScript module for the app: a phone is to have it soon.

    ``plotly`` is the address of the script that draws its charts.

    ``default`` draws it, and ``styles`` is its constructed style sheet, if it has one.
    """
    code = f"{script(name, asks=True, plotly=plotly)}\n{bare(_read('in_app.js'))}"
    if name in OF_THE_PAGE:
        return lean(code)
    styles = f"export const styles = new CSSStyleSheet();\nstyles.replaceSync({json.dumps(lean_css(css(name)))});\n"
    return lean(f"{code}\n{styles}")


def still() -> str:
    """Return the script that has the presses in a picture do nothing where there is no other view."""
    return bare((ASSETS / "file" / "still.js").read_text("utf-8"))


def room_script() -> str:
    """Return the script of a screen that follows a class, with its texts in the server's language."""
    code = bare("\n".join((_read("base.js", "shares.js"), still(), *_of_class("room", "js"))))
    return lean(script_messages(code) + code)


def class_script() -> str:
    """Return the script of a class over the app's own pages, with its styles and its texts."""
    code = bare("\n".join((_read("base.js"), *_of_class("class", "js"))))
    styles = lean_css("\n".join(_of_class("class", "css")))
    return lean(f"{script_messages(code)}const STYLES = {json.dumps(styles)};\n{code}")


def room_css() -> str:
    """Return the style sheet of such a screen: that of a page in a file, and its own."""
    return lean_css("\n".join((file_css(), *_of_class("room", "css"))))


def file_css() -> str:
    """Return the style sheet of a page in a file."""
    return "\n".join(((ASSETS / "file" / "page.css").read_text("utf-8"), _read("plot.css")))


def _of_class(name: str, ending: str) -> list[str]:
    """Return a file of the folder for classes, and those that add to it."""
    files = (_CLASS / f"{name}.{ending}", *sorted(_CLASS.glob(f"{name}_*.{ending}")))
    return [file.read_text("utf-8") for file in files]


def page_css() -> str:
    """Return the style sheet of the page around the components, preceded by the colours of Q, K, V and the weights."""
    # On a dark page, the coloured letters of a formula are lightened towards the text colour, as coloured words are.
    dark = "\n".join(
        f".formula [mathcolor='{colour}'] "
        f"{{ color: light-dark({colour}, color-mix(in oklab, {colour} 65%, #e6e9ef)) !important; }}"
        for colour in (colours.QUERY, colours.KEY, colours.VALUE, colours.WEIGHT)
    )
    own = _read(*(f"{name}.css" for name in (*OF_THE_PAGE, "cards", "plot")))
    return lean_css(f":root {{ {VARIABLES} }}\n{dark}\n{(ASSETS / 'page.css').read_text('utf-8')}\n{own}")
