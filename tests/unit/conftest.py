"""What the unit tests share: the bundled BERT, and the same weights run by transformers."""

import os

import pytest

from attention.models import hub
from attention.models.store import CACHE_DIR_VARIABLE
from tests import services
from tests.clock import Clock

# Those that resemble another one: of the encoder–decoders, a quick run takes only BART, T5 and M2M100.
ALIKE = {
    *("blenderbot", "blenderbot-small", "mbart", "mt5", "pegasus", "plbart", "umt5"),
    *("xlm-roberta", "distilbert", "llama-untied", "phi3", "qwen3", "gemma3_text"),
}


def pytest_collection_modifyitems(items):
    """Test similar architectures only in `make test-all`."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and callspec.params.get("kind") in ALIKE:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _settings_of_this_machine(tmp_path_factory):
    """Ignore the user's settings and downloads, but share the cache of what is made once from the bundled weights."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("ATTENTION_") and name != CACHE_DIR_VARIABLE]:
            patch.delenv(name)
        patch.setenv(hub.HUB_DIR_VARIABLE, str(tmp_path_factory.mktemp("hub")))
        yield


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server for tests."""
    if services.find("initdb") is None:
        pytest.skip(services.MISSING.format("PostgreSQL"))
    with services.postgres() as server:
        yield server


@pytest.fixture(scope="session")
def _one_torch_thread():
    """One thread: on a busy machine, torch's threads wait for one another far longer than they compute."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def minilm(_one_torch_thread):
    from tests.loaded import load

    return load("minilm-l6")


@pytest.fixture(scope="session")
def smollm2(_one_torch_thread):
    """The decoder; converting it takes half a minute, once per machine."""
    from tests.loaded import load

    return load("smollm2-135m")


@pytest.fixture(scope="session")
def smollm2_folder(smollm2):
    from attention.models import bundled, unpacking

    return unpacking.unpacked(bundled.SMOLLM2.weights)


@pytest.fixture(scope="session")
def eager_smollm2(smollm2_folder):
    """The reference: the whole model with its head, in transformers' eager attention, without the recorder."""
    import torch
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(
        smollm2_folder, local_files_only=True, attn_implementation="eager", dtype=torch.float32
    ).eval()


@pytest.fixture(scope="session")
def minilm_folder():
    from attention.models import bundled, weights

    return weights.locate(bundled.MINILM.weights)


@pytest.fixture(scope="session")
def load_bert(minilm_folder, _one_torch_thread):
    """Load the bundled BERT with transformers alone, with any attention implementation."""
    import torch
    from transformers import AutoModel

    def load(attention_name, dtype=torch.float32):
        model = AutoModel.from_pretrained(
            minilm_folder, local_files_only=True, attn_implementation=attention_name, dtype=dtype
        )
        return model.eval()

    return load


@pytest.fixture(scope="session")
def eager_bert(load_bert):
    """The reference: transformers' eager attention, without the recorder."""
    return load_bert("eager")


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory, _one_torch_thread):
    """Make a tiny model of an architecture once, and return its folder."""
    from functools import cache

    from tests.tiny_models import make

    root = tmp_path_factory.mktemp("tiny")
    return cache(lambda kind: make(kind, root / kind))


@pytest.fixture(scope="session")
def model_of(folder_of):
    """Load such a model."""
    from functools import cache

    from attention.models.architectures import info_from_config
    from attention.models.huggingface import HuggingFaceModel

    def load(kind):
        folder = folder_of(kind)
        info = info_from_config(kind, folder, name=kind.upper(), licence="none", source="random")
        return HuggingFaceModel(info, folder)

    return cache(load)


@pytest.fixture(scope="session")
def eager_of(folder_of):
    """Load such a model as a reference: no recorder, no SDPA, transformers' own plain attention."""
    import json
    from functools import cache

    from transformers import AutoModel, AutoModelForSeq2SeqLM

    def load(kind):
        folder = folder_of(kind)
        is_pair = json.loads((folder / "config.json").read_text()).get("is_encoder_decoder")
        loader = AutoModelForSeq2SeqLM if is_pair else AutoModel
        return loader.from_pretrained(folder, local_files_only=True, attn_implementation="eager").eval()

    return cache(load)


@pytest.fixture
def app(tmp_path, monkeypatch):
    """A server of rooms, with a database of its own."""
    from attention.classroom.rooms import Rooms

    monkeypatch.setenv("ATTENTION_DATABASE", f"sqlite:///{tmp_path / 'rooms.sqlite'}")
    return Rooms()


@pytest.fixture
def teacher(app):
    """A browser that opens rooms."""
    from starlette.testclient import TestClient

    return TestClient(app)


@pytest.fixture
def copies(postgres, monkeypatch):
    """Two servers of the same rooms."""
    from attention.classroom.rooms import Rooms

    monkeypatch.setenv("ATTENTION_DATABASE", postgres.new())
    both = Rooms(), Rooms()
    yield both
    for each in both:
        if each.hall.database.store is not None:
            each.hall.database.store.close()


@pytest.fixture
def clock():
    return Clock()
