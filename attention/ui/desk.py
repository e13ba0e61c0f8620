"""Which of the values that a browser sends are choices: a protocol between a page and its browser, without Streamlit.

With every press a browser sends the values of all widgets as it knows them. People press faster than answers come, so a
message may come from a page that is drawn anew just then, and its values may be those of before. To tell what was
chosen from what is only repeated, each run of a page has a number. At its beginning and at its end, the page draws that
number, and the browser says both with every message: what was drawn at the number at the end is whole, and what comes
later, up to the number at the beginning, is on its way. A value is a choice if it differs from what the browser said
before, from what it was told to show since, and from what is just on its way.

A message may be dropped when the next one overtakes it. Nothing is lost by that: values travel with every message,
and count against the last message that was taken whole (``commit``). And what the browser shows already is not said
to it again, for it may have been changed there meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

__all__ = ["Choice", "Desk", "Drawn", "Heard", "Offer", "Take"]

# So many runs are remembered of which the browser has not said that it has drawn them.
MAX_RUNS = 64

Take = Callable[[Any], None]
_NOTHING = object()


@dataclass(frozen=True, slots=True)
class Offer:
    """What a page offers to choose: the value that it shows, and what takes another one.

    A press is an event and shows no value. It says on which page it was made. ``is_said`` tells whether the
    browser is told to show the value, or does so already.
    """

    value: Any
    take: Take
    is_press: bool = False
    is_said: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that was chosen, and what takes it; whether the browser has drawn by itself what comes of it."""

    key: str
    value: Any
    take: Take
    is_drawn: bool = False

    def apply(self) -> None:
        """Take it."""
        self.take(self.value)


@dataclass(frozen=True, slots=True)
class Drawn:
    """How far a browser has drawn the page: the run that is whole, and the last one that is begun."""

    whole: int = 0
    begun: int = 0


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message says: the values, how far the page is drawn, and the choices among the values.

    ``unseen`` are choices that were taken before, of which the browser had not seen the answer.
    """

    said: Mapping[str, Any] = field(default_factory=dict)
    drawn: Drawn = field(default_factory=Drawn)
    choices: tuple[Choice, ...] = ()
    unseen: tuple[Choice, ...] = ()


class Desk:
    """What was shown to one browser, and what it has said."""

    def __init__(self) -> None:
        """Begin with nothing shown."""
        self.run = 0
        self._shown: dict[int, dict[str, Offer]] = {0: {}}
        self._heard = Heard()
        # The first run of the page that is open: a browser draws all widgets of another page anew.
        self._turned = 1
        # What the head of the page offers, once it is drawn.
        self._head: dict[str, Offer] | None = None
        # The last press of which a browser has said nothing but that it has drawn the answer.
        self._drawn_press: object = None

    def turn(self) -> None:
        """Note that the next run is of another page."""
        self._turned = self.run + 1

    def begin(self) -> int:
        """Begin a run of the page and return its number."""
        self.run += 1
        self._head = None
        self._shown[self.run] = {}
        for run in [run for run in self._shown if run <= self.run - MAX_RUNS]:
            del self._shown[run]
        return self.run

    def end_head(self) -> None:
        """Note that what was offered in this run until now stays where only the rest of the page runs again."""
        self._head = {key: replace(offer, is_said=False) for key, offer in self._shown[self.run].items()}

    def begin_part(self) -> bool:
        """Begin a run of the page below its head; tell whether there is a head, without which none begins."""
        head = self._head
        if head is None:
            return False
        self._shown[self.begin()] = dict(head)
        self._head = head
        return True

    def offer(self, key: str, offer: Offer) -> bool:
        """Note what is shown in this run; tell whether the browser has to be told."""
        is_said = not self._is_shown(key, offer)
        self._shown[self.run][key] = replace(offer, is_said=is_said)
        return is_said

    def offer_presses(self, acts: Mapping[str, Take]) -> None:
        """Note what a browser that has gone on by itself offers beside what the last run has shown it."""
        self._shown[self.run] |= {key: Offer(None, take, is_press=True) for key, take in acts.items()}

    def is_drawn_now(self, key: str, said: object) -> bool:
        """Tell whether something is said for the first time, and it is a press whose answer the browser has drawn."""
        if not isinstance(said, Mapping) or said.get("drawn") is not True or key not in self.offers():
            return False
        if said in (self._drawn_press, self._heard.said.get(key)):
            return False
        self._drawn_press = said
        return True

    def offers(self) -> dict[str, Offer]:
        """Return what has been offered in the runs that the browser may still show; the newest of each."""
        return {key: offer for run in sorted(self._shown) for key, offer in self._shown[run].items()}

    def hear(self, values: Mapping[str, Any], marks: tuple[object, ...] = ()) -> Heard:
        """Tell the choices among the values of a message; nothing is remembered before ``commit``.

        ``marks`` are the numbers that the page has drawn, as the browser says them: at the beginning, at the end, and
        before the part of it that may run again by itself.
        """
        heard = Heard({**self._heard.said, **values}, self._drawn(*marks))
        known = self._known(heard)
        choices = []
        offers = self._made_on(heard.drawn.whole)
        for key, offer in offers.items():
            if key not in values:
                continue
            value = values[key]
            if offer.is_press:
                if self._is_new_press(value, self._heard.said.get(key)):
                    choices.append(Choice(key, value.get("value"), offer.take, value.get("drawn") is True))
            # Of what was never shown to it, a browser cannot say what was chosen.
            elif key in known and value not in known[key]:
                choices.append(Choice(key, value, offer.take))
        # Of two presses in one message, the later one has the last word.
        choices.sort(key=lambda choice: _order(values[choice.key]) if offers[choice.key].is_press else 0)
        is_same_page = heard.drawn.whole == self._heard.drawn.whole
        return replace(heard, choices=tuple(choices), unseen=self._heard.unseen if is_same_page else ())

    def commit(self, heard: Heard) -> None:
        """Remember a message whose choices have all been taken."""
        self._heard = replace(heard, choices=(), unseen=heard.unseen + heard.choices)
        for run in [run for run in self._shown if run < heard.drawn.whole]:
            del self._shown[run]

    def _made_on(self, run: int) -> dict[str, Offer]:
        """Return what could be chosen on the page of a run; what came later, by its newest offer."""
        return self.offers() | self._shown.get(run, {})

    def _known(self, heard: Heard) -> dict[str, list[Any]]:
        """Return what each widget may show without anybody's choice: what it said before, or was told to show since.

        What it had begun to draw when it spoke last may have come before or after what it said.
        """
        known: defaultdict[str, list[Any]] = defaultdict(list)
        for key, value in self._heard.said.items():
            known[key] = [value]
        for run in sorted(self._shown):
            for key, offer in self._shown[run].items():
                before, now = self._heard.drawn, heard.drawn
                if offer.is_press or not offer.is_said or not before.whole < run <= now.begun:
                    continue
                if before.begun < run <= now.whole:
                    known[key] = []
                known[key].append(offer.value)
        return known

    def _is_shown(self, key: str, offer: Offer) -> bool:
        """Tell whether a browser shows a value already, and nothing that is on its way to it says another one."""
        before = self._shown.get(self.run - 1, {}).get(key) if self._turned < self.run else None
        if before is None or self._heard.said.get(key, _NOTHING) != offer.value:
            return False
        whole = self._heard.drawn.whole
        later = [self._shown[run].get(key) for run in self._shown if whole < run < self.run]
        return all(each is None or not each.is_said or each.value == offer.value for each in later)

    def _drawn(self, before: object = None, after: object = None, below: object = None) -> Drawn:
        """Read the numbers of a page; a browser can say anything."""
        whole = self._number(after, self._heard.drawn.whole)
        return Drawn(whole, max(whole, self._number(before, whole), self._number(below, whole)))

    def _number(self, said: object, otherwise: int) -> int:
        """Read the number of a run that the browser may have drawn."""
        is_number = isinstance(said, str) and said.isascii() and said.isdecimal() and len(said) < 10
        return int(said) if is_number and int(said) in self._shown else otherwise  # type: ignore[call-overload]

    def _is_new_press(self, value: Any, before: object) -> TypeGuard[Mapping[str, Any]]:
        """Tell whether a press has not been heard of before.

        One at a place of which nothing was heard before counts if it was made on a page that is still to be seen, or
        before any page was whole: a browser may also remember a press of long ago.
        """
        if not isinstance(value, Mapping) or value == before:
            return False
        on = value.get("on", "")
        return before is not None or on == "" or self._number(on, -1) >= self._heard.drawn.whole


def _order(press: Mapping[str, Any]) -> int:
    """Return the number that a browser gives to a press, one more with each; a browser can say anything."""
    number = press.get("press")
    return number if type(number) is int else 0
