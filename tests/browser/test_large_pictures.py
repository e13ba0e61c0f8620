"""A large picture, sent as shades, still reports the run's numbers for its cells."""

import re
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from playwright.sync_api import expect

from attention.figures.matrix import MAX_CELLS, Matrix

# Shows a matrix as Streamlit would, points at cells, and returns what is said of them once it is there.
READ = """async ({ data, places }) => {
  const { default: draw, styles, ask } = await import(new URL("./_attention/matrix.js", document.baseURI));
  const host = document.createElement("div");
  host.style.width = "900px";
  document.body.prepend(host);
  const parentElement = host.attachShadow({ mode: "open" });
  parentElement.adoptedStyleSheets = [styles];
  draw({ data, parentElement, ask, setStateValue() {} });
  const picture = parentElement.querySelector(".picture");
  const readout = parentElement.querySelector(".readout");
  const box = parentElement.querySelector(".frame").getBoundingClientRect();
  const [width, height] = [box.width / data.columns, box.height / data.rows.length];
  const said = [];
  for (const [row, column] of places) {
    const place = { clientX: box.x + (column + 0.5) * width, clientY: box.y + (row + 0.5) * height };
    picture.dispatchEvent(new PointerEvent("pointermove", place));
    while (readout.textContent.endsWith("…")) await new Promise((done) => setTimeout(done, 1));
    said.push(readout.querySelector("b")?.textContent);
  }
  host.remove();
  return said;
}"""

# Shows a matrix, and returns what marks it as beyond the colours, and how the full colours and their ends look.
MARKS = """async (data) => {
  const { default: draw, styles, ask } = await import(new URL("./_attention/matrix.js", document.baseURI));
  const host = document.createElement("div");
  host.style.width = "900px";
  document.body.prepend(host);
  const parentElement = host.attachShadow({ mode: "open" });
  parentElement.adoptedStyleSheets = [styles];
  draw({ data, parentElement, ask, setStateValue() {} });
  const corners = [...parentElement.querySelectorAll(".corner")].map((corner) => corner.getAttribute("d"));
  const fill = (row, column) =>
    parentElement.querySelector(`rect[data-row="${row}"][data-column="${column}"]`)?.getAttribute("fill");
  const found = {
    n: corners.join("").split("M").length - 1,
    ends: [...parentElement.querySelectorAll(".legend > span:not(.strip)")].map((end) => end.textContent),
    caption: parentElement.querySelector(".caption").textContent,
    fills: [fill(0, 0), fill(0, 1), fill(1, 0)],
  };
  host.remove();
  return found;
}"""

shapes = st.tuples(st.integers(2, 40), st.integers(40, 60)).filter(lambda shape: shape[0] * shape[1] > MAX_CELLS)
numbers = (
    st.floats(width=32, allow_infinity=False, allow_nan=False)
    | st.floats(-3, 3, width=32)
    | st.sampled_from([0.0, -0.0, 0.5, 1.0625, -0.00012345, 99.995, 9999.5, 1e-30, -3e38])
)


def said_of(value, masked="−∞"):
    """The number with four digits that mean something, rounded as at school, as JavaScript writes it."""
    if np.isneginf(value):
        return f"{masked} (masked)"
    if np.isnan(value):
        return "nothing here"
    if value == 0:
        return "0"
    rounded = Context(prec=4, rounding=ROUND_HALF_UP).plus(Decimal(float(value)))
    exponent = rounded.adjusted()
    if -7 < exponent < 4:
        text = f"{rounded:.{3 - exponent}f}"
    else:
        text = f"{rounded.scaleb(-exponent):.3f}e{'+' if exponent > 0 else ''}{exponent}"
    return text.replace("-", "−")


@pytest.fixture(scope="module")
def bare(new_shared_tab):
    """A page with nothing but a server to ask, which has the numbers of one picture."""
    tab = new_shared_tab()
    asked = {}
    tab.page.route("**/numbers-of/*", lambda route: route.fulfill(body=asked[route.request.url.rpartition("/")[2]]))
    tab.go("models")
    return tab, asked


@settings(max_examples=25, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
@given(shape=shapes, data=st.data(), palette=st.sampled_from(["signed", "weights"]))
def test_every_cell_says_the_number_of_the_record(bare, shape, data, palette):
    tab, asked = bare
    # Mostly the same number, with some that stand out.
    values = data.draw(arrays.arrays(np.float32, shape, elements=numbers, fill=numbers))
    hidden = data.draw(arrays.arrays(bool, shape, elements=st.booleans(), fill=st.just(False)))
    values[0, 0] = np.nan
    rows, columns = shape
    picture = Matrix(
        name="x",
        title="X",
        values=values,
        row_labels=tuple(f"r{i}" for i in range(rows)),
        column_labels=tuple(map(str, range(columns))),
        row_axis="rows",
        column_axis="columns",
        palette=palette,
        alt="Numbers.",
        selected=(rows - 1, 0),
        blank="nothing here",
        hidden=hidden if palette == "weights" else None,
    )
    asked.clear()
    asked[picture.fingerprint] = picture.numbers
    payload = picture.payload(lambda name: f"./numbers-of/{name}")
    assert "shades" in payload
    cell = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1))
    # Those that stand out are where something can go wrong.
    odd = [tuple(map(int, place)) for place in np.argwhere(picture.drawn != np.median(picture.drawn.astype(float)))[:6]]
    places = [(0, 0), (rows - 1, 0), (rows - 1, columns - 1), *odd, *data.draw(st.lists(cell, max_size=4))]
    found = tab.page.evaluate(READ, {"data": payload, "places": [list(each) for each in places]})
    assert found == [said_of(picture.drawn[place], picture.masked) for place in places]


def test_only_who_points_at_a_picture_asks_for_its_numbers(tab, models):
    tab.go(model="minilm-l6", step="heads")

    def asked():
        return [url for url in tab.requests if "/numbers/" in url]

    # The number of the cell that is open is read at once.
    picture = tab.matrix("change")
    said = picture.readout.locator("b").inner_text()
    layer = models["minilm-l6"].trace("The cat sat on the mat").layers[2]
    assert any(said == said_of(value) for value in layer.output().ravel())
    assert asked() == []
    picture.expect_to_show(layer.output())
    assert len(asked()) == 1
    picture.expect_readouts(layer.output())
    assert len(asked()) == 1
    tab.matrix("joined").expect_to_show(layer.joined())
    assert len(asked()) == 2


def test_where_a_number_cannot_be_had_that_is_said_and_tried_again(tab, models):
    gone = []
    # Before the page is opened: a request right after a route is set may still go past it.
    tab.page.route("**/_attention/numbers/**", lambda route: route.fulfill(status=410) if gone else route.continue_())
    tab.go(model="minilm-l6", step="heads")
    picture = tab.matrix("change")
    gone.append(True)
    picture.picture.focus()
    picture.picture.press("Control+End")
    # It says that the number is missing, not that it is on its way.
    expect(picture.readout).not_to_have_text(re.compile("…$"))
    expect(picture.readout).to_have_text(re.compile(r"\w"))
    expect(picture.readout.locator("b")).to_have_count(0)
    tab.page.unroute("**/_attention/numbers/**")
    tab.page.mouse.move(0, 0)
    picture.picture.hover(position={"x": 200, "y": 100})
    picture.picture.press("Control+Home")
    layer = models["minilm-l6"].trace("The cat sat on the mat").layers[2]
    expect(picture.readout.locator("b")).to_have_text(said_of(layer.output()[0, 0]))
    # The browser's own word on the answer above.
    tab.errors = [error for error in tab.errors if "410" not in error]


@pytest.mark.parametrize(("rows", "columns"), [(6, 40), (9, 600)])
def test_one_number_far_beyond_the_others_does_not_bleach_them_and_has_a_corner(tab, rows, columns):
    tab.go(model="toy", step="scores")
    values = np.full((rows, columns), 2, np.float32)
    values[0, 0], values[1, 0] = 22543, -2
    names = {"row_labels": tuple(map(str, range(rows))), "column_labels": tuple(map(str, range(columns)))}
    axes = {"row_axis": "tokens", "column_axis": "dimensions", "palette": "signed", "alt": "Numbers."}
    data = Matrix(name="one", title="X", values=values, **names, **axes)
    for payload in (data.payload(), data.payload(lambda name: f"./{name}")):
        found = tab.page.evaluate(MARKS, payload)
        assert found["n"] == 1
        assert found["ends"] == ["≤ −2.0", "≥ 2.0"]
        assert re.findall(r"[−±]?\d+\.\d+|\b1\b", found["caption"])[-4:] == ["−2.00", "22543.00", "1", "±2.00"]
        # The largest of the usual numbers has the full colour, as the outlier does.
        assert found["fills"][0] == found["fills"][1] != found["fills"][2] or rows * columns > MAX_CELLS


def test_the_log_says_nothing_of_who_asks(tab, server):
    tab.go(model="minilm-l6", step="heads", text="velvet quarantine")
    before = server.printed()
    tab.matrix("change").picture.hover()
    tab.matrix("change").picture.press("Home")
    assert float(tab.matrix("change").readout.locator("b").inner_text().replace("−", "-"))
    assert server.printed() == before


def test_on_a_phone_the_heads_side_by_side_scroll_and_words_come_before_a_second_picture(shared_tab):
    shared_tab.page.set_viewport_size({"width": 390, "height": 844})
    for step, names in (
        ("heads", ("joined", "change")),
        ("sum", ("contributions", "outputs")),
        ("qkv", ("queries", "keys")),
    ):
        shared_tab.turn_to(step=step, model="minilm-l6")
        first, second = (shared_tab.matrix(name) for name in names)
        if step == "heads":
            assert first.picture.bounding_box()["width"] > 3 * 384
        above, words, below = (each.bounding_box() for each in (first.root, shared_tab.words.first, second.root))
        assert above["y"] < words["y"] < below["y"]
