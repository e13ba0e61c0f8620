import json
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from threading import Event, Thread

import numpy as np
import psutil
import pytest
from safetensors.numpy import load_file, save_file

from attention.models import (
    ModelUnavailableError,
    bundled,
    get_info,
    hub,
    hub_download,
    list_models,
    load,
    local,
    store,
)
from attention.models.files import INDEX, SINGLE
from attention.models.hub import HubError
from attention.models.hub_download import Cancelled
from attention.models.memory import MAX_MEMORY_VARIABLE
from tests.small_hub import COMMIT, serve_hub
from tests.sweep import sweep
from tests.unit.saying import says

ID = "tiny/bert"


@pytest.fixture(scope="module")
def tiny(folder_of):
    """Tiny models of several architectures, as folders."""
    return {kind: folder_of(kind) for kind in ("bert", "t5", "vit")}


@pytest.fixture(scope="module")
def open_hub():
    with serve_hub() as small:
        yield small


@pytest.fixture
def small(open_hub, tiny, tmp_path, monkeypatch):
    """A hub with tiny models, which may all be fetched, and an empty cache."""
    url = open_hub.url
    open_hub.__init__(url)
    open_hub.models |= {f"tiny/{kind}": folder for kind, folder in tiny.items()}
    monkeypatch.setenv("HF_ENDPOINT", f"{url}/")
    monkeypatch.setenv(hub.ALLOW_VARIABLE, "*")
    monkeypatch.delenv(hub.HUB_DIR_VARIABLE)
    monkeypatch.setenv(store.CACHE_DIR_VARIABLE, str(tmp_path / "cache"))
    # A machine that is busy is no fault of the hub.
    monkeypatch.setattr(hub_download, "PATIENCE", 60)
    yield open_hub
    open_hub.go_on.set()


def fetch(model_id=ID, on_progress=lambda progress: None, is_cancelled=lambda: False):
    return local.fetch(model_id, on_progress, is_cancelled)


def saying(of=SINGLE, **facts):
    """A hub that says something else of a file."""

    def say(answer):
        next(each for each in answer["siblings"] if each["rfilename"] == of).update(facts)
        return answer

    return say


def left():
    """All that is in the cache."""
    return [path for path in store.cache_dir().rglob("*") if path.is_file()]


def refused(match, model_id=ID):
    """Hold that a model is refused with a sentence, and that nothing of it is left."""
    with pytest.raises(HubError, match=match) as caught:
        fetch(model_id)
    assert left() == []
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "http" not in sentence
    # The app works on.
    assert list_models() == list(bundled.infos())
    return sentence


@pytest.mark.parametrize("kind", sweep(["bert", "t5", "vit"], quick=["t5"]))
def test_a_fetched_model_is_one_of_the_catalogue_and_gives_what_its_folder_gives(small, tiny, kind):
    from attention.models.huggingface import HuggingFaceModel

    model_id = f"tiny/{kind}"
    found = fetch(model_id)
    info = get_info(model_id)
    assert (info.model_id, info.name, info.licence) == (model_id, kind, "apache-2.0")
    assert COMMIT[:12] in info.source
    text = info.reading.first
    trace = load(model_id).trace(text)
    wanted = HuggingFaceModel(info, tiny[kind]).trace(text)
    for layer, expected in zip(trace.layers, wanted.layers, strict=True):
        np.testing.assert_array_equal(layer.model_output, expected.model_output)
    assert max(layer.check() for layer in trace.layers) < 1e-5
    assert found.revision == COMMIT
    assert hub.manifests() == [found]


def test_nothing_but_what_is_needed_is_asked_for_of_one_commit(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "more")
    for name in ("pytorch_model.bin", "modeling_tiny.py", "tf_model.h5", "README.md"):
        (folder / name).write_text("not this")
    small.models[ID] = folder
    kept = fetch()
    names = {path.name for path in kept.folder.iterdir()}
    assert names == {"config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors", "hub.json"}
    assert small.asked[0] == f"/api/models/{ID}"
    files = {path for path in small.asked[1:] if not path.startswith("/storage/")}
    assert files == {f"/api/models/{ID}/tree/{COMMIT}"} | {
        f"/{ID}/resolve/{COMMIT}/{name}" for name in names - {hub.MANIFEST}
    }
    assert not [path for path in small.asked if path.endswith((".bin", ".py", ".h5"))]


def test_progress_is_told_in_bytes_up_to_the_last_one(small):
    told = []
    kept = fetch(on_progress=told.append)
    sizes = [path.stat().st_size for path in kept.folder.iterdir() if path.name != hub.MANIFEST]
    assert {each.n_total for each in told} == {sum(sizes)}
    assert [each.n_done for each in told] == sorted(each.n_done for each in told)
    assert told[-1].n_done == sum(sizes)


@pytest.mark.slow
def test_weights_in_several_files_are_fetched_together(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "shards")
    tensors = load_file(folder / SINGLE)
    (folder / SINGLE).unlink()
    names = sorted(tensors)
    parts = {f"model-0000{i}-of-00002.safetensors": names[i - 1 :: 2] for i in (1, 2)}
    for file, part in parts.items():
        save_file({name: tensors[name] for name in part}, folder / file, {"format": "pt"})
    index = {"metadata": {}, "weight_map": {name: file for file, part in parts.items() for name in part}}
    (folder / INDEX).write_text(json.dumps(index))
    small.models[ID] = folder
    kept = fetch()
    assert kept.weights == tuple(parts)
    assert len(kept.checksum) == 64
    whole = load(ID).trace("The cat sat")
    shutil.rmtree(kept.folder)
    small.models[ID] = tiny["bert"]
    fetch()
    np.testing.assert_array_equal(load(ID).trace("The cat sat").layers[-1].model_output, whole.layers[-1].model_output)
    # One that is named and not there is not overlooked.
    (folder / "model-00002-of-00002.safetensors").unlink()
    small.models["tiny/part"] = folder
    with pytest.raises(HubError, match=r"model-00002"):
        fetch("tiny/part")


# -------------------------------------------------------------------------------- who may fetch what


@pytest.mark.parametrize(
    ("value", "may", "may_not"),
    [
        ("", [], [ID, "google-bert/bert-base-uncased"]),
        ("  ", [], [ID]),
        ("curated", ["google-bert/bert-base-uncased", "openai-community/gpt2"], [ID]),
        ("*", [ID, "anybody/anything"], []),
        (f"{ID}, gpt2", [ID, "openai-community/gpt2"], ["tiny/gpt2", "gpt2", "curated"]),
        ("curated,tiny/bert", [ID, "FacebookAI/roberta-base"], ["tiny/gpt2"]),
    ],
)
def test_the_owner_says_what_may_be_fetched_and_by_default_nothing(monkeypatch, value, may, may_not):
    monkeypatch.setenv(hub.ALLOW_VARIABLE, value)
    allowed = hub.allowed()
    assert bool(allowed) == bool(may)
    assert [each in allowed for each in may] == [True] * len(may)
    assert [each in allowed for each in may_not] == [False] * len(may_not)


def test_what_is_not_allowed_is_not_even_asked_for(small, monkeypatch):
    monkeypatch.setenv(hub.ALLOW_VARIABLE, "curated")
    refused("owner does not allow fetching tiny/bert")
    assert small.asked == []


@pytest.mark.slow
def test_a_former_name_leads_to_the_model_if_that_is_allowed_too(small, monkeypatch):
    monkeypatch.setenv(hub.ALLOW_VARIABLE, "tiny/old")
    small.renamed["tiny/old"] = ID
    refused("does not allow fetching tiny/bert", "tiny/old")
    assert small.asked == ["/api/models/tiny/old", f"/api/models/{ID}"]
    monkeypatch.setenv(hub.ALLOW_VARIABLE, f"tiny/old,{ID}")
    assert fetch("tiny/old").model_id == ID


def test_a_well_known_model_may_be_typed_without_its_owner(small, tiny):
    small.models["google-bert/bert-base-uncased"] = tiny["bert"]
    assert fetch("bert-base-uncased").model_id == "google-bert/bert-base-uncased"


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "../x",
        "a/b/c",
        "a b",
        "a/b?c",
        "x" * 97,
    ],
)
def test_what_is_no_id_goes_nowhere(small, typed):
    refused("Not a model ID", typed)
    assert small.asked == []


@pytest.mark.slow
def test_a_model_that_is_too_large_is_refused_before_any_of_it_is_fetched(small, monkeypatch):
    small.say = saying(size=3_000_000_000, of=SINGLE)
    refused("has 3,000 MB; this server fetches at most 2,000 MB")
    assert len(small.asked) == 1
    monkeypatch.setenv(hub.MAX_MB_VARIABLE, "4000")
    fetch()


# -------------------------------------------------------------------------------------- the faults


def test_a_hub_that_is_down(small, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        refused("Can't reach the hub")


@pytest.fixture
def impatient(small, monkeypatch):
    """What takes too long, it does after a shorter time."""
    monkeypatch.setattr(hub_download, "PATIENCE", 1)


def test_a_hub_that_says_nothing(small, impatient):
    small.is_silent = True
    refused("does not answer")


@pytest.mark.slow
def test_a_hub_that_goes_silent_in_the_middle(small, impatient):
    small.wait_at = 2**15
    refused("does not answer")


@pytest.mark.parametrize(
    ("status", "at", "sentence"),
    sweep(
        [
            (403, "/storage/", "has no public model tiny/bert"),
            (429, "/api/", "Too many requests .*in 120 s"),
            (503, "/tree/", "The hub failed"),
            (418, "/api/", "is unusable"),
        ],
        quick=[(429, "/api/", "Too many requests .*in 120 s")],
    ),
)
def test_a_hub_that_refuses(small, status, at, sentence):
    small.status, small.status_at = status, at
    assert str(status) in refused(sentence)


def test_a_model_that_is_not_there(small):
    refused("Check the spelling", "tiny/nobody")


def test_a_hub_that_breaks_off_in_the_middle(small):
    small.break_off_at = 2**15
    refused("broke off while sending")


@pytest.mark.parametrize("name", sweep(["model.safetensors", "tokenizer.json"], quick=["model.safetensors"]))
def test_a_file_with_one_wrong_bit(small, name):
    small.spoilt = name
    refused(f"The {name} of tiny/bert arrived damaged")


def test_a_damaged_configuration(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "damaged")
    (folder / "config.json").write_text("{")
    small.models[ID] = folder
    refused("config.json of tiny/bert is damaged")


@pytest.mark.slow
def test_weights_that_only_bear_the_name(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "pickle")
    (folder / SINGLE).write_bytes(b"\x80\x04cposix\nsystem\n" * 100)
    small.models[ID] = folder
    refused("are not safetensors, despite their name")


@pytest.mark.parametrize("name", sweep(["pytorch_model-00001-of-00002.bin", "tf_model.h5"], quick=["tf_model.h5"]))
def test_a_model_with_pickles_only(small, tiny, tmp_path, name):
    folder = shutil.copytree(tiny["bert"], tmp_path / "pickle")
    (folder / SINGLE).rename(folder / name)
    small.models[ID] = folder
    refused("only pickle files, which can run code")
    assert len(small.asked) == 1


@pytest.mark.slow
def test_a_model_without_weights_or_without_a_configuration(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "half")
    (folder / "config.json").unlink()
    small.models[ID] = folder
    refused("has no config.json")
    (folder / SINGLE).unlink()
    refused("has no safetensors weights")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model_type": "mamba", "auto_map": {"AutoModel": "x.Y"}}, "mamba"),
        ({"num_hidden_layers": -1}, "config.json"),
        ({"pad_token_id": "x"}, "config.json"),
    ],
)
def test_a_configuration_that_cannot_be_shown_is_refused_before_its_weights_come(
    small, tiny, tmp_path, change, sentence
):
    folder = shutil.copytree(tiny["bert"], tmp_path / "strange")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    small.models[ID] = folder
    refused(sentence)
    assert not [path for path in small.asked if "safetensors" in path]


@pytest.mark.parametrize(
    ("named", "total"), sweep([(None, "1.80"), ("bfloat16", "3.60")], quick=[("bfloat16", "3.60")])
)
def test_a_model_that_does_not_fit_in_memory_is_refused_before_its_weights_come(
    small, tiny, tmp_path, monkeypatch, named, total
):
    """Numbers of 2 bytes take twice as much here as in their files."""
    folder = shutil.copytree(tiny["bert"], tmp_path / "large")
    config = json.loads((folder / "config.json").read_text())
    config = {name: value for name, value in config.items() if name not in ("dtype", "torch_dtype")}
    (folder / "config.json").write_text(json.dumps(config | ({} if named is None else {"dtype": named})))
    small.models[ID], small.say = folder, saying(size=1_800_000_000)
    monkeypatch.setenv(MAX_MEMORY_VARIABLE, "1700")
    sentence = refused("are allowed")
    assert says(sentence, total, "1.70 GB")
    assert not [path for path in small.asked if "safetensors" in path]
    monkeypatch.setenv(MAX_MEMORY_VARIABLE, "4000")
    fetch()


def test_files_with_a_path_in_their_name_are_never_taken(small):
    index = {"rfilename": INDEX, "size": 2, "blobId": "0" * 40}
    spoil = saying(rfilename="model-../..-of-aa/aa.safetensors")
    small.say = lambda answer: spoil(answer) | {"siblings": [*answer["siblings"], index]}
    refused("has no safetensors weights")


@contextmanager
def no_file_larger_than(n_bytes):
    """Every write beyond it fails, as on a full disk."""
    before = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, before)


@pytest.mark.slow
def test_a_disk_that_is_full_in_the_middle(small):
    with no_file_larger_than(20_000):
        refused(r"Couldn't write to .*too large")
    assert fetch().folder.is_dir()


@pytest.mark.slow
def test_too_little_room_is_said_before_the_weights_are_fetched(small, monkeypatch):
    monkeypatch.setattr(hub_download, "_MARGIN", 10**18)
    refused("MiB are free")
    assert not [path for path in small.asked if "safetensors" in path]


@pytest.mark.slow
def test_a_cache_that_cannot_be_written(small, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(store.CACHE_DIR_VARIABLE, str(tmp_path / "file" / "cache"))
    refused("Couldn't write to .*: Not a directory")


# --------------------------------------------------------------------------------- what it may answer


@pytest.mark.parametrize("model_id", ["Toy", "smollm2-135m"])
def test_a_model_of_the_hub_never_takes_the_place_of_a_bundled_one(small, model_id):
    refused("comes with this project", model_id)
    assert small.asked == []


def test_weights_of_unknown_size_are_not_fetched(small):
    small.say = saying(size=None)
    refused("has no safetensors weights")
    assert len(small.asked) == 1


def test_a_tokenizer_larger_than_any_is_refused(small):
    small.say = saying(size=100_000_000, of="tokenizer.json")
    refused("tokenizer.json of tiny/bert has 100 MB")
    assert len(small.asked) == 1


# ----------------------------------------------------------------------------- cancelled, and removed


def processes():
    """Those that ask the hub."""
    return [each for each in psutil.Process().children() if "attention.models.fetch" in each.cmdline()]


@pytest.fixture
def on_its_way(small):
    """A download of which a part has come, with nothing more to come; and how it ends."""
    small.wait_at = 2**15
    reached, cancel, ended = Event(), Event(), []

    def run():
        try:
            fetch(is_cancelled=cancel.is_set, on_progress=lambda progress: reached.set())
        except (Cancelled, HubError) as error:
            ended.append(error)

    thread = Thread(target=run)
    thread.start()
    assert reached.wait(60)

    def end():
        thread.join(120)
        assert left() == processes() == []
        return ended[0]

    yield cancel, end
    cancel.set()
    thread.join(120)


def test_who_cancels_is_heard_before_a_silent_line_is_given_up_and_nothing_is_left(on_its_way):
    cancel, end = on_its_way
    cancel.set()
    # The line itself would end with another error.
    assert type(end()) is Cancelled


def test_a_download_whose_process_is_killed_is_told_and_nothing_is_left(on_its_way):
    _, end = on_its_way
    (process,) = processes()
    process.kill()
    assert "was stopped" in str(end())


@pytest.mark.slow
def test_a_download_ends_with_the_server_that_started_it(small):
    small.wait_at = 2**15
    fetching = "from attention.models import local; local.fetch('tiny/bert', print, lambda: bool(print(flush=True)))"
    server = subprocess.Popen([sys.executable, "-c", fetching], stdout=subprocess.PIPE)
    while not any(path.startswith("/storage/") for path in small.asked):
        assert server.stdout.readline()
    children = psutil.Process(server.pid).children()
    assert children
    server.kill()
    server.communicate()
    # Left alone, it would try again for half a minute.
    assert psutil.wait_procs(children, timeout=15)[1] == []


def test_a_model_with_other_bytes_than_were_fetched_is_not_loaded(small):
    kept = fetch()
    file = kept.folder / SINGLE
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert not hub.is_whole(kept)
    with pytest.raises(ModelUnavailableError, match="fetched"):
        load(ID)


def test_a_removed_model_is_gone_and_can_be_fetched_again(small):
    kept = fetch()
    hub.remove(kept)
    assert left() == []
    assert ID not in [info.model_id for info in list_models()]
    with pytest.raises(ModelUnavailableError, match="No model tiny/bert here"):
        load(ID)
    assert fetch() == kept


@pytest.mark.slow
def test_two_who_fetch_the_same_get_the_same(small):
    results = []
    threads = [Thread(target=lambda: results.append(fetch())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(results) == 3
    assert hub.manifests() == [results[0]]
    assert hub.is_whole(results[0])
    assert {path.parent for path in left()} == {results[0].folder}


@pytest.mark.slow
def test_an_unfinished_folder_is_no_model(small):
    kept = fetch()
    (kept.folder / hub.MANIFEST).unlink()
    assert hub.manifests() == []
    assert fetch() == kept


def test_libraries_stay_offline_all_the_while_and_nobody_is_signed_in(small, tmp_path, monkeypatch):
    from huggingface_hub import constants

    (tmp_path / "token").write_text("hf_of_this_machine")
    monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setenv("HF_TOKEN", "hf_of_this_user")
    fetch()
    assert constants.is_offline_mode()
    assert set(small.signed_in_with) == {None}
