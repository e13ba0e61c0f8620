"""Widget values that a browser can send but no widget of this app ever does: they count as not sent.

Streamlit does not check values. A value of the wrong kind makes a widget fail inside Streamlit, and again with every
later message. That does not happen by accident, but nothing that a browser sends may raise an error. There is no public
way to see a message before Streamlit does, so this patches a private function of the pinned version.
"""

from __future__ import annotations

from typing import Any

from streamlit.runtime.state.session_state import Serialized, WStates

__all__ = ["ignore_forged_values"]

_deserialised = WStates.__getitem__


def ignore_forged_values() -> None:
    """Let a value that its widget cannot read count as not sent: the widget keeps the value that it was given."""
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
        # Without the value in the message, because it may be anything.
        raise KeyError(widget_id) from None
