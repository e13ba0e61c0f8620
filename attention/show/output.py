"""Self-contained HTML for a notebook, which draws itself wherever it is opened."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attention.core.messages import language
from attention.page.page_file import plain
from attention.show.packed import deflated

Action = Literal["view", "return"]

# Base 85, with the characters from # to y that need no escape in a script or in JSON.
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_SAFE = "".join(chr(code) for code in range(ord("#"), ord("y") + 1) if chr(code) not in "<\\")
_TO_SAFE = str.maketrans(_DIGITS, _SAFE)

# Unpacks two texts: the first is a script, which is run with the second's bytes. Like the loader itself, it runs as an
# element of the page, since a content policy may forbid evaluating text.
_LOADER = (
    "(async()=>{{const d=document,k=d.createElement('script'),"
    "h=[...d.querySelectorAll('[data-attention=\"{key}\"]:not([data-taken])')],"
    "u=t=>{{const b=new Uint8Array(t.length*4/5),w=new DataView(new ArrayBuffer(4));"
    "for(let i=0;i<t.length;i+=5){{let v=0;for(let j=0;j<5;j++){{const c=t.charCodeAt(i+j)||121;"
    "v=v*85+c-35-(c>60)-(c>92)}}w.setUint32(0,v);for(let j=0;j<4;j++)b[i/5*4+j]=w.getUint8(j)}}"
    'return new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream("deflate-raw")))}};'
    "for(const e of h)e.dataset.taken='';"
    'k.text="$attention=(HOSTS,NUMBERS)=>{{"+await u("{script}").text()+"\\n}}";'
    'const n=new Uint8Array(await u("{numbers}").arrayBuffer());d.head.append(k);$attention(h,n)}})()'
)


class Shown:
    """A picture in a notebook.

    It displays itself as the last line of a cell. In a Jupyter kernel, the call also displays it, once.
    """

    def __init__(self, html: str, summary: str) -> None:
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
        """Save it as a self-contained HTML page; raise ValueError unless the file name ends in .html."""
        if Path(path).suffix.lower() not in {".html", ".htm"}:
            raise ValueError(f"save writes a page: the name of its file must end in .html, got {Path(path).name}")
        # Nothing may be fetched.
        inline = "'unsafe-inline'"
        policy = f"default-src 'none'; script-src {inline}; style-src {inline}; img-src data:"
        head = (
            f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
            f'<link rel="icon" href="data:,"><title>{plain(self._summary)}</title>'
        )
        start = f'<!doctype html>\n<html lang="{plain(language().name)}">\n<head>{head}</head>\n<body>\n'
        page = f"{start}{self.data}\n</body>\n</html>\n"
        Path(path).write_text(page, "utf-8")

    def show_at_once(self) -> None:
        """Display it in the running cell, if this is a notebook."""
        shell = _notebook()
        if shell is not None:
            _display(self)
            self._shown_in = shell.execution_count

    def _ipython_display_(self) -> None:
        shell = _notebook()
        if self._shown_in is None or shell is None or shell.execution_count != self._shown_in:
            _display(self)


def finish(shown: Shown, action: Action) -> Shown:
    """Return a picture, with "view" displayed in the running cell; raise ValueError for another action."""
    if action not in {"view", "return"}:
        raise ValueError(f'html_action must be "view" or "return", got {action!r}')
    if action == "view":
        shown.show_at_once()
    return shown


def _notebook() -> Any:
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if hasattr(shell, "kernel") else None


def _display(shown: Shown) -> None:
    sys.modules["IPython"].display.display(dict(shown._repr_mimebundle_()), raw=True)


def html_of(script: str, given: Mapping[str, Any], numbers: bytes, instead: str) -> str:
    """Return HTML with the script that draws it; ``instead`` is the HTML shown where no scripts run.

    The script gets ``GIVEN``, ``NUMBERS``, and ``HOSTS``, the elements to draw in.
    """
    whole = f"const GIVEN={json.dumps(given, ensure_ascii=False, separators=(',', ':'))};\n{script}"
    written, packed = _as_text(deflated(whole.encode())), _as_text(numbers)
    # The same picture has the same key, so that running a notebook again does not change its file.
    key = hashlib.sha256(f"{written} {packed}".encode()).hexdigest()[:12]
    loader = _LOADER.format(key=key, script=written, numbers=packed)
    return f'<div data-attention="{key}">{instead}</div><script>{loader}</script>'


def _as_text(data: bytes) -> str:
    """Encode each four bytes as five characters that need no escape in a script or in JSON."""
    return base64.b85encode(data).decode().translate(_TO_SAFE)
