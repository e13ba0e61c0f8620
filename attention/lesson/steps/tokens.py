"""The tokens: the sentence or picture is cut into pieces."""

from __future__ import annotations

import html
from dataclasses import replace
from itertools import groupby

import numpy as np

from attention.core.messages import message, messages
from attention.core.trace import Token
from attention.core.words import SPACE
from attention.lesson.code_context import CodeContext
from attention.lesson.guessed import tell_guessed
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, lesson, times, word
from attention.lesson.quiz import Guess, around
from attention.lesson.snippets import shapes
from attention.lesson.steps.base import Step, Strip
from attention.lesson.transitions import splitting

# Special tokens with a sentence of their own.
_SPECIAL_LESSONS = {
    "[CLS]": "tokens/special-cls",
    "[SEP]": "tokens/special-sep",
    "[MASK]": "tokens/special-mask",
}


def _own_title(scene: HeadContext) -> str:
    return scene.info.reading.cut


def _formula(scene: HeadContext | None) -> str:
    noun = message("sentence") if scene is None else scene.info.reading.noun
    plain = rf"\text{{{noun}}} \to t_0, t_1, \dots, t_{{n-1}}"
    return plain if scene is None else scene.use.formulas.get("tokens", plain)


def _shapes(scene: HeadContext) -> str:
    tokens, kind = messages("{n} token", "{n} tokens", len(scene.tokens)), scene.info.reading.kind
    if not scene.use.looks_elsewhere:
        return f"{kind} → {tokens}"
    return message("{kind} → {tokens}, attending to {keys}", kind=kind, tokens=tokens, keys=len(scene.key_tokens))


def _strips(scene: HeadContext) -> tuple[Strip, ...]:
    # Self-attention has only one side.
    shown = zip(scene.use.sides, (scene.tokens, scene.key_tokens), (scene.word, None), strict=False)
    return tuple(
        Strip(side.name, tokens, focus, side.label, side.caption, splitting(tokens)) for side, tokens, focus in shown
    )


def _code(excerpt: CodeContext) -> str:
    tokens = excerpt.scene.tokens
    ids = np.array([token.token_id for token in tokens])
    focus = tokens[excerpt.row]
    pieces = [token.text for token in tokens if token.word == focus.word]
    return excerpt.fill(
        "tokens",
        {
            "tokens": repr([token.text for token in tokens]),
            "words": repr([token.word for token in tokens]),
            "ids": repr(ids.tolist()),
            "vocabulary": "each token's number in the vocabulary" + ("; -1: it has none" if ids.min() < 0 else ""),
            "row": str(excerpt.row),
            "answer": f"{focus.text!r} {focus.token_id} {None if focus.word is None else pieces}",
            **shapes(ids=ids),
        },
    )


def _words(scene: HeadContext) -> str:
    text = _tell_count(scene) + lesson("tokens/counting")
    if scene.use.has_pieces and scene.info.reading.has_pieces:
        text += _tell_pieces(scene)
    return text


def _tell_pieces(scene: HeadContext) -> str:
    text = ""
    pieces = _pieces(scene)
    if len(pieces) > 1:
        typed = "".join(piece.typed for piece in pieces)
        listed = " + ".join(f"<b>{word(piece.text)}</b>" for piece in pieces)
        text += lesson("tokens/pieces", word=word(typed), pieces=listed)
    if any(SPACE in token.text and SPACE not in token.typed for token in scene.tokens):
        text += lesson("tokens/space")
    parts = [token.text for token in scene.tokens if "\\x" in token.text and "\\x" not in token.typed]
    if parts:
        text += lesson("tokens/bytes", token=word(parts[0]))
    specials = dict.fromkeys(token.text for token in scene.tokens if token.is_special)
    # A typed special token was not added by the model.
    added = dict.fromkeys(token.text for token in scene.tokens if token.is_special and token.word is None)
    if added:
        text += lesson("tokens/special", specials=", ".join(map(word, added)))
    text += "".join(lesson(_SPECIAL_LESSONS[special]) for special in specials if special in _SPECIAL_LESSONS)
    text += _tell_padding(scene)
    aside = scene.use.asides.get("tokens")
    if aside is not None:
        text += lesson(aside, first=word(scene.labels[0]))
    unknown = dict.fromkeys(token.typed for token in scene.tokens if token.text == "[UNK]")
    if unknown:
        text += lesson("tokens/unknown", typed=", ".join(f"“{word(typed)}”" for typed in unknown))
    return text + tell_guessed(scene)


def _tell_count(scene: HeadContext) -> str:
    """Say how many tokens there are, without padding and a decoder's start token."""
    names, info = scene.names, scene.info
    count = sum(not token.is_padding for token in scene.tokens) - scene.use.n_given
    facts: dict[str, str | int] = {
        "model": word(info.name),
        "tokens": messages("{n} token", "{n} tokens", count),
        "focus": word(names[scene.word]),
        "position": scene.word,
    }
    if not info.feature_names:
        return lesson(
            scene.use.lesson(info.reading.lesson("tokens/words")),
            keys=sum(not token.is_padding for token in scene.key_tokens),
            patches=sum(not token.is_special for token in scene.tokens),
            first=word(names[0]),
            **facts,
        )
    return lesson("tokens/words-features", features=_features(scene), **facts)


def _tell_padding(scene: HeadContext) -> str:
    padding = [token.text for token in scene.tokens if token.is_padding]
    if not padding:
        return ""
    return lesson("tokens/padding", pad=word(padding[0]), times=times(len(padding)))


def _note(scene: HeadContext) -> str:
    note = scene.info.note
    return lesson("tokens/note", model=word(scene.info.name), note=html.escape(note)) if note else ""


def _features(scene: HeadContext) -> str:
    parts = scene.trace.embeddings
    if parts is None:
        return ""
    strengths = zip(scene.info.feature_names, parts.words[scene.word], strict=False)
    return ", ".join(f"{word(name)} {fact(float(value))}" for name, value in strengths if value) or message("none")


def _pieces(scene: HeadContext) -> list[Token]:
    """Return the pieces of the word in focus or, if it is whole, of the first word that was cut."""
    groups = _tokens_by_word(scene)
    in_focus = [group for group in groups if scene.focus in group and len(group) > 1]
    return next(iter(in_focus or [group for group in groups if len(group) > 1]), [])


def _tokens_by_word(scene: HeadContext) -> list[list[Token]]:
    return [list(group) for key, group in groupby(scene.tokens, lambda token: token.word) if key is not None]


def _guess(scene: HeadContext) -> Guess | None:
    """Ask how many tokens the longest word becomes or, where words stay whole, how many tokens there are."""
    if scene.use.has_pieces and scene.info.reading.has_pieces:
        groups = _tokens_by_word(scene)
        if not groups:
            return None
        longest = max(groups, key=lambda group: sum(len(token.typed) for token in group))
        typed = word("".join(token.typed for token in longest))
        pieces = " + ".join(f"<b>{word(token.text)}</b>" for token in longest)
        because = lesson(
            "guess/tokens-word-because",
            word=typed,
            count=messages("{n} token", "{n} tokens", len(longest)),
            pieces=pieces,
        )
        asked = around(len(longest), lesson("guess/tokens-word", word=typed), because)
        return replace(asked, is_of_tokens=True)
    count = sum(not token.is_padding for token in scene.tokens)
    specials = sum(token.is_special and not token.is_padding for token in scene.tokens)
    noun = scene.info.reading.noun
    because = lesson("guess/tokens-because", count=count, specials=specials)
    asked = around(count, lesson("guess/tokens", noun=noun, model=word(scene.info.name)), because)
    return replace(asked, is_of_tokens=True)


def _whys(scene: HeadContext) -> str:
    weights = scene.steps.weights[scene.word]
    best = int(weights.argmax())
    if not scene.info.reading.takes_sentences or not weights[best]:
        return ""
    names = {"focus": scene.focus_word, "best": scene.key_word(best)}
    return lesson("tokens/why-attention", weight=weights[best], **names)


STEP = Step(
    key="tokens",
    name=message("Tokens"),
    title=message("Cut the sentence into tokens"),
    own_title=_own_title,
    formula=_formula,
    words=_words,
    guess=_guess,
    why=message("What is attention for?"),
    whys=_whys,
    aside=_note,
    strips=_strips,
    code=_code,
    shapes=_shapes,
    has_head_grid=False,
    where="input",
    questions=("equal", "rows", "cost", "turned", "shape"),
)
