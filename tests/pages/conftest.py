"""Pages run by Streamlit's own AppTest: in this process, without a browser and without a network."""

import html
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Timer

import pandas as pd
import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from attention import corpus
from attention.labs import LABS
from attention.ui.jobs import jobs

ROOT = Path(__file__).resolve().parents[2]
STEP_PAGE = "pages/step_by_step.py"
# In seconds. A machine that is busy with something else is no fault of a page.
PATIENCE = 600
# AppTest gives every session the same name.
SESSION = "test session id"


@pytest.fixture(scope="session", autouse=True)
def _scanned_once():
    """Streamlit looks through all installed packages for components, anew in each AppTest: longer than a page runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_jobs(tmp_path_factory):
    """What is measured in a test is not what the developer's own app shows next, nor the other way round."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attention.ui.jobs.cache_dir", tmp_path_factory.getbasetemp)
        # On a busy machine a job may take longer than a visitor would wait, and looks are further apart.
        patch.setattr("attention.jobs.PATIENCE", PATIENCE)
        # So may what is measured on many sentences, of which a test sees no more than what comes of it.
        patch.setattr("attention.ui.frame.LOOK_SECONDS", PATIENCE)
        patch.setattr("attention.jobs.Timer", lambda seconds, *others: Timer(max(seconds, PATIENCE), *others))
        jobs.clear()
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
    """What a run of a page has put there."""

    def __init__(self, app):
        self.app = app
        self.presses = 0
        self.said = {}
        # What has been chosen in each component.
        self.chosen = {}

    def run(self):
        self.app._run(self.states())
        return self

    @property
    def view(self):
        return self.app.session_state["session"].seen.view

    @property
    def sheets(self):
        """The components on which the content is drawn, by their keys."""
        found = [each for each in self.app.get("bidi_component") if each.proto.component_name == "attention_sheet"]
        return {each.key: each.proto for each in found}

    @property
    def blocks(self):
        """All that is on the sheets; what is inside a block follows it."""
        return [each for key in self.sheets for each in self.blocks_on(key)]

    def blocks_on(self, key):
        return list(walk(json.loads(self.sheets[key].json)[0]["blocks"]))

    def headings(self, level=None):
        """What the headings of the content say, and those of the pages that are not made of blocks."""
        kinds = ("h2", "h3") if level is None else (f"h{level}",)
        own = [*(self.app.header if "h2" in kinds else ()), *(self.app.subheader if "h3" in kinds else ())]
        return [block["text"] for block in self.blocks if block["kind"] in kinds] + [each.value for each in own]

    @property
    def captions(self):
        quiet = [block["text"] for block in self.blocks if block["kind"] == "caption"]
        return quiet + [each.value for each in self.app.caption]

    @property
    def formulas(self):
        return [block["latex"] for block in self.blocks if block["kind"] == "formula"]

    @property
    def folds(self):
        """Whether what opens on the page is open, by the label."""
        own = {block["title"]: block["isOpen"] for block in self.blocks if block["kind"] == "fold"}
        return own | {place.label: place.proto.expanded for place in self.app.expander}

    @property
    def html(self):
        """Everything that goes to the browser as HTML, but the style sheet."""
        own = [element.proto.body for element in self.app.get("html") if not element.proto.body.startswith("<style")]
        return own + [WRITTEN[block["kind"]](block) for block in self.blocks if block["kind"] in WRITTEN]

    @property
    def text(self):
        return " ".join(html.unescape(re.sub("<[^>]+>", "", body)) for body in self.html)

    @property
    def notices(self):
        """The sentences that say what is wrong; that a table is too large to be read is not wrong."""
        found = [html.unescape(re.sub("<[^>]+>", "", body)) for body in self.html if 'class="notice"' in body]
        return [sentence for sentence in found if not sentence.endswith("take the CSV.")]

    @property
    def proofs(self):
        (body,) = [body for body in self.html if 'aria-label="Proof"' in body]
        return [html.unescape(re.sub("<[^>]+>", "", line)) for line in re.findall("<div>(.*?)</div>", body)]

    @property
    def exceptions(self):
        return [exception.value for exception in self.app.exception]

    @property
    def pictures(self):
        """The data of all components but the sheets, and of the pictures on these, by their keys."""
        found = {}
        for element in self.app.get("bidi_component"):
            if element.key in self.sheets:
                on_it = self.blocks_on(element.key)
                found |= {block["key"]: block["data"] for block in on_it if block["kind"] == "picture"}
            else:
                found[element.key] = json.loads(element.proto.json)[0]
        return found

    @property
    def tables(self):
        """The tables that can be ordered, with their rows as they are sent."""
        drawn = (data for data in self.pictures.values() if "cells" in data and "isWhole" in data)
        return [
            pd.DataFrame(dict(zip(data["names"], data["cells"], strict=True))) for data in drawn if not data["isWhole"]
        ]

    def component(self, key):
        """The data that a component of ours is mounted with."""
        pictures = self.pictures
        # Several matrices take turns in one place.
        pane, _, name = key.partition("_")
        stage = pictures.get(f"{pane}_stage", {})
        return stage if key not in pictures and stage.get("name") == name else pictures[key]

    def components(self):
        # Not the lines of controls, which every page has, and nothing without anything to see.
        return [key for key, data in self.pictures.items() if "network" not in data and key != "leaf"]

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
        own = {each.proto.label: each.proto.query_string for each in self.app.get("page_link")}
        on_sheets = [block for block in self.blocks if block["kind"] == "way"]
        return own | {block["text"]: block["address"].partition("?")[2] for block in on_sheets}

    @property
    def files(self):
        """The addresses of what can be taken away, by the names of the files; nothing for what has none."""
        own = {each.proto.label: "" for each in self.app.get("download_button")}
        return own | {block["file"]: block["address"] for block in self.blocks if block["kind"] == "file"}

    def to_page(self, page):
        """Choose another page from the menu, which takes the session along."""
        self.send("header", "page", page.address)
        self.app.switch_page(page.file)
        return self

    def charts(self):
        return [key for key in self.components() if {"series", "layout"} & set(self.component(key))]

    def choose(self, key, value):
        """Change the control or the widget with this key, as a person does."""
        self.widget(key).set_value(value)
        return self.run()

    def widget(self, name):
        """The control of this name, or the widget, whose key may have a number behind it."""
        if name in self.controls():
            return Native(self, name)
        found = [widget for kind in WIDGETS for widget in getattr(self.app, kind)]
        (widget,) = (widget for widget in found if re.fullmatch(rf"{name}(_\d+)?", widget.key))
        return widget

    def open(self, label, is_open=True):
        """Open what this stands over, or shut it."""
        on_sheets = [block["key"] for block in self.blocks if block["kind"] == "fold" and block["title"] == label]
        if on_sheets:
            return self.send(*on_sheets, "open", is_open)
        (block,) = [place.proto for place in self.app.expander if place.label == label]
        self.said[label] = WidgetState(id=block.id, bool_value=is_open)
        return self.run()

    def press(self, key):
        self.app.button(key=key).click()
        return self.run()

    def states(self):
        """What a browser says of all widgets with its next message."""
        found = self.app._tree.get_widget_states()
        found.widgets.extend(self.said.values())
        return found

    def sent(self, key, name, value):
        """The same, after somebody has chosen something in a component: its script has sent it."""
        for sheet in self.sheets:
            if key in [block.get("key") for block in self.blocks_on(sheet)]:
                key, name = sheet, f"{key}.{name}"
        (element,) = [each.proto for each in self.app.get("bidi_component") if each.key == key]
        self.presses += 1
        sent = {"value": value, "press": self.presses, "on": self.widget("drawn_after").value}
        self.chosen.setdefault(element.id, {})[name] = sent
        self.said[key] = WidgetState(id=element.id, json_value=json.dumps(self.chosen[element.id]))
        return self.states()

    def send(self, key, name, value):
        """Choose something in a component."""
        self.app._run(self.sent(key, name, value))
        return self

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

    def set_value(self, value):
        """Choose it; the browser says so with its next message."""
        said = self.data["values"][value] if self.is_numbered else value
        self.shown.sent(self.shown.controls()[self.name][1], self.name, said)


NUMBERED = ("layer", "head", "beside_layer", "beside_head", "word", "shade", "beside")
WIDGETS = ("text_input", "selectbox", "segmented_control", "pills", "toggle")


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
    """Open a page with the parameters of a link, and run it."""

    def open_(page=STEP_PAGE, **query):
        app = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE)
        if page != "app.py":
            app.switch_page(page)
        for name, value in query.items():
            app.query_params[name] = value
        return Shown(app).run()

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
