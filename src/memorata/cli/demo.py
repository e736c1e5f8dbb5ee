"""The demo: seven months of a made-up life are remembered, then asked about, one idea at a time.

The conversation was written for this purpose and ships with the package. Everything below the import is what
the engine really answers: each step prints the call, makes it, draws the result, and says what to look at.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from memorata._frozen import frozen
from memorata.cli.output import counted, one_line
from memorata.cli.recalling import explanation_tree, hits_table, signals
from memorata.cli.show_memory import embedder_name, hidden_reasons, memory_table
from memorata.engine import Engine, RecallResult
from memorata.engine import open as open_memory
from memorata.engine.recall.recaller import tokens
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.service.codec import memory_arguments

if TYPE_CHECKING:
    from rich.console import Console

CONVERSATION: Final = "demo_conversation.jsonl"
ASKED: Final = datetime(2026, 11, 15, 9, tzinfo=UTC)
"""When the questions are asked: two days after the conversation ends."""


def conversation() -> tuple[Memory, ...]:
    """Return the memories of the demo, oldest first.

    Examples
    --------
    >>> first = conversation()[0]
    >>> first.source.speaker, first.created_at.year
    ('Ines', 2026)
    """
    lines = files("memorata.cli").joinpath(CONVERSATION).read_text(encoding="utf-8").splitlines()
    return tuple(Memory(**memory_arguments(json.loads(line))) for line in lines)


def demo(
    database: Path | None = None, *, embedder: str = "auto", console: Console | None = None
) -> Mapping[str, RecallResult]:
    """Walk through remembering and recalling; return what was recalled, by the name of the step.

    Parameters
    ----------
    database
        Where to keep the memories; a file that does not exist yet. None for one that is thrown away.
    embedder
        What measures meaning, as for :func:`memorata.open`.
    console
        Where to draw; None for standard output.

    Examples
    --------
    >>> from io import StringIO
    >>> from rich.console import Console
    >>> answers = demo(embedder="lexical", console=Console(file=StringIO()))
    >>> len(answers["nonsense"]), answers["nonsense"].rejected is None
    (0, False)
    """
    from rich.console import Console

    shown = Console(markup=False, highlight=False, emoji=False) if console is None else console
    if database is not None:
        if database.exists():
            raise InvalidArgument("database", str(database), "a file that does not exist yet")
        return _walk(database, embedder, shown)
    with tempfile.TemporaryDirectory(prefix="memorata-demo-") as folder:
        return _walk(Path(folder) / "demo.db", embedder, shown)


class _Clock:
    """A clock that is set by hand, so that every session is remembered on its own day."""

    def __init__(self) -> None:
        self.now = ASKED

    def __call__(self) -> datetime:
        return self.now


def _walk(path: Path, embedder: str, console: Console) -> Mapping[str, RecallResult]:
    clock, started = _Clock(), perf_counter()
    with open_memory(path, embedder=embedder, clock=clock) as memory:
        _remember(memory, clock, console)
        walk = _Walk(memory, console)
        for number, (title, step) in enumerate(_STEPS, 1):
            console.print()
            _heading(console, f"{number} of {len(_STEPS)} · {title}")
            step(walk)
    console.print()
    console.rule(style="cyan")
    took = perf_counter() - started
    console.print(f"All of this took {took:.1f} seconds, and nothing left this machine.")
    if path.parent.name.startswith("memorata-demo-"):
        console.print("The memories are thrown away now; memorata demo --keep FILE keeps them.", style="dim")
    else:
        console.print(f'Ask on: memorata recall --db {path} "…"', style="dim")
    return walk.answers


def _remember(memory: Engine, clock: _Clock, console: Console) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    said = conversation()
    people = {each.source.speaker for each in said}
    _heading(console, "Memorata: remember, recall, and say why")
    name = embedder_name(memory.embedder.name if memory.embedder is not None else "")
    console.print(f"Meaning is measured by {name}.")
    for note in memory.notes:
        console.print(f"Note: {note}", style="yellow")
    started = perf_counter()
    columns = (TextColumn("Remembering"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(said))
        for _, session in groupby(said, key=lambda each: each.source.session):
            turns = list(session)
            # A correction ends what it corrects at the moment the engine hears of it, hence the clock.
            clock.now = turns[-1].created_at
            memory.remember_many(turns)
            progress.advance(task, len(turns))
    clock.now = ASKED
    took = perf_counter() - started
    console.print(
        f"Remembered {counted(len(said), 'thing')} that {counted(len(people), 'person', 'people')} said in "
        f"{counted(len({each.source.session for each in said}), 'conversation')}, from "
        f"{_day(said[0].created_at)} to {_day(said[-1].created_at)}: "
        f"{counted(sum(bool(each.supersedes) for each in said), 'correction')}, "
        f"{counted(len({each.place for each in said} - {None}), 'place')}, three languages, "
        f"in {took:.1f} seconds."
    )


@frozen
class _Walk:
    """The memory that is asked, where answers are drawn, and what was answered so far."""

    memory: Engine
    console: Console
    answers: dict[str, RecallResult] = field(default_factory=dict)

    def recall(self, name: str, text: str, **options: Any) -> RecallResult:  # noqa: ANN401 - as recall takes them
        """Show the call, make it, and show what it returned."""
        self.call("found = memory.recall", text, **options)
        found = self.memory.recall(text, **options)
        self.answers[name] = found
        if found.hits:
            self.console.print(hits_table(found.hits))
        else:
            self.console.print("No memory is good enough.", style="bold")
        if found.rejected is not None:
            best = found.rejected.hit.memory
            self.console.print(f"The best one rejected: “{one_line(best.content, 120)}”")
            self.console.print(f"What it missed: {found.rejected.reason}.")
        for weakness in found.degraded:
            self.console.print(f"Note: {weakness}", style="yellow")
        spent = found.milliseconds
        first = "; the first question also loads the index" if len(self.answers) == 1 else ""
        self.console.print(
            f"{spent['embedding']:.1f} ms to embed the question, {spent['search']:.1f} ms to search{first}",
            style="dim",
        )
        return found

    def call(self, method: str, *arguments: object, **options: object) -> None:
        """Show a call as one would type it."""
        given = [*map(_typed, arguments), *(f"{name}={_typed(value)}" for name, value in options.items())]
        self.console.print()
        self.console.print(f">>> {method}({', '.join(given)})", style="bold")

    def notice(self, text: str) -> None:
        """Say what to look at."""
        from rich.text import Text

        self.console.print()
        self.console.print(Text.assemble(("Notice  ", "bold green"), text))


def _hybrid(walk: _Walk) -> None:
    found = walk.recall("hybrid", "Why did we move the job queue to PostgreSQL?", limit=3)
    for hit in found.hits[1:2]:
        walk.console.print("\n>>> found.hits[1].explanation", style="bold")
        walk.console.print(explanation_tree(hit.explanation))
    walk.notice(
        "Two searches, one by meaning and one by words, become one list; the bars show what each put in. The "
        "tree is the whole arithmetic of the second score, exact to the last bit."
    )


def _meaning(walk: _Walk) -> None:
    found = walk.recall("meaning", "Who was robbed in Portugal?", limit=3)
    if found.hits and not signals(found.hits[0].explanation)["lexical"]:
        walk.notice("No word of the question is in the first answer: it was found by what it means.")
    else:
        walk.notice("Nobody used these words, and to this embedder nothing was near enough in meaning.")


def _identifier(walk: _Walk) -> None:
    walk.recall("identifier", "What is WX7741920?", limit=1)
    walk.notice(f"A name without any meaning, said once among {len(conversation())} memories: words find it.")


def _correction(walk: _Walk) -> None:
    now = walk.recall("correction", "When do we release?", limit=2)
    june = datetime(2026, 6, 1, tzinfo=UTC)
    then = walk.recall("correction as of June", "When do we release?", limit=1, as_of=june)
    for hit in then.hits:
        walk.call("memory.history", hit.memory.id)
        chain = list(walk.memory.history(hit.memory.id))
        walk.console.print(memory_table(chain, hidden_reasons(walk.memory, chain)))
        old = {each.id for each in chain if each.superseded_by is not None}
        shown = len(old & {each.memory.id for each in now})
        walk.notice(
            f"The rule has been changed {counted(len(chain) - 1, 'time')}. Of its {len(old)} old versions "
            f"{shown} are in today's answer; asked as of June, the answer is what was believed in June."
        )


def _phrase(walk: _Walk) -> None:
    walk.recall("phrase", '"blue door"', limit=3)
    found = walk.recall("exclusion", '"blue door" -bakery', limit=2)
    left = sum("bakery" in hit.memory.content.casefold() for hit in found)
    walk.notice(
        "Words in quotation marks count extra where they stand together; a word after a minus must not "
        f"occur: {counted(left, 'bakery', 'bakeries')} left."
    )


def _filter(walk: _Walk) -> None:
    condition = {"category": "event", "tags": "food", "place": {"exists": True}}
    found = walk.recall("filter", "Where did we eat well on our travels?", limit=3, filter=condition)
    places = [hit.memory.place.name for hit in found if hit.memory.place is not None]
    walk.notice(f"Only events about food that have coordinates could answer. Where: {'; '.join(places)}.")


def _date(walk: _Walk) -> None:
    question, day = "What did we do on 15 August?", {"valid_from": {">=": "2026-08-15", "<": "2026-08-16"}}
    loose = walk.recall("date", question, limit=3)
    strict = walk.recall("date filter", question, limit=3, filter=day)
    right = [sum(f"{hit.memory.event_time:%d %m}" == "15 08" for hit in each) for each in (loose, strict)]
    walk.notice(
        "The day on which something happened is searched like words, though nobody said it and it was told "
        f"two days later: {right[0]} of {len(loose)} are of that day. A filter makes it strict: "
        f"{right[1]} of {len(strict)}."
    )


def _repeats(walk: _Walk) -> None:
    found = walk.recall("repeats", "How early may a meeting start?", limit=2)
    for hit in found.hits[:1]:
        same = {"content": {"contains": hit.memory.content}}
        walk.call("memory.list", filter=same)
        said = list(walk.memory.list(filter=same).memories)
        walk.console.print(memory_table(said, hidden_reasons(walk.memory, said)))
        walk.notice(f"It was said {counted(len(said), 'time')} and is shown once; nothing is lost.")


def _budget(walk: _Walk) -> None:
    budget = 90
    found = walk.recall("budget", "everything about the trip to Tbilisi", limit=10, budget=budget)
    used = sum(tokens(hit.memory.content) for hit in found)
    walk.notice(
        f"About {used} of {budget} tokens are filled with whole memories, the best first; "
        f"{counted(found.omitted, 'more hit')} did not fit."
    )


def _languages(walk: _Walk) -> None:
    walk.recall("german", "Wie viele Tabletten bekommt der Kater?", limit=1)
    walk.recall("russian", "Где лежит ключ от квартиры?", limit=1)
    walk.notice(
        "The language of every text is detected and its words are cut to their stems accordingly, so that "
        "“Tabletten” finds “Tablette”, and “ключ” finds “ключи”."
    )


def _nonsense(walk: _Walk) -> None:
    walk.recall("nonsense", "What is the boiling point of tungsten?", limit=3)
    walk.notice(
        "Nobody spoke of it, so the answer is empty and names what came nearest and what it missed: an agent "
        "that gets nothing can say that it does not know."
    )


_STEPS: Final[tuple[tuple[str, Callable[[_Walk], None]], ...]] = (
    ("Meaning and words together", _hybrid),
    ("By meaning alone", _meaning),
    ("By a rare word", _identifier),
    ("A correction, its history, and what was believed before", _correction),
    ("Quoted phrases and exclusions", _phrase),
    ("Filters", _filter),
    ("A date", _date),
    ("Said again and again, shown once", _repeats),
    ("A token budget", _budget),
    ("Other languages", _languages),
    ("A question nobody can answer", _nonsense),
)


def _heading(console: Console, title: str) -> None:
    from rich.text import Text

    console.rule(Text(title, "bold cyan"), align="left", style="cyan")


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _typed(value: object) -> str:
    """Return a value as one would type it."""
    if isinstance(value, datetime):
        return f"datetime({value.year}, {value.month}, {value.day}, tzinfo=UTC)"
    return repr(value)
