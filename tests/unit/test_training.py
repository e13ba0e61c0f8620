import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForImageClassification, AutoModelForSeq2SeqLM, AutoTokenizer

from attention.training import digits, grammar, translator, vocabulary
from attention.training.loop import optimise
from attention.training.sentence import spell

MODELS = Path(__file__).parents[2] / "assets" / "models"
TRANSLATOR, DIGITS = MODELS / "translator-fr-en", MODELS / "vit-digits"

pytestmark = pytest.mark.usefixtures("_one_torch_thread")


@pytest.fixture(scope="module")
def committed():
    """The translator as it was committed, and its tokenizer, as the app loads them."""
    model = AutoModelForSeq2SeqLM.from_pretrained(TRANSLATOR, local_files_only=True).eval()
    return model, AutoTokenizer.from_pretrained(TRANSLATOR, local_files_only=True)


@pytest.fixture(scope="module")
def measured(committed):
    # Another seed than the card's: sentences that nobody has looked at.
    return translator.measure(*committed, translator.held_out_sentences(300, seed=1))


@pytest.fixture(scope="module")
def pictures():
    return digits.read_digits()


def translate(committed, *texts):
    return translator.translate(*committed, texts)


# ------------------------------------------------------------------------------------- the translator


@pytest.mark.parametrize(
    ("french", "english"),
    [
        ("Jane visite l'Afrique en septembre", "Jane visits Africa in September"),
        ("le chat noir dort", "the black cat sleeps"),
        ("LE CHAT NOIR DORT.", "the black cat sleeps."),
        ("jane visite l’afrique en septembre", "Jane visits Africa in September"),
        ("la petite maison blanche de Marie est vieille", "Marie's small white house is old"),
        ("hier, ma soeur n'a pas mangé de pain", "yesterday, my sister did not eat bread"),
    ],
)
def test_it_translates(committed, french, english):
    assert translate(committed, french) == [english]


def test_it_translates_what_it_was_not_trained_on(measured):
    assert measured.exact_match >= 0.95, measured.mistakes


def test_its_best_head_looks_at_the_word_that_it_translates(measured):
    card = json.loads((TRANSLATOR / "card.json").read_text())
    assert measured.predicting[card["best_layer"], card["best_head"]] >= 0.9
    # ... and does so one position before the word is read, not there.
    assert measured.reading[card["best_layer"], card["best_head"]] < 0.5


def test_the_alignment_is_what_counting_by_hand_gives(committed):
    model, tokenizer = committed
    sentences = translator.held_out_sentences(4, seed=2)
    right = []
    model.set_attn_implementation("eager")
    for sentence in sentences:
        inputs = tokenizer(spell(sentence.french), return_tensors="pt")
        english = [tokenizer.get_vocab()[word] for word in sentence.english]
        start = model.config.decoder_start_token_id
        with torch.inference_mode():
            result = model(**inputs, decoder_input_ids=torch.tensor([[start, *english]]), output_attentions=True)
        weights = result.cross_attentions[-1][0, 0].numpy()
        right += [int(weights[i].argmax()) in sentence.sources(i) for i in sentence.content]
    model.set_attn_implementation("sdpa")
    found = translator.measure(model, tokenizer, sentences)
    assert found.n_content_words == len(right)
    assert found.predicting[-1, 0] == pytest.approx(np.mean(right))


def test_the_card_says_what_was_measured(measured):
    card = json.loads((TRANSLATOR / "card.json").read_text())
    assert card["exact_match"] == pytest.approx(measured.exact_match, abs=0.03)
    assert np.array(card["alignment_predicting"]) == pytest.approx(measured.predicting, abs=0.05)
    assert f"{card['exact_match']:.1%}" in (TRANSLATOR / "README.md").read_text()
    assert (
        f"{card['alignment_predicting'][card['best_layer']][card['best_head']]:.1%}"
        in (TRANSLATOR / "README.md").read_text()
    )


def test_its_vocabulary_is_the_grammars(committed):
    french, english = grammar.vocabulary()
    words = list(dict.fromkeys([*vocabulary.SPECIAL, *french, *english]))
    assert committed[1].get_vocab() == {word: i for i, word in enumerate(words)}
    assert json.loads((TRANSLATOR / "card.json").read_text())["french_words"] == len(french)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Jane visite l'Afrique en septembre", []),
        ("Le CHAT noir dort.", []),
        ("ma soeur arrive aujourd’hui", []),
        ("le chat violet ronronne, ronronne", ["violet", "ronronne"]),
        ("l'Éthiopie dort 😀", ["Éthiopie", "😀"]),
        ("the cat sleeps", ["the", "cat", "sleeps"]),
        ("", []),
    ],
)
def test_words_that_it_does_not_know_are_named(text, unknown):
    assert vocabulary.unknown_words(text, TRANSLATOR) == unknown


def test_the_tokenizer_reads_every_sentence_as_the_grammar_has_it(committed):
    tokenizer = committed[1]
    for sentence in translator.held_out_sentences(300, seed=3):
        tokens = tokenizer.convert_ids_to_tokens(tokenizer(spell(sentence.french))["input_ids"])
        assert tokens == [*(word.lower() for word in sentence.french), vocabulary.EOS]
        ids = tokenizer.convert_tokens_to_ids(list(sentence.english))
        assert tokenizer.decode(ids) == spell(sentence.english)


@pytest.mark.slow
def test_a_few_steps_of_training_the_translator_lower_the_loss():
    _, _, losses = translator.train(12)
    assert np.mean(losses[-3:]) < 0.9 * np.mean(losses[:3])


# ------------------------------------------------------------------------------------------ the digits


def test_it_reads_digits_that_it_was_not_trained_on(pictures):
    model = AutoModelForImageClassification.from_pretrained(DIGITS, local_files_only=True).eval()
    _, held_out = pictures
    accuracy = np.mean(digits._guesses(model, held_out) == held_out.labels)
    assert accuracy >= 0.95
    card = json.loads((DIGITS / "card.json").read_text())
    assert accuracy == pytest.approx(card["held_out_accuracy"], abs=0.005)
    assert f"{card['held_out_accuracy']:.1%}" in (DIGITS / "README.md").read_text()


def test_no_digit_is_on_both_sides(pictures):
    kept, held_out = pictures
    assert len(kept.labels) + len(held_out.labels) == 1797
    assert np.bincount(held_out.labels).min() >= 34
    seen = {picture.tobytes() for picture in kept.pictures}
    assert not [i for i, picture in enumerate(held_out.pictures) if picture.tobytes() in seen]


def test_grey_levels_become_numbers_from_minus_one_to_one():
    np.testing.assert_array_equal(digits.normalised(np.array([[0.0, 8.0, 16.0]])), [[-1, 0, 1]])


def test_variations_of_a_digit_stay_close_to_it(pictures):
    picture = pictures[0].pictures[:1]
    varied = digits._varied(np.repeat(picture, 200, axis=0), np.random.default_rng(0))
    padded = np.pad(picture[0], 1)
    shifts = np.stack([padded[y : y + 8, x : x + 8] for y in range(3) for x in range(3)])
    distance = np.abs(varied[:, None] - shifts[None]).mean(axis=(2, 3))
    # Each is one of the nine shifts and a little noise, and all nine come.
    assert distance.min(axis=1).max() < digits.NOISE
    assert set(distance.argmin(axis=1)) == set(range(9))
    assert varied.min() >= 0
    assert varied.max() <= digits.LARGEST_GREY


def test_a_few_steps_of_training_the_digit_reader_lower_the_loss(pictures):
    _, losses = digits.train(pictures[0], 40)
    assert np.mean(losses[-5:]) < 0.9 * np.mean(losses[:5])


# ---------------------------------------------------------------------------------------------- both


def test_training_goes_downhill_to_the_only_minimum():
    """The loop alone, on a problem whose answer is known: a line through points."""

    class Line(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(2))

        def forward(self, x, y):
            loss = ((x @ self.weight - y) ** 2).mean()
            return type("Result", (), {"loss": loss})

    torch.manual_seed(0)
    x = torch.randn(64, 2)
    line = Line()
    losses = optimise(line, iter(lambda: {"x": x, "y": x @ torch.tensor([1.0, -2.0])}, None), steps=300, peak_rate=0.1)
    assert len(losses) == 300
    assert losses[-1] < 1e-3
    assert line.weight.tolist() == pytest.approx([1, -2], abs=0.05)


def test_what_it_reads_can_be_listed_and_the_closest_be_found():
    known = vocabulary.known_words(TRANSLATOR)
    assert "garçon" in known
    assert "boy" not in known
    accented = known.index("à")
    assert known[accented - 1] == "a", "words that differ in accents alone have an order of their own"
    assert all(vocabulary.unknown_words(word, TRANSLATOR) == [] for word in known)
    for word in ("garcon", "GARÇON", "garçonn"):
        assert vocabulary.closest_words(word, TRANSLATOR)[0] == "garçon"
    assert vocabulary.closest_words("xyzxyz", TRANSLATOR) == []
    assert set(vocabulary.closest_words("dragon", TRANSLATOR)) <= set(known)
