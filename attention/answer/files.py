"""The project's files that browsers cache: the components' scripts with their styles, and the page's style sheet.

Streamlit sends a few lines that import the page's module from here, which imports all others. File names contain a hash
of the content, so a browser requests each version once. During an upgrade, a
request for another version gets the current one, not to be cached.
"""

from __future__ import annotations

import gzip
import hashlib
import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from starlette.datastructures import Headers
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.figures import assets

# Next to Streamlit's "static".
FOLDER = "_attention"
# The numbers of pictures that are sent in shades.
NUMBERS = f"{FOLDER}/numbers"
# Pages, by link and presses.
PAGES = f"{FOLDER}/page"
# A page's downloads.
FILES = f"{FOLDER}/file"
# Requests of a class's screens.
ROOMS = f"{FOLDER}/room"
# A year, the longest that browsers honour.
FOR_ALWAYS = "public, max-age=31536000, immutable"
# Small pictures of the pages, light and dark (tests/browser/screenshots.py takes them).
_THUMBNAILS = ASSETS / "thumbnails"
# Their names have no hash, and they change now and then.
_FOR_A_DAY = "public, max-age=86400"
# Files that every visitor needs immediately, fetched together with Streamlit's.
FIRST = ("page", "line", "stepper", "model_map", "matrix")

# Of the listeners of a window, the first added is called first: this one is there before Streamlit's, which at every
# step back would run its script and rebuild the page.
_BACK = """<script>addEventListener("popstate", (event) => {
  if (!dispatchEvent(new CustomEvent("attention.back", { cancelable: true }))) event.stopImmediatePropagation();
})</script>"""
# Addresses are relative to the page, so they work behind any proxy. A browser never requests a module again
# that has failed to load, so the second attempt has another address.
_STUB = """const url = new URL("./FOLDER/NAME", document.baseURI).href;
const { default: draw } = await import(url).catch(() => import(url + "?again"));
export default draw;
"""


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file: its name, its media type, and its compressed content."""

    name: str
    kind: str
    packed: bytes

    @classmethod
    def of(cls, stem: str, ending: str, text: str) -> KeptFile:
        """Name a file after its content and compress it."""
        data = text.encode()
        # Without a timestamp, the same text gives the same bytes.
        return cls(f"{stem}.{_hash(data)}.{ending}", _KINDS[ending], gzip.compress(data, mtime=0))

    @property
    def stem(self) -> str:
        """The name without the hash, the same in every version."""
        return self.name.partition(".")[0]


# Request headers about the document with the links, not about Streamlit's own.
_HEADERS_OF_OURS = (b"if-none-match", b"if-modified-since", b"accept-encoding")
_KINDS = {"js": "text/javascript", "css": "text/css"}


# The extension of each file and the function that writes it, by stem.
_WRITERS: Mapping[str, tuple[str, Callable[[], str]]] = {
    **{name: ("js", partial(assets.module, name)) for name in assets.COMPONENTS},
    "chart": ("js", lambda: assets.module("chart", address_of("plotly"))),
    "plotly": ("js", assets.plotly),
    "class": ("js", assets.class_script),
    "room": ("js", assets.room_script),
    "room_page": ("css", assets.room_css),
    "styles": ("css", assets.page_css),
}
STEMS = tuple(_WRITERS)


@cache
def kept_file(stem: str) -> KeptFile:
    """Return one of the files, made when it is first needed, so that the server starts fast; KeyError if unknown."""
    ending, write = _WRITERS[stem]
    return KeptFile.of(stem, ending, write())


def address_of(stem: str) -> str:
    """Return the address of a file, from any page."""
    return f"./{FOLDER}/{kept_file(stem).name}"


@cache
def thumbnails() -> frozenset[str]:
    """Return the file names of the pages' thumbnails."""
    return frozenset(path.name for path in _THUMBNAILS.glob("*.webp"))


def thumbnail(page: str) -> dict[str, str] | None:
    """Return the addresses of a page's light and dark thumbnails; None if it has none."""
    names = {theme: f"{page}-{theme}.webp" for theme in ("light", "dark")}
    if not thumbnails().issuperset(names.values()):
        return None
    return {theme: f"./{FOLDER}/{name}" for theme, name in names.items()}


def stub(name: str) -> str:
    """Return the script that Streamlit sends, which imports the component's module."""
    return _STUB.replace("./FOLDER/NAME", address_of(name))


# ------------------------------------------------------------------------------- for the server


def answer(name: str, headers: Headers) -> Response:
    """Answer a request for a file."""
    if name in thumbnails():
        return FileResponse(_THUMBNAILS / name, headers={"Cache-Control": _FOR_A_DAY})
    stem = name.partition(".")[0]
    file = kept_file(stem) if stem in _WRITERS else None
    if file is None or not name.endswith(file.name[-3:]):
        return PlainTextResponse("Not Found", status_code=404)
    said = {"Cache-Control": FOR_ALWAYS if name == file.name else "no-store", "Vary": "Accept-Encoding"}
    if "gzip" not in headers.get("Accept-Encoding", ""):
        return Response(gzip.decompress(file.packed), media_type=file.kind, headers=said)
    return Response(file.packed, media_type=file.kind, headers={**said, "Content-Encoding": "gzip"})


def document_links() -> bytes:
    """Return the end of every document: the first modules and styles, a script, and a sentence about a lost connection.

    The style sheet shows the sentence while the connection is lost.
    """
    modules = "".join(f'<link rel="modulepreload" href="{address_of(name)}">' for name in FIRST)
    # After Streamlit's own styles, which it writes into the head.
    styles = f'<link rel="stylesheet" href="{address_of("styles")}">'
    lost = html.escape(message("Connection lost. Reconnecting …"))
    return f'{modules}{styles}{_BACK}<p class="lost" role="status">{lost}</p>'.encode()


class DocumentLinks:
    """Middleware that writes links at the end of every document, so that a page has its styles first.

    It also sets the document's Content-Security-Policy, which ``policy`` returns.
    """

    def __init__(self, app: ASGIApp, links: bytes, policy: Callable[[str], str]) -> None:
        self.app = app
        self.links = links
        self.policy = lru_cache(maxsize=4)(policy)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "GET" or "." in scope["path"].rpartition("/")[2]:
            await self.app(scope, receive, send)
            return
        # Otherwise Streamlit would compress its document, without the links, or report it as unchanged.
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
                    document = _document(start[0], bytes(written), Headers(scope=scope))
                    document.headers["Content-Security-Policy"] = self.policy(written.decode())
                    await document(scope, receive, send)

        await self.app({**scope, "headers": others}, receive, send_with_links)


def _is_document(start: Message) -> bool:
    return start["status"] == 200 and Headers(raw=start["headers"]).get("Content-Type", "").startswith("text/html")


def _document(start: Message, written: bytes, asked: Headers) -> Response:
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
