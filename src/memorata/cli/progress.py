"""How far something is, for a person at a terminal: a bar on standard error that goes when it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memorata.cli.output import Output


@contextmanager
def progress(output: Output, what: str = "embedding") -> Iterator[Callable[[int, int | None], None]]:
    """Give a function that shows how far it is, on standard error and only to people."""
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    shown = output.errors.is_terminal and not output.quiet and not output.json
    columns = (*Progress.get_default_columns()[:3], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=output.errors, transient=True, disable=not shown) as bar:
        task = bar.add_task(what, total=None)

        def advance(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield advance
