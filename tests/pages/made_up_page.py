"""A page of the tests: all that is known of its parameter is its declaration."""

from attention.pages import Page
from attention.parameters import Choice, Number, Parameter
from attention.ui import state
from attention.ui.lines import Line
from attention.ui.masthead import masthead, notices

COLOUR: Parameter[str] = Parameter("colour", Choice(lambda _: ("red", "green", "blue")), "red", resets=("shade",))
SHADE: Parameter[int | None] = Parameter("shade", Number(lambda context: context.info.n_heads, first=1), None)
MADE_UP = Page("made_up", "Made up", "Labs", "What nobody needs.", own=(COLOUR, SHADE))


def show():
    """Draw the page."""
    view = masthead(MADE_UP)
    notices()
    line = Line("look", "content").group("Look")
    line.list(COLOUR, "Colour", ("red", "green", "blue"), ("red", "green", "blue"))
    line.list(SHADE, "Shade", range(3), ("1", "2", "3"), value=view[SHADE] or 0, look="choice")
    line.draw()
    state.close_page()
