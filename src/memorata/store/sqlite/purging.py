"""Removing memories for good: rows, vectors, words and sessions, and their places in chains of corrections.

Every function here runs inside a transaction that its caller opened; what it leaves behind in the bytes of
the file is erased afterwards (:mod:`.erasing`).
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Sequence

import numpy as np

from memorata.index.record import changed as changed_record
from memorata.index.record import gone as gone_record
from memorata.model.memory import Memory
from memorata.store.instants import microseconds
from memorata.store.port import Terms
from memorata.store.sqlite import addresses, segments
from memorata.store.sqlite.finding import find, put_record, record_of
from memorata.store.sqlite.places import place, vectors_place
from memorata.store.sqlite.relinking import began, note_taken, notes_of, replaced_by, settle_ends
from memorata.store.sqlite.segments import Namespace
from memorata.store.sqlite.writing import update
from memorata.store.succession import ended_again
from memorata.store.taking_over import given_back


def purge(
    connection: sqlite3.Connection,
    path: str,
    ids: Sequence[str],
    terms_of: Callable[[Memory], Terms] | None = None,
) -> None:
    """Remove memories, their vectors, words and sessions; only their slots stay, empty.

    Where the words of memories are told, what they gave to those that they repeat goes with them.
    """
    if terms_of is not None:
        _give_back(connection, path, ids, terms_of)
    slots: list[int] = []
    vectors: list[int] = []
    reinstated: list[int] = []
    sessions = set()
    for id_ in ids:
        namespace, number, slot, removed = find(connection, path, id_)
        slots.append(slot)
        connection.execute("DELETE FROM memories WHERE number = ?", (number,))
        for (embedder,) in connection.execute("SELECT number FROM embedders").fetchall():
            vectors.append(vectors_place(embedder, namespace.number, slot))
            connection.execute("DELETE FROM vectors WHERE number = ?", vectors[-1:])
        connection.execute(
            "UPDATE records SET terms = NULL WHERE namespace = ? AND slot = ?", (namespace.number, slot)
        )
        put_record(connection, namespace, slot, gone_record(), "purge")
        reinstated += _unlink(connection, namespace, removed)
        sessions.add(removed.source.session)
    if not slots:
        return
    _remove_unheld_sessions(connection, namespace.number, sessions)
    segments.rewrite_without(connection, namespace.number, slots)
    gone = [place(namespace.number, slot) for slot in slots]
    addresses.add_current(connection, reinstated)
    addresses.remove(connection, np.array([*gone, *vectors], np.int64))


def _give_back(
    connection: sqlite3.Connection, path: str, ids: Sequence[str], terms_of: Callable[[Memory], Terms]
) -> None:
    """Let what the given ones only repeat give back what it took over from them."""
    gone = set(ids)
    for id_ in dict.fromkeys(find(connection, path, each)[3].superseded_by for each in ids):
        if id_ is None or id_ in gone:
            continue
        _, _, _, kept = find(connection, path, id_)
        notes = notes_of(connection, path, id_)
        numbers = {note.number for note in notes if note.repeat.id in gone}
        poorer, others = given_back(kept, notes, numbers)
        if poorer != kept:
            update(connection, poorer, kept.version, terms_of)
        note_taken(connection, others)


def _remove_unheld_sessions(connection: sqlite3.Connection, number: int, names: set[str]) -> None:
    """Remove the sessions among these that no memory is of any more: a name can tell as much as a text."""
    held = connection.execute(
        "SELECT DISTINCT session FROM memories WHERE number >= ? AND number < ?",
        (place(number, 0), place(number + 1, 0)),
    )
    connection.executemany(
        "DELETE FROM sessions WHERE namespace = ? AND name = ?",
        [(number, name) for name in names - {name for (name,) in held}],
    )


def _unlink(connection: sqlite3.Connection, namespace: Namespace, removed: Memory) -> list[int]:
    """Take a purged memory out of the chain it was part of, and return the numbers of what is current again.

    What it had replaced is current again, unless something newer had replaced it in turn: then that one
    takes its place in the chain, for nobody asked for the oldest to come back. What it had replaced held
    until it began, and now until the newer one did.
    """
    replaced = replaced_by(connection, namespace, removed.id)
    heir = None if removed.superseded_by is None else find(connection, namespace.path, removed.superseded_by)
    first = None if heir is None else began(connection, namespace.number, heir[3].id)
    for number, slot, kept, given in replaced:
        record = record_of(connection, namespace, slot)
        if heir is not None and heir[2] > slot and kept.valid_to is None:
            # It only repeated what goes, and from now on speaks for itself.
            given = True
        ended = ended_again(kept, given, first)
        until = math.inf if ended is None else ended.timestamp()
        if heir is not None:
            connection.execute(
                "UPDATE memories SET superseded_by = ?, valid_to = ?, end_given = ?, version = version + 1 "
                "WHERE number = ?",
                (heir[3].id, microseconds(ended), given, number),
            )
            put_record(connection, namespace, slot, changed_record(record, until=until), "supersede")
        else:
            connection.execute(
                "UPDATE memories SET superseded_by = NULL, superseded_at = NULL, valid_to = ?, "
                "end_given = 0, version = version + 1 WHERE number = ?",
                (microseconds(ended), number),
            )
            record_now = changed_record(record, superseded=math.inf, until=until)
            put_record(connection, namespace, slot, record_now, "reinstate")
    if heir is not None:
        _, number, slot, newer = find(connection, namespace.path, heir[3].id)
        older = [id_ for id_ in newer.supersedes if id_ != removed.id]
        # What is younger than the heir was said again, and is linked by its own row alone (repeats.py).
        older += [each.memory.id for each in replaced if each.slot < slot]
        connection.execute(
            "UPDATE memories SET supersedes = ?, version = version + 1 WHERE number = ?",
            (json.dumps(older, ensure_ascii=False), number),
        )
        put_record(connection, namespace, slot, record_of(connection, namespace, slot).tobytes(), "update")
    for each in replaced:
        settle_ends(connection, namespace, each.memory.id)
    return [] if heir is not None else [each.number for each in replaced]
