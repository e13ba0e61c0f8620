"""The colours, each with one meaning everywhere (from the palette of Okabe and Ito, made for colour-blind readers)."""

from __future__ import annotations

QUERY = "#0072B2"
KEY = "#D55E00"
VALUE = "#009E73"
WEIGHT = "#7b4fa3"
POSITIVE = "#c0414f"
NEGATIVE = "#3f78b5"
# Parts of a formula that the current step does not use: pale, yet with a contrast of 3:1 on the light and dark page.
INACTIVE = "#868e99"
