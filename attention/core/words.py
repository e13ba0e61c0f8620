"""Merge word pieces into words, and hide tokens from a matrix of weights."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.trace import Token

# Marks a word piece that continues a word (Devlin et al. 2019, section 3).
CONTINUES = "##"

# Shows a space that is part of the next token, as in byte-level tokens.
SPACE = "␣"

# SentencePiece's space (Kudo & Richardson 2018, section 3.2).
PIECE_SPACE = "▁"
# The end of a word in the first byte-pair encodings (Sennrich et al. 2016, section 3.2).
_END_OF_WORD = "</w>"

APOSTROPHES = ("'", "’")

# Symbols in Unicode that BERT's tokenizer treats as punctuation.
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")


@dataclass(frozen=True, slots=True)
class Word:
    """A whole word: its pieces joined, its typed text and its positions; special and padding tokens are words."""

    text: str
    typed: str
    position: int
    positions: tuple[int, ...]
    is_special: bool = False
    segment: int = 0
    is_padding: bool = False


def shown_piece(token: str) -> str:
    """Return a piece of a word for display.

    >>> shown_piece("▁cat"), shown_piece("cat</w>")
    ('␣cat', 'cat')
    """
    return token.replace(PIECE_SPACE, SPACE).removesuffix(_END_OF_WORD)


def words_of(tokens: Sequence[Token]) -> list[Word]:
    """Group tokens into words, in order; each special token is a word."""
    return [_join(list(pieces)) for _, pieces in groupby(tokens, _word_key)]


def _word_key(token: Token) -> tuple[bool, int]:
    """Return a key shared by the pieces of a word and unique to a special token."""
    if token.is_special or token.word is None:
        return False, token.position
    return True, token.word


def _join(pieces: Sequence[Token]) -> Word:
    first = pieces[0]
    return Word(
        text=first.text + "".join(piece.text.removeprefix(CONTINUES) for piece in pieces[1:]),
        typed="".join(piece.typed for piece in pieces),
        position=first.position,
        positions=tuple(piece.position for piece in pieces),
        is_special=first.is_special,
        segment=first.segment,
        is_padding=first.is_padding,
    )


def end_of(word: Word, starts: Mapping[int, int | None]) -> int | None:
    """Return where a word ends in the text; ``starts`` maps positions to where their tokens begin."""
    start = starts[word.position]
    return None if start is None else start + len(word.typed)


def follows_apostrophe(place: int, words: Sequence[Word], starts: Mapping[int, int | None]) -> bool:
    """Return whether an apostrophe directly precedes a word, as before the *s* of *cat's*."""
    if place == 0 or words[place - 1].typed not in APOSTROPHES:
        return False
    return end_of(words[place - 1], starts) == starts[words[place].position]


def special_names(units: Iterable[Token | Word]) -> tuple[str, ...]:
    """Return the special tokens that occur, each once and without padding: [CLS] and [SEP], or <s> and </s>."""
    return tuple(dict.fromkeys(unit.text for unit in units if unit.is_special and not unit.is_padding))


def merge_words(
    weights: Float[Array, "*axes Q K"], tokens: Sequence[Token], key_tokens: Sequence[Token] | None = None
) -> tuple[Float[Array, "*axes W V"], list[Word]]:
    """Merge weights between word pieces into weights between words (see ``merge``); return them and the query words.

    ``key_tokens`` are the tokens attended to, if different.

    Raises:
        ValueError: the weights are not between these tokens.
    """
    key_tokens = tokens if key_tokens is None else key_tokens
    if weights.shape[-2:] != (len(tokens), len(key_tokens)):
        raise ValueError(
            f"weights must end in {(len(tokens), len(key_tokens))} for {len(tokens)} tokens, got {weights.shape}"
        )
    words = words_of(tokens)
    return merge(weights, _rows_of(words, tokens), _rows_of(words_of(key_tokens), key_tokens)), words


def merge_hidden(
    hidden: Bool[Array, "Q K"], tokens: Sequence[Token], key_tokens: Sequence[Token] | None = None
) -> Bool[Array, "W V"]:
    """Return the masked cells between words: those with all pairs of pieces masked."""
    visible, _ = merge_words((~hidden).astype(np.float32), tokens, key_tokens)
    return visible == 0


def _rows_of(words: Sequence[Word], tokens: Sequence[Token]) -> list[list[int]]:
    row_of = {token.position: row for row, token in enumerate(tokens)}
    return [[row_of[position] for position in word.positions] for word in words]


def merge(
    weights: Float[Array, "*axes Q K"],
    groups: Sequence[Sequence[int]],
    key_groups: Sequence[Sequence[int]] | None = None,
) -> Float[Array, "*axes W V"]:
    """Merge rows and columns: attention *to* a group is the sum over its tokens, *from* it the mean.

    ``A'[i, j] = mean over q in group i of Σ_{k in group j} A[q, k]`` (Clark et al. 2019, section 4.1): with every token
    in one group, each row still sums to 1. The mean is over rows that are not fully masked; without any, it is 0.

    Args:
        weights: shape (..., Q, K).
        groups: the positions of the tokens in each group; a token that is in no group is left out.
        key_groups: the same for the columns, if they are not the same tokens as the rows.

    Raises:
        ValueError: a group is empty, or contains a position that does not exist.
    """
    n_queries, n_keys = weights.shape[-2:]
    member = _members(groups, n_queries).astype(weights.dtype)
    key_member = _members(groups if key_groups is None else key_groups, n_keys).astype(weights.dtype)
    summed = member @ (weights @ key_member.T)  # (*axes, W, V)
    looking = weights.any(axis=-1).astype(weights.dtype) @ member.T  # (*axes, W)
    return summed / np.maximum(looking, 1)[..., None]


def _members(groups: Sequence[Sequence[int]], n_tokens: int) -> Bool[Array, "W T"]:
    member = np.zeros((len(groups), n_tokens), bool)
    for row, group in zip(member, groups, strict=True):
        if not group or min(group) < 0 or max(group) >= n_tokens:
            raise ValueError(f"a group must hold positions between 0 and {n_tokens - 1}, got {list(group)}")
        row[list(group)] = True
    return member


def hide_tokens(
    weights: Float[Array, "*axes Q K"],
    keep: Bool[Array, " Q"],
    renormalise: bool = False,
    keep_keys: Bool[Array, " K"] | None = None,
) -> Float[Array, "*axes Q K"]:
    """Set the rows and columns of the tokens that are not kept to 0.

    ``keep_keys`` selects the columns, if they are other tokens. With ``renormalise``, each row is divided by its
    remaining sum; a row with nothing left is 0.

    Raises:
        ValueError: ``keep`` does not have one truth value per token.
    """
    keep = np.asarray(keep, bool)
    keep_keys = keep if keep_keys is None else keep_keys
    if keep.ndim != 1 or weights.shape[-2:] != (keep.size, keep_keys.size):
        raise ValueError(f"keep must have shape ({weights.shape[-1]},) for weights {weights.shape}, got {keep.shape}")
    shown = np.where(keep[:, None] & keep_keys, weights, weights.dtype.type(0))
    if not renormalise:
        return shown
    total = shown.sum(axis=-1, keepdims=True)
    return shown / np.where(total == 0, 1, total)


def folded(token: Token | Word) -> str:
    """Normalise a token to compare words: lower case, without a leading space."""
    return token.text.lower().removeprefix(SPACE)


def is_punctuation(token: Token | Word) -> bool:
    """Return whether all of a token's typed text is punctuation according to BERT's tokenizer.

    That is Unicode's categories P and the ASCII symbols: more than the full stop and the comma that Clark et al. 2019
    count. A special token is not punctuation.
    """
    # A fast path: most tokens begin with a letter.
    if token.is_special or not token.typed or token.typed[0].isalnum():
        return False
    return all(map(is_punctuation_mark, token.typed))


def is_punctuation_mark(character: str) -> bool:
    """Return whether a character is punctuation; see ``is_punctuation``."""
    return character in _ASCII_SYMBOLS or unicodedata.category(character).startswith("P")
