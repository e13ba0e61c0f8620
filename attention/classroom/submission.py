"""Links handed in for a task: find the view, run it, and judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urlsplit

from attention.answer.hosts import base_path, is_known, named_hosts
from attention.answer.running import load_silently, run, run_page
from attention.answer.slots import one_request
from attention.classroom.finds import Find
from attention.core.messages import message
from attention.lesson.prose import typed
from attention.lesson.tasks import Handed, ModelHead, Task, UnfitError, Verdict
from attention.models import by_id, get_info
from attention.page.content.find_it import judged, run_as, sentences
from attention.page.content.pane import Pane
from attention.page.page import Page
from attention.page.pages import BY_ADDRESS
from attention.page.parameters import Context
from attention.page.settings import MODEL, SOUGHT
from attention.page.view import View

# Longer sentences are shortened in lists of links.
MAX_SENTENCE = 120


def view_of(pasted: str, host: str) -> View:
    """Return the view of a pasted link; ``host`` is this server's. Raises UnfitError, which says what is wrong."""
    try:
        found = urlsplit(pasted.strip())
    except ValueError:
        raise _strange() from None
    if found.scheme not in ("", "http", "https"):
        raise _strange()
    if found.netloc and not is_known(f"{found.scheme or 'http'}://{found.netloc}", host, named_hosts()):
        raise UnfitError(message("This link leads to another site. Hand in a link to this app."))
    page = _page(found.path)
    if page is None or not (found.query or found.path):
        raise _strange()
    return _view(page, found.query)


@one_request()
def judge(task: Task, given: ModelHead | None, view: View) -> Find:
    """Run a view, and judge it; raise UnfitError if the task does not apply."""
    return _find(view, judged(task, view, _panes(view), given))


def solution(task: Task, start: Mapping[str, str]) -> Find | None:
    """Return the head that solves a task best in its first view; None if none does, or if judging takes long."""
    if not task.is_quick or task.is_of_two:
        return None
    try:
        found = _best(task, urlencode(start))
    except UnfitError:
        return None
    return found if found.is_solved else None


@lru_cache(maxsize=16)
@one_request()
def _best(task: Task, start: str) -> Find:
    """Judge all heads in a view; an UnfitError, which may pass, is not kept."""
    pane = next(iter(_panes(_view(BY_ADDRESS[task.page], start))), None)
    if pane is None or pane.scene is None or pane.found is None:
        raise UnfitError(message("This view has no sentence."))
    verdicts = {
        (layer, head): task.judge(Handed(replace(pane.scene, layer=layer, head=head), pane.found))
        for layer, of in enumerate(pane.scene.trace.layers)
        for head in range(len(of.queries))
    }
    layer, head = max(verdicts, key=lambda place: verdicts[place].score)
    view = _view(BY_ADDRESS[task.page], f"{start}&layer={layer + 1}&head={head + 1}")
    return _find(view, verdicts[layer, head])


def _find(view: View, verdict: Verdict) -> Find:
    link = urlencode(view.without(SOUGHT).shown().to_query())
    told = f"{verdict.told}<p>{' · '.join(map(_shortly, sentences(view)))}</p>"
    return Find(view.page.address, link, told, verdict.is_solved, verdict.score)


@one_request()
def place_of(page: str, link: str) -> ModelHead:
    """Return the head that a view shows; raise UnfitError unless it belongs to a model that reads sentences."""
    view = _view(BY_ADDRESS[page], link)
    panes = [] if _is_empty(view) else run_page(view, load_silently)
    scene = next((pane.scene for pane in panes if pane.scene is not None), None)
    if scene is None or not scene.info.reading.takes_sentences:
        raise UnfitError(message("This task is about the head on your screen. Show one that reads a sentence first."))
    return ModelHead(scene.info.model_id, scene.info.name, scene.layer, scene.head)


def _shortly(sentence: str) -> str:
    return typed(sentence if len(sentence) <= MAX_SENTENCE else f"{sentence[:MAX_SENTENCE].rstrip()} …")


def _strange() -> UnfitError:
    return UnfitError(message("Not a link to this app. Copy the address of the page with your view."))


def _page(path: str) -> Page | None:
    """Return the page at a path, wherever the app is mounted; the front page has no name."""
    whole = path.strip("/")
    name = whole.rpartition("/")[2]
    return BY_ADDRESS.get("" if whole in ("", ".", base_path()) else name)


def _view(page: Page, link: str) -> View:
    models = by_id()
    query = dict(parse_qsl(link, keep_blank_values=True))
    view, notices = View.from_query(query, page, models)
    if query.get(MODEL.name, view.model) not in models:
        raise UnfitError(message("The model of this link is not here. Choose one from the page Models."))
    if notices:
        raise UnfitError(" ".join(notices))
    return view.valid_for(Context(models, view.model))


def _panes(view: View) -> Sequence[Pane]:
    return [] if _is_empty(view) else run(run_as(view), load_silently)


def _is_empty(view: View) -> bool:
    return get_info(view.model).reading.is_empty(view.text)
