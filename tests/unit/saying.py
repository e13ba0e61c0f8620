"""What a text says, whatever its wording: numbers and names in order, or a section of a lesson."""

import html
import re
from functools import cache

from tests.unit.lesson.telling import pattern_of, shown

__all__ = ["plain", "says", "tells"]

# Facts further apart than this are not part of one statement.
APART = 150


def plain(markup):
    """A text without its markup, on one line."""
    return " ".join(html.unescape(re.sub("<[^>]+>", "", markup)).split())


def says(text, *facts):
    """Whether a text contains these numbers and names, in order and close together."""
    whole = (rf"(?<![\w.,]){re.escape(str(fact))}(?!\w|[.,]\d)" for fact in facts)
    return re.search(f".{{0,{APART}}}?".join(whole), " ".join(text.split())) is not None


@cache
def _unanchored(name):
    return re.compile(pattern_of(name).pattern.removeprefix("^").removesuffix("$").replace("\\\n", " "))


def tells(text, name):
    """Whether a text contains a whole section of a lesson, with any facts."""
    return _unanchored(name).search(" ".join(shown(text).split())) is not None
