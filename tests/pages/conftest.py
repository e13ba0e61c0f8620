"""Pages as a browser would get them, asked for in this process: without a browser and without a network."""

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
# In seconds. A machine that is busy with something else is no fault of a page.
PATIENCE = 600
SESSION = "somebody"


@pytest.fixture(scope="session", autouse=True)
def _own_jobs(tmp_path_factory):
    """What is measured in a test is not what the developer's own app shows next, nor the other way round."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attention.answer.jobs.cache_dir", tmp_path_factory.getbasetemp)
        # On a busy machine a job may take longer than a visitor would wait, and looks are further apart.
        patch.setattr("attention.training.jobs.PATIENCE", PATIENCE)
        # So may what is measured on many sentences, of which a test sees no more than what comes of it.
        patch.setattr("attention.answer.page.LOOK_SECONDS", PATIENCE)
        patch.setattr("attention.training.jobs.Timer", lambda seconds, *others: Timer(max(seconds, PATIENCE), *others))
        jobs.cache_clear()
        yield


def walk(blocks):
    for block in blocks:
        yield block
        for inner in (block.get("blocks", ()), *block.get("columns", ())):
            yield from walk(inner)


# What is on a sheet as the HTML that it becomes in a browser.
WRITTEN = {
    "prose": lambda block: f'<div class="{" ".join(filter(None, ("prose", block["look"])))}">{block["html"]}</div>',
    "notice": lambda block: f'<div class="notice"><bdi>{html.escape(block["text"])}</bdi></div>',
    "news": lambda block: f'<div class="prose news"><bdi>{html.escape(block["text"])}</bdi></div>',
    "shapes": lambda block: f'<div class="shapes">{html.escape(block["text"])}</div>',
    "proof": lambda block: f'<div class="proof" aria-label="{block["label"]}">{block["html"]}</div>',
}


class Shown:
    """What is shown of a page, and what a browser keeps between two presses."""

    def __init__(self, page, query):
        self.page = page
        self.query = query
        self.memory = {}
        self.visitor = SESSION

    def run(self, *presses):
        """Ask for the page that follows from what is shown, until all models are there."""
        self.ask(*presses)
        until(self._is_whole, PATIENCE)
        return self

    def _is_whole(self):
        """Tell whether nothing of the page is on its way; otherwise ask again, as a browser does."""
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
        """All that is on the page; what is inside a block follows it."""
        return list(walk(self.answer["blocks"]))

    @property
    def kinds(self):
        return [block["kind"] for block in self.blocks]

    def headings(self, level=None):
        """What the headings of the content say."""
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
        """Whether what opens on the page is open, by the label."""
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
        """The sentences that say what is wrong; that a table is too large to be read is not wrong."""
        found = [block["text"] for block in self.blocks if block["kind"] == "notice"]
        return [sentence for sentence in found if not sentence.endswith("take the CSV.")]

    @property
    def proofs(self):
        bodies = [block["html"] for block in self.blocks if block["kind"] == "proof"]
        assert len(bodies) < 2
        body = "".join(bodies)
        return [html.unescape(re.sub("<[^>]+>", "", line)) for line in re.findall("<div class=.*?>(.*?)</div>", body)]

    @property
    def holds(self):
        """For each run, whether it gives what the model itself gave."""
        return [line.startswith("✓") for line in self.proofs]

    @property
    def pictures(self):
        """The data of all components, by their keys."""
        return {block["key"]: block["data"] for block in self.blocks if block["kind"] == "picture"}

    @property
    def tables(self):
        """The tables that can be ordered, with their rows as they are sent."""
        drawn = (data for data in self.pictures.values() if "cells" in data and "isWhole" in data)
        return [
            pd.DataFrame(dict(zip(data["names"], data["cells"], strict=True))) for data in drawn if not data["isWhole"]
        ]

    def component(self, key):
        """The data that a component is drawn with."""
        pictures = self.pictures
        # Several matrices take turns in one place.
        pane, _, name = key.partition("_")
        stage = pictures.get(f"{pane}_stage", {})
        return stage if key not in pictures and stage.get("name") == name else pictures[key]

    def components(self):
        # Not the lines of controls, which every page has.
        return [key for key, data in self.pictures.items() if "network" not in data]

    def controls(self):
        """The native controls, and the keys of their lines, by their names; those that open under a field too."""
        found = {}
        for key, line in self.pictures.items():
            for group in line["groups"] if "network" in line else ():
                for control in group["controls"]:
                    found |= {each["name"]: (each, key) for each in (control, *control.get("more", ()))}
        return found

    def choose_example(self, label, name="example"):
        """Choose one of the examples that open under a field."""
        for control, key in self.controls().values():
            if control.get("examples", {}).get("name") == name:
                return self.send(key, name, control["examples"]["labels"].index(label))
        raise KeyError(name)

    @property
    def ways(self):
        """What the links to other pages say, by their labels."""
        ways = [block for block in self.blocks if block["kind"] == "way"]
        return {block["text"]: block["address"].partition("?")[2] for block in ways}

    @property
    def files(self):
        """The addresses of what can be taken away, by the names of the files."""
        return {block["file"]: block["address"] for block in self.blocks if block["kind"] == "file"}

    @property
    def whole_file(self):
        """The address of all of the page as one file; "" where it is no file."""
        items = [item for control, _ in self.controls().values() for item in control.get("items", ())]
        whole = [item["file"] for item in items if "/now/page/" in item.get("file", "")]
        return "".join(f"{address}?{urlencode(self.query)}" for address in whole)

    def to_page(self, page):
        """Choose another page from the menu, which takes along what was chosen."""
        return self.send("header", "page", page.address)

    def open_link(self, page, query):
        """Open a link in the same tab."""
        self.page, self.query = page, dict(query)
        return self.run()

    def charts(self):
        return [key for key in self.components() if {"series", "layout"} & set(self.component(key))]

    def choose(self, key, value):
        """Change the control with this name, as a person does."""
        return self.widget(key).choose(value)

    def widget(self, name):
        """The control of this name."""
        return Native(self, name)

    def open(self, label, is_open=True):
        """Open what this stands over, or shut it."""
        (key,) = [block["key"] for block in self.blocks if block["kind"] == "fold" and block["title"] == label]
        return self.send(key, "open", is_open)

    def send(self, key, name, value):
        """Choose something in a component."""
        return self.run(pages.Press(f"{key}.{name}", value))

    def press(self, key, name, value):
        """What a browser sends of a press."""
        return pages.Press(f"{key}.{name}", value)

    def go(self, by=1):
        """Press Next, or Back."""
        keys = [step["key"] for step in self.component("stepper")["steps"]]
        return self.send("stepper", "choose", keys[keys.index(self.component("stepper")["current"]) + by])


@dataclass(frozen=True)
class Native:
    """A control in a line: a list, a switch or a field of the browser's own."""

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
        """What it shows; in a list of layers, heads or words, the place in the list."""
        shown = self.data["value"]
        return self.data["values"].index(shown) if self.is_numbered else shown

    def press(self, value):
        """Return what a browser sends when a value is chosen."""
        said = self.data["values"][value] if self.is_numbered else value
        return pages.Press(f"{self.shown.controls()[self.name][1]}.{self.name}", said)

    def choose(self, value):
        """Choose a value."""
        return self.shown.run(self.press(value))


NUMBERED = ("layer", "head", "beside_layer", "beside_head", "word", "shade", "beside")


@pytest.fixture
def _nothing_goes_on():
    """What a test has the server do ends with it: there is one thing at a time."""
    yield
    for job in (lab.job for lab in LABS if lab.job is not None):
        going = jobs().status(job, SESSION).now
        if going is not None:
            jobs().stop(job, going.owner)
    jobs().wait(PATIENCE)


@pytest.fixture
def open_page():
    """Open a page, by its file, with the parameters of a link."""

    def open_(page=STEP_PAGE, **query):
        return Shown(next(each for each in PAGES if each.file == page), query).run()

    return open_


@pytest.fixture
def few_sentences(monkeypatch):
    """Less to read, where it is not asked what comes of it."""
    few = corpus.sentences()[:8]
    monkeypatch.setattr(corpus, "sentences", lambda: few)


@pytest.fixture
def steps_of(open_page):
    """Open the step-by-step page and walk through its steps, from the first to the last."""

    def walk(**query):
        shown = open_page(STEP_PAGE, **query)
        yield shown
        while shown.view.step != "heads":
            yield shown.go()

    return walk
