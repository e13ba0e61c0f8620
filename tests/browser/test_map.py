"""The map: it shows the current place in the model, and pressing it goes there."""

import itertools
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.looks import NARROW, expect_to_fit
from tests.browser.tab import TWO_FRAMES, Tab

WIDE = {"width": 1280, "height": 720}
LARGE = {"width": 1920, "height": 1080}
# Where the arrows of a map begin and end, and what they are to lead from and to, in the window.
ARROWS = """svg => {
  const box = (each) => { const r = each.getBoundingClientRect();
    return {left: r.left, right: r.right, top: r.top, bottom: r.bottom}; };
  const body = svg.parentNode;
  const place = (path, length) => { const at = path.getPointAtLength(length).matrixTransform(path.getScreenCTM());
    return [at.x, at.y]; };
  const ends = (path) => [0, path.getTotalLength()].map((length) => place(path, length));
  const arrows = [...svg.querySelectorAll(".feed")].map(ends);
  const caught = arrows.filter(([, [x, y]]) => svg.getRootNode().elementFromPoint(x, y)?.closest("svg"));
  return {arrows, caught: caught.length, columns: [...body.querySelectorAll(".column")].map(box),
    from: box(body.querySelector(".column:not(.fed) .top")),
    into: [...body.querySelectorAll(".fed .layers .chip, .box.fed")].map(box)};
}"""


def the_map(tab: Tab):
    return tab.page.get_by_role("navigation", name="Map of the model")


@pytest.mark.quick
def test_the_ring_is_at_the_step_and_a_dot_leads_to_another(tab):
    tab.go(step="scores", layer="3", head="9")
    here = the_map(tab)
    expect(here.locator("[aria-current=step]")).to_have_accessible_name("Step 4: Scores")
    expect(here.locator("button[aria-current=true]")).to_have_accessible_name("Head 9")
    here.get_by_role("button", name="Step 6: Mask").click()
    tab.expect_query(step="mask", layer="3", head="9")
    expect(here.locator("[aria-current=step]")).to_have_accessible_name("Step 6: Mask")
    # What was pressed keeps the keyboard's focus.
    expect(here.get_by_role("button", name="Step 6: Mask")).to_be_focused()
    here.get_by_role("button", name="Layer 5", exact=True).press("Enter")
    tab.expect_query(step="mask", layer="5", head="9")
    expect(here.locator("li[aria-current=true]")).to_contain_text("Layer 5 of 6")
    here.get_by_role("button", name="Head 2", exact=True).press("Enter")
    tab.expect_query(step="mask", layer="5", head="2")


@pytest.mark.parametrize(("model", "layer"), [("minilm-l6", "4"), ("smollm2-135m", "14")])
def test_layers_heads_and_steps_are_told_apart_by_form_and_one_reads_where_one_is(shared_tab, model, layer):
    tab = shared_tab
    tab.page.set_viewport_size(WIDE)
    tab.go(step="softmax", model=model, layer=layer, head="2")
    here = the_map(tab)
    expect(here.locator(".you")).to_have_text(f"You are here: layer {layer}, head 2, step 7")
    assert {text for text in here.locator(".head").all_inner_texts() if text.strip()} == set()
    radii = {
        kind: here.locator(kind).first.evaluate("each => parseFloat(getComputedStyle(each).borderRadius)")
        for kind in (".dot", ".layers .chip")
    }
    assert radii[".dot"] > radii[".layers .chip"]
    expect(here.locator(".layers").first).to_contain_text("Layer")
    # What has a border can be pressed, and the other way round.
    framed = """nav => [...nav.querySelectorAll('.base, .top, .norm, .box, .layer, .other, .rows .chip')].map(each =>
      [each.matches('button'), getComputedStyle(each).borderTopColor !== 'rgba(0, 0, 0, 0)'])"""
    found = here.evaluate(framed)
    assert len(found) > 6
    assert all(is_button == is_framed for is_button, is_framed in found)


# The encoder, the decoder's own attention, and what reads the encoder; in the last of two layers, and in the first.
FED = [{"layer": "2"}, {"part": "decoder", "layer": "2"}, {"part": "cross", "layer": "1"}]


@pytest.mark.parametrize("query", FED, ids=lambda query: "-".join(query.values()))
def test_an_arrow_leads_from_the_encoders_output_to_each_layer_of_the_decoder(tab, models, query):
    link = {"step": "scores", "model": "translator-fr-en", **query}
    tab.page.set_viewport_size(LARGE)
    expect_arrows(tab.go(**link, present="1"), models, query)
    tab.page.set_viewport_size(WIDE)
    expect_arrows(tab.go(**link), models, query)
    tab.page.set_viewport_size(NARROW)
    expect(the_map(tab).locator(".feeds")).to_be_hidden()
    the_map(tab).locator(".sheet").click()
    expect_arrows(tab, models, query)


def expect_arrows(tab, models, query):
    here = the_map(tab)
    drawing = here.get_by_role("img", name="From the encoder's output to the cross-attention of every layer")
    n_layers = len(models["translator-fr-en"].trace("le chat dort").decoder.layers)
    expect(drawing.locator(".feed")).to_have_count(n_layers)
    expect(drawing).to_be_visible()
    # After a change of the window's size, they are drawn in the next frame.
    tab.page.evaluate(TWO_FRAMES)
    found = drawing.evaluate(ARROWS)
    encoder, decoder = found["columns"]
    assert encoder["right"] < decoder["left"]
    assert found["caught"] == 0
    for (start, end), to in zip(found["arrows"], found["into"], strict=True):
        assert start[0] == pytest.approx(found["from"]["right"], abs=1)
        assert found["from"]["top"] < start[1] < found["from"]["bottom"]
        at_its_left = end[0] == pytest.approx(to["left"], abs=1) and to["top"] < end[1] < to["bottom"]
        at_its_foot = end[1] == pytest.approx(to["bottom"], abs=1) and to["left"] < end[0] < to["right"]
        assert at_its_left or at_its_foot
    if "part" in query:
        # The unfolded layer is entered at its cross-attention, which is another place than its own attention.
        titles = here.locator(".box.fed .title")
        expect(titles).to_have_text(["Cross-attention"])


def test_a_map_of_one_stack_has_no_arrows(shared_tab):
    tab = shared_tab
    tab.page.set_viewport_size(WIDE)
    tab.go(step="scores", model="minilm-l6")
    expect(the_map(tab).locator(".layer")).to_be_visible()
    expect(the_map(tab).locator(".feeds")).to_have_count(0)


def test_the_map_can_be_folded_and_the_link_says_so(tab):
    tab.page.set_viewport_size(WIDE)
    tab.go(step="scores", model="toy")
    width = tab.matrix("scores").root.bounding_box()["width"]
    the_map(tab).get_by_role("button", name="Fold the map", exact=True).click()
    tab.expect_query(step="scores", model="toy", map="0")
    expect(the_map(tab).locator(".base")).to_be_hidden()
    # The heads remain beside the picture.
    expect(the_map(tab).get_by_role("button", name=re.compile("^Head "))).to_have_count(3)
    assert tab.matrix("scores").root.bounding_box()["width"] > width
    the_map(tab).get_by_role("button", name="Unfold the map").click()
    tab.expect_query(step="scores", model="toy")
    expect(the_map(tab).locator(".base")).to_be_visible()


def test_arrow_keys_lead_from_head_to_head_and_a_press_and_its_result_are_on_one_screen(tab, models):
    tab.page.set_viewport_size(WIDE)
    tab.go(step="softmax", layer="3", head="9")
    here = the_map(tab)
    current = here.get_by_role("button", name="Head 9", exact=True)
    assert here.get_by_role("group", name=re.compile("^Heads")).locator("[tabindex='0']").count() == 1
    current.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        tab.page.keyboard.press(key)
    expect(here.get_by_role("button", name="Head 10", exact=True)).to_be_focused()
    # The step stays, though the same keys lead from step to step elsewhere.
    tab.page.keyboard.press("Enter")
    tab.expect_query(step="softmax", layer="3", head="10")
    expect(here.get_by_role("button", name="Head 10", exact=True)).to_be_focused()
    weights = models["minilm-l6"].trace("The cat sat on the mat").layers[2].head(9).weights
    tab.matrix("weights").expect_to_show(weights)
    # Of a number in fractions of pixels, all but a rounding error.
    for each in (tab.heads().nth(9), tab.matrix("weights").cell(7, 7)):
        expect(each).to_be_in_viewport(ratio=0.99)


def test_the_small_pictures_are_the_heads_weights(shared_tab, models):
    tab = shared_tab
    tab.go(step="scores", layer="2")
    steps = models["minilm-l6"].trace("The cat sat on the mat").layers[1]
    lightness = """canvas => { const c = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      return Array.from({length: c.length / 4}, (_, i) => c[4 * i] + c[4 * i + 1] + c[4 * i + 2]); }"""
    for head in (0, 7):
        found = tab.heads().nth(head).locator("canvas").evaluate(lightness)
        weights = steps.head(head).weights.ravel()
        darker = [found[index] for index in np.argsort(weights)]
        # The more weight, the darker: equal shades may stand in any order.
        assert all(one >= other for one, other in itertools.pairwise(darker))
        assert darker[0] > darker[-1]


# A layer in the middle has other layers below and above it; a decoder's has the most parts.
@pytest.mark.parametrize(
    ("model", "query"),
    [
        ("toy", {}),
        ("minilm-l6", {"layer": "3"}),
        ("smollm2-135m", {"layer": "15"}),
        ("translator-fr-en", {"part": "decoder", "layer": "2"}),
        ("translator-fr-en", {"part": "cross", "layer": "2"}),
        ("vit-digits", {"layer": "2"}),
    ],
)
def test_the_dots_of_all_steps_and_the_whole_picture_are_seen_on_a_projector(shared_tab, model, query):
    tab = shared_tab
    tab.page.set_viewport_size(WIDE)
    tab.go(step="scores", model=model, **query)
    dots = the_map(tab).get_by_role("button", name=re.compile("^Step "))
    expect(dots).to_have_count(9)
    for dot in dots.all():
        expect(dot).to_be_in_viewport(ratio=1)
    # Sixteen patches and their scores are taller than a projector.
    if model == "vit-digits":
        return
    picture = tab.matrix("scores").picture.bounding_box()
    # It stands below the sentence.
    assert tab.matrix("scores").root.bounding_box()["y"] <= 205
    assert picture["y"] + picture["height"] <= 720
    assert picture["x"] + picture["width"] <= 1280
    expect_to_fit(tab)


def test_where_it_is_narrow_one_line_opens_the_map_as_a_sheet(new_tab):
    tab = new_tab(viewport=NARROW).go(step="softmax", layer="3", head="9")
    here = the_map(tab)
    line = here.get_by_role("button", name="Layer 3 of 6 · head 9 of 12 · 7 Softmax")
    expect(line).to_have_attribute("aria-expanded", "false")
    expect(here.locator(".base")).to_be_hidden()
    # The heads are below the picture even so, the present one in sight among them.
    line.scroll_into_view_if_needed()
    here.get_by_role("button", name="Head 9", exact=True).evaluate("head => head.scrollIntoView({ block: 'center' })")
    expect(here.get_by_role("button", name="Head 9", exact=True)).to_be_in_viewport(ratio=0.9)
    line.click()
    expect(here.locator(".base")).to_be_visible()
    expect_to_fit(tab)
    line.press("Escape")
    expect(here.locator(".base")).to_be_hidden()
    line.click()
    # Whoever goes somewhere wants to see what is there.
    here.get_by_role("button", name="Step 4: Scores").click()
    tab.expect_query(step="scores", layer="3", head="9")
    expect(here.locator(".base")).to_be_hidden()


def test_each_of_two_models_abreast_has_its_own_map(tab):
    tab.page.set_viewport_size(WIDE)
    tab.go(step="softmax", beside="1", layer="3", head="9")
    expect(the_map(tab)).to_have_count(2)
    one, other = the_map(tab).all()
    expect(other.get_by_role("button", name="Layer 1 of 1 · head 2 of 3 · 7 Softmax")).to_be_visible()
    other.get_by_role("button", name=re.compile("^Head 3")).click()
    tab.expect_query(step="softmax", beside="1", beside_head="3", layer="3", head="9")
    one.get_by_role("button", name="Layer 3 of 6 · head 9 of 12 · 7 Softmax").click()
    one.get_by_role("button", name="Layer 5", exact=True).click()
    tab.expect_query(step="softmax", beside="1", beside_head="3", layer="5", head="9")
    expect_to_fit(tab)


@pytest.mark.parametrize("size", [WIDE, LARGE], ids=["small", "large"])
def test_in_a_room_the_map_is_larger_and_the_picture_as_large_as_before(shared_tab, size):
    tab = shared_tab
    tab.page.set_viewport_size(size)
    tab.go(step="softmax", layer="3", head="9")
    thumb = tab.heads().nth(8).bounding_box()["height"]
    tab.go(step="softmax", layer="3", head="9", present="1")
    large = tab.heads().nth(8)
    assert large.bounding_box()["height"] > 1.1 * thumb
    expect(large).to_be_in_viewport(ratio=1)
    # Folded, it is away.
    heights = [tab.matrix("weights").picture.bounding_box()["height"]]
    tab.go(step="softmax", layer="3", head="9", present="1", map="0")
    expect(the_map(tab)).to_have_count(0)
    heights.append(tab.matrix("weights").picture.bounding_box()["height"])
    assert heights[0] == heights[1]
    expect_to_fit(tab)


@pytest.mark.parametrize("query", [{"beside": "1"}, {"present": "1"}], ids=["side by side", "in a room"])
def test_the_head_that_is_looked_at_is_in_sight_however_little_room_there_is(shared_tab, query):
    tab = shared_tab
    for size in (WIDE, {"width": 390, "height": 844}):
        tab.page.set_viewport_size(size)
        tab.go(step="softmax", layer="3", head="12", **query)
        strip = tab.heads().nth(0).locator("xpath=ancestor::div[contains(@class, 'heads')]")
        box, row = tab.heads().nth(11).bounding_box(), strip.bounding_box()
        assert row["width"] > 250
        assert row["x"] <= box["x"]
        assert box["x"] + box["width"] <= row["x"] + row["width"]
        expect_to_fit(tab)
