"""Pages as a browser gets them, requested in this process: without a browser or a network."""

import html
import json
import re
from dataclasses import dataclass
from threading import Timer
from urllib.parse import parse_qsl, urlencode

import pandas as pd
import pytest

from attention.answer import page as pages
from attention.answer import state
from attention.answer.jobs import jobs
from attention.experiments import corpus
from attention.page.labs import LABS
from attention.page.pages import PAGES
from tests.until import until

STEP_PAGE = "pages/step_by_step.py"
# In seconds, because the machine may be busy.
PATIENCE = 600
SESSION = "somebody"


@pytest.fixture(scope="session", autouse=True)
def _own_jobs(tmp_path_factory):
    """Separate the tests' measurements from those of the developer's own app."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attention.answer.jobs.cache_dir", tmp_path_factory.getbasetemp)
        # On a busy machine, a job may take longer than a visitor would wait; poll less often.
        patch.setattr("attention.training.jobs.PATIENCE", PATIENCE)
        # Also for measurements on many sentences, of which tests need only the results.
        patch.setattr("attention.answer.page.LOOK_SECONDS", PATIENCE)
        patch.setattr("attention.training.jobs.Timer", lambda seconds, *others: Timer(max(seconds, PATIENCE), *others))
        jobs.cache_clear()
        yield


def walk(blocks):
    for block in blocks:
        yield block
        for inner in (block.get("blocks", ()), *block.get("columns", ())):
            yield from walk(inner)


# Blocks of a sheet as the HTML that they become in a browser.
WRITTEN = {
    "prose": lambda block: f'<div class="{" ".join(filter(None, ("prose", block["look"])))}">{block["html"]}</div>',
    "notice": lambda block: f'<div class="notice"><bdi>{html.escape(block["text"])}</bdi></div>',
    "news": lambda block: f'<div class="prose news"><bdi>{html.escape(block["text"])}</bdi></div>',
    "shapes": lambda block: f'<div class="shapes">{html.escape(block["text"])}</div>',
    "proof": lambda block: f'<div class="proof" aria-label="{block["label"]}">{block["html"]}</div>',
}


class Shown:
    """The page shown, and the browser's memory between presses."""

    def __init__(self, page, query):
        self.page = page
        self.query = query
        self.memory = {}
        self.visitor = SESSION

    def run(self, *presses):
        """Request the page that follows from the current one, until all models are loaded."""
        self.ask(*presses)
        until(self._is_whole, PATIENCE)
        return self

    def _is_whole(self):
        """Tell whether the page is complete; otherwise ask again, as a browser does."""
        is_whole = "waiting" not in self.kinds
        if not is_whole:
            self.ask()
        return is_whole

    def ask(self, *presses):
        answer = pages.answer(pages.Asked(self.page, self.query, presses, self.memory, self.visitor))
        self.answer = json.loads(json.dumps(answer))
        self.page = next(page for page in pages.CONTENTS if page.address == answer["page"])
        self.query = dict(parse_qsl(answer["link"], keep_blank_values=True))
        self.memory = answer["memory"]
        return self.answer

    @property
    def view(self):
        return state.opened(self.page, self.query, pages.CONTENTS[self.page].opening, self.memory).view

    @property
    def blocks(self):
        """All blocks of the page, depth first."""
        return list(walk(self.answer["blocks"]))

    @property
    def kinds(self):
        return [block["kind"] for block in self.blocks]

    def headings(self, level=None):
        """The texts of the content's headings."""
        kinds = ("h1", "h2", "h3") if level is None else (f"h{level}",)
        return [block["text"] for block in self.blocks if block["kind"] in kinds]

    @property
    def captions(self):
        return [block["text"] for block in self.blocks if block["kind"] == "caption"]

    @property
    def formulas(self):
        return [block["html"] for block in self.blocks if block["kind"] == "formula"]

    @property
    def codes(self):
        """Code, without its colours."""
        found = [block["html"] for block in self.blocks if block["kind"] == "code"]
        return [html.unescape(re.sub("<[^>]+>", "", each)) for each in found]

    @property
    def folds(self):
        """Whether each fold is open, by label."""
        return {block["title"]: block["isOpen"] for block in self.blocks if block["kind"] == "fold"}

    @property
    def html(self):
        """Everything that becomes HTML in the browser."""
        return [WRITTEN[block["kind"]](block) for block in self.blocks if block["kind"] in WRITTEN]

    @property
    def text(self):
        return " ".join(html.unescape(re.sub("<[^>]+>", "", body)) for body in self.html)

    @property
    def notices(self):
        """The sentences about problems (that a table is too large to show is not one)."""
        found = [block["text"] for block in self.blocks if block["kind"] == "notice"]
        return [sentence for sentence in found if not sentence.endswith("Take the CSV.")]

    @property
    def proofs(self):
        bodies = [block["html"] for block in self.blocks if block["kind"] == "proof"]
        assert len(bodies) < 2
        body = "".join(bodies)
        return [html.unescape(re.sub("<[^>]+>", "", line)) for line in re.findall("<div class=.*?>(.*?)</div>", body)]

    @property
    def holds(self):
        """For each run, whether it reproduces the model's own numbers."""
        return [line.startswith("✓") for line in self.proofs]

    @property
    def pictures(self):
        """The data of all components, by key."""
        return {block["key"]: block["data"] for block in self.blocks if block["kind"] == "picture"}

    @property
    def tables(self):
        """The sortable tables, with their rows as sent."""
        drawn = (data for data in self.pictures.values() if "cells" in data and "isWhole" in data)
        return [
            pd.DataFrame(dict(zip(data["names"], data["cells"], strict=True))) for data in drawn if not data["isWhole"]
        ]

    def component(self, key):
        """The data of a component."""
        pictures = self.pictures
        # Several matrices take turns in one place.
        pane, _, name = key.partition("_")
        stage = pictures.get(f"{pane}_stage", {})
        return stage if key not in pictures and stage.get("name") == name else pictures[key]

    def components(self):
        # Without the lines of controls, which every page has.
        return [key for key, data in self.pictures.items() if "network" not in data]

    def controls(self):
        """The native controls and the keys of their lines, by name, including those under a field."""
        found = {}
        for key, line in self.pictures.items():
            for group in line["groups"] if "network" in line else ():
                for control in group["controls"]:
                    found |= {each["name"]: (each, key) for each in (control, *control.get("more", ()))}
        return found

    def choose_example(self, label, name="example"):
        """Choose an example under a field."""
        for control, key in self.controls().values():
            if control.get("examples", {}).get("name") == name:
                return self.send(key, name, control["examples"]["labels"].index(label))
        raise KeyError(name)

    @property
    def ways(self):
        """The texts of links to other pages, by label."""
        ways = [block for block in self.blocks if block["kind"] == "way"]
        return {block["text"]: block["address"].partition("?")[2] for block in ways}

    @property
    def files(self):
        """The addresses of downloads, by file name."""
        return {block["file"]: block["address"] for block in self.blocks if block["kind"] == "file"}

    @property
    def whole_file(self):
        """The address of the page as a file; "" if it has none."""
        items = [item for control, _ in self.controls().values() for item in control.get("items", ())]
        whole = [item["file"] for item in items if "/now/page/" in item.get("file", "")]
        return "".join(f"{address}?{urlencode(self.query)}" for address in whole)

    def to_page(self, page):
        """Choose another page from the menu, which takes the choices along."""
        return self.send("header", "page", page.address)

    def open_link(self, page, query):
        """Open a link in the same tab."""
        self.page, self.query = page, dict(query)
        return self.run()

    def charts(self):
        return [key for key in self.components() if {"series", "layout"} & set(self.component(key))]

    def choose(self, key, value):
        """Change the control with this name."""
        return self.widget(key).choose(value)

    def widget(self, name):
        return Native(self, name)

    def open(self, label, is_open=True):
        """Open or close a fold, given its label."""
        (key,) = [block["key"] for block in self.blocks if block["kind"] == "fold" and block["title"] == label]
        return self.send(key, "open", is_open)

    def send(self, key, name, value):
        """Choose something in a component."""
        return self.run(pages.Press(f"{key}.{name}", value))

    def press(self, key, name, value):
        """A browser's message for a press."""
        return pages.Press(f"{key}.{name}", value)

    def go(self, by=1):
        """Press *Next* or *Back*."""
        keys = [step["key"] for step in self.component("stepper")["steps"]]
        return self.send("stepper", "choose", keys[keys.index(self.component("stepper")["current"]) + by])


@dataclass(frozen=True)
class Native:
    """A native control in a line: list, switch or field."""

    shown: Shown
    name: str

    @property
    def data(self):
        return self.shown.controls()[self.name][0]

    @property
    def label(self):
        return self.data["label"]

    @property
    def options(self):
        return self.data["options"]

    @property
    def is_numbered(self):
        return self.data["kind"] in ("list", "choice") and self.name in NUMBERED

    @property
    def value(self):
        """The value shown; for layers, heads and words the index."""
        shown = self.data["value"]
        return self.data["values"].index(shown) if self.is_numbered else shown

    def press(self, value):
        """Return a browser's message for choosing a value."""
        said = self.data["values"][value] if self.is_numbered else value
        return pages.Press(f"{self.shown.controls()[self.name][1]}.{self.name}", said)

    def choose(self, value):
        return self.shown.run(self.press(value))


NUMBERED = ("layer", "head", "beside_layer", "beside_head", "word", "shade", "beside")


@pytest.fixture
def _nothing_goes_on():
    """End what a test has started on the server, which does one thing at a time."""
    yield
    for job in (lab.job for lab in LABS if lab.job is not None):
        going = jobs().status(job, SESSION).now
        if going is not None:
            jobs().stop(job, going.owner)
    jobs().wait(PATIENCE)


@pytest.fixture
def open_page():
    """Open a page by its file, with the parameters of a link."""

    def open_(page=STEP_PAGE, **query):
        return Shown(next(each for each in PAGES if each.file == page), query).run()

    return open_


@pytest.fixture
def few_sentences(monkeypatch):
    """Fewer sentences, where the result does not matter."""
    few = corpus.sentences()[:8]
    monkeypatch.setattr(corpus, "sentences", lambda: few)


@pytest.fixture
def steps_of(open_page):
    """Open the step-by-step page and walk through its steps."""

    def walk(**query):
        shown = open_page(STEP_PAGE, **query)
        yield shown
        while shown.view.step != "heads":
            yield shown.go()

    return walk
