"""What the server keeps of a page: names, from which files are made on request."""

import gc
import io
import shutil
import weakref
from functools import partial
from html import unescape
from urllib.parse import parse_qsl

import numpy as np
import pytest

from attention.answer import asked, cache, downloads, generated_files, running
from attention.answer.files import FILES
from attention.lesson.head_context import HeadContext
from attention.models import hub, local
from attention.page.address import Address
from tests import tiny_models
from tests.pages.forgetting import forget
from tests.sweep import sweep

PAGES = ("app", "pages/step_by_step", "pages/all_heads", "pages/neuron_view", "pages/compare", "pages/code_lab")
MODELS = ("toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits")
WORD = "xylophone"


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """No models but the bundled ones, and nothing of another test in memory."""
    monkeypatch.setenv(hub.HUB_DIR_VARIABLE, str(tmp_path / "hub"))
    monkeypatch.delenv(local.MODEL_DIRS_VARIABLE, raising=False)
    forget()
    yield
    forget()


def fetch(address):
    """Ask for a file as a browser does."""
    path, _, query = address.removeprefix(f"./{FILES}/").partition("?")
    answer = asked.answer(generated_files.give, "GET", path, dict(parse_qsl(query, keep_blank_values=True)), {})
    assert answer.status_code == 200
    return answer.body


def is_refused(content):
    """Tell whether a file, of letters, says that it could not be made: what it says then, before any reason."""

    def gone():
        raise downloads.GoneError("")

    said = downloads.made("any.csv", gone)
    letters = [each if isinstance(each, str) else each.decode("utf-8-sig", "replace") for each in (said, content)]
    # A table has it in quotation marks.
    return letters[0].strip(' "\r\n') in unescape(letters[1])


def files(shown):
    """What makes each file that a page offers, by its name."""
    return {name: partial(fetch, address) for name, address in shown.files.items()}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model in a folder, which may change or go."""
    place = tiny_models.make("llama", tmp_path / "llama")
    monkeypatch.setenv(local.MODEL_DIRS_VARIABLE, str(place))
    return place


def traces():
    return [recorded.trace for recorded in cache._caches().traces._things.values()]


def watch():
    """Return weak references to the arrays of all traces in memory."""
    return [weakref.ref(layer.queries) for trace in traces() for part in trace.traces for layer in part.layers]


def leave():
    """Empty the cache."""
    for model in MODELS:
        cache._caches().traces.drop(model)
    gc.collect()


@pytest.mark.parametrize(
    ("page", "model"),
    sweep(
        # Every page with two models, and the one that keeps most with every model.
        sorted(
            {(page, "minilm-l6") for page in PAGES}
            | {(page, MODELS[number % len(MODELS)]) for number, page in enumerate(PAGES)}
            | {("pages/step_by_step", model) for model in MODELS}
        ),
        quick=[(page, "minilm-l6") for page in PAGES],
    ),
)
def test_nothing_keeps_the_numbers_of_what_was_seen(open_page, page, model):
    shown = open_page(f"{page}.py", model=model, step="qkv", versus="Two birds sang")
    watched = watch()
    kept = [shown, files(shown)]
    if page == "pages/step_by_step":
        for step in ("qkv", "softmax", "heads"):
            shown = open_page(f"{page}.py", model=model, step=step).choose("main_panel", "table")
            kept += [shown, files(shown)]
        watched += watch()
    leave()
    assert [each for each in watched if each() is not None] == []
    if page in ("pages/all_heads", "pages/neuron_view"):
        assert watched
        assert kept[1]


FILES_OF = [
    ("pages/step_by_step", {"step": "qkv", "model": "smollm2-135m"}),
    ("pages/step_by_step", {"step": "heads", "model": "smollm2-135m"}),
    ("pages/step_by_step", {"step": "softmax", "model": "vit-digits"}),
    ("pages/all_heads", {"sort": "entropy", "hide": "special", "words": "1", "layer": "2", "head": "3"}),
    ("pages/all_heads", {"model": "translator-fr-en", "part": "cross"}),
    ("pages/all_heads", {"pair": "It was tired", "block": "A-B"}),
    ("pages/neuron_view", {"cell": "neuron-2-1", "word": "2"}),
    ("pages/compare", {"versus": "The cat lay on the mat"}),
    ("pages/many_sentences", {"model": "toy"}),
    ("pages/syntax_check", {"model": "toy"}),
]


@pytest.mark.parametrize(("page", "query"), sweep(FILES_OF, quick=[FILES_OF[1], FILES_OF[3], FILES_OF[-1]]))
def test_a_file_is_the_same_when_its_numbers_have_to_be_found_anew(open_page, page, query):
    shown = open_page(f"{page}.py", **query)
    if page == "pages/step_by_step":
        shown.choose("main_panel", "table")
    makers = files(shown)
    before = {name: make() for name, make in makers.items()}
    assert before
    for model_id in MODELS:
        cache._caches().traces.drop(model_id)
    assert traces() == []
    for name, make in makers.items():
        again = make()
        if name.endswith(".npz"):
            one, other = (np.load(io.BytesIO(data)) for data in (before[name], again))
            assert one.files == other.files
            assert all(np.array_equal(one[each], other[each]) for each in one.files)
            assert "explanation" not in one.files
        else:
            assert again == before[name]
            assert not is_refused(again)


def explanation_in(name, data):
    if name.endswith(".npz"):
        return str(np.load(io.BytesIO(data))["explanation"])
    return data if isinstance(data, str) else data.decode("utf-8-sig")


@pytest.mark.parametrize("page", ["all_heads", "neuron_view", "step_by_step"])
def test_a_file_of_a_model_that_is_gone_says_so(open_page, folder, caplog, page):
    shown = open_page(f"pages/{page}.py", model="llama", text=f"The {WORD} sat", step="heads")
    if page == "step_by_step":
        shown.choose("main_panel", "table")
    makers = files(shown)
    assert makers
    shutil.rmtree(folder)
    forget()
    for name, make in makers.items():
        told = explanation_in(name, make())
        assert is_refused(told)
        assert "llama" in told
    assert WORD not in caplog.text
    assert "Traceback" not in caplog.text


def test_a_file_of_a_model_that_was_replaced_says_so_and_has_no_numbers_of_the_new_one(open_page, folder):
    make = files(open_page("pages/neuron_view.py", model="llama"))["neuron.csv"]
    assert "q(" in explanation_in("neuron.csv", make())
    shutil.rmtree(folder)
    tiny_models.make("bert", folder)
    told = explanation_in("neuron.csv", make())
    assert is_refused(told)
    assert ("llama" in told, "q(" in told) == (True, False)


def test_whatever_goes_wrong_in_making_a_file_is_said_in_it_and_the_log_holds_no_text(caplog):

    def fail():
        raise RuntimeError(f"cannot take {WORD}")

    for name in ("heads.csv", "heads.html", "heads.json", "trace.npz", "head.ipynb"):
        told = explanation_in(name, downloads.made(name, fail))
        assert is_refused(told)
        assert ("RuntimeError" in told, WORD in told) == (True, False)
    assert "RuntimeError" in caplog.text
    assert WORD not in caplog.text


def test_what_is_no_longer_in_memory_is_measured_once_more(open_page, few_sentences):
    make = files(open_page("pages/many_sentences.py", model="toy"))["many-sentences.csv"]
    before = make()
    running.measurements.cache_clear()
    assert make() == before
    assert not is_refused(before)


# ------------------------------------------------------------------------------------------ caches


class Counting:
    """How often a model was run."""

    def __init__(self, monkeypatch):
        self.n_runs = 0
        run = cache._run

        def counted(model, key):
            self.n_runs += 1
            return run(model, key)

        monkeypatch.setattr(cache, "_run", counted)


@pytest.mark.parametrize(
    ("page", "query", "n_runs"),
    [
        ("step_by_step", {}, 1),
        ("step_by_step", {"beside": "1"}, 2),
        ("compare", {"versus": "The cat lay on the mat"}, 2),
        ("all_heads", {}, 1),
    ],
)
def test_a_trace_above_the_limit_is_shown_and_the_model_runs_once(open_page, monkeypatch, page, query, n_runs):
    monkeypatch.setattr(cache, "MAX_TRACE_BYTES", 1000)
    counting = Counting(monkeypatch)
    shown = open_page(f"pages/{page}.py", **query)
    assert min(trace.nbytes for trace in traces()) > 1000
    for _ in range(2):
        assert shown.notices == []
        shown.run()
    assert counting.n_runs == n_runs


def test_what_nobody_could_say_is_asked_again(open_page, folder, monkeypatch):
    shown = open_page(model="llama", step="heads")
    assert "what comes next" in " ".join(shown.headings(3))
    # Its answer is not kept, its trace is; and the model is gone for a while.
    cache._caches().results = type(cache._caches().results)(10, lambda _: 1)
    elsewhere = folder.with_name("elsewhere")
    (trace,) = traces()
    run = next(iter(cache._caches().traces._things))
    shared = cache.Shared(Address(run, "encoder", 0, 0, 0), HeadContext(trace, 0, 0, 0), trace)
    monkeypatch.setattr(cache.shelf(), "_slots", {})
    folder.rename(elsewhere)
    assert shared.forecast() is None
    elsewhere.rename(folder)
    with cache.shelf().kept_out("llama"):
        pass
    assert shared.forecast() is not None


def test_a_model_that_was_put_out_leaves_nothing_behind(open_page, folder):
    open_page("pages/all_heads.py", model="llama", step="heads")
    open_page(model="llama", step="heads")
    with cache.shelf().borrow("llama") as model:
        watched = [weakref.ref(each) for each in model._stack.module.parameters()]
    del model
    gc.collect()
    with cache.shelf().kept_out("llama") as is_out:
        assert is_out
    assert [each for each in watched if each() is not None] == []
