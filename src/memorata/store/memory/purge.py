"""Removing memories for good: rows, vectors, words and sessions, and their places in chains of corrections.

Every function here runs inside a transaction that its caller opened; what it leaves behind in the bytes of
the file is erased afterwards (:mod:`memorata.store.sqlite.database`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memorata.index import segments
from memorata.index.record import changed as changed_record
from memorata.index.record import gone as gone_record
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.access import erase_replies
from memorata.store.database import Session
from memorata.store.entities import referred_to, remove_named, remove_unreferred
from memorata.store.entries import TermsOf
from memorata.store.feedback import purge_feedback
from memorata.store.memory.lookup import Located, located, record_of
from memorata.store.memory.memories import update
from memorata.store.memory.supersession import (
    began,
    end_of,
    ended_again,
    given_back,
    mark_current,
    note_taken,
    notes_of,
    replaced_by,
    settle_ends,
)
from memorata.store.recall_log import forget_queries, forget_users, purge_exposures, purge_recalls
from memorata.store.rows import (
    EMPTY,
    SLOTS,
    Namespace,
    find,
    find_namespace,
    is_inhabited,
    log_change,
    put_record,
    set_columns,
    slots_of,
)
from memorata.text.tokens import folded


def purge(
    session: Session,
    path: str,
    ids: Sequence[str],
    names: Sequence[str] = (),
    terms_of: TermsOf | None = None,
) -> None:
    """Remove memories and everything derived from them, and the entities with some names, for good."""
    number = (find_namespace(session, path) or EMPTY).number
    entities = referred_to(session, number, ids)
    slots = list(slots_of(session, number, ids).values())
    remove(session, path, ids, terms_of)
    if is_inhabited(session, number):
        purge_recalls(session, number, slots)
        purge_feedback(session, number, slots)
        purge_exposures(session, number, slots)
    else:
        for table in ("recalls", "recall_recipes", "feedback", "exposures"):
            session.execute(f"DELETE FROM {table} WHERE namespace = ?", (number,))
    remove_unreferred(session, number, entities)
    remove_named(session, number, [folded(name) for name in names])
    if names and number:
        forget_queries(session, number, names)
        forget_users(session, number, names)
        # A recall that waits to be logged must not bring a name back: it is dropped after a purge.
        log_change(session, number, "purge")
    erase_replies(session, path)


def empty(session: Session, path: str) -> int:
    """Remove a namespace with all that belongs to it, and return how many memories it had."""
    namespace = find_namespace(session, path)
    if namespace is None:
        raise InvalidArgument("namespace", path, "one that there is")
    number = namespace.number
    (count,) = session.execute("SELECT count(*) FROM memories WHERE namespace = ?", (number,)).fetchone()
    segments.drop(session, number)
    session.dialect.drop_namespace(session, number, path)
    return int(count)


def remove(
    session: Session,
    path: str,
    ids: Sequence[str],
    terms_of: TermsOf | None = None,
) -> None:
    """Remove memories, their vectors, words and sessions; only their slots stay, empty."""
    if terms_of is not None:
        _give_back(session, path, ids, terms_of)
    slots: list[int] = []
    sessions = set()
    embedders = [embedder for (embedder,) in session.execute("SELECT number FROM embedders").fetchall()]
    for id_ in ids:
        namespace, number, slot, removed = find(session, path, id_)
        slots.append(slot)
        session.execute(
            "DELETE FROM memories WHERE +namespace = ? AND number = ?", (namespace.number, number)
        )
        for embedder in embedders:
            session.execute(
                "DELETE FROM vectors WHERE +namespace = ? AND number = ?",
                (namespace.number, session.dialect.vectors_number(embedder, namespace.number, slot)),
            )
        session.execute(
            "UPDATE records SET terms = NULL WHERE namespace = ? AND slot = ?", (namespace.number, slot)
        )
        session.execute("DELETE FROM rewordings WHERE namespace = ? AND slot = ?", (namespace.number, slot))
        put_record(session, namespace, slot, gone_record(), "purge")
        _unlink(session, namespace, removed)
        sessions.add(removed.source.session)
    if not slots:
        return
    _remove_unheld_sessions(session, namespace.number, sessions)
    segments.rewrite_without(session, namespace.number, slots)


def _give_back(session: Session, path: str, ids: Sequence[str], terms_of: TermsOf) -> None:
    """Remove from the memories that these repeat what they took over from them."""
    gone = set(ids)
    for id_ in dict.fromkeys(find(session, path, repeat)[3].superseded_by for repeat in ids):
        if id_ is None or id_ in gone:
            continue
        namespace, _, _, winner = find(session, path, id_)
        notes = notes_of(session, path, id_)
        numbers = {note.number for note in notes if note.repeat.id in gone}
        restored, others = given_back(winner, notes, numbers)
        if restored != winner:
            update(session, restored, winner.version, terms_of)
        note_taken(session, namespace.number, others)


def _remove_unheld_sessions(session: Session, number: int, names: set[str]) -> None:
    """Remove the sessions among these that no memory has any more: a name can reveal as much as a text."""
    held = session.execute(
        "SELECT DISTINCT session FROM memories WHERE +namespace = ? AND number >= ? AND number < ?",
        (number, session.dialect.number(number, 0), session.dialect.number(number, SLOTS)),
    ).fetchall()
    session.executemany(
        "DELETE FROM sessions WHERE namespace = ? AND name = ?",
        [(number, name) for name in names - {name for (name,) in held}],
    )


def _unlink(session: Session, namespace: Namespace, removed: Memory) -> None:
    """Take a purged memory out of its chain.

    What it had replaced is current again, unless something newer had replaced it in turn: then that one
    takes its place in the chain, for a purge does not bring outdated memories back. What it had replaced held
    until it began, and now until the newer one did.
    """
    replaced = replaced_by(session, namespace, removed.id)
    heir = None if removed.superseded_by is None else find(session, namespace.path, removed.superseded_by)
    first = None if heir is None else began(session, namespace.number, heir[3].id)
    for number, slot, older_memory, end_given in replaced:
        record = record_of(session, namespace, slot)
        if heir is not None and heir[2] > slot and older_memory.valid_to is None:
            # It only repeated the purged memory, and is now superseded itself.
            end_given = True
        if heir is None:
            older = Located(namespace, number, slot, older_memory, record)
            mark_current(session, older, end_given=end_given)
            continue
        ended = ended_again(older_memory, end_given, first)
        links: dict[str, Any] = {"superseded_by": heir[3].id, "end_given": end_given}
        set_columns(session, namespace.number, number, **links, valid_to=ended)
        put_record(session, namespace, slot, changed_record(record, until=end_of(ended)), "supersede")
    if heir is not None:
        _, number, slot, newer, unchanged = located(session, namespace.path, heir[3].id)
        listed = [id_ for id_ in newer.supersedes if id_ != removed.id]
        # A memory younger than the heir repeats it, and is linked by its own row alone (duplicates.py).
        listed += [link.memory.id for link in replaced if link.slot < slot]
        set_columns(session, namespace.number, number, supersedes=tuple(listed))
        put_record(session, namespace, slot, unchanged.tobytes(), "update")
    for link in replaced:
        settle_ends(session, namespace, link.memory.id)
