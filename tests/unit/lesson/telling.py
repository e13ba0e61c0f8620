"""Read texts back: plain text from HTML, and the facts in it, by lesson."""

import re
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from attention.core.masks import MASK_NAMES
from attention.core.trace import PARTS
from attention.lesson.prose import lessons
from attention.models import load

TEXT = "The cat sat on the mat"

TOY = load("toy")

anything = st.text(st.characters())


@cache
def trace_of(model, text, mask):
    return model.trace(text, mask=mask)


PARAGRAPH = "\0"


class Reader(HTMLParser):
    """The text of some HTML, as a browser shows it, and the elements that are in it."""

    def __init__(self):
        super().__init__()
        self.text, self.tags = "", []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag == "p":
            self.text += PARAGRAPH

    def handle_data(self, data):
        self.text += data


def read(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


def shown(markup):
    """The text, one line for each paragraph."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in read(markup).text.split(PARAGRAPH))
    return "\n".join(filter(None, paragraphs))


@cache
def pattern_of(name):
    """The text of a lesson as a regular expression with a group for each place that takes a fact."""
    whole = shown(MarkdownIt("commonmark", {"html": True}).render(lessons()[name]))
    seen = set()

    def group(match):
        place = match[1]
        if place in seen:
            return f"(?P={place})"
        seen.add(place)
        return f"(?P<{place}>.+?)"

    return re.compile("^" + re.sub(r"\\\$([a-z_]+)", group, re.escape(whole)) + "$", re.MULTILINE)


def facts_in(markup, *names):
    """The facts in a text, by the name of their place; numbers as numbers."""
    facts = {}
    for name in names:
        match = pattern_of(name).search(shown(markup))
        assert match is not None, f"{name} is not told in: {shown(markup)}"
        facts |= {place: parsed(value) for place, value in match.groupdict().items()}
    return facts


def parsed(value):
    value = value.replace("−", "-").replace("∞", "inf")
    return float(value) if re.fullmatch(r"-?(\d+(\.\d+)?|inf)", value) else value


def equals(scene, row, value):
    """The labels of the tokens that have this value; the toy likes both neighbours of a word the same."""
    return {scene.names[place] for place in np.flatnonzero(np.abs(row - value) < 1e-4)}


def rounded(value, decimals=2):
    """What a number looks like with so many decimals, give or take the last digit's half."""
    return pytest.approx(float(value), abs=0.5 * 10**-decimals + 1e-6)


# The same in every row; which tokens are hidden is worked out here from what a mask is, not from the record.
MASKED_PLACES = [
    *(("toy", mask, "encoder", 0, head) for mask in MASK_NAMES for head in range(3)),
    *(("minilm-l6", mask, "encoder", layer, 6) for mask in MASK_NAMES for layer in (0, 5)),
    *(("smollm2-135m", mask, "encoder", layer, 8) for mask in MASK_NAMES for layer in (0, 13)),
    *(("translator-fr-en", mask, part, 0, 1) for mask in MASK_NAMES for part in PARTS),
]


def is_told(name, markup):
    return pattern_of(name).search(shown(markup)) is not None
