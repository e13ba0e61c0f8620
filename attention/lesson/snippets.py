"""Arrays and tokens as code that can be pasted and run, and the templates for it.

The learner's code is in ``assets/code``, one template per step and library.
"""

from __future__ import annotations

import ast
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from string import Template
from typing import Literal, TypeGuard, get_args

import numpy as np
from numpy import ndarray as Array

from attention.core.paths import ASSETS

Library = Literal["numpy", "pytorch"]
LIBRARIES: tuple[Library, ...] = get_args(Library)

TEMPLATES = ASSETS / "code"
IMPORTS: Mapping[Library, str] = {"numpy": "import numpy as np\n", "pytorch": "import torch\n"}

MAX_LITERAL = 64  # the most numbers written out one by one ...
MAX_LITERAL_ROWS = 8  # ... the most rows ...
MAX_LITERAL_WIDTH = 16  # ... and, in code that is continued, the widest vector
MAX_BYTES = 64 * 1024  # the largest array to paste, before it is packed
MAX_COLUMNS = 16  # the columns to paste of a larger matrix
N_SHOWN = 4  # the numbers of a vector to print

# Continued code reads its large arrays from a file, with limits of their own.
MAX_KEPT_BYTES = 4 * 2**20
MAX_OUT_BYTES = 5 * 2**19  # W_O, which all heads share and the weights do not need

# A template's values; a line with a placeholder whose value is None is left out.
Values = dict[str, str | None]


def leading(count: int, nbytes_each: int, at_most: int | None = None, *, most: int = MAX_BYTES) -> slice:
    """Return a slice of ``count`` items, or of as many of the first as fit into ``most`` bytes."""
    fitting = most // nbytes_each
    return slice(count) if count <= fitting else slice(max(1, min(fitting, at_most or fitting)))


@dataclass(frozen=True, slots=True)
class Continued:
    """Code that continues the code of earlier steps, as in a notebook.

    ``made`` are the variables defined so far. ``numbers`` are the arrays too large to read, which the code takes from
    the variable of this name. Both grow with the code. ``rows`` are those pasted of arrays that the code cannot
    compute: the outputs of other heads.
    """

    rows: slice = field(default_factory=lambda: slice(None))
    made: set[str] = field(default_factory=set)
    numbers: dict[str, Array] = field(default_factory=dict)

    def array_code(self, name: str, array: Array) -> str | None:
        """Return an array as an expression; None if it is already defined."""
        if name in self.made:
            return None
        if _is_small(array) and (array.ndim > 1 or array.size <= MAX_LITERAL_WIDTH):
            return array_code(array, "numpy")
        self.numbers[name] = array
        return f'numbers["{name}"]'

    def follow(self, code: str) -> None:
        """Add the variables that a piece of code defines to ``made``."""
        self.made.update(node.id for node in ast.walk(ast.parse(code)) if _is_made(node))


def _is_made(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def cut_note(part: slice, count: int, things: str) -> str | None:
    """Return the note that only the first of ``count`` things are included; None if all are."""
    if part.stop == count:
        return None
    return f"Here only the first {part.stop} of the {count} {things}: all are too many to paste."


def shapes(**arrays: Array | None) -> Values:
    """Return the shape of each array under the name ``…_shape``; None stays None."""
    return {f"{name}_shape": None if array is None else repr(array.shape) for name, array in arrays.items()}


def array_code(array: Array, library: Library) -> str:
    """Return an array as an expression: number by number if there are few, otherwise packed."""
    if not _is_small(array):
        text = b64encode(np.ascontiguousarray(array, "<f4").tobytes()).decode()
        return f'unpack({array.shape}, "{text}")'
    rows = _list(array, library) if array.ndim == 1 else _lines(_list(row, library) for row in array)
    return f"np.array({rows}, dtype=np.float32)" if library == "numpy" else f"torch.tensor({rows})"


def _is_small(array: Array) -> bool:
    return array.size <= MAX_LITERAL and (array.ndim == 1 or (array.ndim == 2 and len(array) <= MAX_LITERAL_ROWS))


def numbers(vector: Array) -> str:
    """Return the first numbers of a vector as they are printed."""
    return " ".join(f"{value:.2f}" for value in vector[:N_SHOWN])


def _lines(rows: Iterable[str]) -> str:
    return "[\n" + "".join(f"    {row},\n" for row in rows) + "]"


def _list(numbers: Array, library: Library) -> str:
    minus_infinity = "-np.inf" if library == "numpy" else "-torch.inf"
    # str of a float32 is the shortest decimal that reads back as the same float32.
    return "[" + ", ".join(minus_infinity if np.isneginf(x) else str(x) for x in numbers.astype(np.float32)) + "]"


def fill(name: str, library: Library, values: Values, *, is_alone: bool = True) -> str:
    """Fill a template; lines without a value are left out, and so is the helper if nothing is packed.

    The code imports its library only if it stands alone.
    """
    lines = [line for line in _read(name, library).splitlines() if not _has_no_value(line, values)]
    code = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"
    if any(value is not None and value.startswith("unpack(") for value in values.values()):
        code = code.replace(IMPORTS[library], _read("unpack", library), 1)
    if not is_alone:
        code = code.replace(f"{IMPORTS[library]}\n", "", 1).replace(IMPORTS[library], "", 1)
    return Template(code).substitute({key: value for key, value in values.items() if value is not None})


def _has_no_value(line: str, values: Values) -> bool:
    return any(values[name] is None for name in Template(line).get_identifiers())


@cache
def _read(name: str, library: Library) -> str:
    return (TEMPLATES / f"{name}.{library}.py.txt").read_text(encoding="utf-8")
