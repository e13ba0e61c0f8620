"""A widget's look at its own value, without evaluating those of all others, and all that a message or a component says.

Before a field or a list is drawn, Streamlit checks whether its value was set to None, and for that evaluates the values
of all widgets on the page: eleven times in a step, a sixth of the time that the step takes. There is no public way to
ask for a single value there, so this patches a private function of the pinned version.

Of what a component sends, Streamlit shows a page only what there is a callback for. A browser may draw a component by
itself (:mod:`attention.ui.leaf`), with other acts than those that the server knows of; what they do is checked anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamlit.components.v2.bidi_component import main as components
from streamlit.elements.widgets import selectbox, text_widgets
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SafeSessionState, get_session_state
from streamlit.runtime.state.common import user_key_from_element_id

__all__ = ["Glance", "look_at_one_value", "name_as_the_message_does", "see_all_that_is_sent"]


@dataclass(frozen=True, slots=True)
class Glance:
    """The values of a session's widgets, each evaluated on demand."""

    state: SafeSessionState

    @property
    def filtered_state(self) -> Glance:
        """Return the values by the widgets' keys, under the name that Streamlit uses."""
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
    """Make fields and lists look only at their own value."""
    for module in (text_widgets, selectbox):
        module.get_session_state = lambda: Glance(get_session_state())  # type: ignore[attr-defined]


def name_as_the_message_does() -> None:
    """Let each key stand for the widget of which the message tells.

    A key is another widget on each page, and stands for that of the page that was drawn last. A browser that has not
    seen it yet speaks of those of the page before.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    state = context.session_state._state
    for widget_id in list(state._new_widget_state.states):
        key = user_key_from_element_id(widget_id)
        if key is not None and widget_id in state._new_widget_state.widget_metadata:
            state._key_id_mapper[key] = widget_id


def see_all_that_is_sent() -> None:
    """Let the value of a component be all that its script has sent."""
    components.make_bidi_component_presenter = _as_it_is  # type: ignore[attr-defined, assignment]


def _as_it_is(*_: Any) -> Callable[[Any, Any], Any]:
    return lambda value, _: value
