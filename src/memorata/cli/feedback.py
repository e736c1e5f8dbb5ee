"""Feedback and the log of recalls: add, used, confirm, log."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.options import MemoryId, MemoryIds, ids_of, memory_of, recall_id_of
from memorata.cli.output import counted, one_line, short_id
from memorata.model.errors import InvalidArgument

RecallId = Annotated[str, Argument(metavar="RECALL", help="The recall: its id, or a part of it.")]


def add(
    session: Session,
    recall: RecallId,
    id: MemoryId,
    kind: str = Argument(metavar="KIND", help="thumbs, rating, relevant or click."),
    value: str | None = Argument(
        None, metavar="[VALUE]", help="up or down, 1 to 5, yes or no; none for click."
    ),
) -> None:
    """Record feedback on a hit; it is kept with the features the hit had when it was shown."""
    parsed: str | int | None = value
    if kind == "rating":
        if value is None or not value.isascii() or not value.isdigit():
            raise InvalidArgument("VALUE", value, "a whole number from 1 to 5")
        parsed = int(value)
    with session.memory() as engine:
        recorded = engine.admin.feedback.record(
            recall_id_of(engine, recall), memory_of(engine, id).id, kind, parsed
        )
    rating = "" if recorded.rating is None else f" {recorded.rating}"
    session.output.result(recorded, f"{recorded.signal.value}{rating}\t{recorded.memory_id}")


def used(session: Session, ids: MemoryIds) -> None:
    """Record that memories were of use, which makes them last and count more."""
    _apply(session, "mark_used", ids, "used", "Recorded the use of")


def confirm(session: Session, ids: MemoryIds) -> None:
    """Record that memories are true, still or again, which raises their confidence."""
    _apply(session, "confirm", ids, "confirmed", "Confirmed")


def log(session: Session, limit: options.Limit = 20, since: options.Since = None) -> None:
    """Show the recalls that were logged, the latest first: time, recipe, hits and query."""
    from memorata.service.codec import logged_recall_json

    with session.memory() as engine:
        recalls = engine.admin.feedback.recalls(limit=limit, since=since)
        judged = {reaction.feedback.recall_id for reaction in engine.admin.feedback.list()}
    rows = [{**logged_recall_json(recall), "judged": recall.id in judged} for recall in recalls]
    shorter = short_id if session.output.terminal else str
    cells = [
        (
            shorter(recall.id),
            f"{recall.at:%Y-%m-%d %H:%M}",
            str(recall.recipe["name"]),
            counted(len(recall.shown), "hit"),
            "judged" if recall.id in judged else "",
            one_line("(query not kept)" if recall.query is None else recall.query, 60),
        )
        for recall in recalls
    ]
    if not cells and limit and not session.output.json:
        session.output.say(
            "No recall was logged yet." if since is None else "No recall is from that time.", ""
        )
        return
    heads = ("recall", "when", "recipe", "shown", "", "query")
    session.output.table(heads, cells, unbroken=1, data={"recalls": rows})


def _apply(session: Session, verb: str, ids: list[str], key: str, done: str) -> None:
    with session.memory() as engine:
        whole_ids = ids_of(engine, ids)
        getattr(engine.admin.lifecycle, verb)(*whole_ids)
    session.output.changed(key, whole_ids, done)
