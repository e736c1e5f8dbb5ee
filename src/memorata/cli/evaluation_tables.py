"""Scores and comparisons of runs as tables, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memorata.cli.output import Output, one_line

if TYPE_CHECKING:
    from memorata.evaluate.scores import Comparison
    from memorata.evaluate.tables import ScoredRun, Section


def show_runs(output: Output, section: Section, *, macro: bool = False) -> None:
    """Show one row for each run: its measures, half the width of their intervals, and its time."""
    from memorata.evaluate.scores import MeasureScore
    from memorata.evaluate.significance import Interval

    def mean(score: MeasureScore) -> Interval:
        return score.macro if macro else score.micro

    names = list(section.runs[0].scores.measures)
    tops = {name: max(mean(run.scores.measures[name]).mean for run in section.runs) for name in names}
    heads = ["recipe", *names, "ms p50", "ms p95", "embedded"]
    rows: list[list[tuple[str, bool]]] = []
    for run in section.runs:
        cells = [(one_line(run.name), False)]
        for name in names:
            score = mean(run.scores.measures[name])
            best = len(section.runs) > 1 and score.mean == tops[name]
            cells.append((f"{score.mean * 100:.1f} ±{(score.high - score.low) * 50:.1f}", best))
        rows.append(cells + [(text, False) for text in times(run)])
    _table(output, heads, rows)
    over = "kinds of question" if macro else "questions"
    output.say(
        f"Means over {over} in percent, ± half of the 95 % interval. Milliseconds of a search; the last "
        "column is its median together with embedding the question."
    )


def show_comparison(output: Output, comparison: Comparison) -> None:
    """Show one row for each measure: over questions, over kinds, and in each kind."""
    from memorata.evaluate.significance import Difference
    from memorata.evaluate.tables import points

    def cell(gain: Difference) -> tuple[str, bool]:
        text = f"{points(gain.mean)} [{points(gain.low)}, {points(gain.high)}] p {gain.p:.3f}"
        # An interval without 0 in it is highlighted.
        return text, gain.low > 0 or gain.high < 0

    first = next(iter(comparison.measures.values()))
    kinds = list(first.kinds) if len(first.kinds) > 1 else []
    heads = [
        "measure",
        "questions",
        *(["mean of kinds"] if kinds else []),
        *(kind or "other" for kind in kinds),
    ]
    rows = []
    for name, difference in comparison.measures.items():
        differences = [
            difference.micro,
            *([difference.macro] if kinds else []),
            *(difference.kinds[kind] for kind in kinds),
        ]
        rows.append([(name, False), *map(cell, differences)])
    _table(output, heads, rows)


def times(run: ScoredRun) -> list[str]:
    """Return the median and the 95th percentile of a search, and its median with embedding the question."""
    latency, machine = run.scores.latency, run.machine
    if latency is None:
        return ["–"] * 3
    embedding: float | None = 0.0
    if run.scores.header.embedder:
        embedding = None if machine is None else machine.embedding_p50
    total = "–" if embedding is None else f"{latency.p50 + embedding:.1f}"
    return [f"{latency.p50:.2f}", f"{latency.p95:.2f}", total]


def section_json(section: Section) -> dict[str, Any]:
    """Return a section as plain data."""
    runs = []
    for run in section.runs:
        data = run.scores.as_dict()
        if data["abstention"] is not None:
            # The curves have a point for every question; here their areas are enough.
            data["abstention"]["risk_coverage"] = data["abstention"]["risk_coverage"]["area"]
            del data["abstention"]["roc"]
        runs.append({"recipe": run.name, "file": str(run.path), "machine": run.machine, **data})
    return {"dataset": section.dataset, "granularity": section.granularity, "runs": runs}


def _table(output: Output, heads: list[str], rows: list[list[tuple[str, bool]]]) -> None:
    if not output.terminal:
        output.line("\t".join(map(one_line, heads)))
        for row in rows:
            output.line("\t".join(text for text, _ in row))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for number, head in enumerate(heads):
        table.add_column(one_line(head), justify="right" if number else "left", no_wrap=not number)
    for row in rows:
        table.add_row(*(Text(text, "bold green" if best else "") for text, best in row))
    output.show(table)
