"""A line of controls: one component that draws the browser's own menus, fields, lists and switches.

Each control shows a value of the view and changes it (:mod:`attention.answer.state`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeVar

from attention.answer import components, state
from attention.page.blocks import Setting
from attention.page.parameters import Parameter

T = TypeVar("T")
Data = dict[str, Any]
Take = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Examples:
    """Options that open under a field: their labels, and a handler for the chosen index."""

    name: str
    label: str
    labels: Sequence[str]
    chosen: int | None
    take: Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Field:
    """A text field, with examples and further fields that open under it.

    Where its text differs from the field ``unlike``, it is scrolled into view.
    """

    parameter: Parameter[Any]
    label: str
    hint: str = ""
    help: str = ""
    take: Callable[[str], None] | None = None
    examples: Examples | None = None
    more: tuple[Field, ...] = ()
    # The only words accepted.
    words: tuple[str, ...] = ()
    unlike: Parameter[Any] | None = None


@dataclass(slots=True)
class Line:
    """Groups of controls in one line; each group is one tab stop.

    ``network`` is the server's address for other machines; ``title`` is the page's, if nothing else shows it.
    """

    key: str
    look: Literal["header", "context", "content"] = "context"
    network: str = ""
    title: str = ""
    _groups: list[Data] = field(default_factory=list)
    _acts: dict[str, Take] = field(default_factory=dict)

    def group(self, label: str) -> Self:
        """Begin a group for the controls that follow."""
        self._groups.append({"label": label, "controls": []})
        return self

    def fold(self, label: str, *, is_changed: bool = False) -> Self:
        """Begin a group that opens under a button, which shows whether something in it ``is_changed``."""
        self._groups.append({"label": label, "fold": True, "changed": is_changed, "controls": []})
        return self

    def menu(self, name: str, label: str, items: Sequence[Mapping[str, Any]], *, is_here: bool = False) -> None:
        """Add a menu of pages, identified by address (see ``leads``), and of browser actions."""
        self._add({"kind": "menu", "name": name, "label": label, "current": is_here, "items": items})

    def act(self, name: str, item: Mapping[str, Any]) -> None:
        """Add one menu item as a button that is always visible."""
        self._add({"kind": "act", "name": name, "items": [item]})

    def note(self, name: str, text: str) -> None:
        """Add text in place of a field."""
        self._add({"kind": "note", "name": name, "text": text})

    def leads(self, take: Callable[[str], None]) -> None:
        """Set the handler for the address of a page chosen in any control of this line."""
        self._acts["page"] = _of_kind(str, take)

    def field(self, each: Field) -> None:
        """Add a field."""
        self._add(self._field(each))

    def list(
        self,
        parameter: Parameter[T],
        label: str,
        options: Sequence[T],
        labels: Sequence[str],
        *,
        value: T | None = None,
        name: str = "",
        help: str = "",
        take: Callable[[T], None] | None = None,
        page: tuple[str, str] | None = None,
        is_silent: bool = False,
        look: Literal["list", "choice", "scale"] = "list",
    ) -> None:
        """Add a list with one chosen option, identified as in a link.

        ``page`` is the address and label of a page that the list's last item opens. The label of a list that
        ``is_silent`` is hidden. A "choice" keeps all options visible; on a "scale" they are a slider's positions.
        """
        shown = state.current()[parameter] if value is None else value
        written = [parameter.kind.write(option) for option in options]
        name = name or parameter.name
        data: Data = {"kind": look, "name": name, "label": label, "help": help, "silent": is_silent}
        last = {} if page is None else {"page": page[0], "pageLabel": page[1]}
        self._add(data | last | {"options": list(labels), "values": written, "value": parameter.kind.write(shown)})
        self._acts[name] = _one_of(dict(zip(written, options, strict=True)), take or state.setter(parameter))

    def switch(
        self,
        parameter: Parameter[bool],
        label: str,
        *,
        help: str = "",
        is_button: bool = False,
        is_off: bool = False,
        take: Callable[[bool], None] | None = None,
    ) -> None:
        """Add a switch, or a button that stays pressed; ``is_off`` disables it."""
        kind, value = "button" if is_button else "switch", state.current()[parameter]
        data: Data = {"kind": kind, "name": parameter.name, "label": label, "value": value, "help": help}
        self._add(data | {"off": is_off})
        self._acts[parameter.name] = _of_kind(bool, take or state.setter(parameter))

    def setting(self, each: Setting, take: Take | None = None) -> None:
        """Add a control of the content: a choice of its options or, if it has none, a switch."""
        if not each.options:
            self.switch(each.parameter, each.label, help=each.help, is_off=each.is_off, take=take)
            return
        self.list(
            each.parameter,
            each.label,
            tuple(each.options),
            tuple(each.options.values()),
            value=each.value,
            name=each.key,
            help=each.help,
            take=take,
            is_silent=each.is_silent,
            look="list" if each.is_list else "scale" if each.is_scale else "choice",
        )

    def hear(self, parameter: Parameter[Any], take: Callable[[str], None]) -> None:
        """Set a handler for any text sent for a control, even if it is no longer an option."""
        self._acts[parameter.name] = _of_kind(str, take)

    def part(self) -> components.Part:
        """Return the line as a component."""
        groups = [group for group in self._groups if group["controls"]]
        data = {"name": self.look, "title": self.title, "network": self.network, "groups": groups}
        return components.Part("line", self.key, data, self._acts)

    def _add(self, control: Data) -> None:
        self._groups[-1]["controls"].append(control)

    def _field(self, each: Field) -> Data:
        name = each.parameter.name
        self._acts[name] = _of_kind(str, each.take or state.setter(each.parameter))
        data: Data = {"kind": "field", "name": name, "label": each.label, "hint": each.hint, "help": each.help}
        data |= {"value": state.written(each.parameter), "more": [self._field(more) for more in each.more]}
        if each.examples is not None:
            data["examples"] = self._examples(each.examples)
        if each.unlike is not None:
            data["unlike"] = each.unlike.name
        return data | ({"words": " ".join(each.words)} if each.words else {})

    def _examples(self, each: Examples) -> Data:
        self._acts[each.name] = _one_of({index: index for index in range(len(each.labels))}, each.take)
        chosen = -1 if each.chosen is None else each.chosen
        return {"name": each.name, "label": each.label, "labels": list(each.labels), "chosen": chosen}


def _of_kind(kind: type[T], take: Callable[[T], None]) -> Take:
    def check(said: object) -> None:
        if type(said) is kind:
            take(said)

    return check


def _one_of(options: Mapping[Any, T], take: Callable[[T], None]) -> Take:
    """Return a handler that accepts only these options."""

    def check(said: object) -> None:
        if type(said) in (int, str) and said in options:
            take(options[said])

    return check
