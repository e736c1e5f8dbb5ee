"""Duplicates and contradictions: find them, and supersede or resolve them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from typer import Argument, Option

from memorata.cli.options import memory_of, one_of
from memorata.cli.output import Output, counted, memories, one_line, progress
from memorata.cli.session import Session
from memorata.model.errors import InvalidArgument
from memorata.service.errors import NOT_FOUND

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.engine.duplicates.search import FoundDuplicates
    from memorata.store.memory.repeats import Contradiction, Run

_METHODS: Final = ("matrix", "lsh")
_STRATEGIES: Final = ("keep_highest_confidence", "keep_most_recent", "merge", "keep_both")
_EXCERPT_LENGTH: Final = 70


def duplicates(
    session: Session,
    apply: bool = Option(False, help="Supersede them; without it, only show."),
    undo: bool = Option(False, help="Undo the last run."),
    run: int | None = Option(None, metavar="N", help="With --undo, the run to undo."),
    runs: bool = Option(False, help="Show the runs so far."),
    method: str | None = Option(None, help="With --paraphrases: matrix or lsh."),
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
    method = None if method is None else one_of("--method", method, _METHODS)
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
            groups = engine.duplicates.find(
                strategy=strategy, method=method, paraphrases=paraphrases, progress=advance
            )
        if not session.output.json:
            _show_groups(session.output, groups, limit)
        done = None
        if apply and groups.groups:
            with progress(session.output) as advance:
                done = engine.duplicates.supersede(groups.groups, strategy=strategy, progress=advance)
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
            current = engine.duplicates.reinstate(newer)
            session.output.result({"reinstated": [current.id]}, f"reinstated {current.id}")
            return
        older = accept if accept is not None else reject
        pairs: tuple[Contradiction, ...]
        if newer is not None and older is not None:
            resolved = engine.duplicates.resolve_contradiction(
                newer,
                memory_of(engine, older).id,
                contradicts=accept is not None,
                because=because or "",
                by="command line",
            )
            pairs = (resolved,)
        elif model is not None:
            from memorata.engine.services.chat import ChatJudge

            judge = ChatJudge(model, address, api_key=session.api_key)
            pairs = engine.duplicates.resolve_contradictions(judge)
        else:
            pairs = engine.duplicates.contradictions(newer, resolved=all)
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
        output.data(
            {
                "groups": groups,
                "total": len(result.groups),
                "repeats": repeats,
                "compared": result.compared,
                "candidates": result.candidates,
                "turns": result.turns,
                "method": result.method.value,
                "run": run,
            }
        )
        return
    method = f", by {result.method.value}" if paraphrases else ""
    groups_text = f"{counted(repeats, 'repeat')} in {counted(len(result.groups), 'group')}"
    output.say(f"{groups_text} of {memories(result.compared)}{method}")
    if result.turns:
        output.say(f"{counted(result.turns, 'turn of a transcript', 'turns of transcripts')} left alone")
    if run is not None:
        output.line(f"superseded {run.repeats:,} in run {run.number}")
        output.say("memorata duplicates --undo reverts it")
    elif result.groups and not apply:
        output.say("--apply supersedes them; their history stays readable, and --undo reverts it")


def _undo(session: Session, engine: Engine, run: int | None) -> None:
    output = session.output
    if run is None and all(earlier.undone_at for earlier in engine.duplicates.runs()):
        output.result({"reinstated": [], "left": []})
        session.leave(NOT_FOUND, "There is no run to undo.")
    undone = engine.duplicates.undo(run)
    output.result(undone, f"reinstated {memories(len(undone.reinstated))}")
    if undone.left and not output.json:
        output.say(f"{len(undone.left):,} stay superseded: what they repeat has been corrected since")


def _show_runs(session: Session, engine: Engine) -> None:
    runs = engine.duplicates.runs()
    lines = []
    for run in runs:
        state = "undone" if run.undone_at else "done" if run.finished_at else "interrupted"
        started = f"{run.started_at:%Y-%m-%d %H:%M}"
        lines.append(f"{run.number}\t{started}\t{state}\t{run.repeats}\t{run.strategy}")
    session.output.result({"runs": runs}, *lines)
    if not runs and not session.output.json:
        session.output.say("There was no run yet.")


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
