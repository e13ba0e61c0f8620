"""The page *Models*: what it says about every model, and how to get more."""

import html
import re
import shutil

import pytest
from safetensors.numpy import load_file, save_file

from attention.models import bundled, find_others, hub, list_models, local, store, weights
from tests import tiny_models
from tests.pages.forgetting import forget
from tests.small_hub import serve_hub
from tests.sweep import sweep

PAGE = "pages/models.py"
PAGES = ("step_by_step", "all_heads", "neuron_view", "compare", "syntax_check", "many_sentences", "code_lab")
TINY = "tiny/bert"
BUNDLED = [info.label for info in bundled.infos()]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A tiny model of each architecture that reads text."""
    place = tmp_path_factory.mktemp("tiny")
    return {kind: tiny_models.make(kind, place / kind) for kind in tiny_models.KINDS}


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """No models but the bundled ones, and nothing of another test in memory."""
    monkeypatch.setenv(hub.HUB_DIR_VARIABLE, str(tmp_path / "hub"))
    for name in (hub.ALLOW_VARIABLE, hub.MAX_MB_VARIABLE, local.MODEL_DIRS_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    forget()
    yield
    forget()


@pytest.fixture
def small(folders, monkeypatch):
    with serve_hub() as small:
        small.models |= {f"tiny/{kind}": folder for kind, folder in folders.items()}
        monkeypatch.setenv("HF_ENDPOINT", small.url)
        monkeypatch.setenv(hub.ALLOW_VARIABLE, "*")
        yield small


def card(shown, name):
    """What the card of a model says, fact by fact."""
    (body,) = [body for body in shown.html if f"<h3><bdi>{name}</bdi></h3>" in body]
    facts = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", body))
    (facts["place"],) = re.findall('<p class="place[^"]*">(.*?)</p>', body)
    return facts


def names(shown):
    return re.findall("<h3><bdi>(.*?)</bdi></h3>", " ".join(shown.html))


def ways(shown):
    """Where the links lead that open a model."""
    return {label: link for label, link in shown.ways.items() if label.startswith("Look at ")}


def fetch(shown, model_id=TINY):
    """Type an id and press, and wait until it is there or why it is not."""
    shown.send("fetch", "press", {"start": model_id})
    from attention.answer.cache import downloads

    running = downloads().all()
    for each in running:
        each.wait(120)
    return shown.run() if running else shown


def buttons(shown):
    """The keys of what has a button, by its label, with the other label where it stops something."""
    works = {key: data for key, data in shown.pictures.items() if {"label", "stops", "share"} <= data.keys()}
    return {data["stops"] or data["label"]: key for key, data in works.items()}


def press(shown, label):
    """Press a button."""
    key = buttons(shown)[label]
    return shown.send(key, "press", "stop" if shown.component(key)["stops"] else "start")


def test_it_lists_the_bundled_models_with_their_sizes_and_checksums(open_page):
    shown = open_page(PAGE)
    assert names(shown)[: len(BUNDLED)] == BUNDLED
    for info in list_models():
        facts = card(shown, info.label)
        assert facts["Architecture"] == info.architecture
        assert facts["Parameters"] == f"{info.n_parameters:,}"
        assert (facts["Licence"], facts["Source"]) == (info.licence, info.source)
    assert card(shown, "MiniLM (a small BERT)")["Layers × heads"] == "6 × 12"
    assert card(shown, "Translator")["Layers × heads"] == "(2 + 2) × 4"
    assert card(shown, "SmolLM2")["Layers × heads"] == "30 × 9 (3 key/value heads)"
    assert bundled.MINILM.weights.sha256 in card(shown, "MiniLM (a small BERT)")["SHA-256"]
    assert "SHA-256" not in card(shown, "Toy")


def test_it_says_what_is_in_memory(open_page):
    assert card(open_page(PAGE), "MiniLM (a small BERT)")["place"] == "on disk"
    open_page(model="minilm-l6")
    assert "in memory" in card(open_page(PAGE), "MiniLM (a small BERT)")["place"]
    assert card(open_page(PAGE), "SmolLM2")["place"] == "on disk"


def test_weights_that_are_not_installed_are_not_said_to_be(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv(weights.WEIGHTS_DIR_VARIABLE, str(tmp_path))
    assert card(open_page(PAGE), "MiniLM (a small BERT)")["place"] == "not installed"


def test_each_model_leads_to_step_by_step_with_the_sentence(open_page):
    shown = open_page(PAGE, text="Two birds", model="toy", layer="1")
    assert ways(shown)["Look at SmolLM2 ▸"] == "text=Two+birds&model=smollm2-135m"
    assert ways(shown)["Look at MiniLM ▸"] == "text=Two+birds"


def test_where_the_hub_is_off_it_says_how_the_owner_switches_it_on(open_page):
    shown = open_page(PAGE)
    assert f"{hub.ALLOW_VARIABLE}=curated" in shown.text
    assert not buttons(shown)
    # The well-known ones are shown all the same.
    facts = card(shown, "bert-base-uncased")
    assert (facts["place"], facts["Layers × heads"], facts["Licence"]) == ("on the hub", "12 × 12", "Apache-2.0")
    assert names(shown)[len(BUNDLED) :] == [model.alias for model in hub.CURATED]


def test_a_fetched_model_is_in_the_catalogue_on_every_page_and_can_be_removed(open_page, small):
    shown = fetch(open_page(PAGE))
    assert f"{TINY} is ready" in shown.text
    assert shown.notices == []
    facts = card(shown, "bert")
    assert (facts["place"], facts["Layers × heads"], facts["Licence"]) == ("on disk", "3 × 4", "apache-2.0")
    assert ways(shown)["Look at bert ▸"] == "model=tiny%2Fbert"
    page = open_page(model=TINY, step="softmax")
    assert page.view.model == TINY
    assert "bert" in page.proofs[0]
    # A person looks at it.
    shown = press(shown, "Remove from disk")
    assert "bert" in shown.notices[0]
    assert "bert" in names(shown)
    forget()
    shown = press(shown, "Remove from disk")
    assert shown.notices == []
    assert "bert" not in names(shown)
    assert find_others() == []
    # Who still looks at it is told, and sees another one.
    page.run()
    assert page.view.model == "minilm-l6"
    assert TINY in page.notices[0]


def test_a_fault_of_the_hub_is_a_sentence_and_the_page_works_on(open_page, small):
    small.status = 429
    shown = fetch(open_page(PAGE))
    assert "Too many requests" in shown.notices[0]
    assert names(shown)[: len(BUNDLED)] == BUNDLED
    small.status = 200
    assert f"{TINY} is ready" in fetch(shown).text


def test_what_is_no_id_is_said_and_interpreted_nowhere(open_page, small):
    shown = fetch(open_page(PAGE), "<b>x</b>")
    assert len(shown.notices) == 1
    assert not any("<b>" in body for body in shown.html if 'class="notice"' in body)
    assert small.asked == []


def test_two_sessions_see_one_download_and_either_may_cancel_it(open_page, small):
    small.wait_at = 0
    first, second = open_page(PAGE), open_page(PAGE)
    first.send("fetch", "press", {"start": TINY})
    assert "Cancel" in buttons(second.run())
    press(second, "Cancel")
    from attention.answer.cache import downloads

    (each,) = downloads().all()
    each.wait(120)
    for shown in (first, second):
        assert f"Cancelled: {TINY}" in shown.run().text
        assert "Cancel" not in buttons(shown)
    assert find_others() == []


def test_only_the_owners_models_have_a_button(open_page, small, monkeypatch):
    monkeypatch.setenv(hub.ALLOW_VARIABLE, "gpt2")
    shown = open_page(PAGE)
    assert list(buttons(shown)) == ["Download", "Download, 548 MB"]
    assert TINY in fetch(shown).notices[0]
    assert small.asked == []


def test_a_link_to_a_model_that_is_not_here_leads_to_the_catalogue(open_page, small):
    shown = open_page(model=TINY, step="scores")
    assert f"model={TINY}" in shown.notices[0]
    (way,) = [query for label, query in shown.ways.items() if label.startswith("Find tiny")]
    assert "get=tiny%2Fbert" in way
    assert open_page(PAGE, get=TINY).component("fetch")["text"]["value"] == TINY
    # Once something is chosen, it is not asked for any more.
    shown.choose("model", "toy")
    assert not [label for label in shown.ways if label.startswith("Find tiny")]


# ------------------------------------------------------------------------------------------- folders


@pytest.fixture
def of_the_owner(monkeypatch):
    def name(*folders):
        monkeypatch.setenv(local.MODEL_DIRS_VARIABLE, ":".join(map(str, folders)))

    return name


def test_a_folder_of_the_owner_is_a_model(open_page, of_the_owner, folders):
    of_the_owner(folders["llama"])
    facts = card(open_page(PAGE), "llama")
    assert (facts["place"], facts["Source"]) == ("on disk", f"the folder {folders['llama']}")
    assert store.sha256(folders["llama"] / "model.safetensors") in facts["SHA-256"]
    assert facts["Layers × heads"] == "3 × 6 (2 key/value heads)"
    shown = open_page(model="llama")
    assert (shown.view.model, shown.notices) == ("llama", [])
    # There is nothing to remove: it is not ours.
    assert not buttons(open_page(PAGE))


def test_folders_of_one_name_have_different_ids_and_none_takes_that_of_a_bundled_model(
    open_page, of_the_owner, folders, tmp_path
):
    twins = [shutil.copytree(folders["bert"], tmp_path / name / "toy") for name in ("a", "b")]
    strange = shutil.copytree(folders["bert"], tmp_path / "my <b>model<-b> & more")
    of_the_owner(*twins, strange)
    assert [each.model_id for each in find_others()] == ["toy-2", "toy-3", "my-b-model--b-more"]
    assert all(each.info.name == each.model_id for each in find_others())
    shown = open_page(PAGE)
    assert "my-b-model--b-more" in names(shown)
    assert html.escape(strange.name) in card(shown, "my-b-model--b-more")["Source"]
    assert open_page(model="toy-3").view.model == "toy-3"


def test_one_broken_folder_breaks_no_page(open_page, of_the_owner, folders, tmp_path):
    """A file of Git LFS in place of the weights; other faults are told in the same way."""
    broken = shutil.copytree(folders["bert"], tmp_path / "lfs")
    (broken / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\nsize 440449768\n")
    of_the_owner(broken, folders["gpt2"])
    shown = open_page(PAGE)
    assert (card(shown, "lfs")["place"], card(shown, "gpt2")["place"]) == ("cannot be shown", "on disk")
    assert "git lfs pull" in shown.notices[0]
    for page in PAGES:
        shown = open_page(f"pages/{page}.py", model="toy")
        assert shown.view.model == "toy"


def test_a_folder_whose_files_do_not_fit_is_said_where_it_is_chosen(open_page, of_the_owner, folders, tmp_path):
    broken = shutil.copytree(folders["bert"], tmp_path / "broken")
    (broken / "tokenizer.json").write_text("{}")
    of_the_owner(broken)
    shown = open_page(model="broken", beside="1")
    assert "broken" in shown.notices[0]
    assert any("Toy" in proof for proof in shown.proofs)


@pytest.mark.parametrize(
    ("page", "kind"),
    sweep(
        # Each page with two of them, and each of them on one page.
        [(PAGES[number % len(PAGES)], kind) for number, kind in enumerate(tiny_models.KINDS)],
        quick=[(PAGES[number], tiny_models.KINDS[number]) for number in (0, 3)],
    ),
)
def test_every_page_opens_with_an_architecture_or_says_why_not(open_page, of_the_owner, folders, page, kind):
    of_the_owner(folders[kind])
    shown = open_page(f"pages/{page}.py", model=kind)
    assert shown.view.model == kind
    assert shown.notices or shown.proofs


def test_with_many_models_one_is_chosen_from_a_list(open_page, of_the_owner, folders):
    of_the_owner(folders["bert"], folders["gpt2"])
    shown = open_page(model="gpt2")
    assert shown.widget("model").value == "gpt2"
    shown.choose("model", "bert")
    assert shown.view.model == "bert"
    assert shown.notices == []
    many = open_page("pages/many_sentences.py", model="toy")
    assert many.widget("model").options == [*BUNDLED, "bert", "gpt2"]


# ---------------------------------------------------------------- models that change, or go, meanwhile


@pytest.mark.parametrize("page", sweep(PAGES, quick=PAGES[:2]))
def test_a_folder_that_is_overwritten_while_it_is_loaded_is_shown_as_it_is_now(
    open_page, of_the_owner, folders, tmp_path, page
):
    place = shutil.copytree(folders["llama"], tmp_path / "mine")
    of_the_owner(place)
    # The last layer and head of the old one, which the new one does not have.
    old = open_page(f"pages/{page}.py", model="mine", layer="3", head="6")
    shutil.rmtree(place)
    shutil.copytree(folders["distilbert"], place)
    for shown in (old.run(), open_page(f"pages/{page}.py", model="mine", layer="3", head="6")):
        assert shown.proofs or shown.notices
    # And a larger one in place of a smaller one.
    shutil.rmtree(place)
    shutil.copytree(folders["llama"], place)
    again = open_page(f"pages/{page}.py", model="mine", layer="3", head="6")
    assert (again.view.model, again.view.pane.layer, again.view.pane.head) == ("mine", 2, 5)


@pytest.mark.slow
def test_what_is_shown_of_a_changed_model_is_its_own(open_page, of_the_owner, folders, tmp_path):
    place = shutil.copytree(folders["bert"], tmp_path / "mine")
    of_the_owner(place)
    before = open_page("pages/all_heads.py", model="mine").component("atlas")
    tensors = load_file(place / "model.safetensors")
    save_file({name: values * 2 for name, values in tensors.items()}, place / "model.safetensors", {"format": "pt"})
    after = open_page("pages/all_heads.py", model="mine").component("atlas")
    assert after["tiles"] != before["tiles"]
    studies = []
    for scale in (1, 3):
        scaled = {name: values * scale for name, values in tensors.items()}
        save_file(scaled, place / "model.safetensors", {"format": "pt"})
        studies.append(open_page("pages/many_sentences.py", model="mine").component("study_atlas")["tiles"])
    assert studies[0] != studies[1]


def test_a_model_that_is_gone_can_be_chosen_in_vain(open_page, small):
    fetch(open_page(PAGE))
    page = open_page(model="toy")
    (kept,) = hub.manifests()
    hub.remove(kept)
    shown = page.choose("model", TINY)
    assert shown.view.model == "toy"
    assert any(TINY in notice for notice in shown.notices)


def test_who_looked_at_pictures_with_a_model_that_is_gone_gets_a_sentence(open_page, of_the_owner, folders, tmp_path):
    place = shutil.copytree(folders["vit"], tmp_path / "eye")
    of_the_owner(place)
    page = open_page(model="eye")
    assert len(page.view.text) == 64
    shutil.rmtree(place)
    shown = page.run()
    assert shown.view.model == "minilm-l6"
    assert " " in shown.view.text


@pytest.mark.parametrize("page", sweep(PAGES, quick=["step_by_step", "many_sentences"]))
def test_a_layer_that_only_the_decoder_has_is_no_trouble(open_page, of_the_owner, folders, page):
    """The tiny BART has 2 layers in its encoder and 3 in its decoder."""
    of_the_owner(folders["bart"])
    shown = open_page(f"pages/{page}.py", model="bart", layer="3")
    if page == "many_sentences":
        (notice,) = shown.notices
        assert re.findall(r"\d", notice) == ["3", "2"]
        assert shown.component("study_atlas")["current"] == [1, 0]
