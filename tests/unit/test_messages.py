"""Another language needs files and no code: with a catalogue that marks every text, all texts appear marked."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from attention.core.messages import ENGLISH, LANGUAGES, Language, language, message, messages, script_messages
from attention.figures import assets
from attention.lesson.prose import lesson, lessons
from tests.pseudo import marked, write_language

ROOT = Path(__file__).parents[2]
TEMPLATE = LANGUAGES / "messages.pot"
KEYWORDS = {"message": None, "messages": (1, 2)}
WHERE = [
    ("attention/**.py", "python"),
    ("pages/**.py", "python"),
    ("assets/components/**.js", "javascript"),
    ("assets/notebook/**.js", "javascript"),
    ("assets/room/**.js", "javascript"),
]


@pytest.fixture(scope="module")
def pseudo(tmp_path_factory):
    return write_language(tmp_path_factory.mktemp("languages") / "xx")


def said(folder, script):
    """What a new interpreter prints where this language is spoken."""
    process = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "ATTENTION_LANGUAGE": str(folder), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert not process.returncode, process.stderr
    return process.stdout


# ------------------------------------------------------------------------------------- English


def test_english_is_written_where_it_is_shown():
    assert language() == Language()
    assert language().name == ENGLISH
    assert message("Clear") == "Clear"
    assert [messages("{n} token", "{n} tokens", n) for n in (0, 1, 2)] == ["0 tokens", "1 token", "2 tokens"]


def test_what_stands_in_a_fact_is_never_a_place():
    assert message("{a} and {b}", a="{b}", b="{a}") == "{b} and {a}"


def test_a_script_gets_nothing_that_it_need_not_have():
    assert script_messages('message("Clear")').count("\n") == 3
    assert "Clear" not in script_messages('message("Clear")')


# ---------------------------------------------------------------------------- another language


def test_no_text_hides_inside_another_string_where_the_template_misses_it():
    hidden = [
        (path.name, node.lineno)
        for path in [*(ROOT / "attention").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.JoinedStr)
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in KEYWORDS
    ]
    assert hidden == []


def test_the_template_has_every_text_of_the_code_and_no_other():
    found = set()
    options = {where: {"parse_template_string": "True"} for where, how in WHERE if how == "javascript"}
    for _, _, texts, _, _ in extract_from_dir(str(ROOT), WHERE, options, KEYWORDS, directory_filter=_is_ours):
        found.add(texts if isinstance(texts, str) else tuple(texts))
    with TEMPLATE.open("rb") as file:
        template = {entry.id for entry in read_po(file) if entry.id}
    how = "pybabel extract -F babel.cfg -k message -k messages:1,2 (see attention/core/messages.py)"
    assert found == template, how


def _is_ours(folder):
    return not any(part.startswith(".") for part in Path(folder).relative_to(ROOT).parts)


def test_a_catalogue_is_read_as_it_is_with_its_plurals(pseudo):
    script = "from attention.core.messages import *; print(message('Clear'))\n"
    script += "for n in (1, 2, 5): print(messages('{n} other', '{n} others', n))"
    assert said(pseudo, script).splitlines() == [
        "【Clear】",
        "1【 other: one】",
        "2【 others: few】",
        "5【 others: many】",
    ]


def test_what_a_language_does_not_have_is_shown_in_english(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "messages.po").write_text('msgid ""\nmsgstr "Plural-Forms: nplurals=3; plural=n>4 ? 2 : n>1;\\n"\n')
    script = "from attention.core.messages import *; from attention.lesson.prose import lesson\n"
    script += "print(message('Clear'), messages('{n} other', '{n} others', 5), lesson('embed/bias'))"
    assert said(folder, script).strip() == f"Clear 5 others {lesson('embed/bias')}".strip()


def test_a_language_that_is_not_there_is_an_error():
    process = subprocess.run(
        [sys.executable, "-c", "from attention.core.messages import language; language()"],
        cwd=ROOT,
        env={**os.environ, "ATTENTION_LANGUAGE": "nowhere"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "ATTENTION_LANGUAGE" in process.stderr


def test_every_lesson_text_of_the_language_is_shown(pseudo):
    script = "from attention.lesson import prose\n"
    script += "for name in prose.lessons(): print(prose._rendered(name))"
    whole = said(pseudo, script)
    # The names of places, and those of CSS in tags, are no words.
    shown = re.sub(r"<[^>]*>|\$\w+", "", whole)
    assert re.findall(r"[A-Za-z]{2,}", re.sub(r"【[^】]*】", "", shown)) == []
    assert whole.count("【") >= len(lessons())


# ----------------------------------------------------------------------------------- JavaScript

CALL = re.compile(r'\bmessages?\(\s*"(?:[^"\\]|\\.)*"(?:,\s*"(?:[^"\\]|\\.)*")?')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
# Names of keys and of a header, and what is written for style sheets.
NOT_SHOWN = re.compile(
    r"Enter|Home|End|Escape|PageUp|PageDown|Content-Type|linear-gradient\(to right, |\.st-key-\w+ (input|button)|"
    r"(mark ink|focus thin)( current)?"
)


def literals(script):
    """The texts of a script that look like English and go through no message; the class of an element is none."""
    script = re.sub(r"/\*.*?\*/", "", script, flags=re.DOTALL)
    script = CALL.sub("message(", re.sub(r"(^|\s)//.*", "", script))
    script = re.sub(r'(make\("\w+", (?:\w+ \? )?)("[^"]*"|`[^`]*`)( : "[^"]*")?', r"\1", script)
    for match in LITERAL.finditer(script):
        text = re.sub(r"\$\{[^}]*\}", "", match[1] if match[1] is not None else match[2])
        if re.search(r"\b[A-Z][a-z]+\b|[a-z]{2,} [a-z]{2,}", text) and not NOT_SHOWN.match(text):
            yield text


SCRIPTS = sorted({"base", "in_app", *assets.COMPONENTS}.union(*assets.COMPONENTS.values()))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_component_says_nothing_that_no_catalogue_has(name):
    assert list(literals((assets._FOLDER / f"{name}.js").read_text("utf-8"))) == []


def test_a_module_brings_its_texts_in_the_language_of_the_server(pseudo):
    script = "from attention.figures import assets; print(assets.module('line'), assets.module('head_view'))"
    module = said(pseudo, script)
    assert f'"Link copied":["{marked("Link copied")}"]' in module
    assert '"{n} other":["{n}【 other: one】","{n}【 others: few】","{n}【 others: many】"]' in module
    # What the component does not say is not sent.
    assert "Nothing drawn yet" not in module
