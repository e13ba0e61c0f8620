"""Plotly's script in the assets: the official file, in the pinned package's version."""

import gzip
import hashlib
import re

from plotly.offline import get_plotlyjs_version

from attention.core.paths import ASSETS
from attention.figures import assets

FOLDER = ASSETS / "plotly"


def test_it_is_of_the_version_of_the_package():
    version = get_plotlyjs_version()
    assert f"plotly-cartesian-{version}.min.js" == assets.PLOTLY
    assert f"plotly.js (cartesian - minified) v{version}" in assets.plotly()[:200]


def test_it_is_the_one_whose_checksum_and_licence_lie_beside_it():
    data = (FOLDER / assets.PLOTLY).read_bytes()
    assert (FOLDER / "SHA256SUMS").read_text("utf-8") == f"{hashlib.sha256(data).hexdigest()}  {assets.PLOTLY}\n"
    assert sorted(path.name for path in FOLDER.iterdir()) == ["LICENSE", "SHA256SUMS", assets.PLOTLY]
    assert "MIT License" in (FOLDER / "LICENSE").read_text("utf-8")


def test_it_is_light_enough_and_can_stand_in_a_page():
    text = assets.plotly()
    assert len(text.encode()) < 2_000_000
    assert len(gzip.compress(text.encode())) < 600_000
    # Nothing in it ends a script element, and nothing compiles text, which the content policy forbids.
    assert not re.search(r"</script|<!--|\r|\0", text)
    assert not re.search(r"\beval\(|new Function\b", text)
