"""Logged recalls ranked again, and thresholds moved by a week of feedback: replay, retune."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from typer import Option

from memorata.extend.commands import Session, counted, options, parameter_values, recipe_of, short_id
from memorata.extend.errors import InvalidArgument


def replay(
    session: Session,
    recipe: options.RecipeName = None,
    set: options.Changes = None,
    limit: options.Limit = 1000,
    since: options.Since = None,
    moves: int = Option(20, help="How many hits that moved are shown."),
) -> None:
    """Rank logged recalls by another recipe, without searching: what moves, and whether it is better."""
    from memorata_lab.learn.replay import replay_log

    changes = parameter_values(set)
    with session.memory() as engine:
        base = recipe_of(engine, "--recipe", recipe)
        replayed = replay_log(engine, base, changes, since=since, limit=limit)
    replay_result, output = replayed.replay, session.output
    if output.json:
        counts = {name: getattr(replay_result, name) for name in ("recalls", "judged", "changed", "gains")}
        about = {"faithful": replayed.faithful, "kept_as_logged": replayed.kept}
        moved_hits = replay_result.moved[:moves]
        output.data({"recipe": replayed.recipe.as_dict(), **counts, **about, "moved": moved_hits})
        return
    rows = [(name, str(gain)) for name, gain in replay_result.gains.items()]
    output.table(("measure", f"gain on {counted(replay_result.judged, 'judged recall')}"), rows)
    if replay_result.moved[:moves]:
        shorter = short_id if output.terminal else str
        moved = [
            (shorter(move.recall_id), shorter(move.item), f"{move.before or '–'} → {move.after or '–'}")
            for move in replay_result.moved[:moves]
        ]
        output.table(("recall", "memory", "rank"), moved, unbroken=1)
    output.say(
        f"{replay_result.changed} of {counted(replay_result.recalls, 'recall')} would show other hits; "
        f"{replayed.faithful} are reproduced exactly"
    )
    if not replay_result.gains:
        output.say("No measures: there is no feedback yet (memorata feedback add).")
    if replayed.kept:
        output.say(f"Kept as logged, because they need a search: {', '.join(replayed.kept)}")


def retune(
    session: Session,
    dry_run: options.DryRun = False,
    force: bool = Option(False, help="Even if the last run was less than a week ago."),
    bounds: str | None = Option(
        None,
        metavar="LOW,HIGH",
        help="The range of the threshold; 0.3,0.99 carried to the embedder.",
    ),
    plot: options.Plot = None,
) -> None:
    """Move the thresholds of similarity and confidence by the feedback of the last seven days, by up to 5 %.

    A move is made only if it wins on held-out queries. For a scheduler: it acts once in seven days. Each
    decision is recorded, and a threshold that moved is a new version of the recipe “retuned”, put in use;
    memorata recipes rollback reverts it.
    """
    from memorata_lab.learn.retune import SIMILARITY, recorded, retune_record, retune_week

    output = session.output
    with session.memory(embed=True) as engine:
        limits = None if bounds is None else _pair("--bounds", bounds)
        outcome = retune_week(engine, dry_run=dry_run, force=force, bounds=limits)
        record = retune_record(engine)
    if plot is not None and not record:
        output.say("Nothing was drawn: no decision is on record yet.")
    elif plot is not None:
        from memorata_lab.learn.plots import draw_drift

        plot.mkdir(parents=True, exist_ok=True)
        drawn = [(at, event) for at, event in record if event.measure == SIMILARITY]
        times = _distinct_times([at for at, _ in drawn])
        weeks = {time: event for time, (_, event) in zip(times, drawn, strict=True)}
        output.say(f"Drawn: {draw_drift(weeks, plot / 'drift.svg')}")
    if output.json:
        decided = {
            name: None if (decision := getattr(outcome, name)) is None else recorded(decision)
            for name in ("decision", "confidence")
        }
        past = [{"at": at, **recorded(event)} for at, event in record]
        about = {"recipe": outcome.recipe, "dry_run": dry_run, "record": past}
        output.data({"due": outcome.due, **decided, **about})
    elif outcome.decision is None:
        output.line(f"not yet: the next run is due {outcome.due:%Y-%m-%d %H:%M} UTC")
    else:
        for change in filter(None, (outcome.decision, outcome.confidence)):
            now = f"{change.before:.4f}"
            moved = f"{now} → {change.after:.4f}" if change.after != change.before else now
            output.line(f"{change.move.value}\t{change.measure} {moved}\t{change.reason}")
        if outcome.recipe:
            output.say(f"in use: {outcome.recipe}; memorata recipes rollback reverts it")


def _distinct_times(moments: Sequence[datetime]) -> list[str]:
    """Return times as short as they differ: by day, else with the year, else with the time."""
    texts = [f"{at:%d %b}" for at in moments]
    for form in ("%d %b %Y", "%d %b %Y %H:%M", "%d %b %Y %H:%M:%S.%f"):
        if len(set(texts)) == len(texts):
            break
        texts = [at.strftime(form) for at in moments]
    return texts


def _pair(option: str, text: str) -> tuple[float, float]:
    low, _, high = text.partition(",")
    try:
        return float(low), float(high)
    except ValueError as error:
        raise InvalidArgument(option, text, "two numbers such as 0.3,0.99") from error
