"""Find or install the nginx and PostgreSQL that some tests need.

    python -m tests.services             # report what there is
    python -m tests.services --install   # install what is missing, as root, from Debian's packages

Without them, the tests that need them are skipped.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_port, is_listening
from tests.until import until

ROOT = Path(__file__).resolve().parents[1]
# Programs, and the packages that contain them.
PACKAGES = {"nginx": "nginx-light", "initdb": "postgresql"}
FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin")
MISSING = "there is no {} on this machine"


def find(program: str) -> str | None:
    """Return the path of a program, even if it is not on the PATH."""
    debians = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
    return shutil.which(program) or shutil.which(program, path=os.pathsep.join((*FOLDERS, *debians)))


def install() -> None:
    """Install what is missing, if possible; callers check what is there afterwards."""
    packages = [package for program, package in PACKAGES.items() if find(program) is None]
    if not packages or not _is_root() or not shutil.which("apt-get"):
        return
    for command in (
        ("apt-get", "update", "--quiet"),
        ("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *packages),
    ):
        # Start nothing: the tests start servers of their own, on loopback.
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, env=environment, check=False, **quiet)


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _user() -> str | None:
    """The user for PostgreSQL, which refuses to run as root; None if we are not root."""
    return "nobody" if _is_root() else None


class Postgres:
    """A PostgreSQL server for tests, reachable only through a socket in its own folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._n_databases = 0
        if user := _user():
            shutil.chown(folder, user)
        self._run("initdb", "--pgdata", self._data, "--username=tests", "--auth=trust", "--no-sync", "--encoding=UTF8")

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-c listen_addresses= -c unix_socket_directories={self._folder} -c fsync=off"
        log = str(self._folder / "log")
        self._run("pg_ctl", "start", "--wait", "--pgdata", self._data, "--log", log, "--options", options)

    def stop(self) -> None:
        """Stop it at once, like a power cut."""
        self._run("pg_ctl", "stop", "--wait", "--pgdata", self._data, "--mode=immediate")

    def new(self) -> str:
        """Return the SQLAlchemy URL of a new database."""
        self._n_databases += 1
        name = f"rooms{self._n_databases}"
        self._run("createdb", "--host", str(self._folder), "--username=tests", name)
        return f"postgresql+psycopg://tests@/{name}?host={self._folder}"

    def log(self) -> str:
        return (self._folder / "log").read_text("utf-8", errors="replace")

    @staticmethod
    def _run(program: str, *words: str) -> None:
        command = [find(program) or program, *words]
        done = subprocess.run(
            command,
            user=_user(),
            extra_groups=[] if _user() else None,
            cwd="/",
            # Its child processes keep the output open, so do not wait for that.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}")


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Start a PostgreSQL server, and stop it at the end."""
    # A socket's path is limited to about a hundred characters, which pytest's folders exceed.
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        server = Postgres(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def front(ports: Sequence[int]) -> Iterator[str]:
    """Start deploy/'s nginx in front of copies of the app at these ports; return its address."""
    copies = {f"server app{number}:8501 ": f"server 127.0.0.1:{port} " for number, port in enumerate(ports, 1)}
    with _nginx("nginx.conf", copies) as url:
        yield url


@contextmanager
def below_a_path(port: int, *, tells_host: bool = True) -> Iterator[str]:
    """Start deploy/'s nginx with the app below a path; return the app's address there.

    Unless it passes on the browser's Host, it names that in X-Forwarded-Host.
    """
    told = {} if tells_host else {"proxy_set_header Host ": "proxy_set_header X-Forwarded-Host "}
    with _nginx("nginx-path.conf", {"http://app:8501;": f"http://127.0.0.1:{port};", **told}) as url:
        yield f"{url}/attention"


@contextmanager
def _nginx(name: str, replaced: Mapping[str, str]) -> Iterator[str]:
    """Start nginx with a configuration of deploy/, changing only addresses and the folders it writes to."""
    port = free_port()
    # nginx's worker processes, which may have another user, must be able to write there.
    with tempfile.TemporaryDirectory(prefix="nginx") as folder:
        Path(folder).chmod(0o777)
        text = (ROOT / "deploy" / name).read_text("utf-8")
        for old, new in {"listen 8080 ": f"listen 127.0.0.1:{port} ", " /tmp/": f" {folder}/", **replaced}.items():
            assert old in text, old
            text = text.replace(old, new)
        configuration, log = Path(folder) / "nginx.conf", Path(folder) / "log"
        configuration.write_text(text, "utf-8")
        command = [find("nginx") or "nginx", "-e", "stderr", "-p", folder, "-c", str(configuration)]
        with log.open("wb") as output:
            process = subprocess.Popen([*command, "-g", "daemon off;"], stdout=output, stderr=subprocess.STDOUT)
        try:
            until(lambda: is_listening(port) or process.poll() is not None)
            assert process.poll() is None, log.read_text("utf-8", errors="replace")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=10)


def main() -> int:
    """Report what there is, after installing what is missing if asked to."""
    parser = argparse.ArgumentParser(description="Find the nginx and the PostgreSQL of the tests.")
    parser.add_argument("--install", action="store_true", help="install what is missing")
    if parser.parse_args().install:
        install()
    for program in PACKAGES:
        print(f"{program}: {find(program) or 'none, so the tests that need it are skipped'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
