"""The name of a model beside another one, and the choice of its layer and head."""

from __future__ import annotations

from attention.core.messages import message
from attention.page.blocks import Blocks, Heading, Section, Setting
from attention.page.content.pane import Pane
from attention.page.parameters import Parameter


def place_of(pane: Pane) -> Blocks:
    """Return the model's name and, if it ran, the choice of its layer and head."""
    scene, chosen = pane.scene, pane.settings
    name = Heading(pane.info.name, 3)
    if scene is None:
        return (name,)
    info = scene.info
    choices = (
        _numbered(message("Layer"), chosen.layer, info.n_layers, scene.layer),
        _numbered(message("Head"), chosen.head, info.n_heads, scene.head),
    )
    place = message("{name}, layer {layer}, head {head}", name=info.name, **scene.numbers)
    return (Section(f"{pane.name}_place", (name, *choices), is_line=True, on_paper=place),)


def _numbered(label: str, parameter: Parameter[int | None], count: int, value: int) -> Setting:
    options = {index: message("{number} of {count}", number=index + 1, count=count) for index in range(count)}
    return Setting(parameter, label, value, options, is_list=True)
