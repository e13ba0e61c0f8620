"""The attention formula in LaTeX: the current step's part in its colour, the rest in grey."""

from __future__ import annotations

from attention.figures import colours
from attention.lesson.head_context import HeadContext


def coloured(colour: str, latex: str) -> str:
    """Colour a part of a formula."""
    return rf"\textcolor{{{colour}}}{{{latex}}}"


def _grey(latex: str) -> str:
    return coloured(colours.INACTIVE, latex)


Q, K, V = coloured(colours.QUERY, "Q"), coloured(colours.KEY, "K"), coloured(colours.VALUE, "V")
K_T = coloured(colours.KEY, r"K^{\top}")


def attention(
    scene: HeadContext | None,
    *,
    scores: str | None = None,
    scale: str | None = None,
    mask: str | None = None,
    softmax: str | None = None,
    value: str | None = None,
) -> str:
    """Return the attention formula with the given parts as they are, and the others in grey.

    A position bias and a soft cap are included if the model has them. The divisor is the model's own.
    """
    divided = divisor(scene)
    compared, scaled = scores or _grey(product(scene, r"QK^{\top}")), scale or (divided and _grey(f"/ {divided}"))
    if scene is not None and scene.attention.softcap is not None:
        opened, closed = (r"\mathrm{cap}(", ")") if scale else (_grey(r"\mathrm{cap}("), _grey(")"))
        compared, scaled = f"{opened} {compared}", f"{scaled} {closed}"
    inside = (compared, scaled, mask or _grey("+ M"))
    opened, closed = "()" if softmax else map(_grey, "()")
    function = softmax or _grey(r"\mathrm{softmax}")
    weighed = r" \, ".join(filter(None, inside))
    return rf"{function}{opened} {weighed} {closed} \, {value or _grey('V')}"


def product(scene: HeadContext | None, latex: str) -> str:
    """Return the product of queries and keys, plus the position bias B if the model has one."""
    has_bias = scene is not None and scene.attention.bias is not None
    return f"({latex} + B)" if has_bias else latex


def divisor(scene: HeadContext | None) -> str:
    """Return the scores' divisor: √d_k or the model's own number; empty if they are not divided."""
    root = r"\sqrt{d_k}"
    return root if scene is None else scene.divisor(root)
