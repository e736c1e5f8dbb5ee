"""Tenants: users of the database that see some namespaces and nothing else.

Each tenant connects as a user of its own. Row-level security holds for every statement of that user, from the
store or from any other program. Tenants may read what belongs to no namespace (settings, embedders), but not
keys. They need no right to make tables: the owner has made them.
"""

from __future__ import annotations

from typing import Final

from psycopg import Connection, sql

from memorata.extend.errors import InvalidArgument
from memorata.extend.model import checks
from memorata_postgres.dialect import OWNED
from memorata_postgres.errors import connected

_WRITTEN: Final = (*OWNED, "namespaces", "leases")
_REPLY: Final = ("caller", "key", "namespace", "request", "status", "body", "created_at")
_READ: Final = ("memorata_layout", "settings", "embedders")


def admit(url: str, role: str, namespace: str) -> None:
    """Let a user (`role`), no superuser nor the owner, be a tenant of a namespace, and of all below it."""
    realm = checks.namespace("namespace", namespace)
    with connected(url) as connection:
        _check(connection, role)
        with connection.transaction():
            user = sql.Identifier(role)
            for rights, tables in (("SELECT, INSERT, UPDATE, DELETE", _WRITTEN), ("SELECT", _READ)):
                connection.execute(
                    sql.SQL("GRANT {} ON {} TO {}").format(
                        sql.SQL(rights), sql.SQL(", ").join(map(sql.Identifier, tables)), user
                    )
                )
            # Not the column `role`, whose default is the connected user.
            columns = sql.SQL(", ").join(map(sql.Identifier, _REPLY))
            connection.execute(
                sql.SQL("GRANT SELECT, DELETE, INSERT ({}), UPDATE ({}) ON replies TO {}").format(
                    columns, columns, user
                )
            )
            schema = connection.execute("SELECT current_schema()").fetchone()
            assert schema is not None  # the tables are in one
            connection.execute(
                sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(sql.Identifier(schema[0]), user)
            )
            connection.execute(
                "INSERT INTO tenants (role, realm) VALUES (%s, %s) ON CONFLICT DO NOTHING", (role, realm)
            )


def dismiss(url: str, role: str, namespace: str) -> None:
    """Let a tenant see a namespace no more; the change holds for connections that are open, too."""
    realm = checks.namespace("namespace", namespace)
    with connected(url) as connection:
        gone = connection.execute("DELETE FROM tenants WHERE role = %s AND realm = %s", (role, realm))
    if not gone.rowcount:
        raise InvalidArgument("role", role, f"a tenant of {namespace!r}")


def _check(connection: Connection[tuple[object, ...]], role: str) -> None:
    row = connection.execute(
        "SELECT rolsuper OR rolbypassrls OR pg_has_role(oid, "
        "(SELECT relowner FROM pg_class WHERE oid = 'memories'::regclass), 'MEMBER') "
        "FROM pg_roles WHERE rolname = %s",
        (role,),
    ).fetchone()
    if row is None:
        raise InvalidArgument("role", role, "a user of the database; make one with CREATE ROLE … LOGIN")
    if row[0]:
        raise InvalidArgument(
            "role", role, "a user that row-level security restricts: no superuser, and not the owner"
        )
