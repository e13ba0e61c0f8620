"""Pictures in real notebooks: run in JupyterLab, saved and reopened, and converted by nbconvert."""

import html
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.looks import expect_nothing_to_choose
from tests.browser.server import ROOT
from tests.ports import free_port
from tests.until import until

# What JupyterLab itself says of the kernel, at the foot of its window: idle only once it is connected, while
# the mark at the top of a notebook says so before.
STATUS, IS_READY = "#jp-main-statusbar", "| Idle"
HEADS, LINES, STEP = ".atlas .picture", ".head-view", ".notebook h2:has-text('7. ')"
FIRST = """
from attention import show
from attention.models import load
trace = load("toy").trace("the cat sat on the mat")
trace
"""
# Not the last line, as it may be with BertViz.
NOT_LAST = """
show.head_view([layer.steps().weights[None] for layer in trace.layers], [token.text for token in trace.tokens])
print("and more")
"""
# The same picture once more, and another one.
CELLS = [FIRST, NOT_LAST, "show.head_view(trace)", "show.step(trace, 'softmax', layer=0, head=1, cell=(1, 2))"]
PICTURES = 4
# In milliseconds: on a busy machine, a kernel takes long to start and to import what it needs.
PATIENCE = 120_000
# What each cell gives: no picture is there twice, whether or not it was the last line.
KINDS = [["execute_result"], ["display_data", "stream"], ["display_data"], ["display_data"]]


def notebook(path, cells=CELLS):
    written = [
        {
            "cell_type": "code",
            "id": f"cell-{index}",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": cell,
        }
        for index, cell in enumerate(map(str.strip, cells))
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    path.write_text(json.dumps({"cells": written, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}))
    return path


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    """Where Jupyter keeps its own files here, and where it finds the project."""
    home = tmp_path_factory.mktemp("jupyter")
    names = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    own = {f"JUPYTER_{name}": str(home / name.lower()) for name in names}
    return {**os.environ, **own, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(home / "ipython")}


@pytest.fixture(scope="module")
def executed(jupyter, tmp_path_factory):
    """The notebook with its outputs."""
    folder = tmp_path_factory.mktemp("executed")
    command = ("nbconvert", "--to=notebook", "--execute", "--inplace", notebook(folder / "pictures.ipynb"))
    subprocess.run([sys.executable, "-m", "jupyter", *command], cwd=folder, env=jupyter, check=True, timeout=300)
    return folder / "pictures.ipynb"


@pytest.fixture(scope="module")
def lab(jupyter, tmp_path_factory):
    """JupyterLab, on notebooks of its own."""
    folder, port = tmp_path_factory.mktemp("lab"), free_port()
    options = ("--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}")
    open_ = (
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    )
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options, *open_], cwd=folder, env=jupyter, stdout=log, stderr=log
        )
        try:
            until(lambda: b"is running at" in (folder / "log").read_bytes() or server.poll() is not None)
            assert server.poll() is None, (folder / "log").read_text()
            yield f"http://127.0.0.1:{port}", folder
        finally:
            server.terminate()
            server.wait(timeout=30)


def is_of_the_lab(stack):
    """Whether an error was thrown while only JupyterLab's own scripts ran: it moves nodes of its own."""
    frames = re.findall(r"^ +at (.*)", stack, re.MULTILINE)
    places = [frame for frame in frames if not frame.endswith("(<anonymous>)")]
    return bool(places) and all("/static/lab/" in place and "eval at" not in place for place in places)


@contextmanager
def watched(browser, **options):
    """A page of which nothing may be wrong, and which may ask nobody else."""
    context = browser.new_context(**{"viewport": {"width": 1400, "height": 1000}, **options})
    context.set_default_timeout(PATIENCE)
    page, errors, asked = context.new_page(), [], []
    page.on("pageerror", lambda error: errors.append(error.stack or str(error)))
    page.on("request", lambda request: asked.append(request.url))
    yield page, asked
    context.close()
    assert [error for error in errors if not is_of_the_lab(error)] == []


def expect_pictures(page):
    """Every picture is drawn, with its canvas painted and its numbers."""
    expect(page.locator("[data-attention] .notebook")).to_have_count(PICTURES, timeout=PATIENCE)
    expect(page.locator(HEADS)).to_have_count(1)
    expect(page.locator(LINES)).to_have_count(2)
    page.locator(STEP).scroll_into_view_if_needed()
    expect(page.locator(STEP)).to_be_visible()


def ground(page):
    """The colours behind and of the first picture."""
    place = page.locator(".notebook").first
    return [place.evaluate(f"element => getComputedStyle(element).{name}") for name in ("backgroundColor", "color")]


LIGHT = ["rgb(255, 255, 255)", "rgb(15, 23, 34)"]
DARK = ["rgb(15, 19, 24)", "rgb(230, 233, 239)"]
# The colour of a weight of 1 on a dark page.
DARKS = "rgb(201, 162, 242)"


def test_a_picture_is_shown_once_wherever_in_a_cell_it_is_made(executed):
    cells = json.loads(executed.read_text())["cells"]
    assert [sorted(output["output_type"] for output in cell["outputs"]) for cell in cells] == KINDS


@pytest.fixture
def opened(lab, browser):
    """Open a notebook in JupyterLab."""
    address, folder = lab
    with watched(browser) as (page, asked):

        def open_(path):
            (folder / path.name).write_text(path.read_text())
            page.goto(f"{address}/lab/workspaces/{path.stem}/tree/{path.name}?reset")
            expect(page.locator(".jp-Notebook")).to_be_visible(timeout=PATIENCE)
            # A cell that is run before its kernel is connected is not run at all.
            expect(page.locator(STATUS)).to_contain_text(IS_READY, timeout=PATIENCE)
            return page

        yield open_
        assert [
            url for url in asked if not url.startswith((address, "data:", "blob:", address.replace("http", "ws")))
        ] == []


def run_command(page, name):
    page.keyboard.press("Control+Shift+C")
    page.locator(".lm-CommandPalette-input").fill(name)
    expect(page.locator(".lm-CommandPalette-item.lm-mod-active")).to_contain_text(name)
    page.keyboard.press("Enter")
    expect(page.locator(".lm-CommandPalette-input")).to_be_hidden()


def test_in_jupyterlab_it_is_drawn_in_both_themes_saved_and_there_again(opened, tmp_path, lab):
    page = opened(notebook(tmp_path / "run.ipynb"))
    page.locator(".jp-Cell .cm-content").first.click()
    for _ in CELLS:
        page.keyboard.press("Shift+Enter")
    expect_pictures(page)
    assert ground(page) == LIGHT
    # What one points at is told, and a press opens the head.
    page.locator(HEADS).scroll_into_view_if_needed()
    page.locator(HEADS).click(position={"x": 150, "y": 80})
    expect(page.locator(".notebook .table td").first).to_be_visible()
    # In the dark theme it is dark, without running again.
    run_command(page, "Use Theme: JupyterLab Dark")
    expect(page.locator(".notebook[data-theme=dark]")).to_have_count(PICTURES)
    assert ground(page) == DARK
    expect(page.locator(".atlas .strip")).to_have_css("background-image", re.compile(re.escape(DARKS)))
    run_command(page, "Use Theme: JupyterLab Light")
    expect(page.locator(".notebook[data-theme=light]")).to_have_count(PICTURES)
    expect(page.locator(".atlas .strip")).not_to_have_css("background-image", re.compile(re.escape(DARKS)))
    # Saved by the lab itself, it is shown once more without a kernel's help.
    run_command(page, "Save Notebook")
    saved = lab[1] / "run.ipynb"
    until(lambda: saved.read_text().count("<div data-attention=") == PICTURES)
    page.reload()
    expect_pictures(page)


def test_a_notebook_that_is_not_trusted_says_so_and_has_a_table(opened, executed):
    page = opened(executed)
    place = page.locator(".jp-OutputArea-output").first
    expect(place).to_contain_text("Trust the notebook")
    expect(place.locator("table tr")).to_have_count(6)
    expect(page.locator(".notebook")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_that_nbconvert_makes_shows_it(executed, jupyter, browser, scheme):
    command = ("nbconvert", "--to=html", f"--output={scheme}.html", f"--HTMLExporter.theme={scheme}", executed)
    subprocess.run([sys.executable, "-m", "jupyter", *command], env=jupyter, check=True, timeout=300)
    # The page itself asks for MathJax and RequireJS, which a picture does not need.
    with watched(browser, offline=True) as (page, _):
        page.goto(executed.with_name(f"{scheme}.html").as_uri())
        expect_pictures(page)
        assert ground(page) == (LIGHT if scheme == "light" else DARK)


def test_a_saved_page_is_as_its_reader_prefers_it(browser, tmp_path):
    from attention import show
    from attention.models import load

    trace = load("toy").trace("the cat sat on the mat")
    show.head_view(trace).save(tmp_path / "lines.html")
    show.atlas(trace, display_mode="dark").save(tmp_path / "dark.html")
    for scheme, colours in (("light", LIGHT), ("dark", DARK)):
        with watched(browser, offline=True, color_scheme=scheme) as (page, asked):
            page.goto((tmp_path / "lines.html").as_uri())
            expect(page.locator(LINES)).to_be_visible()
            assert ground(page) == colours
            page.goto((tmp_path / "dark.html").as_uri())
            expect(page.locator(HEADS)).to_be_visible()
            assert ground(page) == DARK
            assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_in_a_sandboxed_frame_without_an_origin_it_is_drawn(browser):
    """As editors and hosted notebooks frame a cell's output, with no script of theirs and nothing to fetch."""
    from attention import show
    from attention.models import load

    drawn = show.head_view(load("toy").trace("the cat sat on the mat")).data
    with watched(browser, offline=True) as (page, _):
        page.set_content(
            f'<iframe sandbox="allow-scripts" width=900 height=600 srcdoc="{html.escape(drawn)}"></iframe>'
        )
        frame = page.frame_locator("iframe")
        expect(frame.locator(LINES)).to_be_visible()
        assert frame.locator("body").evaluate("() => window.origin") == "null"


def test_the_numbers_that_are_read_are_the_models(browser, tmp_path):
    from attention import show
    from attention.models import load

    trace = load("toy").trace("the cat sat on the mat")
    weights = trace.layers[0].steps().weights
    show.head_view(trace, heads=[1]).save(tmp_path / "lines.html")
    show.atlas(trace).save(tmp_path / "heads.html")
    with watched(browser) as (page, _):
        page.goto((tmp_path / "lines.html").as_uri())
        page.locator(".query .token").nth(2).hover()
        expect(page.locator(".key .number")).to_have_text([f"{weight:.2f}" for weight in weights[1, 2]])
        page.goto((tmp_path / "heads.html").as_uri())
        page.locator(HEADS).focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.locator(".table b")).to_have_text("Layer 1, head 2")
        expect(page.locator(".table td")).to_have_text([f"{weight:.2f}" for weight in weights[1].ravel()])


def test_the_neuron_view_offers_no_choice_that_does_nothing(browser, tmp_path):
    from attention import show
    from attention.models import load

    show.neuron(load("toy").trace("the cat sat on the mat"), word=2).save(tmp_path / "neuron.html")
    with watched(browser) as (page, _):
        page.goto((tmp_path / "neuron.html").as_uri())
        expect_nothing_to_choose(page)


def test_two_sentences_and_three_attentions_can_be_chosen(browser, tmp_path):
    import numpy as np

    from attention import show
    from attention.models import load

    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=(2, 14, 5))
    show.head_view(list(weights), ["a", "b", "c", "d", "e"], sentence_b_start=2).save(tmp_path / "pair.html")
    show.head_view(load("translator-fr-en").trace("le chat noir dort")).save(tmp_path / "three.html")
    with watched(browser) as (page, _):
        page.goto((tmp_path / "pair.html").as_uri())
        tokens = page.locator(".query .text"), page.locator(".key .text")
        page.get_by_label("Lines from → to").select_option("B → A")
        expect(tokens[0]).to_have_text(["c", "d", "e"])
        expect(tokens[1]).to_have_text(["a", "b"])
        tokens[0].first.hover()
        mean = weights[0, :12, 2, :2].mean(axis=0)
        expect(page.locator(".key .number")).to_have_text([f"{weight:.2f}" for weight in mean])
        # Of more heads than there are colours, some are shown at a time.
        page.locator("select", has_text="Heads 1–12").select_option("Heads 13–14")
        expect(page.locator(".legend .name")).to_have_text(["Head 13", "Head 14"])
        page.goto((tmp_path / "three.html").as_uri())
        page.get_by_role("combobox", name="Attention").select_option("cross")
        assert re.search("noir", page.locator(".key .tokens").inner_text())
        assert re.search("black", page.locator(".query .tokens").inner_text())
