"""The running app, a browser, and tabs of it in which nothing may go wrong unseen."""

import http.server
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.chromium import launch_options
from tests.browser.server import serve

# What a tab asserts is told as what a test asserts.
pytest.register_assert_rewrite("tests.browser.looks", "tests.browser.tab")
# The machine may be busy; a test that waits for the right thing does not get slower by that.
expect.set_options(timeout=60_000)
# Pictures do not move unless a test asks for it: waiting for that on every page would take a third of the time.
AS_A_RULE = {"viewport": {"width": 1400, "height": 900}, "color_scheme": "light", "reduced_motion": "reduce"}


def pytest_collection_modifyitems(items):
    """Leave to `make test-all` what is not marked as quick: a journey through each kind of page is, and little more."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.get_closest_marker("quick") is None:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def driver():
    """What leads Chromium."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(driver):
    browser = driver.chromium.launch(**launch_options())
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """One app for all tests that do not need a new one, with a database of its own for its classes."""
    folder = tmp_path_factory.mktemp("server")
    with serve(folder / "log", {"ATTENTION_DATABASE": f"sqlite:///{folder / 'rooms.sqlite'}"}) as server:
        yield server


@pytest.fixture(scope="session")
def models():
    """The models as the app loads them, to compute what the page must show; each is loaded once it is asked for."""
    from tests.loaded import load

    class Loaded(dict):
        def __missing__(self, model_id):
            return self.setdefault(model_id, load(model_id))

    return Loaded()


@pytest.fixture(scope="session")
def shared_context(driver, tmp_path_factory):
    """Where tabs share nothing but the scripts and styles that they have loaded, once for all tests.

    It is a browser with a profile on disk: that alone keeps scripts compiled, which is a third of the work of a page.
    """
    profile = tmp_path_factory.mktemp("profile")
    context = driver.chromium.launch_persistent_context(profile, **launch_options(), **AS_A_RULE)
    yield context
    context.close()


@contextmanager
def another_site():
    """Another server of this machine, with one page that shows whatever it is asked to in a frame; and who asked."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            framed = f'<iframe src={self.path[1:]!r} allow="clipboard-write" width=1200 height=800></iframe>'
            self.wfile.write(framed.encode())

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        yield f"http://localhost:{other.server_port}", asked
        other.shutdown()
        thread.join()


@pytest.fixture
def elsewhere():
    """Another site, which nobody has asked yet."""
    with another_site() as site:
        yield site


@pytest.fixture
def bare_page(browser):
    """A page whose errors are what a test is about."""
    page = browser.new_page()
    yield page
    page.close()


@contextmanager
def _clean(tabs):
    """In the end, close tabs, of which none may have had an error or have asked another machine."""
    yield
    for tab in tabs:
        tab.page.close()
    for tab in tabs:
        assert tab.errors == []
        assert tab.foreign_requests() == []


@contextmanager
def _tabs(browser, shared_context, server):
    """Give a function that makes tabs; in the end, none may have had an error or have asked another machine."""
    from tests.browser.tab import Tab

    made = []

    def make(at=None, **options):
        """Make a tab on a server (else the shared one), with options of its own for a new context."""
        context = shared_context
        if options:
            context = browser.new_context(**AS_A_RULE | options)
            contexts.callback(context.close)
        tab = Tab(context.new_page(), (at or server).url)
        made.append(tab)
        return tab

    with ExitStack() as contexts, _clean(made):
        yield make


@pytest.fixture
def new_tab(browser, shared_context, server):
    """Make tabs for one test."""
    with _tabs(browser, shared_context, server) as make:
        yield make


@pytest.fixture(scope="session")
def own_contexts(browser):
    """Browsers that know nothing of one another, which keep the scripts and styles that they have loaded."""
    contexts = []
    yield contexts
    for context in contexts:
        context.close()


@pytest.fixture
def new_person(browser, own_contexts, server):
    """Make tabs that are each in a browser of its own, in which nothing is left of earlier tests but scripts."""
    from tests.browser.tab import Tab

    made = []

    def make(at=None, viewport=None, color_scheme="light"):
        if len(made) == len(own_contexts):
            own_contexts.append(browser.new_context(**AS_A_RULE))
        context = own_contexts[len(made)]
        context.clear_cookies()
        page = context.new_page()
        page.set_viewport_size(viewport or {"width": 1400, "height": 900})
        page.emulate_media(color_scheme=color_scheme)
        tab = Tab(page, (at or server).url)
        made.append(tab)
        return tab

    with _clean(made):
        yield make
    for context in own_contexts:
        for page in context.pages:
            page.close()


@pytest.fixture(scope="module")
def new_shared_tab(browser, shared_context, server):
    """Make tabs for all tests of a module: a step more in a tab is twenty times faster than a new tab."""
    with _tabs(browser, shared_context, server) as make:
        yield make


@pytest.fixture
def tab(new_tab):
    """One tab in a wide window, light."""
    return new_tab()
