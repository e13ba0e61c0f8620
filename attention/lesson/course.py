"""The nine steps, in order, and the formula of each with its active part in colour."""

from __future__ import annotations

from dataclasses import dataclass

from attention.figures import colours

__all__ = [
    "CROSSED",
    "PATCHES",
    "STEPS",
    "STEP_KEYS",
    "TURNED",
    "Step",
    "biased",
    "divided",
    "step_of",
    "unscaled",
    "with_biases",
]


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its key in links, its short name, its heading, and its formula in LaTeX."""

    key: str
    name: str
    heading: str
    formula: str


def _in(colour: str, latex: str) -> str:
    return rf"\textcolor{{{colour}}}{{{latex}}}"


def _grey(latex: str) -> str:
    return _in(colours.INACTIVE, latex)


_Q, _K, _V = _in(colours.QUERY, "Q"), _in(colours.KEY, "K"), _in(colours.VALUE, "V")
_KT = _in(colours.KEY, r"K^{\top}")
_X = "X"


def _attention(scores: str, scale: str, mask: str, softmax: str, value: str) -> str:
    opened, closed = (
        (r"\big(", r"\big)") if softmax != _grey(r"\mathrm{softmax}") else (_grey(r"\big("), _grey(r"\big)"))
    )
    return rf"{softmax}{opened} {scores} \, {scale} \, {mask} {closed} \, {value}"


def _made(source: str, turned: str = "") -> str:
    """Return how queries are made of X, and keys and values of a source; positions may turn the first two."""
    opened, closed = (rf"\mathrm{{{turned}}}(", ")") if turned else ("", "")
    # Each equation is a group of its own, and a narrow line breaks between them.
    return r" \quad\allowbreak ".join(
        (
            rf"{{{_Q} = {opened}{_X}{_in(colours.QUERY, 'W_Q')}{closed}}}",
            rf"{{{_K} = {opened}{source}{_in(colours.KEY, 'W_K')}{closed}}}",
            rf"{{{_V} = {source}{_in(colours.VALUE, 'W_V')}}}",
        )
    )


_GREY_SCORES = _grey(r"QK^{\top}")
_GREY_SCALE = _grey(r"/ \sqrt{d_k}")
_GREY_MASK = _grey("+ M")
_GREY_SOFTMAX = _grey(r"\mathrm{softmax}")
_GREY_VALUE = _grey("V")

STEPS = (
    Step("tokens", "Tokens", "Cut the sentence into tokens", r"\text{sentence} \to t_1, t_2, \dots, t_n"),
    Step(
        "embed",
        "Embed",
        "Give every token a vector",
        rf"{_X} = E_{{\text{{word}}}} + E_{{\text{{position}}}}",
    ),
    Step(
        "qkv",
        "Q · K · V",
        "Ask, offer, carry",
        _made(_X),
    ),
    Step(
        "scores",
        "Scores",
        "Compare every query with every key",
        _attention(_Q + _KT, _GREY_SCALE, _GREY_MASK, _GREY_SOFTMAX, _GREY_VALUE),
    ),
    Step(
        "scale",
        "Scale",
        "Make the scores smaller",
        _attention(_GREY_SCORES, r"/ \sqrt{d_k}", _GREY_MASK, _GREY_SOFTMAX, _GREY_VALUE),
    ),
    Step(
        "mask",
        "Mask",
        "Hide what may not be seen",
        _attention(_GREY_SCORES, _GREY_SCALE, "+ M", _GREY_SOFTMAX, _GREY_VALUE),
    ),
    Step(
        "softmax",
        "Softmax",
        "Turn scores into weights",
        _attention(_GREY_SCORES, _GREY_SCALE, _GREY_MASK, _in(colours.WEIGHT, r"\mathrm{softmax}"), _GREY_VALUE),
    ),
    Step(
        "sum",
        "Weighted sum",
        "Add up the values",
        _attention(_GREY_SCORES, _GREY_SCALE, _GREY_MASK, _GREY_SOFTMAX, _V),
    ),
    Step(
        "heads",
        "Heads",
        "Join the heads",
        r"\Delta E = \mathrm{Concat}(\mathrm{head}_1, \dots, \mathrm{head}_H) \, W_O + b_O",
    ),
)

# How queries and keys are made where positions turn them; the lesson says what "turn" is.
TURNED = _made(_X, "turn")

# A picture is cut into patches.
PATCHES = r"\text{picture} \to t_1, t_2, \dots, t_n"

# Cross-attention has two kinds of vectors: X of what is written, and Z of what was read.
CROSSED = {
    "tokens": r"{\text{read} \to s_1, \dots, s_m} \quad\allowbreak {\text{written} \to t_1, \dots, t_n}",
    "embed": r"X = \text{decoder} \quad Z = \text{encoder's output}",
    "qkv": _made("Z"),
}

STEP_KEYS = tuple(step.key for step in STEPS)


def biased(formula: str) -> str:
    """Return a formula of attention in which a position bias B is a part of the scores."""
    return formula.replace(_Q + _KT, rf"({_Q}{_KT} + B)").replace(_GREY_SCORES, _grey(r"(QK^{\top} + B)"))


def unscaled(formula: str) -> str:
    """Return a formula of attention in which the scores stay as they are."""
    return formula.replace(rf"\, {_GREY_SCALE} ", "").replace(r"/ \sqrt{d_k}", "/ 1")


def divided(formula: str, divisor: str) -> str:
    """Return a formula of attention in which the scores are divided by a number of the model's own."""
    return formula.replace(r"/ \sqrt{d_k}", f"/ {divisor}")


def with_biases(formula: str, symbols: str) -> str:
    """Return the formula of queries, keys and values in which these of the three, such as ``QV``, have a bias."""
    for symbol, colour in zip("QKV", (colours.QUERY, colours.KEY, colours.VALUE), strict=True):
        if symbol in symbols:
            weight = _in(colour, f"W_{symbol}")
            formula = formula.replace(weight, f"{weight} + {_in(colour, f'b_{symbol}')}")
    return formula


def step_of(key: str) -> Step:
    """Return the step with this key.

    Raises:
        ValueError: there is no such step.
    """
    return STEPS[STEP_KEYS.index(key)]
