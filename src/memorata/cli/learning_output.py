"""What learning found, for people at a terminal, for pipes, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memorata.cli.output import one_line
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.evaluate.significance import Difference
    from memorata.learn.validation import Verdict


def table(session: Session, heads: Sequence[str], rows: Sequence[Sequence[str]], *, whole: int = 0) -> None:
    """Show rows under their heads; a pipe gets the rows alone, tabs between their cells.

    The first `whole` columns are of short things, such as ids, that are not broken on a narrow terminal.
    """
    if not session.output.terminal:
        for row in rows:
            session.output.line("\t".join(one_line(cell) for cell in row))
        return
    from rich.table import Table

    drawn = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for place, head in enumerate(heads):
        drawn.add_column(head, style="bold" if place == 0 else "", overflow="fold", no_wrap=place < whole)
    for row in rows:
        drawn.add_row(*(one_line(cell) for cell in row))
    session.output.show(drawn)


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON."""
    from memorata.service.codec import plain

    found: dict[str, Any] = plain(verdict.as_dict())
    return found


def interval(found: Difference) -> str:
    """Return a difference with its interval.

    Examples
    --------
    >>> from memorata.evaluate.significance import Difference
    >>> interval(Difference(0.125, 0.05, 0.2, 0.01))
    '+0.1250 [+0.0500, +0.2000] p 0.0100'
    """
    return f"{found.mean:+.4f} [{found.low:+.4f}, {found.high:+.4f}] p {found.p:.4f}"
