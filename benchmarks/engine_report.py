"""What was measured, beside what was wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

_HEADINGS = ("what", "memories", "measured", "wanted", "met")


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report.

    Parameters
    ----------
    what
        What was measured.
    size
        With how many memories; None where that does not matter.
    measured
        The result in words.
    wanted
        The target in words; empty if there is none.
    met
        Whether it was reached; None if there is no target.
    """

    what: str
    size: int | None
    measured: str
    wanted: str = ""
    met: bool | None = None


@dataclass(frozen=True, slots=True)
class Growth:
    """How things are at one size; times in seconds, sizes in megabytes."""

    size: int
    keywords: float
    natural: float
    p99: float
    rate: float
    first_answer: float
    resident: float
    file: float


def shown(title: str, figures: Iterable[Figure]) -> None:
    """Print the figures as a table."""
    table = Table(title=title, title_justify="left")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right" if heading == "memories" else "left")
    for figure in figures:
        table.add_row(*_cells(figure), style="yellow" if figure.met is False else "")
    Console(width=None if Console().is_terminal else 150).print(table)


def as_markdown(title: str, figures: Sequence[Figure]) -> str:
    """Return the figures as a Markdown table under a heading."""
    rule = ["--:" if heading == "memories" else ":--" for heading in _HEADINGS]
    rows = [_HEADINGS, rule, *map(_cells, figures)]
    return "\n".join([f"### {title}", "", *("| " + " | ".join(row) + " |" for row in rows), ""])


def _cells(figure: Figure) -> list[str]:
    met = {True: "yes", False: "no", None: ""}[figure.met]
    size = "" if figure.size is None else f"{figure.size:,}"
    return [figure.what, size, figure.measured, figure.wanted, met]
