"""Pages run by Streamlit's own AppTest: in this process, without a browser and without a network."""

import html
import json
import re
from functools import cache
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from attention import corpus

ROOT = Path(__file__).resolve().parents[2]
STEP_PAGE = "pages/step_by_step.py"
# In seconds. A machine that is busy with something else is no fault of a page.
PATIENCE = 600


@pytest.fixture(scope="session", autouse=True)
def _scanned_once():
    """Streamlit looks through all installed packages for components, anew in each AppTest: longer than a page runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


class Shown:
    """What a run of a page has put there."""

    def __init__(self, app):
        self.app = app
        self.presses = 0
        self.said = {}

    def run(self):
        self.app._run(self.states())
        return self

    @property
    def view(self):
        return self.app.session_state["session"].seen.view

    @property
    def html(self):
        """Everything that goes to the browser as HTML, but the style sheet."""
        return [element.proto.body for element in self.app.get("html") if not element.proto.body.startswith("<style")]

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
        return [html.unescape(line) for line in re.findall("<div>(.*?)</div>", body)]

    @property
    def exceptions(self):
        return [exception.value for exception in self.app.exception]

    def component(self, key):
        """The data that a component of ours is mounted with."""
        (proto,) = [element.proto for element in self.app.get("bidi_component") if element.key == key]
        (data,) = json.loads(proto.json)
        return data

    def components(self):
        # Not the button that copies the link, which every page has.
        return [element.key for element in self.app.get("bidi_component") if element.key != "share"]

    def charts(self):
        return [key for key in self.components() if "series" in self.component(key)]

    def choose(self, key, value):
        """Change the widget with this key, as a person does."""
        self.widget(key).set_value(value)
        return self.run()

    def widget(self, name):
        """The widget of this name, whose key may have a number behind it."""
        found = [widget for kind in WIDGETS for widget in getattr(self.app, kind)]
        (widget,) = (widget for widget in found if re.fullmatch(rf"{name}(_\d+)?", widget.key))
        return widget

    def open(self, label, is_open=True):
        """Open what this stands over, or shut it."""
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
        (element,) = [each.proto for each in self.app.get("bidi_component") if each.key == key]
        self.presses += 1
        sent = {"value": value, "press": self.presses, "on": self.widget("drawn_after_page").value}
        self.said[key] = WidgetState(id=element.id, json_value=json.dumps({name: sent}))
        return self.states()

    def send(self, key, name, value):
        """Choose something in a component."""
        self.app._run(self.sent(key, name, value))
        return self

    def go(self, by=1):
        """Press Next, or Back."""
        keys = [step["key"] for step in self.component("stepper")["steps"]]
        return self.send("stepper", "choose", keys[keys.index(self.component("stepper")["current"]) + by])


WIDGETS = ("text_input", "selectbox", "segmented_control", "pills", "toggle")


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
