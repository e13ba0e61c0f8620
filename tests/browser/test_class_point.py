"""What a teacher points at is highlighted in the class's picture while the teacher points."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.classroom import SENTENCE, Pupil, Teacher
from tests.browser.tab import TWO_FRAMES
from tests.browser.tab import Picture as Matrix
from tests.browser.test_labs import show


@pytest.fixture
def class_on(new_person):
    """Open a class on a page; return its teacher and a pupil."""

    def begin(page, is_lab=False, **query):
        tab = new_person().go(page, model="toy", text=SENTENCE, **query)
        teacher = Teacher(show(tab) if is_lab else tab).open_here()
        pupil = Pupil(new_person()).join(teacher.code)
        teacher.expect_here(1)
        return teacher, pupil

    return begin


class Theirs(Matrix):
    """A matrix on a pupil's screen."""

    def __init__(self, pupil, name):
        super().__init__(pupil.page, pupil.page.locator(f"#view .matrix[data-name={name}]"))
        self.tip = self.root.locator(".tip")


def point_at(matrix, row, column):
    """Move the pointer onto a cell, whose number lies under nothing but takes no press."""
    matrix.cell(row, column).hover(force=True)


def leave(teacher):
    """Point at nothing."""
    teacher.tab.page.mouse.move(2, 2)


def test_a_cell_that_the_teacher_points_at_is_marked_for_the_class(class_on):
    teacher, pupil = class_on("step_by_step", step="scores")
    own, theirs = teacher.tab.matrix("scores"), Theirs(pupil, "scores")
    tip, pointer = theirs.tip, theirs.root.locator(".pointer")
    expect(theirs.cell(3, 2)).to_be_visible()
    expect(tip).to_be_hidden()
    point_at(own, 3, 2)
    expect(tip).to_have_text(own.root.locator(".tip").inner_text())
    cell = theirs.root.locator("rect[data-row='3'][data-column='2']").bounding_box()
    assert pointer.bounding_box() == pytest.approx(cell, abs=3)
    # A pupil who points at another cell reads that one.
    point_at(theirs, 1, 1)
    expect(theirs.readout).not_to_have_text(own.readout.inner_text())
    expect(tip).to_have_text(theirs.readout.inner_text())
    pupil.page.mouse.move(2, 2)
    expect(tip).to_be_hidden()
    point_at(own, 4, 0)
    expect(tip).to_have_text(own.root.locator(".tip").inner_text())
    leave(teacher)
    expect(tip).to_be_hidden()
    expect(pointer).to_be_hidden()
    # The keys point, too; and what is pointed at goes with its view.
    own.picture.press("ArrowRight")
    expect(tip).to_have_text(own.root.locator(".tip").inner_text())
    teacher.next()
    pupil.expect_step(5)
    expect(pupil.page.locator("#view .tip:visible")).to_have_count(0)


def test_a_head_of_the_atlas_is_named_to_the_class(class_on):
    teacher, pupil = class_on("all_heads")
    own, theirs = teacher.tab.page.locator(".st-key-atlas .atlas"), pupil.page.locator("#view .atlas")
    expect(theirs.locator("canvas")).to_be_visible()
    pupil.page.evaluate(TWO_FRAMES)
    before = theirs.locator(".readout").inner_text()
    layer, head, x, y, width, height = own.evaluate("atlas => JSON.parse(atlas.dataset.tiles)[2]")
    own.locator(".picture").hover(position={"x": x + width / 2, "y": y + height / 2})
    expect(theirs.locator(".readout b")).to_have_text(f"Layer {layer + 1}, head {head + 1}")
    # What it does is kept from the class, which may be looking for it.
    expect(own.locator(".readout")).to_have_text(re.compile(rf"^Layer {layer + 1}, head {head + 1}: \w"))
    expect(theirs.locator(".readout")).to_have_text(f"Layer {layer + 1}, head {head + 1}")
    leave(teacher)
    expect(theirs.locator(".readout")).to_have_text(before)


def test_of_what_is_pointed_at_meanwhile_the_class_is_told_the_last(class_on):
    teacher, pupil = class_on("step_by_step", step="scores")
    page, own, theirs = teacher.tab.page, teacher.tab.matrix("scores"), Theirs(pupil, "scores")
    held, sent = [], []
    page.on("request", lambda request: sent.append(request.post_data_json) if request.url.endswith("/point") else None)

    def hold(route):
        held.append(route)

    page.route("**/point", hold, times=1)
    with page.expect_request("**/point"):
        point_at(own, 0, 0)
    for row, column in ((1, 0), (1, 1), (2, 1), (2, 2)):
        point_at(own, row, column)
    held[0].continue_()
    expect(theirs.tip).to_have_text(own.root.locator(".tip").inner_text())
    leave(teacher)
    expect(theirs.tip).to_be_hidden()
    assert [said["point"] and said["point"]["at"] for said in sent] == [[0, 0], [2, 2], None]
