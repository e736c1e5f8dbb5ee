"""What every table keeps to, so that all of them can be split by namespace: read from the server itself."""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from memorata_postgres.dialect import OWNED

COMMON = {
    "access_keys", "embedders", "leases", "namespaces", "memorata_layout",
    "replies", "settings", "tenants",
}  # fmt: skip
"""The tables that belong to no namespace alone."""
FENCED = {*OWNED, "namespaces", "replies", "leases"}


Row = tuple[str, ...]
Ask = Callable[[str], list[Row]]


@pytest.fixture
def ask(used: str) -> Iterator[Ask]:
    """Ask the server about its tables; ``{ours}`` stands for those of the schema with ours."""
    with psycopg.connect(used, autocommit=True) as connection:
        yield lambda sql: connection.execute(
            sql.replace("{ours}", "relnamespace = current_schema()::regnamespace")
        ).fetchall()


def test_every_table_is_a_namespaces_or_everybodys(ask: Ask) -> None:
    rows = ask("SELECT relname FROM pg_class WHERE relkind = 'r' AND {ours}")
    assert {name for (name,) in rows} == {*OWNED, *COMMON}


def test_keys_of_what_is_a_namespaces_begin_with_its_number(ask: Ask) -> None:
    """Primary, unique and foreign ones: else no table could be partitioned."""
    rows = ask(
        "SELECT t.relname, k.conname, a.attname FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid "
        "JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.conkey[1] "
        "WHERE k.contype IN ('p', 'u', 'f') AND t.{ours}",
    )
    owned = [(key, first) for table, key, first in rows if table in OWNED]
    wrong = [key for key, first in owned if first != "namespace"]
    assert (len(owned) >= 24, wrong) == (True, [])


def test_tables_are_named_after_those_that_refer_to_them(ask: Ask) -> None:
    """So that they can be emptied in that order."""
    rows = ask(
        "SELECT t.relname, r.relname FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid "
        "JOIN pg_class r ON r.oid = k.confrelid WHERE k.contype = 'f' AND t.{ours}",
    )
    pairs = [(one, other) for one, other in rows if one in OWNED and other in OWNED and one != other]
    assert pairs
    assert all(OWNED.index(one) < OWNED.index(other) for one, other in pairs)


def test_texts_compare_as_pythons_do(ask: Ask) -> None:
    """In every index and wherever they are ordered."""
    rows = ask(
        "SELECT t.relname, a.attname FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid "
        "JOIN pg_collation c ON c.oid = a.attcollation WHERE t.relkind = 'r' AND a.attnum > 0 "
        "AND NOT a.attisdropped AND c.collname <> 'C' AND t.{ours}",
    )
    assert rows == []


def test_what_a_tenant_must_not_see_is_fenced(ask: Ask) -> None:
    rows = ask("SELECT relname FROM pg_class WHERE relrowsecurity AND {ours}")
    assert {name for (name,) in rows} == FENCED
