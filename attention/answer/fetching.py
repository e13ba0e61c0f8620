"""The actions of the page Models: fetch a model, cancel a download, remove a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attention.answer import state
from attention.answer.cache import downloads, shelf
from attention.answer.once import Owned, once
from attention.core.messages import message
from attention.models import hub
from attention.models.catalogue import catalogue
from attention.models.downloads import State
from attention.models.hub import HubError
from attention.page.blocks import Notice
from attention.page.content.models import EXAMPLE
from attention.page.view import View
from attention.training.jobs import FETCH, REMOVE, Task

# A model used within this time counts as in use: a user may be reading its results.
IDLE_SECONDS = 60.0


@dataclass(slots=True)
class _Own:
    """One visitor's downloads, reported when they end, and notices about the last press, valid for one view."""

    followed: frozenset[str] = frozenset()
    told: tuple[Notice, ...] = ()
    view: View = field(default_factory=View)


def fetches() -> Mapping[str, State]:
    """Return the running downloads, and those the visitor has seen running, by model ID."""
    own = _own()
    found = {each.model_id: each.state() for each in downloads().all()}
    own.followed |= frozenset(model_id for model_id, each in found.items() if not each.is_over)
    return {model_id: each for model_id, each in found.items() if model_id in own.followed}


def told() -> tuple[Notice, ...]:
    """Return the notices about the last press."""
    own = _own()
    return own.told if own.told and own.view == state.current() else ()


def press(task: Task, arguments: tuple[str, ...], wish: object) -> None:
    """Start, cancel or remove; invalid requests are ignored."""
    match (task.name, wish, arguments):
        case (FETCH.name, "start", (model_id,)):
            _note(_start(model_id))
        case (FETCH.name, {"start": str(typed)}, ()):
            _note(_start_typed(typed))
        case (FETCH.name, "stop", (model_id,)):
            for each in downloads().all():
                if each.model_id == model_id:
                    each.cancel()
        case (REMOVE.name, "start", (model_id,)):
            _note(_remove(model_id))


def _start_typed(typed: str) -> Notice | None:
    if not typed.strip():
        return Notice(message("Type a model ID first, such as {example}.", example=EXAMPLE))
    try:
        return _start(hub.check_id(typed))
    except HubError as error:
        return Notice(str(error))


def _start(model_id: str) -> Notice | None:
    try:
        downloads().start(model_id)
    except HubError as error:
        return Notice(str(error))
    _own().followed = frozenset({model_id})
    return None


def _remove(model_id: str) -> Notice | None:
    entry = next((each for each in catalogue() if each.model_id == model_id), None)
    if entry is None or entry.kept is None:
        return None
    name = entry.name
    # Prevent others from loading a model that is being deleted.
    with shelf().kept_out(model_id, IDLE_SECONDS) as is_out:
        if not is_out:
            return Notice(message("{name} is in use. Try again later.", name=name))
        try:
            hub.remove(entry.kept)
        except OSError as error:
            reason = error.strerror or str(error)
            return Notice(message("Couldn't remove {name}: {reason}.", name=name, reason=reason))
    return Notice(message("{name} is no longer on disk.", name=name), is_news=True)


def _note(told: Notice | None) -> None:
    own = _own()
    own.told, own.view = () if told is None else (told,), state.current()


@once
def _owned() -> Owned[_Own]:
    return Owned(_Own)


def _own() -> _Own:
    name = state.visitor()
    return _owned().of(name) if name else _Own()
