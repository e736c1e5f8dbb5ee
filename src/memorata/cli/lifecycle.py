"""The lifecycle of memories: pin, unpin, used, confirm, maintain, consolidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer import Option

from memorata.cli import options
from memorata.cli.options import MemoryIds, ids_of
from memorata.cli.output import counted, one_line, visible
from memorata.cli.session import Session
from memorata.model.errors import InvalidArgument, WorkUnderWay

if TYPE_CHECKING:
    from memorata.engine.lifecycle.consolidation import Proposal, Writer
    from memorata.engine.lifecycle.lifecycle import MaintenanceReport


def pin(session: Session, ids: MemoryIds) -> None:
    """Keep memories: they do not fade, do not expire, and maintenance leaves them alone."""
    _apply(session, "pin", ids, "pinned", "Pinned")


def unpin(session: Session, ids: MemoryIds) -> None:
    """Let memories fade and expire as others do again."""
    _apply(session, "unpin", ids, "unpinned", "Unpinned")


def used(session: Session, ids: MemoryIds) -> None:
    """Record that memories were of use, which makes them last and count more."""
    _apply(session, "mark_used", ids, "used", "Recorded the use of")


def confirm(session: Session, ids: MemoryIds) -> None:
    """Record that memories are true, still or again, which raises their confidence."""
    _apply(session, "confirm", ids, "confirmed", "Confirmed")


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
                reports.append(engine.lifecycle.maintain(dry_run=dry_run, namespace=path, progress=advance))
            except WorkUnderWay as busy:
                if not all_namespaces:
                    raise
                # Another process maintains that one at this moment.
                skipped.append({"namespace": path, "reason": str(busy)})
                output.warn(str(busy))
    lines = [line for report in reports for line in _report_lines(report)]
    output.result({"namespaces": [report.as_dict() for report in reports], "skipped": skipped}, *lines)
    if output.json:
        return
    if dry_run:
        output.say("Nothing was changed; without --dry-run it is.")
    elif any(report.expired for report in reports):
        output.say("What expired is forgotten; restore brings it back, pin keeps it.")


def consolidate(
    session: Session,
    dry_run: options.DryRun = False,
    accept: list[str] | None = Option(None, metavar="ID", help="Accept a proposal; repeatable."),
    reject: list[str] | None = Option(None, metavar="ID", help="Reject a proposal; repeatable."),
    model: str | None = Option(None, metavar="NAME", help="A language model to write them."),
    address: str | None = Option(None, metavar="URL", help="Its address, usually ending in /v1."),
) -> None:
    """Propose summaries of episodes on one theme, show open proposals, and accept or reject them."""
    output = session.output
    if dry_run and (accept or reject):
        raise InvalidArgument("--dry-run", dry_run, "left out where proposals are accepted or rejected")
    with session.memory(embed=True) as engine:
        accepted = ids_of(engine, accept)
        rejected = ids_of(engine, reject)
        engine.lifecycle.accept_summary(*accepted)
        engine.lifecycle.reject_summary(*rejected)
        proposed: tuple[Proposal, ...] = ()
        if not accepted and not rejected:
            proposed = engine.lifecycle.consolidate(dry_run=dry_run, writer=_writer(session, model, address))
        waiting = proposed if dry_run else engine.lifecycle.summaries()
    if output.json:
        rows = [
            {
                "id": proposal.summary.id,
                "content": proposal.summary.content,
                "sources": list(proposal.sources),
            }
            for proposal in waiting
        ]
        output.data({"accepted": accepted, "rejected": rejected, "proposed": len(proposed), "waiting": rows})
        return
    for proposal in waiting:
        output.line(
            visible(proposal.summary.content) if output.terminal else one_line(proposal.summary.content)
        )
        output.line(f"  id {proposal.summary.id}" if output.terminal else f"\t{proposal.summary.id}")
    state = "would be proposed" if dry_run else "waiting"
    parts = [f"{counted(len(waiting), 'summary', 'summaries')} {state}"]
    parts += [f"{len(accepted)} accepted"] if accepted else []
    parts += [f"{len(rejected)} rejected"] if rejected else []
    output.say(" · ".join(parts))
    if waiting and not dry_run:
        output.say("memorata consolidate --accept ID, or --reject ID")


def _apply(session: Session, verb: str, ids: list[str], key: str, done: str) -> None:
    with session.memory() as engine:
        whole_ids = ids_of(engine, ids)
        getattr(engine.lifecycle, verb)(*whole_ids)
    session.output.changed(key, whole_ids, done)


def _writer(session: Session, model: str | None, address: str | None) -> Writer | None:
    if (model is None) != (address is None):
        raise InvalidArgument("--model", model, "given together with --address")
    if model is None or address is None:
        return None
    from memorata.engine.services.chat import ChatWriter

    return ChatWriter(model, address, api_key=session.api_key)


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
