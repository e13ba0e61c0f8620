"""Dataclasses of arrays in one ``.npz`` file, which ``np.load`` opens without pickles: loading it executes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy import ndarray as Array

_TREE = "tree"


def are_same(one: Any, other: Any) -> bool:
    """Return whether two objects are equal, with arrays compared bit by bit."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return (one.dtype, one.shape) == (other.dtype, other.shape) and one.tobytes() == other.tobytes()
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(are_same, one, other))
    if is_dataclass(one):
        return all(are_same(getattr(one, each.name), getattr(other, each.name)) for each in fields(one) if each.compare)
    return bool(one == other)


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """A file format: ``kinds`` are the allowed dataclasses, ``named`` the objects stored by name.

    An array that occurs several times is written once.
    """

    kinds: Mapping[str, type[Any]]
    named: Mapping[str, object]

    def write(self, path: str | Path, value: object) -> None:
        """Write an object; raise OSError if the file cannot be written."""
        arrays: dict[str, Array] = {}
        tree = self._tree(value, arrays, {})
        with Path(path).open("wb") as file:
            np.savez(file, allow_pickle=False, **{_TREE: np.array(json.dumps(tree))}, **arrays)

    def read(self, path: str | Path) -> Any:
        """Read an object; raise OSError if the file cannot be read, and ValueError if it is invalid."""
        try:
            with np.load(path, allow_pickle=False) as file:
                return self._value(json.loads(str(file[_TREE])), dict(file))
        except (KeyError, TypeError, AttributeError, ValueError, EOFError, BadZipFile) as error:
            raise ValueError(f"{Path(path).name} is not a trace file, or another version wrote it") from error

    def _tree(self, value: Any, arrays: dict[str, Array], places: dict[int, str]) -> Any:
        if isinstance(value, np.ndarray):
            name = places.setdefault(id(value), f"array_{len(places)}")
            arrays[name] = value
            return {"array": name}
        for name, each in self.named.items():
            if value is each:
                return {"named": name}
        if is_dataclass(value):
            kind = type(value).__name__
            assert self.kinds[kind] is type(value)
            told = {each.name: getattr(value, each.name) for each in fields(value) if each.init and each.compare}
            return {"kind": kind, "fields": {name: self._tree(each, arrays, places) for name, each in told.items()}}
        if isinstance(value, tuple):
            return [self._tree(each, arrays, places) for each in value]
        return value

    def _value(self, tree: Any, arrays: Mapping[str, Array]) -> Any:
        if isinstance(tree, list):
            return tuple(self._value(each, arrays) for each in tree)
        if not isinstance(tree, dict):
            return tree
        if "array" in tree:
            return arrays[tree["array"]]
        if "named" in tree:
            return self.named[tree["named"]]
        return self.kinds[tree["kind"]](**{name: self._value(each, arrays) for name, each in tree["fields"].items()})
