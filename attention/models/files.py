"""Files from outside: read up to a limit, and refused with a message if anything is wrong.

A folder named as a model may contain anything: a pipe without a writer, a dangling link, an endless file. The error
comes early, before anything large is read or allocated.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from attention.core.messages import message

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
# Files with a tokenizer's vocabulary. Without any, transformers makes a tokenizer with an empty vocabulary.
_WHOLE_TOKENIZER, _VOCABULARY, _MERGES = "tokenizer.json", "vocab.json", "merges.txt"
_VOCABULARIES = (
    _WHOLE_TOKENIZER,
    _VOCABULARY,
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "sentencepiece.model",
    "tokenizer.model",
    "spm.model",
    "tekken.json",
    "source.spm",
)
_TEMPLATES = ("chat_template.json", "chat_template.jinja")
# Files that transformers reads beside the weights.
BESIDE = (
    "config.json",
    "generation_config.json",
    *_VOCABULARIES,
    _MERGES,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    *_TEMPLATES,
    "target.spm",
    "preprocessor_config.json",
)
# The largest tokenizer of a supported model, XLM-RoBERTa's, has 17 MB.
MAX_BESIDE_BYTES = 64 * 2**20
# A header has about 120 bytes for each tensor, and 20,000 classes in a config.json take 1 MB.
MAX_JSON_BYTES = 8 * 2**20
MAX_SHARDS = 256
# The longest error message of a library.
MAX_LINE = 300
_LARGE_FILE_POINTER = b"version https://git-lfs"


def in_one_line(text: str) -> str:
    """Return a text from outside as one printable line, truncated if far too long."""
    # A file name need not be valid text.
    text = text.encode("utf-8", "replace").decode("utf-8")
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…"


def shown(path: Path) -> str:
    """Return a path for the page, in one line."""
    return in_one_line(os.fsencode(path).decode("utf-8", "replace"))


def read_json(file: Path, limit: int = MAX_JSON_BYTES) -> dict[str, Any]:
    """Read a JSON object; raise ValueError, with a message for the page, if it cannot be read."""
    try:
        with opened(file, limit) as source:
            # The file may grow while it is being read.
            data = source.read(limit + 1)[:limit]
    except OSError as error:
        raise ValueError(_unreadable(file.name, error.strerror or str(error))) from None
    return parse_json(data, file.name)


def _unreadable(name: str, reason: str) -> str:
    return message("Couldn't read the model's {name}: {reason}.", name=name, reason=reason)


def parse_json(data: bytes, name: str) -> dict[str, Any]:
    """Parse the JSON object of a file; raise ValueError, with a message for the page, if it is invalid."""
    try:
        found = json.loads(data.decode("utf-8"), parse_constant=_refuse_number, parse_float=_finite)
    except RecursionError:
        raise ValueError(_unreadable(name, message("it is nested too deeply"))) from None
    except UnicodeDecodeError:
        raise ValueError(_unreadable(name, message("it is not UTF-8 text"))) from None
    except json.JSONDecodeError as error:
        raise ValueError(_unreadable(name, message("invalid JSON at line {line}", line=error.lineno))) from None
    except ValueError as error:
        raise ValueError(_unreadable(name, in_one_line(str(error)))) from None
    if not isinstance(found, dict):
        raise ValueError(message("The model's {name} must hold names and values.", name=name))
    return found


def weights_of(folder: Path) -> tuple[Path, ...]:
    """Return the files with a model's weights: a single file, or those named by an index.

    Raises:
        OSError: the folder cannot be read.
        ValueError: there are none in the safetensors format, or the index is invalid.
    """
    if is_there(folder / SINGLE):
        return (folder / SINGLE,)
    if not is_there(folder / INDEX):
        raise ValueError(
            message(
                "The folder {folder} has no safetensors weights ({file}).",
                folder=shown(folder),
                file=SINGLE,
            )
        )
    parts = read_json(folder / INDEX).get("weight_map")
    names = set(parts.values()) if isinstance(parts, dict) and all(map(_is_name, parts.values())) else set()
    if not 0 < len(names) <= MAX_SHARDS:
        raise ValueError(message("The model's {index} does not say which files hold its weights.", index=INDEX))
    missing = sorted(name for name in names if not is_there(folder / name))
    if missing:
        raise ValueError(message("Some of the model's weights are missing: {file}.", file=in_one_line(missing[0])))
    return tuple(folder / name for name in sorted(names))


def shapes_of(folder: Path) -> dict[str, tuple[int, ...]]:
    """Return the shape of every tensor of a model's weights, from the files' headers.

    Raises:
        OSError: the folder cannot be read.
        ValueError: there are none, or a file is not safetensors.
    """
    return {name: shape for file in weights_of(folder) for name, shape in _head(file)}


def is_there(file: Path) -> bool:
    """Return whether this name exists, even as a dangling link; raise OSError if its folder cannot be read."""
    try:
        file.lstat()
    except FileNotFoundError:
        return False
    return True


def check_beside(folder: Path) -> None:
    """Raise ValueError if a file that is read with the weights is not regular, or too large; the message names it."""
    for name in BESIDE:
        if is_there(folder / name):
            try:
                with opened(folder / name, MAX_BESIDE_BYTES):
                    pass
            except OSError as error:
                raise ValueError(_unreadable(name, error.strerror or str(error))) from None


def has_chat_template(folder: Path) -> bool:
    """Return whether a model's tokenizer has a chat template; raise ValueError if its files cannot be read."""
    if any(is_there(folder / name) for name in _TEMPLATES):
        return True
    about = folder / "tokenizer_config.json"
    return is_there(about) and bool(read_json(about).get("chat_template"))


def check_vocabulary(names: Collection[str]) -> None:
    """Raise ValueError unless one of these files has a tokenizer's vocabulary; the message names the files."""
    if not any(name in names for name in _VOCABULARIES):
        raise ValueError(
            message(
                "The model has no tokenizer. Put tokenizer.json beside its weights, or the vocabulary: vocab.txt; "
                "vocab.json and merges.txt; or spiece.model, sentencepiece.bpe.model or tokenizer.model."
            )
        )
    if _VOCABULARY in names and _MERGES not in names and _WHOLE_TOKENIZER not in names:
        raise ValueError(
            message(
                "The model's tokenizer is incomplete. Put {missing} or {whole} beside {there}.",
                missing=_MERGES,
                whole=_WHOLE_TOKENIZER,
                there=_VOCABULARY,
            )
        )


@contextmanager
def opened(file: Path, limit: int | None = None) -> Iterator[io.BufferedReader]:
    """Open a file for reading, if it is a regular file of at most ``limit`` bytes.

    Raises:
        OSError: it cannot be opened.
        ValueError: it is not a regular file, too large, or a pointer to a file in Git LFS.
    """
    # Opening a pipe would block.
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as source:
        about = os.fstat(source.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError(message("Its {file} is not a file.", file=in_one_line(file.name)))
        if source.read(len(_LARGE_FILE_POINTER)) == _LARGE_FILE_POINTER:
            raise ValueError(
                message(
                    "Its {file} is only a Git LFS pointer. Run “git lfs pull”.",
                    file=in_one_line(file.name),
                )
            )
        source.seek(0)
        if limit is not None and about.st_size > limit:
            raise ValueError(
                message(
                    "Its {file} has {size} MB; at most {most} MB can be read.",
                    file=in_one_line(file.name),
                    size=f"{about.st_size / 1e6:,.0f}",
                    most=f"{limit / 1e6:,.0f}",
                )
            )
        yield source


def _head(file: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the name and shape of each tensor; the library checks them against the file's length."""
    from safetensors import SafetensorError, safe_open

    try:
        with opened(file) as source:
            # A header begins with its own length.
            length = int.from_bytes(source.read(8), "little")
        if length > MAX_JSON_BYTES:
            raise SafetensorError("header too large")
        with safe_open(file, framework="np") as tensors:
            for name in tensors.keys():  # noqa: SIM118 - not a dictionary
                yield name, tuple(tensors.get_slice(name).get_shape())
    except OSError as error:
        reason = error.strerror or in_one_line(str(error))
        raise ValueError(_unreadable(in_one_line(file.name), reason)) from None
    except SafetensorError:
        raise ValueError(
            message(
                "The model's {file} is damaged or not in safetensors format.",
                file=in_one_line(file.name),
            )
        ) from None


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name.endswith(".safetensors") and Path(name).name == name


def _refuse_number(name: str) -> NoReturn:
    raise ValueError(message("it holds {name} instead of a number", name=name))


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        _refuse_number(in_one_line(digits)[:20])
    return value
