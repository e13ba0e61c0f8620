"""What the app draws below the head of a page that is made of blocks, made from a link without Streamlit."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attention.content.pane import Pane
from attention.content.registry import CONTENTS, page_file
from attention.models import list_models
from attention.pages import Page
from attention.ui import drawing, frame, state
from attention.ui.running import is_unread, load_silently, run_page
from attention.view import View

__all__ = ["Drawn", "drawn"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page of a link: its view, what is said of the link and of the runs, the runs, the data of the components.

    Where a text is missing, nothing is run and there is no component. ``file`` is the page with all that can be
    opened, if that was wanted.
    """

    view: View
    notices: tuple[str, ...]
    panes: tuple[Pane, ...] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""

    @property
    def proofs(self) -> list[bool]:
        """For each run, whether it gives what the model itself gave."""
        return [pane.proof.holds for pane in self.panes if pane.proof is not None]


def drawn(page: Page, query: Mapping[str, str], *, with_file: bool = False) -> Drawn:
    """Return what a browser gets for a link, as plain data; the page must be made of blocks."""
    models = {info.model_id: info for info in list_models()}
    linked, said = View.from_query(query, page, models)
    view = CONTENTS[page].opening(linked)
    if is_unread(view):
        return Drawn(view, tuple(said))
    with state.imagined(view):
        panes = run_page(frame.as_seen(view), load_silently)
        laid = frame.all_parts(view, panes, {})
    parts = {part.key: json.loads(json.dumps(part.data)) for part in drawing.parts_of(laid)}
    notices = (*said, *(told for pane in panes for told in pane.notices))
    return Drawn(view, notices, tuple(panes), parts, page_file(view, panes) if with_file else "")
