"""What was said twice, and what cannot both be true: duplicates and contradictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memorata.cli.arguments import chosen, found_memory
from memorata.cli.command import command
from memorata.cli.failures import NOTHING
from memorata.cli.output import Output, counted, one_line, visible
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.engine.duplicates.search import DuplicateGroup, FoundDuplicates
    from memorata.store.repeats import Contradiction, Run

_PANEL: Final = "Keep in order"
_METHODS: Final = ("matrix", "lsh")
_STRATEGIES: Final = ("keep_highest_confidence", "keep_most_recent", "merge", "keep_both")
_EXCERPT: Final = 70

Apply = Annotated[bool, typer.Option("--apply", help="Supersede what is shown; without it, only show.")]
Undo = Annotated[bool, typer.Option("--undo", help="Take the last run back.")]
RunNumber = Annotated[
    int | None, typer.Option("--run", metavar="N", help="With --undo, the run to take back.")
]
Runs = Annotated[bool, typer.Option("--runs", help="Show the runs there were.")]
MethodName = Annotated[
    str | None, typer.Option("--method", help="With --paraphrases: matrix or lsh; otherwise by the number.")
]
Strategy = Annotated[str, typer.Option("--strategy", help=", ".join(_STRATEGIES) + ".")]
Paraphrases = Annotated[
    bool, typer.Option("--paraphrases", help="Other words for the same too, as far as vectors can tell.")
]
Limit = Annotated[int, typer.Option("--limit", "-l", help="How many groups to show; --apply takes all.")]

Which = Annotated[str | None, typer.Argument(metavar="[ID]", help="Only those of this memory.")]
All = Annotated[bool, typer.Option("--all", help="Also what was decided, and what is hidden by now.")]
Accept = Annotated[
    str | None,
    typer.Option("--accept", metavar="OLDER", help="Say that ID contradicts OLDER, and supersedes it."),
]
Reject = Annotated[
    str | None, typer.Option("--reject", metavar="OLDER", help="Say that ID and OLDER can both be true.")
]
Because = Annotated[str | None, typer.Option("--because", help="Why you decide so; it is kept.")]
ChatModel = Annotated[
    str | None, typer.Option("--model", help="Let this language model decide about all that are open.")
]
ChatAddress = Annotated[
    str, typer.Option("--address", metavar="URL", help="Where it answers, OpenAI-compatible, up to /v1.")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "duplicates", _PANEL)(duplicates)
    command(app, "contradictions", _PANEL)(contradictions)


def duplicates(
    session: Session,
    apply: Apply = False,
    undo: Undo = False,
    run: RunNumber = None,
    runs: Runs = False,
    method: MethodName = None,
    strategy: Strategy = "keep_highest_confidence",
    paraphrases: Paraphrases = False,
    limit: Limit = 20,
) -> None:
    """Show what was said more than once, and supersede it if asked to; nothing is lost."""
    from memorata.model import checks
    from memorata.model.errors import InvalidArgument

    if undo and apply:
        raise InvalidArgument("--undo", undo, "given without --apply")
    if run is not None and not undo:
        raise InvalidArgument("--run", run, "given with --undo")
    method = None if method is None else chosen("--method", method, _METHODS)
    chosen("--strategy", strategy, _STRATEGIES)
    checks.whole("--limit", limit)
    with session.memory() as engine:
        if runs:
            _show_runs(session, engine)
        elif undo:
            _undo(session, engine, run)
        else:
            with _progress(session.output) as progress:
                found = engine.duplicates.find(
                    strategy=strategy, method=method, paraphrases=paraphrases, progress=progress
                )
            if not session.output.json:
                _show_groups(session.output, found, limit)
            done = None
            if apply and found.groups:
                with _progress(session.output) as progress:
                    done = engine.duplicates.supersede(found.groups, strategy=strategy, progress=progress)
            by = f", by {found.method.value}" if paraphrases else ""
            _report(session.output, found, done, limit, by, apply=apply)


def contradictions(
    session: Session,
    id: Which = None,
    all: All = False,
    accept: Accept = None,
    reject: Reject = None,
    because: Because = None,
    model: ChatModel = None,
    address: ChatAddress = "http://127.0.0.1:11434/v1",
) -> None:
    """Show which memories may contradict each other, and decide about them."""
    from memorata.model.errors import InvalidArgument

    if (accept is not None or reject is not None) and (id is None or because is None):
        raise InvalidArgument("--because", because, "given, and an ID, with --accept or --reject")
    if sum(given is not None for given in (accept, reject, model)) > 1:
        raise InvalidArgument("--accept", accept, "given without --reject and --model")
    with session.memory() as engine:
        which = None if id is None else found_memory(engine, id).id
        older = accept if accept is not None else reject
        found: tuple[Contradiction, ...]
        if which is not None and older is not None:
            decided = engine.duplicates.resolve_contradiction(
                which,
                found_memory(engine, older).id,
                contradicts=accept is not None,
                because=because or "",
                by="command line",
            )
            found = (decided,)
        elif model is not None:
            from memorata.engine.services.chat import ChatJudge

            key = session.settings.api_key
            judge = ChatJudge(model, address, api_key=None if key is None else key.get_secret_value())
            found = engine.duplicates.resolve_contradictions(judge)
        else:
            found = engine.duplicates.contradictions(which, resolved=all)
        _show_contradictions(session.output, engine, found)


def _show_groups(output: Output, found: FoundDuplicates, limit: int) -> None:
    for group in found.groups[:limit]:
        output.line(f"{group.kind}\tkeep\t{group.keep.id}\t{_excerpt(group.content)}")
        for each in group.repeats:
            output.line(f"{group.kind}\trepeats\t{each.id}\t{_excerpt(each.content)}")
    if len(found.groups) > limit:
        output.say(f"… and {counted(len(found.groups) - limit, 'more group')}; --limit shows more")


def _report(
    output: Output, found: FoundDuplicates, run: Run | None, limit: int, by: str, *, apply: bool
) -> None:
    repeats = sum(len(group.repeats) for group in found.groups)
    if output.json:
        output.data(
            {
                "groups": [_group_json(group) for group in found.groups[:limit]],
                "total": len(found.groups),
                "repeats": repeats,
                "compared": found.compared,
                "candidates": found.candidates,
                "turns": found.turns,
                "method": found.method.value,
                "run": None if run is None else _run_json(run),
            }
        )
        return
    said = f"{counted(repeats, 'repeat')} in {counted(len(found.groups), 'group')}"
    output.say(f"{said} of {counted(found.compared, 'memory', 'memories')}{by}")
    if found.turns:
        turns = counted(found.turns, "turn of a transcript", "turns of transcripts")
        output.say(f"{turns} left alone")
    if run is not None:
        output.line(f"superseded {run.repeats:,} in run {run.number}")
        output.say("memorata duplicates --undo takes it back")
    elif found.groups and not apply:
        output.say("--apply supersedes them; their history stays readable, and --undo takes it back")


def _undo(session: Session, engine: Engine, run: int | None) -> None:
    if run is None and all(each.undone_at for each in engine.duplicates.runs()):
        if session.output.json:
            session.output.data({"reinstated": [], "left": []})
        session.output.say("There is no run to take back.")
        session.leave(NOTHING)
    undone = engine.duplicates.undo(run)
    if session.output.json:
        session.output.data(
            {
                "reinstated": [memory.id for memory in undone.reinstated],
                "left": [memory.id for memory in undone.left],
            }
        )
        return
    session.output.line(f"reinstated {counted(len(undone.reinstated), 'memory', 'memories')}")
    if undone.left:
        session.output.say(f"{len(undone.left):,} stay superseded: what they repeat has been corrected since")


def _show_runs(session: Session, engine: Engine) -> None:
    runs = engine.duplicates.runs()
    if session.output.json:
        session.output.data({"runs": [_run_json(run) for run in runs]})
        return
    for run in runs:
        state = "undone" if run.undone_at else "done" if run.finished_at else "interrupted"
        started = f"{run.started_at:%Y-%m-%d %H:%M}"
        session.output.line(f"{run.number}\t{started}\t{state}\t{run.repeats}\t{run.strategy}")
    if not runs:
        session.output.say("There was no run yet.")


def _show_contradictions(output: Output, engine: Engine, found: tuple[Contradiction, ...]) -> None:
    if output.json:
        output.data({"contradictions": [_contradiction_json(each) for each in found]})
        return
    for each in found:
        state = each.verdict or "open"
        because = f" ({each.decided_because})" if each.decided_because else ""
        output.line(f"{state}\t{each.cue}\t{each.reason}{because}")
        for role, id_ in (("newer", each.newer), ("older", each.older)):
            output.line(f"{role}\t{id_}\t{_excerpt(engine.get(id_).content)}")
    if not found:
        output.say("Nothing contradicts anything, as far as is known.")


def _excerpt(content: str) -> str:
    return one_line(visible(content), _EXCERPT)


def _group_json(group: DuplicateGroup) -> dict[str, Any]:
    return {
        "kind": group.kind,
        "keep": group.keep.id,
        "content": group.content,
        "repeats": [each.id for each in group.repeats],
        "reasons": list(group.reasons),
    }


def _run_json(run: Run) -> dict[str, Any]:
    return {
        "number": run.number,
        "strategy": run.strategy,
        "started_at": run.started_at.isoformat(),
        "finished_at": None if run.finished_at is None else run.finished_at.isoformat(),
        "undone_at": None if run.undone_at is None else run.undone_at.isoformat(),
        "superseded": run.repeats,
    }


def _contradiction_json(each: Contradiction) -> dict[str, Any]:
    return {
        "newer": each.newer,
        "older": each.older,
        "cue": each.cue,
        "reason": each.reason,
        "at": each.at.isoformat(),
        "verdict": each.verdict,
        "decided_by": each.decided_by,
        "decided_because": each.decided_because,
        "decided_at": None if each.decided_at is None else each.decided_at.isoformat(),
    }


@contextmanager
def _progress(output: Output) -> Iterator[Callable[[str, int, int], None]]:
    """Give a function that shows how far it is, on standard error and only to people."""
    from rich.progress import Progress

    shown = output.errors.is_terminal and not output.quiet and not output.json
    with Progress(console=output.errors, transient=True, disable=not shown) as progress:
        tasks: dict[str, Any] = {}

        def advance(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done, total=total)

        yield advance
