"""The documentation against the project: every link, picture, target, module and file exists."""

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

import attention
from tests import api_page

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
# Files that somebody makes by these instructions, or that are in another folder.
PLACE = re.compile(r"NAME|USER|/sv/")


def anchors(path):
    """The anchors of a page's headings, as GitHub and others make them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", path.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_somewhere(link, page):
    """Tell whether a link within the project leads to a file and, if it has one, to an anchor of it."""
    name, _, anchor = unquote(link).partition("#")
    target = (page.parent / name).resolve() if name else page
    return target.exists() and target.is_relative_to(ROOT) and (not anchor or anchor in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_link_and_picture_is_there(page):
    links = LINK.findall(FENCED.sub("", page.read_text("utf-8")))
    inside = [link for link in links if not re.match(r"https?:", link)]
    assert [link for link in inside if not leads_somewhere(link, page)] == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_it_names_of_the_project_is_there(page):
    text = page.read_text("utf-8")
    commands = "\n".join((*FENCED.findall(text), *re.findall(r"`[^`\n]+`", text)))
    assert {target for target in re.findall(r"\bmake ([a-z-]+)", commands) if target not in TARGETS} == set()
    modules = set(re.findall(r"\bpython3? -m ([\w.]+)", commands))
    assert {module for module in modules if find_spec(module) is None} == set()
    files = set(re.findall(r"(?<![\w/.])(?:attention|assets|tests|pages|deploy|docs)/[\w./-]*\w/?", commands))
    assert {file for file in files if not PLACE.search(file) and not (ROOT / file).exists()} == set()


def test_every_variable_that_the_code_reads_is_in_the_table():
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "attention").rglob("*.py"))
    read = set(re.findall(r'^[A-Z_, ]*VARIABLE\b.* = "(ATTENTION_\w+)"', sources, re.MULTILINE))
    table = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "configuration.md").read_text("utf-8"), re.MULTILINE)
    assert len(read) > 10
    assert read <= set(table)
    assert table == sorted(table)


def test_the_index_names_every_page():
    index = ROOT / "docs" / "README.md"
    named = {(index.parent / link).resolve() for link in LINK.findall(index.read_text("utf-8"))}
    assert named >= {path.resolve() for path in PAGES} - {README, index}


def test_the_readme_is_read_at_one_sitting():
    lines = README.read_text("utf-8").splitlines()
    assert len(lines) <= 150
    assert [line for line in lines if len(line) > 120] == []


def test_the_citation_names_this_version_and_its_licence():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (citation["version"], citation["license"]) == (attention.__version__, project["license"])


def test_the_page_of_the_api_is_what_the_docstrings_say():
    assert api_page.PAGE.read_text("utf-8") == api_page.page(), "python -m tests.api_page writes it"
