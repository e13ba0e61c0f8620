import asyncio
import socket
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from urllib.parse import urljoin, urlsplit

import psutil
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from streamlit import config

from attention.answer.hosts import address_for_others, in_network, is_known, own_address
from attention.app.server import MAX_DESCRIPTORS, _BodyTimeout, address, content_policy, page_below, send_at_once
from tests.loops import complete

PAGES = frozenset({"models", "step_by_step"})
# The first line of a program that says how many descriptors it may have, at first and after it has asked for more.
LIMITS = """
import resource, sys
from attention.app.server import raise_descriptor_limit
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
raise_descriptor_limit()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""
segment = st.text(st.characters(codec="utf-8", exclude_characters="/?#"), max_size=8)
host = st.from_regex(r"[a-z][a-z0-9.]{0,8}(:[1-9][0-9]{0,3})?", fullmatch=True)


@pytest.mark.parametrize(
    ("soft", "hard", "wanted"),
    [(256, 4096, 4096), (256, 256, 256), (4096, 4096, 4096), (256, 16_384, MAX_DESCRIPTORS), (12_000, 16_384, 12_000)],
)
def test_a_server_may_open_as_many_files_as_it_is_allowed_but_not_without_bounds(soft, hard, wanted):
    """At 256, which is macOS's own, a class of thirty has no room: a tab takes four."""
    program = [sys.executable, "-c", LIMITS, str(soft), str(hard)]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == [str(wanted), str(hard)]


def directive(policy, name):
    (found,) = [each for each in policy.split("; ") if each.startswith(f"{name} ")]
    return found.removeprefix(f"{name} ")


@pytest.mark.parametrize(
    ("wanted", "written"),
    [
        ("", "'self'"),
        ("none", "'none'"),
        ("*", "*"),
        ("self https://school.example:8443", "'self' https://school.example:8443"),
        ("https://*.school.example\thttps://other.example/a", "https://*.school.example https://other.example/a"),
    ],
)
def test_the_owner_says_who_may_frame_the_app(wanted, written):
    assert directive(content_policy([], wanted), "frame-ancestors") == written


@pytest.mark.parametrize("wanted", ["https://a.example; script-src *", "a,b", "'self'", "a\nb: c;", "schöne.example"])
def test_what_is_no_address_is_said_before_the_server_starts(wanted):
    with pytest.raises(SystemExit, match=r"ATTENTION_FRAME_ANCESTORS: "):
        content_policy([], wanted)


def test_a_script_in_the_page_is_known_by_its_hash():
    """The example of the specification, CSP Level 2, "Hash usage for script elements"."""
    policy = content_policy(["alert('Hello, world.');"])
    assert "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='" in directive(policy, "script-src").split()
    assert "unsafe" not in directive(policy, "script-src")


@given(st.sampled_from(sorted(PAGES)), st.lists(segment, min_size=1, max_size=4), st.sampled_from(["", "/behind/it"]))
def test_from_below_a_page_a_browser_comes_to_the_page(page, below, prefix):
    way = page_below("/".join(["", page, *below]), PAGES)
    if {"_stcore", "static", "media", "component"} & set(below):
        assert way is None
        return
    # Letters alone, for a browser takes "." and ".." out of the address before it asks, and urljoin empty parts.
    at = "/".join([f"http://here{prefix}", page, *("x" for _ in below[:-1]), "x" if below[-1] else ""])
    assert urljoin(at, way) == f"http://here{prefix}/{page}"


@given(st.text(max_size=30))
def test_a_way_leads_to_a_page_or_nowhere(path):
    way = page_below(path, PAGES)
    assert way is None or urlsplit(way).path.split("/")[-1] in PAGES
    assert way is None or not (urlsplit(way).netloc or urlsplit(way).scheme)


@pytest.mark.parametrize("path", ["/", "/step_by_step", "/stepbystep/x", "//step_by_step/x", "/x/step_by_step/y", ""])
def test_elsewhere_nobody_is_led(path):
    assert page_below(path, PAGES) is None


@given(st.sampled_from(["http", "https"]), host, host, st.sets(host, max_size=3))
def test_a_page_is_known_by_its_host(scheme, origin_host, own_host, named):
    without_port = {each.split(":")[0] for each in named}
    expected = origin_host == own_host or origin_host.split(":")[0] in without_port
    assert is_known(f"{scheme}://{origin_host}", own_host, without_port) == expected


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:8631.evil.example",
        "http://localhost:8631@evil.example",
        "http://localhost\n",
        "http://[localhost]",
        "null",
    ],
)
def test_what_only_begins_like_this_machine_is_not_this_machine(origin):
    assert not is_known(origin, "localhost:8631", {"localhost"})
    assert is_known("http://localhost:8631", "localhost:8501", {"localhost"})
    assert is_known("https://[::1]:8631", "localhost:8501", {"::1"})


@pytest.mark.parametrize(
    ("bound_to", "seen"),
    [("", "localhost"), ("0.0.0.0", "localhost"), ("::", "localhost"), ("192.0.2.7", "192.0.2.7"), ("::1", "[::1]")],
)
def test_a_browser_is_told_an_address_that_it_can_open(bound_to, seen):
    assert address(bound_to) == seen


@pytest.fixture
def bound_to():
    """Have the server's address be another one."""
    before = config.get_option("server.address")
    yield lambda address: config.set_option("server.address", address)
    config.set_option("server.address", before)


def test_what_others_are_given_leads_to_this_machine(bound_to):
    bound_to("0.0.0.0")
    found = urlsplit(address_for_others("http", "localhost:8501"))
    assert found.port == config.get_option("server.port")
    if own_address() is None:
        assert found.hostname == socket.gethostname().lower()
        return
    ours = {each.address for found in psutil.net_if_addrs().values() for each in found}
    assert found.hostname in ours - {"127.0.0.1", "::1"}
    family = socket.AF_INET6 if ":" in found.hostname else socket.AF_INET
    with socket.create_server(("", 0), family=family) as listener:
        at = (found.hostname, listener.getsockname()[1])
        with socket.create_connection(at, timeout=10) as reached:
            assert reached.getpeername()[:2] == at


@pytest.mark.parametrize("host", ["localhost:8501", "127.0.0.1:8501", "[::1]:8501"])
def test_a_server_for_this_machine_alone_has_no_address_for_others(bound_to, host):
    bound_to("127.0.0.1")
    assert (in_network(), address_for_others("http", host)) == ("", f"http://{host}")


@pytest.mark.parametrize("host", ["school.example", "school.example:8443", "192.0.2.7:8501", "localhost.example"])
def test_where_a_browser_found_the_server_by_another_name_so_do_others(bound_to, host):
    bound_to("0.0.0.0")
    assert address_for_others("https", host) == f"https://{host}"


async def app_that_reads(scope, receive, send):
    """Say how long the body was; below /unread, answer without it."""
    if scope["path"] == "/unread":
        await PlainTextResponse("No", status_code=403)(scope, receive, send)
        return
    body = await Request(scope, receive).body()
    await PlainTextResponse(f"{len(body)} bytes")(scope, receive, send)


@asynccontextmanager
async def served_at(app):
    """Serve an app on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        yield listener.getsockname()
        server.should_exit = True
        await running


LENGTH, PARTS = b"Content-Length: 9\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("path", "rest", "answered"),
    [
        (b"/", LENGTH + b"1234", b"408 Request Timeout"),
        (b"/", PARTS + b"4\r\n1234\r\n", b"408 Request Timeout"),
        (b"/unread", LENGTH + b"1234", b"403 Forbidden"),
        (b"/", LENGTH + b"123456789", b"200 OK"),
        (b"/", PARTS + b"4\r\n1234\r\n0\r\n\r\n", b"200 OK"),
        (b"/", b"\r\n", b"200 OK"),
    ],
)
def test_half_a_request_is_given_up_and_its_connection_is_closed(path, rest, answered):
    is_half = answered != b"200 OK"

    async def ask():
        # Of those that are whole, the time is not over before they are read.
        async with served_at(_BodyTimeout(app_that_reads, seconds=0.2 if is_half else 60)) as at:
            reader, writer = await asyncio.open_connection(*at)
            writer.write(b"POST " + path + b" HTTP/1.1\r\nHost: here\r\n" + rest)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
            assert head.startswith(b"HTTP/1.1 " + answered)
            if is_half:
                # What comes after that finds nobody.
                writer.write(b"5")
                assert b"connection: close" in head.lower()
                with suppress(ConnectionError):
                    assert len(await asyncio.wait_for(reader.read(), 30)) < 20
            writer.close()

    complete(ask())


def test_only_the_wait_for_the_body_counts():
    """With no time at all, a body that is there already is read, and the app may compute for as long as it wants."""

    async def app(scope, receive, send):
        body = await Request(scope, receive).body()
        for _ in range(1_000):
            await asyncio.sleep(0)
        await PlainTextResponse(body)(scope, receive, send)

    said = []

    async def receive():
        return {"type": "http.request", "body": b"123456789", "more_body": False}

    async def send(message):
        said.append(message)

    complete(_BodyTimeout(app, seconds=0.0)({"type": "http", "method": "POST", "headers": []}, receive, send))
    assert [message.get("status", message.get("body")) for message in said] == [200, b"123456789"]


def test_what_is_small_is_not_kept_back():
    """On a socket as Streamlit opens one."""
    found = []

    def note(_, writer):
        option = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        found.append(bool(option))
        writer.close()

    async def visit():
        with socket.socket(socket.AF_INET) as listener, socket.socket(socket.AF_INET) as other:
            for each in (listener, other):
                each.bind(("127.0.0.1", 0))
                each.listen()
            port = listener.getsockname()[1]
            send_at_once(port)
            assert not other.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            async with await asyncio.start_server(note, sock=listener):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                assert await reader.read() == b""
                writer.close()

    complete(visit())
    assert found == [True]
