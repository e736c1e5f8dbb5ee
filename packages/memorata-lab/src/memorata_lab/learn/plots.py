"""Four drawings of what was learnt: curves of thresholds, a heat map, calibration, and drift over the weeks.

With matplotlib (``pip install 'packages/memorata-lab[plots]'``), which is only loaded here. Each function
takes what another module returns and writes a PNG or an SVG, whichever the file's name says; the same data
gives the same file.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np

from memorata.extend.errors import InvalidArgument, MissingExtra
from memorata.extend.model import Numbers, Rows, checks
from memorata_lab.learn.calibration import Reliability
from memorata_lab.learn.retune import MISSED_LIMIT, WRONG_LIMIT, Decision, Move
from memorata_lab.learn.thresholds import Choice, Curve, GridChoice

_INK, _SOFT, _RULE = "#1f2933", "#6b7785", "#e3e7eb"
_ONE, _TWO = "#0b6e99", "#c8501e"
_STYLE: Final = {
    "font.size": 10,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _RULE,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "figure.facecolor": "white",
    # Text stays text in an SVG, and its ids are the same each time.
    "svg.fonttype": "none",
    "svg.hashsalt": "memorata",
}
_TOP: Final = 1.02
"""Where an axis of shares ends: a line at 1 should not lie on the frame."""


def draw_thresholds(curve: Curve, choice: Choice, path: str | PathLike[str]) -> Path:
    """Draw precision over recall and the ROC curve, each with the chosen point."""
    with _figure(path, 9.4, 4.4) as figure:
        left, right = figure.subplots(1, 2)
        figure.get_layout_engine().set(wspace=0.08)
        passing = choice.recall > 0 or choice.false_positives > 0
        # The end at which nothing passes: by convention a precision of 1, and the corner of the ROC curve.
        left.plot(np.r_[curve.recall, 0], np.r_[curve.precision, 1], color=_ONE, linewidth=2)
        right.plot(np.r_[curve.false_positives, 0], np.r_[curve.recall, 0], color=_ONE, linewidth=2)
        right.plot([0, 1], [0, 1], color=_SOFT, linewidth=1, linestyle=(0, (4, 3)))
        right.annotate("chance", (0.82, 0.82), xytext=(6, -12), textcoords="offset points", color=_SOFT)
        if passing:
            at = f"similarity ≥ {choice.threshold:.3f}"
            shares = f"precision {choice.precision:.2f}, recall {choice.recall:.2f}"
            # The corner that a falling curve leaves free is on the left, that of a rising one on the right.
            _point(left, choice.recall, choice.precision, f"{at}\n{shares}", 0.03)
            # Zero is added so that what rounds to it has no sign.
            gap = round(choice.recall - choice.false_positives, 2) + 0.0
            shares = f"{choice.false_positives:.0%} of the rest passes, J {gap:.2f}"
            _point(right, choice.false_positives, choice.recall, f"{at}\n{shares}", 0.97)
        _axes(left, "Precision and recall", "recall", "precision", (0, _TOP), (0, _TOP))
        _axes(right, "ROC", "share of what is not relevant that passes", "recall", (-0.02, 1), (0, _TOP))
        if choice.warning is not None:
            figure.suptitle(str(choice.warning), color=_TWO, fontsize=9)
    return Path(path)


def draw_grid(choice: GridChoice, path: str | PathLike[str]) -> Path:
    """Draw the F1 of every pair of thresholds as a heat map, with the chosen one."""
    return draw_heat_map(
        choice.surface,
        {"least similarity": choice.similarities, "least confidence": choice.confidences},
        (choice.similarity, choice.confidence),
        path,
        title="F1 of each pair of thresholds",
        value="F1",
    )


def draw_heat_map(
    values: Rows,
    axes: Mapping[str, Numbers],
    chosen: tuple[float, float],
    path: str | PathLike[str],
    *,
    title: str,
    value: str,
    reached: float | None = None,
) -> Path:
    """Draw a value over a grid of two settings, with the chosen point, which may lie between the steps.

    `axes` are the two settings by name, the one of the rows first; `reached` is the value at the chosen
    point.
    """
    table = checks.matrix("values", values)
    if not isinstance(axes, Mapping) or len(axes) != 2:
        raise InvalidArgument("axes", axes, "two settings by name, with their steps")
    (down, rows), (across, columns) = ((name, checks.numbers(f"axes[{name!r}]", axes[name])) for name in axes)
    if table.shape != (rows.size, columns.size) or not table.size:
        raise InvalidArgument("values", table.shape, f"of shape {(rows.size, columns.size)}, as the axes say")
    at = checks.numbers("chosen", chosen)
    with _figure(path, 6.6, 5.0) as figure:
        ax = figure.subplots()
        ax.grid(visible=False)
        drawn = ax.pcolormesh(columns, rows, table, cmap="cividis", shading="nearest", rasterized=True)
        bar = figure.colorbar(drawn, ax=ax, pad=0.02)
        bar.outline.set_visible(False)
        bar.set_label(value, color=_INK)
        for size, colour, width in ((11, "white", 2.4), (13.5, _INK, 1)):
            ring = {"markersize": size, "markeredgecolor": colour, "markeredgewidth": width}
            ax.plot(at[1], at[0], marker="o", color="none", **ring)
        near = table[int(np.abs(rows - at[0]).argmin()), int(np.abs(columns - at[1]).argmin())]
        best = near if reached is None else checks.number("reached", reached)
        _axes(ax, title, across, down)
        ax.set_title(title, pad=24)
        caption = f"chosen: {down} {at[0]:.3g}, {across} {at[1]:.3g} ({value} {best:.3f})"
        ax.text(0, 1.025, caption, transform=ax.transAxes, color=_SOFT, fontsize=9)
    return Path(path)


def draw_calibration(curves: Mapping[str, Reliability], path: str | PathLike[str]) -> Path:
    """Draw how often what was called likely came true, for one or two ways of saying how likely."""
    if not isinstance(curves, Mapping) or not 1 <= len(curves) <= 2:
        raise InvalidArgument("curves", curves, "one or two curves by name")
    with _figure(path, 5.6, 5.4) as figure:
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], color=_SOFT, linewidth=1, linestyle=(0, (4, 3)), label="keeps its word")
        colours = (_TWO, _ONE) if len(curves) == 2 else (_ONE,)
        for (name, curve), colour in zip(curves.items(), colours, strict=True):
            label = f"{name}: off by {curve.error:.3f} on average"
            ax.plot(curve.predicted, curve.observed, color=colour, linewidth=2, label=label)
            sizes, dots = 20 + 180 * curve.counts / curve.counts.max(), {"alpha": 0.75, "linewidths": 0}
            ax.scatter(curve.predicted, curve.observed, s=sizes, color=colour, zorder=3, **dots)
        ax.legend(loc="upper left", frameon=False, labelcolor=_INK)
        ax.set_aspect("equal")
        names = "Calibration", "probability as said", "share that was relevant"
        _axes(ax, *names, (-0.02, _TOP), (-0.02, 1.2))
        ax.set_yticks(np.linspace(0, 1, 6))
    return Path(path)


def draw_drift(weeks: Mapping[str, Decision], path: str | PathLike[str]) -> Path:
    """Draw the threshold and both error rates week by week, with what the weekly rule did."""
    if not isinstance(weeks, Mapping) or not weeks:
        raise InvalidArgument("weeks", weeks, "at least one week's decision by name")
    names, decisions = list(weeks), list(weeks.values())
    places = np.arange(len(names))
    with _figure(path, 8.4, 5.4) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.2))
        # A week's decision holds from its end, so the line ends one step after the last week.
        line = [decision.before for decision in decisions] + [decisions[-1].after]
        upper.step(np.arange(len(line)) - 0.5, line, where="post", color=_INK, linewidth=2)
        for move, marker, colour in ((Move.LOWERED, "v", _ONE), (Move.RAISED, "^", _TWO)):
            moved = [place for place, decision in enumerate(decisions) if decision.move is move]
            if moved:
                heights, label = [decisions[place].after for place in moved], f"{move.value} after this week"
                points = {"marker": marker, "s": 60, "color": colour, "zorder": 3, "label": label}
                upper.scatter(np.array(moved) + 0.5, heights, **points)
        if upper.get_legend_handles_labels()[0]:
            upper.legend(loc="best", frameon=False, labelcolor=_INK)
        upper.margins(y=0.25)
        _axes(upper, "Threshold", "", "least similarity")
        missed, wrong = ([getattr(decision, name) for decision in decisions] for name in ("missed", "wrong"))
        for rates, limit, colour, name in (
            (missed, MISSED_LIMIT, _ONE, "relevant, but below the threshold"),
            (wrong, WRONG_LIMIT, _TWO, "not relevant, but above it"),
        ):
            lower.plot(places, rates, color=colour, linewidth=2, marker="o", markersize=4, label=name)
            lower.axhline(limit, color=colour, linewidth=1, linestyle=(0, (4, 3)))
            beside = {"xycoords": ("axes fraction", "data"), "xytext": (4, 0), "textcoords": "offset points"}
            lower.annotate(f"limit {limit:.0%}", (1, limit), color=colour, va="center", fontsize=9, **beside)
        lower.legend(loc="upper right", frameon=False, labelcolor=_INK)
        top = max([0.2, *(rate for rate in (*missed, *wrong) if not math.isnan(rate))])
        lower.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        _axes(lower, "Errors, as shares of the week's events", "week", "", None, (0, top * 1.25))
        step = max(1, -(-len(names) // 12))
        lower.set_xticks(places[::step], names[::step])
    return Path(path)


@contextmanager
def _figure(path: str | PathLike[str], width: float, height: float) -> Iterator[Any]:
    """Give a figure to draw on, and write it."""
    kind = Path(path).suffix.lower()
    if kind not in (".png", ".svg"):
        raise InvalidArgument("path", str(path), "a file that ends in .png or .svg")
    try:
        matplotlib = importlib.import_module("matplotlib")
        # The figure itself, not pyplot: nothing global changes, no window opens, and threads may draw.
        figures = importlib.import_module("matplotlib.figure")
    except ImportError as error:
        raise MissingExtra("Drawing", "'packages/memorata-lab[plots]'") from error
    with matplotlib.rc_context(_STYLE):
        figure = figures.Figure(figsize=(width, height), layout="constrained")
        yield figure
        when = {"Date": None} if kind == ".svg" else {}
        figure.savefig(path, dpi=150, metadata=when)


def _axes(
    ax: Any,  # noqa: ANN401 - matplotlib is an extra
    title: str,
    across: str,
    up: str,
    x: tuple[float, float] | None = None,
    y: tuple[float, float] | None = None,
) -> None:
    ax.set_title(title)
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    if x is not None:
        ax.set_xlim(*x)
    if y is not None:
        ax.set_ylim(*y)


def _point(ax: Any, x: float, y: float, caption: str, corner: float) -> None:  # noqa: ANN401
    """Mark the chosen point, and say what it is in a lower corner."""
    ax.plot(
        x, y, marker="o", markersize=9, color=_TWO, markeredgecolor="white", markeredgewidth=1.5, zorder=4
    )
    side = "left" if corner < 0.5 else "right"
    ax.text(corner, 0.04, caption, transform=ax.transAxes, color=_TWO, ha=side, va="bottom", fontsize=9)
