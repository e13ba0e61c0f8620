"""The numbers of a page's pictures, as files."""

from __future__ import annotations

from functools import partial

from attention.core.messages import message
from attention.figures.bars import Bars
from attention.figures.charts import Chart
from attention.figures.matrix import Matrix
from attention.lesson.tables import Columns, bars_table, chart_table, matrix_table
from attention.page.blocks import Blocks, Fold, Picture, Section, Table, walk


def behind(blocks: Blocks) -> Blocks:
    """Return, folded, a file for each matrix and chart that has no table of its name on the page."""
    found = walk(blocks)
    files = {each.file for each in found if isinstance(each, Table)}
    drawn = {each.key: each.figure for each in found if isinstance(each, Picture)}
    tables = tuple(
        Table(f"{key}_numbers", partial(_columns, figure), file=key, is_shown=False)
        for key, figure in drawn.items()
        if isinstance(figure, Bars | Chart | Matrix) and key not in files
    )
    files_in_line = Section("behind_files", tables, is_line=True)
    return (Fold("behind", message("Numbers behind the pictures, as files"), (files_in_line,)),) if tables else ()


def _columns(figure: Bars | Chart | Matrix) -> Columns:
    if isinstance(figure, Matrix):
        return matrix_table(figure)
    return bars_table(figure) if isinstance(figure, Bars) else chart_table(figure.figure)
