"""A bundled model is one entry; a new kind of input needs one more object."""

from dataclasses import replace

import pytest

from attention.answer.cache import shelf
from attention.core.reading import Reading
from attention.models import bundled, list_models
from attention.models.architectures import info_from_config
from attention.models.bundled import Bundled, Invitation
from attention.models.store import sha256
from attention.models.weights import WeightsSource
from tests.pages.forgetting import forget
from tests.tiny_models import make

MODEL = "tiny-bert"
PAGES = {
    "pages/step_by_step.py": {"step": "softmax"},
    "pages/all_heads.py": {},
    "pages/neuron_view.py": {},
    "pages/compare.py": {"versus": "A small dog ran"},
    "pages/code_lab.py": {},
}
POEM = Reading(
    name="poem",
    what="lines of poems",
    noun="line",
    kind="poem",
    examples=("the cat sat", "the birds sang on the tree"),
    placeholder="Type a line",
    unit="syllable",
    label="Syllable",
    part="Syllable part",
    cut="Cut the line into syllables",
    invitation="There is no line yet: type one.",
    masks=("none", "causal"),
    first_focus=lambda words: words[-1],
    blank="…",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make("bert", tmp_path_factory.mktemp("tiny") / MODEL)


@pytest.fixture
def add(folder, monkeypatch):
    """Add one entry to the catalogue, and nothing else anywhere."""

    def add_(**changes):
        info = info_from_config(MODEL, folder, name="Tiny", licence="none", source="a test")
        info = replace(info, default_layer=1, default_head=1, note="It has learnt nothing.", **changes)
        weights = WeightsSource(
            model_id=MODEL,
            package="",
            folder=str(folder),
            file="model.safetensors",
            sha256=sha256(folder / "model.safetensors"),
            companions={path.name: sha256(path) for path in folder.glob("*.json")},
        )
        entry = Bundled(info, Invitation("See what a model of random numbers looks at", step="scores"), weights)
        monkeypatch.setattr(bundled, "MODELS", (*bundled.MODELS, entry))
        return entry

    forget()
    yield add_
    forget()


@pytest.mark.parametrize("page", PAGES)
def test_a_model_that_is_added_opens_on_every_page(open_page, add, page):
    entry = add()
    shown = open_page(page, model=MODEL, text="The cat sat on the mat", **PAGES[page])
    assert shown.notices == []
    assert shown.view.model == MODEL
    assert all(line.startswith("✓ ") and "Tiny" in line for line in shown.proofs)
    assert MODEL in shelf().in_memory()
    assert entry.info in list_models()


def test_a_model_that_is_added_is_invited_to_and_has_a_card(open_page, add):
    entry = add()
    front = open_page("app.py", text="Two birds")
    assert sorted(front.headings(3)) == sorted(info.label for info in bundled.infos() if info.name != "MiniLM")
    (way,) = [link for label, link in front.ways.items() if label.startswith(entry.invitation.label)]
    assert way == f"text=Two+birds&model={MODEL}&step=scores"
    assert entry.info.summary in front.text
    (header,) = [each for each in front.headings(2) if "more model" in each]
    assert header == "5 more models"
    cards = open_page("pages/models.py")
    assert any("Tiny" in body and entry.weights.sha256 in body and entry.info.note in body for body in cards.html)


@pytest.mark.parametrize("page", PAGES)
def test_a_kind_of_reading_that_is_added_needs_no_other_change(open_page, add, page):
    add(reading=POEM)
    shown = open_page(page, model=MODEL, mask="padding", beside="1", pair="The birds sang", **PAGES[page])
    # It reads its own first example, and takes neither padding nor another model beside it nor a second sentence.
    assert (shown.view.text, shown.view.mask, shown.view.beside, shown.view.pair) == (POEM.first, "none", False, "")
    assert shown.widget("text").data["hint"] == POEM.placeholder
    assert shown.widget("text").data["examples"]["labels"] == list(POEM.examples)
    assert "beside" not in shown.controls()
    assert shown.widget("mask").options == ["none", "causal"]
    if page == "pages/compare.py":
        assert any(f"Tiny reads {POEM.what}, but this page" in notice for notice in shown.notices)
        return
    assert len(shown.proofs) == 1
    if page != "pages/code_lab.py":
        assert shown.widget("word").label == "Syllable"
        assert shown.widget("word").value == 3


@pytest.mark.parametrize("page", ["pages/many_sentences.py", "pages/syntax_check.py"])
def test_pages_with_sentences_of_their_own_say_why_they_are_not_for_it(open_page, add, page):
    add(reading=POEM)
    shown = open_page(page, model=MODEL)
    (notice,) = shown.notices
    assert "Tiny" in notice
    assert POEM.what in notice
