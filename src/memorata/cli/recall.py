"""Recall: hits with a bar for each signal and, on request, the whole explanation; and the recipes it runs."""

from __future__ import annotations

from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from typer import Argument, Option

from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.output import byline, counted, embedder_name, one_line, short_id, speaker_line, visible
from memorata.model.errors import InvalidArgument
from memorata.service.errors import NOT_FOUND

if TYPE_CHECKING:
    from rich.table import Table
    from rich.tree import Tree

    from memorata.engine import Engine, RecallResult, Recipe
    from memorata.engine.recall.result import SessionHit
    from memorata.engine.saved_recipes import SavedRecipe
    from memorata.model.hit import Explanation, Hit

SIGNALS: Final = ("vector", "lexical")
_SAMPLES: Final = 2
"""How many other searches measure the agreement where the recipe does not say."""
_RERANK_DEPTH: Final = 20
"""How many candidates a re-ranker reads where the recipe does not say."""
_BAR_WIDTH: Final = 8
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_OPERATIONS: Final = {"sum": "added", "product": "multiplied", "ratio": "divided", "max": "the larger"}


def briefing(
    session: Session, budget: int = Option(1_000, metavar="TOKENS", help="At most so many tokens of text.")
) -> None:
    """Show what to know before the first query: standing, important and recent memories."""
    with session.memory() as engine:
        brief = engine.briefing(budget=budget)
    output = session.output
    if output.json:
        from memorata.service.codec import briefing_json

        output.data(briefing_json(brief))
        return
    for line in brief.text.splitlines():
        output.line(visible(line))
    if brief.omitted:
        output.say(f"{counted(brief.omitted, 'memory', 'memories')} left out by the budget")
    elif not brief.items:
        output.say("Nothing stands here, and nothing is recent.")


def recall(
    session: Session,
    query: options.Query,
    limit: options.Limit = 10,
    recipe: options.RecipeName = None,
    set: options.Changes = None,
    filter: options.Filter = None,
    as_of: options.AsOf = None,
    true_at: datetime | None = Option(None, help="What was true at that time."),
    near: str | None = Option(None, metavar="LAT,LON", help="Memories from near there count more."),
    period: str | None = Option(None, metavar="FROM..TO", help="The time it is about."),
    since: datetime | None = Option(None, help="Only what happened from then on."),
    until: str | None = Option(
        None, metavar="TIME", help="Only what happened before then; a day counts whole."
    ),
    history: Path | None = Option(
        None, metavar="FILE", help="The conversation before the query, a turn a line."
    ),
    sessions: bool = Option(False, help="Rank whole sessions, each with its best memories."),
    budget: int | None = Option(None, metavar="TOKENS", help="At most so many tokens of text."),
    min_confidence: float | None = Option(
        None,
        min=0,
        max=1,
        metavar="P",
        help="Show nothing if the confidence of the result is lower; 0 shows the best, however unlike.",
    ),
    refused: bool = Option(False, help="Also show the hits that the gate refused, marked."),
    reranker: str | None = Option(None, metavar="NAME", help="Re-rank the best candidates."),
    agreement: float | None = Option(
        None,
        metavar="LEAST",
        help="Also search by vectors and by words alone, and show nothing if the results agree less.",
    ),
    variant: list[str] | None = Option(
        None, metavar="TEXT", help="The same query in other words; repeatable."
    ),
    explain: bool = Option(False, "-e", help="Show how every score came about."),
    fresh: bool = Option(False, help="Include the latest writes, where a replica may be behind."),
    namespaces: list[str] | None = Option(
        None, metavar="PATH", help="Search these instead; acme/* is all below acme. Repeatable."
    ),
    inherit: bool = Option(False, help="Also what is above it, and what it is linked to."),
) -> None:
    """Find the right few memories for a query, and explain them."""
    from memorata.service.codec import recall_arguments

    changes = options.parameter_values(set)
    arguments: dict[str, Any] = {
        "limit": limit,
        "filter": filter,
        "as_of": as_of,
        "true_at": true_at,
        "period": options.period_of("--period", period),
        "since": since,
        "until": options.time_of("--until", until, end=True),
        "history": [] if history is None else _turns(history),
        "near": options.place_of("--near", near),
        "sessions": sessions,
        "budget": budget,
        "min_confidence": min_confidence,
        "fresh": fresh,
        "variants": variant or (),
    }
    if agreement is not None:
        from memorata.model import checks

        changes["least_agreement"] = checks.probability("--agreement", agreement)
    text = options.text_of(query)
    with session.memory(embed=True, reranker=reranker) as engine:
        arguments["recipe"] = options.recipe_of(engine, "--recipe", recipe)
        if reranker is not None and not arguments["recipe"].rerank_depth:
            changes.setdefault("rerank_depth", _RERANK_DEPTH)
        if agreement is not None and not arguments["recipe"].samples:
            changes.setdefault("samples", _SAMPLES)
        arguments["parameters"] = changes
        if namespaces or inherit:
            result = engine.admin.namespaces.recall(
                namespaces=namespaces or [engine.namespace],
                inherit=inherit,
                **recall_arguments(text, arguments),
            )
        else:
            result = engine.recall(**recall_arguments(text, arguments))
        _report(session, result, explain=explain)
        if not result.hits and (result.agreement is None or not result.agreement.refused):
            session.output.say(_reason_for_nothing(engine, result, text, limit), "")
        for hit in result.refused if refused and not session.output.json else ():
            session.output.line(f"refused\t{hit.confidence:.2f}\t{hit.memory.id}\t{speaker_line(hit.memory)}")
        session.output.say(_summary(session, result))
    if not result.hits:
        session.leave(NOT_FOUND)


def _turns(path: Path) -> list[str]:
    """Return the turns of a conversation, a line each."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise InvalidArgument("--history", str(path), f"a file of lines of text ({error})") from error
    return [line.strip() for line in text.splitlines() if line.strip()]


def bar(value: float, most: float, width: int = _BAR_WIDTH) -> str:
    """Return a bar as long as `value` is of `most`; none for a value that is not above 0."""
    if value <= 0 or most <= 0:
        return ""
    # A signal that is there at all shows at least a sliver.
    eighths = max(1, round(min(value / most, 1.0) * width * 8))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).strip()


def signals(why: Explanation) -> dict[str, float]:
    """Return what each signal contributed to a score, by name; 0 for one that took no part."""
    values = {node.label: node.value for node in why.walk() if node.label in SIGNALS}
    return {name: values.get(name, 0.0) for name in SIGNALS}


def explanation_tree(why: Explanation) -> Tree:
    """Return an explanation as a tree to draw."""
    from rich.text import Text
    from rich.tree import Tree

    label = Text(f"{why.value:.4f} ").append(why.label, "bold" if why.parts else "")
    if why.note:
        label.append(f"  {one_line(why.note)}", "dim")
    if why.parts:
        label.append(f"  {_OPERATIONS[why.operation]}", "dim")
    tree = Tree(label, guide_style="dim")
    for part in why.parts:
        tree.children.append(explanation_tree(part))
    return tree


def hits_table(hits: tuple[Hit, ...], sessions: tuple[SessionHit, ...] = ()) -> Table:
    """Return hits as a table, under their sessions if any: confidence, a bar for each signal, the memory."""
    from rich.table import Table
    from rich.text import Text

    parts = [signals(hit.explanation) for hit in hits]
    most = max((value for part in parts for value in part.values()), default=0.0)
    # The sessions by the rank of their first hit, counted from 1 through all of them.
    ends = accumulate((len(session.hits) for session in sessions), initial=1)
    heads = dict(zip(ends, sessions, strict=False))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column("confidence", justify="right", no_wrap=True)
    for name, colour in zip(SIGNALS, ("cyan", "green"), strict=True):
        table.add_column(name, style=colour, width=_BAR_WIDTH, no_wrap=True)
    table.add_column("memory", ratio=1, overflow="fold")
    for rank, (hit, part) in enumerate(zip(hits, parts, strict=True), 1):
        if rank in heads:
            title = Text(one_line(heads[rank].session) or "no session", "bold")
            table.add_row("", Text(f"{heads[rank].score:.4f}", "bold"), "", "", title)
        text = Text(one_line(hit.memory.content, 400)).append(f"\n{byline(hit.memory)}", "dim")
        bars = [bar(part[name], most) for name in SIGNALS]
        table.add_row(str(rank), f"{hit.confidence:.0%}", *bars, text)
    return table


def _report(session: Session, result: RecallResult, *, explain: bool) -> None:
    output = session.output
    if output.json:
        from memorata.service.codec import recall_json

        data = recall_json(result, explain=explain)
        for row, hit in zip(data["hits"], result.hits, strict=True):
            row["signals"] = signals(hit.explanation)
        output.data(data)
    elif output.terminal and result.hits:
        output.show(hits_table(result.hits, result.sessions))
        for rank, hit in enumerate(result.hits if explain else (), 1):
            output.show(f"\n{rank}. {one_line(hit.memory.content, 80)}")
            output.show(hit.reason)
            output.show(explanation_tree(hit.explanation))
    else:
        names = [f"{one_line(session.session)}\t" for session in result.sessions for _ in session.hits]
        for hit, name in zip(result.hits, names or [""] * len(result.hits), strict=True):
            output.line(f"{name}{hit.confidence:.2f}\t{hit.memory.id}\t{speaker_line(hit.memory)}")
            if explain:
                output.line(f"  {one_line(hit.reason)}")
                output.line(
                    "\n".join(f"  {indented_line(line)}" for line in str(hit.explanation).splitlines())
                )
    if result.meant:
        output.say(f"By the conversation, asked about {' and '.join(result.meant)}.", "")
    if result.period is not None:
        output.say(f"Time: {result.period.note}.", "")
    for text in result.degraded:
        output.warn(f"Note: {text}.")
    for earlier in result.history:
        older = f"{short_id(earlier.id)}{earlier.text and f' “{one_line(earlier.text, 100)}”'}"
        output.say(f"history: {older} is older than {short_id(earlier.newer)} ({earlier.reason})")
    agreement = result.agreement
    if agreement is not None:
        verdict = agreement.refused or f"the results agree to {agreement.confidence:.2f}"
        output.say(f"{verdict} ({', '.join(agreement.samples)})", "")
    if explain:
        for leg, how in result.methods.items():
            output.say(f"{leg} leg: {how}", "")


def indented_line(line: str) -> str:
    """Return a line with its indentation and without control characters."""
    return line[: len(line) - len(line.lstrip())] + one_line(line)


def _reason_for_nothing(engine: Engine, result: RecallResult, query: str, limit: int) -> str:
    """Return why there are no hits."""
    if not limit:
        return "--limit 0 shows none."
    if not query.strip():
        return "The query is blank, so there is nothing to look for."
    if result.omitted:
        return f"The budget is too small for the first of {counted(result.omitted, 'hit')}."
    if result.rejected is not None:
        best = one_line(result.rejected.hit.memory.content, 80)
        return f"Nothing is close enough. The nearest is “{best}”, but {result.rejected.reason}."
    if engine.namespace not in engine.store.namespaces():
        return f"Nothing has been remembered in the namespace {engine.namespace} yet."
    from memorata.engine.recall.query import parse_query
    from memorata.text.queries import has_content

    if not parse_query(query, engine.analyser).text:
        return "The query says only what must not occur, so there is nothing to look for."
    if not has_content(query):
        return "The query names nothing and asks for nothing, so there is nothing to look for."
    return "Nothing was found."


def _summary(session: Session, result: RecallResult) -> str:
    parts = [counted(len(result.hits), "hit")]
    if result.sessions:
        parts = [f"{counted(len(result.sessions), 'session')}, {parts[0]}"]
    if result.omitted:
        parts.append(f"{result.omitted} left out by the budget")
    parts.append(f"recipe {result.recipe}")
    parts.append(f"embedder {embedder_name(result.embedder)}")
    times = result.milliseconds
    parts.append(f"{times['embedding']:.0f} ms embedding, {times['search']:.0f} ms searching")
    if result.id:
        parts.append(f"recall {short_id(result.id) if session.output.terminal else result.id}")
    return " · ".join([*parts, str(session.settings.db)])


def recipes(
    session: Session,
    name: str | None = Argument(
        None,
        metavar="[NAME|use|rollback]",
        help="A recipe, to see its parameters; or what to do.",
        autocompletion=options.recipe_names,
    ),
    recipe: str | None = Argument(None, metavar="[RECIPE]", help="The recipe to use, or to roll back."),
) -> None:
    """List the recipes; with a NAME, every parameter of one, its value and its range.

    recipes use NAME lets recalls use a shipped or saved recipe from now on; recipes use alone returns to
    that of the settings. recipes rollback NAME drops the last version of a saved recipe, and recipes
    rollback alone undoes the last change of what is in use.
    """
    from memorata.engine import RECIPES
    from memorata.service.codec import recipe_json, saved_recipe_json

    if name in ("use", "rollback"):
        _change_recipe(session, name, recipe)
        return
    if recipe is not None:
        raise InvalidArgument("RECIPE", recipe, "given after use or rollback only")
    saved = {}
    if session.settings.db.exists():
        with session.memory() as engine:
            saved = {record.recipe.name: record for record in engine.admin.recipes.list()}
    if name is not None:
        by_name = {**RECIPES, **{key: record.recipe for key, record in saved.items()}}
        _show_recipe(session, by_name[options.one_of("NAME", name, tuple(by_name))], saved.get(name))
        return
    rows = [(recipe.name, recipe.doc) for recipe in RECIPES.values()]
    for own_name, record in saved.items():
        in_use = "in use; " if record.in_use else ""
        reason = record.evidence.get("reason", "saved by hand")
        rows.append((own_name, f"{in_use}version {record.versions}: {reason}"))
    shipped, own = map(recipe_json, RECIPES.values()), map(saved_recipe_json, saved.values())
    session.output.table(
        ("recipe", "what it does"),
        rows,
        data={"recipes": list(shipped), "saved": list(own)},
        note="memorata recipes NAME shows the parameters; recall --set NAME=VALUE changes one",
    )


def _change_recipe(session: Session, verb: str, name: str | None) -> None:
    from memorata.service.codec import recipe_json

    with session.memory() as engine:
        changed = engine.admin.recipes.use(name) if verb == "use" else engine.admin.recipes.rollback(name)
        in_use = engine.admin.recipes.get().name
    session.output.result({"recipe": recipe_json(changed), "in_use": in_use}, f"in use: {in_use}")


def _show_recipe(session: Session, recipe: Recipe, saved: SavedRecipe | None) -> None:
    from memorata.engine import PARAMETERS
    from memorata.service.codec import recipe_json, saved_recipe_json

    if session.output.json:
        session.output.data(recipe_json(recipe) if saved is None else saved_recipe_json(saved))
        return
    doc = recipe.doc if saved is None else saved.evidence.get("reason", "saved by hand")
    session.output.say(f"{recipe.name}: {doc}", "")
    rows = [
        (parameter.name, _value_text(getattr(recipe, parameter.name)), parameter.range, parameter.doc)
        for parameter in PARAMETERS
    ]
    session.output.table(("parameter", "value", "may be", "meaning"), rows, unbroken=2)


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
