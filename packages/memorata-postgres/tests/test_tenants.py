"""A tenant tries to reach another by every path, with the store and with SQL of its own."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import psycopg
import pytest

from memorata.dedupe.wording import statement_key
from memorata.index.lexical import LexicalQuery
from memorata.model.entity import Place, Relation
from memorata.model.errors import (
    InvalidArgument,
    LeaseLost,
    MemoryNotFound,
    ServerUnsuitable,
    StoreError,
    StoreUnavailable,
)
from memorata.model.hit import Feedback, Signal
from memorata.model.memory import Source
from memorata.store.access import ApiKey, Reply
from memorata.store.entries import Hidden
from memorata.store.logged_recall import LogBounds, LoggedRecall
from memorata.store.memory.embedding import Embedded
from memorata.store.memory.repeats import Contradiction, Repeat
from memorata.store.recall_log import Exposure
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, NOW, THERE, direction, entry
from memorata_postgres.dialect import OWNED, namespace_key
from memorata_postgres.schema import make_ready
from memorata_postgres.store import PostgresStore
from memorata_postgres.tenants import admit, dismiss
from memorata_postgres.testing import PASSWORD, as_user, outside

SECRET = "what bob said"


def recall(namespace: str) -> LoggedRecall:
    return LoggedRecall(
        f"r {namespace}", namespace, NOW, SECRET, {}, "", {}, {}, ("lexical",),
        np.ones((1, 1), np.float32), np.array([0]), (0,),
    )  # fmt: skip


def furnish(store: PostgresStore, namespace: str, prefix: str) -> None:
    """Write something into every table that belongs to a namespace."""
    store.add(
        [
            entry(
                f"{prefix}{n}",
                f"{SECRET} {n}",
                direction(1),
                namespace=namespace,
                tags=(SECRET,),
                source=Source(session="s"),
                place=Place(1, 2),
            )
            for n in range(4)
        ]
    )
    store.entities.describe(namespace, f"{prefix} Zoë", type="person", aliases=[f"{prefix} Z"])
    store.relations.add(
        namespace, [Relation(f"{prefix} Zoë", "knows", "Tom", valid_to=NOW + timedelta(1))], NOW
    )
    store.duplicates.repeat(namespace, [Repeat(f"{prefix}1", f"{prefix}0", "exact", SECRET, NOW)])
    store.contradictions.note(namespace, [Contradiction(f"{prefix}3", f"{prefix}2", "value", SECRET, NOW)])
    store.duplicates.start_run(namespace, "merge", NOW)
    seen = Exposure(namespace, "e", "more", "ann", f"r {namespace}", NOW, 1, {f"{prefix}0": 1})
    store.recalls.log([recall(namespace)], LogBounds(), [seen])
    store.feedback.add(namespace, Feedback(f"r {namespace}", f"{prefix}0", Signal.CLICK, NOW))
    store.saved_settings.save(namespace, "recipe", SECRET, {}, {}, NOW)
    store.replies.save(Reply("k", namespace, namespace, b"", 200, SECRET.encode(), NOW))


@pytest.fixture
def owner(url: str) -> Iterator[PostgresStore]:
    """Two tenants' memories, seen by the owner of the tables."""
    with closing(PostgresStore(url)) as store:
        store.use_embedder(EMBEDDER, DIMENSION)
        store.remember_setting("analyser", "plain")
        store.keys.add(ApiKey("k1", SECRET, b"digest", ("*",), ("read",), NOW))
        for namespace, prefix in ((HERE, "a"), (THERE, "b"), (f"{HERE}/below", "c")):
            furnish(store, namespace, prefix)
        yield store


@pytest.fixture
def alice(owner: PostgresStore, role: str, url: str) -> Iterator[PostgresStore]:
    """The store as the tenant of `acme/alice` sees it."""
    admit(url, role, HERE)
    with closing(PostgresStore(as_user(url, role))) as store:
        store.use_embedder(EMBEDDER, DIMENSION)
        yield store


READS: dict[str, Callable[[PostgresStore], Any]] = {
    "known": lambda store: store.known([(THERE, "b0")]),
    "page": lambda store: store.page(THERE, None, 10, None, hidden=True).memories,
    "hidden": lambda store: store.hidden(THERE),
    "entities": lambda store: store.entities.list(THERE),
    "naming": lambda store: store.naming_change(THERE),
    "relations": lambda store: store.relations.list(THERE),
    "links": lambda store: list(store.graph.links(THERE, 0)),
    "next turn": lambda store: store.relations.next_change(THERE, NOW),
    "news": lambda store: store.graph.delta(THERE, 0).changed,
    "recalls": lambda store: store.recalls.list(THERE),
    "ids": lambda store: store.ids(THERE, [0, 1]),
    "feedback": lambda store: store.feedback.list(THERE),
    "exposures": lambda store: store.exposures.list(THERE, "e"),
    "saved_settings": lambda store: store.saved_settings.list(THERE, "recipe", withdrawn=True),
    "same": lambda store: store.same(THERE, [statement_key(f"{SECRET} 0")], NOW),
    "replaced": lambda store: store.duplicates.replaced(THERE, ["b0"]),
    "repeats": lambda store: store.duplicates.repeats(THERE),
    "runs": lambda store: store.duplicates.runs(THERE),
    "contradictions": lambda store: store.contradictions.list(THERE, settled=True),
    "export": lambda store: list(store.export(THERE)),
    "reply": lambda store: store.replies.find("k", THERE),
}


def test_another_tenant_is_not_there(alice: PostgresStore, owner: PostgresStore) -> None:
    assert {path: read(alice) for path, read in READS.items() if read(alice)} == {}
    # The owner sees what there is, so there was something to find.
    assert [path for path, read in READS.items() if not read(owner)] == []


def test_what_is_about_everybody_is_about_oneself(alice: PostgresStore) -> None:
    below = f"{HERE}/below"
    assert set(alice.namespaces()) == {HERE, below}
    assert {memory.namespace for memory in alice.export(None)} == {HERE, below}
    assert {change.namespace for change in alice.changes(0, 1000)} == {HERE, below}
    assert alice.statistics()["memories"] == 8
    assert alice.setting("analyser") == "plain"
    digest = f"digest of {SECRET} 0".encode()
    assert list(alice.cached_vectors(HERE, [digest])) == [digest]
    assert alice.count_waiting() == 0
    with alice.view(HERE, NOW) as view:
        assert view.search(LexicalQuery({"bob": 1.0}, {"content": 1.0}), 10).slots.size == 3
        assert view.search(direction(1)[0], 10).slots.size == 3
    with alice.view(THERE, NOW) as view:
        assert (view.status.count, view.status.pending) == (0, 0)
        assert view.search(LexicalQuery({"bob": 1.0}, {"content": 1.0}), 10).slots.size == 0
        assert view.search(direction(1)[0], 10).slots.size == 0


WRITES: dict[str, Callable[[PostgresStore], Any]] = {
    "add": lambda store: store.add([entry("new", "tea", namespace=THERE)]),
    "get": lambda store: store.get(THERE, ["b0"]),
    "forget": lambda store: store.forget(THERE, ["b0"], NOW),
    "restore": lambda store: store.restore(THERE, ["b0"]),
    "hide": lambda store: store.hide(THERE, [Hidden("b0", NOW, None)]),
    "use": lambda store: store.use(THERE, ["b0"], NOW),
    "update": lambda store: store.update(entry("b0", f"{SECRET} 0", namespace=THERE).memory, 1),
    "purge": lambda store: store.purge(THERE, ["b0"]),
    "purge_namespace": lambda store: store.purge_namespace(THERE),
    "describe": lambda store: store.entities.describe(THERE, "b Zoë", description="mine"),
    "merge": lambda store: store.entities.merge(THERE, "b Zoë", "Tom"),
    "relate": lambda store: store.relations.add(THERE, [Relation("x", "y", "z")], NOW),
    "repeat": lambda store: store.duplicates.repeat(THERE, [Repeat("b2", "b0", "exact", "", NOW)]),
    "run": lambda store: store.duplicates.start_run(THERE, "merge", NOW),
    "undo": lambda store: store.duplicates.undo_run(THERE, 1, NOW),
    "settle": lambda store: store.contradictions.settle(
        THERE, Contradiction("b3", "b2", "value", SECRET, NOW, "compatible")
    ),
    "react": lambda store: store.feedback.add(THERE, Feedback(f"r {THERE}", "b0", Signal.CLICK, NOW)),
    "lesson": lambda store: store.saved_settings.save(THERE, "recipe", "mine", {}, {}, NOW),
    "reply": lambda store: store.replies.save(Reply("k", THERE, THERE, b"", 200, b"mine", NOW)),
    "keys": lambda store: store.keys.list(),
    "key": lambda store: store.keys.find("k1"),
    "new key": lambda store: store.keys.add(ApiKey("k2", "mine", b"", ("*",), ("admin",), NOW)),
    "revoke": lambda store: store.keys.revoke("k1", NOW),
    "setting": lambda store: store.remember_setting("analyser", "mine"),
}


def test_another_tenant_cannot_be_touched(alice: PostgresStore, owner: PostgresStore) -> None:
    before = state(owner)
    for path, write in WRITES.items():
        with pytest.raises((MemoryNotFound, InvalidArgument, StoreError)):
            write(alice)
        assert state(owner) == before, path


def test_what_does_nothing_to_what_is_not_there_does_nothing(
    alice: PostgresStore, owner: PostgresStore
) -> None:
    before = state(owner)
    assert alice.put_vectors([Embedded(THERE, "b0", direction(1), b"x")]) == 0
    assert not alice.saved_settings.withdraw(THERE, 2, NOW)
    alice.duplicates.finish_run(THERE, 2, NOW)
    alice.recalls.log([replace(recall(THERE), id="mine")], LogBounds())
    alice.purge(THERE, [], ["b Zoë"])
    assert alice.replies.remove(NOW.replace(year=2100)) == 2
    after = state(owner)
    assert {name: rows for name, rows in after.items() if name != "replies"} == {
        name: rows for name, rows in before.items() if name != "replies"
    }
    assert owner.replies.find("k", THERE) is not None


def state(owner: PostgresStore) -> dict[str, Any]:
    """Everything that belongs to others than Alice, or to nobody."""
    with owner._database.reading() as (connection, _):
        whose = "namespace = (SELECT number FROM namespaces WHERE path = ?)"
        found: dict[str, Any] = {
            table: sorted(map(str, connection.execute(f"SELECT * FROM {table} WHERE {whose}", (THERE,))))
            for table in OWNED
        }
        for table in ("access_keys", "settings", "replies", "tenants"):
            found[table] = sorted(map(str, connection.execute(f"SELECT * FROM {table}")))
    return found


def test_sql_of_ones_own_reaches_no_further(
    alice: PostgresStore, owner: PostgresStore, role: str, url: str
) -> None:
    with owner._database.reading() as (connection, _):
        row = connection.execute("SELECT number FROM namespaces WHERE path = ?", (THERE,)).fetchone()
        assert row is not None
        bob = row[0]
    before = state(owner)
    with psycopg.connect(as_user(url, role), autocommit=True) as mine:
        for table in OWNED:
            assert mine.execute(f"SELECT count(*) FROM {table} WHERE namespace = %s", (bob,)).fetchone() == (
                0,
            )
            assert mine.execute(f"DELETE FROM {table} WHERE namespace = %s", (bob,)).rowcount == 0
            if mine.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None:
                with pytest.raises(psycopg.Error):
                    mine.execute(f"UPDATE {table} SET namespace = %s", (bob,))
        assert mine.execute("SELECT count(*) FROM namespaces WHERE number = %s", (bob,)).fetchone() == (0,)
        assert mine.execute("SELECT may_see(%s)", (THERE,)).fetchone() == (False,)
        for statement in (
            "SELECT * FROM tenants",
            "INSERT INTO tenants VALUES (current_user, 'acme')",
            "SELECT * FROM access_keys",
            "UPDATE namespaces SET path = 'acme/bob' WHERE path = 'acme/alice'",
            "INSERT INTO namespaces (path) VALUES ('acme/carol')",
            "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
            "DROP POLICY of_the_tenant ON memories",
            "SET ROLE postgres",
            "SET SESSION AUTHORIZATION postgres",
            "CREATE OR REPLACE FUNCTION may_see(path TEXT) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT true'",
            "TRUNCATE memories CASCADE",
        ):
            with pytest.raises(psycopg.Error):
                mine.execute(statement)
        with mine.cursor().copy("COPY memories (id) TO STDOUT") as copy:
            assert {bytes(row)[:1] for row in copy} == {b"a", b"c"}
        # Row-level security cannot be switched off by asking: what it would hide is an error instead.
        mine.execute("SET row_security = off")
        with pytest.raises(psycopg.Error, match="row-level security"):
            mine.execute("SELECT * FROM memories")
    assert state(owner) == before


def test_ones_own_namespace_works_as_ever(alice: PostgresStore) -> None:
    furnish(alice, f"{HERE}/more", "d")
    assert alice.purge_namespace(f"{HERE}/more") == 4
    alice.purge(HERE, ["a2"])
    assert alice.check(lambda memory: entry(memory.id, memory.content, tags=memory.tags).terms) == []


def test_who_is_dismissed_sees_nothing_at_once(alice: PostgresStore, role: str, url: str) -> None:
    assert alice.namespaces()
    dismiss(url, role, HERE)
    assert alice.namespaces() == {}
    with pytest.raises(InvalidArgument, match="a tenant of 'acme/alice'"):
        dismiss(url, role, HERE)


def test_who_cannot_be_held_back_is_not_admitted(owner: PostgresStore, url: str) -> None:
    with psycopg.connect(url) as connection, pytest.raises(InvalidArgument, match="security restricts"):
        admit(url, connection.info.user, HERE)
    with pytest.raises(InvalidArgument, match="a user of the database"):
        admit(url, "nobody_like_that", HERE)
    with pytest.raises(InvalidArgument, match="namespace"):
        admit(url, "nobody_like_that", "acme//")


def test_who_is_no_tenant_sees_nothing(owner: PostgresStore, role: str, url: str) -> None:
    with pytest.raises(ServerUnsuitable):
        PostgresStore(outside(url, role))


def test_work_on_everything_of_a_tenants_is_the_tenants_own(
    alice: PostgresStore, owner: PostgresStore
) -> None:
    held = [
        owner.leases.acquire("reembed", "*", SECRET, 60, NOW),
        owner.leases.acquire("maintain", THERE, SECRET, 60, NOW),
    ]
    assert alice.leases.list() == []
    own = alice.leases.acquire("reembed", "*", "alice", 60, NOW)
    assert own is not None
    assert (own.namespace, alice.leases.list()) == ("*", [own])
    assert alice.leases.acquire("reembed", "*", "alice", 60, NOW) is None
    with pytest.raises(StoreError):
        alice.leases.acquire("maintain", THERE, "alice", 60, NOW)
    for lease in held:
        assert lease is not None
        with pytest.raises(LeaseLost):
            alice.leases.renew(lease, 60, NOW)
        alice.leases.release(lease)
    assert owner.leases.list() == [*held, own]


def test_a_tenant_forges_no_evidence_of_what_others_wrote(
    alice: PostgresStore, owner: PostgresStore, role: str, url: str
) -> None:
    """Neither the note of a write nor the reply to a request of another can be read, made or removed."""
    owner.add([entry("new", "tea", namespace=THERE)])
    with psycopg.connect(as_user(url, role), autocommit=True) as mine:
        bob = namespace_key(THERE)
        assert mine.execute("SELECT count(*) FROM writes WHERE namespace = %s", (bob,)).fetchone() == (0,)
        for statement in (
            f"INSERT INTO writes (namespace, at, number) VALUES ({bob}, 1, 1)",
            "INSERT INTO replies (role, caller, key, namespace, request, status, created_at) "
            "VALUES ('postgres', 'k', 'mine', 'acme/alice', '', 200, 1)",
            "UPDATE replies SET role = 'postgres'",
            "INSERT INTO settings (name, value) VALUES ('analyser', 'mine')",
            "UPDATE memorata_layout SET number = 99",
            "LOCK TABLE memorata_layout IN SHARE ROW EXCLUSIVE MODE",
        ):
            with pytest.raises(psycopg.Error):
                mine.execute(statement)
        assert mine.execute("UPDATE namespaces SET change = 1 WHERE path = 'acme/bob'").rowcount == 0
        mine.execute(
            "INSERT INTO replies (caller, key, namespace, request, status, body, created_at) "
            "VALUES ('victim', 'k1', 'acme/alice', '', 200, 'forged', 1)"
        )
    assert owner.replies.find("victim", "k1") is None


def test_a_tenant_holds_up_nobody_by_locks_of_ones_own(
    alice: PostgresStore, owner: PostgresStore, role: str, url: str
) -> None:
    """Locks by number, which any user may take, are none of ours; locked rows are those one can see."""
    hasty = PostgresStore(url, patience=2)
    with closing(hasty), psycopg.connect(as_user(url, role)) as mine:
        for number in (0x52434C54_0000, 0x52434C54_0001, namespace_key(THERE), namespace_key("acme/new")):
            mine.execute("SELECT pg_advisory_lock(%s)", (number,))
        mine.execute("SELECT pg_advisory_lock(hashtext('k'), hashtext('r'))")
        mine.execute("SELECT 1 FROM namespaces FOR UPDATE")
        mine.execute("SELECT 1 FROM memories FOR UPDATE")
        hasty.add([entry("one", "tea", namespace=THERE), entry("two", "tea", namespace="acme/new")])
        with hasty.together():
            assert hasty.replies.find("k", "r") is None
        assert hasty.leases.acquire("maintain", THERE, "worker", 60, NOW) is not None
        make_ready(url)
        with pytest.raises(StoreUnavailable, match="kept namespaces locked for 2 s"):
            # What the tenant may be about to write is not known; the owner can end it.
            hasty.changes(0, 10)
        mine.rollback()
        assert hasty.changes(0, 10)


def test_one_tenant_waits_for_no_other(
    alice: PostgresStore, owner: PostgresStore, role: str, url: str, base: str
) -> None:
    other = f"other_{role}"
    with psycopg.connect(base, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {other} LOGIN PASSWORD '{PASSWORD}'")
    admit(url, other, THERE)
    try:
        with (
            closing(PostgresStore(as_user(url, other), patience=2)) as bob,
            psycopg.connect(as_user(url, role)) as mine,
        ):
            mine.execute("SELECT 1 FROM namespaces FOR UPDATE")
            bob.add([entry("mine", "tea", namespace=THERE)])
            assert bob.changes(0, 100)
    finally:
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(f"DROP OWNED BY {other}; DROP ROLE {other}")


@pytest.mark.parametrize("mode", ["ACCESS EXCLUSIVE", "EXCLUSIVE", "SHARE ROW EXCLUSIVE"])
def test_a_table_that_a_tenant_locks_is_waited_for_no_longer_than_one_is_patient(
    alice: PostgresStore, owner: PostgresStore, role: str, url: str, mode: str
) -> None:
    """PostgreSQL lets whoever may delete rows lock their table: others lose time, and not much of it."""
    with closing(PostgresStore(url, patience=1)) as hasty, psycopg.connect(as_user(url, role)) as mine:
        before = {memory.id for memory in hasty.export(THERE)}
        mine.execute(f"LOCK TABLE memories, namespaces IN {mode} MODE")
        with pytest.raises(StoreUnavailable, match="locked for too long"):
            hasty.add([entry("one", "tea", namespace=THERE)])
        if mode != "ACCESS EXCLUSIVE":
            assert {memory.id for memory in hasty.export(THERE)} == before
        mine.rollback()
        assert {memory.id for memory in hasty.export(THERE)} == before
        hasty.add([entry("one", "tea", namespace=THERE)])
        # What a tenant may not delete from it may not lock: the keys, settings and other tenants.
        for table in ("settings", "embedders", "access_keys", "tenants"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                mine.execute(f"LOCK TABLE {table} IN {mode} MODE")
            mine.rollback()


END_WHO_LOCKS = """
SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE relation IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
  AND mode IN ('ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  AND usename IN (SELECT role FROM tenants)
"""
"""As docs/postgres.md gives it to owners."""


def test_a_right_to_lock_is_not_needed_to_be_waited_for_and_the_owner_can_end_it(
    alice: PostgresStore, owner: PostgresStore, role: str, url: str
) -> None:
    """PostgreSQL locks a table for CREATE RULE before it looks whose it is.

    So nothing would be won by writes without the rights that LOCK TABLE asks for.
    """
    failures: list[psycopg.Error] = []

    def ask(connection: psycopg.Connection[Any]) -> None:
        try:
            connection.execute("CREATE RULE mine AS ON INSERT TO settings DO NOTHING")
        except psycopg.Error as error:
            failures.append(error)

    with (
        closing(PostgresStore(url, patience=1)) as hasty,
        psycopg.connect(as_user(url, role)) as reading,
        psycopg.connect(as_user(url, role)) as mine,
        psycopg.connect(url, autocommit=True) as admin,
    ):
        reading.execute("SELECT 1 FROM settings")
        waiting = Thread(target=ask, args=[mine])
        waiting.start()
        asked = "SELECT count(*) FROM pg_locks WHERE relation = 'settings'::regclass AND NOT granted"
        while admin.execute(asked).fetchone() == (0,):
            assert waiting.is_alive()
        with pytest.raises(StoreUnavailable, match="locked for too long"):
            hasty.setting("analyser")
        assert admin.execute(END_WHO_LOCKS).fetchall() == [(True,)]
        waiting.join()
        assert hasty.setting("analyser") == "plain"
        reading.rollback()
    assert isinstance(failures[0], psycopg.OperationalError)


def test_the_documented_way_to_end_locks_is_the_one_that_was_tried() -> None:
    documented = (Path(__file__).parents[3] / "docs" / "postgres.md").read_text()
    assert END_WHO_LOCKS.strip() in documented
