"""The result of a run: the text that a decoder wrote, or the digit that a picture was classified as."""

from __future__ import annotations

import numpy as np

from attention.core.steps import softmax
from attention.core.trace import Trace
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import SMALLEST_TOLD, fact, lesson, typed, word
from attention.models.base import Answer
from attention.models.cards import DigitsCard, TranslatorCard


def tell_written(whole: Trace, is_given: bool) -> str:
    """Return as HTML the text that an encoder–decoder wrote or, if it ``is_given``, read."""
    assert whole.decoder is not None
    model = word(whole.info.name)
    if not whole.decoder.text:
        # A decoder may stop at once, after its start token.
        return lesson("outcome/written-nothing", model=model)
    return lesson(
        "outcome/written-given" if is_given else "outcome/written", model=model, text=typed(whole.decoder.text)
    )


def tell_alignment(scene: HeadContext, card: TranslatorCard) -> str:
    """Return as HTML how often a head of the translator's cross-attention is right, according to its card."""
    place = {"layer": scene.layer + 1, "head": scene.head + 1}
    share = _percent(card.alignment[scene.layer][scene.head])
    told = lesson("outcome/alignment", share=share, **place)
    if (scene.layer, scene.head) != (card.best_layer, card.best_head):
        told += lesson(
            "outcome/alignment-best",
            layer=card.best_layer + 1,
            head=card.best_head + 1,
            share=_percent(card.alignment[card.best_layer][card.best_head]),
        )
    return told + lesson(
        "outcome/alignment-measured",
        content_words=f"{card.n_content_words:,}",
        sentences=f"{card.n_sentences:,}",
        exact=_percent(card.exact_match),
        words=card.n_words,
    )


def tell_answer(answer: Answer, model: str, card: DigitsCard | None) -> str:
    """Return as HTML the digit that a picture was classified as, and its probability."""
    probabilities = softmax(answer.logits)
    first, second = np.argsort(-probabilities, kind="stable")[:2]
    facts = {
        "model": word(model),
        "answer": word(answer.labels[first]),
        "probability": fact(float(probabilities[first])),
    }
    runner_up = float(probabilities[second])
    if runner_up < SMALLEST_TOLD:
        text = lesson("outcome/answer-alone", smallest=str(SMALLEST_TOLD), **facts)
    else:
        text = lesson("outcome/answer", second=word(answer.labels[second]), second_probability=fact(runner_up), **facts)
    if card is None:
        return text
    return text + lesson("outcome/answer-digits", accuracy=_percent(card.accuracy), pictures=card.n_pictures)


def _percent(share: float) -> str:
    return f"<b>{100 * share:.1f}%</b>"
