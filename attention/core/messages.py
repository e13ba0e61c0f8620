"""User-visible text outside the lessons, in the server's language.

English stands where it is shown, as ``message("Clear")`` or ``messages("{n} token", "{n} tokens", n)``, in Python and
JavaScript alike. Another language is a folder of ``assets/languages``, selected by ``ATTENTION_LANGUAGE``: a catalogue
``messages.po`` (GNU gettext), which needs no compiling, and a folder ``lessons`` with the same files and sections as in
English. Missing texts are shown in English.
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

# The server's language: a folder name in LANGUAGES, or the path of a folder elsewhere.
VARIABLE, ENGLISH = "ATTENTION_LANGUAGE", "en"
LANGUAGES = ASSETS / "languages"

_PLACE = re.compile(r"\{(\w+)\}")
_TEXT = r'"((?:[^"\\]|\\.)*)"'
# A call of ``message`` or ``messages`` in a script, with its texts.
_CALL = re.compile(rf"\bmessages?\(\s*{_TEXT}(?:,\s*{_TEXT})?")


@dataclass(frozen=True, slots=True)
class Language:
    """A language: its messages by their English texts, and its plural rule.

    ``messages`` has one text for each plural form, or a single one for a message without a number. ``plural`` is the
    expression in ``n`` from the catalogue's header, valid in C and in JavaScript.
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
    """Return the server's language; raise ValueError if it does not exist."""
    name = os.environ.get(VARIABLE, "") or ENGLISH
    if name == ENGLISH:
        return Language()
    folder = LANGUAGES / name
    if not folder.is_dir():
        raise ValueError(f"{VARIABLE} must be {ENGLISH} or a folder of {LANGUAGES}, got {name!r}")
    return _read(folder)


def message(text: str, /, **facts: str | float) -> str:
    """Return a text in the server's language, with facts in its placeholders.

    >>> message("Layer {layer}, head {head}", layer=2, head=3)
    'Layer 2, head 3'
    """
    return _fill(language().messages.get(text, (text,))[0], facts)


def messages(one: str, many: str, n: int, /, **facts: str | float) -> str:
    """Return the singular, plural or other form for ``n``, which is also a fact.

    >>> [messages("{n} token", "{n} tokens", n) for n in (0, 1, 2)]
    ['0 tokens', '1 token', '2 tokens']
    """
    spoken = language()
    forms = spoken.messages.get(one)
    text = (one if n == 1 else many) if forms is None else forms[spoken.form(n)]
    return _fill(text, {"n": n, **facts})


def script_messages(script: str) -> str:
    """Return the JavaScript that must precede a script that calls ``message`` or ``messages``."""
    spoken = language()
    asked = {text for call in _CALL.finditer(script) for text in call.groups() if text is not None}
    said = {text: spoken.messages[text] for text in map(_unquoted, sorted(asked)) if text in spoken.messages}
    return (
        f"const LANGUAGE = {json.dumps(spoken.name)};\n"
        f"const MESSAGES = {json.dumps(said, ensure_ascii=False)};\n"
        f"const formOf = (n) => Number({spoken.plural});\n"
    )


def _unquoted(text: str) -> str:
    # JavaScript strings in double quotes are valid JSON here.
    return str(json.loads(f'"{text}"'))


def _fill(text: str, facts: dict[str, str | float]) -> str:
    """Fill all placeholders in one pass, so that braces inside a fact are not placeholders."""
    return text if "{" not in text else _PLACE.sub(lambda place: str(facts[place[1]]), text)


def _read(folder: Path) -> Language:
    from babel.messages.pofile import read_po

    with (folder / "messages.po").open("rb") as file:
        catalogue = read_po(file, abort_invalid=True)
    said = {}
    for entry in catalogue:
        texts = tuple(entry.string) if isinstance(entry.string, tuple) else (entry.string,)
        name = entry.id if isinstance(entry.id, str) else entry.id[0]
        # Untranslated and fuzzy messages are shown in English.
        if name and all(texts) and not entry.fuzzy:
            said[name] = tuple(map(str, texts))
    return Language(folder.name, folder, said, catalogue.plural_expr)
