"""Keep a memory good: maintain, which applies the rules, and consolidate, which proposes summaries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memorata.cli.arguments import found_memory
from memorata.cli.command import command
from memorata.cli.output import counted, one_line, visible
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine.lifecycle.consolidation import Proposal, Writer
    from memorata.engine.lifecycle.lifecycle import MaintenanceReport

_PANEL: Final = "Keep in order"

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
All = Annotated[bool, typer.Option("--all-namespaces", help="Every namespace, not only this one.")]
Accept = Annotated[
    list[str] | None, typer.Option("--accept", metavar="ID", help="Accept a proposal; repeatable.")
]
Reject = Annotated[
    list[str] | None, typer.Option("--reject", metavar="ID", help="Reject a proposal; repeatable.")
]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="A language model to write them.")]
Address = Annotated[
    str | None, typer.Option("--address", metavar="URL", help="Where it answers, usually ending in /v1.")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "maintain", _PANEL)(maintain)
    command(app, "consolidate", _PANEL)(consolidate)


def maintain(session: Session, dry_run: DryRun = False, all_namespaces: All = False) -> None:
    """Promote, demote, expire and propose summaries, by the rules; pinned memories are left alone."""
    from memorata.model.errors import WorkUnderWay

    output = session.output
    reports, skipped = [], []
    with session.memory(embed=True) as engine:
        for path in sorted(engine.store.namespaces()) if all_namespaces else [engine.namespace]:
            advance = partial(_progress, session, path)
            try:
                reports.append(engine.lifecycle.maintain(dry_run=dry_run, namespace=path, progress=advance))
            except WorkUnderWay as busy:
                if not all_namespaces:
                    raise
                # Another server looks after that one at this moment.
                skipped.append({"namespace": path, "reason": str(busy)})
                output.warn(str(busy))
    if output.json:
        output.data({"namespaces": [report.as_dict() for report in reports], "skipped": skipped})
        return
    for report in reports:
        for line in _told(report):
            output.line(line)
    if dry_run:
        output.say("Nothing was changed; without --dry-run it is.")
    elif any(report.expired for report in reports):
        output.say("What expired is forgotten; restore brings it back, pin keeps it.")


def consolidate(
    session: Session,
    dry_run: DryRun = False,
    accept: Accept = None,
    reject: Reject = None,
    model: Model = None,
    address: Address = None,
) -> None:
    """Propose summaries of episodes on one theme, show those that wait, and accept or reject them."""
    from memorata.model.errors import InvalidArgument

    output = session.output
    if dry_run and (accept or reject):
        raise InvalidArgument("--dry-run", dry_run, "left out where proposals are accepted or rejected")
    with session.memory(embed=True) as engine:
        accepted = [found_memory(engine, id_).id for id_ in accept or ()]
        rejected = [found_memory(engine, id_).id for id_ in reject or ()]
        engine.lifecycle.accept_summary(*accepted)
        engine.lifecycle.reject_summary(*rejected)
        proposed: tuple[Proposal, ...] = ()
        if not accepted and not rejected:
            proposed = engine.lifecycle.consolidate(dry_run=dry_run, writer=_writer(session, model, address))
        waiting = proposed if dry_run else engine.lifecycle.summaries()
    if output.json:
        rows = [
            {"id": each.summary.id, "content": each.summary.content, "sources": list(each.sources)}
            for each in waiting
        ]
        output.data({"accepted": accepted, "rejected": rejected, "proposed": len(proposed), "waiting": rows})
        return
    for each in waiting:
        output.line(visible(each.summary.content) if output.terminal else one_line(each.summary.content))
        output.line(f"  id {each.summary.id}" if output.terminal else f"\t{each.summary.id}")
    said = [
        f"{counted(len(waiting), 'summary', 'summaries')} {'would be proposed' if dry_run else 'waiting'}"
    ]
    said += [f"{len(accepted)} accepted"] if accepted else []
    said += [f"{len(rejected)} rejected"] if rejected else []
    output.say(" · ".join(said))
    if waiting and not dry_run:
        output.say("memorata consolidate --accept ID, or --reject ID")


def _progress(session: Session, path: str, step: str, count: int) -> None:
    session.output.say(f"{path}: {step} {count:,}")


def _writer(session: Session, model: str | None, address: str | None) -> Writer | None:
    from memorata.model.errors import InvalidArgument

    if (model is None) != (address is None):
        raise InvalidArgument("--model", model, "given together with --address")
    if model is None or address is None:
        return None
    from memorata.engine.services.chat import ChatWriter

    key = session.settings.api_key
    return ChatWriter(model, address, api_key=None if key is None else key.get_secret_value())


def _told(report: MaintenanceReport) -> list[str]:
    moves = [
        f"{report.namespace}\t{verb}\t{move.id}\t{move.before.value} to {move.after.value}"
        for verb, found in (("promoted", report.promoted), ("demoted", report.demoted))
        for move in found
    ]
    expired = [f"{report.namespace}\texpired\t{id_}" for id_ in report.expired]
    proposed = [
        f"{report.namespace}\tproposed\t{each.summary.id}\t{one_line(each.summary.content)}"
        for each in report.proposed
    ]
    return moves + expired + proposed
