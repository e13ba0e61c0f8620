"""A page for tests, whose parameter is known only by its declaration."""

from attention.page.blocks import Setting
from attention.page.page import Page
from attention.page.parameters import Choice, Number, Parameter

COLOUR: Parameter[str] = Parameter("colour", Choice(lambda _: ("red", "green", "blue")), "red", resets=("shade",))
SHADE: Parameter[int | None] = Parameter("shade", Number(lambda context: context.info.n_heads, first=1), None)
MADE_UP = Page("made_up", "Made up", "Labs", "What nobody needs.", own=(COLOUR, SHADE))


def make(view, panes, *, whole=False):
    """Return the blocks of the page."""
    colours = {colour: colour.title() for colour in ("red", "green", "blue")}
    shades = {number: str(number + 1) for number in range(3)}
    return (
        Setting(COLOUR, "Colour", view[COLOUR], colours, is_list=True),
        Setting(SHADE, "Shade", view[SHADE] or 0, shades),
    )
