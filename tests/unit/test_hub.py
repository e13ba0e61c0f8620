import json
import shutil
import socket
from contextlib import contextmanager
from ipaddress import IPv4Address, ip_address, ip_network
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from threading import Event, Thread

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from attention.models import ModelUnavailableError, bundled, get_info, hub, hub_line, list_models, load, local, store
from attention.models.hub_line import (
    LEAST_BYTES,
    LEAST_BYTES_IN_WINDOW,
    PATIENCE_SECONDS,
    WINDOW_SECONDS,
    Cancelled,
    HubError,
    Line,
    Pace,
    is_open,
)
from attention.models.memory import MAX_MEMORY_VARIABLE
from tests import tiny_models
from tests.small_hub import COMMIT, DRIP, serve_hub
from tests.sweep import sweep
from tests.unit.saying import says

ID = "tiny/bert"


@pytest.fixture(scope="module")
def tiny(folder_of):
    """Tiny models of several architectures, as folders."""
    return {kind: folder_of(kind) for kind in tiny_models.KINDS}


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
    for name in ("PATIENCE_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(hub_line, name, 60.0)
    yield open_hub
    open_hub.go_on.set()


def fetch(model_id=ID, on_progress=lambda progress: None, is_cancelled=lambda: False):
    return local.fetch(model_id, on_progress, is_cancelled)


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


@pytest.mark.parametrize("kind", sweep(tiny_models.KINDS, quick=("bert", "t5", "vit")))
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
    assert hub.kept() == [found]


def test_nothing_but_what_is_needed_is_asked_for_of_one_commit(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "more")
    for name in ("pytorch_model.bin", "modeling_tiny.py", "tf_model.h5", "README.md"):
        (folder / name).write_text("not this")
    small.models[ID] = folder
    kept = fetch()
    names = {path.name for path in kept.folder.iterdir()}
    assert names == {"config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors", "hub.json"}
    assert small.asked[0] == f"/api/models/{ID}"
    files = [path for path in small.asked[1:] if not path.startswith("/storage/")]
    assert all(path.startswith(f"/{ID}/resolve/{COMMIT}/") for path in files)
    assert not [path for path in small.asked if path.endswith((".bin", ".py", ".h5"))]


def test_progress_is_told_in_bytes_up_to_the_last_one(small):
    told = []
    kept = fetch(on_progress=told.append)
    sizes = [path.stat().st_size for path in kept.folder.iterdir() if path.name != hub.MANIFEST]
    assert {each.n_total for each in told} == {sum(sizes)}
    assert [each.n_done for each in told] == sorted(each.n_done for each in told)
    assert told[-1].n_done == sum(sizes)


def test_weights_in_several_files_are_fetched_together(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "shards")
    tensors = load_file(folder / hub.SINGLE)
    (folder / hub.SINGLE).unlink()
    names = sorted(tensors)
    parts = {f"model-0000{i}-of-00002.safetensors": names[i - 1 :: 2] for i in (1, 2)}
    for file, part in parts.items():
        save_file({name: tensors[name] for name in part}, folder / file, {"format": "pt"})
    index = {"metadata": {}, "weight_map": {name: file for file, part in parts.items() for name in part}}
    (folder / hub.INDEX).write_text(json.dumps(index))
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
    refused("owner does not let tiny/bert be fetched")
    assert small.asked == []


def test_a_name_that_leads_to_a_model_which_is_not_allowed_is_refused(small, monkeypatch):
    monkeypatch.setenv(hub.ALLOW_VARIABLE, "tiny/old")
    small.renamed["tiny/old"] = ID
    refused("does not let tiny/bert", "tiny/old")
    assert len(small.asked) == 1


def test_a_well_known_model_may_be_typed_without_its_owner(small, tiny):
    small.models["google-bert/bert-base-uncased"] = tiny["bert"]
    assert fetch("bert-base-uncased").model_id == "google-bert/bert-base-uncased"


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "..",
        "../x",
        "a/b/c",
        "a/../b",
        "/etc/passwd",
        "a//b",
        "a b",
        "a/b.git",
        "a\\b",
        "x" * 97,
        "a--b",
        "é",
        "a/b?c",
    ],
)
def test_what_is_no_id_goes_nowhere(small, typed):
    refused("That is no id of the hub", typed)
    assert small.asked == []


def test_a_model_that_is_too_large_is_refused_before_any_of_it_is_fetched(small, monkeypatch):
    def say(answer):
        for each in answer["siblings"]:
            if each["rfilename"] == hub.SINGLE:
                each["size"] = 3_000_000_000
        return answer

    small.say = say
    refused("has 3,000 MB, and this server fetches 2,000 MB at most")
    assert len(small.asked) == 1
    monkeypatch.setenv(hub.MAX_MB_VARIABLE, "4000")
    # The file itself is not what was said: it ends too early.
    refused("is not what the hub promised")


def test_a_file_that_is_longer_than_was_said_is_cut_off(small):
    def say(answer):
        for each in answer["siblings"]:
            if each["rfilename"] == hub.SINGLE:
                each["size"] = 1000
        return answer

    small.say = say
    refused("is not what the hub promised")


# -------------------------------------------------------------------------------------- the faults


def test_a_hub_that_is_down(small, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        refused("The hub cannot be reached from here")


@pytest.fixture
def impatient(small, monkeypatch):
    """What takes too long, it does after a shorter time."""
    monkeypatch.setattr(hub_line, "PATIENCE_SECONDS", 1.0)


def test_a_hub_that_says_nothing(small, impatient):
    small.is_silent = True
    refused("has not answered for 1 seconds")


def test_a_hub_that_answers_letter_by_letter(small, impatient):
    small.trickle_seconds = 0.2
    refused("has not answered for 1 seconds")


def test_a_hub_that_goes_silent_in_the_middle(small, impatient):
    small.wait_at = 2**15
    refused("has not answered for 1 seconds")


@pytest.mark.slow
def test_a_slow_line_that_goes_on_is_no_fault(small, monkeypatch):
    monkeypatch.setattr(hub_line, "PATIENCE_SECONDS", PATIENCE_SECONDS)
    small.drip_seconds = 0.035
    # It takes longer than a silence may last.
    n_bytes = (small.models[ID] / hub.SINGLE).stat().st_size
    assert n_bytes / DRIP * small.drip_seconds > PATIENCE_SECONDS
    fetch()


def test_a_name_that_nobody_looks_up_in_time(small, impatient, monkeypatch):
    slow = Event()

    def look_up(*args, **kwargs):
        slow.wait(30)
        raise socket.gaierror

    monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid")
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    refused("has not answered for 1 seconds")
    slow.set()


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (401, "shows no model tiny/bert to everybody"),
        (403, "shows no model tiny/bert to everybody"),
        (404, "shows no model tiny/bert to everybody"),
        (429, "asked too often from here .*in 120 seconds"),
        (500, "out of order"),
        (503, "out of order"),
        (418, "cannot be used"),
    ],
)
@pytest.mark.parametrize("at", ["/api/", "config.json", "/storage/"])
def test_a_hub_that_refuses(small, status, sentence, at):
    small.status, small.status_at = status, at
    assert str(status) in refused(sentence)


def test_a_model_that_is_not_there(small):
    refused("may be misspelt, private", "tiny/nobody")


def test_a_hub_that_breaks_off_in_the_middle(small):
    small.break_off_at = 2**15
    refused("broke off in the middle")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_file_with_one_wrong_bit(small, name):
    small.spoilt = name
    refused(f"What came as {name} of tiny/bert is not what the hub promised")


def test_a_damaged_configuration(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "damaged")
    (folder / "config.json").write_text("{")
    small.models[ID] = folder
    refused("config.json of tiny/bert cannot be read")


def test_weights_that_only_bear_the_name(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "pickle")
    (folder / hub.SINGLE).write_bytes(b"\x80\x04cposix\nsystem\n" * 100)
    small.models[ID] = folder
    refused("are no safetensors, whatever their name says")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "pytorch_model-00001-of-00002.bin", "tf_model.h5"])
def test_a_model_with_pickles_only(small, tiny, tmp_path, name):
    folder = shutil.copytree(tiny["bert"], tmp_path / "pickle")
    (folder / hub.SINGLE).rename(folder / name)
    small.models[ID] = folder
    refused("only pickle files, which can run code")
    assert len(small.asked) == 1


def test_a_model_without_weights_or_without_a_configuration(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "half")
    (folder / "config.json").unlink()
    small.models[ID] = folder
    refused("has no config.json")
    (folder / hub.SINGLE).unlink()
    refused("has no weights in the safetensors format")


def test_an_architecture_that_cannot_be_shown_is_refused_before_its_weights_come(small, tiny, tmp_path):
    folder = shutil.copytree(tiny["bert"], tmp_path / "strange")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "mamba", "auto_map": {"AutoModel": "x.Y"}}))
    small.models[ID] = folder
    refused("mamba")
    assert not [path for path in small.asked if "safetensors" in path]


@pytest.mark.parametrize(
    ("named", "total", "count"), [("float32", "1.80", "450"), (None, "1.80", "450"), ("bfloat16", "3.60", "900")]
)
def test_a_model_that_does_not_fit_in_memory_is_refused_before_its_weights_come(
    small, tiny, tmp_path, monkeypatch, named, total, count
):
    """Numbers of 2 bytes take twice as much here as in their files."""

    def say(answer):
        for each in answer["siblings"]:
            if each["rfilename"] == hub.SINGLE:
                each["size"] = 1_800_000_000
        return answer

    folder = shutil.copytree(tiny["bert"], tmp_path / "large")
    config = json.loads((folder / "config.json").read_text())
    config = {name: value for name, value in config.items() if name not in ("dtype", "torch_dtype")}
    (folder / "config.json").write_text(json.dumps(config | ({} if named is None else {"dtype": named})))
    small.models[ID], small.say = folder, say
    monkeypatch.setenv(MAX_MEMORY_VARIABLE, "1700")
    sentence = refused("are allowed here")
    assert says(sentence, total, "1.70 GB")
    assert says(sentence, count, "4")
    assert not [path for path in small.asked if "safetensors" in path]
    monkeypatch.setenv(MAX_MEMORY_VARIABLE, "4000")
    # The file itself is not what was said: it ends too early.
    refused("is not what the hub promised")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda answer: [],
        lambda answer: {"error": "x"},
        lambda answer: answer | {"sha": "main"},
        lambda answer: answer | {"sha": "../../x"},
        lambda answer: answer | {"id": "../x"},
        lambda answer: answer | {"siblings": "abc"},
        lambda answer: answer | {"siblings": [{"rfilename": "model.safetensors"}, {"rfilename": "config.json"}]},
    ],
)
def test_an_answer_that_makes_no_sense(small, spoil):
    small.say = spoil
    refused("makes no sense|which revision|no weights")


def test_files_with_a_path_in_their_name_are_never_taken(small):
    def say(answer):
        for each in answer["siblings"]:
            if each["rfilename"] == hub.SINGLE:
                each["rfilename"] = "model-../..-of-aa/aa.safetensors"
        answer["siblings"].append({"rfilename": hub.INDEX, "size": 2, "blobId": "0" * 40})
        return answer

    small.say = say
    refused("has no weights in the safetensors format")


@contextmanager
def no_file_larger_than(n_bytes):
    """Every write beyond it fails, as on a full disk."""
    before = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_in_the_middle(small):
    with no_file_larger_than(20_000):
        refused(r"cannot be written: .*too large. Nothing of the model is kept")
    assert fetch().folder.is_dir()


def test_too_little_room_is_said_before_the_weights_are_fetched(small, monkeypatch):
    monkeypatch.setattr(hub, "_MARGIN", 10**18)
    refused("MiB are free there")
    assert not [path for path in small.asked if "safetensors" in path]


def test_a_cache_that_cannot_be_written(small, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(store.CACHE_DIR_VARIABLE, str(tmp_path / "file" / "cache"))
    refused("cannot be written: Not a directory")


# ------------------------------------------------------------------------------- where the hub leads


@contextmanager
def another_server():
    """Another server of this machine, and the paths that it was asked for."""
    with serve_hub() as other:
        yield other.url, other.asked


@pytest.mark.parametrize("at", ["/api/", "config.json", "/storage/"])
def test_nothing_else_on_this_machine_is_asked_for(small, at):
    with another_server() as (url, asked):
        small.lead = lambda path: f"{url}/secret" if at in path else None
        refused("an address that is not encrypted")
        small.lead = lambda path: f"{url}/secret".replace("http:", "https:") if at in path else None
        refused("an address inside this network")
        assert asked == []


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/x",
        "https://127.1/x",
        "https://2130706433/x",
        "https://0x7f.0.0.1/x",
        "https://0.0.0.0/x",
        "https://localhost/x",
        "https://[::1]/x",
        "https://[::ffff:127.0.0.1]/x",
        "https://[64:ff9b::7f00:1]/x",
        "https://[2002:7f00:1::]/x",
        "https://169.254.169.254/latest/meta-data/",
        "https://10.0.0.1/x",
        "https://192.168.1.1:8080/x",
        "https://172.16.0.1/x",
        "https://100.64.0.1/x",
        "https://224.0.0.1/x",
        "https://[fe80::1]/x",
        "https://[fd00::1]/x",
        "//127.0.0.2/x",
        "http://huggingface.co/x",
        "https://me:secret@huggingface.co/x",
        "ftp://huggingface.co/x",
        "file:///etc/passwd",
        "https://",
        "https://[x",
        "gopher:x",
    ],
)
def test_no_address_leads_into_the_network(small, monkeypatch, url):
    """Not one connection is made but to the hub."""
    reached = []
    connect = socket.socket.connect

    def note(self, address):
        reached.append(address[:2])
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", note)
    small.lead = lambda path: url
    with pytest.raises(HubError, match=r"The hub leads on to|cannot be used"):
        Line(lambda: False).read(f"{small.url}/anything", 1000, ID)
    port = int(small.url.rpartition(":")[2])
    assert set(reached) == {("127.0.0.1", port)}


def test_a_name_with_one_address_inside_is_not_followed(small, monkeypatch):
    small.lead = lambda path: "https://files.example/x" if path.startswith("/storage/") else None
    look_up = socket.getaddrinfo

    def answer(host, *args, **kwargs):
        if host != "files.example":
            return look_up(host, *args, **kwargs)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 443)) for each in ("1.1.1.1", "127.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    refused("an address inside this network")


def test_a_name_is_looked_up_once_and_the_connection_goes_to_that_very_address(small, monkeypatch):
    """A name that has another address the second time leads nowhere else."""
    small.lead = lambda path: "https://files.example/x" if path.startswith("/storage/") else None
    asked, greeting = [], []
    look_up, create = socket.getaddrinfo, socket.create_connection

    def answer(host, *args, **kwargs):
        if host != "files.example":
            return look_up(host, *args, **kwargs)
        asked.append(host)
        address = "1.1.1.1" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443))]

    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen():
            with server.accept()[0] as line:
                greeting.append(line.recv(4096))

        def connect(address, *args, **kwargs):
            if address == ("1.1.1.1", 443):
                address = server.getsockname()
            else:
                assert address[0] == "127.0.0.1"
                assert f"http://127.0.0.1:{address[1]}" == small.url
            return create(address, *args, **kwargs)

        monkeypatch.setattr(socket, "getaddrinfo", answer)
        monkeypatch.setattr(socket, "create_connection", connect)
        thread = Thread(target=listen, daemon=True)
        thread.start()
        refused("cannot be reached")
        thread.join(60)
    assert asked == ["files.example"]
    # TLS begins with the name of the host that it is for, and the certificate has to be that host's.
    assert b"files.example" in greeting[0]


def test_what_the_hub_leads_to_in_itself_is_followed_but_not_for_ever(small):
    small.lead = lambda path: f"{small.url}/api/models/{ID}" if path.startswith("/api/models/tiny/moved") else None
    assert fetch("tiny/moved").model_id == ID
    hub.remove(hub.kept()[0])
    small.asked.clear()
    small.lead = lambda path: path
    refused("from one address to the next")
    assert len(small.asked) == 6


CLOSED_4 = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.2.0/24 192.168.0.0/16 "
    "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3"
)
CLOSED_6 = "::/96 fc00::/7 fe80::/10 ff00::/8 2001:db8::/32 2001::/32"


@given(address=st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
@example(address=ip_address("64:ff9b::7f00:1"))
@example(address=ip_address("2002:a00:1::"))
@example(address=ip_address("::7f00:1"))
@example(address=ip_address("ff02::1"))
def test_an_address_is_open_only_if_no_list_of_special_ones_has_it(address):
    """Against the registries of IANA, written down here once more."""
    nets = [*map(ip_network, CLOSED_4.split())]
    if address.version == 4:
        assert not (is_open(address) and any(address in net for net in nets))
        return
    assert not (is_open(address) and any(address in net for net in map(ip_network, CLOSED_6.split())))
    for net, shift in (("64:ff9b::/96", 0), ("::ffff:0:0/96", 0), ("2002::/16", 80)):
        if address in ip_network(net):
            inner = IPv4Address(int(address) >> shift & 0xFFFFFFFF)
            assert not (is_open(address) and any(inner in each for each in nets))


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101"])
def test_the_open_internet_is_open(address):
    assert is_open(ip_address(address))


# ----------------------------------------------------------------------------------------- its speed


@given(
    gaps=st.lists(st.floats(0, 8), min_size=1, max_size=60),
    sizes=st.lists(st.integers(0, 400_000), min_size=60, max_size=60),
    limit=st.one_of(st.none(), st.floats(1, 20)),
)
def test_no_answer_goes_on_for_ever(gaps, sizes, limit):
    """Against what has come by then, added up anew each time."""
    pace, now, heard, fault = Pace(100.0, limit), 100.0, [], None
    for gap, size in zip(gaps, sizes, strict=False):
        now += gap
        heard.append((now, size))
        fault = pace.fault(now, size)
        if fault is not None:
            break
    total, took = sum(size for _, size in heard), now - 100
    if fault is None:
        assert limit is None or took <= limit
        # Each window but the last brought its bytes; the portion that ended it may have come up to a gap too late.
        late_by = max(gaps)
        assert took <= (WINDOW_SECONDS + late_by) * (1 + total / LEAST_BYTES_IN_WINDOW) + 1e-6
        assert took <= (PATIENCE_SECONDS + late_by) * (1 + total / LEAST_BYTES) + 1e-6
    else:
        recent = sum(size for when, size in heard if now - when < PATIENCE_SECONDS)
        slow = sum(size for when, size in heard if now - when < WINDOW_SECONDS)
        late = limit is not None and took > limit
        assert late or (recent < LEAST_BYTES if fault == "silent" else slow < LEAST_BYTES_IN_WINDOW)


@given(rate=st.floats(10_500, 10**8), gap=st.floats(0.01, 2))
def test_an_honest_slow_line_is_left_to_go_on(rate, gap):
    """Faster than 10 kB a second, in portions that are no further apart than two seconds."""
    pace, fault = Pace(0.0), None
    for step in range(1, int(120 / gap) if gap > 0.5 else 240):
        fault = fault or pace.fault(step * gap, int(rate * gap))
    assert fault is None


def test_six_hundred_bytes_a_second_are_given_up():
    pace = Pace(0.0)
    faults = [pace.fault(second, 600) for second in range(1, 60)]
    assert faults[:30] == [None] * 30
    assert faults[30] == "slow"


def test_weights_that_trickle_are_given_up(small, monkeypatch):
    """20 kB a second, where more is asked for in a shorter time."""
    monkeypatch.setattr(hub_line, "WINDOW_SECONDS", 1.0)
    small.drip_seconds = 0.05
    refused("far too slowly")


def test_an_answer_that_trickles_is_given_up(small, monkeypatch):
    """Fast enough not to be silent, and too slow to be there in time."""
    monkeypatch.setattr(hub_line, "ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(hub_line, "LEAST_BYTES", 1)
    small.trickle_seconds = 0.05
    refused("far too slowly")


# --------------------------------------------------------------------------------- what it may answer


@pytest.mark.parametrize("model_id", ["toy", "Toy", "minilm-l6", "vit-digits", "translator-fr-en", "smollm2-135m"])
def test_a_model_of_the_hub_never_takes_the_place_of_a_bundled_one(small, tiny, model_id):
    refused("comes with this project", model_id)
    assert small.asked == []
    # Nor where the hub says that it is what was asked for.
    small.models[model_id] = tiny["bert"]
    small.say = lambda answer: answer | {"id": model_id}
    refused("comes with this project")


def test_a_model_of_too_many_files_is_refused(small):
    def say(answer):
        single = next(each for each in answer["siblings"] if each["rfilename"] == hub.SINGLE)
        answer["siblings"].remove(single)
        answer["siblings"] += [single | {"rfilename": f"model-{n:05d}-of-10000.safetensors"} for n in range(10_000)]
        answer["siblings"].append({"rfilename": hub.INDEX, "size": 2, "blobId": "0" * 40})
        return answer

    small.say = say
    refused("has 10,004 files, and this server fetches 200 at most")
    assert len(small.asked) == 1


@pytest.mark.parametrize("size", [-1, -(10**12), 1.5, "7", None, True, [], 1e400])
def test_a_size_that_is_none_makes_no_sense(small, size):
    def say(answer):
        for each in answer["siblings"]:
            if each["rfilename"] == "tokenizer.json":
                each["size"] = size
        return answer

    small.say = say
    refused("makes no sense")
    assert len(small.asked) == 1


def test_a_tokenizer_larger_than_any_is_refused(small):
    def say(answer):
        for each in answer["siblings"]:
            if each["rfilename"] == "tokenizer.json":
                each["size"] = 100_000_000
        return answer

    small.say = say
    refused("tokenizer.json of tiny/bert has 100 MB")
    assert len(small.asked) == 1


@pytest.mark.parametrize("change", [{"num_hidden_layers": -1}, {"pad_token_id": "x"}, {"hidden_size": None}])
def test_a_configuration_that_cannot_be_is_refused_before_its_weights_come(small, tiny, tmp_path, change):
    folder = shutil.copytree(tiny["bert"], tmp_path / "odd")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    small.models[ID] = folder
    refused("[Tt]he model's config.json")
    assert not [path for path in small.asked if "safetensors" in path]


# ----------------------------------------------------------------------------- cancelled, and removed


def test_who_cancels_is_heard_before_a_silent_line_is_given_up_and_nothing_is_left(small):
    small.wait_at = 2**15
    cancel = Event()
    ended: list[Exception] = []

    def run():
        try:
            fetch(is_cancelled=cancel.is_set, on_progress=lambda progress: reached.set())
        except (Cancelled, HubError) as error:
            ended.append(error)

    reached = Event()
    thread = Thread(target=run)
    thread.start()
    assert reached.wait(60)
    cancel.set()
    thread.join(120)
    # The line itself would end with another error.
    assert [type(each) for each in ended] == [Cancelled]
    assert left() == []


def test_a_model_with_other_bytes_than_were_fetched_is_not_loaded(small):
    kept = fetch()
    file = kept.folder / hub.SINGLE
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
    with pytest.raises(ModelUnavailableError, match="is not here"):
        load(ID)
    assert fetch() == kept


def test_two_who_fetch_the_same_get_the_same(small):
    results = []
    threads = [Thread(target=lambda: results.append(fetch())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(results) == 3
    assert hub.kept() == [results[0]]
    assert hub.is_whole(results[0])
    assert {path.parent for path in left()} == {results[0].folder}


def test_an_unfinished_folder_is_no_model(small):
    kept = fetch()
    (kept.folder / hub.MANIFEST).unlink()
    assert hub.kept() == []
    assert fetch() == kept


def test_libraries_stay_offline_all_the_while(small):
    from huggingface_hub import constants

    fetch()
    assert constants.is_offline_mode()
