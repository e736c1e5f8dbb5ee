"""Removing memories for good: rows, vectors, words and sessions, and their places in chains of corrections.

Every function here runs inside a transaction that its caller opened.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from memorata.index.record import changed as changed_record
from memorata.model.memory import Memory
from memorata.store.inheritance import given_back
from memorata.store.instants import microseconds
from memorata.store.port import Terms
from memorata.store.postgres import namespaces
from memorata.store.postgres.connection import Server
from memorata.store.postgres.finding import find, is_shown, put_record, set_columns
from memorata.store.postgres.namespaces import NO_RECORDS, Namespace
from memorata.store.postgres.relinking import began, note_taken, notes_of, replaced_by, settle_ends
from memorata.store.postgres.vectors import remove_vectors
from memorata.store.postgres.words import unlist_words
from memorata.store.postgres.writing import update
from memorata.store.supersession import ended_again


def purge(
    connection: Server,
    path: str,
    ids: Sequence[str],
    terms_of: Callable[[Memory], Terms] | None = None,
) -> list[int]:
    """Remove memories, their vectors, words and sessions, and return the slots they were in.

    Where the words of memories are told, what they gave to those that they repeat goes with them.
    """
    if terms_of is not None:
        _give_back(connection, path, ids, terms_of)
    slots = []
    sessions = set()
    for id_ in ids:
        kept = find(connection, path, id_, lock=True)
        number = kept.namespace.number
        gone = connection.execute(
            "DELETE FROM memories WHERE namespace = %s AND slot = %s RETURNING words", (number, kept.slot)
        ).fetchone()
        assert gone is not None  # it was found above, and the namespace is locked
        unlist_words(connection, number, kept.slot, gone[0], hidden=not is_shown(kept.record))
        remove_vectors(connection, number, kept.slot)
        lost = kept.record if is_shown(kept.record) else NO_RECORDS
        namespaces.log(connection, kept.namespace, [kept.slot], "purge", lost=lost, memories=-1)
        _unlink(connection, kept.namespace, kept.memory)
        slots.append(kept.slot)
        sessions.add(kept.memory.source.session)
    if slots:
        _remove_unheld_sessions(connection, number, sessions)
    return slots


def _give_back(
    connection: Server, path: str, ids: Sequence[str], terms_of: Callable[[Memory], Terms]
) -> None:
    """Let what the given ones only repeat give back what it took over from them."""
    gone = set(ids)
    going = [find(connection, path, each, lock=True).memory for each in ids]
    for id_ in dict.fromkeys(each.superseded_by for each in going):
        if id_ is None or id_ in gone:
            continue
        kept = find(connection, path, id_)
        notes = notes_of(connection, kept.namespace, id_)
        numbers = {note.number for note in notes if note.repeat.id in gone}
        poorer, others = given_back(kept.memory, notes, numbers)
        if poorer != kept.memory:
            update(connection, poorer, kept.memory.version, terms_of)
        note_taken(connection, kept.namespace, others)


def _remove_unheld_sessions(connection: Server, number: int, names: set[str]) -> None:
    """Remove the sessions among these that no memory is of any more: a name can tell as much as a text."""
    connection.execute(
        "DELETE FROM sessions s WHERE s.namespace = %s AND s.name = ANY (%s) AND NOT EXISTS "
        "(SELECT 1 FROM memories m WHERE m.namespace = s.namespace AND m.session = s.name)",
        (number, sorted(names - {""})),
    )


def _unlink(connection: Server, namespace: Namespace, removed: Memory) -> None:
    """Take a purged memory out of the chain it was part of.

    What it had replaced is current again, unless something newer had replaced it in turn: then that one
    takes its place in the chain, for nobody asked for the oldest to come back. What it had replaced held
    until it began, and now until the newer one did.
    """
    replaced = replaced_by(connection, namespace, removed.id)
    heir = None if removed.superseded_by is None else find(connection, namespace.path, removed.superseded_by)
    first = None if heir is None else began(connection, namespace.number, heir.memory.id)
    for kept, given in replaced:
        if heir is not None and heir.slot > kept.slot and kept.memory.valid_to is None:
            # It only repeated what goes, and from now on speaks for itself.
            given = True
        ended = ended_again(kept.memory, given, first)
        until = math.inf if ended is None else ended.timestamp()
        if heir is not None:
            taken = heir.memory.id
            set_columns(connection, kept, superseded_by=taken, valid_to=microseconds(ended), end_given=given)
            put_record(connection, kept, changed_record(kept.record, until=until), "supersede")
        else:
            set_columns(
                connection,
                kept,
                superseded_by=None,
                superseded_at=None,
                valid_to=microseconds(ended),
                end_given=False,
            )
            record = changed_record(kept.record, superseded=math.inf, until=until)
            put_record(connection, kept, record, "reinstate")
    if heir is not None:
        newer = find(connection, namespace.path, heir.memory.id)
        ids = [id_ for id_ in newer.memory.supersedes if id_ != removed.id]
        # What is younger than the heir was said again, and is linked by its own row alone (repeats.py).
        ids += [kept.memory.id for kept, _ in replaced if kept.slot < newer.slot]
        set_columns(connection, newer, supersedes=ids)
        put_record(connection, newer, newer.record.tobytes(), "update")
    for kept, _ in replaced:
        settle_ends(connection, namespace, kept.memory.id)
