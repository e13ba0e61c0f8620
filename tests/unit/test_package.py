"""The package: built as a wheel, installed out of reach of the checkout, and used there."""

import shutil
import subprocess
import sys
import sysconfig
import textwrap
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

import attention
from attention.core import paths
from tests.browser.server import serve

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
# Of this machine, no settings: neither paths of Python's, nor where models are kept.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), "LANG": "C.UTF-8"}


def ran(*command, cwd):
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy of the checkout, because building leaves files behind."""
    base = tmp_path_factory.mktemp("wheel")
    skipped = shutil.ignore_patterns(".git", ".venv", "__pycache__", "tests", "build", "*.egg-info")
    shutil.copytree(ROOT, base / "source", ignore=skipped)
    # As somebody has it who runs the app from this checkout; the wheel is for others.
    (base / "source" / ".streamlit" / "secrets.toml").write_text('password = "mine"\n')
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation")
    ran(*pip, "--wheel-dir", base, ".", cwd=base / "source")
    (found,) = base.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment with the wheel in it; what it depends on is read from this one's."""
    base = tmp_path_factory.mktemp("installed")
    venv.create(base / "venv", symlinks=True)
    python = base / "venv" / "bin" / "python"
    (packages,) = (base / "venv").glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    ran(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=base)
    (base / "elsewhere").mkdir()
    yield base
    shutil.rmtree(base)


def said(installed, program):
    """What a program prints in that environment, line by line, run in a folder that is empty."""
    python = installed / "venv" / "bin" / "python"
    return ran(python, "-c", textwrap.dedent(program), cwd=installed / "elsewhere").splitlines()


def test_the_wheel_has_every_module_and_every_file_that_they_read(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "attention").rglob("*.py")}
    assets = {
        f"attention/_assets/{path.relative_to(paths.ASSETS).as_posix()}"
        for path in paths.ASSETS.rglob("*")
        if path.is_file() and "screenshots" not in path.parts
    }
    app = [".streamlit/config.toml", "app.py", *(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))]
    own = {name for name in names if ".dist-info/" not in name}
    assert own == {"attention/py.typed"} | modules | assets | {f"attention/_app/{name}" for name in app}


def test_it_is_imported_from_there_with_its_assets_and_every_page_is_drawn(installed):
    where, version, lessons, largest, *drawn = said(
        installed,
        """
        import attention
        from attention.lesson.prose import lessons
        from attention.models import load
        from attention.page.pages import PAGES
        from attention.core.paths import APP
        from attention.answer.page import Asked, answer
        from streamlit.testing.v1 import AppTest

        print(attention.__file__)
        print(attention.__version__)
        print(len(lessons()))
        print(max(load(name).trace(text).check() for name, text in
                  (("toy", "The cat sat on the mat"), ("translator-fr-en", "le chat noir dort"))))
        at = AppTest.from_file(str(APP / "app.py"), default_timeout=600).run()
        for page in PAGES:
            at.switch_page(page.file).run()
            assert not at.exception, (page, at.exception)
            assert answer(Asked(page, {"model": "toy"}))["blocks"]
            print(page.file)
        """,
    )
    assert Path(where).is_relative_to(installed / "venv")
    assert version == attention.__version__
    assert int(lessons) > 100
    assert float(largest) < 1e-5
    assert sorted(drawn) == ["app.py", *sorted(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))]


def test_its_command_serves_the_app_from_any_folder(installed, tmp_path):
    command = installed / "venv" / "bin" / "step-by-step-attention"
    options = ("--server.port=PORT", "--server.address=127.0.0.1")
    removed = dict.fromkeys(("PYTHONPATH", "VIRTUAL_ENV"), "")
    with serve(tmp_path / "log", removed, command=(str(command), *options), folder=installed / "elsewhere") as server:
        assert command.read_text().startswith(f"#!{installed}")
        # It is the app with what surrounds its pages, not only Streamlit.
        with DIRECT.open(f"{server.url}/neuron_view") as answer:
            assert "default-src" in answer.headers["Content-Security-Policy"]
        assert "Traceback" not in server.printed()
    assert not list((installed / "elsewhere").iterdir())
