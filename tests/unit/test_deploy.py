"""deploy/ against the app and the image; and its nginx, run in front of small servers."""

import json
import re
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests import services
from tests.ports import free_port
from tests.small_servers import small_server
from tests.until import until

ROOT = Path(__file__).parents[2]
NGINX = (ROOT / "deploy" / "nginx.conf").read_text()
COMPOSE_TEXT = (ROOT / "deploy" / "compose.yaml").read_text()
COMPOSE = yaml.safe_load(COMPOSE_TEXT)
KUBERNETES = list(yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text()))
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COPIES = {name: service for name, service in COMPOSE["services"].items() if name.startswith("app")}
WORKLOADS = [each for each in KUBERNETES if each["kind"] in ("Deployment", "StatefulSet")]
HEALTH = "/_stcore/health"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


# ------------------------------------------------------------------------------- what the files say


def of_kind(kind):
    return [each for each in KUBERNETES if each["kind"] == kind]


def containers():
    return [each for workload in WORKLOADS for each in workload["spec"]["template"]["spec"]["containers"]]


def test_nginx_knows_every_copy_by_a_name_of_its_own():
    named = re.findall(r"^\s+server (\w+):(\d+)", NGINX, re.MULTILINE)
    assert [name for name, _ in named] == list(COPIES)
    assert len(COPIES) == 3
    assert {port for _, port in named} == set(re.findall(r"^EXPOSE (\d+)", DOCKERFILE, re.MULTILINE))
    addresses = [service["networks"]["inside"]["ipv4_address"] for service in COMPOSE["services"].values()]
    assert len(set(addresses)) == len(COMPOSE["services"])


def test_all_copies_are_alike_but_for_their_addresses():
    alike = [{key: value for key, value in service.items() if key != "networks"} for service in COPIES.values()]
    assert all(each == alike[0] for each in alike)
    environment = alike[0]["environment"]
    assert environment["FORWARDED_ALLOW_IPS"] == COMPOSE["services"]["nginx"]["networks"]["inside"]["ipv4_address"]
    database = COMPOSE["services"]["database"]["environment"]
    for part in ("POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"):
        assert database[part] in environment["ATTENTION_DATABASE"]


def test_no_secret_is_written_down():
    for text in (COMPOSE_TEXT, (ROOT / "deploy" / "kubernetes.yaml").read_text()):
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        for line in code.splitlines():
            if re.search(r"password|secret", line, re.IGNORECASE) and "value:" in line:
                pytest.fail(line)
    for variable in ("STREAMLIT_SERVER_COOKIE_SECRET", "ATTENTION_DATABASE"):
        assert "${" in COPIES["app1"]["environment"][variable]


def test_every_variable_is_in_the_table_of_the_documentation():
    named = set(COPIES["app1"]["environment"]) | set(re.findall(r"\$\{(\w+)", COMPOSE_TEXT))
    named |= {entry["name"] for each in containers() if each["name"] == "app" for entry in each["env"]}
    table = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "configuration.md").read_text(), re.MULTILINE))
    assert named <= table
    assert {"ATTENTION_DATABASE", "STREAMLIT_SERVER_COOKIE_SECRET", "FORWARDED_ALLOW_IPS"} <= named


def test_the_app_runs_in_a_pod_as_in_its_image():
    (deployment,) = of_kind("Deployment")
    pod = deployment["spec"]["template"]["spec"]
    user = f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}"
    assert f"USER {user}" in DOCKERFILE
    (app,) = pod["containers"]
    assert f"EXPOSE {app['ports'][0]['containerPort']}" in DOCKERFILE
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert app[probe]["httpGet"] == {"path": HEALTH, "port": app["ports"][0]["name"]}
    assert f"{HEALTH}'" in DOCKERFILE
    assert {each["mountPath"] for each in app["volumeMounts"]} == {
        "/tmp",
        *re.findall(r'VOLUME \["(.*)"\]', DOCKERFILE),
    }


def test_whoever_is_selected_exists():
    labels = [each["spec"]["template"]["metadata"]["labels"] for each in WORKLOADS]
    ports = {port["name"] for each in containers() for port in each["ports"]}
    for service in of_kind("Service"):
        assert service["spec"]["selector"] in labels
        for port in service["spec"]["ports"]:
            assert port.get("targetPort", port["name"]) in ports
    for each in (*WORKLOADS, *of_kind("PodDisruptionBudget")):
        assert each["spec"]["selector"]["matchLabels"] in labels
    for policy in of_kind("NetworkPolicy"):
        assert policy["spec"]["podSelector"]["matchLabels"] in labels
    (ingress,) = of_kind("Ingress")
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert path["backend"]["service"]["name"] in {each["metadata"]["name"] for each in of_kind("Service")}
    assert ingress["spec"]["tls"][0]["hosts"] == [rule["host"]]
    cookie = ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/session-cookie-name"]
    assert f"$cookie_{cookie} " in NGINX
    assert {each["metadata"]["namespace"] for each in KUBERNETES} == {"attention"}


# ------------------------------------------------------------------------------- nginx for real


@pytest.fixture
def before():
    """Ask nginx, before copies of which one can be ended."""
    if services.find("nginx") is None:
        pytest.skip(services.MISSING.format("nginx"))
    ports = [free_port() for _ in COPIES]
    with services.front(ports) as url:
        running = {}
        for port in ports:
            running[port] = small_server(port)
            running[port].__enter__()
        until(lambda: ask(url)[0])
        yield url, running
        for each in running.values():
            each.__exit__(None, None, None)


def ask(url, cookie="", data=None, **headers):
    """Return what a copy says, and the cookie that nginx gives."""
    sent = {"Cookie": f"attention_way={cookie}", **headers} if cookie else headers
    try:
        with DIRECT.open(urllib.request.Request(url, data, sent), timeout=10) as answer:
            return json.loads(answer.read()), answer.headers.get("Set-Cookie", "")
    except urllib.error.URLError:
        return None, ""


def way(set_cookie):
    (found,) = re.findall(r"attention_way=([0-9a-f]{32}); Path=/; Max-Age=86400; HttpOnly; SameSite=Lax", set_cookie)
    return found


@pytest.mark.slow
def test_each_visitor_stays_on_one_copy_and_all_have_some(before):
    url, running = before
    visitors = []
    for _ in range(60):
        said, cookie = ask(url)
        visitors.append((way(cookie), said["copy"]))
    for cookie, copy in visitors * 2:
        said, again = ask(url, cookie)
        assert said["copy"] == copy
        assert again == ""
    counts = Counter(copy for _, copy in visitors)
    assert counts.keys() == running.keys()
    assert min(counts.values()) >= 5


@pytest.mark.slow
def test_a_copy_that_ends_hands_its_visitors_over_with_what_they_send_and_gets_them_back(before):
    url, running = before
    said, cookie = ask(url)
    mine, home = way(cookie), said["copy"]
    running.pop(home).__exit__(None, None, None)
    assert ask(url, mine)[0]["copy"] in running
    for n in range(5):
        said, _ = ask(url, mine, data=f"answer {n}".encode())
        assert said["copy"] in running
        assert said["body"] == f"answer {n}"
    running[home] = small_server(home)
    running[home].__enter__()
    until(lambda: ask(url, mine)[0]["copy"] == home, 30)


@pytest.mark.slow
def test_the_app_is_told_who_asks_and_for_whom_and_believes_no_visitor(before):
    url, _ = before
    said, _ = ask(url, **{"X-Forwarded-For": "6.6.6.6", "Host": "school.example:8080"})
    assert said["headers"]["X-Forwarded-For"] == "127.0.0.1"
    assert said["headers"]["Host"] == "school.example:8080"
    assert said["headers"]["X-Forwarded-Proto"] == "http"
    assert "Connection" not in said["headers"]
    _, cookie = ask(url, **{"X-Forwarded-Proto": "https"})
    assert cookie.endswith("; Secure")
    # What is no cookie of ours is replaced.
    _, cookie = ask(url, "0'; DROP")
    assert way(cookie)
