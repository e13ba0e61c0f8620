"""All heads in a browser: pointing, pinning, keyboard, sorting, downloads."""

import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from attention.figures.atlas import MAX_ZOOM, Atlas, Tiles, by_layer
from tests.browser.line import Line

SENTENCE = "The river bank was wet"
LONG = (
    "My grandmother baked bread before the rain came and we ate it while the children played outside near the old "
    "stone bridge that crosses our river"
)
LAYER, HEAD = 4, 2  # counted from 0


@pytest.fixture
def opened(shared_tab):
    return lambda **query: shared_tab.turn_to("all_heads", text=SENTENCE, **query)


@pytest.fixture(scope="module")
def weights(models):
    return models["minilm-l6"].trace(SENTENCE).layers[LAYER].head(HEAD).weights.astype(float)


def lines_of(tab):
    return tab.page.locator(".st-key-head_view")


def expect_numbers(lines, side, wanted):
    """The numbers that stand beside the tokens of one side."""
    expect(lines.locator(f".{side} .token .number")).to_have_text([f"{value:.2f}" for value in wanted])


def test_what_a_resting_pointer_shows_outlives_an_answer(opened, models, weights):
    tab = opened(layer="5", head="3")
    lines = lines_of(tab)
    lines.locator(".query .token").nth(2).hover()
    lines.get_by_role("button", name="Head 7").focus()
    tab.page.keyboard.press("Enter")
    tab.expect_query(text=SENTENCE, layer="5", head="3", on="3-7").settled()
    other = models["minilm-l6"].trace(SENTENCE).layers[LAYER].head(6).weights
    expect_numbers(lines, "key", (weights[2] + other[2]) / 2)


def test_what_pinned_tokens_give_is_added_up(opened, weights):
    tab = opened(layer="5", head="3")
    lines = lines_of(tab)
    for row in (1, 3):
        lines.locator(".query .token").nth(row).click()
    tab.page.mouse.move(0, 0)
    tab.expect_query(text=SENTENCE, layer="5", head="3", pins="query-1-3")
    expect_numbers(lines, "key", weights[1] + weights[3])
    expect(lines.locator(".readout .query")).to_have_text(["the", "bank"])
    lines.get_by_role("button", name="Unpin all").click()
    tab.expect_query(text=SENTENCE, layer="5", head="3")


def test_several_heads_are_their_mean(opened, models, weights):
    tab = opened(layer="5", head="3")
    lines = lines_of(tab)
    lines.locator("button.head").nth(6).click()
    tab.expect_query(text=SENTENCE, layer="5", head="3", on="3-7")
    other = models["minilm-l6"].trace(SENTENCE).layers[LAYER].head(6).weights
    lines.locator(".query .token").nth(2).hover()
    expect_numbers(lines, "key", (weights[2] + other[2]) / 2)
    tab.page.get_by_text("Mean of the layer's heads").click()
    tab.expect_query(text=SENTENCE, layer="5", head="3", on="3-7", mean="1")
    every = np.stack([models["minilm-l6"].trace(SENTENCE).layers[LAYER].head(head).weights for head in range(12)])
    lines.locator(".query .token").nth(2).hover()
    expect_numbers(lines, "key", every.mean(axis=0)[2])


def test_lines_can_be_read_by_keyboard_alone(opened, weights):
    tab = opened(layer="5", head="3")
    lines = lines_of(tab)
    tab.page.mouse.move(0, 0)
    lines.locator(".query .token").first.focus()
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    expect(lines.locator(".query .token").nth(2)).to_be_focused()
    expect_numbers(lines, "key", weights[2])
    tab.page.keyboard.press("Enter")
    tab.expect_query(text=SENTENCE, layer="5", head="3", pins="query-2")
    tab.page.keyboard.press("ArrowRight")
    expect(lines.locator(".key .token").nth(2)).to_be_focused()
    expect_numbers(lines, "query", weights[:, 2])
    tab.page.keyboard.press("Escape")
    # What a screen reader says of a token needs no picture.
    expect(lines.locator(".query .token").nth(2)).to_have_attribute(
        "aria-label", re.compile(rf"^river\b.*\b2\b.* {weights[2].max():.2f}$")
    )
    tab.expect_query(text=SENTENCE, layer="5", head="3")


def test_the_lines_of_a_head_that_was_off_are_asked_for_once_and_again_where_that_has_failed(new_tab, models):
    tab = new_tab()
    line = Line(tab.page)
    tab.go("all_heads", text=LONG, layer="5", head="3")
    lines = lines_of(tab)
    readout = lines.locator(".readout")
    heads = models["minilm-l6"].trace(LONG).layers[LAYER]
    hint = readout.inner_text()

    def asked():
        return [url for url in tab.requests if "/numbers/all_heads/head_view/" in url]

    def press(head):
        lines.get_by_role("button", name=f"Head {head + 1}", exact=True).click()

    def expect_mean(*shown):
        lines.locator(".query .token").nth(2).hover()
        expect_numbers(lines, "key", np.mean([heads.head(head).weights[2] for head in shown], axis=0))

    expect_mean(HEAD)
    assert asked() == []
    # The server's own answer to a press has the lines as well: until it comes, the picture has to ask for them.
    line.hold()
    tab.page.route("**/_attention/numbers/**", lambda route: route.fulfill(status=410))
    press(7)
    # It says that they are missing, and neither that they are on their way nor that one should point at a token.
    expect(readout).not_to_have_text("…")
    assert readout.inner_text() != hint
    expect(readout.locator("b")).to_have_count(0)
    tab.page.unroute("**/_attention/numbers/**")
    press(11)
    expect_mean(HEAD, 7, 11)
    line.release()
    tab.expect_query(text=LONG, layer="5", head="3", on="3-8-12")
    expect_mean(HEAD, 7, 11)
    # Off, and on again.
    press(7)
    tab.expect_query(text=LONG, layer="5", head="3", on="3-12")
    expect_mean(HEAD, 11)
    press(7)
    tab.expect_query(text=LONG, layer="5", head="3", on="3-8-12")
    expect_mean(HEAD, 7, 11)
    # Once in vain, and once for all heads.
    assert len(asked()) == 2
    # The browser's own word on the answer above.
    tab.errors = [error for error in tab.errors if "410" not in error]


# Draws all heads twice, whole and as a sketch that is pointed at, and returns both pictures, and what the sketch said.
TWICE = """async ({ whole, sketch, numbers }) => {
  const { default: draw, styles } = await import(new URL("./_attention/atlas.js", document.baseURI));
  const drawn = async (data, ask) => {
    const host = document.createElement("div");
    host.style.width = "900px";
    document.body.prepend(host);
    const parentElement = host.attachShadow({ mode: "open" });
    parentElement.adoptedStyleSheets = [styles];
    const root = () => parentElement.querySelector(".atlas");
    draw({ data, parentElement, ask, setStateValue() {} });
    while (!root().dataset.milliseconds) await new Promise((done) => setTimeout(done, 1));
    return { host, root: root(), seen: () => parentElement.querySelector("canvas").toDataURL() };
  };
  const one = await drawn(whole, () => null);
  const asked = [];
  const ask = async (address) => (asked.push(address), Uint8Array.from(numbers).buffer);
  const other = await drawn(sketch, ask);
  const found = { before: [other.seen(), other.root.querySelector(".caption").textContent], asked: [...asked] };
  delete other.root.dataset.milliseconds;
  const enter = () => other.root.querySelector(".picture").dispatchEvent(new PointerEvent("pointerenter"));
  enter();
  enter();
  while (!other.root.dataset.milliseconds) await new Promise((done) => setTimeout(done, 1));
  enter();
  Object.assign(found, { whole: one.seen(), after: other.seen(), then: asked });
  found.captions = [one, other].map(({ root }) => root.querySelector(".caption").textContent);
  one.host.remove();
  other.host.remove();
  return found;
}"""


def test_all_heads_come_as_a_sketch_and_whole_once_one_points_at_them(shared_tab, models):
    tab = shared_tab.turn_to("models")
    tiles = Tiles.of(layer.steps().weights for layer in models["minilm-l6"].trace(LONG).layers)
    figure = Atlas(tiles, by_layer(tiles), "All heads", "All heads.")
    sketch = figure.payload(lambda name: f"./at/{name}")
    assert sketch["block"] == [2, 2]
    given = {"whole": figure.payload(), "sketch": sketch, "numbers": list(figure.numbers)}
    found = tab.page.evaluate(TWICE, given)
    assert found["asked"] == []
    assert found["before"][0] != found["whole"]
    # Only of the sketch it is said how much a pixel stands for.
    assert "2×2" in found["before"][1]
    assert "2×2" not in found["captions"][1]
    assert found["after"] == found["whole"]
    assert found["captions"][0] == found["captions"][1]
    assert found["then"] == [f"./at/{figure.fingerprint}"]


def test_a_head_of_the_atlas_is_opened_by_mouse_and_by_keyboard(opened):
    tab = opened()
    atlas = tab.page.locator(".st-key-atlas").get_by_role("application")
    atlas.focus()
    tab.page.keyboard.press("Home")
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("Enter")
    tab.expect_query(text=SENTENCE, layer="3", head="2")
    expect(tab.heading.first).to_have_text("Layer 3, head 2")
    tab.page.get_by_text("Sort, hide, mask").click()
    tab.pick("Sort by", "entropy")
    tab.expect_query(text=SENTENCE, layer="3", head="2", sort="entropy", looks="1")
    atlas.focus()
    tab.page.keyboard.press("Control+Home")
    said = tab.page.locator(".st-key-atlas .readout")
    sharpest = re.match(r"Layer (\d), head (\d+)", said.inner_text())
    box = atlas.bounding_box()
    atlas.click(position={"x": box["width"] - 3, "y": 3})
    tab.page.keyboard.press("Control+Home")
    tab.page.keyboard.press("Enter")
    tab.expect_query(text=SENTENCE, layer=sharpest[1], head=sharpest[2], sort="entropy", looks="1")


def test_how_far_one_has_zoomed_is_in_the_link_until_the_heads_are_sorted_otherwise(opened, new_tab):
    tab = opened(layer="6", head="12")
    tab.page.get_by_role("button", name="Zoom in").click(click_count=3, delay=20)
    tab.expect_query(text=SENTENCE, layer="6", head="12", zoom="338")
    picture, size = tab.page.locator(".st-key-atlas .atlas"), "element => element.querySelector('.picture').offsetWidth"
    expect(picture.locator(".zoom-text")).to_have_text("3.4×")
    # Somebody else looks as closely, and at the head that is chosen: the last one of the last layer.
    there = new_tab().go_to(tab.page.url).page.locator(".st-key-atlas .atlas")
    expect(there.locator(".zoom-text")).to_have_text("3.4×")
    assert abs(there.evaluate(size) / picture.evaluate(size) - 1) < 0.02
    assert there.locator(".scroller").evaluate("({scrollTop, scrollLeft}) => scrollTop > 0 && scrollLeft > 0")
    tab.page.get_by_role("button", name="Zoom in").click(click_count=2, delay=20)
    tab.expect_query(text=SENTENCE, layer="6", head="12", zoom=str(MAX_ZOOM))
    tab.page.get_by_text("Sort, hide, mask").click()
    tab.pick("Sort by", "entropy")
    tab.expect_query(text=SENTENCE, layer="6", head="12", sort="entropy", looks="1")
    expect(picture.locator(".zoom-text")).to_have_text("1×")


def test_the_heatmap_is_saved_as_pixels_and_as_svg_with_its_tokens(opened):
    tab = opened(layer="5", head="3")
    tab.page.get_by_text("Pictures and weights as files").click()
    with Image.open(tab.take_away("Heatmap, PNG").path()) as image:
        assert image.format == "PNG"
        assert min(image.size) > 600
    svg = tab.take_away("Heatmap, SVG").path().read_text("utf-8")
    assert svg.startswith("<svg")
    assert set(SENTENCE.lower().split()) <= set(re.findall(r">([^<>]+)</text>", svg))


def test_pages_that_were_taken_away_open_from_the_disk_without_a_network(opened, browser, tmp_path):
    tab = opened(layer="5", head="3", hide="special")
    tab.page.get_by_text("Pictures and weights as files").click()
    context = browser.new_context(offline=True)
    page = context.new_page()
    errors, asked = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    for label, part in (
        ("All heads, standalone page", ".atlas canvas"),
        ("Lines, standalone page", ".head-view .query .token"),
        ("Heatmap, standalone page", ".matrix .picture"),
        ("Heatmap, Plotly page", ".plot .heatmaplayer image"),
        ("All heads, Plotly page", ".plot .heatmaplayer image"),
    ):
        download = tab.take_away(label)
        file = tmp_path / download.suggested_filename
        download.save_as(file)
        assert file.stat().st_size < (2_000_000 if "plotly" in file.name else 1_000_000)
        page.goto(file.as_uri())
        expect(page.get_by_role("heading", level=1)).to_have_text(SENTENCE)
        expect(page.locator(part).first).to_be_visible()
        # It says how it was looked at.
        expect(page.locator("main > p")).to_contain_text("[CLS], [SEP]")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []
    context.close()
