import gzip
import hashlib
import re

import pytest
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, Response

from attention.answer import asked, generated_files
from attention.answer.files import (
    FIRST,
    FOLDER,
    FOR_ALWAYS,
    STEMS,
    DocumentLinks,
    answer,
    document_links,
    kept_file,
    stub,
)
from attention.figures import assets
from tests.loops import complete

FILES = {stem: kept_file(stem) for stem in STEMS}
NAMES = sorted(FILES)
DOCUMENT = "<!doctype html><html><body><div id=root></div></body></html>"
LINKS = b"<link href=x>"

# The files that are no component.
STYLES, OF_A_CLASS, OF_OTHERS = ("styles", "room_page"), ("class", "room"), ("plotly",)


def ask(name, **headers):
    return answer(name, Headers(headers))


def respond(app, path="/step_by_step", method="GET", **headers):
    """Ask an app as a server does, and return the status, the headers and the body of what it says."""
    said = []

    async def send(message):
        said.append(message)

    raw = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": raw, "query_string": b""}
    complete(DocumentLinks(app, LINKS, lambda document: f"of {len(document)}")(scope, None, send))
    body = b"".join(each.get("body", b"") for each in said[1:])
    return said[0]["status"], Headers(raw=said[0]["headers"]), body


def test_every_component_and_the_page_have_a_file():
    shared = {"base", "in_app", "asked_nothing"}.union(*assets.COMPONENTS.values())
    assert {path.stem for path in (assets._FOLDER).glob("*.js")} == shared | set(assets.COMPONENTS)
    assert set(FILES) == {*assets.COMPONENTS, *OF_A_CLASS, *OF_OTHERS, *STYLES}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_named_by_what_is_in_it(name):
    stem, digest, ending = FILES[name].name.split(".")
    text = ask(FILES[name].name).body
    assert (stem, ending) == (name, "css" if name in STYLES else "js")
    assert hashlib.sha256(text).hexdigest().startswith(digest)
    assert len(digest) >= 12


@pytest.mark.parametrize("name", assets.COMPONENTS)
def test_what_a_page_sends_of_a_component_is_short_and_names_the_file_of_today(name):
    assert re.findall(rf"\./{FOLDER}/([\w.]+)", stub(name)) == [FILES[name].name]
    assert len(stub(name)) < 500


@pytest.mark.parametrize("name", NAMES)
def test_a_file_may_be_kept_for_always_and_travels_compressed(name):
    plain, packed = ask(FILES[name].name), ask(FILES[name].name, **{"Accept-Encoding": "br, gzip"})
    for each in (plain, packed):
        assert each.headers["Cache-Control"] == FOR_ALWAYS
        assert each.headers["Vary"] == "Accept-Encoding"
        assert each.headers["Content-Type"].startswith("text/css" if name in STYLES else "text/javascript")
        assert int(each.headers["Content-Length"]) == len(each.body)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(packed.body) == plain.body
    # What is short already becomes little shorter.
    assert len(packed.body) < len(plain.body) * (0.5 if len(plain.body) > 2_000 else 0.6)


def test_who_asks_for_another_version_gets_this_one_and_is_told_not_to_keep_it():
    other = ask("matrix.0123456789abcdef.js")
    assert other.body == ask(FILES["matrix"].name).body
    assert other.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "name", ["", "matrix", "nothing.0123.js", "base.js", "matrix.0123.css", "../styles.css", "styles.js"]
)
def test_what_is_no_file_is_not_there(name):
    assert ask(name).status_code == 404


def test_a_document_gets_the_links():
    status, headers, body = respond(HTMLResponse(DOCUMENT))
    assert status == 200
    assert body == DOCUMENT.encode().replace(b"</body>", LINKS + b"</body>")
    assert int(headers["Content-Length"]) == len(body)
    status, headers, packed = respond(HTMLResponse(DOCUMENT), accept_encoding="gzip, br")
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert gzip.decompress(packed) == body
    assert int(headers["Content-Length"]) == len(packed)


def test_a_browser_that_has_the_document_with_these_links_is_told_so():
    _, headers, _ = respond(HTMLResponse(DOCUMENT))
    status, again, body = respond(HTMLResponse(DOCUMENT), if_none_match=headers["ETag"])
    assert (status, body, again["ETag"]) == (304, b"", headers["ETag"])
    assert respond(HTMLResponse(f"{DOCUMENT} "), if_none_match=headers["ETag"])[0] == 200


def test_a_browser_that_has_streamlits_own_document_is_not_told_that_nothing_has_changed():
    async def streamlit(scope, receive, send):
        is_known = "If-None-Match" in Headers(scope=scope)
        await Response(status_code=304)(scope, receive, send) if is_known else await HTMLResponse(DOCUMENT)(
            scope, receive, send
        )

    assert respond(streamlit, if_none_match='"streamlit"', if_modified_since="then")[0] == 200


@pytest.mark.parametrize(
    "other", [JSONResponse({"a": "</body>"}), HTMLResponse(DOCUMENT, status_code=404), Response(status_code=304)]
)
def test_nothing_else_is_changed(other):
    status, headers, body = respond(other)
    assert (status, headers.raw, body) == (other.status_code, other.raw_headers, other.body)
    document = HTMLResponse(DOCUMENT)
    assert respond(document, path="/media/a.html")[2] == respond(document, method="HEAD")[2] == document.body


def test_a_page_asks_first_for_its_styles_and_for_what_every_page_needs():
    links = document_links().decode()
    assert re.findall(rf'href="\./{FOLDER}/([\w.]+)"', links) == [FILES[name].name for name in (*FIRST, "styles")]
    assert links.index('rel="modulepreload"') < links.index('rel="stylesheet"')


@pytest.mark.parametrize("name", assets.COMPONENTS)
def test_what_a_script_does_when_it_is_read_is_done_by_what_travels(name):
    code, module = assets.script(name), assets.module(name)
    # What another one finds by its name in a table, nobody calls by name.
    done = re.findall(r"^([\w.]+(?:\[\w+\])?) = ", code, re.MULTILINE) + re.findall(
        r"^(\w+\.\w+)\(", code, re.MULTILINE
    )
    assert [each for each in done if not re.search(rf"{re.escape(each)} ?[=(]", module)] == []


def named_by(path, **link):
    """Return the status of an answer, and the name under which a browser would save it."""
    response = asked.answer(generated_files.give, "GET", path, {"model": "toy", **link}, {})
    return response.status_code, response.headers.get("Content-Disposition", "").partition("; ")[2]


# Files, with the address under which a page has them, and what a link may put in place of their names.
OWN_FILES = [
    ("step_by_step/now/page", "step-by-step.html"),
    ("step_by_step/now/worksheet", "worksheet.html"),
    ("step_by_step/now/notebook", "attention-by-hand.ipynb"),
    ("step_by_step/now/main_scores_table", "scores.csv"),
    ("all_heads/now/heatmap.json", "heatmap.json"),
]
FOREIGN = [
    "x\"; filename*=UTF-8''invoice.exe; y=\"/a",
    "../x",
    "a/../x",
    "x\r\nSet-Cookie: a=b\r\n/a",
    "\u202egpj",
    "\ufffd",
    "invoice",
]


@pytest.mark.parametrize(("folder", "own"), OWN_FILES)
def test_a_file_has_the_name_that_its_page_gives_it_and_a_link_with_another_leads_nowhere(folder, own):
    link = {"step": "scores", "panel": "table"}
    assert named_by(f"{folder}/{own}", **link) == (200, f'filename="{own}"')
    ending = own[own.index(".") :]
    assert [named_by(f"{folder}/{name}{ending}", **link) for name in FOREIGN] == [(410, "")] * len(FOREIGN)


@pytest.mark.parametrize("name", [*FOREIGN, "worksheet"])
def test_what_is_said_in_place_of_a_file_is_named_after_the_page(name):
    assert named_by(f"step_by_step/now/worksheet/{name}.html", model="gone") == (200, 'filename="step-by-step.html"')


@pytest.mark.parametrize("ending", ["exe", "js", "HTML", "html\r\n", "html ", ""])
def test_a_link_cannot_ask_for_another_kind_of_file(ending):
    assert named_by(f"step_by_step/now/page/step-by-step.{ending}") == (410, "")
