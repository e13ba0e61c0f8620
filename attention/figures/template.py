"""Plotly templates for the light and the dark page."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from attention.figures.colours import MUTED, PAGES, Theme

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


def _template(theme: Theme) -> dict[str, Any]:
    page, muted = PAGES[theme], MUTED[theme]
    axis = {
        "gridcolor": page["border"],
        "zerolinecolor": muted,
        "linecolor": page["border"],
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": page["border"],
        "automargin": True,
        "title": {"standoff": 8, "font": {"size": 12}},
    }
    layout = {
        "font": {"family": _FONT, "size": 12, "color": page["text"]},
        # Traces without a colour take the text's.
        "colorway": [page["text"]],
        "paper_bgcolor": page["background"],
        "plot_bgcolor": page["background"],
        "xaxis": {**axis, "zeroline": False, "autotickangles": [0, 90]},
        # Four significant digits.
        "yaxis": {**axis, "hoverformat": ".4~r"},
        # The bar of buttons stands below the title.
        "title": {
            "font": {"size": 14},
            "pad": {"t": 10},
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
        },
        "margin": {"l": 8, "r": 12, "t": 44, "b": 8},
        # Below the axis title, with as many rows as it needs.
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        "hoverlabel": {
            "align": "left",
            # Do not truncate names.
            "namelength": -1,
            "bgcolor": page["secondary-background"],
            "bordercolor": page["border"],
            "font": {"size": 13, "color": page["text"]},
        },
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": muted, "activecolor": page["text"]},
        "bargap": 0.15,
    }
    return {"layout": layout}


TEMPLATES: Mapping[Theme, Mapping[str, Any]] = MappingProxyType(
    {"light": _template("light"), "dark": _template("dark")}
)
