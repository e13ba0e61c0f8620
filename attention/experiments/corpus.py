"""Sentences for studying heads: the bundled ones, and those in a user's file.

``annotated()`` adds dependencies (``assets/dependencies.md`` gives the rules), from which one counts how often an
attention head finds the grammatical head of a word (Clark et al. 2019, section 4.2).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from attention.core.messages import message, messages
from attention.core.paths import ASSETS
from attention.core.text import clean

# The limits of a user's file: enough for reliable counts, small enough to read at once.
MAX_BYTES = 2**20
MAX_LINES = 5_000
MAX_LINE_CHARACTERS = 2_000

# A problem names this many line numbers; the others are counted.
_NAMED_LINES = 5


@dataclass(frozen=True, slots=True)
class Annotated:
    """One sentence with its dependencies: for each word, its head (an index, None for the root), relation and span.

    Words follow the treebank: ``n't``, ``'s`` and punctuation marks are words. A span is the start and end of the word
    in ``text``; a token belongs to the word whose span contains its ``start``.
    """

    text: str
    words: tuple[str, ...]
    heads: tuple[int | None, ...]
    relations: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Sentences:
    """The usable lines of a file, cleaned, and messages about the others."""

    lines: tuple[str, ...]
    problems: tuple[str, ...]


@cache
def pairs(name: str) -> Mapping[str, tuple[str, str]]:
    """Return the pairs of sentences in an asset, keyed by their line (``first | second``)."""
    lines = (ASSETS / name).read_text("utf-8").splitlines()
    return MappingProxyType({line: (first, second) for line in lines for first, second in [line.split(" | ")]})


@cache
def sentences() -> tuple[str, ...]:
    """Return the bundled plain sentences, in random order."""
    return tuple((ASSETS / "corpus.txt").read_text("utf-8").splitlines())


@cache
def annotated() -> tuple[Annotated, ...]:
    """Return the hand-annotated sentences."""
    _, *rows = (ASSETS / "dependencies.tsv").read_text("utf-8").splitlines()
    return tuple(_annotated(block) for block in _blocks(row.split("\t") for row in rows))


def read_sentences(data: bytes) -> Sentences:
    """Read a user's file, one sentence per line; unusable lines are skipped and reported, never raised."""
    problems = []
    body = data.removeprefix(codecs.BOM_UTF8)
    if len(data) > MAX_BYTES:
        # bytes.splitlines splits at \n, \r and \r\n; a line cut by the limit does not count.
        body = body[:MAX_BYTES]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
        problems.append(_too_large(len(body.splitlines())))
    raw_lines = body.splitlines()
    if len(raw_lines) > MAX_LINES:
        problems.append(
            message("The file has more than {most} lines. Only the first {most} are read.", most=f"{MAX_LINES:,}")
        )
    for number, raw in enumerate(raw_lines, 1):
        if b"\0" in raw:
            return Sentences((), (_binary(number),))

    lines: list[str] = []
    undecodable: list[int] = []
    overlong: list[int] = []
    for number, raw in enumerate(raw_lines[:MAX_LINES], 1):
        try:
            line = clean(raw.decode())
        except UnicodeDecodeError:
            undecodable.append(number)
            continue
        if len(line) > MAX_LINE_CHARACTERS:
            overlong.append(number)
        elif line:
            lines.append(line)
    if undecodable:
        problems.append(message("Left out, not UTF-8: {lines}.", lines=_name_lines(undecodable)))
    if overlong:
        problems.append(
            message(
                "Left out, longer than {most} characters: {lines}.",
                most=f"{MAX_LINE_CHARACTERS:,}",
                lines=_name_lines(overlong),
            )
        )
    if not lines and not problems:
        problems.append(message("The file has no sentence."))
    return Sentences(tuple(lines), tuple(problems))


def _too_large(n_whole_lines: int) -> str:
    limit = f"{MAX_BYTES // 2**20} MB"
    if not n_whole_lines:
        return message("Line 1 alone exceeds {limit}, so nothing was read.", limit=limit)
    return message(
        "The file exceeds {limit}. It was read up to line {line}.",
        limit=limit,
        line=f"{n_whole_lines:,}",
    )


def _binary(number: int) -> str:
    return message(
        "Not a plain text file (zero byte in line {line}). Save it as UTF-8 text, one sentence per line.",
        line=f"{number:,}",
    )


def _name_lines(numbers: Sequence[int]) -> str:
    """Name the first few lines: "line 7", "lines 3, 7 and 9", "lines 1, 2, 3, 4, 5 and 12 more"."""
    named = [f"{number:,}" for number in numbers[:_NAMED_LINES]]
    if len(numbers) == 1:
        return message("line {number}", number=named[0])
    more = len(numbers) - _NAMED_LINES
    last = messages("{number} more", "{number} more", more, number=f"{more:,}") if more > 0 else named.pop()
    return message("lines {numbers} and {last}", numbers=", ".join(named), last=last)


def _blocks(rows: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    block: list[list[str]] = []
    for row in rows:
        if row != [""]:
            block.append(row)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _annotated(rows: Sequence[Sequence[str]]) -> Annotated:
    """Build a sentence from rows of sentence number, word number, word, head's number (0: root) and relation."""
    _, _, words, heads, relations = zip(*rows, strict=True)
    text, spans = _detokenise(words)
    return Annotated(text, words, tuple(int(head) - 1 if int(head) else None for head in heads), relations, spans)


def _detokenise(words: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Join words in normal spelling (``do n't`` as ``don't``) and return each word's span."""
    text = ""
    spans = []
    within_quotation = False
    touches_next = True
    for word in words:
        touches_last = word in {".", ",", "?", "!", "n't"} or word.startswith("'") or (word == '"' and within_quotation)
        if not (touches_last or touches_next):
            text += " "
        spans.append((len(text), len(text) + len(word)))
        text += word
        touches_next = word == '"' and not within_quotation
        within_quotation ^= word == '"'
    return text, tuple(spans)
