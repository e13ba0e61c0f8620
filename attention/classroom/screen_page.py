"""The page of a screen that follows a class: light, and without Streamlit."""

from __future__ import annotations

import json
import string

from attention.answer.files import ROOMS, address_of
from attention.classroom.codes import ALPHABET, read_code
from attention.core.messages import message
from attention.page.page_file import html_head, plain


def policy(framed_by: str) -> str:
    """Return the page's Content-Security-Policy: it may load resources only from this server."""
    return (
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; "
        f"img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors {framed_by}"
    )


def _no_code() -> str:
    without = ", ".join(letter for letter in string.ascii_uppercase if letter not in ALPHABET)
    return message("Not a room code. A code has six letters, and none of these: {without}.", without=without)


def page(typed: str, *, wall: str = "") -> str:
    """Return the page for the code in its address; without a code, a form that asks for one.

    For a screen on a wall, which no one operates, ``wall`` is the address at which others join.
    """
    code = read_code(typed)
    told = _no_code() if typed and code is None else ""
    given = json.dumps({"code": code or "", "folder": ROOMS, "told": told, "isScreen": bool(wall)}).replace(
        "<", r"\u003c"
    )
    script, styles = address_of("room"), address_of("room_page")
    alone = plain(message("Open it myself"))
    where = f'<span id="where">{plain(wall)}</span> ' if wall else ""
    label_of_code = plain(message("QR code of the address"))
    picture = f'<img id="qr" alt="{label_of_code}">' if wall else ""
    held = plain(message("when the answers are shown"))
    question = plain(message("Question"))
    task = plain(message("Find it"))
    own = plain(message("Ten questions"))
    heading = plain(message("Join a class"))
    label = plain(message("The six letters your teacher shows"))
    join = plain(message("Join"))
    no_script = plain(message("The pictures need JavaScript, which is switched off."))
    title = message("Class · attention step by step")
    more = f'<meta name="robots" content="noindex">\n<link rel="stylesheet" href="{styles}">\n'
    return f"""{html_head(title, "", more=more)}<body>
<main>
<div id="class" hidden>
<header>
{where}<span class="code">{plain(code or "")}</span> <span id="page"></span> <span id="present"></span>
<span id="state" role="status"></span>{picture}
<span id="way"><a id="alone" role="link" aria-disabled="true">{alone}</a>
<span id="held" hidden>{held}</span></span>
</header>
<section id="question" aria-label="{question}" hidden></section>
<section id="task" aria-label="{task}" hidden></section>
<section id="own" aria-label="{own}" hidden></section>
<h1 id="title"></h1>
<p id="caption"></p>
<div id="view"></div>
</div>
<div id="entry"{" hidden" if code else ""}>
<h1>{heading}</h1>
<p id="told" role="status">{plain(told)}</p>
<form action="./room">
<div><label for="code">{label}</label>
<input id="code" name="code" value="{plain(typed[:12])}" maxlength="12" autocomplete="off"
autocapitalize="characters" spellcheck="false" required></div>
<button>{join}</button>
</form>
</div>
<noscript>{no_script}</noscript>
</main>
<script type="application/json" id="given">{given}</script>
<script type="module" src="{script}"></script>
</body>
</html>
"""
