"""The result of the run: the text written, or the digit that a picture was classified as."""

from __future__ import annotations

from collections.abc import Sequence

from attention.core.messages import message
from attention.lesson.outcome import tell_alignment, tell_answer, tell_written
from attention.models.cards import card_of
from attention.page.blocks import Blocks, Heading, Prose
from attention.page.content.pane import Pane
from attention.page.view import View


def outcome(view: View, panes: Sequence[Pane]) -> Blocks:
    """Return each pane's generated text and answer, if any."""
    found: list[Prose] = []
    for pane in panes:
        if pane.whole is None or pane.found is None:
            continue
        if pane.whole.decoder is not None:
            found.append(Prose(tell_written(pane.whole, is_given=bool(view.pair))))
        answer = pane.found.answer()
        if answer is not None:
            found.append(Prose(tell_answer(answer, pane.info.name, card_of(pane.info.model_id).digits)))
    return tuple(found)


def alignment(panes: Sequence[Pane]) -> Blocks:
    """Return how often a head of a translator's cross-attention finds the right word."""
    found: list[Heading | Prose] = []
    for pane in panes:
        card = card_of(pane.info.model_id).translator
        if pane.scene is None or pane.address is None or card is None or card.part != pane.address.part:
            continue
        found += [Heading(message("Which word does each row find?"), 3), Prose(tell_alignment(pane.scene, card))]
    return tuple(found)
