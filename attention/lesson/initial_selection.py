"""The layer, head and word that open first, where the link names none.

The examples' openings are chosen by hand in ``assets/openings.tsv``, with a caption whose numbers come from the record.
Layers and heads are counted from 1 there, and tokens from 0; ``*`` stands for any other sentence.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.core.trace import ModelInfo, Token, Trace
from attention.core.words import APOSTROPHES, follows_apostrophe, is_punctuation, words_of
from attention.lesson.head_context import HeadContext
from attention.lesson.noun_tagger import grammar_tokens, has_pronoun, noun_tokens, pronouns_of
from attention.lesson.prose import lesson

_FILE = ASSETS / "openings.tsv"
_ANY = "*"
# The caption of heads that link a pronoun to its noun.
_OF_PRONOUN = "opening/pronoun"


@dataclass(frozen=True, slots=True)
class InitialSelection:
    """The layer, head and word that open for a sentence; if ``word`` is None, ``telling_word`` chooses.

    ``caption`` names a lesson about ``pairs`` of query and key; it may be empty.
    """

    layer: int
    head: int
    word: int | None = None
    pairs: tuple[tuple[int, int], ...] = ()
    caption: str = ""


def first_place(info: ModelInfo, text: str) -> tuple[int, int]:
    """Return the layer and head that open for a text; a text with a pronoun opens as the pronoun example does."""
    opening = _place_by_hand(info, text)
    return (info.default_layer, info.default_head) if opening is None else (opening.layer, opening.head)


def tell_choice(info: ModelInfo, text: str) -> str:
    """Say how the head that opens for a text was chosen."""
    opening = _place_by_hand(info, text)
    if opening is None:
        return message("This head opens by default.")
    if (info.model_id, text.rstrip()) in openings():
        return message("This head was picked by hand for this sentence.")
    if opening.caption == _OF_PRONOUN:
        return message("This head was picked by hand for another sentence with a pronoun.")
    return message("This head was picked by hand, but not for this sentence.")


def _place_by_hand(info: ModelInfo, text: str) -> InitialSelection | None:
    opening = openings().get((info.model_id, text.rstrip()))
    if opening is None and has_pronoun(text):
        opening = next((each for each in _of_model(info.model_id) if each.caption == _OF_PRONOUN), None)
    return opening or _opening(info.model_id, text)


def first_word(trace: Trace) -> int:
    """Return the position of the first word in focus, for any head: the chosen word or ``telling_word``."""
    opening = _opening(trace.info.model_id, trace.text)
    if opening is not None and opening.word is not None and opening.word < len(trace.tokens):
        return opening.word
    return telling_word(trace)


def telling_word(trace: Trace) -> int:
    """Return the position of the most informative word, regardless of any opening chosen for the text.

    It is the first pronoun after a noun or, failing that, the query of the largest weight between two words in the head
    that opens first. Whole words of two letters or more that are not function words have precedence; what follows an
    apostrophe, as the *s* of *cat's*, is not a whole word.
    """
    rows = [token.position for token in _word_starts(trace.tokens)]
    if trace.info.reading.first_focus is not None:
        return trace.info.reading.first_focus(rows)
    if trace.info.reading.takes_sentences and (found := _pronoun(trace.tokens)) is not None:
        return found
    return _row_of_largest_pair(trace, *first_place(trace.info, trace.text), rows) if rows else 0


def _pronoun(tokens: tuple[Token, ...]) -> int | None:
    first_noun = min((positions[0] for positions in noun_tokens(tokens)), default=len(tokens))
    return next((position for position in pronouns_of(tokens) if position > first_noun), None)


def tell_opening(scene: HeadContext) -> str:
    """Return the caption of the head that was chosen for the scene's text; empty for all others.

    The caption is shown only for a word that it names as a query, and only if each of its keys has the largest weight
    in its row.
    """
    opening = _opening(scene.info.model_id, scene.trace.text)
    if opening is None or not opening.caption or (opening.layer, opening.head) != (scene.layer, scene.head):
        return ""
    if scene.word not in {query for query, _ in opening.pairs}:
        return ""
    weights = scene.steps.weights
    is_there = max(map(max, opening.pairs)) < min(weights.shape)
    if not is_there or any(int(weights[row].argmax()) != key for row, key in opening.pairs):
        return ""
    (query, key), (other_query, other_key) = opening.pairs[0], opening.pairs[-1]
    return lesson(
        opening.caption,
        query=scene.query_word(query),
        key=scene.key_word(key),
        weight=weights[query, key],
        other_query=scene.query_word(other_query),
        other_key=scene.key_word(other_key),
        other_weight=weights[other_query, other_key],
    )


def _opening(model_id: str, text: str) -> InitialSelection | None:
    # A space typed at the end makes it no other sentence.
    return openings().get((model_id, text.rstrip())) or openings().get((model_id, _ANY))


def _of_model(model_id: str) -> list[InitialSelection]:
    return [opening for (model, _), opening in openings().items() if model == model_id]


@cache
def openings() -> Mapping[tuple[str, str], InitialSelection]:
    """Return the openings chosen by hand, by model and sentence."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return MappingProxyType({(row["model"], row["sentence"]): _read(row) for row in rows})


def _read(row: dict[str, str]) -> InitialSelection:
    pairs = [tuple(map(int, pair.split("-"))) for pair in row["pairs"].split()]
    return InitialSelection(
        int(row["layer"]) - 1,
        int(row["head"]) - 1,
        int(row["word"]) if row["word"] else None,
        tuple((query, key) for query, key in pairs),
        f"opening/{row['caption']}" if row["caption"] else "",
    )


def _word_starts(tokens: tuple[Token, ...]) -> list[Token]:
    befores = (None, *tokens)
    begin = [
        token
        for token, before in zip(tokens, befores, strict=False)
        if token.word is not None and (before is None or _word_id(before) != _word_id(token))
    ]
    return [token for token in begin if not is_punctuation(token)] or begin


def _row_of_largest_pair(trace: Trace, layer: int, head: int, rows: list[int]) -> int:
    """Return the row of the largest weight between two words, or the first of ``rows`` if there are no two."""
    attention = trace.layers[layer]
    hidden = attention.hidden(head)
    pairs = _pairs_of_words(trace) & ~hidden
    # Under a causal mask every row sees the first token, and many heads use it as a sink.
    if hidden[0, 1:].all() and pairs[:, 1:].any():
        pairs[:, 0] = False
    queries, keys = (_full_word_starts(tokens) for tokens in (trace.tokens, trace.key_tokens))
    grammar = grammar_tokens(trace.tokens)
    content = queries & np.array([token.position not in grammar for token in trace.tokens])
    whole = content & ~np.isin(np.arange(len(trace.tokens)), sorted(piece_tokens(trace.tokens)))
    preferences = (
        pairs & np.outer(whole, keys),
        pairs & whole[:, None],
        pairs & np.outer(content, keys),
        pairs & content[:, None],
        pairs & np.outer(queries, keys),
        pairs & queries[:, None],
        pairs,
    )
    pairs = next((each for each in preferences if each.any()), pairs)
    if not pairs.any():
        return next((row for row in rows if queries[row]), rows[0])
    weights = np.where(pairs, attention.head(head).weights, -1)
    return int(np.unravel_index(weights.argmax(), weights.shape)[0])


def piece_tokens(tokens: tuple[Token, ...]) -> set[int]:
    """Return the positions of tokens that are pieces of words."""
    return {position for each in words_of(tokens) if len(each.positions) > 1 for position in each.positions}


def _full_word_starts(tokens: tuple[Token, ...]) -> Bool[Array, " T"]:
    """Mark tokens that begin a word of two letters or more; three if cut off at an apostrophe, as in *we've*."""
    words, found = words_of(tokens), np.zeros(len(tokens), bool)
    starts = {token.position: token.start for token in tokens}
    for place, each in enumerate(words):
        n_letters = sum(map(str.isalnum, each.typed))
        is_cut_off = each.typed.startswith(APOSTROPHES) or follows_apostrophe(place, words, starts)
        found[each.position] = n_letters > (2 if is_cut_off else 1) and not each.is_special
    return found


def _pairs_of_words(trace: Trace) -> Bool[Array, "Q K"]:
    """Mark pairs of two different words, without special tokens and punctuation marks."""
    queries, keys = trace.tokens, trace.key_tokens
    meet = np.outer(*(np.array([_is_word(token) for token in tokens]) for tokens in (queries, keys)))
    if trace.memory is None:
        _, ids = np.unique([_word_id(token) for token in queries], axis=0, return_inverse=True)
        meet &= ids.ravel()[:, None] != ids.ravel()[None, :]
    return meet


def _is_word(token: Token) -> bool:
    return token.word is not None and not is_punctuation(token)


def _word_id(token: Token) -> tuple[int, int]:
    return token.segment, -1 if token.word is None else token.word
