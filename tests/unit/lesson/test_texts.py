"""Every lesson text is used, with exactly the facts that it names, as read from calls of ``lesson``."""

import ast
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product

import pytest

from attention.core import reading
from attention.core.kinds import CROSS, DECODER, ENCODER, ENCODER_DECODER, SELF, WRITTEN
from attention.lesson.initial_selection import openings
from attention.lesson.plans import plans
from attention.lesson.prose import LESSONS, lessons
from attention.models import bundled
from tests.sources import parsed

KINDS = (reading.TEXT, reading.FRENCH, reading.PICTURE)
USES, BUILDS = (SELF, WRITTEN, CROSS), (ENCODER, DECODER, ENCODER_DECODER)
# Names that stand in a table of models, of kinds of models or of uses of attention, by how they are asked for; and
# which objects tell a lesson in a way of their own.
IN_TABLES = {
    "build.of_heads": {build.of_heads for build in BUILDS},
    "build.of_changes": {build.of_changes for build in BUILDS},
    "part.words": {part.words for plan in plans() for part in plan.parts},
    "plan.words": {plan.words for plan in plans()},
    "opening.caption": {opening.caption for opening in openings().values()},
    "invitation.lesson": {entry.invitation.lesson for entry in bundled.MODELS},
    "scene.hides_later": {each.hides_later for each in (*USES, *BUILDS)},
    "scene.use.lessons.get('embed')": {use.lessons.get("embed", "") for use in USES},
    "scene.use.asides.get('softmax')": {use.asides.get("softmax", "") for use in USES},
    "scene.use.asides.get('tokens')": {use.asides.get("tokens", "") for use in USES},
}
IN_OWN_WAYS = {"use.lesson": USES, "reading.lesson": KINDS}
PLACE = re.compile(r"\$([a-z_]+)")


def places(name):
    return set(PLACE.findall(lessons()[name]))


class UnknownError(Exception):
    """The scan cannot tell what an expression may be."""


@dataclass(frozen=True)
class Scope:
    """A function of a module, and what is known of its parameters."""

    module: "Module"
    function: ast.FunctionDef
    given: dict = field(default_factory=dict)


class Module:
    """A module of the project, and what its expressions may be, as far as that can be read off them."""

    def __init__(self, tree):
        self.tree = tree
        self.functions = {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)}
        self.constants = {
            target.id: node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }

    @cached_property
    def calls(self):
        """Each call of ``lesson``, and the innermost function that it stands in."""
        return [(call, Scope(self, function)) for function, call in self.calls_of("lesson")]

    def calls_of(self, name):
        inner = {}
        for function in self.functions.values():
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                    inner[node] = function
        return [(function, call) for call, function in inner.items()]

    # ------------------------------------------------------------------------------------ names

    def strings(self, node, scope):
        """What a text may be."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return {node.value}
        if isinstance(node, ast.IfExp):
            return self.strings(node.body, scope) | self.strings(node.orelse, scope)
        if isinstance(node, ast.JoinedStr):
            parts = [
                self.strings(getattr(part, "value", part), scope)
                if isinstance(part, ast.FormattedValue)
                else {part.value}
                for part in node.values
            ]
            return {"".join(each) for each in product(*parts)}
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            table = self.constants.get(node.value.id)
            if isinstance(table, ast.Dict):
                return set().union(*(self.strings(value, scope) for value in table.values))
        if isinstance(node, ast.Name):
            return set().union(*(self.strings(value, at) for value, at in self.values(node, scope)))
        for asked, tellers in IN_OWN_WAYS.items():
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(asked):
                return {teller.lesson(name) for name in self.strings(node.args[0], scope) for teller in tellers}
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in self.functions:
            return set().union(*(self.strings(value, at) for value, at in self.returned(node, scope)))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "filter":
            return self.strings(node.args[1], scope)
        if isinstance(node, ast.Tuple):
            return set().union(*(self.strings(each, scope) for each in node.elts))
        for table, names in IN_TABLES.items():
            if isinstance(node, ast.Attribute | ast.Call) and ast.unparse(node).endswith(table):
                return names
        raise UnknownError(ast.unparse(node))

    # ------------------------------------------------------------------------------------ facts

    def keys(self, node, scope):
        """What a dictionary's keys are."""
        if isinstance(node, ast.Dict):
            known = set()
            for key, value in zip(node.keys, node.values, strict=True):
                known |= self.keys(value, scope) if key is None else self.strings(key, scope)
            return known
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.keys(node.left, scope) | self.keys(node.right, scope)
        if isinstance(node, ast.Name):
            known = set().union(*(self.keys(value, at) for value, at in self.values(node, scope)))
            # A fact that is added later: facts["sum"] = …
            for each in ast.walk(scope.function):
                if isinstance(each, ast.Assign) and each.lineno < node.lineno:
                    for target in each.targets:
                        if isinstance(target, ast.Subscript) and ast.unparse(target.value) == node.id:
                            known |= self.strings(target.slice, scope)
            return known
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in self.functions:
            return set().union(*(self.keys(value, at) for value, at in self.returned(node, scope)))
        raise UnknownError(ast.unparse(node))

    # ------------------------------------------------------------------------------- where from

    def values(self, name, scope):
        """The expressions that a name may stand for, each with its scope."""
        if name.id in scope.given:
            return [scope.given[name.id]]
        found = []
        for node in ast.walk(scope.function):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "iter", None) if isinstance(node, ast.For) else getattr(node, "value", None)
            if any(isinstance(target, ast.Name) and target.id == name.id for target in targets) and value is not None:
                found.append((value, scope))
        parameters = [each.arg for each in (*scope.function.args.args, *scope.function.args.kwonlyargs)]
        if name.id in parameters:
            for function, call in self.calls_of(scope.function.name):
                found.append((self.argument(call, scope.function, name.id), Scope(self, function)))
        if not found and name.id in self.constants:
            found.append((self.constants[name.id], scope))
        if not found:
            raise UnknownError(name.id)
        return found

    def argument(self, call, function, parameter):
        names = [each.arg for each in function.args.args]
        given = dict(zip(names, call.args, strict=False)) | {each.arg: each.value for each in call.keywords}
        if parameter not in given:
            raise UnknownError(f"{parameter} of {ast.unparse(call)}")
        return given[parameter]

    def returned(self, call, scope):
        """The expressions that a call may return, each with a scope that knows the arguments."""
        function = self.functions[call.func.id]
        names = [each.arg for each in function.args.args]
        given = {name: (value, scope) for name, value in zip(names, call.args, strict=False)}
        given |= {each.arg: (each.value, scope) for each in call.keywords}
        at = Scope(self, function, given)
        return [(node.value, at) for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]


@cache
def calls():
    """Of every call of ``lesson`` in the app, by its place: the texts that it may tell, and the facts that it gives."""
    return {
        f"{path}:{call.lineno}:{call.col_offset}": told(call, scope)
        for path, tree in parsed().items()
        for call, scope in Module(tree).calls
    }


def told(call, scope):
    names = scope.module.strings(call.args[0], scope) - {""}
    facts = set()
    for keyword in call.keywords:
        facts |= scope.module.keys(keyword.value, scope) if keyword.arg is None else {keyword.arg}
    return names, facts


def test_every_call_gives_each_text_its_facts_and_no_fact_for_nothing():
    without_a_text, not_given, not_used = [], [], []
    for place, (names, facts) in calls().items():
        without_a_text += [] if names else [place]
        not_given += [(place, name, places(name) - facts) for name in names if not places(name) <= facts]
        unused = facts - set().union(*map(places, names))
        not_used += [(place, unused)] if unused else []
    assert len(calls()) > 500
    assert (without_a_text, not_given, not_used) == ([], [], [])


def test_every_text_is_told_somewhere():
    assert set().union(*(names for names, _ in calls().values())) == set(lessons())


def test_every_text_has_something_to_say():
    for name, text in lessons().items():
        assert text.strip(), name
        # A $ that is no place would be shown, or be taken for one.
        assert "$" not in PLACE.sub("", text), name


# ------------------------------------------------------------------------------ the scan itself


MODULE = """
NAMES = {"a": "x/a", "b": "x/b"}

def outer(scene, flag):
    facts = {"one": 1, **more("two")}
    if flag:
        return inner(scene, "x/c", facts)
    facts["late"] = 2
    name = which(flag)
    return lesson(NAMES[flag], one=1) + lesson(name, **facts) + lesson(scene.unknown)

def which(flag):
    return "x/d" if flag else f"x/{'e' if flag else 'f'}"

def more(name):
    return {name: 1, f"{name}_long": 2}

def inner(scene, name, facts):
    return lesson(name, here=1, **facts)
"""


def test_the_scan_follows_names_and_facts():
    found = {ast.unparse(call): (call, scope) for call, scope in Module(ast.parse(MODULE)).calls}
    assert told(*found["lesson(NAMES[flag], one=1)"]) == ({"x/a", "x/b"}, {"one"})
    assert told(*found["lesson(name, **facts)"]) == ({"x/d", "x/e", "x/f"}, {"one", "two", "two_long", "late"})
    assert told(*found["lesson(name, here=1, **facts)"]) == ({"x/c"}, {"one", "two", "two_long", "here"})


def test_the_scan_says_what_it_cannot_follow():
    every = Module(ast.parse(MODULE)).calls
    ((call, scope),) = ((call, scope) for call, scope in every if "unknown" in ast.unparse(call))
    with pytest.raises(UnknownError, match=r"scene\.unknown"):
        told(call, scope)


def test_one_file_holds_the_texts_of_a_page_or_a_step():
    assert len(list(LESSONS.glob("*.md"))) < len(lessons()) / 5
