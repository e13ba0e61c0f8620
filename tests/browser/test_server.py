"""The server around the pages, started in each of three ways."""

import http.client
import http.server
import json
import re
import shlex
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from attention.answer.hosts import own_address
from attention.page.content.front import OPENING_TEXT
from tests.browser.server import ROOT, serve

SCHOOL = "https://school.example"
# Python says of every look-up and of every packet to whom it goes, before it does it.
RECORDER = """
import os, socket, sys

record = os.open(os.environ["RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def note(event, arguments):
    if event == "socket.connect" and arguments[0].type == socket.SOCK_DGRAM:
        # It sends nothing, and asks the system alone which address this machine has.
        os.write(record, f"own-address {arguments[1]}\\n".encode())
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        os.write(record, f"{event} {arguments[1]}\\n".encode())
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"):
        os.write(record, f"{event} {arguments[0]}\\n".encode())

sys.addaudithook(note)
"""
THIS_MACHINE = re.compile(r"\('(127\.0\.0\.1|::1)', .*\)|None|localhost|127\.0\.0\.1|::1|0\.0\.0\.0|::")

# Addresses that exist in documentation alone, to which no packet goes.
OWN_ADDRESS = ("own-address ('192.0.2.1', 9)", "own-address ('2001:db8::1', 9)")


def make_run():
    """What `make run` does for a class, once everything is installed."""
    made = ["make", "--no-print-directory", "--dry-run", "run", "HOST=0.0.0.0", "PORT=PORT"]
    printed = subprocess.run(made, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    return shlex.split(printed.splitlines()[-1].removeprefix("exec "))


def image():
    """What the image does."""
    (line,) = re.findall(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    python, *words = json.loads(line)
    assert python == "python"
    return [sys.executable, *(word.replace("8501", "PORT") for word in words)]


def plain():
    """What everybody does who knows Streamlit."""
    return [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port=PORT"]


WAYS = {"make run": make_run, "image": image, "streamlit run": plain}


@pytest.fixture(scope="module", params=WAYS)
def recorded(request, tmp_path_factory):
    """The app, started in one of the ways and open to everybody, and the file that has whom it called."""
    base = tmp_path_factory.mktemp("server")
    (base / "sitecustomize.py").write_text(RECORDER)
    environment = {
        "PYTHONPATH": f"{base}:{ROOT}",
        "RECORD": str(base / "record"),
        "STREAMLIT_SERVER_CORS_ALLOWED_ORIGINS": SCHOOL,
    }
    with serve(base / "log", environment, command=WAYS[request.param]()) as server:
        yield server, base / "record"


def called(record):
    """Whom the server has looked up or called, beside this machine itself."""
    lines = record.read_text().splitlines() if record.exists() else []
    others = [line for line in lines if not THIS_MACHINE.fullmatch(line.split(maxsplit=1)[1])]
    return [line for line in others if line not in OWN_ADDRESS]


def shake_hands(server, origin, host=None):
    """Ask for a WebSocket as a page at this origin would, and return how that was answered."""
    netloc = urlsplit(server.url).netloc
    connection = http.client.HTTPConnection(netloc, timeout=30)
    connection.putrequest("GET", "/_stcore/stream", skip_host=True)
    connection.putheader("Host", netloc if host is None else host)
    for name, value in {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version": "13",
        **({} if origin is None else {"Origin": origin}),
    }.items():
        connection.putheader(name, value)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


def ask(server, path, **headers):
    """Return the status and the headers of an answer, without following where it leads."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def test_the_recorder_hears_what_it_is_to_hear(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(RECORDER)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        program = f"import socket; socket.create_connection(('localhost', {port})); socket.getaddrinfo('192.0.2.1', 1)"
        environment = {"PYTHONPATH": str(tmp_path), "RECORD": str(tmp_path / "record")}
        subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)
    heard = (tmp_path / "record").read_text()
    assert "socket.getaddrinfo localhost\n" in heard
    assert f"socket.connect ('127.0.0.1', {port})\n" in heard
    assert called(tmp_path / "record") == ["socket.getaddrinfo 192.0.2.1"]


def test_the_first_visitors_are_answered_and_nobody_is_called(recorded, new_tab, models):
    server, record = recorded
    assert called(record) == []
    tab = new_tab(at=server, permissions=["clipboard-read", "clipboard-write"]).go("")
    # The front of a server that has only just started shows what a model did.
    bert = models["minilm-l6"].trace(OPENING_TEXT).layers[3].head(1).weights
    expect(tab.page.locator(".arcs .weight").nth(2)).to_have_text(f"{bert[10, 2]:.2f}")
    tab.type_sentence("Nobody hears this")
    tab.go(model="toy", step="softmax")
    assert called(record) == []
    # Others may come: the link that is copied has the address for them.
    tab.copy_link()
    expect(tab.page.get_by_role("button", name="Link copied")).to_be_visible()
    copied, here = tab.page.evaluate("() => navigator.clipboard.readText()"), urlsplit(tab.page.url)
    network = f"http://{own_address() or socket.gethostname()}:{here.port}"
    assert copied == f"{network}{here.path}?{here.query}"
    expect(tab.page.locator(".line .status").first).to_contain_text(network)
    netloc = urlsplit(server.url).netloc
    for origin in ("https://elsewhere.example", "http://192.0.2.7:8501", "null", "http://[", "nonsense", ""):
        for host in (netloc, "elsewhere", "192.0.2.8", "[", "x@y:z", ""):
            assert shake_hands(server, origin, host) in (400, 403), (origin, host)
    assert shake_hands(server, SCHOOL) == 101
    assert called(record) == []
    assert ask(server, "/_stcore/health")[::2] == (200, b"ok")
    assert "Traceback" not in server.printed()
    assert f"http://localhost:{urlsplit(server.url).port}/" in server.printed()


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://192.0.2.7:8501", "192.0.2.7:8501"),
        ("http://[2001:db8::1]:8501", "[2001:db8::1]:8501"),
        (None, "192.0.2.7:8501"),
    ],
)
def test_a_class_is_let_in(recorded, origin, host):
    """Whatever name or address of this machine they open, their page and their WebSocket have the same."""
    server, record = recorded
    assert shake_hands(server, origin, host) == 101
    assert called(record) == []


@pytest.mark.parametrize("path", ["/", "/step_by_step", "/_stcore/health", "/nothing/here", "/static/js/nothing.js"])
def test_no_answer_may_be_guessed_at(recorded, path):
    headers = ask(recorded[0], path)[1]
    assert headers["X-Content-Type-Options"] == "nosniff"
    is_document = headers["Content-Type"].startswith("text/html")
    assert ("frame-ancestors 'self'" in headers.get("Content-Security-Policy", "")) == is_document


def test_a_document_that_is_kept_is_told_the_policy_anew(recorded):
    _, first, _ = ask(recorded[0], "/")
    status, again, _ = ask(recorded[0], "/", **{"If-None-Match": first["ETag"]})
    assert status == 304
    assert again["Content-Security-Policy"] == first["Content-Security-Policy"]


def test_the_servers_own_numbers_are_given_to_nobody(recorded):
    assert ask(recorded[0], "/_stcore/metrics")[0] == 404


BELOW = {
    "x": "../step_by_step",
    "x/y/": "../../../step_by_step",
    "//elsewhere.example": "../../../step_by_step",
}


@pytest.mark.parametrize("below", BELOW)
def test_what_is_below_a_page_leads_to_the_page(recorded, below):
    status, headers, _ = ask(recorded[0], f"/step_by_step/{below}?text=Two+birds+%26%20a%0d%0aX-Cat:%20a&model=toy")
    assert status == 307
    assert headers["Location"] == f"{BELOW[below]}?text=Two+birds+%26%20a%0d%0aX-Cat:%20a&model=toy"


def test_what_streamlit_looks_for_below_a_page_is_not_there(recorded):
    for path in ("/step_by_step/_stcore/health", "/step_by_step/_stcore/host-config"):
        assert ask(recorded[0], path)[0] == 404


def test_a_browser_that_is_sent_below_a_page_shows_the_page(server, new_tab):
    # The address that has most of what the others have: two slashes, and another host's name.
    tab = new_tab().go_to(
        f"{server.url}/step_by_step///elsewhere.example?text=Two+birds+%26+a+cat&model=toy&step=scores"
    )
    assert tab.page.url.startswith(f"{server.url}/step_by_step?")
    assert tab.query() == {"text": "Two birds & a cat", "model": "toy", "step": "scores"}
    expect(tab.field).to_have_value("Two birds & a cat")


# What a browser calls them: a script and a style sheet as files, the other files, a request, a text taken for a
# script, and a script in an attribute. (A script that is written into the page counts as the first.)
WAYS_IN = {
    "script-src-elem",
    "style-src-elem",
    "img-src",
    "frame-src",
    "object-src",
    "connect-src",
    "script-src",
    "script-src-attr",
}


@pytest.mark.quick
def test_a_page_takes_nothing_from_elsewhere(server, elsewhere, bare_page):
    url, asked = elsewhere
    bare_page.goto(f"{server.url}/step_by_step?model=toy")
    bare_page.get_by_role("note", name="Proof").wait_for()
    bare_page.evaluate(
        """async url => {
          window.refused = new Set();
          document.addEventListener('securitypolicyviolation', event => refused.add(event.effectiveDirective));
          const ends = element => new Promise(done => { element.onload = element.onerror = done; });
          for (const kind of ['script', 'img', 'iframe', 'embed']) {
            const element = document.body.appendChild(document.createElement(kind));
            element.src = url;
            if (kind === 'script' || kind === 'img') await ends(element);
          }
          const link = document.head.appendChild(document.createElement('link'));
          [link.rel, link.href] = ['stylesheet', url];
          await ends(link);
          await fetch(url).catch(() => {});
          document.body.appendChild(document.createElement('script')).textContent = 'window.injected = true';
          const button = document.body.appendChild(document.createElement('button'));
          button.setAttribute('onclick', 'window.injected = true');
          button.click();
          try { Function('window.injected = true')(); } catch { }
        }""",
        url,
    )
    bare_page.wait_for_function("wanted => wanted.every(each => refused.has(each))", arg=sorted(WAYS_IN))
    assert not bare_page.evaluate("() => window.injected")
    assert asked == []


def test_an_option_that_there_is_not_is_named():
    done = subprocess.run(
        [sys.executable, "-m", "attention.app", "--server.nonsense=1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2
    assert "server.nonsense" in done.stderr
