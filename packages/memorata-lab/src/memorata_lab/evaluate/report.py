"""The report on runs: Markdown, one page of HTML with everything in it, and drawings as files.

The page fetches nothing, and reads in light and dark. Its drawings (curves over the depth, shares against
shares, bars by name, ranges of time) are SVG written by hand, so that a report needs no drawing library.
Colours are names of CSS variables that the page defines for light and dark; one or two series stand out and
the others stay grey, for a dozen colours say less than three.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final

from memorata_lab.evaluate.tables import (
    BASELINE,
    Cell,
    Section,
    Table,
    abstention,
    by_kind,
    cost,
    differences,
    markdown,
    quality,
)

_BESIDE: Final = 14
"""The longest detail that fits beside its figure."""
_STYLE: Final = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
_COLOURS: Final = _STYLE.partition("\n\n")[0]
"""What every drawing needs of it."""


def write_report(folder: Path, sections: Sequence[Section]) -> tuple[Path, ...]:
    """Write ``report.md`` and ``report.html`` into a folder, made if need be, and return their paths.

    Where some questions cannot be answered, also ``risk-coverage.svg`` and ``roc.svg``; those of a second
    section with such questions end in ``-2``, and so on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"report.md": markdown(sections), "report.html": page(sections)}
    drawn = [
        plots for plots in (abstention_plots(section, highlighted(section)) for section in sections) if plots
    ]
    for number, plots in enumerate(drawn, 1):
        for name, plot in plots.items():
            texts[f"{name}.svg" if number == 1 else f"{name}-{number}.svg"] = standalone(plot)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return tuple(folder / name for name in texts)


def page(sections: Sequence[Section]) -> str:
    """Return the whole page."""
    body = "".join(map(_section, sections))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Evaluation</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>Evaluation</h1>{body}</main></body></html>\n"
    )


def highlighted(section: Section) -> list[str]:
    """Return the runs that have a colour: the best by the first measure, then plain words and vectors."""
    best = section.best_first().runs[0]
    plain = [run.name for name in (BASELINE, "vector") for run in section.runs if run.recipe == name]
    return list(dict.fromkeys([best.name, *plain]))[:3]


def _section(section: Section) -> str:
    main = next(iter(section.runs[0].scores.measures))
    coloured = highlighted(section)
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in section.facts)
    parts = [
        f"<h2>{escape(section.dataset)}, by {escape(section.granularity)}</h2>",
        f'<ul class="facts">{facts}</ul>',
        _card(quality(section)),
        _figure(
            "Questions with a relevant result among the first k",
            curves({run.name: run.curve for run in section.runs}, coloured),
            "The best run, plain words and plain vectors have a colour.",
        ),
        _kinds(section, main, coloured),
        _card(by_kind(section)),
        _card(differences(section)),
        _latency(section, coloured),
        _card(cost(section)),
        _abstention(section, coloured),
        _card(abstention(section)),
    ]
    return "".join(parts)


def _kinds(section: Section, measure: str, coloured: Sequence[str]) -> str:
    counts = section.runs[0].scores.kinds
    if len(counts) < 2:
        return ""
    by_run = {run.name: run.scores.measures[measure].kinds for run in section.runs}
    panels = []
    for kind, count in counts.items():
        drawn = bars(
            {name: kinds[kind].mean for name, kinds in by_run.items()},
            coloured,
            intervals={name: (kinds[kind].low, kinds[kind].high) for name, kinds in by_run.items()},
            label=f"{measure}, {kind}",
        )
        title = f"{escape(kind or 'other')} <span>{count:,} questions</span>"
        panels.append(f"<div><h4>{title}</h4>{drawn}</div>")
    drawn = f'<div class="grid">{"".join(panels)}</div>'
    return _figure(
        f"{measure} by kind of question", drawn, "Percent; the whiskers are 95 % bootstrap intervals."
    )


def _latency(section: Section, coloured: Sequence[str]) -> str:
    times = {
        run.name: (latency.p50, latency.p95, latency.p99)
        for run in section.runs
        if (latency := run.scores.latency) is not None
    }
    return _figure(
        "Time to search, per question",
        ranges(times, coloured),
        "The dot is the median, the thick line ends at the 95th percentile and the thin one at the 99th; a "
        "logarithmic scale. The question's vector is not included.",
    )


def abstention_plots(section: Section, coloured: Sequence[str]) -> dict[str, str]:
    """Return the drawings of how well runs know what they do not know, by name; none if all is answerable."""
    by_run = {run.name: run.scores.abstention for run in section.runs}
    measured = {name: abstention for name, abstention in by_run.items() if abstention is not None}
    if not measured:
        return {}
    both = {name: (found.risk_coverage, found.roc) for name, found in measured.items()}
    return {
        "risk-coverage": shares(
            {name: list(zip(risk.coverage, risk.risk, strict=True)) for name, (risk, _) in both.items()},
            coloured,
            across="questions answered",
            up="answers that are wrong",
            ends={name: f"{risk.area * 100:.1f}" for name, (risk, _) in both.items()},
            label="Risk by coverage",
        ),
        "roc": shares(
            {name: list(zip(roc.false_alarms, roc.hits, strict=True)) for name, (_, roc) in both.items()},
            coloured,
            across="unanswerable ones answered",
            up="answerable ones answered",
            ends={name: f"{found.auroc * 100:.1f}" for name, found in measured.items()},
            diagonal=True,
            label="ROC curve",
        ),
    }


def standalone(drawn: str) -> str:
    """Return a drawing as a file of its own, which brings the colours of the page along."""
    opening, closing, rest = drawn.partition(">")
    style = f"<style>{_COLOURS} svg {{ background: var(--paper); font: 12px system-ui, sans-serif; }}</style>"
    return f'{opening} xmlns="http://www.w3.org/2000/svg"{closing}{style}{rest}\n'


def _abstention(section: Section, coloured: Sequence[str]) -> str:
    drawn = abstention_plots(section, coloured)
    titles = {
        "risk-coverage": "Risk by coverage <span>and the area below, in percent: lower is better</span>",
        "roc": "ROC curve <span>and the area below, in percent: 50 is chance</span>",
    }
    panels = "".join(f"<div><h4>{titles[name]}</h4>{plot}</div>" for name, plot in drawn.items())
    note = (
        "Answering only from a score on, for every score. Left: of the answers given, how many are wrong; an "
        "answer is right if a relevant item is among the first 5, and to an unanswerable question never. "
        "Right: how well the score tells the two kinds of question apart."
    )
    grid = f'<div class="grid pair">{panels}</div>' if drawn else ""
    return _figure("Knowing what one does not know", grid, note)


def _figure(title: str, drawn: str, note: str) -> str:
    """Return a card with a title, what is drawn or tabulated, and how to read it; nothing for nothing."""
    if not drawn:
        return ""
    below = f'<p class="note">{escape(note)}</p>' if note else ""
    return f'<section class="card"><h3>{escape(title)}</h3>{drawn}{below}</section>'


def _card(table: Table | None) -> str:
    if table is None:
        return ""
    heads = "".join(f"<th>{escape(head)}</th>" for head in table.heads)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    # Details that are longer than the figures they belong to stand below them.
    tall = any(len(cell.detail) > _BESIDE for row in table.rows for cell in row)
    opening = '<table class="tall">' if tall else "<table>"
    drawn = f'<div class="scroll">{opening}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    return _figure(table.title, drawn, table.note)


def _cell(cell: Cell) -> str:
    detail = f"<small>{escape(cell.detail)}</small>" if cell.detail else ""
    opening = '<td class="best">' if cell.best else "<td>"
    return f"{opening}{escape(cell.text)}{detail}</td>"


_STANDING_OUT: Final = 3
"""How many series have a colour of their own: --one, --two and --three."""
_LINE: Final = 16
"""The height of a line of text."""


def curves(series: Mapping[str, Sequence[tuple[int, float]]], stand_out: Sequence[str] = ()) -> str:
    """Return lines over a logarithmic depth, each with its name at its right end."""
    depths = sorted({depth for points in series.values() for depth, _ in points})
    if not depths:
        return ""
    width, left, right, top, names = 980, 44, 800, 12, len(series) * _LINE
    bottom = max(380, top + names)
    values = [value for points in series.values() for _, value in points]
    low = math.floor(min(values) * 10) / 10
    high = max(low + 0.1, math.ceil(max(values) * 10) / 10)
    span = math.log(depths[-1] / depths[0]) or 1.0

    def across(depth: int) -> float:
        return left + (right - left) * math.log(depth / depths[0]) / span

    def up(value: float) -> float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    parts = []
    steps = round((high - low) * 10)
    for step in range(steps + 1):
        value = low + step / 10
        parts.append(_rule(left, up(value), right, up(value)))
        parts.append(_text(left - 8, up(value) + 4, f"{value * 100:.0f}%", "end"))
    parts += [_text(across(depth), bottom + 20, str(depth), "middle") for depth in depths]
    parts.append(_text((left + right) / 2, bottom + 40, "results looked at", "middle"))
    # Names stand in the order in which the lines end, each at least a line of text below the one above.
    ends = sorted((up(points[-1][1]), name) for name, points in series.items() if points)
    places = _apart([place for place, _ in ends], top, bottom)
    for (end, name), place in sorted(
        zip(ends, places, strict=True), key=lambda item: item[0][1] in stand_out
    ):
        points = series[name]
        colour, _ = _colour(name, stand_out)
        parts.append(_line([(across(depth), up(value)) for depth, value in points], name, name, stand_out))
        tip = across(points[-1][0])
        parts.append(
            f'<path d="M{tip + 3:.1f} {end:.1f}L{right + 18} {place:.1f}" stroke="{colour}" '
            'stroke-width="0.75" fill="none" opacity="0.6"/>'
        )
        label = f"{_short(name, 20)} {points[-1][1] * 100:.1f}"
        parts.append(_text(right + 22, place + 4, label, "start", name in stand_out, colour))
    return _svg(width, bottom + 50, "Share of questions answered, by depth", parts)


def shares(
    series: Mapping[str, Sequence[tuple[float, float]]],
    stand_out: Sequence[str] = (),
    *,
    across: str,
    up: str,
    ends: Mapping[str, str],
    diagonal: bool = False,
    label: str = "",
) -> str:
    """Return lines of one share over another, both from 0 to 1, with a list of their names beside them."""
    if not series:
        return ""
    width, left, right, top = 500, 64, 320, 12
    bottom = top + (right - left)
    height = max(bottom + 46, top + len(series) * _LINE + 8)

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return left + (right - left) * point[0], bottom - (bottom - top) * point[1]

    parts = []
    for step in range(0, 11, 2):
        x, y = at((step / 10, step / 10))
        parts += [_rule(left, y, right, y), _rule(x, top, x, bottom)]
        parts.append(_text(left - 8, y + 4, f"{step * 10}%", "end"))
        parts.append(_text(x, bottom + 18, f"{step * 10}%", "middle"))
    if diagonal:
        parts.append(
            f'<path d="M{left} {bottom}L{right} {top}" stroke="var(--soft)" stroke-width="1" '
            'stroke-dasharray="4 4"/>'
        )
    parts.append(_text((left + right) / 2, bottom + 38, across, "middle"))
    middle = (top + bottom) / 2
    parts.append(f'<g transform="rotate(-90 14 {middle:.0f})">{_text(14, middle, up, "middle")}</g>')
    for name, points in sorted(series.items(), key=lambda item: item[0] in stand_out):
        parts.append(_line([at(point) for point in points], name, f"{name}: {ends[name]}", stand_out))
    for row, name in enumerate(series):
        colour, strength = _colour(name, stand_out)
        y = top + row * _LINE + 6
        parts.append(
            f'<path d="M{right + 18} {y}h14" stroke="{colour}" stroke-width="{strength}" fill="none"/>'
        )
        label_text = f"{_short(name, 15)} {ends[name]}"
        parts.append(_text(right + 38, y + 4, label_text, "start", name in stand_out, colour))
    return _svg(width, height, label or f"{up}, by {across}", parts)


def bars(
    values: Mapping[str, float],
    stand_out: Sequence[str] = (),
    *,
    intervals: Mapping[str, tuple[float, float]] | None = None,
    label: str = "",
) -> str:
    """Return horizontal bars of shares from 0 to 1, with a whisker where an interval is known."""
    width, left, right = 340, 92, 290
    whiskers = intervals or {}
    parts = []
    for row, (name, value) in enumerate(values.items()):
        top = row * (_LINE + 2)
        colour, _ = _colour(name, stand_out)
        length = (right - left) * value
        title = f"{name}: {value * 100:.1f}"
        if name in whiskers:
            title += f" ({whiskers[name][0] * 100:.1f} to {whiskers[name][1] * 100:.1f})"
        parts.append(_text(left - 8, top + 12, _short(name, 13), "end", name in stand_out))
        parts.append(
            f'<rect x="{left}" y="{top + 2}" width="{length:.1f}" height="{_LINE - 4}" rx="2" '
            f'fill="{colour}"><title>{escape(title)}</title></rect>'
        )
        end = left + length
        if name in whiskers:
            low, high = (left + (right - left) * edge for edge in whiskers[name])
            end = max(end, high)
            parts.append(
                f'<path d="M{low:.1f} {top + 8}H{high:.1f}M{low:.1f} {top + 5}v6M{high:.1f} {top + 5}v6" '
                'stroke="var(--ink)" stroke-width="1" opacity="0.7"/>'
            )
        parts.append(_text(end + 5, top + 12, f"{value * 100:.1f}", "start", name in stand_out))
    return _svg(width, len(values) * (_LINE + 2) + 4, label or "Bars", parts)


def ranges(values: Mapping[str, tuple[float, float, float]], stand_out: Sequence[str] = ()) -> str:
    """Return ranges of milliseconds on a logarithmic scale: median, 95th and 99th percentile."""
    shown = {name: tuple(max(edge, 1e-3) for edge in edges) for name, edges in values.items()}
    if not shown:
        return ""
    width, left, right = 980, 110, 860
    low = 10 ** math.floor(math.log10(min(edges[0] for edges in shown.values())))
    high = 10 ** math.ceil(math.log10(max(max(edges) for edges in shown.values())))
    span = math.log10(high / low) or 1.0
    bottom = len(shown) * (_LINE + 6)

    def across(milliseconds: float) -> float:
        return left + (right - left) * math.log10(milliseconds / low) / span

    parts = []
    for power in range(round(math.log10(low)), round(math.log10(low) + span) + 1):
        at = across(10.0**power)
        parts.append(_rule(at, 0, at, bottom))
        parts.append(_text(at, bottom + 18, f"{10.0**power:g} ms", "middle"))
    for row, (name, (half, most, nearly)) in enumerate(shown.items()):
        middle = row * (_LINE + 6) + 11
        colour, _ = _colour(name, stand_out)
        title = f"{name}: half within {half:.2f} ms, 95 % within {most:.2f}, 99 % within {nearly:.2f}"
        parts.append(_text(left - 10, middle + 4, _short(name, 15), "end", name in stand_out))
        parts.append(
            f'<g stroke="{colour}" stroke-linecap="round"><title>{escape(title)}</title>'
            f'<path d="M{across(half):.1f} {middle}H{across(nearly):.1f}" stroke-width="2"/>'
            f'<path d="M{across(half):.1f} {middle}H{across(most):.1f}" stroke-width="6"/></g>'
        )
        parts.append(f'<circle cx="{across(half):.1f}" cy="{middle}" r="5" fill="{colour}"/>')
        parts.append(
            _text(across(nearly) + 8, middle + 4, f"{half:.2f} · {most:.2f}", "start", name in stand_out)
        )
    return _svg(width, bottom + 26, "Time per question", parts)


def _apart(places: Sequence[float], top: float, bottom: float) -> list[float]:
    """Return ascending places moved as little as needed for a line of text to fit at each."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + _LINE if moved else top))
    for index in range(len(moved) - 1, -1, -1):
        moved[index] = min(moved[index], bottom - (len(moved) - 1 - index) * _LINE)
    return moved


def _colour(name: str, stand_out: Sequence[str]) -> tuple[str, float]:
    if name in stand_out[:_STANDING_OUT]:
        return f"var(--{('one', 'two', 'three')[stand_out.index(name)]})", 2.5
    return "var(--rest)", 1.25


def _line(points: Sequence[tuple[float, float]], name: str, title: str, stand_out: Sequence[str]) -> str:
    colour, strength = _colour(name, stand_out)
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{strength}" '
        f'stroke-linejoin="round"><title>{escape(title)}</title></polyline>'
    )


def _short(name: str, longest: int) -> str:
    """Return a name that fits; the whole of it is in the title of what is drawn."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="var(--rule)" stroke-width="1"/>'


def _text(
    x: float, y: float, text: str, anchor: str, strong: bool = False, colour: str = "var(--soft)"
) -> str:
    weight = ' font-weight="600"' if strong else ""
    fill = colour if colour.startswith("var(--") and strong and colour != "var(--soft)" else "var(--soft)"
    if strong and fill == "var(--soft)":
        fill = "var(--ink)"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}"{weight}>{escape(text)}</text>'


def _svg(width: int, height: float, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height:.0f}" width="{width}" role="img" aria-label="{escape(label)}">'
        + "".join(parts)
        + "</svg>"
    )
