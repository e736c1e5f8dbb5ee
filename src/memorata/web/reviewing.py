"""Review: what was said twice, and what cannot both be true, side by side, for a person to decide.

Looking for duplicates changes nothing. What is settled is superseded in a run that one click takes back, and
stays readable in the history of what was kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from memorata._frozen import frozen
from memorata.dedupe.strategies import STRATEGIES
from memorata.engine.access import LOCAL
from memorata.engine.duplicates.search import DuplicateGroup, FoundDuplicates
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.service.jobs import Job
from memorata.store.repeats import Contradiction
from memorata.web.visit import Room, Visit

_KIND: Final = "duplicates"
_SHOWN: Final = 20
_MERGE: Final = "merge"
_KEEP: Final = "keep"
_WAYS: Final = (_KEEP, _MERGE, "both")
_BY_HAND: Final = "It says the same, as somebody decided who looked at both."


@frozen
class Looked:
    """What a search found, and the strategy by which it proposes what to keep."""

    found: FoundDuplicates
    strategy: str


@frozen
class Pair:
    """Two memories that may contradict each other."""

    note: Contradiction
    newer: Memory
    older: Memory


def review(visit: Visit) -> Response:
    """Show what waits to be decided."""
    engine = visit.engine
    job = visit.jobs.last(_KIND, visit.namespace)
    looked = _looked(job)
    found = None if looked is None else looked.found
    runs = engine.duplicates.runs(namespace=visit.namespace)
    wanted = visit.values.text("run")
    return visit.page(
        "duplicates.html",
        job=job,
        found=found,
        groups=() if found is None else _still_there(visit, found.groups[:_SHOWN]),
        pairs=_pairs(visit),
        strategies=tuple(name for name in STRATEGIES if name != "keep_both"),
        runs=runs[:_SHOWN],
        settled=next((run for run in runs if str(run.number) == wanted), None),
    )


def find(visit: Visit) -> Response:
    """Start to look for duplicates."""
    engine, namespace, values = visit.engine, visit.namespace, visit.values
    strategy = checks.one_of("strategy", values.text("strategy"), tuple(STRATEGIES))
    paraphrases = values.flag("paraphrases")

    def work(job: Job) -> Looked:
        found = engine.duplicates.find(
            strategy=strategy,
            paraphrases=paraphrases,
            namespace=namespace,
            progress=lambda step, done, total: job.progress(done, total, step),
        )
        return Looked(found, strategy)

    visit.jobs.start_once(_KIND, namespace, LOCAL.name, work)
    return visit.go(visit.url("/duplicates"))


def settle(visit: Visit) -> Response:
    """Do with one group what a person decided: keep one of them, merge them, or keep them all."""
    job = visit.jobs.last(_KIND, visit.namespace)
    looked = _looked(job)
    ids = set(visit.values.texts("memory"))
    waiting = () if looked is None else looked.found.groups
    group = next((each for each in waiting if _ids(each) == ids), None)
    if job is None or looked is None or group is None:
        raise InvalidArgument("memory", sorted(ids), "a group that waits to be decided; look again")
    way = checks.one_of("do", visit.values.text("do", _KEEP), _WAYS)
    run = None
    if way != "both":
        chosen = _merged(group) if way == _MERGE else _kept(group, visit.values.text("keep"))
        strategy = _MERGE if way == _MERGE else "keep_highest_confidence"
        done = visit.engine.duplicates.supersede([chosen], strategy=strategy, namespace=visit.namespace)
        run = done.number
    left = tuple(each for each in waiting if each is not group)
    job.result = Looked(replace(looked.found, groups=left), looked.strategy)
    return visit.go(visit.url("/duplicates", run=run))


def settle_all(visit: Visit) -> Response:
    """Do with every group what was proposed."""
    job = visit.jobs.last(_KIND, visit.namespace)
    looked = _looked(job)
    if job is None or looked is None or not looked.found.groups:
        raise InvalidArgument("groups", 0, "at least one group that waits to be decided; look again")
    run = visit.engine.duplicates.supersede(
        looked.found.groups, strategy=looked.strategy, namespace=visit.namespace
    )
    job.result = Looked(replace(looked.found, groups=()), looked.strategy)
    return visit.go(visit.url("/duplicates", run=run.number))


def undo(visit: Visit) -> Response:
    """Take a run back."""
    visit.engine.duplicates.undo(visit.values.whole("run", 0, 1), namespace=visit.namespace)
    visit.jobs.drop(_KIND, visit.namespace)
    return visit.go(visit.url("/duplicates"))


def decide(visit: Visit) -> Response:
    """Say whether two memories contradict each other; then the newer one supersedes the older one."""
    values = visit.values
    contradicts = checks.one_of("do", values.text("do"), ("replace", "both")) == "replace"
    visit.engine.duplicates.resolve_contradiction(
        values.text("newer"),
        values.text("older"),
        contradicts=contradicts,
        because=values.text("because"),
        by="a person on the page",
        namespace=visit.namespace,
    )
    return visit.go(visit.url("/duplicates") + "#contradictions")


def _looked(job: Job | None) -> Looked | None:
    result = None if job is None else job.result
    return result if isinstance(result, Looked) else None


def _still_there(visit: Visit, groups: Sequence[DuplicateGroup]) -> tuple[DuplicateGroup, ...]:
    """Return the groups of which nothing was purged since they were found."""
    wanted = {(visit.namespace, id_) for group in groups for id_ in _ids(group)}
    gone = {id_ for _, id_ in wanted - visit.engine.store.known(sorted(wanted))}
    return tuple(group for group in groups if gone.isdisjoint(_ids(group)))


def _ids(group: DuplicateGroup) -> set[str]:
    return {group.keep.id, *(each.id for each in group.repeats)}


def _kept(group: DuplicateGroup, keep: str) -> DuplicateGroup:
    """Return a group of which another one stays, in its own words."""
    members = (group.keep, *group.repeats)
    chosen = next((each for each in members if each.id == keep), None)
    if chosen is None:
        raise InvalidArgument("keep", keep, "one of " + ", ".join(each.id for each in members))
    others = _oldest_first([each for each in members if each is not chosen])
    reasons = dict(zip((each.id for each in group.repeats), group.reasons, strict=True))
    told = tuple(reasons.get(each.id, _BY_HAND) for each in others)
    return DuplicateGroup(chosen, others, chosen.content, group.kind, told)


def _merged(group: DuplicateGroup) -> DuplicateGroup:
    """Return a group of which the words of all stay."""
    resolved = STRATEGIES[_MERGE]([group.keep, *group.repeats])
    winner = group.keep if resolved.winner is None else resolved.winner
    kept = _kept(group, winner.id)
    return replace(kept, content=kept.content if resolved.survivor is None else resolved.survivor.content)


def _oldest_first(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    return tuple(sorted(memories, key=lambda each: (each.created_at, each.id)))


def _pairs(visit: Visit) -> tuple[Pair, ...]:
    notes = visit.engine.duplicates.contradictions(namespace=visit.namespace)[:_SHOWN]
    return tuple(
        Pair(note, *visit.engine.store.get(visit.namespace, [note.newer, note.older])) for note in notes
    )


ROOMS: Final = (
    Room("/duplicates", review),
    Room("/duplicates/find", find, "POST"),
    Room("/duplicates/settle", settle, "POST"),
    Room("/duplicates/settle-all", settle_all, "POST"),
    Room("/duplicates/undo", undo, "POST"),
    Room("/duplicates/decide", decide, "POST"),
)
