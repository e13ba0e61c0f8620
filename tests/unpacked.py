"""Read the pictures in a notebook independently of the code that writes them."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Unpacked", "unpacked"]


@dataclass(frozen=True)
class Unpacked:
    """The contents of a picture in a notebook."""

    instead: str
    script: str
    given: dict[str, Any]
    bytes_of_numbers: bytes

    @property
    def error(self) -> float:
        """The picture's stated error of a weight."""
        return float(re.search(r"±(\d\.\d+)", self.given["note"])[1])

    def parts(self):
        """The codes of each use of attention, as layers × heads × queries × keys."""
        planes = np.frombuffer(self.bytes_of_numbers, np.uint8).reshape(self.given["planes"], -1).astype(np.int64)
        codes, found = sum(256 ** (len(planes) - 1 - place) * plane for place, plane in enumerate(planes)), []
        for part in self.given["parts"]:
            shape = [len(part[name]) for name in ("layers", "heads", "rows", "columns")]
            found.append(codes[: np.prod(shape)].reshape(shape))
            codes = codes[np.prod(shape) :]
        assert not len(codes)
        return found

    def weights(self):
        """The weights of each use of attention, from their codes."""
        step = 1 / self.given["scale"]

        def weight(code):
            return [0, 0, 0.75 * step][code] if code < 3 else min(1, (code - 1.5) * step)

        return [np.vectorize(weight, otypes=[float])(codes) for codes in self.parts()]


def from_base_85(text: str) -> bytes:
    """Decode base 85 with the digits from # to y, except two."""
    digits = [chr(code) for code in range(35, 122) if chr(code) not in "<\\"]
    assert len(digits) == 85
    padded, found = text + digits[-1] * (-len(text) % 5), b""
    for start in range(0, len(padded), 5):
        value = 0
        for character in padded[start : start + 5]:
            value = 85 * value + digits.index(character)
        found += value.to_bytes(4, "big")
    return found[: len(text) * 4 // 5]


def unpacked(html: str) -> Unpacked:
    """Read the only picture in some HTML."""
    place, instead, loader = re.fullmatch(
        r'<div data-attention="(\w+)">(.*)</div><script>(.*)</script>', html, re.DOTALL
    ).groups()
    assert f'[data-attention="{place}"]' in loader
    script, numbers = (zlib.decompress(from_base_85(text), -15) for text in re.findall(r'await u\("([^"]*)"\)', loader))
    text = script.decode()
    given, end = json.JSONDecoder().raw_decode(text.removeprefix("const GIVEN="))
    return Unpacked(instead, text.removeprefix("const GIVEN=")[end:], given, numbers)
