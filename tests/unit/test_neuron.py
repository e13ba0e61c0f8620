"""One query against every key: the drawn products, sums and weights are torch's."""

import base64
import re

import numpy as np
import pytest

from attention.lesson.head_context import HeadContext
from attention.lesson.neuron import best_key, key_picture, neuron, pair_table, sum_in_writing, value_picture
from attention.models import load
from tests.unit.saying import plain

TEXT = "My old dog chased a ball"


def decoded(payload, name, *shape):
    return np.frombuffer(base64.b64decode(payload[name]), "<f4").reshape(shape or -1)


@pytest.fixture(scope="module")
def bert(minilm):
    return minilm.trace(TEXT)


@pytest.fixture(scope="module")
def toy():
    return load("toy").trace(TEXT, mask="causal")


# ---------------------------------------------------------------------------------------- on torch


@pytest.mark.parametrize(("layer", "head", "query"), [(0, 0, 1), (3, 11, 4), (5, 6, 7)])
def test_what_is_drawn_of_bert_is_what_torch_computes_without_us(bert, eager_bert, layer, head, query):
    import torch

    payload = neuron(HeadContext(bert, layer, head, query), 2).payload()
    ids = torch.tensor([[token.token_id for token in bert.tokens]])
    with torch.inference_mode():
        result = eager_bert(input_ids=ids, output_hidden_states=True, output_attentions=True)
        own = eager_bert.encoder.layer[layer].attention.self
        hidden = result.hidden_states[layer][0]
        width = slice(32 * head, 32 * (head + 1))
        q, k = own.query(hidden)[query, width], own.key(hidden)[:, width]
        dots = torch.stack([torch.dot(q, each) for each in k])
        n = len(k)
        np.testing.assert_allclose(decoded(payload, "queryVector"), q, atol=2e-5)
        np.testing.assert_allclose(decoded(payload, "keys", n, 32), k, atol=2e-5)
        np.testing.assert_allclose(decoded(payload, "products", n, 32), torch.mul(q, k), atol=5e-5)
        np.testing.assert_allclose(decoded(payload, "scores"), dots, atol=2e-4)
        np.testing.assert_allclose(decoded(payload, "maskedScores"), dots / 32**0.5, atol=5e-5)
        weights = result.attentions[layer][0, head, query]
    np.testing.assert_allclose(decoded(payload, "weights"), weights, atol=1e-5)
    assert payload["divisor"] == "√32"
    assert payload["vectorLimit"] == pytest.approx(float(max(q.abs().max(), k.abs().max())), rel=1e-4)


def test_a_masked_key_keeps_its_product_and_gets_no_weight(toy):
    scene = HeadContext(toy, 0, 1, 2)
    payload = neuron(scene, 4).payload()
    assert np.isneginf(decoded(payload, "maskedScores")[3:]).all()
    assert not decoded(payload, "weights")[3:].any()
    assert decoded(payload, "products", 6, 8).sum(axis=1) == pytest.approx(decoded(payload, "scores"), abs=1e-4)
    told = plain(sum_in_writing(scene, 4))
    assert "adds −∞" in told
    assert "weight of exactly 0." in told
    assert "Softmax over all" not in told


# ------------------------------------------------------------------------------------- in writing


def numbers_in(text):
    return [float(number.replace("−", "-")) for number in re.findall(r"−?\d+\.\d+", text)]


@pytest.mark.parametrize("key", range(3))
def test_the_written_sum_of_the_toy_adds_up_and_ends_in_the_weight(toy, key):
    scene = HeadContext(toy, 0, 1, 2)
    steps = scene.steps
    told = plain(sum_in_writing(scene, key))
    products, rest = told.split(" = ", 1)[1].split(" = ", 1)
    parts = numbers_in(products.replace("− ", "−"))
    assert parts == pytest.approx((steps.queries[2] * steps.keys[key]).tolist(), abs=0.006)
    score, scaled = numbers_in(rest)[0], numbers_in(rest)[2]
    assert sum(parts) == pytest.approx(score, abs=0.05)
    assert score / 8**0.5 == pytest.approx(scaled, abs=0.01)
    exponential, total, weight = numbers_in(told)[-3:]
    assert exponential / total == pytest.approx(weight, abs=0.006)
    assert weight == pytest.approx(steps.weights[2, key], abs=0.006)


def test_of_many_products_the_first_and_the_last_are_written(bert):
    scene = HeadContext(bert, 5, 6, 3)
    told = plain(sum_in_writing(scene, 2))
    products = scene.steps.queries[3] * scene.steps.keys[2]
    written = told.split(" = ", 1)[1].split(" = ", 1)[0]
    assert "…" in written
    parts = numbers_in(written.replace("− ", "−"))
    assert parts == pytest.approx([*products[:3].tolist(), float(products[-1])], abs=0.006)
    assert f"over all {len(bert.tokens)} keys" in told


def test_the_words_of_the_sentence_are_never_interpreted(minilm):
    scene = HeadContext(minilm.trace("<b> $key & more"), 0, 0, 1)
    dollar = [token.text for token in scene.tokens].index("$")
    assert "<bdi>$</bdi>" in sum_in_writing(scene, dollar)
    assert "<bdi>&lt;</bdi>" in sum_in_writing(scene, dollar)
    assert "<b> $key" not in sum_in_writing(scene, dollar)


# --------------------------------------------------------------------------------- pictures, table


def test_pictures_and_table_have_the_same_numbers(bert):
    scene = HeadContext(bert, 2, 5, 4)
    steps, key = scene.steps, 6
    meeting, handing = key_picture(scene, key), value_picture(scene, key)
    np.testing.assert_allclose(meeting.values, [steps.queries[4], steps.keys[6], steps.queries[4] * steps.keys[6]])
    weighted = steps.weights[4, 6] * steps.values[6]
    np.testing.assert_allclose(handing.values, [steps.values[6], weighted, steps.head_outputs[4]])
    table = pair_table(scene, key)
    assert table["dimension"] == [str(i) for i in range(32)]
    for picture in (meeting, handing):
        for name, row in zip(picture.row_labels, picture.values, strict=True):
            assert [float(cell) for cell in table[name]] == pytest.approx(row.tolist())


def test_the_key_to_begin_with_is_the_one_that_is_looked_at_most(bert):
    for query in range(len(bert.tokens)):
        scene = HeadContext(bert, 4, 3, query)
        assert best_key(scene) == scene.steps.weights[query].argmax()


def test_a_pair_is_parted_where_the_second_sentence_begins(minilm):
    trace = minilm.trace("One two", "Three")
    assert neuron(HeadContext(trace, 0, 0, 1), 0).payload()["breaks"] == [4]
