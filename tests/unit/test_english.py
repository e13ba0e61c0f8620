"""Every text that is read, by users or in the code, is free of the phrases that give a translation away."""

import ast
import re

import pytest
from babel.messages.pofile import read_po

from tests.sources import ROOT, parsed

# A phrase, and what a native author writes in its place.
PATTERNS = {
    r"\b(?:whoever|somebody)\b": "the person, by name: the user, the teacher, the owner; someone",
    r"(?:^|[.!?:] )One (?:may|might|can|could|must|would)\b": "you, or the user",
    r"\b(?:is|are|was|were) no (?!longer|more|better|such|other|less|faster)\w+": "is not a",
    r"\b(?:to|can|cannot|could|be) be had\b|\bcannot be had\b": "load, get, be found",
    r"(?<!\$)\banew\b": "again",
    r"\bhand(?:s|ed)? on\b": "pass, replace its output with",
    r"\blets? go\b": "drop, release",
    r"\b(?:work|works|worked) out\b": "compute, calculate",
    r"\b(?:make|makes|made) of (?:it|that|them|this|what)\b": "turn into, do with",
    r"\b(?:taken|takes?|taking) away\b": "subtracted, removed",
    r"\bblot(?:s|ted)?\b": "occlude",
    r"\bat hand\b": "this, given",
    r"\b(?:come|comes|came) about\b": "happen, arise",
}
EXCEPT = re.compile(r"\bthere (?:is|are|was|were) no\b", re.IGNORECASE)


def found_in(text):
    """The phrases of a text that give it away."""
    text = EXCEPT.sub("", " ".join(text.split()))
    return [match[0] for pattern in PATTERNS for match in re.finditer(pattern, text, re.IGNORECASE)]


def marked(texts):
    """The phrases found, by where each text stands."""
    return {name: phrases for name, text in texts if (phrases := found_in(text))}


@pytest.mark.parametrize(
    "text", ["Load it anew.", "This is no link.", "Whoever asks", "One can see it.", "It is worked\nout"]
)
def test_a_phrase_that_gives_a_translation_away_is_found(text):
    assert found_in(text)


@pytest.mark.parametrize("text", ["There is no text.", "It is no longer there.", "Only one canvas", "lettings goods"])
def test_a_native_phrase_is_not(text):
    assert found_in(text) == []


def test_messages():
    with (ROOT / "assets" / "languages" / "messages.pot").open("rb") as file:
        ids = [each.id for each in read_po(file) if each.id]
    texts = [text for each in ids for text in (each if isinstance(each, tuple) else (each,))]
    assert len(texts) > 1000
    assert marked((text, text) for text in texts) == {}


def test_lessons_and_documentation():
    paths = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("assets/lessons/*.md")]
    assert len(paths) > 40
    assert marked((path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths) == {}


def docstrings():
    """Every docstring of the project, by its module and line."""
    for path, tree in parsed().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path}:{getattr(node, 'lineno', 1)}", ast.get_docstring(node) or ""


def comments():
    """Every run of comment lines of the project's modules and scripts, by its file and line."""
    scripts = (path for folder in ("components", "room", "file") for path in (ROOT / "assets" / folder).glob("*.js"))
    for path in (*(ROOT / module for module in parsed()), *scripts):
        mark = "#" if path.suffix == ".py" else "//"
        run, start = [], 0
        for number, line in enumerate([*path.read_text("utf-8").splitlines(), ""], 1):
            said = line.strip()
            if said.startswith(mark):
                run, start = [*run, said.removeprefix(mark)], start or number
            elif run:
                yield f"{path.relative_to(ROOT)}:{start}", " ".join(run)
                run, start = [], 0


def test_docstrings_and_comments():
    assert marked(docstrings()) | marked(comments()) == {}
