"""Charts as Plotly figures: they contain the arrays' numbers, and no name is read as HTML."""

import html

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from attention.figures import charts
from attention.figures.charts import Chart, Curve
from attention.figures.plane import Chain, plane_of_arrows
from attention.lesson.tables import chart_table
from tests.drawn import arrows, current, way_of

VALUES = np.array([[0.5, 0.25, 0.125], [0.0, 1.0, 0.75]], np.float32)
anything = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


def sent(figure):
    """What the browser gets."""
    return Chart(figure).payload()


# ------------------------------------------------------------------------------------------ heads and layers


def test_a_point_of_every_head_lies_at_its_layer_and_names_itself():
    mean, heads = charts.layers(VALUES, "Entropy", "nats", (1, 2), is_share=False).data
    assert mean.y.tolist() == VALUES.mean(axis=1).tolist()
    assert heads.y.tolist() == VALUES.ravel().tolist()
    assert np.round(heads.x).tolist() == [1, 1, 1, 2, 2, 2]
    assert len(set(heads.x)) == 6
    assert heads.customdata.tolist() == [[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3]]
    assert heads.hovertext[current(heads)] == "layer 2, head 3"


def test_a_chart_is_pressed_only_where_points_stand_for_heads():
    heads = Chart(charts.lengths(["head 1", "head 2"], [1, 2], "", heads=((3, 0), (3, 1)), current=1))
    assert heads.said("choose", {"layer": 3, "head": 1}) == {"layer": "4", "head": "2"}
    assert heads.said("choose", {"layer": 2, "head": 0}) is None
    assert Chart(charts.lengths(["a"], [1], "")).said("choose", {"layer": 0, "head": 0}) is None


def test_points_of_one_layer_lie_among_lines_of_all():
    raw, rolled, flow = charts.by_layer(
        [("raw", VALUES[0]), ("rolled", VALUES[1])], "", "", (-1, 1), [("flow", 1, 0.5)]
    ).data
    assert (raw.y.tolist(), rolled.y.tolist()) == (VALUES[0].tolist(), VALUES[1].tolist())
    assert (flow.x.tolist(), flow.y.tolist()) == ([2], [0.5])


# ------------------------------------------------------------------------------------------------- lines


def test_sizes_lie_where_they_are_on_axes_of_factors_and_nothing_lies_nowhere():
    figure = charts.factors((1, 10, 1000), [Curve("a", np.array([1, 10]), np.array([0.0, 5.0]))], "", "", "tokens")
    (curve,) = figure.data
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    assert curve.x.tolist() == [1, 10]
    low, high = figure.layout.xaxis.range
    # All sizes are on the axis, though there is no point yet.
    assert low < 0 < 3 < high < 3.2


@given(st.integers(1, 2000))
def test_whole_numbers_are_written_at_round_steps_and_have_room(last):
    figure = charts.lines([("a", np.zeros(last + 1))], "", "", "position")
    ticks = np.array(figure.layout.xaxis.tickvals)
    assert ticks[0] == 0
    assert len(ticks) <= 13
    assert len(set(np.diff(ticks))) == 1


# -------------------------------------------------------------------------------------------------- bars


@given(arrays.arrays(np.float32, (4, 4), elements=st.floats(-100, 100, width=32)), st.floats(0.05, 1))
def test_every_score_is_counted_in_the_bin_where_it_lies(before, scale):
    after = before * np.float32(scale)
    for bars, scores in zip(charts.spread(before, after, "dot products").data, (before, after), strict=True):
        assert bars.y.sum() == scores.size
        half = np.diff(bars.x).max() / 2
        for centre, count in zip(bars.x, bars.y, strict=True):
            near = np.abs(scores - centre)
            assert (near < half * 0.99 - 1e-4).sum() <= count <= (near <= half * 1.01 + 1e-4).sum()


def test_scores_that_are_all_the_same_are_drawn():
    bars = charts.spread(np.zeros((2, 2)), np.zeros((2, 2)), "dot products").data
    assert [each.y.sum() for each in bars] == [4, 4]


def test_two_bars_of_a_thing_stand_at_its_place_though_others_have_its_name():
    figure = charts.shares(VALUES[0], VALUES[1], ("the", "cat", "the"), "Shares", "Some shares.")
    before, after = figure.data
    assert before.x.tolist() == after.x.tolist() == figure.layout.xaxis.tickvals.tolist() == [0, 1, 2]
    assert list(figure.layout.xaxis.ticktext) == ["the", "cat", "the"]
    assert (before.y.tolist(), after.y.tolist()) == (VALUES[0].tolist(), VALUES[1].tolist())


def test_medians_lie_across_the_places_of_their_points():
    once, medians = charts.spots(("one", "two"), VALUES, np.median(VALUES, axis=1), "moves").data
    assert once.y.tolist() == VALUES.ravel().tolist()
    assert medians.y.tolist() == [0.25, 0.75]
    assert np.round(once.x).tolist() == [0, 0, 0, 1, 1, 1]


# ------------------------------------------------------------------------------------------------ arrows


def test_arrows_lead_from_place_to_place_as_they_were_given():
    places = np.array([[0.5, 1], [2, -3], [4, 0]])
    chain = Chain("sat", places, ("one", "two"), ("sent", "other"))
    figure = plane_of_arrows([chain], {"sent": "sent", "other": "else"}, "", "", ("x", "y"))
    found = [arrow for trace in figure.data if trace.hoverinfo != "skip" for arrow in arrows(trace)]
    way, path = way_of(found)
    np.testing.assert_allclose(way, places)
    assert [(arrow.label, arrow.ink) for arrow in path] == [("one", "sent"), ("two", "other")]
    assert figure.layout.yaxis.scaleanchor == "x"


# ---------------------------------------------------------------------------------- what the browser gets


@given(anything)
def test_names_are_escaped_and_a_table_has_them_as_they_are(name):
    figure = charts.compared((name, "b"), (name, np.ones(2)), ("after", np.zeros(2)), name, name)
    written = [figure.layout.title.text, *figure.layout.xaxis.ticktext, *(trace.name for trace in figure.data)]
    assert not any(set("<>") & set(each) for each in written)
    assert html.unescape(figure.data[0].name) == (name if name.strip() else "␣")
    assert (sent(figure)["title"], sent(figure)["alt"]) == (name, name)


def test_a_table_has_every_number_of_a_chart_where_it_is():
    assert chart_table(charts.lengths(["a", "<b>"], [0.1, 2], "")) == {
        "label": ["a", "<b>"],
        "place": ["0.0", "1.0"],
        "value": ["0.1", "2.0"],
    }
    table = chart_table(charts.shares(VALUES[0], VALUES[1], ("x", "y", "z"), "", ""))
    assert table["line"] == ["before scaling"] * 3 + ["after scaling"] * 3
    assert table["label"] == ["x", "y", "z"] * 2
    assert list(map(float, table["value"])) == [*VALUES[0], *VALUES[1]]


def test_numbers_travel_packed_and_without_the_template():
    found = sent(charts.layers(np.zeros((6, 12), np.float32), "Heads", "", (0, 0), is_share=True))
    _, heads = found["data"]
    assert heads["y"]["dtype"] == "f4"
    assert "template" not in found["layout"]
    empty = Chain("", np.zeros((2, 2)), ("one",), ("sent",))
    assert sent(plane_of_arrows([empty], {"sent": ""}, "", "", ("x", "y")))["data"]


def test_curves_of_a_group_are_switched_together_by_one_entry_of_the_legend():
    curves = [Curve(name, np.arange(2), np.ones(2), "#868e99", group=name[0]) for name in ("a1", "b1", "a2")]
    data = charts.stages(curves, "", "", n_steps=1, limits=(0, 1), axis="steps").data
    assert [(trace.name, trace.legendgroup) for trace in data if trace.showlegend] == [("a", "a"), ("b", "b")]
    assert [(trace.name, trace.legendgroup) for trace in data[:3]] == [("a1", "a"), ("b1", "b"), ("a2", "a")]
