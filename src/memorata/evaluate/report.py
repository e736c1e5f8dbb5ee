"""A report on runs: Markdown for the repository, one self-contained page for the eye, drawings as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memorata.evaluate.report_html import emphasised, page, silence_plots, standalone
from memorata.evaluate.report_tables import Cell, Table, tables
from memorata.evaluate.scored import Section


def write_report(folder: Path, sections: Sequence[Section]) -> tuple[Path, ...]:
    """Write ``report.md`` and ``report.html`` into a folder, made if need be, and return their paths.

    Where some questions cannot be answered, also ``risk-coverage.svg`` and ``roc.svg``; those of a second
    section with such questions end in ``-2``, and so on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"report.md": markdown(sections), "report.html": page(sections)}
    drawn = [
        plots for plots in (silence_plots(section, emphasised(section)) for section in sections) if plots
    ]
    for number, plots in enumerate(drawn, 1):
        for name, plot in plots.items():
            texts[f"{name}.svg" if number == 1 else f"{name}-{number}.svg"] = standalone(plot)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return tuple(folder / name for name in texts)


def markdown(sections: Sequence[Section]) -> str:
    r"""Return the report in Markdown.

    Examples
    --------
    >>> markdown([])
    '# Evaluation\n'
    """
    parts = ["# Evaluation"]
    for section in sections:
        parts.append(f"## {_escaped(section.dataset)}, by {section.granularity}")
        parts.append("\n".join(f"- {_escaped(fact)}" for fact in section.facts))
        for table in tables(section):
            parts += [f"### {_escaped(table.title)}", markdown_table(table)]
            parts += [table.note] if table.note else []
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table) -> str:
    r"""Return a table in Markdown; the best of a column is bold.

    Examples
    --------
    >>> print(markdown_table(Table("", ("recipe", "mrr"), ((Cell("a|b"), Cell("50.0", best=True)),))))
    | recipe | mrr |
    |---|---:|
    | a\|b | **50.0** |
    """
    heads = " | ".join(map(_escaped, table.heads))
    rule = "|".join(["---", *["---:"] * (len(table.heads) - 1)])
    rows = ["| " + " | ".join(map(_cell, row)) + " |" for row in table.rows]
    return "\n".join([f"| {heads} |", f"|{rule}|", *rows])


def _cell(cell: Cell) -> str:
    said = f"**{_escaped(cell.text)}**" if cell.best else _escaped(cell.text)
    return f"{said} {_escaped(cell.detail)}" if cell.detail else said


def _escaped(text: str) -> str:
    """Return a text that Markdown takes for nothing but text."""
    flat = " ".join(text.split())
    for mark in "\\|*`<":
        flat = flat.replace(mark, f"\\{mark}")
    return flat
