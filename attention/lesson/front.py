"""The front page's question, and the word that it is about."""

from __future__ import annotations

from dataclasses import replace

from attention.core.words import CONTINUES, special_names
from attention.lesson.head_context import HeadContext
from attention.lesson.initial_selection import piece_tokens, telling_word
from attention.lesson.noun_tagger import grammar_tokens, noun_tokens, pronouns_of
from attention.lesson.prose import lesson, word
from attention.lesson.quiz import Guess, highest, words_of

# The least weight of a word that stands out.
_TELLING = 0.2


def telling(scene: HeadContext) -> HeadContext:
    """Return the scene with an informative word in focus if the word is a piece or a function word."""
    mere = grammar_tokens(scene.tokens) | piece_tokens(scene.tokens)
    is_mere = scene.info.reading.takes_sentences and scene.word in mere
    return replace(scene, word=telling_word(scene.trace)) if is_mere else scene


def linking(scene: HeadContext) -> HeadContext | None:
    """Return the scene in the head that links the word in focus to another most; None if no head does.

    The other word has the largest weight of the row, over all heads and not less than ``_TELLING``. For a pronoun, it
    is a noun before it; for other words, it is not a function word.
    """
    tokens, focus = scene.tokens, scene.word
    keys = {*words_of(tokens)} - grammar_tokens(tokens) - {focus}
    if focus in pronouns_of(tokens):
        keys = {key for noun in noun_tokens(tokens) for key in noun if key < focus}
    found = [
        (float(row.max()), layer, head)
        for layer, attention in scene.trace.attended.items()
        for head, row in enumerate(attention.steps().weights[:, focus])
        if int(row.argmax()) in keys
    ]
    weight, layer, head = max(found, default=(0.0, 0, 0))
    return replace(scene, layer=layer, head=head) if weight >= _TELLING else None


def guess(scene: HeadContext) -> Guess | None:
    """Ask which word the one in focus attends to most; None if the choice is trivial or no word stands out."""
    names, row = scene.key_names, scene.steps.weights[scene.word]
    asked = highest(
        scene,
        row,
        lesson("guess/front", focus=scene.focus_word),
        lambda key: lesson("guess/front-because", best=word(names[key]), weight=row[key]),
    )
    # Where no word stands out, the answer is a matter of luck.
    if asked is None or max(float(row[key]) for key in range(len(names)) if names[key] in asked.answers) < _TELLING:
        return None
    question = asked.question
    # The sentence is seen while the question is open.
    if any(token.text.startswith(CONTINUES) for token in scene.tokens):
        question += lesson("front/pieces")
    offered = (scene.key_tokens[names.index(answer)] for answer in asked.answers)
    for special in special_names(offered):
        question += lesson("guess/front-special", special=word(special))
    return replace(asked, question=question)
