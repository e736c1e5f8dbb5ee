"""The drawings: well-formed, everything inside, names readable, text never taken for markup."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from memorata.evaluate.report import bars, curves, ranges, shares

NAMES = ["bm25", "vector", '<b>&"evil"</b>', "a name that is longer than any label can be"]


def parsed(drawn: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawn)


DRAWN = {
    "curves": curves({name: [(1, 0.2), (5, 0.6), (50, 0.9)] for name in NAMES}, ["vector"]),
    "bars": bars(dict.fromkeys(NAMES, 0.5), ["vector"], intervals={"bm25": (0.4, 0.6)}),
    "shares": shares(
        {name: [(0.0, 0.1), (0.5, 0.6), (1.0, 1.0)] for name in NAMES},
        ["vector"],
        across="answered",
        up="wrong",
        ends=dict.fromkeys(NAMES, "7.5"),
        diagonal=True,
    ),
    "ranges": ranges(dict.fromkeys(NAMES, (1.0, 5.0, 12.0)), ["vector"]),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_series_has_its_name_and_is_well_formed(name: str) -> None:
    root = parsed(DRAWN[name])
    said = " ".join(root.itertext())
    assert all(each in said for each in NAMES)
    assert "<b>" not in DRAWN[name]


@pytest.mark.parametrize("name", DRAWN)
def test_everything_lies_inside(name: str) -> None:
    root = parsed(DRAWN[name])
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for text in root.iter("text"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height
    for line in root.iter("polyline"):
        for x, y in re.findall(r"([\d.]+),([\d.]+)", line.attrib["points"]):
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= height


def test_colours_are_those_of_the_page() -> None:
    for drawn in DRAWN.values():
        assert "var(--one)" in drawn
        assert not re.search(r"#[0-9a-f]{3}", drawn)


def test_names_at_the_ends_of_lines_do_not_cover_each_other() -> None:
    series = {f"run {number}": [(1, 0.1), (10, 0.5 + number / 1000)] for number in range(30)}
    root = parsed(curves(series))
    places = sorted(
        float(text.attrib["y"]) for text in root.iter("text") if (text.text or "").startswith("run")
    )
    gaps = [after - before for before, after in pairwise(places)]
    assert len(places) == 30
    assert min(gaps) >= 15.9


def test_a_higher_share_is_drawn_higher_and_a_deeper_one_further_right() -> None:
    (line,) = parsed(curves({"x": [(1, 0.2), (10, 0.8)]})).iter("polyline")
    (x1, y1), (x2, y2) = re.findall(r"([\d.]+),([\d.]+)", line.attrib["points"])
    assert float(x2) > float(x1)
    assert float(y2) < float(y1)


def test_a_share_is_drawn_where_it_belongs_and_beside_it_its_figure() -> None:
    drawn = shares({"x": [(0.0, 0.0), (1.0, 1.0)]}, across="a", up="b", ends={"x": "62.5"})
    (line,) = parsed(drawn).iter("polyline")
    (x1, y1), (x2, y2) = re.findall(r"([\d.]+),([\d.]+)", line.attrib["points"])
    # The field is a square: equal shares are equal lengths.
    assert float(x2) - float(x1) == float(y1) - float(y2) == 256
    said = [text.text for text in parsed(drawn).iter("text")]
    assert {"a", "b", "x 62.5", "0%", "100%"} <= set(said)
    assert "stroke-dasharray" not in drawn


def test_many_names_beside_shares_make_the_drawing_taller() -> None:
    many = {f"run {number}": [(0.0, 0.0)] for number in range(40)}
    root = parsed(shares(many, across="a", up="b", ends=dict.fromkeys(many, "1")))
    lowest = max(float(text.attrib["y"]) for text in root.iter("text"))
    assert lowest < float(root.attrib["viewBox"].split()[3])


def test_bars_are_as_long_as_their_values() -> None:
    whole, half, none = parsed(bars({"a": 1.0, "b": 0.5, "c": 0.0})).iter("rect")
    assert float(whole.attrib["width"]) == 2 * float(half.attrib["width"])
    assert float(none.attrib["width"]) == 0


def test_nothing_is_drawn_of_nothing_and_one_point_is_enough() -> None:
    assert curves({}) == ranges({}) == shares({}, across="a", up="b", ends={}) == ""
    assert "polyline" in curves({"x": [(1, 1.0)]})
    assert "circle" in ranges({"x": (0.0, 0.0, 0.0)})
