"""Learn from use: feedback, log, replay, retune."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from memorata.cli.arguments import changes, found_memory, found_recall, instant
from memorata.cli.command import command
from memorata.cli.learning_output import interval, table
from memorata.cli.output import counted, one_line
from memorata.cli.recalling import Changes, RecipeName, recipe_of
from memorata.cli.session import Session
from memorata.cli.show_memory import short_id

PANEL: Final = "Learn from use"

RecallId = Annotated[str, typer.Argument(metavar="RECALL", help="The recall: its id, or a piece of it.")]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory: its id, or a piece of it.")]
Kind = Annotated[str, typer.Argument(metavar="KIND", help="thumbs, rating, relevant or click.")]
Value = Annotated[
    str | None, typer.Argument(metavar="[VALUE]", help="up or down, 1 to 5, yes or no; nothing for a click.")
]
Limit = Annotated[int, typer.Option("--limit", "-l", help="How many at most.")]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only from that time on.")]
Moves = Annotated[int, typer.Option("--moves", help="How many results that moved are shown.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would happen and change nothing.")]
Again = Annotated[bool, typer.Option("--force", help="Although the last look was less than a week ago.")]
Bounds = Annotated[
    str | None,
    typer.Option("--bounds", metavar="LOW,HIGH", help="The lowest and the highest threshold: 0.3,0.99."),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FOLDER", help="Draw it, as SVG files in this folder.")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "feedback", PANEL)(feedback)
    command(app, "log", PANEL)(log)
    command(app, "replay", PANEL)(replay)
    command(app, "retune", PANEL)(retune)


def feedback(session: Session, recall: RecallId, id: MemoryId, kind: Kind, value: Value = None) -> None:
    """Say what a hit was worth; it is kept with the numbers the hit had when it was shown."""
    from memorata.model.errors import InvalidArgument
    from memorata.service.codec import plain

    said: str | int | None = value
    if kind == "rating":
        if value is None or not value.isascii() or not value.isdigit():
            raise InvalidArgument("VALUE", value, "a whole number from 1 to 5")
        said = int(value)
    with session.memory() as engine:
        given = engine.feedback.record(found_recall(engine, recall), found_memory(engine, id).id, kind, said)
    if session.output.json:
        session.output.data(plain(given))
    else:
        rating = "" if given.rating is None else f" {given.rating}"
        session.output.line(f"{given.signal.value}{rating}\t{given.memory_id}")


def log(session: Session, limit: Limit = 20, since: Since = None) -> None:
    """Show the recalls that were logged, the latest first: when, with which recipe, and what was asked."""
    from memorata.service.codec import logged_recall_json

    moment = instant("--since", since)
    with session.memory() as engine:
        found = engine.feedback.recalls(limit=limit, since=moment)
        said = {each.feedback.recall_id for each in engine.feedback.list()}
    if session.output.json:
        logged = [{**logged_recall_json(each), "judged": each.id in said} for each in found]
        session.output.data({"recalls": logged})
        return
    shorter = short_id if session.output.terminal else str
    rows = [
        (
            shorter(each.id),
            f"{each.at:%Y-%m-%d %H:%M}",
            str(each.recipe["name"]),
            counted(len(each.shown), "hit"),
            "judged" if each.id in said else "",
            one_line("(question not kept)" if each.query is None else each.query, 60),
        )
        for each in found
    ]
    if not rows and limit:
        session.output.say(
            "No recall was logged yet." if since is None else "No recall is from that time.", ""
        )
        return
    table(session, ("recall", "when", "recipe", "shown", "", "question"), rows, whole=1)


def replay(
    session: Session,
    recipe: RecipeName = None,
    set: Changes = None,
    limit: Limit = 1000,
    since: Since = None,
    moves: Moves = 20,
) -> None:
    """Rank logged recalls by another recipe, without searching: what moves, and whether it is better."""
    from memorata.engine import PARAMETERS
    from memorata.learn.replay import replay_log
    from memorata.service.codec import plain

    changed, moment = changes(set or [], PARAMETERS), instant("--since", since)
    with session.memory() as engine:
        wanted = recipe_of(engine, "--recipe", recipe)
        found = replay_log(engine, wanted, changed, since=moment, limit=limit)
    done, output = found.replay, session.output
    if output.json:
        output.data(
            {
                "recipe": found.recipe.as_dict(),
                "recalls": done.recalls,
                "judged": done.judged,
                "changed": done.changed,
                "faithful": found.faithful,
                "kept_as_logged": list(found.kept),
                "gains": {name: plain(asdict(each)) for name, each in done.gains.items()},
                "moved": [asdict(each) for each in done.moved[:moves]],
            }
        )
        return
    rows = [(name, interval(each)) for name, each in done.gains.items()]
    table(session, ("measure", f"gain on {counted(done.judged, 'judged recall')}"), rows)
    if done.moved[:moves]:
        shorter = short_id if output.terminal else str
        moved = [
            (shorter(each.recall_id), shorter(each.item), f"{each.before or '–'} → {each.after or '–'}")
            for each in done.moved[:moves]
        ]
        table(session, ("recall", "memory", "rank"), moved, whole=1)
    output.say(
        f"{done.changed} of {counted(done.recalls, 'recall')} would show something else; "
        f"{found.faithful} come out of the log exactly as they were"
    )
    if not done.gains:
        output.say("No metrics: nobody has said yet what was relevant (memorata feedback).")
    if found.kept:
        output.say(f"As they were logged, for they need a search: {', '.join(found.kept)}")


def retune(
    session: Session,
    dry_run: DryRun = False,
    force: Again = False,
    bounds: Bounds = None,
    plot: Plot = None,
) -> None:
    """Move the least similarity as the feedback of the last seven days says, by at most 5 %.

    For a scheduler: it does nothing but once in seven days. What it decided is recorded, and a threshold that
    moved is a new version of the recipe “retuned”, put in use; memorata recipes rollback takes it back.
    """
    from memorata.learn.retune import BOUNDS, recorded, retune_record, retune_week

    output = session.output
    with session.memory(embed=True) as engine:
        limits = BOUNDS if bounds is None else _pair("--bounds", bounds)
        found = retune_week(engine, dry_run=dry_run, force=force, bounds=limits)
        record = retune_record(engine)
    if plot is not None and not record:
        output.say("Nothing was drawn: no decision is on record yet.")
    elif plot is not None:
        from memorata.learn.plots import draw_drift

        plot.mkdir(parents=True, exist_ok=True)
        weeks = dict(zip(_told_apart([at for at, _ in record]), (each for _, each in record), strict=True))
        output.say(f"Drawn: {draw_drift(weeks, plot / 'drift.svg')}")
    if output.json:
        decision: dict[str, Any] | None = None if found.decision is None else recorded(found.decision)
        past = [{"at": at.isoformat(), **recorded(each)} for at, each in record]
        output.data(
            {
                "due": found.due.isoformat(),
                "decision": decision,
                "recipe": found.recipe,
                "dry_run": dry_run,
                "record": past,
            }
        )
    elif found.decision is None:
        output.line(f"not yet: the next look is due {found.due:%Y-%m-%d %H:%M} UTC")
    else:
        each = found.decision
        moved = f"{each.before:.4f} → {each.after:.4f}" if each.after != each.before else f"{each.before:.4f}"
        output.line(f"{each.move.value}\t{moved}\t{each.reason}")
        if found.recipe:
            output.say(f"in use: {found.recipe}; memorata recipes rollback takes it back")


def _told_apart(moments: Sequence[datetime]) -> list[str]:
    """Return moments as short as tells them apart: by day, else with the year, else with the time.

    Examples
    --------
    >>> _told_apart([datetime(2026, 5, 7), datetime(2026, 5, 14)])
    ['07 May', '14 May']
    >>> _told_apart([datetime(2026, 5, 7), datetime(2027, 5, 7)])
    ['07 May 2026', '07 May 2027']
    """
    said = [f"{at:%d %b}" for at in moments]
    for form in ("%d %b %Y", "%d %b %Y %H:%M", "%d %b %Y %H:%M:%S.%f"):
        if len(set(said)) == len(said):
            break
        said = [at.strftime(form) for at in moments]
    return said


def _pair(option: str, text: str) -> tuple[float, float]:
    from memorata.model.errors import InvalidArgument

    low, _, high = text.partition(",")
    try:
        return float(low), float(high)
    except ValueError as error:
        raise InvalidArgument(option, text, "two numbers such as 0.3,0.99") from error
