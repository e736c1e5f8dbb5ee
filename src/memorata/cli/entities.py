"""Entities and relations: relate, entities, about, purge-entity."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final, TextIO

from typer import Argument, Option

from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.options import EntityName, memory_of
from memorata.cli.output import counted, dumps, memories, one_line, visible
from memorata.cli.transfer import open_target
from memorata.model.errors import InvalidArgument

if TYPE_CHECKING:
    from memorata.engine.graph.communities import KnownEntity
    from memorata.engine.graph.entities import About
    from memorata.model.entity import Relation

_MAX_SHOWN: Final = 5


Text = Annotated[bool, Option("--text", help="Every memory with that word, even if it is no known entity.")]


def relate(
    session: Session,
    subject: str = Argument(metavar="SUBJECT", help="The entity that has the relation."),
    type: str = Argument(metavar="TYPE", help="The type of relation: knows, works_at, …"),
    object: str = Argument(metavar="OBJECT", help="The entity it leads to."),
    weight: float = Option(1.0, help="How strong it is, above 0."),
    memory: str | None = Option(None, metavar="ID", help="The memory that asserts it."),
    valid_from: datetime | None = Option(None, help="Since when it is true."),
    valid_to: datetime | None = Option(None, help="Until when it is true."),
    remove: bool = Option(False, help="Remove it instead."),
) -> None:
    """Relate one entity to another."""
    from memorata.service.codec import relation_json

    with session.memory(create=not remove) as engine:
        if remove:
            removed = engine.entities.unrelate(subject, type, object)
            session.output.result({"removed": removed}, f"removed {counted(removed, 'relation')}")
            return
        id_ = None if memory is None else memory_of(engine, memory).id
        relation = engine.entities.relate(
            subject, type, object, weight=weight, memory=id_, valid_from=valid_from, valid_to=valid_to
        )
    session.output.result(relation_json(relation), _relation_line(relation))


def entities(
    session: Session,
    entity: str | None = Argument(None, metavar="[ENTITY]", help="One entity; all otherwise."),
    prefix: str = Option("", help="Only names that begin so."),
    limit: options.Limit = 20,
    type: str | None = Option(None, "-t", help="Set the type of the entity."),
    alias: list[str] | None = Option(None, help="Another name of it; repeatable."),
    description: str | None = Option(None, help="A few words about it."),
    merge: str | None = Option(None, metavar="OTHER", help="Read OTHER as ENTITY from now on."),
    undo_merge: bool = Option(False, help="Let ENTITY stand for itself again."),
    nicknames: bool = Option(False, help="List the nicknames of speakers instead."),
    undo_alias: bool = Option(False, help="No longer read the nickname ENTITY as a name."),
    restore_alias: bool = Option(False, help="Read it as a name again."),
    as_of: datetime | None = Option(None, help="The relations that held at that time."),
) -> None:
    """List the entities, or describe and show one of them; list nicknames, or undo one."""
    if nicknames or undo_alias or restore_alias:
        _aliases(session, entity, undo=undo_alias, restore=restore_alias)
        return
    described = any(value is not None for value in (type, alias, description))
    if entity is None and (described or undo_merge or merge is not None or as_of is not None):
        raise InvalidArgument(
            "ENTITY", entity, "given with --type, --alias, --description, a merge or --as-of"
        )
    with session.memory() as engine:
        if entity is None:
            _list(session, engine.entities.list(prefix=prefix, limit=limit))
            return
        if described:
            engine.entities.describe(entity, type=type, aliases=alias, description=description)
        if merge is not None:
            engine.entities.merge(entity, merge)
        if undo_merge:
            engine.entities.undo_merge(entity)
        _show(session, engine.entities.get(entity), engine.entities.relations(entity, as_of=as_of))


def _aliases(session: Session, word: str | None, *, undo: bool, restore: bool) -> None:
    """List the nicknames of speakers, once one of them is undone or restored."""
    if (undo or restore) and word is None:
        raise InvalidArgument("ENTITY", word, "given with --undo-alias and --restore-alias")
    with session.memory() as engine:
        if word is not None and (undo or restore):
            engine.entities.undo_alias(word, restore=restore)
        aliases = engine.entities.aliases()
    if session.output.json:
        session.output.data({"aliases": aliases})
        return
    for alias in aliases:
        stands = "itself (undone)" if alias.undone else visible(alias.name)
        session.output.line(f"{alias.memories}\t{one_line(alias.word)}\t{stands}")
    if not aliases:
        session.output.say("No nickname of a speaker is known here")


def about(
    session: Session,
    entity: EntityName,
    file: options.OutputFile = "-",
    text: Text = False,
    force: options.Force = False,
) -> None:
    """Write everything about an entity as JSONL, as export does: memories, hidden ones too."""
    with session.memory() as engine:
        result = engine.entities.about(entity, text=text)
        with open_target(file, force=force) as target:
            _write(result, engine.namespace, target)
    if file != "-" and session.output.json:
        session.output.data({**_counts(result), "file": file})
    else:
        session.output.say(_summary(result))
    _note_other_texts(session, result)


def purge_entity(
    session: Session,
    entity: EntityName,
    export: str | None = Option(None, metavar="FILE", help="Export everything before it is removed."),
    text: Text = False,
    dry_run: options.DryRun = False,
    force: options.Force = False,
    yes: options.Yes = False,
) -> None:
    """Remove everything about an entity for good. This cannot be undone.

    It must be a known entity; of a name that is an ordinary word, such as Will, only what names it counts.
    """
    output = session.output
    with session.memory() as engine:
        result = engine.entities.purge(entity, text=text, dry_run=True)
        for memory in result.memories[:_MAX_SHOWN]:
            output.say(f"  {one_line(memory.content, 100)}", "")
        if len(result.memories) > _MAX_SHOWN:
            output.say(f"  … and {len(result.memories) - _MAX_SHOWN:,} more", "")
        _note_other_texts(session, result)
        if dry_run:
            ids = [memory.id for memory in result.memories]
            output.result(
                {**_counts(result), "file": None, "would_remove": ids}, f"Would remove {_summary(result)}."
            )
            return
        if not session.confirm(f"Remove {_summary(result)} for good?", yes=yes):
            return
        if export is not None:
            with open_target(export, force=force) as target:
                _write(result, engine.namespace, target)
        removed = engine.entities.purge(entity, text=text)
    output.result({**_counts(removed), "file": export}, f"Removed {_summary(removed)}.")


def _list(session: Session, records: Sequence[KnownEntity]) -> None:
    from memorata.service.codec import entity_json

    output = session.output
    if output.json:
        output.data({"entities": [entity_json(record) for record in records]})
    elif output.terminal and records:
        rows = [
            (
                f"{record.memories:,}",
                f"{record.relations:,}",
                record.entity.type,
                ", ".join((record.entity.name, *record.entity.aliases)),
            )
            for record in records
        ]
        output.table(("memories", "relations", "type", "name"), rows, style="")
    else:
        for record in records:
            output.line(_entity_line(record))
    if not records:
        output.say("No entity is known here")


def _show(session: Session, record: KnownEntity, relations: Sequence[Relation]) -> None:
    from memorata.service.codec import entity_json, relation_json

    output = session.output
    if output.json:
        rows = [relation_json(relation) for relation in relations]
        output.data({"entities": [entity_json(record)], "relations": rows})
        return
    output.line(_entity_line(record))
    entity = record.entity
    for label, text in (
        ("aliases", ", ".join(entity.aliases)),
        ("merged", ", ".join(record.merged)),
        ("description", entity.description),
    ):
        if text:
            output.line(f"{label}\t{visible(text)}")
    for relation in relations:
        output.line(_relation_line(relation))


def _entity_line(record: KnownEntity) -> str:
    return f"{record.memories}\t{visible(record.entity.type)}\t{one_line(record.entity.name)}"


def _relation_line(relation: Relation) -> str:
    return one_line(f"{relation.source} —{relation.type}→ {relation.target}")


def _note_other_texts(session: Session, result: About) -> None:
    if result.in_texts:
        more = counted(result.in_texts, "more memory has", "more memories have")
        session.output.say(f"{more} the word, and probably not as the name; --text includes them")


def _write(result: About, namespace: str, target: TextIO) -> None:
    from memorata.service.transfer import about_rows

    for row in about_rows(result, namespace):
        target.write(dumps(row, target) + "\n")


def _counts(result: About) -> dict[str, int]:
    return {
        "memories": len(result.memories),
        "entities": len(result.entities),
        "relations": len(result.relations),
    }


def _summary(result: About) -> str:
    counts = _counts(result)
    return ", ".join(
        (
            memories(counts["memories"]),
            counted(counts["entities"], "entity", "entities"),
            counted(counts["relations"], "relation"),
        )
    )
