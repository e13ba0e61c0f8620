"""Any folder taken for a model: a broken one is reported, and everything else works."""

import json
import os
import shutil
import struct
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from attention.models import ModelUnavailableError, bundled, find_others, hub, list_models, load, local, store
from attention.models.catalogue import catalogue
from attention.models.files import BESIDE
from attention.models.model_pool import ModelPool
from tests.small_hub import COMMIT
from tests.tiny_models import BESIDE as WITH_MORE
from tests.tiny_models import KINDS, OTHERS, TODAY
from tests.unit.saying import says

WEIGHTS = "model.safetensors"
DEEP = b'{"a":' * 100_000
LFS = (
    b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32\nsize 440449768\n"
)


def headed(header, data=b""):
    """A file of weights with this header."""
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(header)) + header + data


def tensor(**changes):
    return headed({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} | changes}, b"\0" * 4)


# No file of a model, whichever it is.
NOT_TEXT = [b"", b"\xff\xfe\x00", b"[]", b"null", b"1", b'"x"', b"{", DEEP, b"[" * 100_000, LFS, b'{"a": NaN}']
HEADS = [
    *NOT_TEXT,
    *map(headed, NOT_TEXT),
    b"\xff" * 8,
    b"\xff" * 7 + b"\x7f" + b"{}",
    struct.pack("<Q", 2**40) + b"{}",
    headed({"x": []}),
    headed({"x": {"dtype": "F32"}}),
    *(tensor(shape=shape) for shape in ("a", {}, [-1], [1.0], [2**70], [2**62, 2**62], [[1]], ["1"], None, 7, [2])),
    *(tensor(data_offsets=offsets) for offsets in ([4, 0], [0, 2**63], [0], None, [-4, 0], ["0", "4"])),
    tensor(dtype="F33"),
    tensor(dtype=None),
]
NUMBERS = ["Infinity", "-Infinity", "NaN", "1e400", '"3"', "[3]", "{}", "true", "0.5"]
SIZES = {
    "bert": ["num_hidden_layers", "num_attention_heads", "hidden_size"],
    "gpt2": ["n_layer", "n_head", "n_embd"],
    "t5": ["num_layers", "num_heads", "d_model", "num_decoder_layers"],
    "vit": ["num_hidden_layers", "num_attention_heads", "hidden_size", "image_size", "patch_size"],
}
# What takes gigabytes, or ages, if somebody makes room for it.
TOO_MUCH = [
    ("bert", {"vocab_size": 20_000_000}),
    ("bert", {"num_hidden_layers": 20_000}),
    ("bert", {"hidden_size": 10**4000}),
    ("roberta", {"pad_token_id": 10**9}),
    ("roberta", {"max_position_embeddings": 3}),
    # transformers takes it for n_layer.
    ("gpt2", {"num_hidden_layers": 20_000}),
    ("llama", {"num_key_value_heads": 10**8}),
    ("t5", {"d_kv": 10**8}),
    ("vit", {"image_size": 2000}),
]


def put_bytes(data):
    def put(place):
        place.unlink(missing_ok=True)
        place.write_bytes(data)

    return put


def put_pipe(place):
    place.unlink(missing_ok=True)
    os.mkfifo(place)


def put_folder(place):
    place.unlink(missing_ok=True)
    place.mkdir()


def put_link(place):
    place.unlink(missing_ok=True)
    place.symlink_to("nowhere")


ODD = [put_pipe, put_folder, put_link]


@pytest.fixture
def broken(folder_of, tmp_path, monkeypatch):
    """Make the owner's only folder: a whole model in which files are put; its place among the models."""
    monkeypatch.setenv(hub.HUB_DIR_VARIABLE, str(tmp_path / "hub"))
    monkeypatch.setenv(local.MODEL_DIRS_VARIABLE, str(tmp_path / "It"))
    folder = tmp_path / "It"

    def make(files=(), kind="bert", config=None):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(folder_of(kind), folder)
        if config is not None:
            whole = json.loads((folder / "config.json").read_text())
            (folder / "config.json").write_text(json.dumps(whole | config))
        for name, put in files:
            put(folder / name)
        return found()

    return make


def found():
    """The owner's model; every other one is there all the same."""
    models = list_models()
    assert models[: len(bundled.MODELS)] == list(bundled.infos())
    (other,) = find_others()
    assert models[len(bundled.MODELS) :] == ([] if other.info is None else [other.info])
    return other


def hold_problem(other):
    """It is told in one line why the model cannot be shown, and who loads it hears the same."""
    assert other.info is None
    hold_sentence(other.problem)
    with pytest.raises(ModelUnavailableError) as caught:
        load(other.model_id)
    assert str(caught.value) == other.problem
    entries = {entry.model_id: entry for entry in catalogue()}
    assert len(entries) == len(catalogue())
    assert [entries[info.model_id].info for info in bundled.infos()] == list(bundled.infos())
    entry = entries[other.model_id]
    assert (entry.place, entry.problem) == ("cannot be shown", other.problem)
    return other.problem


def hold_sentence(told):
    assert 10 < len(told) < 600
    assert told[0].isupper() or told[0].isdecimal()
    assert told.endswith(".")
    assert told.isprintable()
    told.encode("utf-8")


unit = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@unit
@given(data=st.one_of(st.sampled_from(HEADS), st.binary(max_size=64), st.builds(headed, st.binary(max_size=64))))
@example(data=LFS)
@example(data=headed(b"[]"))
def test_what_is_no_file_of_weights_breaks_one_model(broken, data):
    told = hold_problem(broken([(WEIGHTS, put_bytes(data))]))
    assert ("git lfs pull" in told) == data.startswith(b"version https://git-lfs")


@unit
@given(data=st.one_of(st.sampled_from(NOT_TEXT), st.binary(max_size=64)))
@example(data=DEEP)
def test_what_is_no_configuration_breaks_one_model(broken, data):
    hold_problem(broken([("config.json", put_bytes(data))]))


@unit
@given(data=st.data())
def test_a_size_that_is_no_size_breaks_one_model(broken, data):
    kind = data.draw(st.sampled_from(list(SIZES)))
    name = data.draw(st.sampled_from(SIZES[kind]))
    value = data.draw(st.one_of(st.sampled_from(NUMBERS), st.integers(max_value=0).map(str)))
    marked = f'"{name}": "here"'

    def put(place):
        config = json.loads(place.read_text())
        place.write_text(json.dumps(config | {name: "here"}).replace(marked, f'"{name}": {value}'))

    hold_problem(broken([("config.json", put)], kind))


@pytest.mark.parametrize(("value", "kind"), list(zip(NUMBERS, cycle(["bert", "roberta", "llama"]))))
def test_a_padding_token_that_is_no_number_breaks_one_model(broken, kind, value):
    def put(place):
        config = json.loads(place.read_text()) | {"pad_token_id": "here"}
        place.write_text(json.dumps(config).replace('"pad_token_id": "here"', f'"pad_token_id": {value}'))

    hold_problem(broken([("config.json", put)], kind))


@pytest.mark.parametrize(("name", "put"), list(zip((WEIGHTS, *BESIDE), cycle(ODD))))
def test_what_is_no_file_is_neither_waited_for_nor_read(broken, name, put):
    hold_problem(broken([(name, put)]))


@pytest.mark.parametrize(("kind", "config"), TOO_MUCH, ids=lambda each: str(each)[:40])
def test_a_configuration_that_asks_for_far_more_than_its_weights_is_refused_before_it_is_loaded(broken, kind, config):
    hold_problem(broken(kind=kind, config=config))


@unit
@given(data=st.data())
def test_no_size_in_a_configuration_makes_room_for_more_than_the_weights(broken, data):
    """Whatever transformers may take a number for, a model that can be shown has the sizes that are said of it."""
    kind = data.draw(st.sampled_from(["bert", "distilbert", "gpt2", "llama", "bart", "t5", "vit"]))
    names = [
        "hidden_size",
        "n_embd",
        "d_model",
        "num_hidden_layers",
        "n_layer",
        "encoder_layers",
        "num_attention_heads",
    ]
    config = data.draw(st.dictionaries(st.sampled_from(names), st.sampled_from([1, 2, 3, 5, 10**4, 10**6]), min_size=1))
    other = broken(kind=kind, config=config)
    if other.info is None:
        hold_problem(other)
        return
    try:
        model = load(other.model_id)
    except ModelUnavailableError as error:
        hold_sentence(str(error))
        return
    text = "0" * 64 if kind == "vit" else "The cat"
    trace = model.trace(text)
    layer = trace.layers[0]
    assert len(trace.layers) == other.info.n_layers
    assert layer.queries.shape[::2] == (other.info.n_heads, other.info.d_head)
    assert layer.inputs.shape[1] == other.info.d_model


def test_a_layer_of_which_nothing_is_there_is_missed_at_once(broken, tmp_path):
    assert broken().info is not None
    tensors = load_file(tmp_path / "It" / WEIGHTS)
    rest = {name: values for name, values in tensors.items() if ".layer.1." not in name}
    save_file(rest, tmp_path / "It" / WEIGHTS, {"format": "pt"})
    assert says(hold_problem(found()), "3 layers", "2")


def test_a_model_that_has_no_room_in_memory_is_refused(broken, monkeypatch):
    assert broken().info is not None
    monkeypatch.setattr(os, "sysconf", lambda name: 2)
    # Another change time, so that it is read anew.
    assert says(hold_problem(broken()), "0.00 GB")


@contextmanager
def as_a_stranger():
    """Root may read everything: for a while, be nobody."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.mark.parametrize("name", [".", "config.json", WEIGHTS, "tokenizer.json"])
def test_what_may_not_be_read_is_said(broken, monkeypatch, tmp_path, name):
    assert broken().info is not None
    # pytest's own folders are open to nobody else.
    with TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(shutil.move(tmp_path / "It", Path(place) / "It"))
        monkeypatch.setenv(local.MODEL_DIRS_VARIABLE, str(folder))
        (folder / name).chmod(0)
        with as_a_stranger():
            assert "Permission denied" in hold_problem(found())


@pytest.mark.parametrize("name", ["~nobody-has-this-name/x", "\udcff\udcfe", "a\nb", "x" * 5000, "/dev/null", "/"])
def test_a_name_that_is_no_folder_is_said(broken, monkeypatch, name):
    monkeypatch.setenv(local.MODEL_DIRS_VARIABLE, name)
    hold_problem(found())


def test_a_change_of_any_file_is_seen(broken, tmp_path):
    """Also where the new file is as old as the one before."""
    assert broken().info is not None
    for name in (WEIGHTS, "config.json", "tokenizer.json"):
        file = tmp_path / "It" / name
        kept, about = file.read_bytes(), file.stat()
        put_pipe(file) if name == "tokenizer.json" else file.write_bytes(LFS.ljust(len(kept)))
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
        hold_problem(found())
        file.unlink()
        file.write_bytes(kept)
        assert found().info is not None


def test_parts_of_weights_are_what_their_index_says(broken, tmp_path):
    index = "model.safetensors.index.json"

    def parts(weight_map):
        def put(place):
            (place.parent / WEIGHTS).rename(place.parent / "model-00001-of-00001.safetensors")
            place.write_text(json.dumps({"weight_map": weight_map}))

        return broken([(index, put)])

    assert parts({"x": "model-00001-of-00001.safetensors"}).info is not None
    for odd in ([], {}, {"x": 1}, {"x": "../It/model-00001-of-00001.safetensors"}, {"x": "config.json"}, None, "x"):
        hold_problem(parts(odd))
    assert "b.safetensors" in hold_problem(parts({"x": "b.safetensors"}))


# ------------------------------------------------------------------------------------ the tokenizer

PANICS_AT_ONCE = {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}}
PANICS_ON_TEXT = {"pre_tokenizer": {"type": "FixedLength", "length": 0}}
PANICS_ON_TWO_TEXTS = {
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"SpecialToken": {"id": "nowhere", "type_id": 0}}],
        "special_tokens": {},
    }
}


def with_tokenizer(changes):
    def put(place):
        place.write_text(json.dumps(json.loads(place.read_text()) | changes))

    return [("tokenizer.json", put)]


@pytest.mark.parametrize("changes", [PANICS_AT_ONCE, PANICS_ON_TEXT], ids=["at once", "on a text"])
def test_a_tokenizer_that_panics_is_told_to_those_who_wait(broken, changes):
    broken(with_tokenizer(changes))
    shelf = ModelPool(lambda model_id, on_progress: load(model_id), 1)
    told = []

    def ask():
        try:
            with shelf.borrow("It"):
                pass
        except ModelUnavailableError as error:
            told.append(str(error))

    threads = [Thread(target=ask, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(told) == 2
    for sentence in told:
        assert sentence.startswith("Couldn't load It: ")
        hold_sentence(sentence)


def test_a_tokenizer_that_panics_on_some_texts_fails_as_anything_else_does(broken):
    broken(with_tokenizer(PANICS_ON_TWO_TEXTS))
    model = load("It")
    assert model.trace("The cat").check() < 1e-5
    with pytest.raises(RuntimeError, match="the tokenizer failed"):
        model.trace("The cat", "the mat")


@pytest.mark.parametrize(
    ("name", "data"),
    list(zip(cycle(["tokenizer.json", "tokenizer_config.json"]), (*NOT_TEXT, b"{}", b"{}"))),
    ids=lambda each: str(each[:20]),
)
def test_a_tokenizer_that_is_none_is_told_when_it_is_loaded_or_does_not_matter(broken, name, data):
    other = broken([(name, put_bytes(data))])
    try:
        model = load("It")
    except ModelUnavailableError as error:
        hold_sentence(str(error))
    else:
        # transformers takes none for one with nothing in it.
        assert name == "tokenizer_config.json"
        assert model.trace("The cat").check() < 1e-5
    assert other.model_id == "It"


TOKENIZERS = [name for name in BESIDE if name not in ("config.json", "generation_config.json")]


@pytest.mark.parametrize("kind", [*KINDS, *TODAY, *OTHERS, *WITH_MORE])
def test_a_model_is_shown_with_its_tokenizer_and_not_without_it(broken, tmp_path, kind):
    """Without one, transformers makes up a tokenizer that takes every word for one and the same."""
    assert broken(kind=kind).info is not None
    for name in TOKENIZERS:
        (tmp_path / "It" / name).unlink(missing_ok=True)
    if kind == "vit":
        assert found().info is not None
        return
    told = hold_problem(found())
    assert "has no tokenizer" in told
    assert all(name in told for name in ("tokenizer.json", "vocab.txt", "merges.txt", "spiece.model"))


def split_tokenizer(folder):
    """Write a tokenizer of pairs of bytes as two files, as GPT-2's first ones were."""
    pairs = json.loads((folder / "tokenizer.json").read_text())["model"]
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    (folder / "vocab.json").write_text(json.dumps(pairs["vocab"]))
    (folder / "merges.txt").write_text("\n".join(map(" ".join, pairs["merges"])))


@pytest.mark.parametrize("kind", ["gpt2", "roberta", "qwen2"])
def test_a_tokenizer_in_two_files_needs_both(broken, model_of, tmp_path, kind):
    broken(kind=kind)
    split_tokenizer(tmp_path / "It")
    assert found().info is not None
    ours, theirs = load("It").encode("The cat sat.").tokens, model_of(kind).encode("The cat sat.").tokens
    assert [token.typed for token in ours if token.typed] == [token.typed for token in theirs if token.typed]
    (tmp_path / "It" / "merges.txt").unlink()
    assert "merges.txt" in hold_problem(found())


# The tokenizer of another model, or of one that was cut off.


def with_token(number):
    def put(place):
        tokenizer = json.loads(place.read_text())
        vocabulary = tokenizer["model"]["vocab"]
        vocabulary["cat" if "cat" in vocabulary else "q"] = number
        place.write_text(json.dumps(tokenizer))

    return [("tokenizer.json", put)]


def with_tokens(count):
    def put(place):
        tokenizer = json.loads(place.read_text())
        vocabulary = tokenizer["model"]["vocab"]
        tokenizer["model"]["vocab"] = {token: number for token, number in vocabulary.items() if number < count}
        place.write_text(json.dumps(tokenizer))

    return [("tokenizer.json", put)]


@pytest.mark.parametrize(
    ("kind", "puts"),
    [("bert", with_token(5000)), ("gpt2", with_token(5000)), ("bart", with_token(5000)), ("bert", with_tokens(6))],
)
def test_a_tokenizer_that_is_not_that_of_the_weights_is_refused(broken, kind, puts):
    broken(puts, kind)
    with pytest.raises(ModelUnavailableError, match=r"do not match: .*tokenizer\.json") as told:
        load("It")
    hold_sentence(str(told.value))


def test_a_special_token_without_a_vector_is_told_where_it_is_read(broken):
    """Bart has no vector for <mask>, and Gemma 3 none for a picture."""

    def put(place):
        tokenizer = json.loads(place.read_text())
        mask = next(token for token in tokenizer["added_tokens"] if token["content"] == "[MASK]")
        tokenizer["added_tokens"].append({**mask, "content": "[PICTURE]", "id": len(tokenizer["model"]["vocab"])})
        place.write_text(json.dumps(tokenizer))

    broken([("tokenizer.json", put)])
    model = load("It")
    assert model.trace("The cat").check() < 1e-5
    for run in (model.trace, model.encode):
        with pytest.raises(ValueError, match=r"token ID [0-9]+"):
            run("The [PICTURE]")


def test_a_text_without_room_beside_what_the_tokenizer_adds_ends_with_a_sentence(broken):
    """Not with a search for a shorter one that never ends."""
    changes = {
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}] * 200
            + [{"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [],
            "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}},
        }
    }
    broken(with_tokenizer(changes))
    with pytest.raises(ValueError, match="tokenizer"):
        load("It").trace("The cat sat")


# --------------------------------------------------------------------------------------------- the hub


@pytest.fixture
def fetched(folder_of, tmp_path, monkeypatch):
    """A model as it lies after it was fetched, with what is said of it changed."""
    monkeypatch.setenv(hub.HUB_DIR_VARIABLE, str(tmp_path / "hub"))
    monkeypatch.delenv(local.MODEL_DIRS_VARIABLE, raising=False)

    def make(name="tiny--bert", manifest=None, **changes):
        folder = tmp_path / "hub" / name
        shutil.rmtree(tmp_path / "hub", ignore_errors=True)
        shutil.copytree(folder_of("bert"), folder)
        files = {path.name: store.sha256(path) for path in folder.iterdir() if path.name in (*BESIDE, WEIGHTS)}
        said = {"model_id": "tiny/bert", "revision": COMMIT, "licence": "mit", "files": files} | changes
        if manifest is None:
            (folder / hub.MANIFEST).write_text(json.dumps(said))
        else:
            manifest(folder / hub.MANIFEST)
        return found()

    return make


@pytest.mark.parametrize("put", [put_bytes(b"["), put_bytes(b"{}"), put_pipe])
def test_a_manifest_that_is_none_is_said(fetched, put):
    assert "Delete the folder" in hold_problem(fetched(manifest=put))


def test_a_fetched_model_never_has_the_name_of_a_bundled_one(fetched):
    other = fetched("toy", model_id="toy")
    hold_problem(other)
    assert other.model_id == "toy-2"


def test_a_file_that_has_come_to_a_fetched_model_is_noticed(fetched, tmp_path):
    fetched()
    (tmp_path / "hub" / "tiny--bert" / "generation_config.json").write_text("{}")
    with pytest.raises(ModelUnavailableError, match="fetched"):
        load("tiny/bert")


def test_a_hub_folder_that_is_none_has_no_models(tmp_path, monkeypatch):
    (tmp_path / "hub").write_text("")
    monkeypatch.setenv(hub.HUB_DIR_VARIABLE, str(tmp_path / "hub"))
    monkeypatch.delenv(local.MODEL_DIRS_VARIABLE, raising=False)
    assert list_models() == list(bundled.infos())


def test_half_of_the_weights_are_counted_once(broken, tmp_path):
    """What lies beside the weights and is not read with them is no part of the model."""
    whole = broken().info.n_parameters
    tensors = load_file(tmp_path / "It" / WEIGHTS)
    save_file({"x": next(iter(tensors.values()))}, tmp_path / "It" / "another.safetensors")
    (tmp_path / "It" / "config.json").touch()
    assert found().info.n_parameters == whole
