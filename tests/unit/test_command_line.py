import os

import pytest

from attention.app.__main__ import take_models
from attention.models.local import MODEL_DIRS_VARIABLE


@pytest.fixture(autouse=True)
def no_folders_yet(monkeypatch):
    monkeypatch.setenv(MODEL_DIRS_VARIABLE, "")


def folders():
    return [each for each in os.environ[MODEL_DIRS_VARIABLE].split(os.pathsep) if each]


def test_folders_are_taken_and_the_other_options_are_left_to_the_server(tmp_path, monkeypatch):
    (tmp_path / "a b").mkdir()
    (tmp_path / "c").mkdir()
    monkeypatch.chdir(tmp_path)
    options = ["--server.port=8501", "--model=c", "--model", str(tmp_path / "a b"), "--server.address=127.0.0.1"]
    assert take_models(options) == ["--server.port=8501", "--server.address=127.0.0.1"]
    assert folders() == [str(tmp_path / "c"), str(tmp_path / "a b")]


def test_they_join_those_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv(MODEL_DIRS_VARIABLE, "/already/there")
    take_models([f"--model={tmp_path}"])
    assert folders() == ["/already/there", str(tmp_path)]


def test_without_any_nothing_changes():
    assert take_models(["--server.port=1"]) == ["--server.port=1"]
    assert folders() == []


def test_a_folder_that_is_not_there_is_said_before_the_server_starts(tmp_path, capsys):
    with pytest.raises(SystemExit):
        take_models([f"--model={tmp_path / 'nowhere'}"])
    assert "nowhere" in capsys.readouterr().err
