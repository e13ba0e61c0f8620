"""One picture that stays: a matrix turns into the next step's, and every number on the way is true."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from attention.figures.assets import script
from tests.browser.looks import WIDE
from tests.browser.tab import TWO_FRAMES, is_rounded

TEXT = "The cat sat on the mat"
TURNING = '[data-name="{name}"][data-turning]'
SEEN = """name => {
  const places = document.querySelectorAll('.page .figure');
  const all = [...places].map(each => each.shadowRoot);
  const root = all.map(each => each?.querySelector(`[data-name=${name}]`)).find(Boolean);
  const groups = [...root.querySelectorAll('.cells')].filter(each => getComputedStyle(each).visibility === 'visible');
  return groups.map(group => [...group.querySelectorAll('text')].map(each => each.textContent));
}"""
# What turned, while it is looked at.
WATCH = """() => {
  window.turns = [];
  const root = document.querySelector('.st-key-main_stage')
    .shadowRoot.querySelector('.root');
  root.isTheSame = true;
  new MutationObserver(() => {
    if (root.hasAttribute('data-turning')) window.turns.push(root.dataset.name);
  }).observe(root, { attributes: true, attributeFilter: ['data-turning'] });
}"""
# How often a turn begins in a picture that is new.
COUNT_TURNS = """() => {
  window.turned = 0;
  const set = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name, value) {
    if (name === 'data-turning') window.turned += 1;
    set.call(this, name, value);
  };
}"""
# What is written in the strip of products.
STRIP = """() => {
  const root = document.querySelector('.st-key-main_stage').shadowRoot;
  return [...root.querySelectorAll('.cells > g[visibility=visible] text')].map(each => each.textContent);
}"""
TURNS_IN = """() => [...document.querySelectorAll('.page .figure')]
  .some(each => each.shadowRoot?.querySelector('[data-name=NAME][data-turning]'))"""
IS_THE_SAME = """() => document.querySelector('.st-key-main_stage')
  .shadowRoot.querySelector('.root').isTheSame"""


@pytest.fixture(scope="module")
def shared_tab(new_shared_tab):
    """One tab in which pictures move, for all tests: what they change of it ends with the page that they opened."""
    return new_shared_tab(reduced_motion="no-preference")


@pytest.fixture
def opened(shared_tab):
    """The tab in its wide window, at another link."""
    shared_tab.page.set_viewport_size(WIDE)
    return shared_tab.go


@pytest.fixture(scope="module")
def frames(new_shared_tab):
    """Compute the frames of a change at some moments, as the browser does."""
    code = script("matrix").replace("export default function (", "function component(", 1)
    page = new_shared_tab().page

    def compute(operation, parts, moments):
        # JSON has no −∞.
        given = {
            name: {"numbers": [str(value) for value in part.ravel()]} if isinstance(part, np.ndarray) else part
            for name, part in parts.items()
        }
        found = page.evaluate(
            f"""({{ operation, given, moments }}) => {{
              {code}
              const read = part => part?.numbers
                ? Float32Array.from(part.numbers, text => text === "-inf" ? -Infinity : Number(text)) : part;
              const change = Object.fromEntries(Object.entries(given).map(([name, part]) => [name, read(part)]));
              const write = part => part instanceof Float32Array ? Array.from(part, String) : part;
              const frames = moments.map(moment => TURNS[operation].frame({{ operation, ...change }}, moment));
              return JSON.stringify(frames.map(frame =>
                Object.fromEntries(Object.entries(frame).map(([name, part]) => [name, write(part)]))));
            }}""",
            {"operation": operation, "given": given, "moments": list(moments)},
        )
        return [{name: _numbers(part) for name, part in frame.items()} for frame in json.loads(found)]

    return compute


def _numbers(part):
    """Read numbers that the browser has written."""
    if not isinstance(part, list) or not part:
        return part
    return np.array([str(number).replace("Infinity", "inf") for number in part], np.float32)


@pytest.fixture(scope="module")
def between(frames):
    """Compute the frames between two matrices of the same shape."""

    def compute(operation, before, after, moments, **parts):
        given = {"before": before, "after": after, "columns": before.shape[1], **parts}
        found = frames(operation, given, moments)
        for frame in found:
            for name, part in frame.items():
                if isinstance(part, np.ndarray) and part.size == before.size:
                    frame[name] = part.reshape(before.shape)
        return found

    return compute


@pytest.fixture(scope="module")
def steps(models):
    return models["toy"].trace(TEXT, mask="causal").layers[0].head(1)


def test_a_turn_begins_and_ends_with_the_matrices_of_the_record(between, steps):
    weights = np.where(np.isneginf(steps.mask), -np.inf, steps.weights).astype(np.float32)
    for operation, before, after in (
        ("divide", steps.scores, steps.scaled_scores),
        ("mask", steps.scaled_scores, steps.masked_scores),
        ("softmax", steps.masked_scores, weights),
    ):
        first, last = between(operation, before, after, (0, 1), divisor=8**0.5)
        assert np.array_equal(first["numbers"], before)
        assert np.array_equal(last["numbers"], after)
        assert first["told"] == last["told"] == ""


def test_while_scores_are_divided_each_number_is_the_score_by_what_is_told(between, steps):
    for frame in between("divide", steps.scores, steps.scaled_scores, (0.1, 0.5, 0.9), divisor=8**0.5):
        divisor = float(frame["told"].removeprefix("each number ÷ "))
        assert 1 < divisor < 8**0.5
        np.testing.assert_allclose(frame["numbers"] * divisor, steps.scores, rtol=1e-2)


def test_while_the_mask_falls_a_number_is_itself_or_hidden_as_its_cell_is(between, steps):
    n_before = -1
    for frame in between("mask", steps.scaled_scores, steps.masked_scores, (0.05, 0.3, 0.6, 0.95)):
        is_hidden = np.isneginf(frame["numbers"])
        assert (frame["hatched"][np.isfinite(steps.masked_scores)] == 0).all()
        assert np.array_equal(is_hidden, frame["hatched"] >= 0.5)
        assert np.array_equal(frame["numbers"][~is_hidden], steps.scaled_scores[~is_hidden])
        assert n_before < is_hidden.sum() == int(frame["told"].split()[0])
        n_before = is_hidden.sum()


def test_while_scores_become_weights_bars_grow_to_the_powers_and_are_squeezed_to_one(between, steps):
    scores = steps.masked_scores
    weights = np.where(np.isneginf(scores), -np.inf, steps.weights).astype(np.float32)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    first, grown, squeezed, late = between("softmax", scores, weights, (0.05, 0.4999, 0.8499, 0.95))
    assert np.array_equal(first["numbers"], scores)
    visible = np.isfinite(scores)
    assert np.array_equal(np.isneginf(grown["numbers"]), ~visible)
    np.testing.assert_allclose(grown["numbers"][visible], powers[visible], rtol=1e-5)
    np.testing.assert_allclose(grown["bars"], powers, atol=1e-3)
    np.testing.assert_allclose(squeezed["bars"].sum(axis=1), 1, atol=2e-3)
    np.testing.assert_allclose(squeezed["bars"], steps.weights, atol=2e-3)
    assert np.array_equal(late["numbers"], weights)
    assert (grown["masked"], first["masked"]) == ("0", "−∞")


def test_a_row_that_sees_nothing_gets_no_weight_on_the_way_either(between):
    scores = np.array([[-np.inf, -np.inf], [0, 1]], np.float32)
    weights = np.array([[-np.inf, -np.inf], [0.2689, 0.7311]], np.float32)
    for frame in between("softmax", scores, weights, (0.3, 0.7, 0.9)):
        assert np.isneginf(frame["numbers"][0]).all()
        assert (frame["bars"][0] == 0).all()


def test_the_products_of_each_pair_add_up_to_its_score(frames, steps):
    row, names = 2, ["the", "cat", "sat", "on", "the", "mat"]
    parts = {"row": row, "query": steps.queries[row], "keys": steps.keys, "biases": None}
    given = {**parts, "after": steps.scores, "names": names}
    done, summed = [], set()
    for frame in frames("products", given, np.linspace(0, 1, 60, endpoint=False)):
        numbers = frame["numbers"].reshape(steps.scores.shape)
        is_there = ~np.isnan(numbers)
        assert np.array_equal(numbers[is_there], steps.scores[is_there])
        if not frame["others"]:
            assert not is_there[np.arange(len(names)) != row].any()
        done.append(int(is_there[row].sum()))
        score = steps.queries[row] @ steps.keys[frame["key"]]
        if told := re.search(r" (−?\d+\.\d+)$", frame["told"]):
            assert is_rounded(told[1], score)
            summed.add(frame["key"])
    # One after the other, until all are there.
    assert done == sorted(done)
    assert set(done) == set(range(7))
    assert summed


def test_while_values_are_added_up_each_row_has_its_share_and_the_sum_has_those_that_are_in_it(between, steps):
    row = 3
    weights, values = steps.weights[row], steps.values
    products = weights[:, None] * values
    is_hidden = np.isneginf(steps.mask[row])
    drawn = np.vstack([np.where(is_hidden[:, None], -np.inf, products), steps.head_outputs[row]]).astype(np.float32)
    before = np.vstack([values, np.full(values.shape[1], np.nan)]).astype(np.float32)
    shares = {"weights": weights}
    first, *others = between("share", before, drawn, np.linspace(0, 1, 40, endpoint=False), **shares)
    assert np.array_equal(first["numbers"][:-1], values)
    n_before = 0
    for frame in others:
        sizes, is_in = np.array(frame["sizes"]), np.array(frame["fallen"]) == 1
        if frame["back"]:
            assert np.array_equal(frame["numbers"], drawn)
            continue
        np.testing.assert_allclose(frame["numbers"][:-1], values * sizes[:, None], atol=1e-6)
        assert (sizes >= weights - 1e-6).all()
        # What falls has its share, and no more.
        assert not is_in.any() or np.allclose(sizes, weights)
        if is_in.any():
            np.testing.assert_allclose(frame["numbers"][-1], products[is_in].sum(axis=0), atol=1e-6)
        else:
            assert np.isnan(frame["numbers"][-1]).all()
        assert n_before <= is_in.sum()
        n_before = is_in.sum()
    assert n_before == len(weights)


def test_a_step_plays_once_a_step_back_the_way_back_and_what_the_mask_leaves_alone_keeps_its_colour(opened, steps):
    tab = opened(step="scores", model="toy", mask="causal")
    tab.page.evaluate(WATCH)
    colours = {}
    for name, matrix in (("", "scores"), ("Scale", "scaled"), ("Mask", "masked"), ("Softmax", "weights")):
        if name:
            tab.to_step(name)
        drawn = tab.matrix(matrix).root.locator("rect[data-row]")
        colours[matrix] = drawn.evaluate_all("all => all.map(each => each.getAttribute('fill'))")
    tab.to_step("Mask")
    turns = tab.page.evaluate("() => window.turns")
    assert turns == ["scaled", "masked", "weights", "masked"]
    # It is the same picture all the while.
    assert tab.page.evaluate(IS_THE_SAME)
    tab.matrix("masked").expect_to_show(steps.masked_scores)
    # Another word is no step.
    tab.matrix("masked").click(2, 1)
    tab.settled()
    assert tab.page.evaluate("() => window.turns") == turns
    for scaled, masked, value in zip(colours["scaled"], colours["masked"], steps.masked_scores.ravel(), strict=True):
        assert masked.startswith("url(") if np.isneginf(value) else masked == scaled
    # What is divided by the same number, as the end of its scale is, keeps its colour.
    for before, after in zip(colours["scores"], colours["scaled"], strict=True):
        assert np.abs(np.subtract(_channels(after), _channels(before))).max() <= 2


def _channels(colour):
    return [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]


def test_what_is_kept_and_changed_is_seen_without_scrolling(opened):
    tab = opened(step="scale", model="toy", mask="causal", text="The cat sat on the mat near a")
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    for step in ("Scale", "Softmax"):
        tab.to_step(step)
        expect(tab.page.locator(".changed")).to_be_in_viewport(ratio=1)
        expect(tab.page.locator(".matrix .picture").first).to_be_in_viewport(ratio=0.98)


def test_the_query_meets_each_key_in_its_column(opened, steps):
    tab = opened(step="qkv", model="toy", mask="causal", word="1")
    tab.page.evaluate(COUNT_TURNS)
    tab.to_step("Scores")
    tab.page.wait_for_function("() => window.turned > 0")
    assert tab.page.evaluate("() => window.turned") == 1
    matrix = tab.matrix("scores")
    matrix.expect_to_show(steps.scores)
    slider = tab.page.get_by_role("slider", name="From Q and K to S = Q·Kᵀ")
    # In the middle of the first pair, the products of all dimensions are written.
    slider.fill("220")
    assert slider.get_attribute("aria-valuetext") == "q · k of the: 8 products"
    texts = tab.page.evaluate(STRIP)
    products = steps.queries[1] * steps.keys[0]
    assert len(texts) == products.size
    assert all(is_rounded(text, value) for text, value in zip(texts, products, strict=True))
    matrix.picture.hover(position=_middle(matrix, 1, 0))
    assert matrix.readout.locator("b").inner_text() == "not computed yet"
    # Whatever is pressed shows the scores.
    slider.fill("300")
    tab.page.get_by_role("button", name="Replay").click()
    matrix.picture.press("ArrowDown")
    matrix.expect_to_show(steps.scores)


def test_the_heads_are_joined_and_added_to_the_stream(opened, models):
    layer = models["toy"].trace(TEXT, mask="causal").layers[0]
    tab = opened(step="softmax", model="toy", mask="causal", word="3")
    tab.page.evaluate(COUNT_TURNS)
    tab.to_step("Weighted sum")
    tab.to_step("Heads")
    assert tab.page.evaluate("() => window.turned") == 2
    picture = tab.matrix("joined").root
    # What is kept, and what is made of it: how many heads, and the shapes of what they give and of what joins them.
    expect(picture.locator(".changed")).to_have_text(
        re.compile(rf"\b3\b.*\b6 × 24\b.*\bW_O\b.*\b24 × {layer.inputs.shape[1]}\b.*ΔE")
    )
    slider = tab.page.get_by_role("slider", name="From the heads to All heads side by side")
    change, stream = layer.output()[3], layer.inputs[3]
    for place, vectors in (("800", (change, stream)), ("970", (stream + change,))):
        slider.fill(place)
        lengths = re.findall(r"norm ([\d.]+)", slider.get_attribute("aria-valuetext"))
        assert len(lengths) == len(vectors)
        assert all(is_rounded(text, np.linalg.norm(each)) for text, each in zip(lengths, vectors, strict=True))
    # The words around it, and what is read of a cell, are still those of the matrix.
    slider.fill("1000")
    tab.matrix("joined").expect_to_show(layer.joined())
    # Where steps are left out on the way back, nothing is played.
    tab.page.evaluate("() => { window.turned = 0; }")
    tab.to_step("Scores")
    assert tab.page.evaluate("() => window.turned") == 0


# The steps whose turn is another picture than that of the step before, from the last to the first: how a step is
# called, which picture plays the way back, which step comes, and what is seen there.
WAYS_BACK = (
    ("Heads", "joined", "Weighted sum", "contributions"),
    ("Weighted sum", "contributions", "Softmax", "weights"),
    ("Scores", "scores", "Q · K · V", "queries"),
)
# The last two play another picture at another width, and the first at both.
PLACES_OF_WAYS = ((390, WAYS_BACK[:2]), (1280, WAYS_BACK[::2]))
# What there is in each frame of a way back.
WATCH_LEAVING = """() => {
  window.frames_ = [];
  const look = () => {
    const leaving = document.querySelector('.departing');
    const root = leaving?.shadowRoot.querySelector('.root');
    const coming = document.querySelector('.behind.figure, .behind .figure');
    if (root) window.frames_.push({
      name: root.dataset.name,
      moment: Number(root.querySelector('.stage input').value),
      isInert: leaving.inert,
      shift: [0, 1].map(side => ['left', 'top'].map(name =>
        leaving.getBoundingClientRect()[name] - coming.getBoundingClientRect()[name])[side]),
    });
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.parametrize(("width", "ways"), PLACES_OF_WAYS)
def test_back_plays_the_way_back_over_what_comes(opened, width, ways):
    tab = opened(step="heads", model="toy", word="1")
    tab.page.set_viewport_size({"width": width, "height": 844})
    # A clock that goes slowly: however busy the machine is, there are many frames.
    tab.page.evaluate("""() => {
      const frame = window.requestAnimationFrame;
      window.requestAnimationFrame = next => frame(now => next(now / 4));
    }""")
    tab.page.evaluate(WATCH_LEAVING)
    for step, name, back, found in ways:
        tab.to_step(step)
        tab.page.evaluate("() => { window.frames_ = []; }")
        tab.page.get_by_role("button", name="Back").click()
        expect(tab.current_step).to_contain_text(back)
        tab.page.wait_for_function("() => window.frames_.length && !document.querySelector('.departing')")
        frames = tab.page.evaluate("() => window.frames_")
        assert {frame["name"] for frame in frames} == {name}
        moments = [frame["moment"] for frame in frames]
        assert moments == sorted(moments, reverse=True)
        assert moments[0] > moments[-1]
        assert moments[-1] < 250
        assert all(frame["isInert"] for frame in frames)
        # In the first frames, what comes has not been drawn yet.
        assert all(abs(distance) < 2 for frame in frames[3:] for distance in frame["shift"])
        expect(tab.page.locator(".behind")).to_have_count(0)
        expect(tab.matrix(found).picture).to_be_visible()


def test_a_press_ends_the_way_back_and_is_taken_by_what_comes(opened):
    tab = opened(step="heads", model="toy", word="1")
    # A clock that stands still.
    tab.page.evaluate("""() => {
      const frame = window.requestAnimationFrame;
      window.requestAnimationFrame = next => frame(() => next(0));
    }""")
    for step, name, back, found in WAYS_BACK:
        # What turns in its place never ends by this clock, and waits for nobody.
        if step not in tab.current_step.inner_text():
            tab.steps.get_by_role("button", name=re.compile(rf"^\d {step}$")).click()
            expect(tab.current_step).to_contain_text(step)
        tab.page.get_by_role("button", name="Back").click()
        expect(tab.page.locator(f".departing [data-name={name}][data-turning]")).to_have_count(1)
        expect(tab.current_step).to_contain_text(back)
        tab.matrix(found).click(2, 1)
        expect(tab.page.locator(".departing, .behind")).to_have_count(0)
        tab.page.wait_for_function(
            "place => new URLSearchParams(location.search).get('cell') === place", arg=f"{found}-2-1"
        )
        tab.settled()


def test_in_a_room_the_heads_are_joined_over_what_they_add(opened):
    tab = opened(step="sum", model="toy", present="1")
    tab.page.keyboard.press("PageDown")
    tab.page.wait_for_function(TURNS_IN.replace("NAME", "change"))
    tab.settled()
    expect(tab.page.locator(".changed")).to_contain_text("3")


def test_a_text_is_cut_at_the_borders_of_its_tokens(opened, models):
    tab = opened(step="tokens", model="minilm-l6", text="Jane visits")
    tokens = models["minilm-l6"].trace("Unbelievably, it sat").tokens
    pieces = [token.typed for token in tokens if token.start is not None]
    tab.page.evaluate(COUNT_TURNS)
    tab.type_sentence("Unbelievably, it sat").settled()
    # A new text is cut once, by itself; afterwards, only the tokens are there.
    tab.page.wait_for_function("() => window.turned > 0")
    expect(tab.page.locator(".pieces")).to_have_count(0)
    assert tab.page.evaluate("() => window.turned") == 1
    # Tokens, the words that are cut, and the tokens that the model adds.
    added = r"\D+".join(re.escape(token.text) for token in tokens if token.start is None)
    expect(tab.page.locator(".changed")).to_have_text(re.compile(rf"^\D+{len(tokens)}\D+1\D+{added}\W*$"))
    slider = tab.page.get_by_role("slider", name="From the text to Tokens")
    slider.fill("0")
    line = tab.page.locator(".pieces")
    assert line.text_content() == "Unbelievably, it sat"
    assert line.locator(".piece").all_text_contents() == pieces
    # Each piece ends where its token is.
    slider.fill("650")
    assert slider.get_attribute("aria-valuetext") == f"cut into {len(pieces)} pieces"
    middles = "all => all.map(each => { const box = each.getBoundingClientRect(); return box.x + box.width / 2; })"
    ends = line.locator(".piece").evaluate_all(middles)
    places = tab.chips.locator(".text").evaluate_all(middles)[1:-1]
    np.testing.assert_allclose(ends, places, atol=1)
    # A token that is pressed does not wait.
    tab.page.get_by_role("button", name="Replay").click()
    tab.chips.nth(2).click()
    expect(line).to_have_count(0)


@pytest.mark.quick
def test_a_link_shows_the_end_and_the_slider_the_way_there(opened, steps):
    tab = opened(step="scale", model="toy", mask="causal")
    matrix = tab.matrix("scaled")
    matrix.expect_to_show(steps.scaled_scores)
    assert matrix.root.locator(".name").inner_text() == "S / √dₖ"
    expect(matrix.root.locator(".changed")).to_have_text(re.compile(r"\bS, 6 × 6\b.*÷ 2\.83"))
    slider = tab.page.get_by_role("slider", name="From S to S / √dₖ")
    slider.focus()
    slider.press("Home")
    expect(matrix.root.locator(".name")).to_have_text("S")
    expect(slider).to_have_attribute("aria-valuetext", "S")
    (texts,) = tab.page.evaluate(SEEN, "scaled")
    assert len(texts) == 36
    assert all(is_rounded(text, value) for text, value in zip(texts, steps.scores.ravel(), strict=True))
    # What is read of a cell is what is seen there.
    matrix.picture.hover(position=_middle(matrix, 1, 0))
    assert is_rounded(matrix.readout.locator("b").inner_text(), steps.scores[1, 0])
    # The arrows move the slider, not the page.
    slider.press("ArrowRight")
    expect(tab.current_step).to_have_text("5 Scale")
    slider.press("End")
    expect(matrix.root.locator(".name")).to_have_text("S / √dₖ")
    (texts,) = tab.page.evaluate(SEEN, "scaled")
    assert all(is_rounded(text, value) for text, value in zip(texts, steps.scaled_scores.ravel(), strict=True))


def _middle(matrix, row, column):
    box = matrix.root.locator(f"rect[data-row='{row}'][data-column='{column}']").evaluate(
        "rect => { const [box, around] = [rect, rect.closest('.picture')].map(each => each.getBoundingClientRect());"
        " return [box.x + box.width / 2 - around.x, box.y + box.height / 2 - around.y]; }"
    )
    return dict(zip("xy", box, strict=True))


def test_a_turn_is_short_and_whatever_is_pressed_does_not_wait_for_it(opened):
    tab = opened(step="softmax", model="toy")
    turning = tab.page.locator(TURNING.format(name="weights"))
    # A clock of this test's own.
    tab.page.evaluate("() => { window.requestAnimationFrame = (next) => { window.tick = next; return 0; }; }")
    replay = tab.page.get_by_role("button", name="Replay")
    replay.click()
    expect(turning).to_have_count(1)
    tab.matrix("weights").picture.press("ArrowDown")
    expect(turning).to_have_count(0)
    replay.click()
    tab.page.evaluate("() => { window.tick(1000); window.tick(1600); }")
    expect(turning).to_have_count(1)
    assert len(tab.page.evaluate(SEEN, "weights")) == 1
    tab.page.evaluate("() => window.tick(2200)")
    expect(turning).to_have_count(0)


def test_who_wants_no_motion_gets_two_stills_and_no_way_back(opened, steps):
    tab = opened(step="scale", model="toy", mask="causal")
    # Heard of while the page is there, as of a choice that is made in the system.
    tab.page.emulate_media(reduced_motion="reduce")
    tab.page.evaluate(COUNT_TURNS)
    tab.page.evaluate(WATCH_LEAVING)
    tab.to_step("Mask")
    matrix = tab.matrix("masked")
    expect(tab.page.get_by_role("slider")).to_have_count(0)
    expect(tab.page.get_by_role("button", name="Replay")).to_have_count(0)
    tab.page.get_by_role("button", name="Before: S / √dₖ").click()
    expect(matrix.root.locator(".name")).to_have_text("S / √dₖ")
    (texts,) = tab.page.evaluate(SEEN, "masked")
    assert all(is_rounded(text, value) for text, value in zip(texts, steps.scaled_scores.ravel(), strict=True))
    tab.page.get_by_role("button", name="After: S / √dₖ + M").click()
    (texts,) = tab.page.evaluate(SEEN, "masked")
    assert texts.count("−∞") == 15
    tab.to_step("Heads")
    for step, _, back, _ in WAYS_BACK:
        if step not in tab.current_step.inner_text():
            tab.to_step(step)
        tab.page.get_by_role("button", name="Back").click()
        expect(tab.current_step).to_contain_text(back)
        tab.settled()
    assert tab.page.evaluate("() => [window.turned, window.frames_.length]") == [0, 0]
    tab.page.emulate_media(reduced_motion="no-preference")


@pytest.mark.parametrize("model", ["minilm-l6", "smollm2-135m"])
def test_two_models_have_their_pictures_high_up_and_level_with_one_another(opened, model):
    tab = opened(model=model, step="embed", beside="1")
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    for step, name in (("Embed", "inputs"), ("Scores", "scores"), ("Softmax", "weights")):
        tab.to_step(step).page.evaluate(TWO_FRAMES)
        pictures = [tab.matrix(name, pane).picture for pane in ("main", "other")]
        tops = [each.bounding_box()["y"] for each in pictures]
        assert abs(tops[0] - tops[1]) <= 1, step
        # Below the sentence.
        assert tops[0] <= 325, step
        cells = [each.locator(".cells rect, .cells image").first.bounding_box()["y"] for each in pictures]
        # Labels of columns may be flat above one and slanted above the other.
        if step != "Embed":
            assert abs(cells[0] - cells[1]) <= 1, step
        # What was above the pictures is below them.
        for pane in ("main", "other"):
            assert tab.heads(pane).first.is_visible()
