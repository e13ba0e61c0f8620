"""What belongs to no single step: lesson texts, thumbnails, proofs and tables."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attention.figures.format import readable
from attention.lesson.heads import head_thumbs
from attention.lesson.proof import TOLERANCE, prove
from attention.lesson.steps import keys, step_of
from attention.lesson.survey import Look, head_matrix
from attention.lesson.tables import matrix_table, to_csv, token_table
from tests.unit.lesson.telling import TEXT, TOY, anything
from tests.unit.saying import says


def test_a_merged_word_is_hidden_only_if_all_its_pieces_are(scene_of):
    scene = scene_of("minilm-l6", "Unbelievable zyzzyvas sat", mask="causal")
    pieces = [token.position for token in scene.tokens if token.word == 1]
    assert len(pieces) > 2
    picture = head_matrix(scene, Look(words=True), 3)
    n_words = len(picture.row_labels)
    # A later piece sees an earlier one of its own word, so only what is later as a word is hidden.
    assert np.array_equal(np.isneginf(picture.drawn), ~np.tri(n_words, dtype=bool))


def test_the_small_pictures_are_the_weights_of_all_heads(scene):
    thumbs = head_thumbs(scene)
    assert len(thumbs) == scene.info.n_heads
    for index, thumb in enumerate(thumbs):
        weights = scene.trace.layers[scene.layer].head(index).weights
        drawn = np.where(np.isneginf(scene.steps.mask), -np.inf, weights)
        np.testing.assert_allclose(thumb.weights, drawn, atol=1e-6)
        best = weights[scene.word].argmax()
        assert thumb.label.startswith(f"Head {index + 1}")
        assert f"“{scene.focus.text}” attends most to “{scene.names[best]}”" in thumb.description
        assert f"{weights[scene.word, best]:.2f}" in thumb.description
        # The label is read out before the description: it is not said twice.
        assert thumb.label not in thumb.description


def test_a_row_that_misses_one_is_told():
    proof = replace(prove(TOY.trace(TEXT)), largest_row_error=0.25)
    assert not proof.holds
    assert says(proof.sentence("Toy"), "2.5e-01")
    assert TOLERANCE < 0.25


def test_rows_that_see_nothing_are_counted_and_do_not_break_the_proof():
    hidden = np.zeros((6, 6), np.float32)
    hidden[[1, 4]] = -np.inf
    proof = prove(TOY.trace(TEXT, mask=hidden))
    assert proof.holds
    assert proof.n_masked_rows == 2 * TOY.info.n_heads
    assert "6 fully masked rows" in proof.sentence("Toy")


def test_the_table_behind_a_picture_has_its_numbers_to_the_last_digit(scene):
    for step in keys():
        for picture in step_of(step).matrices(scene):
            table = matrix_table(picture)
            assert len(table) == picture.values.shape[1] + 1  # no two columns of one name
            names, *columns = ([cell.removesuffix(" (masked)") for cell in column] for column in table.values())
            assert names == [f"{i} {label}" for i, label in enumerate(picture.row_labels)]
            assert np.array_equal(np.array(columns, np.float32).T, picture.values)


def test_the_csv_reads_back_as_the_table(scene):
    for step in keys():
        for picture in step_of(step).matrices(scene):
            header, *rows = csv.reader(io.StringIO(to_csv(matrix_table(picture))))
            assert len(header) == picture.values.shape[1] + 1
            numbers = [[cell.removesuffix(" (masked)") for cell in row[1:]] for row in rows]
            assert np.array_equal(np.array(numbers, np.float32), picture.values)


@given(st.lists(st.tuples(anything, anything), min_size=1))
def test_no_cell_of_a_csv_is_run_as_a_formula(rows):
    columns = {"name": [one for one, _ in rows], "=cmd()": [other for _, other in rows]}
    columns = {name: [value.replace("\0", "").replace("\ud800", "") for value in c] for name, c in columns.items()}
    # newline="" as the csv module wants it.
    read_back = list(csv.reader(io.StringIO(to_csv(columns), newline="")))
    assert read_back[0] == ["name", "'=cmd()"]
    assert len(read_back) == len(rows) + 1
    for cell in (cell for row in read_back for cell in row):
        assert cell[:1] not in set("=+@\t\r")
        if cell[:1] == "-":
            float(cell)  # a number, or this raises


def test_numbers_stay_numbers_in_a_csv():
    assert to_csv({"x": ["-1.5", "2.0", "-1e-07", "-inf"]}) == "x\r\n-1.5\r\n2.0\r\n-1e-07\r\n-inf\r\n"


def test_the_table_of_tokens_has_every_token_as_it_was_typed(scene_of):
    table = token_table(scene_of("minilm-l6", "Unbelievable Cat!").tokens)
    assert table["token"][0] == "[CLS]"
    assert table["as typed"][1:-1] == ["Unbelievable", "Cat", "!"]
    assert table["position"] == [str(position) for position in range(len(table["token"]))]
    # As positions, and as a link has them.
    assert table["word"] == ["", "0", "1", "2", ""]


@given(st.floats(width=32, allow_nan=False))
def test_a_csv_has_the_shortest_decimal_of_a_number_of_32_bits(number):
    (_, row) = to_csv({"weight": [repr(number)]}).split()
    assert np.float32(row) == np.float32(number)
    assert len(row) <= len(repr(number))
    if np.isfinite(number) and number != int(number):
        assert len(re.sub(r"e.*|[-.]", "", row).lstrip("0")) <= 9


def test_what_is_no_number_of_32_bits_stays_as_it_is_in_a_csv():
    cells = ["0.1", "12", "1.5", repr(1 / 3), "3-2", "inf", "1e400", "0 (masked)"]
    assert to_csv({"cell": cells}).split("\r\n")[1:-1] == cells


def test_a_table_that_is_read_has_five_digits():
    cells = ["0.8203125", "0.5", "12", "-0.00001234567", "2.4e-07", "123456", "mat"]
    assert readable({"cell": cells}) == {"cell": ["0.82031", "0.5", "12", "-1.2346e-05", "2.4e-07", "123456", "mat"]}
