"""The models trained here, as run by the app: translations, names, answers, and their cards."""

import numpy as np
import pytest
import torch

from attention.core import pixels
from attention.core.reading import PICTURE
from attention.lesson.head_context import HeadContext
from attention.lesson.outcome import tell_alignment, tell_answer, tell_written
from attention.lesson.proof import prove
from attention.models import bundled
from attention.models.base import Answer
from attention.models.cards import Card, card_of
from attention.models.weights import locate
from tests.loaded import load
from tests.unit.saying import says


@pytest.fixture(scope="module")
def translator():
    return load("translator-fr-en")


@pytest.fixture(scope="module")
def reader():
    return load("vit-digits")


@pytest.mark.parametrize(
    ("french", "english"),
    [
        ("Jane visite l'Afrique en septembre", "Jane visits Africa in September"),
        ("jane visite l’afrique en septembre", "Jane visits Africa in September"),
        ("le chat noir dort", "the black cat sleeps"),
    ],
)
def test_it_translates_and_all_three_uses_of_attention_are_in_the_trace(translator, french, english):
    trace = translator.trace(french)
    assert trace.decoder.text == english
    assert prove(trace).holds
    assert [layer.kind for part in translator.info.parts for layer in trace.part(part).layers] == [
        *["self"] * 2,
        *["masked self"] * 2,
        *["cross"] * 2,
    ]
    assert trace.cross.key_tokens == trace.tokens
    assert [token.text for token in trace.cross.tokens] == ["<s>", *english.split()]
    assert english in tell_written(trace, is_given=False)


def test_the_page_begins_at_the_head_that_is_right_most_often(translator):
    card = card_of("translator-fr-en").translator
    assert (translator.info.default_layer, translator.info.default_head) == (card.best_layer, card.best_head)
    best = card.alignment[card.best_layer][card.best_head]
    assert best == max(share for layer in card.alignment for share in layer) >= 0.9
    assert card.exact_match >= 0.95
    scene = HeadContext(translator.trace("le chat noir dort").cross, 0, 1, 2)
    told = tell_alignment(scene, card)
    assert f"{100 * card.alignment[0][1]:.1f}" in told
    assert f"{100 * best:.1f}" in told


@pytest.mark.parametrize("picture", PICTURE.examples)
def test_it_answers_as_transformers_own_classifier_does(reader, picture):
    from transformers import ViTForImageClassification

    plain = ViTForImageClassification.from_pretrained(
        locate(bundled.DIGITS.weights), local_files_only=True, attn_implementation="eager"
    ).eval()
    with torch.inference_mode():
        wanted = plain(pixel_values=torch.tensor((pixels.parse(picture) / 16 - 0.5) / 0.5)[None, None]).logits[0]
    answer = reader.answer(reader.trace(picture))
    np.testing.assert_allclose(answer.logits, wanted, atol=1e-4)
    assert answer.labels == tuple(map(str, range(10)))
    told = tell_answer(answer, "Digits", card_of("vit-digits").digits)
    assert f"as <strong><bdi>{answer.labels[int(wanted.argmax())]}</bdi></strong>" in told
    odds = torch.softmax(wanted, 0).numpy()
    assert ("Second is" in told) == (np.sort(odds)[-2] >= 0.005)


def test_a_runner_up_without_a_number_is_not_named():
    near, far = (
        tell_answer(Answer(("1", "6", "7"), np.array(logits, np.float32)), "Digits", None)
        for logits in ((9, 8, 0), (9, 0, 0))
    )
    assert says(near, "6")
    assert "second" not in far
    assert says(far, "0.005")


def test_a_text_is_no_picture_and_models_that_sort_nothing_answer_nothing(reader, minilm):
    with pytest.raises(ValueError, match="64 characters"):
        reader.trace("The cat sat on the mat")
    assert minilm.answer(minilm.trace("The cat")) is None
    assert load("toy").answer(load("toy").trace("The cat")) is None
    assert card_of("toy") == card_of("minilm-l6") == card_of("a/model-of-the-hub") == Card()
