"""Cut a text into tokens, each with its typed text, with any model's tokenizer.

There are three kinds, recognised from the tokenizer: word pieces (BERT), bytes (GPT-2), and SentencePiece (T5). In the
last two, a space is part of the next token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate, pairwise, takewhile
from pathlib import Path
from typing import Any, Literal

from tokenizers import Encoding, Tokenizer, decoders, models
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from attention.core.messages import message
from attention.core.text import clean, last_words
from attention.core.trace import Cut, Token
from attention.core.words import PIECE_SPACE, SPACE, shown_piece
from attention.models import byte_level

Kind = Literal["word pieces", "bytes", "sentence pieces"]

# The most vectors for each token of a tokenizer: with more, it belongs to other weights.
_MOST_VECTORS = 2

_BYTE = re.compile("<0x[0-9A-F]{2}>")


class TextReader:
    """A model's tokenizer, read from the files beside its weights."""

    def __init__(self, name: str, source: Path | PreTrainedTokenizerFast, n_known: int) -> None:
        """Take the tokenizer of the model with this name, which has vectors for the first ``n_known`` tokens.

        ``source`` is a folder to load it from, or a tokenizer, which is not changed.

        Raises:
            ValueError: it needs a library that is not installed, or it does not belong to the weights.
        """
        self._name = name
        self._n_known = n_known
        tokenizer = _load(source) if isinstance(source, Path) else source
        _check_belongs(tokenizer, name, n_known)
        added = tokenizer.added_tokens_decoder.items()
        self._special_ids = frozenset(tokenizer.all_special_ids) | {number for number, token in added if token.special}
        # The Rust tokenizer is used directly: without truncation and padding, encoding does not change it, so threads
        # can share it.
        backend: Tokenizer = tokenizer.backend_tokenizer
        is_set = backend.truncation is not None or backend.padding is not None
        self._tokenizer = Tokenizer.from_str(backend.to_str()) if is_set and tokenizer is source else backend
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._kind = _kind(self._tokenizer)
        # With its chat template.
        self._wrapper = tokenizer
        # If every text can be cut into bytes, no token means "unknown".
        self._unknown_id: int | None = None if self._kind == "bytes" else tokenizer.unk_token_id
        # GPT-2 has no padding token; since padding is hidden, any token will do.
        ids = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
        self.pad_id: int = next(number for number in ids if number is not None)
        # The least informative token, for occlusion: the unknown token, else the mask token.
        ids = (tokenizer.unk_token_id, tokenizer.mask_token_id, self.pad_id)
        self.blank_id: int = next(number for number in ids if number is not None)
        self._opening, self._n_closing = _added(self._tokenizer)

    def encode(self, text: str, pair: str | None, limit: int) -> tuple[Encoding, Cut | None]:
        """Encode one or two texts; a single text that is too long is cut.

        Raises:
            ValueError: two texts together are too long, or the model has no vector for a token.
            RuntimeError: the tokenizer failed.
        """
        encoding = self._encode(text, pair)
        total = len(encoding.ids)
        if total <= limit:
            return encoding, None
        if pair is not None:
            raise ValueError(
                message(
                    "The two texts have {total} tokens together; {model} takes {limit}. Shorten one of them.",
                    total=total,
                    model=self._name,
                    limit=limit,
                )
            )
        # Leaves room for a special token at the end, if the model adds one.
        last_kept = limit - 1 - self._n_closing
        end = encoding.offsets[last_kept][1]
        encoding = self._encode(text[:end])
        while len(encoding.ids) > limit and end > 0:
            end -= 1
            encoding = self._encode(text[:end])
        if not text[:end].strip():
            raise ValueError(
                message(
                    "{model} takes {limit} tokens, fewer than its tokenizer always adds. Choose another model.",
                    model=self._name,
                    limit=limit,
                )
            )
        return encoding, Cut(kept=len(encoding.ids), total=total, ending=last_words(text[:end]))

    def as_chat(self, text: str) -> str:
        """Return a text as a user's message in the model's chat template, up to where the answer begins.

        Raises:
            ValueError: there is no template, it fails, or its text is not read as the template's tokens.
        """
        if not self._wrapper.chat_template:
            raise ValueError(message("{model} has no chat template.", model=self._name))
        said = [{"role": "user", "content": text}]
        try:
            written: Any = self._wrapper.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        # A template is a program of the model's authors.
        except Exception as error:
            raise ValueError(
                message("The chat template of {model} failed ({kind}).", model=self._name, kind=type(error).__name__)
            ) from error
        # The tokenizer adds its own first tokens.
        opening = self._tokenizer.decode(list(self._opening), skip_special_tokens=False)
        chat: str = written.removeprefix(opening)
        if self._encode(chat).ids != self._tokenizer.encode(written, add_special_tokens=False).ids:
            raise ValueError(
                message("The tokenizer of {model} reads its chat template as other tokens.", model=self._name)
            )
        return chat

    def _encode(self, text: str, pair: str | None = None) -> Encoding:
        with _no_panic():
            encoding = self._tokenizer.encode(text, pair)
        unknown = next((number for number in encoding.ids if number >= self._n_known), None)
        if unknown is not None:
            raise ValueError(
                message(
                    "The files of {model} do not match: token ID {number}, but {n_known} token embeddings. Try "
                    "another sentence or model.",
                    model=self._name,
                    number=f"{unknown:,}",
                    n_known=f"{self._n_known:,}",
                )
            )
        return encoding

    def tokens(self, encoding: Encoding, text: str, pair: str | None = None) -> tuple[Token, ...]:
        """Return the tokens of an encoded text or pair."""
        texts = (text, pair or "")
        found = self._word_pieces(encoding, texts) if self._kind == "word pieces" else self._spaced(encoding, texts)
        return tuple(found)

    def padding(self, first: int, count: int) -> tuple[Token, ...]:
        """Return ``count`` padding tokens, from position ``first`` on."""
        name = self._shown(self._tokenizer.id_to_token(self.pad_id) or "")
        return tuple(
            Token(name, "", None, first + i, self.pad_id, is_special=True, is_padding=True) for i in range(count)
        )

    @property
    def opening(self) -> tuple[int, ...]:
        """The token IDs that the tokenizer adds at the beginning."""
        return self._opening

    def are_special(self, ids: Sequence[int]) -> bool:
        """Return whether all of these tokens are special, such as language codes."""
        return self._special_ids.issuperset(ids)

    def target(self, opening: Sequence[int], text: str, limit: int) -> tuple[tuple[Token, ...], Cut | None]:
        """Tokenise a text as a decoder reads its own output: with its own first tokens and without an end token."""
        n_first, n_added = len(opening), len(self._opening) + self._n_closing
        encoding, cut = self.encode(text, None, limit - n_first + n_added)
        read = self.tokens(encoding, text)[len(self._opening) : len(encoding.ids) - self._n_closing]
        names = (self._shown(self._tokenizer.id_to_token(number) or "") for number in opening)
        first = (
            Token(name, "", None, place, number, is_special=True)
            for place, (name, number) in enumerate(zip(names, opening, strict=True))
        )
        kept = (replace(token, position=place) for place, token in enumerate(read, start=n_first))
        if cut is not None:
            cut = replace(cut, kept=cut.kept + n_first - n_added, total=cut.total + n_first - n_added)
        return (*first, *kept), cut

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return a generated text, cleaned, and its tokens."""
        whole = self._tokenizer.decode(ids)
        # A token's text depends on the tokens before it, because a character may span several tokens.
        sizes = (len(self._tokenizer.decode(ids[:count])) for count in range(1, len(ids) + 1))
        ends = [0, *accumulate((min(size, len(whole)) for size in sizes), max)]
        text, has_gap, rows = "", False, []
        for token_id, (start, end) in zip(ids, pairwise(ends), strict=True):
            added = whole[start:end]
            typed = clean(added)
            has_gap = has_gap or added[:1].isspace()
            space = " " if has_gap and text else ""
            # A token that adds nothing belongs to the word at its place, as a space token does.
            rows.append((token_id, typed, len(text + space) if typed or has_gap else len(text) - 1))
            if typed:
                text, has_gap = text + space + typed, added[-1:].isspace()
        return text, tuple(self._written_tokens(text, rows))

    def _written_tokens(self, text: str, rows: Sequence[tuple[int, str, int]]) -> Iterator[Token]:
        starts = byte_level.word_starts(text)
        words: dict[int, int] = {}
        for position, (token_id, typed, begin) in enumerate(rows):
            name = self._shown(self._tokenizer.id_to_token(token_id) or "")
            if not text or token_id in self._special_ids:
                yield Token(name, "", None, position, token_id, is_special=True)
                continue
            start = min(max(begin, 0), len(text) - 1)
            word = words.setdefault(starts[start], len(words))
            yield Token(name, typed, word, position, token_id, start=start)

    def names(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Return how each of these tokens is shown."""
        return tuple(self._shown(self._tokenizer.id_to_token(number) or "") for number in ids)

    def vocabulary(self, size: int) -> tuple[tuple[str, ...], tuple[str | None, ...]]:
        """Return how each of the first ``size`` tokens is shown, and the text it adds (None if special or a byte)."""
        names = [self._tokenizer.id_to_token(number) or "" for number in range(size)]
        texts = (None if number in self._special_ids else self._text_of(name) for number, name in enumerate(names))
        return tuple(map(self._shown, names)), tuple(texts)

    def _shown(self, name: str) -> str:
        if self._kind == "bytes":
            return byte_level.shown(name)
        return name if self._kind == "word pieces" else byte_level.visible(shown_piece(name))

    def _text_of(self, name: str) -> str | None:
        if self._kind == "bytes":
            return byte_level.text_of(name)
        if self._kind == "word pieces":
            return name
        # Llama 2 spells rare characters byte by byte; a single byte is not text.
        return None if _BYTE.fullmatch(name) else name.replace(PIECE_SPACE, " ")

    def _word_pieces(self, encoding: Encoding, texts: tuple[str, str]) -> Iterator[Token]:
        words: dict[tuple[int, int], int] = {}
        rows = zip(encoding.ids, encoding.tokens, encoding.offsets, encoding.word_ids, _segments(encoding), strict=True)
        for position, (token_id, token, (start, end), word_id, segment) in enumerate(rows):
            if word_id is None:
                yield Token(token, "", None, position, token_id, is_special=True, segment=segment)
                continue
            word = words.setdefault((segment, word_id), len(words))
            is_special = token_id in self._special_ids and token_id != self._unknown_id
            yield Token(token, texts[segment][start:end], word, position, token_id, is_special, segment, start)

    def _spaced(self, encoding: Encoding, texts: tuple[str, str]) -> Iterator[Token]:
        """Yield tokens that include the space before a word, which is not part of the typed text.

        If a character spans several tokens, the first has it as its typed text, the others have none.
        """
        starts = tuple(map(byte_level.word_starts, texts))
        words: dict[tuple[int, int], int] = {}
        covered = [0, 0]
        rows = zip(encoding.ids, encoding.offsets, encoding.sequence_ids, _segments(encoding), strict=True)
        for position, (token_id, (start, end), sequence, segment) in enumerate(rows):
            name = self._shown(self._tokenizer.id_to_token(token_id) or "")
            if sequence is None:
                yield Token(name, "", None, position, token_id, is_special=True, segment=segment)
                continue
            text, typed = texts[segment], ""
            if name != SPACE:
                typed = text[max(start, covered[segment]) : end].lstrip(" ")
                covered[segment] = max(covered[segment], end)
            # A space token belongs to the word after it.
            begin = end - len(typed) if typed or text[start:end].isspace() else start
            begin = min(begin, len(text) - 1)
            word = words.setdefault((segment, starts[segment][begin]), len(words))
            is_special = token_id in self._special_ids and token_id != self._unknown_id
            yield Token(name, typed, word, position, token_id, is_special, segment, begin)


def is_panic(error: BaseException) -> bool:
    """Return whether an error is a panic of a Rust tokenizer: a class that is not an Exception and has no module."""
    return type(error).__name__ == "PanicException"


@contextmanager
def _no_panic() -> Iterator[None]:
    """Turn a panic into an ordinary error without its message, which may quote the text."""
    try:
        yield
    except BaseException as error:
        if not is_panic(error):
            raise
        raise RuntimeError("the tokenizer failed") from None


def _load(folder: Path) -> Any:
    """Load a tokenizer; if its own class needs a missing library, from the Rust version's file."""
    has_file = (folder / "tokenizer.json").is_file()
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except ImportError as error:
        if not has_file:
            raise ValueError(
                message(
                    "This model's tokenizer needs sentencepiece, which is not installed. Choose a model with a "
                    "tokenizer.json."
                )
            ) from error
        tokenizer = None
    except ValueError as error:
        if has_file:
            raise
        raise ValueError(_lacking(())) from error
    if hasattr(tokenizer, "backend_tokenizer"):
        _check_files(tokenizer, folder)
        return tokenizer
    if not has_file:
        raise ValueError(message("This model's tokenizer has no fast version. Choose a model with a tokenizer.json."))
    return PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)


def _check_files(tokenizer: Any, folder: Path) -> None:
    """Refuse a tokenizer without its files: transformers would make one with an empty vocabulary."""
    names = type(tokenizer).vocab_files_names.values()
    if names and not any((folder / name).is_file() for name in (*names, "tokenizer.json", "tekken.json")):
        raise ValueError(_lacking([name for name in names if name != "tokenizer.json"]))


def _lacking(names: Sequence[str]) -> str:
    return message(
        "The model has no tokenizer of its own kind. Put its files beside the weights: {files}.",
        files=" or ".join(filter(None, ("tokenizer.json", ", ".join(names)))),
    )


def _check_belongs(tokenizer: Any, name: str, n_known: int) -> None:
    """Refuse a tokenizer that cannot belong to weights with vectors for the first ``n_known`` tokens.

    Weights may have spare vectors, to reach a round number. A special token may lack one: it serves another use of the
    model.
    """
    numbers = tokenizer.get_vocab().values()
    highest = max((number for number in numbers if number not in tokenizer.added_tokens_decoder), default=-1)
    if highest < n_known <= _MOST_VECTORS * len(numbers):
        return
    raise ValueError(
        message(
            "Tokenizer and weights of {model} do not match: {n_tokens} tokens with IDs up to {highest}, but {n_known} "
            "token embeddings. Use the model's own tokenizer: {files}.",
            model=name,
            n_tokens=f"{len(numbers):,}",
            highest=f"{max(numbers, default=-1):,}",
            n_known=f"{n_known:,}",
            files=", ".join(type(tokenizer).vocab_files_names.values()),
        )
    )


def _kind(tokenizer: Tokenizer) -> Kind:
    if isinstance(tokenizer.model, models.WordPiece):
        return "word pieces"
    return "bytes" if isinstance(tokenizer.decoder, decoders.ByteLevel) else "sentence pieces"


def _added(tokenizer: Tokenizer) -> tuple[tuple[int, ...], int]:
    """Return the tokens added before every text, and the number added after it."""
    encoding = tokenizer.encode("a")
    before, after = (
        len(list(takewhile(lambda word: word is None, words))) for words in (encoding.word_ids, encoding.word_ids[::-1])
    )
    return tuple(encoding.ids[:before]), after


def _segments(encoding: Encoding) -> list[int]:
    """Return each token's text, 0 or 1; an added token belongs to the text before it."""
    segments, last = [], 0
    for sequence in encoding.sequence_ids:
        last = last if sequence is None else sequence
        segments.append(last)
    return segments
