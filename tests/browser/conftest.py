"""The running app, a browser, and tabs whose errors fail the test."""

import http.server
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.chromium import launch_options
from tests.browser.server import serve

# Explain tabs' assertions like those of tests.
pytest.register_assert_rewrite("tests.browser.looks", "tests.browser.tab")
# Long, because the machine may be busy; a successful wait ends as soon as it can.
expect.set_options(timeout=60_000)
# Without motion unless a test wants it: waiting for it on every page would take a third of the time.
AS_A_RULE = {"viewport": {"width": 1400, "height": 900}, "color_scheme": "light", "reduced_motion": "reduce"}


def pytest_collection_modifyitems(items):
    """Run everything but tests marked as quick (a path through each kind of page) only in `make test-all`."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.get_closest_marker("quick") is None:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def driver():
    """Playwright."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(driver):
    browser = driver.chromium.launch(**launch_options())
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """An app for all tests that do not need a new one, with a database of rooms of its own."""
    folder = tmp_path_factory.mktemp("server")
    with serve(folder / "log", {"ATTENTION_DATABASE": f"sqlite:///{folder / 'rooms.sqlite'}"}) as server:
        yield server


@pytest.fixture(scope="session")
def models():
    """The models as the app loads them, each loaded on first use, to compute what pages must show."""
    from tests.loaded import load

    class Loaded(dict):
        def __missing__(self, model_id):
            return self.setdefault(model_id, load(model_id))

    return Loaded()


@pytest.fixture(scope="session")
def shared_context(driver, tmp_path_factory):
    """A browser context whose tabs share only loaded scripts and styles, one for all tests.

    Its profile on disk keeps compiled scripts, which saves a third of a page's work.
    """
    profile = tmp_path_factory.mktemp("profile")
    context = driver.chromium.launch_persistent_context(profile, **launch_options(), **AS_A_RULE)
    yield context
    context.close()


@contextmanager
def another_site():
    """Another server on this machine, whose page frames any address; and a list of its requests."""
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
    """Another site, without requests yet."""
    with another_site() as site:
        yield site


@pytest.fixture
def bare_page(browser):
    """A page whose errors are the subject of the test."""
    page = browser.new_page()
    yield page
    page.close()


@contextmanager
def _clean(tabs):
    """Close tabs at the end, and check that none had errors or contacted other machines."""
    yield
    for tab in tabs:
        tab.page.close()
    for tab in tabs:
        assert tab.errors == []
        assert tab.foreign_requests() == []


@contextmanager
def _tabs(browser, shared_context, server):
    """Yield a function that makes tabs, which are checked at the end."""
    from tests.browser.tab import Tab

    made = []

    def make(at=None, **options):
        """Make a tab on a server (by default the shared one), with options for a new context."""
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
    """Separate browser contexts that keep their loaded scripts and styles."""
    contexts = []
    yield contexts
    for context in contexts:
        context.close()


@pytest.fixture
def new_person(browser, own_contexts, server):
    """Make tabs in separate contexts, which keep only scripts from earlier tests."""
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
    """Make tabs for all tests of a module: another step in a tab is twenty times faster than a new tab."""
    with _tabs(browser, shared_context, server) as make:
        yield make


@pytest.fixture(scope="module")
def shared_tab(new_shared_tab):
    """The tab that the tests of a module share."""
    return new_shared_tab()


@pytest.fixture
def opened(shared_tab):
    """The tab that the tests of a module share, at another link."""
    return shared_tab.turn_to


@pytest.fixture
def tab(new_tab):
    """A wide, light tab."""
    return new_tab()
