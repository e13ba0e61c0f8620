"""The proof: every comparison is with the model's own numbers, and a wrong number breaks the comparison it is in."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core.reading import PICTURE
from attention.core.trace import Difference
from attention.lesson.proof import TOLERANCE, Proof, prove, tell_proof
from tests.loaded import load
from tests.sweep import sweep
from tests.tiny_models import KINDS
from tests.unit.saying import plain, says

MODELS = ("toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits")
# Each link, and where its numbers are recorded.
RECORDED = {"queries": "queries", "keys": "keys", "values": "values", "outputs": "model_output", "added": "added"}
LINK_NAMES = tuple(RECORDED)
MATRICES = {"queries": "W_Q", "keys": "W_K", "values": "W_V", "added": "W_O"}
A_THOUSANDTH = np.float32(1.001)


@pytest.fixture(scope="module")
def trace_of(minilm, smollm2):
    models = {"minilm-l6": minilm, "smollm2-135m": smollm2}

    def trace(model_id):
        model = models.get(model_id) or models.setdefault(model_id, load(model_id))
        return model.trace(model.info.reading.first)

    return trace


def broken(proof):
    return {link.name for link in proof.links if not link.holds}


def with_layer(trace, index, layer):
    layers = list(trace.layers)
    layers[index] = layer
    return replace(trace, layers=tuple(layers))


# ------------------------------------------------------------------------------- what holds, holds


@pytest.mark.parametrize("model_id", MODELS)
def test_every_link_of_every_bundled_model_is_known_and_holds(trace_of, model_id):
    proof = prove(trace_of(model_id))
    assert [link.name for link in proof.links] == list(LINK_NAMES)
    assert all(link.found is not None for link in proof.links)
    assert proof.holds
    assert broken(proof) == set()
    # By a wide margin: what is tolerated is no measure of this machine.
    assert max(link.found.relative for link in proof.links) < TOLERANCE / 3


@pytest.mark.parametrize("kind", KINDS)
def test_every_link_holds_in_every_architecture(model_of, kind):
    model = model_of(kind)
    text = PICTURE.first if model.info.reading is PICTURE else "The cat sat on the mat."
    for trace in (model.trace(text), model.trace(text, mask="causal")):
        proof = prove(trace)
        assert all(link.found is not None for link in proof.links)
        assert proof.holds


@pytest.mark.slow
def test_a_long_text_whose_numbers_are_large_is_not_called_wrong(smollm2):
    # Values of up to 14 in layer 25: ours and the model's own are apart by more than 1e-5, as float32 numbers may be.
    assert prove(smollm2.trace("warned " * 250)).holds


@given(st.integers(-20, 20))
def test_the_verdict_does_not_depend_on_the_unit_of_the_numbers(power):
    """Times a power of two, every float32 computation gives the same digits."""
    trace = load("toy").trace("The cat sat on the mat")
    (layer,) = trace.layers
    factor = np.float32(2.0**power)
    scaled = replace(
        layer,
        values=layer.values * factor,
        model_output=layer.model_output * factor,
        added=layer.added * factor,
        projections=replace(layer.projections, W_V=layer.projections.W_V * factor),
    )
    ours, theirs = prove(trace), prove(replace(trace, layers=(scaled,)))
    assert [link.found.relative for link in theirs.links] == [link.found.relative for link in ours.links]
    assert theirs.holds
    wrong = scaled.model_output * A_THOUSANDTH
    assert "outputs" in broken(prove(replace(trace, layers=(replace(scaled, model_output=wrong),))))


# ------------------------------------------------------------------------------- what is wrong, breaks


@pytest.mark.parametrize("name", LINK_NAMES)
@pytest.mark.parametrize("model_id", sweep(MODELS, quick=("toy", "minilm-l6", "translator-fr-en")))
def test_a_number_of_the_model_that_is_another_by_a_thousandth_breaks_its_link(trace_of, model_id, name):
    trace = trace_of(model_id)
    index = len(trace.layers) - 1
    numbers = getattr(trace.layers[index], RECORDED[name]).copy()
    numbers[np.unravel_index(np.abs(numbers).argmax(), numbers.shape)] *= A_THOUSANDTH
    proof = prove(with_layer(trace, index, replace(trace.layers[index], **{RECORDED[name]: numbers})))
    assert not proof.holds
    assert name in broken(proof)
    (label,) = (link.label for link in proof.links if link.name == name)
    assert label in proof.sentence("Model").rpartition(" · ")[2]


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("model_id", sweep(MODELS, quick=("toy", "minilm-l6", "translator-fr-en")))
def test_one_weight_that_is_another_by_a_thousandth_breaks_its_link_and_no_other(trace_of, model_id, name):
    trace = trace_of(model_id)
    layer = trace.layers[0]
    # Of the products that are added up, the one weight that makes the largest.
    before = {"added": np.hstack(list(layer.model_output))}.get(name, layer.inputs)
    weight = getattr(layer.projections, MATRICES[name]).copy()
    products = np.abs(before).max(axis=0)[:, None] * np.abs(weight)
    weight[np.unravel_index(products.argmax(), weight.shape)] *= A_THOUSANDTH
    parts = replace(layer.projections, **{MATRICES[name]: weight})
    proof = prove(with_layer(trace, 0, replace(layer, projections=parts)))
    assert broken(proof) == {name}
    assert not proof.holds


@pytest.mark.parametrize("part", ["decoder", "cross"])
@pytest.mark.parametrize("name", ["keys", "values"])
def test_a_link_is_looked_at_in_all_three_attentions(trace_of, part, name):
    whole = trace_of("translator-fr-en")
    trace = whole.part(part)
    layer = trace.layers[1]
    wrong = replace(layer, **{name: getattr(layer, name) * A_THOUSANDTH})
    assert name in broken(prove(replace(whole, **{part: with_layer(trace, 1, wrong)})))


def test_queries_that_were_turned_otherwise_break_the_proof(trace_of):
    trace = trace_of("smollm2-135m")
    layer = trace.layers[4]
    turns = replace(layer.rotary, cosines=layer.rotary.cosines[::-1].copy())
    assert broken(prove(with_layer(trace, 4, replace(layer, rotary=turns)))) == {"queries", "keys"}


@pytest.mark.parametrize("name", LINK_NAMES)
def test_a_number_that_is_none_breaks_its_link(trace_of, name):
    trace = trace_of("minilm-l6")
    numbers = getattr(trace.layers[2], RECORDED[name]).copy()
    numbers.flat[7] = np.nan
    assert name in broken(prove(with_layer(trace, 2, replace(trace.layers[2], **{RECORDED[name]: numbers}))))


def test_something_where_the_model_has_nothing_but_zeros_is_a_difference():
    zeros = np.zeros((2, 2), np.float32)
    assert Difference.between(zeros, zeros) == Difference(0, 0)
    assert Difference.between(zeros + np.float32(1e-30), zeros).relative == np.inf


# ------------------------------------------------------------------------------------- what is said


def test_what_is_not_known_is_said_and_not_called_good(trace_of):
    trace = trace_of("toy")
    (layer,) = trace.layers
    table = {row[0]: row[2] for row in prove(replace(trace, layers=(replace(layer, added=None),))).table()}
    assert table["attention output ΔE"] == "unknown"
    assert "e-" in table["the heads' outputs"]
    table = {row[0]: row[2] for row in prove(replace(trace, layers=(replace(layer, inputs=None),))).table()}
    assert [table[name] for name in ("queries", "keys", "values")] == ["unknown"] * 3


def test_each_link_is_told_with_what_it_is_made_of_as_the_model_does_it(trace_of):
    proofs = {model_id: prove(trace_of(model_id)) for model_id in MODELS}
    for proof in proofs.values():
        for link, row in zip(proof.links, proof.table()[:-1], strict=True):
            assert [float(cell) for cell in row[2:]] == pytest.approx([link.found.absolute, link.found.relative], 0.1)
    made = {model_id: {row[0]: row[1] for row in proof.table()} for model_id, proof in proofs.items()}
    assert made["minilm-l6"]["queries"] == "X·W_Q + b_Q"
    assert made["smollm2-135m"]["queries"] == "X·W_Q, rotated by position"
    assert made["smollm2-135m"]["values"] == "X·W_V"
    assert (made["toy"]["queries"], made["toy"]["keys"]) == ("X·W_Q + b_Q", "X·W_K")
    assert made["minilm-l6"]["attention output ΔE"] == "joined heads·W_O + b_O"


def test_where_only_outputs_were_kept_the_words_say_where_the_chain_begins():
    few = Proof.of_outputs(Difference(2e-7, 3e-8), 1e-7)
    assert few.holds
    told = plain(tell_proof("Toy", few))
    assert says(told, "queries, keys and values", "Toy")
    assert not Proof.of_outputs(Difference(2e-4, 3e-4), 1e-7).holds
    assert "chain begins" not in tell_proof("Toy", prove(load("toy").trace("The cat sat")))


@pytest.mark.parametrize("model_id", MODELS)
def test_what_the_layers_added_goes_once_it_is_checked_and_all_else_stays(trace_of, model_id):
    whole = trace_of(model_id)
    kept = whole.without_added()
    added = 0
    for trace, lean in zip(whole.traces, kept.traces, strict=True):
        for layer, lean_layer in zip(trace.layers, lean.layers, strict=True):
            assert lean_layer.added is None
            assert replace(lean_layer, added=layer.added) == layer
            added += layer.added.nbytes
    assert kept.nbytes == whole.nbytes - added
