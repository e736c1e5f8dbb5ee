"""Administration: checks, statistics, copies, encryption, vectors, indexes, and the speed of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument, Option

from memorata.cli import options
from memorata.cli.command import UNSOUND, Session
from memorata.cli.options import new_file
from memorata.cli.output import counted, embedder_name, memories, one_line, progress, size
from memorata.model.errors import NotGiven, NotSupportedHere, StoreCorrupt
from memorata.service.errors import EMBEDDER

if TYPE_CHECKING:
    from memorata.engine.admin import Reembedding

_LABELS: Final = {
    "db": "database",
    "superseded": "superseded",
    "entities": "entities declared",
    "segments": "index segments",
    "waiting": "not yet in a segment",
    "changes": "changes so far",
    "unfinished_purge": "purge to be finished",
    "kept_logs": "logs of replaced files",
    "bytes": "size",
    "methods": "searched by",
    "single_shard": "statements to one shard",
    "multi_shard": "statements to several",
}
_MAX_FAILURES: Final = 20

Target = Annotated[Path, Argument(metavar="FILE", help="Where to put the copy.")]
_PEOPLE: Final = ("Anna", "Bob", "Chidi", "Dalia", "Emre", "Fatou", "Goran", "Hana")
_VERBS: Final = ("likes", "bought", "lost", "painted", "repaired", "ordered", "gave away", "wrote about")
_THINGS: Final = (
    "green tea", "a bicycle", "the old piano", "a train ticket", "a garden chair", "the blue notebook",
    "mint soup", "a camera", "the broken lamp", "a winter coat",
)  # fmt: skip
_PLACES: Final = (
    "in Lisbon", "at home", "near the station", "at work", "by the sea", "in the attic", "on Monday",
)  # fmt: skip


def check(session: Session, repair: bool = Option(False, help="Rebuild what can be rebuilt.")) -> None:
    """Check that the database is sound; --repair rebuilds derived data, and never touches memories."""
    output = session.output
    try:
        with session.memory(embed=True) as engine:
            problems = engine.admin.check(repair=repair)
            remaining = engine.admin.check() if repair and problems else problems
    except StoreCorrupt as error:
        # Its usual advice is to run this command.
        cause = error.__cause__ or error
        raise StoreCorrupt(
            f"{session.settings.db} is too damaged to be checked ({cause}); restore a backup"
        ) from error
    state = [] if remaining else ["repaired" if problems else "sound"]
    data = {"sound": not remaining, "problems": problems, "remaining": remaining, "repaired": repair}
    output.result(data, *map(one_line, problems), *state)
    if remaining:
        advice = "memorata admin check --repair rebuilds what can be rebuilt"
        if repair:
            advice = "restore a backup, or export what can be read and import it into another file"
        output.warn(f"{counted(len(remaining), 'problem')}; {advice}")
        session.leave(UNSOUND)


def stats(session: Session) -> None:
    """Show how much is in the database and how large it is."""
    with session.memory() as engine:
        values: dict[str, Any] = {"db": str(session.settings.db), **engine.store.statistics()}
    texts = {name: _stat_text(name, value) for name, value in values.items()}
    session.output.pairs([(_LABELS.get(name, name), text) for name, text in texts.items() if text], values)


def vacuum(session: Session) -> None:
    """Write the file anew: give back the space of what was removed, and erase every trace of it.

    This takes time in proportion to the size of the file, and for a moment twice its space; others can read
    meanwhile. It also finishes a purge that others kept from erasing what it removed.
    """
    with session.memory() as engine:
        before = engine.store.statistics()["bytes"]
        engine.store.vacuum()
        after = engine.store.statistics()["bytes"]
    session.output.result(
        {"bytes_before": before, "bytes_after": after}, f"{size(before)} before, {size(after)} now"
    )


def backup(session: Session, target: Target, force: options.Force = False) -> None:
    """Copy the whole database to another file, while others use it."""
    with session.memory() as engine:
        new_file(str(target), force=force)
        engine.store.backup(target)
    size_bytes = target.stat().st_size
    line = f"{target}  {size(size_bytes)}" if session.output.terminal else str(target)
    session.output.result({"file": str(target), "bytes": size_bytes}, line)


def encrypt(session: Session, target: Target) -> None:
    """Copy the file into an encrypted one, with the key of the settings; there should be no writes meanwhile.

    The key is 64 hexadecimal digits or a passphrase, in MEMORATA_ENCRYPTION_KEY or from file:PATH or
    command:COMMAND. The file itself stays as it is: remove it, and its backups, when the copy was looked at.
    """
    _convert(session, target, encrypt=True)


def decrypt(session: Session, target: Target) -> None:
    """Copy an encrypted file into one that is not; there should be no writes meanwhile."""
    _convert(session, target, encrypt=False)


def _convert(session: Session, target: Path, *, encrypt: bool) -> None:
    from memorata.store.sqlite.encryption import convert, resolved_key

    key, origin = session.settings.encryption_key, session.settings.db
    if key is None:
        raise NotGiven("encryption_key", "as MEMORATA_ENCRYPTION_KEY, or in the settings file")
    if not isinstance(origin, Path):
        raise NotSupportedHere("a server encrypts its own disk; --db must be a file here")
    convert(origin, target, resolved_key(key), encrypt=encrypt)
    left = f"{origin} is left as it is, and is not encrypted" if encrypt else f"{origin} is left as it is"
    session.output.result({"file": str(target), "encrypted": encrypt}, f"{target}; {left}")


def reembed(
    session: Session,
    prompts: str | None = Option(None, metavar="NAME", help="Use other prompts: own, none, similarity, …."),
    dry_run: bool = Option(False, help="Count, measure on a sample, and write nothing."),
    keep_old: bool = Option(False, help="Keep the vectors of other embedders."),
    batch: int = Option(256, min=1, help="How many memories in one transaction."),
) -> None:
    """Embed everything anew after a change of --embedder, or what could not be embedded when it was written.

    It can be stopped at any moment and run again; searches continue meanwhile.
    """
    output = session.output
    with session.memory(embed=True, prompts=prompts) as engine, progress(output) as advance:
        try:
            done = engine.admin.reembed(
                dry_run=dry_run,
                keep_old=keep_old,
                batch=batch,
                progress=lambda count, total: advance("embedding", count, total),
            )
        except KeyboardInterrupt:
            output.say(f"{memories(engine.store.count_waiting())} to go; run the same again to continue.", "")
            raise
    if output.json:
        output.data(done)
    else:
        for failure in done.failed[:_MAX_FAILURES]:
            output.fail(f"memory {failure.memory_id} in {failure.namespace}: {failure.reason}")
        if len(done.failed) > _MAX_FAILURES:
            output.fail(f"… and {len(done.failed) - _MAX_FAILURES:,} more; --json lists them all")
        output.line(_reembedded(done))
        output.say(f"{done.embedder} · {session.settings.db}")
    if done.failed:
        left = memories(len(done.failed))
        output.warn(f"{left} without a vector, found by words only; run the same again to try again")
        session.leave(EMBEDDER)


def _stat_text(name: str, value: Any) -> str:  # noqa: ANN401 - whatever a store counts
    if name == "methods":
        return "; ".join(f"{leg}: {method}" for leg, method in value.items())
    if name == "bytes":
        return size(value)
    if name == "servers":
        return ", ".join(f"{server} with {counted(shards, 'shard')}" for server, shards in value.items())
    if name == "kept_logs":
        return ", ".join(value)
    if isinstance(value, dict):
        return ", ".join(f"{count:,} of {key}" for key, count in value.items()) or "none"
    if isinstance(value, bool):
        return "yes, by memorata admin vacuum" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _reembedded(reembedding: Reembedding) -> str:
    from memorata.engine.admin import duration

    if not reembedding.waiting and not reembedding.dropped:
        return "every memory has its vector"
    if reembedding.dry_run:
        return f"would embed {memories(reembedding.waiting)}, in about {duration(reembedding.seconds)}"
    old = f", removed {counted(reembedding.dropped, 'old vector')}" if reembedding.dropped else ""
    return f"embedded {memories(reembedding.embedded)} in {duration(reembedding.seconds)}{old}"


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
        with open_engine(
            path, embedder=settings.embedder, config={"resources": settings.resources}
        ) as engine:
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
    recall, search = _percentiles(times), _percentiles(searching)
    in_batches = "measured with more than 50 memories" if batched is None else f"{batched:,.0f} per second"
    session.output.pairs(
        [
            ("embedder", name),
            ("memories", f"{memories:,}"),
            ("recall, all of it", f"{recall['p50']:.1f} ms median, {recall['p95']:.1f} ms for 19 of 20"),
            ("… of it searching", f"{search['p50']:.2f} ms median, {search['p95']:.2f} ms for 19 of 20"),
            ("remember, one by one", f"{one_by_one:,.0f} per second, each on the disk"),
            ("remember, in batches", in_batches),
        ],
        {
            "embedder": name,
            "memories": memories,
            "queries": queries,
            "writes_per_second": one_by_one,
            "batched_writes_per_second": batched,
            "recall_ms": recall,
            "search_ms": search,
        },
        note="One run on this machine, with short made-up sentences, while other programs were running too: "
        "an impression, not a benchmark.",
    )


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
