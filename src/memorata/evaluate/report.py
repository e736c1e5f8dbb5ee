"""The report on runs: Markdown, one page of HTML with everything in it, and drawings as files.

The page fetches nothing, and reads in light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Final

from memorata.evaluate.plots import bars, curves, ranges, shares
from memorata.evaluate.tables import (
    BASELINE,
    Cell,
    ScoredRun,
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
_COLOURS: Final = """
:root { color-scheme: light dark; --paper: #fbfaf8; --card: #fff; --ink: #1d2126; --soft: #5c646e;
  --rule: #e4e2dd; --one: #0b62c4; --two: #b4550a; --three: #7a3fb0; --rest: #b3b8bf; --mark: #e9f1fb; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --card: #1b1f25; --ink: #e8eaed;
  --soft: #9aa3ad; --rule: #2c323a; --one: #6cb0ff; --two: #f2a35c; --three: #c59bf0; --rest: #5a626c;
  --mark: #1f3350; } }
"""
_STYLE: Final = (
    _COLOURS
    + """* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 80px; }
h1 { font-size: 28px; margin: 0 0 4px; letter-spacing: -.01em; }
h2 { font-size: 21px; margin: 48px 0 4px; }
h3 { font-size: 15px; margin: 0 0 12px; }
ul.facts { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 20px; margin: 0 0 18px; padding: 0;
  color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
section.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
  padding: 20px 22px; margin: 16px 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { padding: 5px 10px; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th { color: var(--soft); font-weight: 500; font-size: 13px; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
tr:last-child td { border-bottom: 0; }
td small { color: var(--soft); font-size: 11.5px; margin-left: 4px; }
table.tall td small { display: block; margin: 0; line-height: 1.3; }
td.best { background: var(--mark); font-weight: 600; }
td.best small { font-weight: 400; }
p.note { color: var(--soft); font-size: 13px; margin: 12px 0 0; max-width: 75ch; }
svg { max-width: 100%; height: auto; font: 12px system-ui, sans-serif; display: block; }
/* On a narrow screen a chart scrolls, for its letters must stay readable. */
.wide svg { min-width: 760px; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 22px; }
.grid h4 { margin: 0 0 6px; font-size: 13px; font-weight: 600; }
.grid h4 span { color: var(--soft); font-weight: 400; }
.grid.pair { grid-template-columns: repeat(auto-fit, minmax(400px, 1fr)); }
"""
)


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


def stand_out(section: Section, measure: str) -> list[str]:
    """Return the runs that have a colour: the best by a measure, then plain words and plain vectors."""
    best = max(section.runs, key=lambda run: run.scores.measures[measure].micro.mean)
    plain = [run.name for name in (BASELINE, "vector") for run in section.runs if _recipe(run) == name]
    return list(dict.fromkeys([best.name, *plain]))[:3]


def highlighted(section: Section) -> list[str]:
    """Return the runs that have a colour, the first measure being the one that counts."""
    return stand_out(section, next(iter(section.runs[0].scores.measures)))


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
    return (
        f'<section class="card"><h3>{escape(measure)} by kind of question</h3><div class="grid">'
        f"{''.join(panels)}</div>"
        '<p class="note">Percent; the whiskers are 95 % bootstrap intervals.</p></section>'
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
    return {
        "risk-coverage": shares(
            {
                name: list(zip(abstention.risk_coverage.coverage, abstention.risk_coverage.risk, strict=True))
                for name, abstention in measured.items()
            },
            coloured,
            across="questions answered",
            up="answers that are wrong",
            ends={
                name: f"{abstention.risk_coverage.area * 100:.1f}" for name, abstention in measured.items()
            },
            label="Risk by coverage",
        ),
        "roc": shares(
            {
                name: list(zip(abstention.roc.false_alarms, abstention.roc.hits, strict=True))
                for name, abstention in measured.items()
            },
            coloured,
            across="unanswerable ones answered",
            up="answerable ones answered",
            ends={name: f"{abstention.auroc * 100:.1f}" for name, abstention in measured.items()},
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
    if not drawn:
        return ""
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
    return (
        f'<section class="card"><h3>Knowing what one does not know</h3><div class="grid pair">{panels}</div>'
        f'<p class="note">{note}</p></section>'
    )


def _figure(title: str, drawn: str, note: str) -> str:
    if not drawn:
        return ""
    return (
        f'<section class="card"><h3>{escape(title)}</h3>{drawn}<p class="note">{escape(note)}</p></section>'
    )


def _card(table: Table | None) -> str:
    if table is None:
        return ""
    heads = "".join(f"<th>{escape(head)}</th>" for head in table.heads)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    # Details that are longer than the figures they belong to stand below them.
    tall = any(len(cell.detail) > _BESIDE for row in table.rows for cell in row)
    opening = '<table class="tall">' if tall else "<table>"
    return (
        f'<section class="card"><h3>{escape(table.title)}</h3><div class="scroll">{opening}<thead><tr>{heads}'
        f"</tr></thead><tbody>{rows}</tbody></table></div>{note}</section>"
    )


def _cell(cell: Cell) -> str:
    detail = f"<small>{escape(cell.detail)}</small>" if cell.detail else ""
    opening = '<td class="best">' if cell.best else "<td>"
    return f"{opening}{escape(cell.text)}{detail}</td>"


def _recipe(run: ScoredRun) -> object:
    return run.scores.header.recipe.get("name")
