"""The demo: a conversation of seven months is remembered, then recalled from, one idea at a time.

The conversation was written for this purpose and ships with the package. Each step prints a call, makes it,
draws the result, and points out what to look at.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from typer import Option

from memorata._frozen import frozen
from memorata.cli.command import Session
from memorata.cli.output import counted, embedder_name, hidden_reasons, memory_table, one_line
from memorata.cli.recall import explanation_tree, hits_table, signals
from memorata.model.errors import InvalidArgument

if TYPE_CHECKING:
    from rich.console import Console

    from memorata.engine import Engine, RecallResult


def demo(
    session: Session,
    keep: Path | None = Option(None, metavar="FILE", help="Keep the memories in a new file."),
) -> None:
    """Show remember and recall step by step, on a conversation that was made up for it."""
    if keep is not None and keep.exists():
        raise InvalidArgument("--keep", str(keep), "a file that does not exist yet")
    output = session.output
    # The demo has a database of its own, thrown away unless it is to be kept.
    console = output.errors if output.json else output.console
    results = tour(keep, embedder=session.settings.embedder, console=console)
    if output.json:
        output.data({"steps": {name: result.as_dict() for name, result in results.items()}})


def tour(
    database: Path | None = None, *, embedder: str = "auto", console: Console | None = None
) -> Mapping[str, RecallResult]:
    """Run the demo on a new database, a temporary one if None; return the results by the name of the step."""
    from rich.console import Console

    console = console or Console(markup=False, highlight=False, emoji=False)
    if database is not None:
        if database.exists():
            raise InvalidArgument("database", str(database), "a file that does not exist yet")
        return _walk(database, embedder, console)
    with tempfile.TemporaryDirectory(prefix="memorata-demo-") as folder:
        return _walk(Path(folder) / "demo.db", embedder, console)


class _Clock:
    """A clock that is set by hand, so that every session is remembered on its own day."""

    def __init__(self) -> None:
        from memorata.service.transfer import ASKED

        self.now = ASKED

    def __call__(self) -> datetime:
        return self.now


def _walk(path: Path, embedder: str, console: Console) -> Mapping[str, RecallResult]:
    from memorata.engine import open as open_memory

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
    return walk.results


def _remember(memory: Engine, clock: _Clock, console: Console) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from memorata.service.transfer import ASKED, conversation

    memories = conversation()
    people = {memory.source.speaker for memory in memories}
    _heading(console, "Memorata: remember, recall, and say why")
    name = embedder_name(memory.embedder.name if memory.embedder is not None else "")
    console.print(f"Embedder: {name}.")
    for note in memory.notes:
        console.print(f"Note: {note}", style="yellow")
    started = perf_counter()
    columns = (TextColumn("Remembering"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(memories))
        for _, session in groupby(memories, key=lambda memory: memory.source.session):
            turns = list(session)
            # A correction ends what it corrects at the moment of its clock, hence the clock.
            clock.now = turns[-1].created_at
            memory.remember_many(turns)
            progress.advance(task, len(turns))
    clock.now = ASKED
    took = perf_counter() - started
    console.print(
        f"Remembered {counted(len(memories), 'thing')} that {counted(len(people), 'person', 'people')} said "
        f"in {counted(len({memory.source.session for memory in memories}), 'conversation')}, from "
        f"{_day(memories[0].created_at)} to {_day(memories[-1].created_at)}: "
        f"{counted(sum(bool(memory.supersedes) for memory in memories), 'correction')}, "
        f"{counted(len({memory.place for memory in memories} - {None}), 'place')}, three languages, "
        f"in {took:.1f} seconds."
    )


@frozen
class _Walk:
    """The memory, the console, and the results so far."""

    memory: Engine
    console: Console
    results: dict[str, RecallResult] = field(default_factory=dict)

    def recall(self, name: str, text: str, **options: Any) -> RecallResult:  # noqa: ANN401 - as recall takes them
        """Show the call, make it, and show its result."""
        self.call("result = memory.recall", text, **options)
        result = self.memory.recall(text, **options)
        self.results[name] = result
        if result.hits:
            self.console.print(hits_table(result.hits))
        else:
            self.console.print("No memory is good enough.", style="bold")
        if result.rejected is not None:
            best = result.rejected.hit.memory
            self.console.print(f"The best one rejected: “{one_line(best.content, 120)}”")
            self.console.print(f"What it missed: {result.rejected.reason}.")
        for weakness in result.degraded:
            self.console.print(f"Note: {weakness}", style="yellow")
        spent = result.milliseconds
        first = "; the first query also loads the index" if len(self.results) == 1 else ""
        self.console.print(
            f"{spent['embedding']:.1f} ms to embed the query, {spent['search']:.1f} ms to search{first}",
            style="dim",
        )
        return result

    def call(self, method: str, *arguments: object, **options: object) -> None:
        """Show a call as one would type it."""
        texts = [*map(_typed, arguments), *(f"{name}={_typed(value)}" for name, value in options.items())]
        self.console.print()
        self.console.print(f">>> {method}({', '.join(texts)})", style="bold")

    def notice(self, text: str) -> None:
        """Say what to look at."""
        from rich.text import Text

        self.console.print()
        self.console.print(Text.assemble(("Notice  ", "bold green"), text))


def _hybrid(walk: _Walk) -> None:
    result = walk.recall("hybrid", "Why did we move the job queue to PostgreSQL?", limit=3)
    for hit in result.hits[1:2]:
        walk.console.print("\n>>> result.hits[1].explanation", style="bold")
        walk.console.print(explanation_tree(hit.explanation))
    walk.notice(
        "Two searches, one by vectors and one by words, are fused into one list; the bars show what each "
        "contributed. The tree is the whole arithmetic of the second score, exact to the last bit."
    )


def _meaning(walk: _Walk) -> None:
    result = walk.recall("meaning", "Who fell victim to a pickpocket?", limit=3)
    if result.hits and not signals(result.hits[0].explanation)["lexical"]:
        walk.notice("No word of the query is in the first hit: it was found by what it means.")
    else:
        walk.notice("Nobody used these words, and to this embedder nothing was near enough in meaning.")


def _identifier(walk: _Walk) -> None:
    from memorata.service.transfer import conversation

    walk.recall("identifier", "What is WX7741920?", limit=1)
    walk.notice(
        f"An identifier without any meaning, said once in {len(conversation())} memories: words find it."
    )


def _correction(walk: _Walk) -> None:
    now = walk.recall("correction", "What is our release rule?", limit=2)
    from memorata.model.query import When

    june = datetime(2026, 6, 1, tzinfo=UTC)
    as_of_june = walk.recall(
        "correction as of June", "What is our release rule?", limit=1, when=When(as_of=june)
    )
    for hit in as_of_june.hits:
        walk.call("memory.history", hit.memory.id)
        chain = list(walk.memory.history(hit.memory.id))
        walk.console.print(memory_table(chain, hidden_reasons(walk.memory, chain)))
        old = {version.id for version in chain if version.superseded_by is not None}
        shown = len(old & {memory.memory.id for memory in now})
        walk.notice(
            f"The rule has been changed {counted(len(chain) - 1, 'time')}. Of its {len(old)} old versions "
            f"{shown} are in today's answer; asked as of June, the answer is what was believed in June."
        )


def _phrase(walk: _Walk) -> None:
    walk.recall("phrase", '"blue door"', limit=3)
    result = walk.recall("exclusion", '"blue door" -bakery', limit=2)
    remaining = sum("bakery" in hit.memory.content.casefold() for hit in result)
    walk.notice(
        "Words in quotation marks count extra where they stand together; a word after a minus must not "
        f"occur: {counted(remaining, 'bakery', 'bakeries')} left."
    )


def _filter(walk: _Walk) -> None:
    condition = {"category": "event", "tags": "food", "place": {"exists": True}}
    result = walk.recall("filter", "What did we eat at the café?", limit=3, filter=condition)
    places = [hit.memory.place.name for hit in result if hit.memory.place is not None]
    walk.notice(f"Only events about food that have coordinates could answer. Where: {'; '.join(places)}.")


def _date(walk: _Walk) -> None:
    question, day = "What did we do on 15 August?", {"valid_from": {">=": "2026-08-15", "<": "2026-08-16"}}
    loose = walk.recall("date", question, limit=3)
    strict = walk.recall("date filter", question, limit=3, filter=day)
    right = [sum(f"{hit.memory.event_time:%d %m}" == "15 08" for hit in hits) for hits in (loose, strict)]
    walk.notice(
        "The day on which something happened is searched like words, though nobody said it and it was told "
        f"two days later: {right[0]} of {len(loose)} are of that day. A filter makes it strict: "
        f"{right[1]} of {len(strict)}."
    )


def _repeats(walk: _Walk) -> None:
    result = walk.recall("repeats", "How early may a meeting start?", limit=2)
    for hit in result.hits[:1]:
        same = {"content": {"contains": hit.memory.content}}
        walk.call("memory.list", filter=same)
        memories = walk.memory.list(filter=same).memories
        walk.console.print(memory_table(memories, hidden_reasons(walk.memory, memories)))
        walk.notice(f"It was said {counted(len(memories), 'time')} and is shown once; nothing is lost.")


def _budget(walk: _Walk) -> None:
    from memorata.engine.recall.result import tokens

    budget = 90
    result = walk.recall("budget", "everything about the trip to Tbilisi", limit=10, budget=budget)
    used = sum(tokens(hit.memory.content) for hit in result)
    walk.notice(
        f"About {used} of {budget} tokens are filled with whole memories, the best first; "
        f"{counted(result.omitted, 'more hit')} did not fit."
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
    from memorata.model.query import When

    if isinstance(value, datetime):
        return f"datetime({value.year}, {value.month}, {value.day}, tzinfo=UTC)"
    if isinstance(value, When):
        times = {field.name: getattr(value, field.name) for field in fields(value)}
        return f"When({', '.join(f'{name}={_typed(time)}' for name, time in times.items() if time)})"
    return repr(value)
