"""All user-visible text outside the lessons (labels, notices, names), in the language of the server.

English is written where it is shown, as ``message("Clear")`` or ``messages("{n} token", "{n} tokens", n)``, in Python
and in JavaScript alike. Another language is a folder of ``assets/languages``, whose name is the value of
``ATTENTION_LANGUAGE``: it has a catalogue ``messages.po`` (GNU gettext), which needs no compiling, and a folder
``lessons`` with the lesson texts, in the same files and sections as in English. What is missing is shown in English.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from functools import cache
from gettext import c2py
from pathlib import Path

from attention.core.paths import ASSETS

__all__ = ["LANGUAGES", "VARIABLE", "Language", "language", "message", "messages", "script_messages"]

# The language of the server: the name of a folder in LANGUAGES, or the path of a folder elsewhere.
VARIABLE, ENGLISH = "ATTENTION_LANGUAGE", "en"
LANGUAGES = ASSETS / "languages"

_PLACE = re.compile(r"\{(\w+)\}")
_TEXT = r'"((?:[^"\\]|\\.)*)"'
# A call of ``message`` or ``messages`` in a script, with its one or two texts.
_CALL = re.compile(rf"\bmessages?\(\s*{_TEXT}(?:,\s*{_TEXT})?")


@dataclass(frozen=True, slots=True)
class Language:
    """A language: its name, its messages by their English texts, and its rule for plurals.

    ``messages`` has one text for each plural form, or a single one for a message without a number. ``plural`` is the
    expression from the catalogue's header, which is valid in C and in JavaScript, with ``n`` for the number.
    """

    name: str = ENGLISH
    folder: Path | None = None
    messages: dict[str, tuple[str, ...]] = field(default_factory=dict)
    plural: str = "(n != 1)"

    def form(self, n: int) -> int:
        """Return the index of the plural form for a number."""
        return int(c2py(self.plural)(n))


@cache
def language() -> Language:
    """Return the language of the server.

    Raises:
        ValueError: there is no such language.
    """
    name = os.environ.get(VARIABLE, "") or ENGLISH
    if name == ENGLISH:
        return Language()
    folder = LANGUAGES / name
    if not folder.is_dir():
        raise ValueError(f"{VARIABLE} must be {ENGLISH} or a folder of {LANGUAGES}, got {name!r}")
    return _read(folder)


def message(text: str, /, **facts: str | float) -> str:
    """Return a text in the language of the server, with facts in its places.

    >>> message("Layer {layer}, head {head}", layer=2, head=3)
    'Layer 2, head 3'
    """
    return _fill(language().messages.get(text, (text,))[0], facts)


def messages(one: str, many: str, n: int, /, **facts: str | float) -> str:
    """Return the singular or the plural, or whichever form the language has for ``n``, which is a fact too.

    >>> [messages("{n} token", "{n} tokens", n) for n in (0, 1, 2)]
    ['0 tokens', '1 token', '2 tokens']
    """
    spoken = language()
    forms = spoken.messages.get(one)
    text = (one if n == 1 else many) if forms is None else forms[spoken.form(n)]
    return _fill(text, {"n": n, **facts})


def script_messages(script: str) -> str:
    """Return the JavaScript that ``message`` and ``messages`` need before a script that calls them."""
    spoken = language()
    asked = {text for call in _CALL.finditer(script) for text in call.groups() if text is not None}
    said = {text: spoken.messages[text] for text in map(_unquoted, sorted(asked)) if text in spoken.messages}
    return (
        f"const LANGUAGE = {json.dumps(spoken.name)};\n"
        f"const MESSAGES = {json.dumps(said, ensure_ascii=False)};\n"
        f"const formOf = (n) => Number({spoken.plural});\n"
    )


def _unquoted(text: str) -> str:
    # The JavaScript strings here, in double quotes, are valid JSON too.
    return str(json.loads(f'"{text}"'))


def _fill(text: str, facts: dict[str, str | float]) -> str:
    """Put facts into their places in one pass, so that braces inside a fact are never a place."""
    return text if "{" not in text else _PLACE.sub(lambda place: str(facts[place[1]]), text)


def _read(folder: Path) -> Language:
    """Read a language from its folder."""
    from babel.messages.pofile import read_po

    with (folder / "messages.po").open("rb") as file:
        catalogue = read_po(file, abort_invalid=True)
    said = {}
    for entry in catalogue:
        texts = tuple(entry.string) if isinstance(entry.string, tuple) else (entry.string,)
        name = entry.id if isinstance(entry.id, str) else entry.id[0]
        # A message that is not translated, or only guessed from an older text (fuzzy), is shown in English.
        if name and all(texts) and not entry.fuzzy:
            said[name] = tuple(map(str, texts))
    return Language(folder.name, folder, said, catalogue.plural_expr)
