"""A small hub on this machine: it serves models from folders like the real hub, with faults on demand.

It has the three addresses that are used: a model's metadata (``/api/models/ID?blobs=true``), the files of a commit
(``/api/models/ID/tree/COMMIT``), and one of them (``/ID/resolve/COMMIT/NAME``). Large files are redirected, as by the
real one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

__all__ = ["SmallHub", "serve_hub"]

COMMIT = "0123456789abcdef0123456789abcdef01234567"
BLOCK, DRIP = 2**14, 2**10


@dataclass
class SmallHub:
    """The hub's models, its faults, and the requests it has received."""

    url: str
    models: dict[str, Path] = field(default_factory=dict)
    # Renamed models, which redirect.
    renamed: dict[str, str] = field(default_factory=dict)
    # The status of every answer whose path matches.
    status: int = 200
    status_at: str = ".*"
    # Files end after this many bytes; or pause there until ``go_on``; or have a wrong byte.
    break_off_at: int | None = None
    wait_at: int | None = None
    go_on: Event = field(default_factory=Event)
    spoilt: str = ""
    # Weights are slow: a little, then nothing for this long or until ``go_on``.
    drip_seconds: float | None = None
    # Changes a model's metadata.
    say: Callable[[dict], dict] = lambda answer: answer
    is_silent: bool = False
    asked: list[str] = field(default_factory=list)
    signed_in_with: list[str | None] = field(default_factory=list)

    def about(self, model_id: str) -> dict:
        """Return a model's metadata."""
        folder = self.models[model_id]
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {
            "id": model_id,
            "modelId": model_id,
            "sha": COMMIT,
            "private": False,
            "gated": False,
            "disabled": False,
            "tags": ["license:apache-2.0"],
            "cardData": {"license": "apache-2.0"},
            "downloads": 1,
            "likes": 0,
            "siblings": [_sibling(path, folder) for path in files],
        }

    def tree(self, model_id: str) -> list[dict]:
        """Return the files of a model's commit."""
        return [_entry(each) for each in self.about(model_id)["siblings"]]


def _entry(sibling: dict) -> dict:
    found = {"type": "file", "path": sibling["rfilename"], "size": sibling["size"], "oid": sibling["blobId"]}
    if "lfs" in sibling:
        lfs = sibling["lfs"]
        found["lfs"] = {"oid": lfs["sha256"], "size": lfs["size"], "pointerSize": lfs["pointerSize"]}
    return found


def _sibling(path: Path, folder: Path) -> dict:
    data = path.read_bytes()
    git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    found = {"rfilename": path.relative_to(folder).as_posix(), "size": len(data), "blobId": git}
    if path.suffix in {".safetensors", ".bin"}:
        found["lfs"] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: SmallHub

    def log_message(self, *args: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.hub.asked.append(path)
        self.hub.signed_in_with.append(self.headers["Authorization"])
        try:
            self._answer(path)
        except ConnectionError:
            self.close_connection = True

    # ``_begin`` alone answers it.
    do_HEAD = do_GET

    def _answer(self, path: str) -> None:
        hub = self.hub
        if hub.is_silent:
            hub.go_on.wait(30)
            self.close_connection = True
        elif hub.status != 200 and re.search(hub.status_at, path):
            extra = {"Retry-After": "120"} if hub.status == 429 else {}
            self._send(json.dumps({"error": "no"}).encode(), hub.status, extra)
        elif found := re.fullmatch(rf"/api/models/(.+)/tree/{COMMIT}", path):
            self._send(json.dumps(hub.tree(found[1])).encode())
        elif found := re.fullmatch(r"/api/models/(.+)", path):
            self._say(found[1])
        elif found := re.fullmatch(rf"/(.+)/resolve/{COMMIT}/(.+)", path):
            self._lead_to(*found.groups())
        elif found := re.fullmatch(r"/storage/(.+)@(.+)", path):
            self._send_file(*found.groups())
        else:
            self._send(b'{"error": "Entry not found"}', 404)

    def _say(self, model_id: str) -> None:
        if model_id in self.hub.renamed:
            self._send(b"", 307, {"Location": f"/api/models/{self.hub.renamed[model_id]}"})
        elif model_id in self.hub.models:
            self._send(json.dumps(self.hub.say(self.hub.about(model_id))).encode())
        else:
            # The real hub does not tell strangers whether a model is private or missing.
            self._send(b'{"error": "Invalid username or password."}', 401, {"X-Error-Code": "RepoNotFound"})

    def _lead_to(self, model_id: str, name: str) -> None:
        if name.endswith(".safetensors"):
            file = self.hub.models[model_id] / name
            headers = {
                "Location": f"/storage/{model_id}@{name}",
                "X-Repo-Commit": COMMIT,
                "X-Linked-Size": str(file.stat().st_size),
                "X-Linked-Etag": f'"{hashlib.sha256(file.read_bytes()).hexdigest()}"',
            }
            self._send(b"", 302, headers)
        else:
            self._send_file(model_id, name)

    def _send_file(self, model_id: str, name: str) -> None:
        hub, data = self.hub, (self.hub.models[model_id] / name).read_bytes()
        if hub.spoilt and re.search(hub.spoilt, name):
            data = data[:-1] + bytes([data[-1] ^ 1])
        is_weights = name.endswith(".safetensors")
        self._begin(200, len(data), {"ETag": f'"{name}"', "X-Repo-Commit": COMMIT})
        if self.command == "HEAD":
            return
        block = BLOCK if hub.drip_seconds is None or not is_weights else DRIP
        for start in range(0, len(data), block):
            if is_weights and hub.break_off_at is not None and start >= hub.break_off_at:
                self.close_connection = True
                return
            if is_weights and hub.wait_at is not None and start >= hub.wait_at:
                hub.go_on.wait(30)
            self.wfile.write(data[start : start + block])
            if block == DRIP:
                hub.go_on.wait(hub.drip_seconds)

    def _send(self, body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._begin(status, len(body), {"Content-Type": "application/json", **(headers or {})})
        if self.command == "GET":
            self.wfile.write(body)

    def _begin(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(length), **headers}.items():
            self.send_header(name, value)
        self.end_headers()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, address: object) -> None:
        """Print nothing: clients hang up early."""


@contextmanager
def serve_hub() -> Iterator[SmallHub]:
    """Run an empty hub on a free port of this machine."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    hub = handler.hub = SmallHub(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()
