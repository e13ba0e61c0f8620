"""The app on the two minor versions of Streamlit before the pinned one, each installed for the test."""

import os
import re
import subprocess
import sys

import httpx2
import pytest
from playwright.sync_api import expect

from tests.browser.server import ROOT, serve
from tests.browser.tab import Tab

PINNED = re.search(r"^streamlit==(\d+)\.(\d+)", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)
MAJOR, MINOR = map(int, PINNED.groups())
PRESS = {"link": "model=toy&step=scores", "presses": [], "memory": {}, "visitor": "somebody"}
# Seconds until a busy machine has loaded its first model.
LONG = 120
SAYS = "import streamlit; print(streamlit.__version__, streamlit.__file__)"


@pytest.mark.parametrize("version", [f"{MAJOR}.{MINOR - back}" for back in (1, 2)])
def test_the_app_runs_on_it(version, browser, tmp_path):
    # Before what is installed, which stays as it is. By this name, Streamlit knows that nobody develops it.
    folder = tmp_path / "site-packages"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--retries=10", f"--target={folder}")
    # Up to 1.65, it reads its settings with toml.
    subprocess.run([*pip, f"streamlit=={version}.*", "toml"], check=True, timeout=300)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    says = subprocess.run([sys.executable, "-c", SAYS], env=environment, capture_output=True, text=True, check=True)
    assert says.stdout.startswith(f"{version}.")
    assert str(folder) in says.stdout
    with serve(tmp_path / "log", {"PYTHONPATH": path}) as server:
        with httpx2.Client(base_url=server.url, trust_env=False, timeout=LONG) as client:
            assert client.get("/").is_success
            answer = client.post("/_attention/page/step_by_step", json=PRESS)
        assert answer.is_success
        assert answer.json()["blocks"]
        page = browser.new_page()
        tab = Tab(page, server.url).go("step_by_step", model="toy", step="scores")
        tab.to_step("Scale")
        tab.expect_query(model="toy", step="scale")
        expect(page.get_by_role("note", name="Proof")).to_contain_text("✓")
        assert tab.errors == []
        page.close()
        assert "Traceback" not in server.printed()
