"""A kind of input is one object; no other code asks which one it is."""

import ast

import pytest

from attention.answer.fields import FIELDS
from attention.core import masks, reading
from attention.lesson.prose import lessons
from tests.sources import parsed

KINDS = [reading.TEXT, reading.FRENCH, reading.PICTURE]
# Where kinds of readings are told apart: where they are made, and where models are run on them.
MAY_ASK = ("attention/core/reading.py", "attention/models")


def asked(tree):
    """The lines of a module that compare what a model reads, or its name, with anything, or match on it."""
    found = []
    for node in ast.walk(tree):
        sides = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            sides = [node.subject]
        elif isinstance(node, ast.Subscript):
            sides = [node.slice]
        found += [node.lineno for side in sides if is_reading(side)]
    return found


def is_reading(node):
    """Whether an expression is a reading or its name: ``info.reading``, ``reading``, ``info.reading.name``, …"""
    if isinstance(node, ast.Attribute) and node.attr == "name":
        return is_reading(node.value)
    return (isinstance(node, ast.Attribute) and node.attr in ("reading", "reads")) or (
        isinstance(node, ast.Name) and node.id in ("reading", "TEXT", "FRENCH", "PICTURE")
    )


@pytest.mark.parametrize(
    "line",
    [
        "if info.reads == 'picture': pass",
        "if info.reading is not PICTURE: pass",
        "x = 1 if 'text' == scene.info.reading.name else 2",
        "words = {'text': 'word'}[trace.info.reading.name]",
        "match info.reading.name:\n    case _: pass",
        "if reading in (TEXT, FRENCH): pass",
    ],
)
def test_the_search_finds_whoever_asks(line):
    assert asked(ast.parse(line))


def test_nobody_asks_which_kind_is_read():
    found = {
        str(path): asked(tree)
        for path, tree in parsed().items()
        if not any(path.is_relative_to(part) for part in MAY_ASK)
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_a_kind_names_is_there(kind):
    assert kind.field in FIELDS
    assert set(kind.masks) <= set(masks.MASK_NAMES)
    assert "none" in kind.masks
    for names in kind.variants.items():
        assert set(names) <= set(lessons())
    assert len(set(kind.examples)) == len(kind.examples) > 1
    assert not any(map(kind.is_empty, kind.examples))
    assert kind.is_empty("")
    assert kind.is_empty(kind.blank)


def test_lessons_of_a_kind_are_those_of_text_but_for_its_own():
    assert [kind.lesson("explain/words") for kind in KINDS] == [*["explain/words"] * 2, "explain/words-picture"]


def test_a_picture_is_recognised_and_everything_else_is_text():
    assert [reading.recognised(text) for text in ("The cat", *reading.DIGITS)][:2] == [reading.TEXT, reading.PICTURE]
    assert not reading.recognised("0" * 63).is_same(reading.PICTURE)
    assert reading.recognised("0" * 63 + "h").is_same(reading.TEXT)


def test_the_word_in_focus_first_is_told_by_the_record_of_a_text_and_the_whole_of_a_picture():
    assert [kind.first_focus for kind in KINDS[:2]] == [None, None]
    assert reading.PICTURE.first_focus([1, 2, 3, 5]) == 0
