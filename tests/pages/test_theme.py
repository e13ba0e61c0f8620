import pytest
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from attention.ui import theme


@pytest.mark.parametrize("section", ["theme", "theme.light", "theme.dark", "theme.sidebar"])
def test_the_kept_theme_is_the_one_that_streamlit_makes_of_its_options(section, monkeypatch):
    monkeypatch.setattr(app_session, "_populate_theme_msg", theme._populate)
    made, kept = CustomThemeConfig(), CustomThemeConfig()
    app_session._populate_theme_msg(made, section)
    theme.keep_theme()
    # The second time, too.
    for message in (CustomThemeConfig(), kept):
        app_session._populate_theme_msg(message, section)
    assert kept == made
    assert (kept.ByteSize() > 0) == (section != "theme.sidebar")


def test_a_section_without_options_does_not_count_as_a_theme():
    whole = CustomThemeConfig()
    theme._put_in(whole.sidebar, "theme.sidebar")
    assert not whole.HasField("sidebar")
