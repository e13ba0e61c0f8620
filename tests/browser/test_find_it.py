"""Tasks: a teacher sets one, pupils hand in views, and a single user tries one alone."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.classroom import CROSSED, LONG, PHONE, PROJECTOR, STRAIGHT, WALL, Finder, Setter
from tests.browser.looks import expect_no_barrier, expect_to_fit

TEXT = "The old baker opened the small shop before sunrise"
# Of BERT, which is the model of a link that names none.
AT_PREVIOUS = {"layer": "1", "head": "3", "text": TEXT}
# What every verdict begins with: that it was found, or not yet, and the score.
FOUND, NOT_YET = re.compile(r"Found it\D+1\.00"), re.compile(r"Not yet\D+0\.")


@pytest.fixture
def teacher(new_person):
    return Setter(new_person()).open(model="minilm-l6", layer="2", head="5")


@pytest.fixture
def new_pupil(new_person, teacher):
    return lambda **options: Finder(new_person(**options)).join(teacher.code)


def test_a_pupil_hands_in_a_wrong_and_then_a_right_view(teacher, new_pupil, new_person):
    pupil, other = new_pupil(), new_pupil(viewport=PHONE)
    teacher.set("Previous token")
    rule = re.compile(r"0\.50")
    expect(other.task).to_contain_text(rule)
    expect(other.alone).to_have_attribute("href", re.compile("find=previous$"))
    pupil.task.get_by_role("link", name="Look for it in the app").click()
    pupil.tab.expect_query(model="minilm-l6", text="Two grey geese crossed the frozen pond", find="previous")
    # The class's task is not judged on the page itself.
    expect(pupil.bar).to_contain_text("Previous token")
    expect(pupil.page.locator(".st-key-sought")).to_be_hidden()
    pupil.hand_in().to_contain_text(NOT_YET, timeout=LONG)
    teacher.expect_found(1, 0)
    # The class sees this screen: it says what is to be found, and not what others have found.
    teacher.expect_covered()
    expect(teacher.bar).to_contain_text(rule)
    expect(teacher.bar.locator("details")).to_have_count(0)
    pupil.look_at("all_heads", **AT_PREVIOUS).hand_in().to_contain_text(FOUND, timeout=LONG)
    place = re.compile(r"\b1\D+3\D+MiniLM")
    expect(pupil.bar.get_by_role("status")).to_contain_text(place)
    teacher.expect_found(1, 1)
    expect(other.task).not_to_contain_text(place)
    # A verdict goes with its view.
    pupil.tab.select("Head", "5 of 12")
    expect(pupil.bar.get_by_role("status")).to_be_empty()
    expect(pupil.bar).to_contain_text("Your best: 1.00")
    pupil.bar.get_by_role("link", name="Back to the class").click()
    expect(pupil.solved).to_have_count(1)
    expect_no_barrier(pupil.tab, "task")
    wall = Finder(new_person(viewport=WALL))
    wall.page.goto(f"{wall.tab.url}/room?code={teacher.code}&screen=1")
    expect(wall.page.locator("#present")).to_contain_text("1 handed in")
    teacher.press("Show the best")
    # The list comes with the winning view.
    teacher.tab.expect_query(**AT_PREVIOUS)
    for each in (wall, other):
        expect(each.title).to_have_text(TEXT)
    expect(wall.task).to_contain_text(place)
    expect(wall.task).to_be_in_viewport(ratio=1)
    # The wall shows the head's own matrix, with its numbers, and not its small tile.
    expect(wall.page.locator("#view").get_by_role("heading")).to_have_text("Layer 1, head 3")
    picture = wall.page.locator("#view [data-picture]").locator("visible=true")
    expect(picture).to_have_count(1)
    expect(picture).to_be_in_viewport(ratio=1)
    expect(picture).to_contain_text("1.00")
    expect(other.task.get_by_role("listitem")).to_have_count(1)
    expect(other.task.get_by_role("listitem")).to_contain_text(place)
    expect(other.task.get_by_role("button")).to_have_count(0)
    other.task.get_by_role("link", name="Open this view").click()
    other.tab.settled().expect_query(**AT_PREVIOUS)
    # Who is still looking is told that it is over, and not how near a view comes that nobody handed in.
    other.look_at("all_heads", **AT_PREVIOUS, find="previous")
    expect(other.bar).to_contain_text("over")
    expect(other.bar.get_by_role("link", name="Back to the class")).to_be_visible()
    expect(other.page.locator(".st-key-sought")).to_be_hidden()
    teacher.press("End the task")
    expect(pupil.task).to_be_hidden()


def test_everybody_can_read_a_task_and_its_verdicts(teacher, new_pupil):
    pupil = new_pupil(viewport=PHONE)
    teacher.set("“It” changes its mind")
    expect(pupil.task).to_be_visible()
    # A link of another site, what is no link, and a link to what is not there: each is refused in its own words.
    said, told = pupil.task.get_by_role("status"), ""
    for link in ("https://example.org/compare?text=One", "nonsense", "/all_heads?model=nothing"):
        pupil.paste(link).not_to_have_text(told)
        expect(pupil.verdict).to_have_count(0)
        told = said.inner_text()
    pupil.tab.errors.clear()  # the browser counts what is refused
    words = {
        "text": "The animal didn't cross the street because it was too tired",
        "versus": "The animal didn't cross the street because it was too wide",
    }
    link = f"compare?{urlencode({'model': 'minilm-l6', 'layer': 4, 'head': 11, **words})}"
    pupil.paste(link).to_contain_text(re.compile(r"Found it\D+0\.02"), timeout=LONG)
    pupil.look("verdict", STRAIGHT)
    teacher.look("covered", PROJECTOR, is_covered=True)
    teacher.press("See the picture")
    teacher.bar.locator("details summary").click()
    expect(teacher.bar.get_by_role("listitem")).to_contain_text("too tired")
    teacher.look("best", PHONE)
    pupil.page.emulate_media(color_scheme="dark")
    pupil.look_at("compare", model="minilm-l6", layer="4", head="12", **words)
    pupil.hand_in().to_contain_text(NOT_YET, timeout=LONG)
    expect(pupil.bar).to_contain_text("Your best: 0.02")
    pupil.look("bar", CROSSED[1:])
    # Nobody follows on a screen: the task outlives the teacher's page.
    teacher.press("Show the best")
    teacher.tab.expect_query(layer="4", head="11", **words)
    teacher.tab.page.reload()
    teacher.expect_covered()
    expect(teacher.bar.get_by_role("listitem")).to_contain_text("too tired")


def test_alone_one_brings_a_view_to_the_page(tab):
    tab.go("all_heads", **{**AT_PREVIOUS, "head": "5"})
    tab.to_page("Find it").settled()
    expect(tab.page.get_by_text(NOT_YET)).to_be_visible(timeout=LONG)
    expect(tab.page.get_by_text(re.compile(r"\b1\D+5\D+MiniLM"))).to_be_visible()
    expect_no_barrier(tab, "page")
    expect_to_fit(tab)
    tab.page.get_by_role("link", name="With your sentence: All heads").click()
    # From there on, the task is in sight on every page, with the score of what is looked at.
    tab.settled().expect_query(**{**AT_PREVIOUS, "head": "5"}, find="previous")
    task = tab.page.locator(".st-key-sought")
    expect(task).to_contain_text(NOT_YET)
    tab.select("Head", "3 of 12").expect_query(**AT_PREVIOUS, find="previous")
    expect(task).to_contain_text(FOUND)
    assert task.bounding_box()["height"] < 40
    tab.to_page("Neuron view").settled()
    task.get_by_role("link", name="Hand in").click()
    verdict = tab.page.locator(".st-key-find_verdict")
    expect(verdict).to_contain_text(FOUND, timeout=LONG)
    tab.expect_query(**AT_PREVIOUS)
    onward = verdict.get_by_role("link", name="Next: ")
    title = onward.inner_text().removeprefix("Next: ").removesuffix(" ▸")
    onward.click()
    expect(tab.page.get_by_role("heading", name=title)).to_be_visible(timeout=LONG)
