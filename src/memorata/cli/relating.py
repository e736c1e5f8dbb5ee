"""Who is who and what hangs together: relate, entities, paths, communities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from memorata.cli.arguments import chosen, found_memory, instant
from memorata.cli.command import command
from memorata.cli.failures import NOTHING
from memorata.cli.output import counted, one_line, visible
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.engine.graph.communities import FoundPath, KnownEntity
    from memorata.model.entity import Relation

_PANEL: Final = "Who, what, where, when"
_DIRECTIONS: Final = ("both", "out", "in")
_ORDERS: Final = ("breadth", "depth")
_EXCERPT: Final = 60

Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="Who or what has the relation.")]
TypeOf = Annotated[str, typer.Argument(metavar="TYPE", help="What it is: knows, works_at, … any word.")]
Object = Annotated[str, typer.Argument(metavar="OBJECT", help="Whom or what it leads to.")]
Weight = Annotated[float, typer.Option("--weight", help="How strong it is, above 0.")]
By = Annotated[str | None, typer.Option("--memory", metavar="ID", help="The memory that says so.")]
ValidFrom = Annotated[str | None, typer.Option("--valid-from", metavar="TIME", help="Since when it holds.")]
ValidTo = Annotated[str | None, typer.Option("--valid-to", metavar="TIME", help="Until when it holds.")]
Remove = Annotated[bool, typer.Option("--remove", help="Take it back instead.")]

Name = Annotated[str | None, typer.Argument(metavar="[ENTITY]", help="One of them, by any of its names.")]
Prefix = Annotated[str, typer.Option("--prefix", help="Only names that begin so.")]
Limit = Annotated[int, typer.Option("--limit", "-l", help="How many at most.")]
Kind = Annotated[str | None, typer.Option("--type", "-t", help="Say what kind of thing it is.")]
Aliases = Annotated[list[str] | None, typer.Option("--alias", help="Another name of it; repeatable.")]
Description = Annotated[str | None, typer.Option("--description", help="A few words about it.")]
Merge = Annotated[
    str | None, typer.Option("--merge", metavar="OTHER", help="Read OTHER as ENTITY from now on.")
]
Undo = Annotated[bool, typer.Option("--undo-merge", help="Let ENTITY stand for itself again.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="The relations that held at that time.")
]

AsKnown = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="What was known and believed at that time.")
]

Start = Annotated[str, typer.Argument(metavar="ENTITY", help="The entity to start from.")]
To = Annotated[str | None, typer.Option("--to", metavar="ENTITY", help="Only ways to this entity.")]
Depth = Annotated[int, typer.Option("--depth", help="How many steps a way may have.")]
Types = Annotated[
    list[str] | None, typer.Option("--type", "-t", help="A type of relation to follow; repeatable.")
]
Direction = Annotated[str, typer.Option("--direction", help="both, out or in.")]
Order = Annotated[str, typer.Option("--order", help="breadth or depth first.")]
Nodes = Annotated[int, typer.Option("--nodes", help="How many entities and memories to reach at most.")]
Seconds = Annotated[float | None, typer.Option("--seconds", help="How much time to take at most.")]

Level = Annotated[int, typer.Option("--level", help="0 for the finest groups, up to 2 for the coarsest.")]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same groups.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "relate", _PANEL)(relate)
    command(app, "entities", _PANEL)(entities)
    command(app, "paths", _PANEL)(paths)
    command(app, "communities", _PANEL)(communities)


def relate(
    session: Session,
    subject: Subject,
    type: TypeOf,
    object: Object,
    weight: Weight = 1.0,
    memory: By = None,
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    remove: Remove = False,
) -> None:
    """Say that one thing has a relation to another."""
    from memorata.service.codec import relation_json

    output = session.output
    since, until = instant("--valid-from", valid_from), instant("--valid-to", valid_to)
    with session.memory(create=not remove) as engine:
        if remove:
            removed = engine.entities.unrelate(subject, type, object)
            if output.json:
                output.data({"removed": removed})
            else:
                output.line(f"removed {counted(removed, 'relation')}")
            return
        by = None if memory is None else found_memory(engine, memory).id
        said = engine.entities.relate(
            subject, type, object, weight=weight, memory=by, valid_from=since, valid_to=until
        )
    if output.json:
        output.data(relation_json(said))
    else:
        output.line(_relation_line(said))


def entities(
    session: Session,
    name: Name = None,
    prefix: Prefix = "",
    limit: Limit = 20,
    type: Kind = None,
    alias: Aliases = None,
    description: Description = None,
    merge: Merge = None,
    undo_merge: Undo = False,
    as_of: AsOf = None,
) -> None:
    """List who and what is known, or say and show all about one of them."""
    from memorata.model.errors import InvalidArgument

    moment = instant("--as-of", as_of)
    asks_about_one = (
        any(given is not None for given in (type, alias, description, merge, as_of)) or undo_merge
    )
    if name is None and asks_about_one:
        raise InvalidArgument("ENTITY", name, "given with --type, --alias, --description, a merge or --as-of")
    with session.memory() as engine:
        if name is None:
            _list(session, engine.entities.list(prefix=prefix, limit=limit))
            return
        if any(given is not None for given in (type, alias, description)):
            engine.entities.describe(name, type=type, aliases=alias, description=description)
        if merge is not None:
            engine.entities.merge(name, merge)
        if undo_merge:
            engine.entities.undo_merge(name)
        _show(session, engine.entities.get(name), engine.entities.relations(name, as_of=moment))


def paths(
    session: Session,
    start: Start,
    to: To = None,
    depth: Depth = 2,
    type: Types = None,
    direction: Direction = "both",
    order: Order = "breadth",
    nodes: Nodes = 100,
    limit: Limit = 100,
    seconds: Seconds = None,
    as_of: AsKnown = None,
) -> None:
    """Show the ways that lead from an entity through relations and memories."""
    from memorata.service.codec import path_json

    output = session.output
    then = instant("--as-of", as_of)
    with session.memory() as engine:
        found = engine.graph.paths(
            start,
            to=to,
            depth=depth,
            types=type or None,
            direction=chosen("--direction", direction, _DIRECTIONS),
            order=chosen("--order", order, _ORDERS),
            nodes=nodes,
            paths=limit,
            seconds=seconds,
            as_of=then,
        )
        lines = [] if output.json else [_path_line(engine, path) for path in found.paths]
    if output.json:
        output.data({"paths": [path_json(path) for path in found.paths], "truncated": found.truncated})
    for path, line in zip(found.paths, lines, strict=False):
        output.line(f"{path.score:.4f}  {line}" if output.terminal else f"{path.score:.4f}\t{line}")
    if found.truncated is not None:
        output.say(f"There is more: the search ended at its limit of {found.truncated}")
    if not found.paths:
        output.say("No way leads from there" + ("" if to is None else f" to {visible(to)}"))
        session.leave(NOTHING)


def communities(
    session: Session, level: Level = 0, limit: Limit = 10, seed: Seed = 0, as_of: AsKnown = None
) -> None:
    """Show the groups of memories and entities that hang together, and what each is about."""
    from memorata.service.codec import community_json

    output = session.output
    then = instant("--as-of", as_of)
    with session.memory() as engine:
        found = engine.graph.communities(level=level, limit=limit, seed=seed, as_of=then)
    if output.json:
        output.data(
            {
                "communities": [community_json(group) for group in found.groups],
                "level": found.level,
                "count": found.count,
                "modularity": found.modularity,
                "converged": found.converged,
            }
        )
    else:
        for group in found.groups:
            output.line(visible(group.summary.text))
    if not found.groups:
        output.say("Nothing hangs together here yet")
        session.leave(NOTHING)
    output.say(f"{counted(found.count, 'community', 'communities')} · modularity {found.modularity:.2f}")


def _list(session: Session, found: tuple[KnownEntity, ...]) -> None:
    from memorata.service.codec import entity_json

    output = session.output
    if output.json:
        output.data({"entities": [entity_json(each) for each in found]})
    elif output.terminal:
        from rich.table import Table

        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("memories", justify="right")
        table.add_column("relations", justify="right")
        table.add_column("type", style="dim")
        table.add_column("name", overflow="fold")
        for each in found:
            names = (each.entity.name, *each.entity.aliases)
            table.add_row(
                f"{each.memories:,}",
                f"{each.relations:,}",
                visible(each.entity.type),
                visible(", ".join(names)),
            )
        if found:
            output.show(table)
    else:
        for each in found:
            output.line(_entity_line(each))
    if not found:
        output.say("Nobody and nothing is known here")


def _show(session: Session, known: KnownEntity, relations: tuple[Relation, ...]) -> None:
    from memorata.service.codec import entity_json, relation_json

    output = session.output
    if output.json:
        rows = [relation_json(relation) for relation in relations]
        output.data({"entities": [entity_json(known)], "relations": rows})
        return
    output.line(_entity_line(known))
    entity = known.entity
    for label, text in (
        ("also", ", ".join(entity.aliases)),
        ("merged", ", ".join(known.merged)),
        ("about", entity.description),
    ):
        if text:
            output.line(f"{label}\t{visible(text)}")
    for relation in relations:
        output.line(_relation_line(relation))


def _entity_line(known: KnownEntity) -> str:
    return f"{known.memories}\t{visible(known.entity.type)}\t{one_line(known.entity.name)}"


def _relation_line(relation: Relation) -> str:
    return one_line(f"{relation.source} —{relation.type}→ {relation.target}")


def _path_line(engine: Engine, path: FoundPath) -> str:
    """Return a path for people: memories by what they say."""
    said = path.start
    for step in path.steps:
        place = step.entity
        if step.memory is not None:
            place = f"“{one_line(engine.get(step.memory).content, _EXCERPT)}”"
        said += f" —{step.type}→ {place}" if step.forward else f" ←{step.type}— {place}"
    return one_line(said)
