"""A quick measurement of speed on this machine, with made-up memories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from typer import Option

from memorata.cli.output import embedder_name
from memorata.cli.session import Session

_PEOPLE: Final = ("Anna", "Bob", "Chidi", "Dalia", "Emre", "Fatou", "Goran", "Hana")
_VERBS: Final = ("likes", "bought", "lost", "painted", "repaired", "ordered", "gave away", "wrote about")
_THINGS: Final = (
    "green tea", "a bicycle", "the old piano", "a train ticket", "a garden chair", "the blue notebook",
    "mint soup", "a camera", "the broken lamp", "a winter coat",
)  # fmt: skip
_PLACES: Final = (
    "in Lisbon",
    "at home",
    "near the station",
    "at work",
    "by the sea",
    "in the attic",
    "on Monday",
)


def bench(
    session: Session,
    memories: int = Option(500, min=1, help="How many to remember."),
    queries: int = Option(100, min=2, help="How many queries to recall."),
) -> None:
    """Measure this machine: made-up memories in a temporary database, written and recalled one by one."""
    import tempfile

    from memorata.engine import open as open_engine

    settings = session.settings
    contents = list(sentences(memories))
    step = max(1, memories // queries)
    texts = [f"what about {text.rpartition(', number ')[0]}?" for text in contents[::step]]
    texts = (texts * queries)[:queries]
    with tempfile.TemporaryDirectory(prefix="memorata-bench-") as folder:
        path = Path(folder) / "bench.db"
        with open_engine(path, embedder=settings.embedder, resources=settings.resources) as engine:
            name = embedder_name(engine.embedder.name if engine.embedder else "")
            session.output.say(f"measuring with {name} …")
            # Loading the model is a cost of the first call of a process, not of each.
            engine.recall("warm up")
            single = contents[: min(50, memories)]
            started = perf_counter()
            for text in single:
                engine.remember(text)
            one_by_one = len(single) / (perf_counter() - started)
            started = perf_counter()
            rest = engine.remember_many(contents[len(single) :])
            batched = len(rest) / (perf_counter() - started) if rest else None
            times, searching = [], []
            for query in texts:
                started = perf_counter()
                result = engine.recall(query)
                times.append((perf_counter() - started) * 1e3)
                searching.append(result.milliseconds["search"])
    measured: dict[str, Any] = {
        "embedder": name,
        "memories": memories,
        "queries": queries,
        "writes_per_second": one_by_one,
        "batched_writes_per_second": batched,
        "recall_ms": _percentiles(times),
        "search_ms": _percentiles(searching),
    }
    _report(session, measured)


def sentences(count: int) -> Iterator[str]:
    """Yield made-up memories, the same every time."""
    import random

    # A fixed seed makes two runs comparable; no secret depends on it.
    dice = random.Random(7)
    for number in range(count):
        person, verb = dice.choice(_PEOPLE), dice.choice(_VERBS)
        yield f"{person} {verb} {dice.choice(_THINGS)} {dice.choice(_PLACES)}, number {number}"


def _percentiles(times: list[float]) -> dict[str, float]:
    import statistics

    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return {"p50": statistics.median(times), "p95": cuts[18]}


def _report(session: Session, measured: dict[str, Any]) -> None:
    output = session.output
    if output.json:
        output.data(measured)
        return
    recall, search = measured["recall_ms"], measured["search_ms"]
    batched = measured["batched_writes_per_second"]
    rows = [
        ("embedder", measured["embedder"]),
        ("memories", f"{measured['memories']:,}"),
        ("recall, all of it", f"{recall['p50']:.1f} ms median, {recall['p95']:.1f} ms for 19 of 20"),
        ("… of it searching", f"{search['p50']:.2f} ms median, {search['p95']:.2f} ms for 19 of 20"),
        ("remember, one by one", f"{measured['writes_per_second']:,.0f} per second, each on the disk"),
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
