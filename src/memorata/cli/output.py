"""The output of commands: results to standard output, everything else to standard error.

A terminal gets tables and a little colour, a pipe plain lines, ``--json`` one JSON value. Control characters
of memories are made visible, so that no memory can move the cursor or recolour the screen.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from memorata.engine import Engine
    from memorata.model.memory import Memory

_FORCED: Final = {"FORCE_COLOR", "TTY_COMPATIBLE"}
"""The variables that make rich treat a pipe as a terminal."""
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
PROGRESS_SECONDS: Final = 10.0
"""How often a line tells how far the work is, where no bar can be drawn."""
_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB")
_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return text with control characters written out; line ends and tabs stay."""
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str, max_length: int | None = None) -> str:
    r"""Return text on one line, with an ellipsis where it is cut."""
    flat = visible(" ".join(text.split()))
    return flat if max_length is None or len(flat) <= max_length else flat[: max_length - 1] + "…"


def dumps(value: Any, stream: TextIO, indent: int | None = None) -> str:  # noqa: ANN401 - any JSON
    r"""Return JSON that a stream can encode: characters as they are in UTF-8, escaped in any other encoding.

    A stream would escape them in Python's way, which is no JSON.
    """
    escaped = codecs.lookup(stream.encoding or "utf-8").name != "utf-8"
    return json.dumps(value, ensure_ascii=escaped, indent=indent, allow_nan=False)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def memories(number: int) -> str:
    """Return a number of memories, in words."""
    return counted(number, "memory", "memories")


def size(count: float) -> str:
    """Return a number of bytes in the largest unit that fits."""
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} bytes" if unit == 0 else f"{count:.1f} {_UNITS[unit]}"


def may_be_drawn_on(stream: TextIO) -> bool:
    """Return whether rich, which takes longer to load than most commands, has to look at a stream."""
    return stream.isatty() or not _FORCED.isdisjoint(os.environ)


@dataclass(frozen=True)
class Output:
    """The streams of a command: results as JSON if `json`, only results and errors if `quiet`."""

    json: bool = False
    quiet: bool = False

    @cached_property
    def console(self) -> Console:
        """Standard output of a terminal."""
        from rich.console import Console

        return Console(markup=False, highlight=False, emoji=False)

    @cached_property
    def errors(self) -> Console:
        """Standard error of a terminal."""
        from rich.console import Console

        return Console(stderr=True, markup=False, highlight=False, emoji=False)

    @property
    def terminal(self) -> bool:
        """Whether results are drawn on a terminal."""
        return not self.json and self._drawn

    @property
    def _drawn(self) -> bool:
        return may_be_drawn_on(sys.stdout) and self.console.is_terminal

    def data(self, value: Any) -> None:  # noqa: ANN401 - as `plain` takes it
        """Write a result, dataclasses too, as JSON: on one line, or indented at a terminal."""
        from memorata.service.codec import plain

        indent = 2 if self._drawn else None
        self.line(dumps(plain(value), sys.stdout, indent))

    def line(self, text: str) -> None:
        """Write a plain line of the result."""
        sys.stdout.write(text + "\n")

    def show(self, *renderables: RenderableType) -> None:
        """Draw a part of the result."""
        self.console.print(*renderables)

    def pairs(self, rows: Iterable[tuple[str, str]], data: Any = None, note: str = "") -> None:  # noqa: ANN401 - as `plain` takes it
        """Write names and values: in two columns at a terminal, with a tab between in a pipe; or the data."""
        self.table((), rows, style="dim", unbroken=1, data=data, note=note)

    def table(
        self,
        heads: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        style: str = "bold",
        unbroken: int = 0,
        data: Any = None,  # noqa: ANN401 - as `plain` takes it
        note: str = "",
    ) -> None:
        """Write rows under their heads, if there are any; a pipe gets the rows alone, with tabs.

        The first column is in `style`; the first `unbroken` columns are not broken on a narrow terminal. With
        `data`, that is written instead where JSON is wanted. A `note` follows the rows.
        """
        if self.json and data is not None:
            self.data(data)
            return
        self._rows(heads, rows, style, unbroken)
        if note:
            self.say(note)

    def _rows(self, heads: Sequence[str], rows: Iterable[Sequence[str]], style: str, unbroken: int) -> None:
        if not self.terminal:
            for row in rows:
                self.line("\t".join(one_line(cell) for cell in row))
            return
        from rich.table import Table

        table = Table(box=None, show_header=bool(heads), padding=(0, 2, 0, 0), header_style="dim")
        rows = list(rows)
        for column in range(len(rows[0]) if rows else len(heads)):
            table.add_column(
                heads[column] if heads else "",
                style="" if column else style,
                overflow="fold",
                no_wrap=column < unbroken,
                justify="right" if all(row[column].replace(",", "").isdigit() for row in rows) else "left",
            )
        for row in rows:
            table.add_row(*(one_line(cell) for cell in row))
        self.show(table)

    def result(self, data: Any, *lines: str, notes: Iterable[str] = ()) -> None:  # noqa: ANN401 - as `plain` takes it
        """Write a result: `data` as JSON, or `lines` as text and `notes` beside it."""
        if self.json:
            self.data(data)
            return
        for line in lines:
            self.line(line)
        for note in filter(None, notes):
            self.say(note)

    def changed(self, key: str, ids: Sequence[str], verb: str) -> None:
        """Write which memories a command has changed: their number at a terminal, their ids in a pipe."""
        if self.terminal:
            self.show(f"{verb} {memories(len(ids))}.")
        else:
            self.result({key: list(ids)}, *ids)

    def say(self, text: str, style: str = "dim") -> None:
        """Write a note beside the result, unless it is quiet."""
        if not self.quiet:
            self._tell(text, style)

    def warn(self, text: str) -> None:
        """Write a note that should not be missed."""
        self.say(text, "yellow")

    def fail(self, text: str) -> None:
        """Write an error on one line, whether or not it is quiet."""
        self._tell(f"memorata: {one_line(text)}", "red")

    def _tell(self, text: str, style: str) -> None:
        if may_be_drawn_on(sys.stderr):
            self.errors.print(text, style=style, soft_wrap=True)
        else:
            sys.stderr.write(text + "\n")


@contextmanager
def progress(
    output: Output, clock: Callable[[], float] = monotonic, *, in_bytes: bool = False
) -> Iterator[Callable[[str, int, int | None], None]]:
    """Give a function that shows how far each step is: bars at a terminal, else a line now and then."""
    from rich.progress import DownloadColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    if not output.errors.is_terminal:
        last = clock()

        def tell(step: str, done: int, total: int | None) -> None:
            nonlocal last
            if clock() - last >= PROGRESS_SECONDS:
                last = clock()
                output.say(f"{step}: {done:,}" + (f" of {total:,}" if total else ""))

        yield tell
        return
    drawn = not output.quiet and not output.json
    count = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (*Progress.get_default_columns()[:3], count, TimeRemainingColumn())
    with Progress(*columns, console=output.errors, transient=True, disable=not drawn) as bars:
        tasks: dict[str, Any] = {}

        def advance(step: str, done: int, total: int | None) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield advance


# --- memories -----------------------------------------------------------------------------------------


def short_id(id_: str) -> str:
    """Return the part of an id that is shown and may be typed: the random end of a UUID, else all of it."""
    return id_[-12:] if _UUID.fullmatch(id_) else id_


def byline(memory: Memory, *, dated: bool = True) -> str:
    """Return speaker, mark, category, day, tags and id in a line."""
    day = f"{memory.event_time.day} {memory.event_time:%b %Y}" if dated else ""
    mark = "untrusted" if memory.untrusted else ""
    parts = [memory.source.speaker, mark, memory.category, day, *(f"#{tag}" for tag in memory.tags)]
    return " · ".join(visible(part) for part in (*filter(None, parts), f"id {short_id(memory.id)}"))


def speaker_line(memory: Memory) -> str:
    """Return the content of a memory on one line, after its speaker."""
    speaker = memory.source.speaker
    return one_line(f"{speaker}: {memory.content}" if speaker else memory.content)


def plain_line(memory: Memory) -> str:
    """Return a memory as a line for a pipe: its id, its day, its speaker and content, with tabs between."""
    return f"{memory.id}\t{memory.event_time:%Y-%m-%d}\t{speaker_line(memory)}"


def embedder_name(name: str) -> str:
    """Return an embedder's name without the digest that tells its versions apart."""
    return name.partition("@")[0] or "none, words only"


def memory_table(
    memories: Sequence[Memory], reasons: Mapping[str, str] | None = None, heads: Sequence[str] = ()
) -> Table:
    """Return a table of memories, each after its head or else its day, with the reason why it is hidden."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True, style="dim", justify="right")
    table.add_column(ratio=1, overflow="fold")
    days = [f"{memory.event_time:%Y-%m-%d}" for memory in memories]
    for head, memory in zip(heads or days, memories, strict=True):
        hidden = (reasons or {}).get(memory.id, "")
        text = Text(one_line(memory.content, 400), style="dim" if hidden else "")
        text.append(f"\n{byline(memory, dated=bool(heads))}", style="dim")
        if hidden:
            text.append(f" · {hidden}", style="yellow")
        table.add_row(head, text)
    return table


def details(memory: Memory, hidden: str, confidence: float | None = None) -> list[tuple[str, str]]:
    """Return the fields of a memory but the content, as names and values; `confidence` is that of now."""
    decayed = confidence is not None and confidence != memory.confidence
    source, place = memory.source, memory.place
    rows: list[tuple[str, Any]] = [
        ("id", memory.id),
        ("namespace", memory.namespace),
        ("state", hidden or "current"),
        ("category", memory.category),
        ("tier", memory.tier.value),
        (
            "confidence",
            f"{confidence:.3g} by now, {memory.confidence:g} as written"
            if decayed
            else f"{memory.confidence:g}",
        ),
        ("importance", f"{memory.importance:g}"),
        ("pinned", "yes" if memory.pinned else ""),
        ("said", f"{memory.mentions} times" if memory.mentions > 1 else ""),
        ("last supported", _moment(memory.supported_at)),
        ("used", f"{memory.access_count} times" if memory.access_count else ""),
        ("last used", _moment(memory.last_accessed_at)),
        ("tags", ", ".join(memory.tags)),
        ("entities", ", ".join(memory.entities)),
        ("speaker", source.speaker),
        ("role", source.role),
        ("untrusted", "yes" if memory.untrusted else ""),
        ("session", source.session),
        ("position", source.position),
        ("link", source.link),
        ("stored through", source.via),
        ("place", place and f"{place.lat:g}, {place.lon:g} {place.name}".strip()),
        ("learnt", _moment(memory.created_at)),
        ("true from", _moment(memory.valid_from)),
        ("true until", _moment(memory.valid_to)),
        ("expires", _moment(memory.expires_at)),
        ("replaces", ", ".join(memory.supersedes)),
        ("replaced by", memory.superseded_by),
        ("version", memory.version),
        ("metadata", dict(memory.metadata) or ""),
        ("embedder", embedder_name(memory.embedder)),
    ]
    return [(name, visible(str(value))) for name, value in rows if value not in (None, "")]


def hidden_reasons(engine: Engine, memories: Sequence[Memory]) -> dict[str, str]:
    """Return, of the memories that a recall does not show, the reason: superseded or forgotten."""
    reasons = {memory.id: "superseded" for memory in memories if memory.superseded_by is not None}
    unexplained = [memory.id for memory in memories if memory.id not in reasons]
    if unexplained:
        page = engine.list(
            namespace=memories[0].namespace, filter={"id": {"in": unexplained}}, limit=len(unexplained)
        )
        visible_ids = {memory.id for memory in page.memories}
        reasons |= {id_: "forgotten" for id_ in unexplained if id_ not in visible_ids}
    return reasons


def _moment(value: Any) -> str:  # noqa: ANN401 - a datetime or None
    return "" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"
