"""Which of the values that a browser sends are choices: a protocol between a page and its browser, without Streamlit.

With every press a browser sends the values of all widgets as it knows them. People press faster than answers come,
so a message may come from a page that is drawn anew just then, and its values may be those of before. To tell what
was chosen from what is only repeated, each run of a page has a number. The page draws it twice, first and last, and
the browser says both with every message: what was drawn at its *last* number is whole, and what comes after that, up
to its *first* number, is on its way. A value is a choice if it differs from what the browser said before, or, once it
has drawn a newer page, from what was drawn there; and if it is not just on its way.

A message may be dropped when the next one overtakes it. Nothing is lost by that: values travel with every message,
and count against the last message that was taken whole (``commit``). And what the browser shows already is not said
to it again, for it may have been changed there meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

__all__ = ["Choice", "Desk", "Heard", "Offer"]

# So many runs are remembered of which the browser has not said that it has drawn them.
MAX_RUNS = 64

Take = Callable[[Any], None]
_NOTHING = object()


@dataclass(frozen=True, slots=True)
class Offer:
    """What a page offers to choose: the value that it shows, and what takes another one.

    A press is an event and shows no value. It says on which page it was made. ``options`` stands for what there is to
    choose from; ``is_said`` tells whether the browser is told to show the value, or does so already.
    """

    value: Any
    take: Take
    is_press: bool = False
    options: object = None
    is_said: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that was chosen, and what takes it."""

    key: str
    value: Any
    take: Take

    def apply(self) -> None:
        """Take it."""
        self.take(self.value)


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message says: the values, the last page that is drawn whole, and the choices among them.

    ``unseen`` are choices that were taken before, of which the browser had not seen the answer.
    """

    said: Mapping[str, Any]
    acknowledged: int
    choices: tuple[Choice, ...]
    unseen: tuple[Choice, ...]


class Desk:
    """What was shown to one browser, and what it has said."""

    def __init__(self) -> None:
        """Begin with nothing shown."""
        self.run = 0
        self.is_closed = False
        self._shown: dict[int, dict[str, Offer]] = {0: {}}
        self._said: Mapping[str, Any] = {}
        self._acknowledged = 0
        self._unseen: tuple[Choice, ...] = ()
        # The first run of the page that is open: a browser draws all widgets of another page anew.
        self._turned = 1

    def turn(self) -> None:
        """Note that the next run is of another page."""
        self._turned = self.run + 1

    def begin(self) -> int:
        """Begin a run of the page and return its number."""
        self.run += 1
        self.is_closed = False
        self._shown[self.run] = {}
        for run in [run for run in self._shown if run <= self.run - MAX_RUNS and run != self._acknowledged]:
            del self._shown[run]
        return self.run

    def offer(self, key: str, offer: Offer) -> bool:
        """Note what is shown in this run, and tell whether the browser has to be told."""
        is_said = not self._is_shown(key, offer)
        self._shown[self.run][key] = replace(offer, is_said=is_said)
        return is_said

    def _is_shown(self, key: str, offer: Offer) -> bool:
        """Tell whether a browser shows a value already, and nothing that is on its way to it says another one."""
        before = self._shown[self.run - 1].get(key) if self._turned < self.run else None
        if before is None or before.options != offer.options or self._said.get(key, _NOTHING) != offer.value:
            return False
        later = [self._shown[run].get(key) for run in range(self._acknowledged + 1, self.run) if run in self._shown]
        return all(each is None or not each.is_said or each.value == offer.value for each in later)

    def offers(self) -> dict[str, Offer]:
        """Return what has been offered in the runs that the browser may still show; the newest of each."""
        return {key: offer for run in sorted(self._shown) for key, offer in self._shown[run].items()}

    def hear(self, values: Mapping[str, Any], first: object, last: object) -> Heard:
        """Tell the choices among the values of a message; nothing is remembered before ``commit``."""
        drawn = self._number(last, self._acknowledged)
        begun = max(drawn, self._number(first, drawn))
        whole = self._shown[drawn]
        on_their_way = [self._shown[run] for run in range(drawn + 1, begun + 1) if run in self._shown]
        base = dict(self._said)
        if drawn != self._acknowledged:
            base |= {key: offer.value for key, offer in whole.items() if not offer.is_press}
        choices = []
        for key, offer in (self.offers() | whole).items():
            if key not in values:
                continue
            value = values[key]
            if offer.is_press:
                if self._is_new_press(value, base.get(key)):
                    choices.append(Choice(key, value.get("value"), offer.take))
                continue
            known = [shown[key].value for shown in on_their_way if key in shown and shown[key].is_said]
            known += [base[key]] if key in base else []
            # Of what was never shown to it, a browser cannot say what was chosen.
            if known and value not in known:
                choices.append(Choice(key, value, offer.take))
        unseen = self._unseen if drawn == self._acknowledged else ()
        return Heard({**base, **values}, drawn, tuple(choices), unseen)

    def commit(self, heard: Heard) -> None:
        """Remember a message whose choices have all been taken."""
        self._unseen = heard.unseen + heard.choices
        self._said = heard.said
        self._acknowledged = heard.acknowledged
        for run in [run for run in self._shown if run < heard.acknowledged]:
            del self._shown[run]

    def _number(self, said: object, otherwise: int) -> int:
        """Read the number of a run that the browser may have drawn; a browser can say anything."""
        if (
            isinstance(said, str)
            and said.isascii()
            and said.isdecimal()
            and len(said) < 10
            and int(said) in self._shown
        ):
            return int(said)
        return otherwise

    def _is_new_press(self, value: Any, before: object) -> TypeGuard[Mapping[str, Any]]:
        """Tell whether a press has not been heard of before.

        One at a place of which nothing was heard before counts if it was made on a page that is still to be seen, or
        before any page was whole: a browser may also remember a press of long ago.
        """
        if not isinstance(value, Mapping) or value == before:
            return False
        on = value.get("on", "")
        return before is not None or on == "" or self._number(on, -1) >= self._acknowledged
