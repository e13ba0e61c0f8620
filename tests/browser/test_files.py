"""Cached files: fetched once, wherever the app is mounted, and sufficient to draw a page."""

import pytest
from playwright.sync_api import expect

LINK = "step_by_step?model=toy&step=scores"
# What draws that page, and what is fetched ahead for the steps beside it.
DRAWN = ["bars", "line", "matrix", "model_map", "page", "stepper", "styles"]
# What came of the files of ours in this tab, and how many bytes of each had to travel.
TRAVELLED = """() => Object.fromEntries(performance.getEntriesByType('resource')
  .filter(({ name }) => /_attention.[^/]+$/.test(name))
  .map(({ name, transferSize }) => [name.split('/').at(-1).split('.')[0], transferSize]))"""


@pytest.fixture
def context(browser):
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    yield context
    context.close()


def open_scores(page, url):
    page.goto(f"{url}/{LINK}")
    expect(page.locator(".matrix [role=application]")).to_be_visible()
    expect(page.get_by_role("note", name="Proof")).to_contain_text("✓")


def expect_styled(page):
    """The page's own style sheet counts, over Streamlit's, and a component's."""
    expect(page.locator(".st-key-step")).to_have_css("display", "grid")
    expect(page.locator(".stMainBlockContainer")).to_have_css("max-width", "1840px")
    expect(page.locator(".stepper")).to_have_css("container-type", "inline-size")


def travelled(page):
    """Wait for all that the page draws with; return how many bytes of each file had to travel."""
    page.wait_for_function(
        f"names => {{ const came = ({TRAVELLED})(); return names.every(name => name in came); }}", arg=DRAWN
    )
    return page.evaluate(TRAVELLED)


def test_a_browser_fetches_them_once(server, context):
    page = context.new_page()
    open_scores(page, server.url)
    expect_styled(page)
    first = travelled(page)
    assert all(first.values())
    # What draws charts is large, and no step has one.
    assert not {"chart", "plotly"} & set(first)
    again = context.new_page()
    open_scores(again, server.url)
    expect_styled(again)
    assert travelled(again) == dict.fromkeys(first, 0)


def test_what_draws_charts_is_fetched_once_where_there_is_one(server, context):
    for n_bytes in (400_000, 0):
        page = context.new_page()
        page.goto(f"{server.url}/many_sentences?model=toy")
        expect(page.locator(".plot .main-svg").first).to_be_visible()
        assert page.locator(".plot .main-svg").count() > 1
        came = page.evaluate(TRAVELLED)
        assert n_bytes <= came["plotly"] <= n_bytes * 1.5
        scripts = page.evaluate("() => performance.getEntriesByType('resource').map(({ name }) => name)")
        assert len([name for name in scripts if "/plotly." in name]) == 1


def test_a_module_that_is_lost_on_its_way_is_asked_for_again(server, context):
    page = context.new_page()
    lost = []

    def lose(route):
        lost.append(route.request.url)
        route.abort()

    # With the second address, and only with that one, it comes.
    page.route("**/_attention/tokens.*.js", lose)
    page.goto(f"{server.url}/step_by_step?model=toy&step=tokens")
    expect(page.get_by_role("note", name="Proof")).to_contain_text("✓")
    expect(page.locator(".tokens button")).to_have_count(6)
    assert len(lost) == 1
