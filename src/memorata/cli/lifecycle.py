"""Memories in order: set-trust, maintain, consolidate, duplicates, contradictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from typer import Argument, Option

from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.options import MemoryIds, ids_of, memory_of, one_of
from memorata.cli.output import Output, counted, memories, one_line, progress, visible
from memorata.model.errors import InvalidArgument, WorkUnderWay
from memorata.service.errors import NOT_FOUND

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.engine.consolidation import Proposal, Writer
    from memorata.engine.duplicate_search import FoundDuplicates
    from memorata.engine.lifecycle import MaintenanceReport
    from memorata.store.memory.repeats import Contradiction, Run


def set_trust(
    session: Session,
    ids: MemoryIds,
    untrusted: bool = Option(False, "--untrusted", help="Take the trust away instead."),
) -> None:
    """Trust what a tool, a page or an unknown speaker said: it counts like the user's words."""
    with session.memory() as engine:
        whole_ids = ids_of(engine, ids)
        engine.admin.set_trust(*whole_ids, trusted=not untrusted)
    done = "Took the trust away from" if untrusted else "Trusted"
    session.output.changed("untrusted" if untrusted else "trusted", whole_ids, done)


def maintain(
    session: Session, dry_run: options.DryRun = False, all_namespaces: options.AllNamespaces = False
) -> None:
    """Promote, demote, expire and propose summaries, by the rules; pinned memories are left alone."""
    output = session.output
    reports, skipped = [], []
    with session.memory(embed=True) as engine:
        for path in sorted(engine.store.namespaces()) if all_namespaces else [engine.namespace]:

            def advance(step: str, count: int, path: str = path) -> None:
                output.say(f"{path}: {step} {count:,}")

            try:
                reports.append(
                    engine.admin.lifecycle.maintain(dry_run=dry_run, namespace=path, progress=advance)
                )
            except WorkUnderWay as busy:
                if not all_namespaces:
                    raise
                # Another process maintains that one at this moment.
                skipped.append({"namespace": path, "reason": str(busy)})
                output.warn(str(busy))
    lines = [line for report in reports for line in _report_lines(report)]
    note = ""
    if dry_run:
        note = "Nothing was changed; without --dry-run it is."
    elif any(report.expired for report in reports):
        note = "What expired is forgotten; restore brings it back, pin keeps it."
    data = {"namespaces": [report.as_dict() for report in reports], "skipped": skipped}
    output.result(data, *lines, notes=[note])


def consolidate(
    session: Session,
    dry_run: options.DryRun = False,
    accept: list[str] | None = Option(None, metavar="ID", help="Accept a proposal; repeatable."),
    reject: list[str] | None = Option(None, metavar="ID", help="Reject a proposal; repeatable."),
    model: str | None = Option(None, metavar="NAME", help="A language model to write them."),
    address: str | None = Option(None, metavar="URL", help="Its address, usually ending in /v1."),
) -> None:
    """Propose summaries of episodes on one theme, show open proposals, and accept or reject them."""
    from memorata.service.codec import summary_json

    output = session.output
    if dry_run and (accept or reject):
        raise InvalidArgument("--dry-run", dry_run, "left out where proposals are accepted or rejected")
    with session.memory(embed=True) as engine:
        accepted = ids_of(engine, accept)
        rejected = ids_of(engine, reject)
        engine.admin.lifecycle.accept_summary(*accepted)
        engine.admin.lifecycle.reject_summary(*rejected)
        proposed: tuple[Proposal, ...] = ()
        if not accepted and not rejected:
            proposed = engine.admin.lifecycle.consolidate(
                dry_run=dry_run, writer=_writer(session, model, address)
            )
        waiting = proposed if dry_run else engine.admin.lifecycle.summaries()
    if output.json:
        decided = {"accepted": accepted, "rejected": rejected, "proposed": len(proposed)}
        output.data({**decided, "waiting": list(map(summary_json, waiting))})
        return
    shown, indent = (visible, "  id ") if output.terminal else (one_line, "\t")
    for proposal in waiting:
        output.line(shown(proposal.summary.content))
        output.line(f"{indent}{proposal.summary.id}")
    state = "would be proposed" if dry_run else "waiting"
    parts = [f"{counted(len(waiting), 'summary', 'summaries')} {state}"]
    parts += [f"{len(accepted)} accepted"] if accepted else []
    parts += [f"{len(rejected)} rejected"] if rejected else []
    output.say(" · ".join(parts))
    if waiting and not dry_run:
        output.say("memorata admin consolidate --accept ID, or --reject ID")


def _writer(session: Session, model: str | None, address: str | None) -> Writer | None:
    if (model is None) != (address is None):
        raise InvalidArgument("--model", model, "given together with --address")
    if model is None or address is None:
        return None
    from memorata.engine.roles import open_summaries

    return open_summaries(f"chat:{model}@{address}", session.api_key)


def _report_lines(report: MaintenanceReport) -> list[str]:
    moves = [
        f"{report.namespace}\t{verb}\t{move.id}\t{move.before.value} to {move.after.value}"
        for verb, tier_changes in (("promoted", report.promoted), ("demoted", report.demoted))
        for move in tier_changes
    ]
    expired = [f"{report.namespace}\texpired\t{id_}" for id_ in report.expired]
    proposed = [
        f"{report.namespace}\tproposed\t{proposal.summary.id}\t{one_line(proposal.summary.content)}"
        for proposal in report.proposed
    ]
    return moves + expired + proposed


_STRATEGIES: Final = ("keep_highest_confidence", "keep_most_recent", "merge", "keep_both")
_EXCERPT_LENGTH: Final = 70


def duplicates(
    session: Session,
    apply: bool = Option(False, help="Supersede them; without it, only show."),
    undo: bool = Option(False, help="Undo the last run."),
    run: int | None = Option(None, metavar="N", help="With --undo, the run to undo."),
    runs: bool = Option(False, help="Show the runs so far."),
    strategy: str = Option("keep_highest_confidence", help=", ".join(_STRATEGIES) + "."),
    paraphrases: bool = Option(False, help="Paraphrases too, as far as vectors can tell."),
    limit: int = Option(20, "-l", help="How many groups to show; --apply takes all."),
) -> None:
    """Show duplicates, and supersede them with --apply; nothing is lost."""
    from memorata.model import checks

    if undo and apply:
        raise InvalidArgument("--undo", undo, "given without --apply")
    if run is not None and not undo:
        raise InvalidArgument("--run", run, "given with --undo")
    one_of("--strategy", strategy, _STRATEGIES)
    checks.whole("--limit", limit)
    with session.memory() as engine:
        if runs:
            _show_runs(session, engine)
            return
        if undo:
            _undo(session, engine, run)
            return
        with progress(session.output) as advance:
            groups = engine.admin.duplicates.find(
                strategy=strategy, paraphrases=paraphrases, progress=advance
            )
        if not session.output.json:
            _show_groups(session.output, groups, limit)
        done = None
        if apply and groups.groups:
            with progress(session.output) as advance:
                done = engine.admin.duplicates.supersede(groups.groups, strategy=strategy, progress=advance)
        _report(session.output, groups, done, limit, paraphrases=paraphrases, apply=apply)


def contradictions(
    session: Session,
    id: str | None = Argument(None, metavar="[ID]", help="Only those of this memory."),
    all: bool = Option(False, help="Also what was resolved, and what is hidden by now."),
    accept: str | None = Option(None, metavar="OLDER", help="ID contradicts and supersedes OLDER."),
    reject: str | None = Option(None, metavar="OLDER", help="ID and OLDER can both be true."),
    because: str | None = Option(None, help="The reason, which is kept."),
    undo: bool = Option(False, help="Make ID current again, which another one superseded."),
    model: str | None = Option(None, help="Let this language model resolve all open ones."),
    address: str = Option(
        "http://127.0.0.1:11434/v1", metavar="URL", help="Its OpenAI-compatible address, up to /v1."
    ),
) -> None:
    """Show which memories may contradict each other, and resolve contradictions."""
    if undo and (id is None or any(value is not None for value in (accept, reject, model))):
        raise InvalidArgument("--undo", undo, "given with the ID of a superseded memory, and nothing else")
    if (accept is not None or reject is not None) and (id is None or because is None):
        raise InvalidArgument("--because", because, "given, and an ID, with --accept or --reject")
    if sum(value is not None for value in (accept, reject, model)) > 1:
        raise InvalidArgument("--accept", accept, "given without --reject and --model")
    with session.memory() as engine:
        newer = None if id is None else memory_of(engine, id).id
        if undo and newer is not None:
            current = engine.admin.duplicates.reinstate(newer)
            session.output.result({"reinstated": [current.id]}, f"reinstated {current.id}")
            return
        older = accept if accept is not None else reject
        pairs: tuple[Contradiction, ...]
        if newer is not None and older is not None:
            older, how = memory_of(engine, older).id, {"because": because or "", "by": "command line"}
            resolve = engine.admin.duplicates.resolve_contradiction
            pairs = (resolve(newer, older, contradicts=accept is not None, **how),)
        elif model is not None:
            from memorata.engine.roles import open_judge

            judge = open_judge(f"chat:{model}@{address}", session.api_key)
            pairs = engine.admin.duplicates.resolve_contradictions(judge, by=f"chat:{model}")
        else:
            pairs = engine.admin.duplicates.contradictions(newer, resolved=all)
        _show_contradictions(session.output, engine, pairs)


def _show_groups(output: Output, result: FoundDuplicates, limit: int) -> None:
    for group in result.groups[:limit]:
        output.line(f"{group.kind}\tkeep\t{group.keep.id}\t{one_line(group.content, _EXCERPT_LENGTH)}")
        for repeat in group.repeats:
            output.line(f"{group.kind}\trepeats\t{repeat.id}\t{one_line(repeat.content, _EXCERPT_LENGTH)}")
    if len(result.groups) > limit:
        output.say(f"… and {counted(len(result.groups) - limit, 'more group')}; --limit shows more")


def _report(
    output: Output, result: FoundDuplicates, run: Run | None, limit: int, *, paraphrases: bool, apply: bool
) -> None:
    from memorata.service.codec import duplicates_json

    repeats = sum(len(group.repeats) for group in result.groups)
    if output.json:
        groups = [{**duplicates_json(group), "content": group.content} for group in result.groups[:limit]]
        figures = {name: getattr(result, name) for name in ("compared", "candidates", "turns")}
        output.data(
            {"groups": groups, "total": len(result.groups), "repeats": repeats, **figures, "run": run}
        )
        return
    groups_text = f"{counted(repeats, 'repeat')} in {counted(len(result.groups), 'group')}"
    output.say(f"{groups_text} of {memories(result.compared)}")
    if result.turns:
        output.say(f"{counted(result.turns, 'turn of a transcript', 'turns of transcripts')} left alone")
    if run is not None:
        output.line(f"superseded {run.repeats:,} in run {run.number}")
        output.say("memorata duplicates --undo reverts it")
    elif result.groups and not apply:
        output.say("--apply supersedes them; their history stays readable, and --undo reverts it")


def _undo(session: Session, engine: Engine, run: int | None) -> None:
    output = session.output
    if run is None and all(earlier.undone_at for earlier in engine.admin.duplicates.runs()):
        output.result({"reinstated": [], "left": []})
        session.leave(NOT_FOUND, "There is no run to undo.")
    undone = engine.admin.duplicates.undo(run)
    stay = f"{len(undone.left):,} stay superseded: what they repeat has been corrected since"
    reinstated = f"reinstated {memories(len(undone.reinstated))}"
    output.result(undone, reinstated, notes=[stay if undone.left else ""])


def _show_runs(session: Session, engine: Engine) -> None:
    runs = engine.admin.duplicates.runs()
    lines = []
    for run in runs:
        state = "undone" if run.undone_at else "done" if run.finished_at else "interrupted"
        started = f"{run.started_at:%Y-%m-%d %H:%M}"
        lines.append(f"{run.number}\t{started}\t{state}\t{run.repeats}\t{run.strategy}")
    session.output.result({"runs": runs}, *lines, notes=["" if runs else "There was no run yet."])


def _show_contradictions(output: Output, engine: Engine, pairs: Sequence[Contradiction]) -> None:
    if output.json:
        output.data({"contradictions": pairs})
        return
    for pair in pairs:
        because = f" ({pair.decided_because})" if pair.decided_because else ""
        output.line(f"{pair.verdict or 'open'}\t{pair.cue}\t{pair.reason}{because}")
        for role, id_ in (("newer", pair.newer), ("older", pair.older)):
            output.line(f"{role}\t{id_}\t{one_line(engine.get(id_).content, _EXCERPT_LENGTH)}")
    if not pairs:
        output.say("No contradictions are known.")
