"""The colours, each of which means one thing everywhere (Okabe and Ito's set, made for colour-blind readers)."""

from __future__ import annotations

QUERY = "#0072B2"
KEY = "#D55E00"
VALUE = "#009E73"
WEIGHT = "#7b4fa3"
POSITIVE = "#c0414f"
NEGATIVE = "#3f78b5"
# Parts of a formula that this step does not touch: light, yet 3:1 on white and on the dark page.
INACTIVE = "#868e99"
