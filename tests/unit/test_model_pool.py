import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event, Thread

import numpy as np
import psutil
import pytest

from attention.models import ModelUnavailableError, load
from attention.models.architectures import info_from_config
from attention.models.huggingface import HuggingFaceModel
from attention.models.memory import MAX_MEMORY_VARIABLE
from attention.models.model_pool import RETRY_SECONDS, ModelPool, ShelvedModel, max_models
from attention.models.store import Progress
from attention.models.toy import TOY_INFO, ToyModel
from tests import tiny_models
from tests.sweep import sweep

PATIENCE = 120


class Loader:
    """Makes toys, notes for which ids, and may be held up or fail."""

    def __init__(self):
        self.loaded = []
        self.held = {}
        self.failing = set()
        self.began = {}

    def hold(self, model_id):
        self.held[model_id], self.began[model_id] = Event(), Event()

    def __call__(self, model_id, on_progress):
        self.loaded.append(model_id)
        on_progress(Progress(1, 4, "tensors"))
        if model_id in self.held:
            self.began[model_id].set()
            assert self.held[model_id].wait(PATIENCE)
        if model_id in self.failing:
            raise ModelUnavailableError(f"{model_id} is missing.", "mend it")
        return ToyModel()


class Clock:
    """A clock that goes on by one whenever it is looked at, and further if it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1e-3
        return self.now


@pytest.fixture
def loader():
    return Loader()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make(loader, clock):
    def make(limit, **options):
        return ModelPool(loader, limit, clock=clock, **options)

    return make


def use(shelf, *model_ids):
    for model_id in model_ids:
        with shelf.borrow(model_id) as model:
            assert model.info is TOY_INFO


def put_out(shelf, model_id, idle_seconds=0.0):
    with shelf.kept_out(model_id, idle_seconds) as is_out:
        return is_out


def test_the_one_that_nobody_has_used_for_longest_goes_first(make, loader):
    gone = []
    shelf = make(2, on_put_out=gone.append)
    use(shelf, "a", "b", "a", "c")
    assert shelf.in_memory() == {"a", "c"}
    use(shelf, "a", "b")
    assert shelf.in_memory() == {"a", "b"}
    assert gone == ["b", "c"]
    assert loader.loaded == ["a", "b", "c", "b"]


def test_a_model_in_use_is_never_put_out_and_who_asks_for_one_more_waits(make, loader):
    shelf = make(1)
    has_b = Event()

    def ask_for_b():
        with shelf.borrow("b"):
            has_b.set()

    with shelf.borrow("a"):
        waiting = Thread(target=ask_for_b)
        waiting.start()
        # Another one who uses it is let in, though somebody waits.
        use(shelf, "a")
        assert not has_b.wait(0.3)
        assert shelf.in_memory() == {"a"}
        assert not put_out(shelf, "a")
    waiting.join(PATIENCE)
    assert has_b.is_set()
    assert shelf.in_memory() == {"b"}
    assert loader.loaded == ["a", "b"]


def test_the_toy_takes_no_place(make):
    shelf = make(1, uncounted=frozenset({"toy"}))
    use(shelf, "toy", "a", "b", "toy")
    assert shelf.in_memory() == {"toy", "b"}


def test_many_who_ask_for_the_same_model_wait_for_one_loading(make, loader):
    shelf = make(2)
    together = Barrier(8)

    def ask(_):
        together.wait(PATIENCE)
        with shelf.borrow("a") as model:
            return id(model)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert loader.loaded == ["a"]


def test_loading_one_model_keeps_nobody_from_using_another(make, loader):
    shelf = make(2)
    use(shelf, "a")
    loader.hold("b")
    told = []
    waiting = Thread(target=lambda: shelf.borrow("b", told.append).__enter__())
    waiting.start()
    assert loader.began["b"].wait(PATIENCE)
    use(shelf, "a")
    assert not put_out(shelf, "b")
    assert shelf.in_memory() == {"a"}
    loader.held["b"].set()
    waiting.join(PATIENCE)
    assert shelf.in_memory() == {"a", "b"}


def test_who_waits_is_told_how_far_it_is_and_may_leave(make, loader):
    shelf = make(1)
    loader.hold("a")

    class LeftError(Exception):
        pass

    def leave(progress):
        if progress is not None:
            raise LeftError(progress)

    with pytest.raises(LeftError) as caught, shelf.borrow("a", leave):
        pytest.fail("nobody has it yet")
    assert caught.value.args == (Progress(1, 4, "tensors"),)
    # The loading goes on, and whoever comes next has it.
    loader.held["a"].set()
    use(shelf, "a")
    assert loader.loaded == ["a"]
    assert put_out(shelf, "a")


def test_a_failure_is_remembered_for_a_while_and_then_tried_again(make, loader, clock):
    shelf = make(1)
    loader.failing.add("a")
    for _ in range(3):
        with pytest.raises(ModelUnavailableError, match="a is missing") as caught, shelf.borrow("a"):
            pass
        assert caught.value.remedy == "mend it"
    assert loader.loaded == ["a"]
    assert shelf.in_memory() == frozenset()
    loader.failing.clear()
    clock.now += RETRY_SECONDS
    use(shelf, "a")
    assert loader.loaded == ["a", "a"]


def test_whatever_goes_wrong_in_loading_becomes_a_sentence(clock, caplog):
    def load(model_id, on_progress):
        raise MemoryError("too large")

    with pytest.raises(ModelUnavailableError, match=r"\ba \(MemoryError\)"), ModelPool(load, 1).borrow("a"):
        pass
    assert "MemoryError" in caplog.text


def test_an_error_of_the_user_gives_the_model_back(make):
    shelf = make(1)
    with pytest.raises(ValueError, match="mine"), shelf.borrow("a"):
        raise ValueError("mine")
    assert put_out(shelf, "a")


def test_a_model_that_was_used_lately_stays_if_so_asked(make, clock):
    shelf = make(1)
    use(shelf, "a")
    assert not put_out(shelf, "a", idle_seconds=60)
    clock.now += 60
    assert put_out(shelf, "a", idle_seconds=60)
    assert put_out(shelf, "never there", idle_seconds=60)


def test_a_shelved_model_works_as_the_model_itself_even_after_it_was_put_out(make):
    shelf = make(1)
    shelved, toy = ShelvedModel(shelf, TOY_INFO), ToyModel()
    assert not hasattr(shelved, "no_method_of_a_model")
    text = "the small cat sat"
    for _ in range(2):
        trace = shelved.trace(text, mask="causal")
        np.testing.assert_array_equal(
            trace.layers[0].model_output, toy.trace(text, mask="causal").layers[0].model_output
        )
        encoded = shelved.encode(text)
        assert encoded == toy.encode(text)
        np.testing.assert_array_equal(
            shelved.trace_batch([encoded]).layers[0].queries, toy.trace_batch([encoded]).layers[0].queries
        )
        assert shelved.next_token(trace) is None
        assert put_out(shelf, "toy")


class RevisedToy(ToyModel):
    """The toy, said to be of some revision."""

    def __init__(self, revision):
        super().__init__()
        self.revision = revision

    @property
    def info(self):
        return replace(TOY_INFO, revision=self.revision)


class Revised:
    """A disk with one model, of a revision that may change; what is loaded is of the revision of that moment."""

    def __init__(self):
        self.revision = "one"
        self.loaded = []

    def load(self, model_id, on_progress):
        self.loaded.append(self.revision)
        return RevisedToy(self.revision)

    def shelf(self, **options):
        return ModelPool(self.load, 1, info_of=lambda model_id: replace(TOY_INFO, revision=self.revision), **options)


def test_a_model_whose_files_have_changed_is_loaded_anew(clock):
    gone, disk = [], Revised()
    shelf = disk.shelf(on_put_out=gone.append, clock=clock)
    for revision in ("one", "one", "two", "two"):
        disk.revision = revision
        with shelf.borrow("a") as model:
            assert model.info.revision == revision
    assert disk.loaded == ["one", "two"]
    assert gone == ["a"]


def test_a_changed_model_that_somebody_uses_stays_until_that_is_over(clock):
    disk, has_it = Revised(), Event()
    shelf = disk.shelf(clock=clock)

    def ask():
        with shelf.borrow("a") as model:
            assert model.info.revision == "two"
            has_it.set()

    with shelf.borrow("a") as model:
        disk.revision = "two"
        asking = Thread(target=ask)
        asking.start()
        assert not has_it.wait(0.3)
        assert model.info.revision == "one"
    asking.join(PATIENCE)
    assert has_it.is_set()


def test_what_was_seen_of_one_revision_is_asked_of_no_other():
    disk = Revised()
    shelf = disk.shelf()
    shelved = ShelvedModel(shelf, replace(TOY_INFO, revision="one"))
    trace = shelved.trace("the small cat sat")
    disk.revision = "two"
    for ask in (
        lambda: shelved.trace("the small cat sat"),
        lambda: shelved.encode("the small cat sat"),
        lambda: shelved.next_token(trace),
        lambda: shelved.answer(trace),
    ):
        with pytest.raises(ModelUnavailableError, match="have changed"):
            ask()


def test_a_model_that_is_kept_out_is_loaded_by_nobody_until_that_is_over(make, loader):
    shelf = make(1)
    use(shelf, "a")
    has_it, asked = Event(), Event()

    def ask():
        with shelf.borrow("a", lambda progress: asked.set()):
            has_it.set()

    with shelf.kept_out("a") as is_out:
        assert is_out
        asking = Thread(target=ask)
        asking.start()
        # It has waited, and was told so.
        assert asked.wait(PATIENCE)
        assert not has_it.is_set()
        assert loader.loaded == ["a"]
        with shelf.kept_out("a") as is_out_again:
            assert not is_out_again
    asking.join(PATIENCE)
    assert has_it.is_set()
    assert loader.loaded == ["a", "a"]


MILLION_NUMBERS = {"a": 25, "b": 50, "c": 75, "d": 50, "huge": 1000, "toy": 1000}


@pytest.fixture
def sized(make, monkeypatch):
    """A shelf with room for many models, but for 600 MB: 25 million numbers of one take 100 MB."""
    monkeypatch.setenv(MAX_MEMORY_VARIABLE, "610")

    def info_of(model_id):
        # As ``use`` holds, what is loaded is the toy.
        return replace(TOY_INFO, n_parameters=MILLION_NUMBERS[model_id] * 10**6)

    return make(9, info_of=info_of, uncounted=frozenset({"toy"}))


def test_models_go_that_nobody_uses_until_all_together_fit(sized, loader):
    use(sized, "a", "b", "c")
    assert sized.in_memory() == {"a", "b", "c"}
    use(sized, "a", "d")
    # The one unused for longest is not enough, but nearly: 100 + 300 + 200 MB.
    assert sized.in_memory() == {"a", "c", "d"}
    use(sized, "b")
    assert sized.in_memory() == {"a", "b", "d"}
    assert loader.loaded == ["a", "b", "c", "d", "b"]


def test_what_is_in_use_stays_and_a_model_waits_that_does_not_fit_beside_it(sized):
    has_c = Event()

    def ask_for_c():
        with sized.borrow("c"):
            has_c.set()

    use(sized, "a")
    with sized.borrow("b"), sized.borrow("d"):
        waiting = Thread(target=ask_for_c)
        waiting.start()
        assert not has_c.wait(0.3)
        # None goes in vain.
        assert sized.in_memory() == {"a", "b", "d"}
    waiting.join(PATIENCE)
    assert has_c.is_set()
    assert 4 * sum(MILLION_NUMBERS[each] for each in sized.in_memory()) <= 610


def test_alone_a_model_always_has_room_and_the_uncounted_take_none(sized):
    use(sized, "toy", "a", "b", "huge")
    assert sized.in_memory() == {"toy", "huge"}
    use(sized, "a", "toy")
    assert sized.in_memory() == {"toy", "a"}


@pytest.mark.parametrize(("value", "count"), [("", 4), ("2", 2), ("0", 1), ("-3", 4), ("many", 4)])
def test_the_owner_says_how_many(monkeypatch, value, count):
    monkeypatch.setenv("ATTENTION_MAX_MODELS", value)
    assert max_models() == count


def test_many_threads_and_few_places(make, loader):
    """However many ask for whatever, no more than so many are in memory, and everybody gets theirs."""
    most = []
    shelf = make(2)

    def ask(index):
        with shelf.borrow("abcde"[index % 5]):
            most.append(len(shelf.in_memory()))
            return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(200), timeout=60))
    assert max(most) <= 2


# ----------------------------------------------------------------------- memory is really given back


@pytest.fixture
def infos(folder_of):
    """Describe tiny models of some architectures."""
    return lambda *kinds: {
        kind: info_from_config(kind, folder_of(kind), name=kind, licence="", source="") for kind in kinds
    }


TEXT_KINDS = tuple(kind for kind in tiny_models.KINDS if kind != "vit")


@pytest.mark.parametrize("kinds", [("t5",), pytest.param(TEXT_KINDS, marks=pytest.mark.slow)], ids=len)
def test_a_model_that_is_put_out_is_freed_even_out_of_the_garbage_collectors_sight(infos, folder_of, kinds):
    of_kind, watched = infos(*kinds), {}
    shelf = ModelPool(lambda kind, on_progress: HuggingFaceModel(of_kind[kind], folder_of(kind)), len(kinds))
    for kind in kinds:
        with shelf.borrow(kind) as model:
            trace = model.trace("The cat sat on the mat")
            model.next_token(trace)
            model.trace_batch([model.encode("The cat sat")])
            watched[kind] = [weakref.ref(model), *map(weakref.ref, model._stack.module.modules())]
    del model, trace
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        assert all(put_out(shelf, kind) for kind in kinds)
        left = {kind: [module for each in watched[kind] if (module := each()) is not None] for kind in kinds}
        assert left == {kind: [] for kind in kinds}
    finally:
        gc.enable()
        gc.unfreeze()


@pytest.mark.parametrize("repeat", sweep(range(3), quick=(0,)))
def test_models_that_are_loaded_at_once_are_whole(repeat, infos, folder_of):
    """transformers' own loading, in several threads at once, leaves some of them with made-up weights."""
    kinds = ["bart", "t5", "gpt2", "bert", "llama", "distilbert"]
    of_kind = infos(*kinds)
    shelf = ModelPool(lambda kind, on_progress: HuggingFaceModel(of_kind[kind], folder_of(kind)), len(kinds))
    together = Barrier(len(kinds))

    def ask(kind):
        together.wait(PATIENCE)
        with shelf.borrow(kind) as model:
            return model.trace("The cat sat").layers[-1].model_output

    with ThreadPoolExecutor(len(kinds)) as pool:
        found = dict(zip(kinds, pool.map(ask, kinds), strict=True))
    for kind in kinds:
        alone = HuggingFaceModel(of_kind[kind], folder_of(kind)).trace("The cat sat").layers[-1].model_output
        np.testing.assert_array_equal(found[kind], alone)


def test_a_model_gives_the_same_while_others_are_loaded(infos, folder_of):
    of_kind = infos("bert", "bart", "gpt2")
    model = HuggingFaceModel(of_kind["bert"], folder_of("bert"))
    wanted = model.trace("The cat sat").layers[-1].model_output
    is_enough, loaded = Event(), []

    def load_others():
        while not is_enough.is_set():
            loaded.extend(HuggingFaceModel(of_kind[kind], folder_of(kind)) for kind in ("bart", "gpt2"))

    loading = Thread(target=load_others)
    loading.start()
    try:
        n_runs = 0
        # Whichever of the two threads the machine gives less time to, the other one waits for it.
        while loading.is_alive() and (n_runs < 5 or len(loaded) < 8):
            np.testing.assert_array_equal(model.trace("The cat sat").layers[-1].model_output, wanted)
            n_runs += 1
    finally:
        is_enough.set()
        loading.join(PATIENCE)
    assert (n_runs >= 5, len(loaded) >= 8) == (True, True)


@pytest.mark.slow
def test_put_out_gives_the_memory_back_to_the_system():
    process = psutil.Process()
    shelf = ModelPool(load, 1)
    sizes = []
    for _ in range(3):
        with shelf.borrow("smollm2-135m") as model:
            model.trace("The cat sat on the mat")
            loaded = process.memory_info().rss
        del model
        assert put_out(shelf, "smollm2-135m")
        sizes.append(process.memory_info().rss)
        # Its weights are 513 MiB; a part of that, other things may have taken meanwhile.
        assert loaded - sizes[-1] > 350 * 2**20
    assert sizes[-1] - sizes[0] < 50 * 2**20
