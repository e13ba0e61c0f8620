"""Every shade of a number: text on it is legible, and a number displayed as zero is invisible."""

import json
import re

import pytest

from attention.core.paths import ASSETS
from attention.figures.colours import PAGES, SCALES

SHADES = """([code, page]) => {
  for (const [name, colour] of Object.entries(page)) {
    document.body.style.setProperty(name === 'border' ? '--st-border' : `--st-${name}-color`, colour);
  }
  const theme = new Function(`${code}; return readTheme(document.body)`)();
  const scaleOf = new Function('theme', 'name', `${code}; return scaleOf(theme, name)`);
  const found = {};
  for (const name of ['weights', 'signed']) {
    const scale = scaleOf(theme, name);
    const fill = (value, limit) => scale.fills[scale.index(value, limit)];
    found[name] = { fills: scale.fills, inks: scale.inks, zero: fill(0, 1), of: [] };
    for (const limit of LIMITS) {
      for (const value of [...VALUES, ...VALUES.map(each => -each)]) {
        found[name].of.push([value, limit, fill(value, limit)]);
      }
    }
  }
  return found;
}"""
LIMITS = [0.003, 0.048, 0.1, 0.97, 1, 31.2]
VALUES = [0, 1e-5, 0.0004, 0.004, 0.0049, 0.02, 0.5, 40]


@pytest.fixture(scope="module")
def shades_of(browser):
    """For each theme, the shades of both scales and what can be read on them, and the shades of some numbers."""
    full = json.dumps({theme: dict(scale) for theme, scale in SCALES.items()})
    code = f"const FULL = {full};\n{(ASSETS / 'components' / 'colours.js').read_text('utf-8')}"
    asked = SHADES.replace("LIMITS", json.dumps(LIMITS)).replace("VALUES", json.dumps(VALUES))
    page = browser.new_page()
    yield {theme: page.evaluate(asked, [code, dict(PAGES[theme])]) for theme in SCALES}
    page.close()


def luminance(colour):
    """How light a colour is (WCAG 2.2)."""
    if colour.startswith("#"):
        parts = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    else:
        parts = [int(part) for part in re.findall(r"\d+", colour)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (p / 255 for p in parts))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", SCALES)
@pytest.mark.parametrize("palette", ["weights", "signed"])
def test_a_number_can_be_read_on_every_shade(shades_of, theme, palette):
    found = shades_of[theme][palette]
    assert len(set(found["fills"])) > 100
    for fill, ink in zip(found["fills"], found["inks"], strict=True):
        low, high = sorted([luminance(fill), luminance(ink)])
        assert (high + 0.05) / (low + 0.05) >= 4.5, (fill, ink)


@pytest.mark.parametrize("theme", SCALES)
@pytest.mark.parametrize("palette", ["weights", "signed"])
def test_what_is_written_as_zero_has_the_colour_of_the_page_and_the_largest_number_the_full_one(
    shades_of, theme, palette
):
    found = shades_of[theme][palette]
    page = PAGES[theme]["background" if theme == "light" else "secondary-background"]
    assert luminance(found["zero"]) == pytest.approx(luminance(page), abs=1e-3)
    for value, limit, fill in found["of"]:
        least = 0.005 if limit >= 0.1 else 0.0005 if limit >= 0.01 else 0.00005
        if abs(value) < least:
            assert fill == found["zero"], (value, limit)
        if value >= limit:
            assert fill == found["fills"][-1], (value, limit)
