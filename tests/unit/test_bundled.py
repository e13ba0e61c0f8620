"""The catalogue of bundled models: one entry each, of one piece."""

import subprocess
import sys
from dataclasses import replace

import pytest

from attention.lesson.prose import lessons
from attention.lesson.steps import keys
from attention.models import bundled, get_info, list_models, weights
from attention.models.architectures import info_from_config
from attention.page.view import View
from tests.sources import ROOT

IDS = [each.model_id for each in bundled.MODELS]


@pytest.mark.parametrize("entry", bundled.MODELS, ids=IDS)
def test_an_entry_is_of_one_piece(entry):
    assert bundled.find(entry.model_id) is entry
    assert get_info(entry.model_id) is entry.info
    # A model is made here, or is read from files.
    assert (entry.make is None) != (entry.weights is None)
    assert entry.weights is None or entry.weights.model_id == entry.model_id
    assert entry.invitation.step in keys()
    assert entry.invitation.part in (*entry.info.parts, "encoder")
    assert entry.invitation.lesson in lessons()
    assert entry.info.default_layer < max(entry.info.n_layers, entry.info.n_decoder_layers)
    assert entry.info.default_head < entry.info.n_heads
    assert not entry.info.revision


def test_each_model_has_one_entry_and_one_of_them_is_the_default():
    assert len(set(IDS)) == len(IDS)
    assert len({info.name for info in bundled.infos()}) == len(IDS)
    assert [each.is_default for each in bundled.MODELS].count(True) == 1
    assert list_models()[: len(IDS)] == list(bundled.infos())
    assert bundled.find("nope") is None
    assert View().model == bundled.default().model_id


@pytest.mark.parametrize("entry", [each for each in bundled.MODELS if each.weights], ids=lambda each: each.model_id)
def test_the_sizes_of_an_entry_are_those_of_its_configuration(entry, request):
    """And the number of parameters that of its files."""
    source, info = entry.weights, entry.info
    folder = request.getfixturevalue("smollm2_folder") if source.is_packed else weights.locate(source)
    found = info_from_config(entry.model_id, folder, name=info.name, licence=info.licence, source=info.source)
    told = ("architecture", "summary", "note", "long_name", "default_layer", "default_head", "reading")
    assert replace(info, **{name: getattr(found, name) for name in told}) == found


def test_the_whole_catalogue_is_told_without_torch():
    script = (
        "import sys\n"
        "from attention.models.catalogue import catalogue\n"
        "assert len(catalogue()) >= 5\n"
        "print(*[name for name in ('torch', 'transformers', 'streamlit') if name in sys.modules])\n"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
