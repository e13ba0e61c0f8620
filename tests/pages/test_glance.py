import pytest
from streamlit.runtime.state import SessionState
from streamlit.testing.v1 import AppTest

from attention.ui.glance import Glance, look_at_one_value

look_at_one_value()


def fields():
    import streamlit as st

    if st.button("forget", key="forget"):
        st.session_state.update({"field": None, "list": None})
    st.text_input("Field", value="first", key="field")
    st.selectbox("List", ["a", "b"], key="list")
    st.text_input("Without a key")


def test_fields_and_lists_show_what_they_did_before():
    """A value of None is the one thing that is asked of the values: then nothing is shown, not what came first."""
    app = AppTest.from_function(fields).run()
    assert (app.text_input(key="field").value, app.selectbox(key="list").value) == ("first", "a")
    app.text_input(key="field").set_value("second")
    app.selectbox(key="list").set_value("b").run()
    assert (app.text_input(key="field").value, app.selectbox(key="list").value) == ("second", "b")
    app.button(key="forget").click().run()
    assert (app.text_input(key="field").value, app.selectbox(key="list").value) == (None, None)
    assert not app.exception


@pytest.mark.parametrize("key", ["said", "nothing", "never"])
def test_a_glance_tells_of_one_value_what_the_whole_tells(key):
    state = SessionState()
    state["said"], state["nothing"] = "x", None
    glance = Glance(state).filtered_state
    assert (key in glance) == (key in state.filtered_state)
    if key in glance:
        assert glance[key] == state.filtered_state[key]
