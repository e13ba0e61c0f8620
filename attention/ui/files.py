"""Files of ours that a browser keeps: the scripts of the components with their styles, and the page's style sheet.

What a page sends of a component with every picture is a few lines that import its module from here. The name of a file
has a part of the hash of what is in it, so a browser that has it never asks again, and asks for another one as soon as
there is another. Who asks for the file of another version, in the minutes of an upgrade, gets today's, and is told not
to keep it.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.components.v2 import component as register

from attention.figures import assets

__all__ = ["FOLDER", "DocumentLinks", "KeptFile", "answer", "component", "document_links", "kept_files", "stub"]

# The folder of these files, beside Streamlit's own "static".
FOLDER = "_attention"
# A year: what browsers take for always.
FOR_ALWAYS = "public, max-age=31536000, immutable"
# What every visitor needs at once; it travels together with Streamlit's own files.
FIRST = ("matrix", "share", "stepper")

# A page lies beside this folder, whatever stands in front of the server. A browser that has given up on a module never
# asks for it again under the same address: the second try has another one.
_STUB = """const url = new URL("./FOLDER/NAME", document.baseURI).href;
const { default: draw, styles } = await import(url).catch(() => import(url + "?again"));
export default (mount) => {
  mount.parentElement.adoptedStyleSheets = [styles];
  return draw({ ...mount, data: mount.data?.[0] });
};
"""


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file under its name: what it is of, what kind it is, and what is in it, compressed."""

    name: str
    kind: str
    packed: bytes

    @classmethod
    def of(cls, stem: str, ending: str, text: str) -> KeptFile:
        """Name a text by what is in it."""
        data = text.encode()
        # Without a time in it, the same text gives the same bytes.
        return cls(f"{stem}.{_hash(data)}.{ending}", _KINDS[ending], gzip.compress(data, mtime=0))

    @property
    def stem(self) -> str:
        """The name without the hash, the same in every version."""
        return self.name.partition(".")[0]


# What is asked of the document with the links, not of Streamlit's own.
_HEADERS_OF_OURS = (b"if-none-match", b"if-modified-since", b"accept-encoding")
_KINDS = {"js": "text/javascript", "css": "text/css"}


def kept_files() -> dict[str, KeptFile]:
    """Return all files by the parts of their names that stay the same."""
    files = [KeptFile.of(name, "js", assets.module(name)) for name in assets.COMPONENTS]
    files.append(KeptFile.of("page", "css", assets.page_css()))
    return {file.stem: file for file in files}


def component(name: str) -> Callable[..., Any]:
    """Register a component of ``assets/components``, whose script and styles a browser fetches once."""
    return register(f"attention_{name}", js=stub(name))


def stub(name: str) -> str:
    """Return the script that a page sends: it imports the component's module, and gives the place its styles."""
    file = KeptFile.of(name, "js", assets.module(name))
    return _STUB.replace("FOLDER", FOLDER).replace("NAME", file.name)


# ------------------------------------------------------------------------------- for the server


def answer(files: Mapping[str, KeptFile], name: str, headers: Headers) -> Response:
    """Answer who asks for a file by its name."""
    file = files.get(name.partition(".")[0])
    if file is None or not name.endswith(file.name[-3:]):
        return PlainTextResponse("Not Found", status_code=404)
    said = {"Cache-Control": FOR_ALWAYS if name == file.name else "no-store", "Vary": "Accept-Encoding"}
    if "gzip" not in headers.get("Accept-Encoding", ""):
        return Response(gzip.decompress(file.packed), media_type=file.kind, headers=said)
    return Response(file.packed, media_type=file.kind, headers={**said, "Content-Encoding": "gzip"})


def document_links(files: Mapping[str, KeptFile]) -> bytes:
    """Return what stands at the end of every document: the page's style sheet, and the modules that it needs first."""
    modules = "".join(f'<link rel="modulepreload" href="./{FOLDER}/{files[name].name}">' for name in FIRST)
    # After Streamlit's own styles, which it writes into the head.
    return f'{modules}<link rel="stylesheet" href="./{FOLDER}/{files["page"].name}">'.encode()


class DocumentLinks:
    """Writes links at the end of every document, so that a page has its styles before it has anything else."""

    def __init__(self, app: ASGIApp, links: bytes) -> None:
        """Stand in front of an app."""
        self.app = app
        self.links = links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "GET" or "." in scope["path"].rpartition("/")[2]:
            await self.app(scope, receive, send)
            return
        # Of a document without these links, Streamlit would say that it has not changed, or compress it.
        others = [each for each in scope["headers"] if each[0] not in _HEADERS_OF_OURS]
        start: list[Message] = []
        body = bytearray()

        async def send_with_links(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_document(message):
                start.append(message)
            elif message["type"] != "http.response.body" or not start:
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    written = body.replace(b"</body>", self.links + b"</body>", 1)
                    await _document(start[0], bytes(written), Headers(scope=scope))(scope, receive, send)

        await self.app({**scope, "headers": others}, receive, send_with_links)


def _is_document(start: Message) -> bool:
    return start["status"] == 200 and Headers(raw=start["headers"]).get("Content-Type", "").startswith("text/html")


def _document(start: Message, written: bytes, asked: Headers) -> Response:
    """Return the document, or say that the browser has it already."""
    tag = f'"{_hash(written)}"'
    gone = {b"content-length", b"last-modified", b"etag", b"vary"}
    response = Response(status_code=304 if asked.get("If-None-Match") == tag else 200)
    response.raw_headers = [each for each in start["headers"] if each[0] not in gone]
    response.headers.update({"ETag": tag, "Vary": "Accept-Encoding"})
    if response.status_code == 304:
        return response
    is_packed = "gzip" in asked.get("Accept-Encoding", "")
    response.body = gzip.compress(written, mtime=0) if is_packed else written
    response.headers["Content-Length"] = str(len(response.body))
    if is_packed:
        response.headers["Content-Encoding"] = "gzip"
    return response


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
