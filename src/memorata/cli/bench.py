"""How fast is it here? A quick measurement on a person's own machine, with made-up memories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Final

import typer

from memorata.cli.command import command
from memorata.cli.session import Session

_PEOPLE: Final = ("Anna", "Bob", "Chidi", "Dalia", "Emre", "Fatou", "Goran", "Hana")
_DEEDS: Final = ("likes", "bought", "lost", "painted", "repaired", "ordered", "gave away", "wrote about")
_THINGS: Final = (
    "green tea", "a bicycle", "the old piano", "a train ticket", "a garden chair", "the blue notebook",
    "mint soup", "a camera", "the broken lamp", "a winter coat",
)  # fmt: skip
_WHERE: Final = (
    "in Lisbon",
    "at home",
    "near the station",
    "at work",
    "by the sea",
    "in the attic",
    "on Monday",
)

Memories = Annotated[int, typer.Option("--memories", min=1, help="How many to remember.")]
Questions = Annotated[int, typer.Option("--questions", min=2, help="How many to ask.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "bench", "Look after it")(bench)


def bench(session: Session, memories: Memories = 500, questions: Questions = 100) -> None:
    """Measure this machine: made-up memories in a temporary database, written and asked for one by one."""
    import tempfile

    from memorata.cli.show_memory import embedder_name
    from memorata.engine import open as open_engine

    settings = session.settings
    said = list(sentences(memories))
    asked = [
        f"what about {text.rpartition(', number ')[0]}?" for text in said[:: max(1, memories // questions)]
    ]
    asked = (asked * questions)[:questions]
    with tempfile.TemporaryDirectory(prefix="memorata-bench-") as folder:
        path = Path(folder) / "bench.db"
        with open_engine(path, embedder=settings.embedder, resources=settings.resources) as engine:
            name = embedder_name(engine.embedder.name if engine.embedder else "")
            session.output.say(f"measuring with {name} …")
            # Loading the model is a cost of the first call of a process, not of each.
            engine.recall("warm up")
            single = said[: min(50, memories)]
            started = perf_counter()
            for text in single:
                engine.remember(text)
            one_by_one = len(single) / (perf_counter() - started)
            started = perf_counter()
            rest = engine.remember_many(said[len(single) :])
            batched = len(rest) / (perf_counter() - started) if rest else None
            times, searching = [], []
            for question in asked:
                started = perf_counter()
                found = engine.recall(question)
                times.append((perf_counter() - started) * 1e3)
                searching.append(found.milliseconds["search"])
    result: dict[str, Any] = {
        "embedder": name,
        "memories": memories,
        "questions": questions,
        "writes_per_second": one_by_one,
        "batched_writes_per_second": batched,
        "recall_ms": _percentiles(times),
        "search_ms": _percentiles(searching),
    }
    _report(session, result)


def sentences(count: int) -> Iterator[str]:
    """Yield that many made-up memories, the same every time.

    Examples
    --------
    >>> list(sentences(1))
    ['Fatou lost mint soup in the attic, number 0']
    """
    import random

    # No secret depends on it: a fixed seed makes two runs comparable.
    dice = random.Random(7)
    for number in range(count):
        who, did = dice.choice(_PEOPLE), dice.choice(_DEEDS)
        yield f"{who} {did} {dice.choice(_THINGS)} {dice.choice(_WHERE)}, number {number}"


def _percentiles(times: list[float]) -> dict[str, float]:
    import statistics

    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return {"p50": statistics.median(times), "p95": cuts[18]}


def _report(session: Session, result: dict[str, Any]) -> None:
    output = session.output
    if output.json:
        output.data(result)
        return
    recall, search = result["recall_ms"], result["search_ms"]
    batched = result["batched_writes_per_second"]
    rows = [
        ("embedder", result["embedder"]),
        ("memories", f"{result['memories']:,}"),
        ("recall, all of it", f"{recall['p50']:.1f} ms median, {recall['p95']:.1f} ms for 19 of 20"),
        ("… of it searching", f"{search['p50']:.2f} ms median, {search['p95']:.2f} ms for 19 of 20"),
        ("remember, one by one", f"{result['writes_per_second']:,.0f} per second, each on the disk"),
        (
            "remember, in batches",
            "measured with more than 50 memories" if batched is None else f"{batched:,.0f} per second",
        ),
    ]
    output.pairs(rows)
    output.say(
        "One run on this machine, with short made-up sentences, while other programs were running too: "
        "an impression, not a benchmark."
    )
