"""What a text says, whatever its wording: numbers and names in their order, or one of the lessons."""

import re
from functools import cache

from tests.unit.lesson.telling import pattern_of, shown

__all__ = ["says", "tells"]

# Further apart than this, two facts are not of one statement.
APART = 150


def says(text, *facts):
    """Whether a text has these numbers and names close after one another, each as a whole."""
    whole = (rf"(?<![\w.,]){re.escape(str(fact))}(?!\w|[.,]\d)" for fact in facts)
    return re.search(f".{{0,{APART}}}?".join(whole), " ".join(text.split())) is not None


@cache
def _unanchored(name):
    return re.compile(pattern_of(name).pattern.removeprefix("^").removesuffix("$").replace("\\\n", " "))


def tells(text, name):
    """Whether a text has all of a lesson, with any facts in its places."""
    return _unanchored(name).search(" ".join(shown(text).split())) is not None
