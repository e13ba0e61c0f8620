"""What a lab's page is given, and what it shows, found in its blocks."""

import re
from functools import cache

from attention.lesson.head_context import HeadContext
from attention.page.blocks import Picture, Prose, Table, walk
from attention.page.pages import OF_LABS
from attention.page.view import View
from tests.loaded import load

__all__ = ["SENTENCE", "content", "figure", "one", "prose", "scene_of", "shown", "table", "told", "trace_of"]

SENTENCE = "Four grey geese cross the cold river"


@cache
def trace_of(model_id, text=None, mask=None):
    """What a model makes of a text, by default of one of the kind that it reads."""
    model = load(model_id)
    usual = SENTENCE if model.info.reading.takes_sentences else model.info.reading.first
    return model.trace(text or usual, mask=mask)


def scene_of(model_id, text=None, *, layer=0, head=1, word=3, mask=None):
    """A head of a model, and a word or the last one."""
    trace = trace_of(model_id, text, mask)
    return HeadContext(trace, layer, head, min(word, len(trace.tokens) - 1))


def content(lab, scene=None, runs=None, *, is_answered=True, **knobs):
    """The blocks of a lab, with some of its knobs, by their names, as they are given."""
    view = View(page=OF_LABS[lab])
    of_name = {parameter.name: parameter for parameter in lab.knobs}
    for name, value in knobs.items():
        view = view.replaced(of_name[name], value)
    return (lab.content if is_answered else lab.before)(view, scene, runs)


def shown(lab, scene=None, runs=None, **knobs):
    """The same, and what is inside them."""
    return walk(content(lab, scene, runs, **knobs))


def prose(blocks):
    """All that is said, without its markup."""
    return " ".join(re.sub("<[^>]+>", "", block.html) for block in blocks if isinstance(block, Prose))


def told(blocks):
    """All that is said, as HTML."""
    return "".join(block.html for block in blocks if isinstance(block, Prose))


def one(blocks, kind, key):
    """The block of this kind with this key."""
    return next(block for block in walk(blocks) if isinstance(block, kind) and block.key == key)


def figure(blocks, key):
    """The figure of the picture with this key."""
    return one(blocks, Picture, key).figure


def table(blocks, key):
    """The columns of the table with this key."""
    return one(blocks, Table, key).make()
