"""Saved settings: recipes, calibrations and decisions of a namespace, in versions and with their evidence.

A setting has a kind and a name: ("recipe", "tuned"), say. The last version that was not withdrawn is in
force. Settings hold no trace of a memory, so no purge of memories touches them; they go with their namespace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from memorata._frozen import frozen
from memorata.store.database import Session, Statement
from memorata.store.facets import Facet, reads, reads_namespace, writes_namespace
from memorata.store.rows import (
    NAMED,
    Namespace,
    find_namespace,
    instant,
    made_namespace,
    microseconds,
    moment,
)

_COUNT_CHANGE: Final = "UPDATE namespaces SET settings = settings + 1 WHERE number = ?"
"""Moves the counter by which other processes see that the saved settings of a namespace have changed."""


@frozen
class SavedSetting:
    """A version of a setting, as plain data, with the measurements that support it."""

    number: int
    """Later versions have higher numbers."""
    kind: str
    name: str
    data: Mapping[str, Any]
    evidence: Mapping[str, Any]
    at: datetime
    withdrawn_at: datetime | None = None
    """Since when it is no longer in force; None while it is."""


class SavedSettingStore(Facet):
    """The saved settings of a database."""

    @writes_namespace
    def save(
        self,
        session: Session,
        namespace: str,
        kind: str,
        name: str,
        data: Mapping[str, Any],
        evidence: Mapping[str, Any],
        at: datetime,
    ) -> SavedSetting:
        """Write the latest version of a setting."""
        number = made_namespace(session, namespace).number
        saved = session.insert(
            "saved_settings",
            "namespace, kind, name, data, evidence, at",
            (number, kind, name, json.dumps(dict(data)), json.dumps(dict(evidence)), microseconds(at)),
        )
        session.execute(_COUNT_CHANGE, (number,))
        return SavedSetting(saved, kind, name, dict(data), dict(evidence), at)

    def withdraw(self, namespace: str, number: int, at: datetime) -> bool:
        """Take a version out of force; return whether it was until now."""
        return self._withdraw(namespace, at, "number = ?", number)

    def withdraw_all(self, namespace: str, kind: str, name: str, at: datetime) -> bool:
        """Take every version of a setting out of force; return whether one was until now."""
        return self._withdraw(namespace, at, "kind = ? AND name = ?", kind, name)

    @writes_namespace
    def _withdraw(self, session: Session, namespace: str, at: datetime, which: str, *values: object) -> bool:
        row = find_namespace(session, namespace)
        if row is None:
            return False
        ended = session.execute(
            "UPDATE saved_settings SET withdrawn_at = ? "
            f"WHERE namespace = ? AND {which} AND withdrawn_at IS NULL RETURNING number",
            (microseconds(at), row.number, *values),
        ).fetchall()
        session.execute(_COUNT_CHANGE, (row.number,))
        return bool(ended)

    @reads
    def namespaces(self, session: Session, kind: str, name: str) -> list[str]:
        """Return the namespaces that have a setting in force by this name."""
        rows = session.execute(
            "SELECT DISTINCT n.path FROM saved_settings l JOIN namespaces n ON n.number = l.namespace "
            f"WHERE l.kind = ? AND l.name = ? AND l.withdrawn_at IS NULL AND n.{NAMED} ORDER BY n.path",
            (kind, name),
        )
        return [path for (path,) in rows]

    @reads_namespace(list)
    def list(
        self,
        session: Session,
        namespace: Namespace,
        kind: str,
        name: str | None = None,
        *,
        withdrawn: bool = False,
    ) -> list[SavedSetting]:
        """Return the settings of a kind, the latest first; with `withdrawn` also those out of force."""
        rows = session.execute(*listing(namespace.number, kind, name, withdrawn=withdrawn))
        return [
            SavedSetting(
                number, kind, name, json.loads(data), json.loads(evidence), moment(at), instant(withdrawn_at)
            )
            for number, kind, name, data, evidence, at, withdrawn_at in rows
        ]


def listing(number: int, kind: str, name: str | None = None, *, withdrawn: bool = False) -> Statement:
    """Return the statement that reads the settings of a kind in a namespace, the latest first."""
    sql = (
        "SELECT number, kind, name, data, evidence, at, withdrawn_at FROM saved_settings "
        "WHERE namespace = ? AND kind = ?"
    )
    values: tuple[object, ...] = number, kind
    if name is not None:
        sql, values = f"{sql} AND name = ?", (*values, name)
    if not withdrawn:
        sql += " AND withdrawn_at IS NULL"
    return f"{sql} ORDER BY number DESC", values
