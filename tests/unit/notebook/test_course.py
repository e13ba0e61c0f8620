"""The course notebooks run, show their saved output, and judge right and wrong answers."""

import re
from itertools import pairwise

import nbformat
import pytest

from tests.course import BOOKS, FOLDER, shown, tags_of
from tests.notebooks import code_of, executed, run_here
from tests.sweep import sweep

NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
FIRST = BOOKS[0]
EXERCISES = {"1-attention-by-hand.ipynb": 8, "2-many-heads.ipynb": 5, "3-a-decoder.ipynb": 7}


def sources(book):
    return nbformat.reads(book.read_text("utf-8"), as_version=4)


def is_answer(cell):
    return "exercise" in tags_of(cell)


def test_there_are_three_each_small_enough_to_be_read_on_a_page():
    assert {book.name: sum(map(is_answer, sources(book).cells)) for book in BOOKS} == EXERCISES
    assert sum(book.stat().st_size for book in FOLDER.iterdir()) < 200_000


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_every_exercise_has_a_check_and_a_solution_that_are_folded(book):
    cells = sources(book).cells
    for before, after in pairwise(cells):
        assert is_answer(before) == ("check" in tags_of(after))
    for tag in ("check", "solution"):
        found = [cell for cell in cells if tag in tags_of(cell)]
        assert len(found) == EXERCISES[book.name]
        assert all(cell.metadata.jupyter.source_hidden for cell in found)
        # Folded, a cell shows its first line, which gives nothing away.
        assert all(cell.source.startswith("# ") for cell in found)
    # No cell was saved with an error, or without having been run.
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert {output.output_type for output in outputs} <= {"stream", "execute_result"}
    assert all(cell.execution_count for cell in cells if cell.cell_type == "code")


@pytest.mark.parametrize("book", sweep(BOOKS, quick=[FIRST]), ids=lambda book: book.stem)
def test_they_show_what_was_saved(book, tmp_path):
    again = executed(book.read_text("utf-8"), tmp_path, has_attention=True)
    for ours, saved in zip(shown(again), shown(sources(book)), strict=True):
        assert NUMBER.sub("#", ours).split() == NUMBER.sub("#", saved).split()
        numbers = [list(map(float, NUMBER.findall(each))) for each in (ours, saved)]
        # In another order of adding up, the last digit may be another one; what proves is next to 0.
        assert numbers[0] == pytest.approx(numbers[1], abs=0.011)
    told = "".join(shown(again))
    assert told.count("not answered yet.") == told.count(": right.") == EXERCISES[book.name]


@pytest.mark.parametrize("number", range(1, EXERCISES[FIRST.name] + 1))
def test_a_wrong_answer_is_told_so(number):
    notebook = sources(FIRST)
    answer = [cell for cell in notebook.cells if is_answer(cell)][number - 1]
    answer.source = answer.source.replace("None", "0.123", 1)
    with pytest.raises(AssertionError, match=f"Exercise {number}: "):
        run_here(code_of(nbformat.writes(notebook)))
