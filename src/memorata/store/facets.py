"""Facets of a store: its methods about one subject, each in one transaction.

A method is written over a session and called without one::

    class EntityStore(Facet):
        @writes_namespace
        def merge(self, session: Session, namespace: str, keep: str, other: str) -> None: ...

    store.entities.merge("acme", "Anna", "A. Lund")

Or it is made of a function over a session: ``get = read_by(lookup.get)``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from memorata.store.database import Database, Session
from memorata.store.rows import Namespace, find_namespace

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_Self = TypeVar("_Self", bound="Facet")


class Facet:
    """The methods of a store about one subject."""

    def __init__(self, database: Database) -> None:
        self._database = database


def reads(
    method: Callable[Concatenate[_Self, Session, _Parameters], _Result],
) -> Callable[Concatenate[_Self, _Parameters], _Result]:
    """Run a method on one consistent view; it may be run twice."""

    @wraps(method)
    def run(self: _Self, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return self._database.read(lambda session: method(self, session, *args, **kwargs))

    return run


def reads_namespace(
    absent: Callable[[], Any],
) -> Callable[
    [Callable[Concatenate[_Self, Session, Namespace, _Parameters], _Result]],
    Callable[Concatenate[_Self, str, _Parameters], _Result],
]:
    """Run a method on the row of the namespace that it is called with; `absent()` if there is none."""

    def decorated(
        method: Callable[Concatenate[_Self, Session, Namespace, _Parameters], _Result],
    ) -> Callable[Concatenate[_Self, str, _Parameters], _Result]:
        @wraps(method)
        def run(self: _Self, path: str, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
            def read(session: Session) -> _Result:
                namespace = find_namespace(session, path)
                if namespace is None:
                    return cast("_Result", absent())
                return method(self, session, namespace, *args, **kwargs)

            return self._database.read(read)

        return run

    return decorated


def writes(
    method: Callable[Concatenate[_Self, Session, _Parameters], _Result],
) -> Callable[Concatenate[_Self, _Parameters], _Result]:
    """Run a method as one transaction on what belongs to no namespace."""

    @wraps(method)
    def run(self: _Self, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return self._database.write(lambda session: method(self, session, *args, **kwargs))

    return run


def writes_namespace(
    method: Callable[Concatenate[_Self, Session, str, _Parameters], _Result],
) -> Callable[Concatenate[_Self, str, _Parameters], _Result]:
    """Run a method as one transaction on the namespace that it is called with."""

    @wraps(method)
    def run(self: _Self, path: str, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return self._database.write(lambda session: method(self, session, path, *args, **kwargs), path)

    return run


def read_by(
    work: Callable[Concatenate[Session, _Parameters], _Result],
) -> Callable[Concatenate[_Self, _Parameters], _Result]:
    """Make a method of a function: it runs on one consistent view."""

    @wraps(work)
    def run(self: _Self, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return self._database.read(lambda session: work(session, *args, **kwargs))

    return run


def written_by(
    work: Callable[Concatenate[Session, str, _Parameters], _Result],
) -> Callable[Concatenate[_Self, str, _Parameters], _Result]:
    """Make a method of a function: it runs as one transaction on the namespace that it is called with."""

    @wraps(work)
    def run(self: _Self, path: str, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return self._database.write(lambda session: work(session, path, *args, **kwargs), path)

    return run
