"""The catalogue: each model's facts, its availability, and downloads from the hub."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attention.core.messages import message
from attention.figures.bars import Bars
from attention.lesson.prose import lesson
from attention.models import hub
from attention.models.catalogue import Availability, Entry, catalogue
from attention.models.downloads import State
from attention.models.families import ARCHITECTURES, TEXT_PARTS
from attention.models.hub import Allowed
from attention.models.memory import allowed_bytes
from attention.page.blocks import Blocks, LongText, Notice, Picture, Prose, Row, Section, Way, Work
from attention.page.content.pane import Pane
from attention.page.pages import STEP_BY_STEP
from attention.page.settings import GET
from attention.page.view import View
from attention.training.jobs import FETCH, REMOVE

EXAMPLE = "google-bert/bert-base-uncased"
_MOST = 96  # characters of an ID
_PLACES: Mapping[Availability, str] = {
    "built in": message("built in"),
    "on disk": message("on disk"),
    "on the hub": message("on the hub"),
    "fetched when used": message("fetched on first use"),
    "not installed": message("not installed"),
    "cannot be shown": message("cannot be shown"),
}


@dataclass(frozen=True, slots=True)
class _Now:
    """A server's state: the models in memory, the downloads in progress, and the finished ones."""

    in_memory: Collection[str] = ()
    coming: Mapping[str, State] = field(default_factory=dict)
    ended: Mapping[str, State] = field(default_factory=dict)

    def has(self, entry: Entry) -> bool:
        """Return whether a model is in memory."""
        return entry.place in ("on disk", "built in") and entry.model_id in self.in_memory


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return all models, the downloads, and how to get more models; a ``whole`` page has no buttons."""
    server, entries, may_fetch = panes[0].server, catalogue(), hub.allowed()
    kinds = Prose(_kinds(), "aside")
    if server is None or whole:
        return (*_sizes(entries), _catalogue(entries, _Now(), {}), kinds)
    found = server.fetches()
    now = _Now(
        server.in_memory(),
        {model_id: each for model_id, each in found.items() if not each.is_over},
        {model_id: each for model_id, each in found.items() if each.is_over},
    )
    listed = {entry.model_id for entry in entries}
    buttons = {entry.model_id: (*_way(entry, server.seen_with), *_works(entry, may_fetch, now)) for entry in entries}
    first = (
        *server.told(),
        *(_download(model_id, each) for model_id, each in now.coming.items()),
        # A model without a card was requested in the text field.
        *(_outcome(model_id, each) for model_id, each in now.ended.items() if model_id not in listed),
        *_fetch_field(view, may_fetch),
    )
    return (
        Row((first, _sizes(entries))),
        _catalogue(entries, now, buttons),
        kinds,
    )


# ------------------------------------------------------------------------------------ what there is


def _catalogue(entries: Sequence[Entry], now: _Now, buttons: Mapping[str, Blocks]) -> Section:
    return Section("catalogue", tuple(_card(entry, now, buttons.get(entry.model_id, ())) for entry in entries))


def _sizes(entries: Sequence[Entry]) -> Blocks:
    here = [(entry.name, entry.info) for entry in entries if entry.info is not None]
    heads = np.array(
        [info.n_heads * (len(info.attention_layers) + 2 * info.n_decoder_layers) for _, info in here], np.float32
    )
    bars = Bars(
        message("Attention heads in each model"),
        message("How many heads each model has, as bars."),
        tuple(name for name, _ in here),
        ((message("heads"), "weight", heads),),
        decimals=0,
    )
    return (Picture("sizes", bars),) if here else ()


def _card(entry: Entry, now: _Now, buttons: Blocks) -> Section:
    problem = (Notice(entry.problem),) if entry.problem else ()
    pressed = (Section(f"buttons_{entry.model_id}", buttons, is_line=True),) if buttons else ()
    ended = now.ended.get(entry.model_id)
    outcome = () if ended is None else (_outcome(entry.model_id, ended),)
    return Section(f"card_{entry.model_id}", (_facts(entry, now), *problem, *pressed, *outcome), is_framed=True)


def _where(entry: Entry, now: _Now) -> str:
    if entry.model_id in now.coming:
        return message("being fetched")
    if now.has(entry):
        return message("in memory, {place}", place=_PLACES[entry.place])
    return _PLACES[entry.place]


def _facts(entry: Entry, now: _Now) -> Prose:
    facts = {
        message("About"): "" if entry.info is None else html.escape(entry.info.note),
        message("Architecture"): html.escape(entry.architecture),
        message("Layers × heads"): html.escape(entry.layers_and_heads),
        message("Parameters"): _parameters(entry),
        message("Licence"): html.escape(entry.licence),
        message("Source"): html.escape(entry.source),
        "SHA-256": _checksum(entry.checksum),
    }
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts.items() if value)
    kind = "place here" if now.has(entry) and entry.model_id not in now.coming else "place"
    return Prose(
        f'<div class="model"><h3><bdi>{html.escape(entry.name)}</bdi></h3>'
        f'<p class="{kind}">{html.escape(_where(entry, now))}</p><dl>{rows}</dl></div>',
        "detail",
    )


def _parameters(entry: Entry) -> str:
    """Return a model's number of parameters; the published approximation if it is not downloaded."""
    if entry.n_parameters is None:
        return ""
    if entry.offered is None:
        return f"{entry.n_parameters:,}"
    return message("about {number} million", number=f"{entry.n_parameters / 1e6:.0f}")


def _checksum(checksum: str) -> str:
    """Return a checksum, shortened, that unfolds to be copied."""
    if not checksum:
        return ""
    return f'<details><summary title="{checksum}">{checksum[:12]}…</summary><code>{checksum}</code></details>'


def _way(entry: Entry, seen_with: Callable[[str], View]) -> Blocks:
    if entry.info is None:
        return ()
    label = message("Look at {name} ▸", name=entry.info.name)
    query = seen_with(entry.model_id).for_page(STEP_BY_STEP).to_query()
    return (Way(f"way_in_card_{entry.model_id}", label, STEP_BY_STEP, query),)


def _kinds() -> str:
    names = dict.fromkeys(architecture.name for architecture in ARCHITECTURES.values())
    return lesson(
        "models/kinds",
        names=", ".join(names),
        parts=", ".join(part.name for part in TEXT_PARTS.values()),
        limit=f"{allowed_bytes() / 1e9:,.1f} GB",
    )


# --------------------------------------------------------------------------------- from the hub


def _works(entry: Entry, may_fetch: Allowed, now: _Now) -> Blocks:
    works = []
    if entry.kept is not None and may_fetch:
        works.append(Work(f"remove_{entry.model_id}", REMOVE, (entry.model_id,), message("Remove from disk"), ""))
    if entry.offered is not None and entry.model_id in may_fetch and entry.model_id not in now.coming:
        label = message("Download, {size}", size=f"{entry.offered.n_bytes / 1e6:,.0f} MB")
        works.append(Work(f"download_{entry.model_id}", FETCH, (entry.model_id,), label, ""))
    return tuple(works)


def _fetch_field(view: View, may_fetch: Allowed) -> Blocks:
    """Return the field for an ID, or how the owner can allow it."""
    if not may_fetch:
        return (Prose(lesson("models/hub-off"), "aside"),)
    text = LongText(message("Model ID on the hub"), EXAMPLE, least=0, most=_MOST, is_line=True, value=view[GET])
    told = lesson("models/hub", limit=f"{may_fetch.max_bytes / 1e6:,.0f} MB")
    return (Work("fetch", FETCH, (), message("Download"), "", text=text), Prose(told, "aside"))


def _download(model_id: str, found: State) -> Work:
    """Return a download's progress, which anybody can cancel."""
    told = _how_far(model_id, found)
    return Work(
        f"fetching_{model_id}", FETCH, (model_id,), "", told, share=found.progress.share, stops=message("Cancel")
    )


def _how_far(model_id: str, found: State) -> str:
    done, total = found.progress.n_done / 1e6, found.progress.n_total / 1e6
    if not total:
        return message("{model_id}: asking the hub", model_id=model_id)
    facts = {
        "model_id": model_id,
        "done": f"{done:,.1f}",
        "total": f"{total:,.1f}",
        "speed": f"{found.bytes_per_second / 1e6:,.1f}",
    }
    told, left = message("{model_id}: {done} of {total} MB, {speed} MB/s", **facts), found.seconds_left
    return told if left is None else ", ".join((told, message("{time} left", time=_duration(left))))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return message("{seconds} s", seconds=f"{seconds:.0f}")
    return message("{minutes} min", minutes=f"{seconds / 60:.0f}")


def _outcome(model_id: str, found: State) -> Notice:
    if found.failure is not None:
        return Notice(found.failure)
    if found.is_cancelled:
        return Notice(message("Cancelled: {model_id}.", model_id=model_id), is_news=True)
    return Notice(message("{model_id} is ready to choose on every page.", model_id=model_id), is_news=True)
