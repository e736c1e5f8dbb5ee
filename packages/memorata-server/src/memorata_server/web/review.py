"""Review: one queue of what waits for a person: contradictions, duplicates, and summaries that are proposed.

Looking for duplicates changes nothing. What is settled is superseded in a run that one click takes back, and
stays readable in the history of what was kept. A summary is hidden until it is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from memorata import Memory
from memorata.extend import frozen
from memorata.extend.access import LOCAL
from memorata.extend.duplicates import STRATEGIES, Contradiction, DuplicateGroup, FoundDuplicates
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import checks
from memorata_server.jobs import Job
from memorata_server.web.context import PageContext, PageRoute

_KIND: Final = "duplicates"
_THEMES: Final = "themes"
_KINDS: Final = ("contradictions", "duplicates", "summaries")
_MAX_SHOWN: Final = 20
_MERGE: Final = "merge"
_KEEP: Final = "keep"
_WAYS: Final = (_KEEP, _MERGE, "both")
_BY_HAND: Final = "It says the same, as a person decided who looked at both."


@frozen
class Looked:
    """What a search found, and the strategy by which it proposes what to keep."""

    result: FoundDuplicates
    strategy: str


@frozen
class Pair:
    """Two memories that may contradict each other."""

    note: Contradiction
    newer: Memory
    older: Memory


def review(context: PageContext) -> Response:
    """Show what waits to be decided."""
    engine = context.engine
    job = context.jobs.last(_KIND, context.namespace)
    # Read before the result: a job that ends in between would otherwise show as one that found nothing.
    in_progress = job is not None and job.running
    looked = _looked(job)
    result = None if looked is None else looked.result
    runs = engine.admin.duplicates.runs()
    run_number = context.values.text("run")
    only = checks.one_of("only", context.values.text("only", "all"), ("all", *_KINDS))
    return context.page(
        "review.html",
        only=only,
        themes=context.jobs.last(_THEMES, context.namespace),
        job=job,
        in_progress=in_progress,
        result=result,
        groups=() if result is None else _still_there(context, result.groups[:_MAX_SHOWN]),
        pairs=_pairs(context),
        summaries=_summaries(context),
        strategies=tuple(name for name in STRATEGIES if name != "keep_both"),
        runs=runs[:_MAX_SHOWN],
        resolved=next((run for run in runs if str(run.number) == run_number), None),
    )


def find(context: PageContext) -> Response:
    """Start to look for duplicates."""
    engine, namespace, values = context.engine, context.namespace, context.values
    strategy = checks.one_of("strategy", values.text("strategy"), tuple(STRATEGIES))
    paraphrases = values.flag("paraphrases")

    def work(job: Job) -> Looked:
        result = engine.admin.duplicates.find(
            strategy=strategy, paraphrases=paraphrases, namespace=namespace, progress=job.progress
        )
        return Looked(result, strategy)

    context.jobs.start_once(_KIND, namespace, LOCAL.name, work)
    return context.go(context.url("/review"))


def resolve(context: PageContext) -> Response:
    """Do with one group what a person decided: keep one of them, merge them, or keep them all."""
    job = context.jobs.last(_KIND, context.namespace)
    looked = _looked(job)
    ids = set(context.values.texts("memory"))
    waiting = () if looked is None else looked.result.groups
    group = next((candidate for candidate in waiting if _ids(candidate) == ids), None)
    if job is None or looked is None or group is None:
        raise InvalidArgument("memory", sorted(ids), "a group that waits to be decided; look again")
    way = checks.one_of("do", context.values.text("do", _KEEP), _WAYS)
    run = None
    if way != "both":
        chosen = _merged(group) if way == _MERGE else _with_winner(group, context.values.text("keep"))
        strategy = _MERGE if way == _MERGE else "keep_highest_confidence"
        resolution = context.engine.admin.duplicates.supersede([chosen], strategy=strategy)
        run = resolution.number
    remaining = tuple(candidate for candidate in waiting if candidate is not group)
    job.result = Looked(replace(looked.result, groups=remaining), looked.strategy)
    return context.go(context.url("/review", run=run))


def resolve_all(context: PageContext) -> Response:
    """Do with every group what was proposed."""
    job = context.jobs.last(_KIND, context.namespace)
    looked = _looked(job)
    if job is None or looked is None or not looked.result.groups:
        raise InvalidArgument("groups", 0, "at least one group that waits to be decided; look again")
    run = context.engine.admin.duplicates.supersede(looked.result.groups, strategy=looked.strategy)
    job.result = Looked(replace(looked.result, groups=()), looked.strategy)
    return context.go(context.url("/review", run=run.number))


def undo(context: PageContext) -> Response:
    """Take a run back."""
    context.engine.admin.duplicates.undo(context.values.whole("run", 0, 1))
    context.jobs.drop(_KIND, context.namespace)
    return context.go(context.url("/review"))


def decide(context: PageContext) -> Response:
    """Say whether two memories contradict each other; then the newer one supersedes the older one."""
    values = context.values
    contradicts = checks.one_of("do", values.text("do"), ("replace", "both")) == "replace"
    context.engine.admin.duplicates.resolve_contradiction(
        values.text("newer"),
        values.text("older"),
        contradicts=contradicts,
        because=values.text("because"),
        by="a person on the page",
    )
    return context.go(context.url("/review") + "#contradictions")


def find_themes(context: PageContext) -> Response:
    """Start to look for episodes on one theme, and to propose summaries of them."""
    engine, namespace = context.engine, context.namespace
    context.jobs.start_once(
        _THEMES, namespace, LOCAL.name, lambda job: engine.admin.lifecycle.consolidate(namespace=namespace)
    )
    return context.go(context.url("/review"))


def decide_summary(context: PageContext) -> Response:
    """Accept a proposed summary, or reject it for good."""
    life, values = context.engine.admin.lifecycle, context.values
    accepts = checks.one_of("do", values.text("do"), ("accept", "reject")) == "accept"
    decide = life.accept_summary if accepts else life.reject_summary
    decide(values.text("summary"))
    return context.go(context.url("/review"))


def _summaries(context: PageContext) -> tuple[tuple[Memory, tuple[Memory, ...]], ...]:
    """Return the summaries that wait, each with the memories it was made from."""
    proposals = context.engine.admin.lifecycle.summaries()[:_MAX_SHOWN]
    return tuple(
        (proposal.summary, tuple(context.engine.store.get(context.namespace, list(proposal.sources))))
        for proposal in proposals
    )


def _looked(job: Job | None) -> Looked | None:
    result = None if job is None else job.result
    return result if isinstance(result, Looked) else None


def _still_there(context: PageContext, groups: Sequence[DuplicateGroup]) -> tuple[DuplicateGroup, ...]:
    """Return the groups of which nothing was purged since they were found."""
    ids = {(context.namespace, id_) for group in groups for id_ in _ids(group)}
    purged = {id_ for _, id_ in ids - context.engine.store.known(sorted(ids))}
    return tuple(group for group in groups if purged.isdisjoint(_ids(group)))


def _ids(group: DuplicateGroup) -> set[str]:
    return {group.keep.id, *(repeat.id for repeat in group.repeats)}


def _with_winner(group: DuplicateGroup, keep: str) -> DuplicateGroup:
    """Return a group of which another one stays, in its own words."""
    members = (group.keep, *group.repeats)
    chosen = next((member for member in members if member.id == keep), None)
    if chosen is None:
        raise InvalidArgument("keep", keep, "one of " + ", ".join(member.id for member in members))
    others = [member for member in members if member is not chosen]
    losers = tuple(sorted(others, key=lambda memory: (memory.created_at, memory.id)))
    reasons = dict(zip((repeat.id for repeat in group.repeats), group.reasons, strict=True))
    kept_reasons = tuple(reasons.get(memory.id, _BY_HAND) for memory in losers)
    return DuplicateGroup(chosen, losers, chosen.content, group.kind, kept_reasons)


def _merged(group: DuplicateGroup) -> DuplicateGroup:
    """Return a group of which the words of all stay."""
    resolved = STRATEGIES[_MERGE]([group.keep, *group.repeats])
    winner = group.keep if resolved.winner is None else resolved.winner
    merged = _with_winner(group, winner.id)
    return replace(merged, content=merged.content if resolved.survivor is None else resolved.survivor.content)


def _pairs(context: PageContext) -> tuple[Pair, ...]:
    notes = context.engine.admin.duplicates.contradictions()[:_MAX_SHOWN]
    return tuple(
        Pair(note, *context.engine.store.get(context.namespace, [note.newer, note.older])) for note in notes
    )


ROUTES: Final = (
    PageRoute("/review", review),
    PageRoute("/review/find", find, "POST"),
    PageRoute("/review/themes", find_themes, "POST"),
    PageRoute("/review/summary", decide_summary, "POST"),
    PageRoute("/review/resolve", resolve, "POST"),
    PageRoute("/review/resolve-all", resolve_all, "POST"),
    PageRoute("/review/undo", undo, "POST"),
    PageRoute("/review/decide", decide, "POST"),
)
