"""The kinds of notebooks: their names, and how they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from attention.core.messages import message
from attention.export.notebook.by_hand import by_hand
from attention.export.notebook.cells import Cell, Text, plain, written
from attention.export.notebook.with_model import with_model
from attention.page.content.pane import Pane


def _by_hand(pane: Pane) -> tuple[Cell, ...]:
    assert pane.scene is not None
    return by_hand(pane.scene, None if pane.found is None else pane.found.added())


def _with_model(pane: Pane) -> tuple[Cell, ...]:
    assert pane.scene is not None
    assert pane.whole is not None
    assert pane.address is not None
    return with_model(pane.scene, pane.whole, pane.address)


@dataclass(frozen=True, slots=True)
class Notebook:
    """A kind of notebook: its label in the menu, its file's name, and the function from a pane to cells."""

    label: str
    file: str
    make: Callable[[Pane], tuple[Cell, ...]]

    def written(self, pane: Pane, notes: Sequence[str] = ()) -> str:
        """Return the notebook of a pane as a file, with ``notes`` below the opening.

        Raises:
            ValueError: nothing ran for this pane.
        """
        if pane.scene is None:
            raise ValueError(str(pane.reason or " ".join(pane.notices)))
        opening, *rest = self.make(pane)
        noted = [Text(plain(note)) for note in notes]
        return written(f"{self.label}: {pane.scene.place}", (opening, *noted, *rest))


NOTEBOOKS: Mapping[str, Notebook] = MappingProxyType(
    {
        "notebook": Notebook(message("Open as a notebook (.ipynb)"), "attention-by-hand.ipynb", _by_hand),
        "notebook-model": Notebook(
            message("Notebook that runs the model (.ipynb)"), "attention-recorded.ipynb", _with_model
        ),
    }
)
