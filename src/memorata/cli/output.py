"""What goes where: results to standard output, everything else to standard error.

People at a terminal get tables and a little colour; a pipe gets plain lines; ``--json`` gets one JSON value.
What was remembered is shown with its control characters made visible, so that no memory can move the cursor
or recolour the terminal of the person who reads it.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_ASKED_FOR: Final = {"FORCE_COLOR", "TTY_COMPATIBLE"}
"""The variables by which rich is told to treat a pipe as a terminal."""
_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return text with control characters written out; line ends and tabs stay.

    Examples
    --------
    >>> visible("red \x1b[31malert")
    'red \\x1b[31malert'
    """
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str, longest: int | None = None) -> str:
    r"""Return text on one line, with an ellipsis where it is cut.

    Examples
    --------
    >>> one_line("first line\n  second line", longest=16)
    'first line seco…'
    """
    flat = visible(" ".join(text.split()))
    return flat if longest is None or len(flat) <= longest else flat[: longest - 1] + "…"


def written(value: Any, stream: TextIO, indent: int | None = None) -> str:  # noqa: ANN401 - any JSON
    r"""Return JSON as a stream can hold it: its characters in UTF-8, their numbers in any other encoding.

    What a stream cannot hold it writes in Python's way, which is none that JSON knows.

    Examples
    --------
    >>> import io
    >>> written("Zoë", io.TextIOWrapper(io.BytesIO(), "ascii"))
    '"Zo\\u00eb"'
    """
    plain = codecs.lookup(stream.encoding or "utf-8").name != "utf-8"
    return json.dumps(value, ensure_ascii=plain, indent=indent, allow_nan=False)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "memory", "memories"), counted(1200, "hit")
    ('1 memory', '1,200 hits')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def may_be_drawn_on(stream: TextIO) -> bool:
    """Return whether rich has to be asked what a stream can show.

    It takes longer to load than a command in a pipe, which it has nothing to do with, takes to run.

    Examples
    --------
    >>> import io
    >>> may_be_drawn_on(io.StringIO()) and not _ASKED_FOR & os.environ.keys()
    False
    """
    return stream.isatty() or not _ASKED_FOR.isdisjoint(os.environ)


@dataclass(frozen=True)
class Output:
    """The two streams of a command.

    Parameters
    ----------
    json
        Whether results are wanted as JSON.
    quiet
        Whether to leave out everything but results and errors.
    """

    json: bool = False
    quiet: bool = False

    @cached_property
    def console(self) -> Console:
        """Standard output, for people."""
        from rich.console import Console

        return Console(markup=False, highlight=False, emoji=False)

    @cached_property
    def errors(self) -> Console:
        """Standard error, for people."""
        from rich.console import Console

        return Console(stderr=True, markup=False, highlight=False, emoji=False)

    @property
    def terminal(self) -> bool:
        """Whether a person is looking at the results."""
        return not self.json and self._drawn

    @property
    def _drawn(self) -> bool:
        return may_be_drawn_on(sys.stdout) and self.console.is_terminal

    def data(self, value: Any) -> None:  # noqa: ANN401 - any JSON
        """Write a result as JSON: on one line, or indented for a person who is looking."""
        indent = 2 if self._drawn else None
        self.line(written(value, sys.stdout, indent))

    def line(self, text: str) -> None:
        """Write a plain line of the result."""
        sys.stdout.write(text + "\n")

    def show(self, *renderables: RenderableType) -> None:
        """Draw a part of the result."""
        self.console.print(*renderables)

    def pairs(self, rows: Iterable[tuple[str, str]]) -> None:
        """Write names and what they stand for: in two columns for people, with a tab between in a pipe."""
        if not self.terminal:
            for name, value in rows:
                self.line(f"{name}\t{value}")
            return
        from rich.table import Table

        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for row in rows:
            table.add_row(*row)
        self.show(table)

    def say(self, text: str, style: str = "dim") -> None:
        """Tell the person something beside the result."""
        if not self.quiet:
            self._tell(text, style)

    def warn(self, text: str) -> None:
        """Tell the person something they should not miss."""
        self.say(text, "yellow")

    def fail(self, text: str) -> None:
        """Say what went wrong, on one line, whether or not it is quiet."""
        self._tell(f"memorata: {one_line(text)}", "red")

    def _tell(self, text: str, style: str) -> None:
        if may_be_drawn_on(sys.stderr):
            self.errors.print(text, style=style, soft_wrap=True)
        else:
            sys.stderr.write(text + "\n")
