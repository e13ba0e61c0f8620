"""Every lesson text is used, with the facts that it names, wherever the call of ``lesson`` writes both out."""

import ast
import re

from attention.lesson.prose import LESSONS, lessons
from tests.sources import parsed

PLACE = re.compile(r"\$([a-z_]+)")


def nodes():
    for path, tree in parsed().items():
        for node in ast.walk(tree):
            yield path, node


def names_in(argument):
    """The names that a call may ask for, if they are written out."""
    options = [argument.body, argument.orelse] if isinstance(argument, ast.IfExp) else [argument]
    return [each.value for each in options if isinstance(each, ast.Constant)]


def test_every_call_gives_each_text_its_facts_and_no_fact_for_nothing():
    n_checked, wrong = 0, []
    for path, node in nodes():
        if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "lesson"):
            continue
        names, facts = names_in(node.args[0]), {keyword.arg for keyword in node.keywords}
        if names and None not in facts:
            n_checked += 1
            wanted = [set(PLACE.findall(lessons()[name])) for name in names]
            is_right = all(each <= facts for each in wanted) and facts == set().union(*wanted)
            wrong += [] if is_right else [(str(path), node.lineno)]
    # The others raise where a fact is missing, at the steps and pages that tell them.
    assert n_checked > 400
    assert wrong == []


def test_every_text_is_named_somewhere():
    whole = {node.value for _, node in nodes() if isinstance(node, ast.Constant)}
    parts = [node.values for _, node in nodes() if isinstance(node, ast.JoinedStr)]
    # Of a name with a variable part, the file is written out: f"positions/{scheme}".
    begun = [each for each in parts if isinstance(each[0], ast.Constant) and re.match(r"[\w-]+/", each[0].value)]
    patterns = {
        "".join(re.escape(part.value) if isinstance(part, ast.Constant) else r"[\w-]+" for part in each)
        for each in begun
    }
    known = re.compile("|".join(sorted(patterns)))
    assert [name for name in lessons() if name not in whole and not known.fullmatch(name)] == []


def test_every_text_has_something_to_say():
    for name, text in lessons().items():
        assert text.strip(), name
        # A $ that is no place would be shown, or be taken for one.
        assert "$" not in PLACE.sub("", text), name
    assert len(list(LESSONS.glob("*.md"))) < len(lessons()) / 5
