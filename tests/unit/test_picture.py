"""Weights over a picture: the trace's, patch by patch."""

import base64
import re

import numpy as np
import pytest

from attention.core import pixels
from attention.core.reading import DIGITS, PICTURE
from attention.lesson.head_context import HeadContext
from attention.lesson.picture import overlay, overlay_table, tell_overlay
from attention.lesson.steps import STEPS
from attention.models.architectures import info_from_config
from attention.models.huggingface import HuggingFaceModel
from tests.tiny_models import make


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = make("vit", tmp_path_factory.mktemp("vit"))
    info = info_from_config("vit", folder, name="ViT", licence="none", source="random")
    return HuggingFaceModel(info, folder).trace(PICTURE.examples[3])


def numbers(packed):
    return np.frombuffer(base64.b64decode(packed), "<f4")


@pytest.mark.parametrize("word", [0, 1, 7])
def test_every_head_is_laid_over_its_patches(trace, word):
    scene = HeadContext(trace, 0, 1, word)
    data = overlay(scene)
    weights = trace.layers[0].steps().weights[:, word]
    payload = data.payload()
    assert data.focus == (word - 1 if word else None)
    assert payload["patches"] == [token.text for token in trace.tokens[1:]]
    for head, row in zip(payload["heads"], weights, strict=True):
        np.testing.assert_allclose(numbers(head["values"]), row[1:], rtol=1e-6)
        assert head["special"] == pytest.approx(float(row[0]), abs=1e-6)
        assert trace.tokens[int(row.argmax())].text in head["description"]
    picture = numbers(payload["picture"]).reshape(payload["side"], payload["side"])
    np.testing.assert_allclose(picture * 16, pixels.parse(trace.text))
    table = overlay_table(data)
    assert [float(cell) for cell in table["Head 2"]] == pytest.approx([*weights[1, 1:], weights[1, 0]])
    told = tell_overlay(scene)
    assert f"{weights[1, 1:].sum():.2f}" in told
    assert f"{weights[1, 0]:.2f}" in told


# The first step says that tokens need not be words.
@pytest.mark.parametrize("step", STEPS[1:], ids=lambda step: step.key)
def test_of_a_picture_no_step_speaks_of_words(trace, step):
    assert not re.search(r"\bwords?\b", re.sub(r"<[^>]*>", "", step.words(HeadContext(trace, 0, 1, 3))))


def test_the_digits_to_choose_from_are_all_ten_and_can_be_read():
    assert sorted(DIGITS.values()) == list("0123456789")
    for picture in DIGITS:
        assert pixels.write(pixels.parse(picture)) == picture
