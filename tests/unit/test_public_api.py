"""Only the public parts of libraries are used: no private name, nothing replaced, no internals imported."""

import ast
import re
from collections.abc import Iterator

from tests.sources import ROOT, parsed

# Streamlit's insides.
INSIDES = re.compile(r"streamlit\.(runtime|web|elements|proto|delta_generator|watcher|static)\b")
OURS = re.compile(r"(attention|tests)(\.|$)")
# Classes and attributes of Streamlit's own page that a style sheet of ours may name.
STREAMLITS = re.compile(r"\.st[A-Z]\w+|data-test[\w-]*")


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the module of each import of another package, and the name that stands for it in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.name, each.asname or each.name.partition(".")[0]) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((f"{node.module}.{each.name}", each.asname or each.name) for each in node.names)


def of_others(tree: ast.AST) -> dict[str, str]:
    return {name: module for module, name in imported(tree) if not OURS.match(module)}


def test_nothing_inside_streamlit_is_imported():
    found = [(str(path), module) for path, tree in parsed().items() for module, _ in imported(tree)]
    assert [each for each in found if INSIDES.match(each[1])] == []


def named(tree: ast.AST, others: dict[str, str]) -> Iterator[ast.Attribute]:
    """Yield what a file takes by its name out of a module of others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in others:
            yield node


def test_no_private_name_of_another_package_is_used():
    found = []
    for path, tree in parsed().items():
        others = of_others(tree)
        parts = [part for module in others.values() for part in module.split(".") if module != "__future__.annotations"]
        taken = [node.attr for node in named(tree, others)]
        found += [(str(path), name) for name in (*parts, *taken) if name.startswith("_") and not name.endswith("__")]
    assert found == []


def test_nothing_of_another_package_is_replaced():
    found = []
    for path, tree in parsed().items():
        stored = (node for node in named(tree, of_others(tree)) if isinstance(node.ctx, ast.Store | ast.Del))
        found += [(str(path), ast.unparse(node)) for node in stored]
    # The arguments of the command that this process goes on as.
    assert found == [("attention/app/__main__.py", "sys.argv")]


def test_no_file_of_another_package_is_looked_for():
    leads = {"find_spec", "getsource", "getsourcefile", "getfile", "__file__", "__path__"}
    found = set()
    for path, tree in parsed().items():
        taken = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        taken |= {module.rpartition(".")[2] for module, _ in imported(tree)}
        found |= {(str(path), name) for name in taken & leads}
    # The packages that hold nothing but weights, and a function of the project's own.
    assert {each for each in found if each[0].startswith("attention/")} == {
        ("attention/models/weights.py", "find_spec"),
        ("attention/experiments/five_ways/__init__.py", "getsource"),
    }


def test_one_style_sheet_names_a_few_things_of_streamlits_page():
    sheet = ROOT / "assets" / "page.css"
    ours = (path for kind in ("css", "js", "html") for path in (ROOT / "assets").rglob(f"*.{kind}"))
    others = [path for path in ours if path != sheet and not path.is_relative_to(ROOT / "assets" / "plotly")]
    code = [ROOT / path for path in parsed() if path.parts[0] == "attention"]
    assert [path.name for path in (*others, *code) if STREAMLITS.search(path.read_text("utf-8"))] == []
    assert len(set(STREAMLITS.findall(sheet.read_text("utf-8")))) <= 5
