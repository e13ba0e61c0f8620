"""The page docs/api.md, made from the docstrings: `python -m tests.api_page` writes it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attention
from attention import models, show
from attention.core.interventions import Run
from attention.core.steps import HeadSteps
from attention.core.trace import LayerTrace, ModelInfo, Token
from attention.models.base import Model, NextToken
from tests.sources import ROOT

PAGE = ROOT / "docs" / "api.md"

# Of each class, what a program uses.
CHAPTERS: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = (
    (
        "Models",
        (
            ("attention.load", attention.load),
            ("attention.trace", attention.trace),
            ("attention.models.list_models", models.list_models),
            ("attention.models.get_info", models.get_info),
            ("ModelInfo", ModelInfo),
            ("Model", Model),
            ("Model.trace", Model.trace),
            ("Model.as_chat", Model.as_chat),
            ("Model.run", Model.run),
            ("Run", Run),
            ("Model.next_token", Model.next_token),
            ("NextToken", NextToken),
        ),
    ),
    (
        "Traces",
        (
            ("attention.Trace", attention.Trace),
            ("Trace[…]", attention.Trace.__getitem__),
            *(
                (f"Trace.{name}", vars(attention.Trace)[name])
                for name in ("weights", "scores", "logits", "key_tokens", "attended", "part", "check")
            ),
            *((f"Trace.{name}", getattr(attention.Trace, name)) for name in ("save", "load", "to_pandas", "to_xarray")),
            ("Token", Token),
            ("LayerTrace", LayerTrace),
            ("HeadSteps", HeadSteps),
        ),
    ),
    (
        "Interventions",
        tuple((f"attention.{each.__name__}", each) for each in (attention.Ablate, attention.CutEdge, attention.Patch)),
    ),
    (
        "Pictures",
        (
            *(
                (f"attention.show.{name}", getattr(show, name))
                for name in ("head_view", "atlas", "step", "neuron", "compare", "figure", "atlas_figure")
            ),
            ("attention.show.neuron_view.show", show.neuron_view.show),
        ),
    ),
)
INTRODUCTION = """Made from the docstrings by `make api`. Layers, heads and tokens are counted from 0; any integers will
do, also NumPy's. [Recipes](notebooks.md#a-model-of-your-own)"""
LINE = 120
ROLE = re.compile(r":(?:meth|class|func|mod):`~?(?:[\w.]*\.)?(\w+)`")
SECTION = re.compile(r"(Args|Raises|Returns|Yields):")
ITEM = re.compile(r"    (\w+): (.*)")


def page() -> str:
    """Return the page."""
    parts = ["# API", INTRODUCTION]
    for title, members in CHAPTERS:
        parts += [f"## {title}", *(text for name, member in members for text in told(name, member))]
    return "\n\n".join(parts) + "\n"


def told(name: str, member: Any) -> Iterator[str]:
    """Yield a heading, the signature and the docstring of a function, a class or a property."""
    yield f"### `{name}`"
    if inspect.isfunction(member) or inspect.ismethod(member):
        if not name.endswith("]"):
            yield call(name.removeprefix("attention.models."), list(arguments(member)))
    elif inspect.isclass(member) and name.removeprefix("attention.") in attention.__all__ and name != "attention.Trace":
        yield call(name, list(arguments(member)))
    yield from paragraphs(inspect.getdoc(member) or "")


def call(name: str, given: list[str]) -> str:
    """Return a call as the formatter writes it."""
    line = f"{name}({', '.join(given)})"
    if len(line) > LINE:
        line = "\n".join([f"{name}(", *(f"    {each}," for each in given), ")"])
    return f"```python\n{line}\n```"


def arguments(function: Any) -> Iterator[str]:
    """Yield the arguments as they are written in a call."""
    is_named = False
    for each in inspect.signature(function).parameters.values():
        if each.name in {"self", "cls"}:
            continue
        if each.kind is each.KEYWORD_ONLY and not is_named:
            is_named = True
            yield "*"
        yield each.name if each.default is each.empty else f"{each.name}={written(each.default)}"


def written(default: object) -> str:
    """Return a default as it is written in code."""
    return json.dumps(default) if isinstance(default, str) else repr(default)


def paragraphs(text: str) -> Iterator[str]:
    """Yield the parts of a docstring in Google's style as Markdown."""
    for part in ROLE.sub(r"``\1``", text).replace("``", "`").split("\n\n"):
        first, _, rest = part.partition("\n")
        if SECTION.fullmatch(first):
            items = re.sub(r"\n {8,}", " ", rest)
            yield "\n".join([f"*{first[:-1]}*", "", *(ITEM.sub(r"- `\1`: \2", line) for line in items.splitlines())])
        elif first.startswith(">>>"):
            yield f"```python\n{part}\n```"
        elif first.startswith("    "):
            yield f"```python\n{inspect.cleandoc(part)}\n```"
        else:
            yield re.sub(r"::$", ":", part)


if __name__ == "__main__":
    Path(PAGE).write_text(page(), "utf-8")
