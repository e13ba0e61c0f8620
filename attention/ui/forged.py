"""What a browser can say of a widget that no widget of ours ever says: it counts as nothing said.

Streamlit takes a value as it comes, and a widget that is sent a value of another kind fails inside of Streamlit, for
every later message too. Nobody does that by accident; but nothing that a browser says shall raise. There is no public
place to look at a message before Streamlit does, so this is one private one, of the version that is pinned.
"""

from __future__ import annotations

from typing import Any

from streamlit.runtime.state.session_state import Serialized, WStates

__all__ = ["ignore_forged_values"]

_deserialised = WStates.__getitem__


def ignore_forged_values() -> None:
    """Let a value that its widget cannot read count as not sent: the widget shows what it is given."""
    WStates.__getitem__ = _read  # type: ignore[method-assign]


def _read(self: WStates, widget_id: str) -> Any:
    state, metadata = self.states.get(widget_id), self.widget_metadata.get(widget_id)
    if not isinstance(state, Serialized) or metadata is None:
        return _deserialised(self, widget_id)
    if state.value.WhichOneof("value") != metadata.value_type:
        raise KeyError(widget_id)
    try:
        return _deserialised(self, widget_id)
    except (ValueError, TypeError, LookupError, RecursionError, AttributeError):
        # Without what was said, which may be anything.
        raise KeyError(widget_id) from None
