"""Ask: recall, with a bar for each signal and, on request, the whole arithmetic."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memorata.cli.arguments import changes, chosen, instant, json_object, period_of, place_of, words
from memorata.cli.command import command
from memorata.cli.failures import NOTHING
from memorata.cli.output import counted, one_line
from memorata.cli.session import Session

if TYPE_CHECKING:
    from rich.table import Table
    from rich.tree import Tree

    from memorata.engine import Engine, RecallResult, Recipe
    from memorata.engine.recall.result import SessionHit
    from memorata.learn.agreement import ConfidentRecall
    from memorata.model.explanation import Explanation
    from memorata.model.hit import Hit

SIGNALS: Final = ("vector", "lexical")
_RERANKED: Final = 20
"""How many candidates a re-ranker reads where the recipe does not say."""
_WIDTH: Final = 8
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_JOINED: Final = {"sum": "added", "product": "multiplied", "ratio": "divided", "max": "the larger"}


def recipe_names(incomplete: str) -> list[str]:
    """Return the recipes that begin with what was typed, for the shell."""
    from memorata.engine.recipes.shipped import RECIPES

    return [name for name in RECIPES if name.startswith(incomplete)]


def parameter_names(incomplete: str) -> list[str]:
    """Return the parameters that begin with what was typed, for the shell."""
    from memorata.engine.recipes.recipe import PARAMETERS

    return [f"{each.name}=" for each in PARAMETERS if each.name.startswith(incomplete)]


Question = Annotated[list[str], typer.Argument(metavar="QUESTION", help="What to look for; - reads stdin.")]
Limit = Annotated[int, typer.Option("--limit", "-l", help="How many at most.")]
RecipeName = Annotated[
    str | None,
    typer.Option("--recipe", "-r", help="How to search; see memorata recipes.", autocompletion=recipe_names),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Change a parameter of the recipe; repeatable.",
        autocompletion=parameter_names,
    ),
]  # fmt: skip
FilterText = Annotated[
    str | None, typer.Option("--filter", "-f", metavar="JSON", help="Only memories that meet this.")
]
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="What was believed at that time.")]
TrueAt = Annotated[str | None, typer.Option("--true-at", metavar="TIME", help="What held at that time.")]
Near = Annotated[
    str | None, typer.Option("--near", metavar="LAT,LON", help="Memories from near there count more.")
]
PeriodText = Annotated[
    str | None, typer.Option("--period", metavar="FROM..TO", help="The time the question is about.")
]
Sessions = Annotated[
    bool, typer.Option("--sessions", help="Rank whole sessions, each with its best memories.")
]
Budget = Annotated[
    int | None, typer.Option("--budget", metavar="TOKENS", help="At most so many tokens of text.")
]
Reranker = Annotated[
    str | None, typer.Option("--reranker", metavar="NAME", help="Let a model read the best candidates again.")
]
Agreement = Annotated[
    float | None,
    typer.Option(
        "--agreement",
        metavar="LEAST",
        help="Ask by meaning and by words alone, too, and show nothing if the answers agree less.",
    ),
]
Explain = Annotated[bool, typer.Option("--explain", "-e", help="Show how every score came about.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Know all that was written, where a replica may be a moment behind.")
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "recall", "Remember and recall")(recall)


def recall(
    session: Session,
    question: Question,
    limit: Limit = 10,
    recipe: RecipeName = None,
    set: Changes = None,
    filter: FilterText = None,
    as_of: AsOf = None,
    true_at: TrueAt = None,
    near: Near = None,
    period: PeriodText = None,
    sessions: Sessions = False,
    budget: Budget = None,
    reranker: Reranker = None,
    agreement: Agreement = None,
    explain: Explain = False,
    fresh: Fresh = False,
) -> None:
    """Find the right few memories for a question, and say why."""
    from memorata.engine import PARAMETERS

    changed = changes(set or [], PARAMETERS)
    condition, moment = json_object("--filter", filter), instant("--as-of", as_of)
    held, about, here = instant("--true-at", true_at), period_of("--period", period), place_of("--near", near)
    text = words(question)
    with session.memory(embed=True, reranker=reranker) as engine:
        wanted = recipe_of(engine, "--recipe", recipe)
        if reranker is not None and not wanted.rerank_depth:
            changed.setdefault("rerank_depth", _RERANKED)
        asked: dict[str, Any] = {
            "limit": limit,
            "recipe": wanted,
            "changes": changed,
            "filter": condition,
            "as_of": moment,
            "true_at": held,
            "near": here,
            "period": about,
            "sessions": sessions,
            "budget": budget,
            "fresh": fresh,
        }
        sure = None
        if agreement is None:
            found = engine.recall(text, **asked)
        else:
            from memorata.learn.agreement import confident_recall
            from memorata.model import checks

            checks.probability("--agreement", agreement)
            sure = confident_recall(engine, text, require=agreement, **asked)
            found = sure.recall
        _report(session, found, explain=explain, sure=sure)
        if not found.hits and sure is None:
            session.output.say(_nothing(engine, found, text, limit), "")
        session.output.say(_summary(session, found))
    if not found.hits:
        session.leave(NOTHING)


def recipe_of(engine: Engine, option: str, name: str | None) -> Recipe:
    """Return the recipe of that name, shipped or saved; without one, what a recall uses."""
    from memorata.engine.recipes.shipped import RECIPES

    if name is not None and name not in RECIPES:
        own = [each.recipe.name for each in engine.recipes.list()]
        chosen(option, name, (*RECIPES, *own))
    return engine.recipes.get(name)


def bar(value: float, most: float, width: int = _WIDTH) -> str:
    """Return a bar as long as `value` is of `most`; nothing for what is not above 0.

    Examples
    --------
    >>> bar(1, 2), bar(0.3, 2, width=4), bar(-1, 2)
    ('████', '▋', '')
    """
    if value <= 0 or most <= 0:
        return ""
    # A signal that is there at all shows at least a sliver.
    eighths = max(1, round(min(value / most, 1.0) * width * 8))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).strip()


def signals(why: Explanation) -> dict[str, float]:
    """Return what each signal put into a score, by name; 0 for one that took no part."""
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
        label.append(f"  {_JOINED[why.operation]}", "dim")
    tree = Tree(label, guide_style="dim")
    for part in why.parts:
        tree.children.append(explanation_tree(part))
    return tree


def hits_table(hits: tuple[Hit, ...], sessions: tuple[SessionHit, ...] = ()) -> Table:
    """Return the hits as a table, under their sessions if asked: score, a bar for each signal, the memory."""
    from rich.table import Table
    from rich.text import Text

    from memorata.cli.show_memory import byline

    parts = [signals(hit.explanation) for hit in hits]
    most = max((value for part in parts for value in part.values()), default=0.0)
    heads = _first_hits(sessions)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    for name, colour in zip(SIGNALS, ("cyan", "green"), strict=True):
        table.add_column(name, style=colour, width=_WIDTH, no_wrap=True)
    table.add_column("memory", ratio=1, overflow="fold")
    for place, (hit, part) in enumerate(zip(hits, parts, strict=True), 1):
        if place in heads:
            title = Text(one_line(heads[place].session) or "no session", "bold")
            table.add_row("", Text(f"{heads[place].score:.4f}", "bold"), "", "", title)
        said = Text(one_line(hit.memory.content, 400)).append(f"\n{byline(hit.memory)}", "dim")
        bars = [bar(part[name], most) for name in SIGNALS]
        table.add_row(str(place), f"{hit.score:.4f}", *bars, said)
    return table


def _first_hits(sessions: tuple[SessionHit, ...]) -> dict[int, SessionHit]:
    """Return the sessions by the place of their first hit, counted from 1 through all of them."""
    ends = accumulate((len(each.hits) for each in sessions), initial=1)
    return dict(zip(ends, sessions, strict=False))


def _report(session: Session, found: RecallResult, *, explain: bool, sure: ConfidentRecall | None) -> None:
    output = session.output
    if output.json:
        output.data(_as_json(found, explain=explain, sure=sure))
    elif output.terminal and found.hits:
        output.show(hits_table(found.hits, found.sessions))
        for place, hit in enumerate(found.hits if explain else (), 1):
            output.show(f"\n{place}. {one_line(hit.memory.content, 80)}")
            output.show(explanation_tree(hit.explanation))
    else:
        names = [f"{one_line(each.session)}\t" for each in found.sessions for _ in each.hits]
        for hit, name in zip(found.hits, names or [""] * len(found.hits), strict=True):
            output.line(f"{name}{hit.score:.4f}\t{hit.memory.id}\t{one_line(hit.memory.content)}")
            if explain:
                output.line(
                    "\n".join(f"  {one_line_kept(line)}" for line in str(hit.explanation).splitlines())
                )
    for text in found.degraded:
        output.warn(f"Note: {text}.")
    if sure is not None:
        said = sure.refused or f"the answers agree to {sure.agreement.confidence:.2f}"
        output.say(f"{said} ({', '.join(sure.samples)})", "")
    if explain:
        for leg, how in found.methods.items():
            output.say(f"{leg} were searched by {how}", "")


def one_line_kept(line: str) -> str:
    """Return a line with its indentation and without control characters.

    Examples
    --------
    >>> one_line_kept("    0.5 words")
    '    0.5 words'
    """
    return line[: len(line) - len(line.lstrip())] + one_line(line)


def _nothing(engine: Engine, found: RecallResult, asked: str, limit: int) -> str:
    """Return why there are no hits, in a sentence."""
    if not limit:
        return "--limit 0 shows none."
    if not asked.strip():
        return "The question is blank, so there is nothing to look for."
    if found.rejected is not None:
        best = one_line(found.rejected.hit.memory.content, 80)
        return f"Nothing is close enough. The nearest is “{best}”, but {found.rejected.reason}."
    if found.omitted:
        return f"The budget is too small for the first of {counted(found.omitted, 'hit')}."
    if engine.namespace not in engine.store.namespaces():
        return f"Nothing has been remembered in the namespace {engine.namespace} yet."
    from memorata.engine.recall.query import parse_query
    from memorata.text.queries import has_content

    if not parse_query(asked, engine.analyser).text:
        return "The question says only what must not occur, so there is nothing to look for."
    if not has_content(asked):
        return "The question names nothing and asks for nothing, so there is nothing to look for."
    return "Nothing was found."


def _summary(session: Session, found: RecallResult) -> str:
    from memorata.cli.show_memory import embedder_name, short_id

    parts = [counted(len(found.hits), "hit")]
    if found.sessions:
        parts = [f"{counted(len(found.sessions), 'session')}, {parts[0]}"]
    if found.omitted:
        parts.append(f"{found.omitted} left out by the budget")
    parts.append(f"recipe {found.recipe}")
    parts.append(f"meaning by {embedder_name(found.embedder)}")
    times = found.milliseconds
    parts.append(f"{times['embedding']:.0f} ms embedding, {times['search']:.0f} ms searching")
    if found.id:
        parts.append(f"recall {short_id(found.id) if session.output.terminal else found.id}")
    return " · ".join([*parts, str(session.settings.db)])


def _as_json(found: RecallResult, *, explain: bool, sure: ConfidentRecall | None) -> dict[str, Any]:
    from memorata.service.codec import recall_json

    data = recall_json(found, explain=explain)
    for row, hit in zip(data["hits"], found.hits, strict=True):
        row["signals"] = signals(hit.explanation)
    if sure is not None:
        data["agreement"] = {
            "confidence": sure.agreement.confidence,
            "support": dict(sure.agreement.support),
            "samples": list(sure.samples),
            "refused": sure.refused,
        }
    return data
