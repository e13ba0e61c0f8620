"""A widget's glance at its own value, without a look at everybody else's.

Before a field or a list is drawn, Streamlit asks whether its value was set to None, and for that makes the values of
all widgets of the page: eleven times in a step, a sixth of the time that the step takes. There is no public way to ask
for one value there, so this is one private one, of the version that is pinned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamlit.elements.widgets import selectbox, text_widgets
from streamlit.runtime.state import SafeSessionState, get_session_state

__all__ = ["Glance", "look_at_one_value"]


@dataclass(frozen=True, slots=True)
class Glance:
    """The values of a session's widgets, each made when it is asked for."""

    state: SafeSessionState

    @property
    def filtered_state(self) -> Glance:
        """Return the values by the widgets' keys, as Streamlit asks for them."""
        return self

    def __contains__(self, key: str) -> bool:
        """Tell whether the widget with this key has a value."""
        try:
            self.state[key]
        except KeyError:
            return False
        return True

    def __getitem__(self, key: str) -> Any:
        """Return the value of the widget with this key."""
        return self.state[key]


def look_at_one_value() -> None:
    """Have fields and lists look at their own value alone."""
    for module in (text_widgets, selectbox):
        module.get_session_state = lambda: Glance(get_session_state())  # type: ignore[attr-defined]
