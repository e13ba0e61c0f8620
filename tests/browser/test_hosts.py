"""The app hosted by others: below a path of another site, and in another site's frame."""

import re
import signal
import urllib.request
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import another_site
from tests.browser.server import LOCAL, serve
from tests.browser.tab import PATIENCE
from tests.services import MISSING, below_a_path, find

BELOW = "/attention"


@pytest.fixture(scope="module")
def app_below(tmp_path_factory):
    """The app with a base of all its paths, which it is told when it starts."""
    log = tmp_path_factory.mktemp("below") / "log"
    with serve(log, command=(*LOCAL, f"--server.baseUrlPath={BELOW[1:]}"), base=BELOW) as server:
        yield server


@pytest.mark.skipif(find("nginx") is None, reason=MISSING.format("nginx"))
@pytest.mark.parametrize("tells_host", [True, False], ids=["the host is handed on", "another header says it"])
def test_below_a_path_of_a_site_everything_is_found(new_person, app_below, tells_host):
    port = int(app_below.url.split(":")[2].split("/")[0])
    with below_a_path(port, tells_host=tells_host) as url:
        here = replace(app_below, url=url)
        # Teacher and pupil have a browser each, which knows of no other room.
        tab = new_person(here)
        page = tab.page
        # Without the slash too.
        page.goto(url)
        expect(page).to_have_url(f"{url}/")
        tab.settled()
        expect(page.locator(".st-key-front_picture")).to_be_visible()
        page.goto(f"{url}/step_by_step?model=toy&step=scores&text=Two+birds+sing")
        tab.settled().next()
        expect(page).to_have_url(re.compile(f"^{re.escape(url)}/step_by_step.*step=scale"))
        tab.type_sentence("A quiet river").expect_query(text="A quiet river", model="toy", step="scale")
        tab.to_page("All heads")
        expect(page).to_have_url(re.compile(f"^{re.escape(url)}/all_heads"))
        tab.settled()
        assert "A quiet river" in tab.download_page().path().read_text("utf-8")
        # A class, whose pupils come by the link that the teacher is shown.
        tab.menu("Share")
        page.get_by_role("button", name="Open a room for a class").click()
        expect(page.locator(".letters")).to_have_text(re.compile("^[A-Z]{6}$"))
        pupil = new_person(here).page
        pupil.goto(f"{url}/room?code={page.locator('.letters').inner_text()}")
        expect(pupil.locator("body")).to_contain_text("A quiet river")
        expect(page.locator(".address")).to_contain_text(f"{url}/room?code=")
        # What they listen to ends with nginx, which would be an error.
        page.close()
        pupil.close()
    assert "Traceback" not in app_below.printed()


@pytest.fixture(scope="module")
def framed(tmp_path_factory):
    """The app whose owner has named a course that may frame it, when it was started; and where the course is."""
    with another_site() as (url, _):
        allowed = {"ATTENTION_FRAME_ANCESTORS": f"self {url}"}
        with serve(tmp_path_factory.mktemp("framed") / "log", allowed) as server:
            yield server, url


def test_in_a_frame_of_a_course_everything_works(framed, bare_page):
    server, url = framed
    bare_page.goto(f"{url}/{server.url}/step_by_step?model=toy&step=scores&embed=true")
    inside = bare_page.frame_locator("iframe")
    frame = bare_page.frames[1]
    expect(inside.get_by_role("heading", name=re.compile("^4. "))).to_be_visible(timeout=PATIENCE)
    inside.get_by_role("button", name=re.compile("^Next")).click()
    expect(inside.get_by_role("heading", name=re.compile("^5. "))).to_be_visible()
    field = inside.get_by_role("textbox", name="Sentence")
    field.fill("A quiet river")
    field.press("Enter")
    expect(inside.get_by_role("note", name="Proof")).to_contain_text("✓")
    frame.wait_for_url(re.compile("text=A.quiet.river"))
    # It stays without what Streamlit has around its pages, also by a link and after a reload.
    assert "embed=true" in frame.url
    inside.get_by_role("button", name="Explore", exact=True).click()
    inside.get_by_role("link", name="All heads").click()
    expect(inside.locator(".atlas")).to_be_visible()
    assert "embed=true" in frame.url


@pytest.mark.parametrize("keeps", [True, False], ids=["it keeps things", "it keeps nothing in frames"])
def test_a_room_for_a_class_opens_from_a_frame_in_a_tab_of_its_own(framed, bare_page, keeps):
    server, url = framed
    errors = []
    bare_page.on("pageerror", lambda error: errors.append(str(error)))
    if not keeps:
        bare_page.add_init_script(
            "if (window !== top) Object.defineProperty(window, 'sessionStorage', { get() { throw Error('denied') } })"
        )
    bare_page.goto(f"{url}/{server.url}/step_by_step?model=toy&step=scores&text=Two+birds+sing&embed=true")
    inside = bare_page.frame_locator("iframe")
    inside.get_by_role("button", name="Share", exact=True).click(timeout=PATIENCE)
    with bare_page.context.expect_page() as opened:
        inside.get_by_role("link", name="Open a room for a class, in a new tab").click()
    tab = opened.value
    # The same view, and the room is open, as if it had been pressed there.
    expect(tab.locator(".letters")).to_have_text(re.compile("^[A-Z]{6}$"))
    assert "text=Two+birds+sing" in tab.url
    assert "step=scores" in tab.url
    assert "embed" not in tab.url
    tab.reload()
    expect(tab.get_by_role("region", name="Class", exact=True)).to_be_visible()
    expect(tab.locator(".letters")).to_have_count(0)
    tab.close()
    assert errors == []


def test_a_tab_that_another_site_names_opens_no_room_and_is_not_shown_in_a_frame(server, elsewhere, bare_page):
    url, _ = elsewhere
    bare_page.goto(f"{url}/about:blank")
    with bare_page.context.expect_page() as opened:
        bare_page.evaluate("url => void open(url, 'attention_opening')", f"{server.url}/step_by_step?model=toy")
    tab = opened.value
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    expect(tab.get_by_role("note", name="Proof")).to_contain_text("✓")
    tab.get_by_role("button", name=re.compile("^Next")).click()
    expect(tab.get_by_role("heading", name=re.compile("^2. "))).to_be_visible()
    assert not [each for each in asked if "/_attention/room/" in each]
    tab.close()
    expect_no_frame(bare_page, url, server)


def expect_no_frame(page, url, server):
    """A site that the owner of the app has not named does not get it in a frame."""
    with page.expect_console_message(lambda message: "frame-ancestors" in message.text) as told:
        page.goto(f"{url}/{server.url}")
    assert told.value.type == "error"
    expect(page.frame_locator("iframe").get_by_test_id("stApp")).to_have_count(0)


def test_a_link_is_copied_in_a_frame_that_may_copy(framed, browser):
    server, url = framed
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    # The other way to copy, by a field that is selected, is not there.
    page.add_init_script("document.execCommand = () => false")
    page.goto(f"{url}/{server.url}/step_by_step?model=toy&step=scores&embed=true")
    inside = page.frame_locator("iframe")
    inside.get_by_role("button", name="Share", exact=True).click(timeout=PATIENCE)
    inside.get_by_role("button", name="Copy link", exact=True).click()
    expect(inside.get_by_role("button", name="Link copied")).to_be_visible()
    assert "step=scores" in page.evaluate("() => navigator.clipboard.readText()")
    context.close()


# What the owner says is said when the app starts, and in the end it is stopped.
def test_the_owner_says_who_frames_the_app_and_who_reads_its_numbers_and_stops_it_with_ctrl_c(
    elsewhere, bare_page, tmp_path
):
    url, _ = elsewhere
    said = {"ATTENTION_FRAME_ANCESTORS": "https://school.example", "ATTENTION_METRICS": "1"}
    with serve(tmp_path / "log", said) as server:
        expect_no_frame(bare_page, url, server)
        with urllib.request.urlopen(f"{server.url}/_stcore/metrics", timeout=30) as answer:
            assert answer.status == 200
            assert b"# TYPE" in answer.read()
        bare_page.goto("about:blank")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=60) == 0
        assert "Aborted" not in server.printed()
        assert "Traceback" not in server.printed()
