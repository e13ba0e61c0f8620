"""BertViz, the reference for pictures of all heads, in a folder of its own.

Its pages load three scripts from a public host; here they come from npm packages (jQuery in its next version, because
2.0.0 was never a package).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["VERSION", "install", "pages"]

VERSION = "1.4.1"
FOLDER = Path(__file__).parent / ".peer"
PACKAGES = ("requirejs@2.3.6", "d3@5.7.0", "jquery@2.1.0")
HOST = "https://cdnjs.cloudflare.com/ajax/libs"
SCRIPTS = {
    f"{HOST}/require.js/2.3.6/require.min.js": "requirejs/require.js",
    f"{HOST}/d3/5.7.0/d3.min": "d3/dist/d3.min",
    f"{HOST}/jquery/2.0.0/jquery.min": "jquery/dist/jquery.min",
}
# In a separate process, which keeps BertViz's dependencies out of this one.
WRITE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy, torch
from bertviz import head_view, model_view
weights = [torch.from_numpy(layer)[None] for layer in numpy.load(sys.argv[2])]
tokens = [f"word{index}" for index in range(weights[0].shape[-1])]
for view in (model_view, head_view):
    page = view(weights, tokens, html_action="return").data
    open(f"{sys.argv[3]}/{view.__name__}.html", "w", encoding="utf-8").write(page)
"""


def install() -> str | None:
    """Install it if necessary; return the reason if that fails, otherwise None."""
    if (FOLDER / "installed").exists():
        return None
    npm = shutil.which("npm")
    if npm is None:
        return "npm is missing"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", FOLDER]
    commands = (
        [*pip, "--no-deps", f"bertviz=={VERSION}"],
        [*pip, "ipython==9.7.0"],
        [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", FOLDER, *PACKAGES],
    )
    FOLDER.mkdir(exist_ok=True)
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{' '.join(map(str, command[:4]))} failed: {done.stderr.strip()[-200:]}"
    (FOLDER / "installed").touch()
    return None


def pages(weights: Path, folder: Path) -> dict[str, Path]:
    """Write its model view and head view of the weights (layers × heads × queries × keys) as pages."""
    subprocess.run([sys.executable, "-c", WRITE, FOLDER, weights, folder], check=True, capture_output=True)
    found = {}
    for name in ("model_view", "head_view"):
        page = folder / f"{name}.html"
        text = page.read_text("utf-8")
        for address, file in SCRIPTS.items():
            text = text.replace(address, (FOLDER / "node_modules" / file).as_uri())
        page.write_text(f"<!doctype html><meta charset='utf-8'>{text}", "utf-8")
        found[name] = page
    return found
