"""The colours, each with one meaning (from the colour-blind-safe palette of Okabe and Ito)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

QUERY = "#0072B2"
KEY = "#D55E00"
VALUE = "#009E73"
WEIGHT = "#7b4fa3"
# Positive and negative numbers in bars, on light and dark pages; distinct from the colours of roles and weights.
POSITIVE = "#c0414f"
NEGATIVE = "#16868d"
# Unused parts of a formula: pale, but with a contrast of at least 3:1 on both pages.
INACTIVE = "#868e99"

# Full colours of matrix cells: dark on a light page, light on a dark one.
Theme = Literal["light", "dark"]
SCALES: Mapping[Theme, Mapping[str, str]] = MappingProxyType(
    {
        "light": MappingProxyType({"weights": "#5e2a84", "positive": "#b9304a", "negative": "#007c83"}),
        "dark": MappingProxyType({"weights": "#c9a2f2", "positive": "#f0697f", "negative": "#7fd8d0"}),
    }
)
# The page around the pictures; components read it from --st-… variables.
PAGES: Mapping[Theme, Mapping[str, str]] = MappingProxyType(
    {
        "light": MappingProxyType(
            {"background": "#ffffff", "secondary-background": "#f4f6f8", "text": "#0f1722", "border": "#d3d9e0"}
        ),
        "dark": MappingProxyType(
            {"background": "#0f1318", "secondary-background": "#1a2027", "text": "#e6e9ef", "border": "#36404b"}
        ),
    }
)
# Muted text, still at least 4.5:1 on both pages.
MUTED: Mapping[Theme, str] = MappingProxyType({"light": "#4b525c", "dark": "#aab0ba"})
