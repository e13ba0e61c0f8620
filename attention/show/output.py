"""What a notebook keeps of a picture: HTML that needs nothing else, and draws itself wherever it is opened."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attention.messages import language
from attention.page_file import plain
from attention.show.packed import deflated

__all__ = ["Shown", "html_of"]

# Unpacks two texts of Base64 and hands the second one to the first, a script: compressed, both are a third as long.
_LOADER = (
    "(async()=>{{const h=[...document.querySelectorAll('[data-attention=\"{key}\"]:not([data-taken])')];"
    "for(const e of h)e.dataset.taken='';"
    "const u=t=>new Response(new Blob([Uint8Array.from(atob(t),c=>c.charCodeAt())]).stream()"
    '.pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer();'
    'const s=new TextDecoder().decode(await u("{script}"));'
    'Function("HOSTS","NUMBERS",s)(h,new Uint8Array(await u("{numbers}")))}})()'
)


class Shown:
    """A picture in a notebook: as the last line of a cell, it shows itself.

    In a Jupyter kernel it is shown where it is made, too, so that it need not be the last line; once in a cell.
    """

    def __init__(self, html: str, summary: str) -> None:
        """Keep what is shown, and what it is in a few words."""
        self.data = html
        self._summary = summary
        self._shown_in: object = None

    def __repr__(self) -> str:
        return f"<{self._summary}>"

    def _repr_html_(self) -> str:
        return self.data

    def _repr_mimebundle_(self, **_: Any) -> Mapping[str, str]:
        return {"text/html": self.data, "text/plain": repr(self)}

    def save(self, path: str | Path) -> None:
        """Write it as a page of its own, which needs no server and no network."""
        # The loader unpacks a script, and nothing may be fetched.
        inline = "'unsafe-inline'"
        policy = f"default-src 'none'; script-src {inline} 'unsafe-eval'; style-src {inline}; img-src data:"
        head = (
            f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
            f'<link rel="icon" href="data:,"><title>{plain(self._summary)}</title>'
        )
        start = f'<!doctype html>\n<html lang="{plain(language().name)}">\n<head>{head}</head>\n<body>\n'
        page = f"{start}{self.data}\n</body>\n</html>\n"
        Path(path).write_text(page, "utf-8")

    def show_at_once(self) -> None:
        """Show it in the cell that is running, if this is a notebook."""
        shell = _notebook()
        if shell is not None:
            _display(self)
            self._shown_in = shell.execution_count

    def _ipython_display_(self) -> None:
        """Show it, but not a second time in the cell that has made it."""
        shell = _notebook()
        if self._shown_in is None or shell is None or shell.execution_count != self._shown_in:
            _display(self)


def _notebook() -> Any:
    """Return the shell of the notebook in which this runs; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if hasattr(shell, "kernel") else None


def _display(shown: Shown) -> None:
    sys.modules["IPython"].display.display(dict(shown._repr_mimebundle_()), raw=True)


def html_of(script: str, given: Mapping[str, Any], numbers: bytes, instead: str) -> str:
    """Return a part of a page that a script draws; ``instead`` is the HTML that is seen where no scripts run.

    The script finds what it draws as ``GIVEN`` and ``NUMBERS``, and the elements to draw it in as ``HOSTS``.
    """
    whole = f"const GIVEN={json.dumps(given, ensure_ascii=False, separators=(',', ':'))};\n{script}"
    written = base64.b64encode(deflated(whole.encode())).decode()
    packed = base64.b64encode(numbers).decode()
    # The same picture has the same key, so that a notebook that is run again stays the same file.
    key = hashlib.sha256(f"{written} {packed}".encode()).hexdigest()[:12]
    loader = _LOADER.format(key=key, script=written, numbers=packed)
    return f'<div data-attention="{key}">{instead}</div><script>{loader}</script>'
