"""A line of points stands inside its drawing, higher where the number is higher."""

from memorata.web.plotting import HEIGHT, WIDTH, plotted

POINTS = [(0.0, 0.5), (0.5, 0.9), (1.0, 0.7)]


def test_points_keep_their_order_and_stay_inside() -> None:
    plot = plotted(POINTS, "share", "ndcg", {"in use": 0.5})
    assert plot is not None
    xs, ys = [each.x for each in plot.points], [each.y for each in plot.points]
    assert xs == sorted(xs)
    assert ys[1] < ys[2] < ys[0]
    assert all(0 < x < WIDTH for x in xs)
    assert all(0 < y < HEIGHT for y in ys)
    assert [tick.text for tick in plot.across] == ["0", "0.5", "1"]
    assert [tick.text for tick in plot.upwards] == ["0.500", "0.900"]


def test_what_is_no_point_is_not_marked() -> None:
    plot = plotted(POINTS, "share", "ndcg", {"in use": 0.55, "found": 1.0})
    assert plot is not None
    assert [mark.label for mark in plot.marks] == ["found"]


def test_a_flat_line_is_in_the_middle() -> None:
    plot = plotted([(0.0, 0.5), (1.0, 0.5)], "x", "y", {})
    assert plot is not None
    assert plot.points[0].y == plot.points[1].y


def test_one_point_is_no_line() -> None:
    assert plotted(POINTS[:1], "x", "y", {}) is None
