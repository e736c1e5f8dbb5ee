"""Errors of the database: it cannot do what was asked, or does not have what was asked for."""

from __future__ import annotations

from datetime import datetime

from memorata.model.errors.general import MemorataError, shown


class StoreError(MemorataError):
    """The database cannot do what was asked; nothing was half-written."""


class StoreCorrupt(StoreError):
    """The file is damaged, or is not a Memorata database."""


class StoreTooNew(StoreError):
    """The file was written by a newer Memorata than this one."""


class StoreUnavailable(StoreError):
    """The file is locked for too long, cannot be written, or its disk is full."""


class StoreReadOnly(StoreUnavailable):
    """The file can only be read, as it is or as it was opened; nothing was changed.

    Parameters
    ----------
    name
        The file.
    reason
        Why it cannot be written, and what to do about it.

    Examples
    --------
    >>> raise StoreReadOnly("m.db", "the file may not be written; copy it to where it can be")
    Traceback (most recent call last):
    ...
    memorata.model.errors.StoreReadOnly: m.db can only be read here, and nothing was changed: the file may
    not be written; copy it to where it can be
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(f"{name} can only be read here, and nothing was changed: {reason}")

    def __reduce__(self) -> tuple[type[StoreReadOnly], tuple[str, str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.name, self.reason)


class PoolExhausted(StoreUnavailable):
    """Every connection to the server was in use, for as long as the store waits for one.

    Examples
    --------
    >>> raise PoolExhausted("postgresql://localhost/m", 10, 30.0)
    Traceback (most recent call last):
    ...
    memorata.model.errors.PoolExhausted: all 10 connections to postgresql://localhost/m were in use for 30 s;
    try again, or open the store with more connections
    """

    def __init__(self, name: str, connections: int, seconds: float) -> None:
        self.name, self.connections, self.seconds = name, connections, seconds
        super().__init__(
            f"all {connections} connections to {name} were in use for {seconds:g} s; try again, or open the "
            "store with more connections"
        )

    def __reduce__(self) -> tuple[type[PoolExhausted], tuple[str, int, float]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.name, self.connections, self.seconds)


class ServerUnsuitable(StoreError):
    """The database server cannot be used as it is; the message says what has to change there."""


class NotSupportedHere(StoreError):
    """A kind of store does not do that; the message says what does."""


class PurgeUnfinished(StoreUnavailable):
    """Memories were purged and answer nobody any more, but their bytes may still be in the file.

    Examples
    --------
    >>> raise PurgeUnfinished("m.db", "the disk of m.db is full")
    Traceback (most recent call last):
    ...
    memorata.model.errors.PurgeUnfinished: what was purged from m.db is removed, but traces of it may still
    be in the file (the disk of m.db is full); `memorata vacuum` erases them
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(
            f"what was purged from {name} is removed, but traces of it may still be in the file ({reason}); "
            "`memorata vacuum` erases them"
        )

    def __reduce__(self) -> tuple[type[PurgeUnfinished], tuple[str, str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.name, self.reason)


class IndexCorrupt(StoreError):
    """Derived data does not match its checksum or version; ``memorata check --repair`` rebuilds it."""


class MemoryNotFound(StoreError, LookupError):
    """No memory has that id, here.

    Examples
    --------
    >>> raise MemoryNotFound("m7", "default")
    Traceback (most recent call last):
    ...
    memorata.model.errors.MemoryNotFound: no memory 'm7' in namespace 'default'
    """

    def __init__(self, memory_id: str, namespace: str) -> None:
        self.memory_id = memory_id
        self.namespace = namespace
        super().__init__(f"no memory {shown(memory_id)} in namespace {shown(namespace)}")

    def __reduce__(self) -> tuple[type[MemoryNotFound], tuple[str, str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.memory_id, self.namespace)


class EntityNotFound(StoreError, LookupError):
    """Nobody and nothing has that name, here; the message says which names are like it.

    Examples
    --------
    >>> raise EntityNotFound("Ana", "default", ("Anna", "Diana"))
    Traceback (most recent call last):
    ...
    memorata.model.errors.EntityNotFound: no entity 'Ana' in namespace 'default'; did you mean 'Anna' or
    'Diana'?
    """

    def __init__(self, name: str, namespace: str, nearest: tuple[str, ...] = ()) -> None:
        self.name = name
        self.namespace = namespace
        self.nearest = nearest
        hint = f"; did you mean {' or '.join(map(shown, nearest))}?" if nearest else ""
        super().__init__(f"no entity {shown(name)} in namespace {shown(namespace)}{hint}")

    def __reduce__(self) -> tuple[type[EntityNotFound], tuple[str, str, tuple[str, ...]]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.name, self.namespace, self.nearest)


class ReplyErased(StoreError):
    """A request of that name was carried out, but a purge has erased its answer; it is not done again."""


class RecallNotFound(StoreError, LookupError):
    """No recall with that id is in the log, here: it was not logged, or it was long ago.

    Examples
    --------
    >>> raise RecallNotFound("r7", "default")
    Traceback (most recent call last):
    ...
    memorata.model.errors.RecallNotFound: no recall 'r7' in the log of namespace 'default'; the log may be
    off, or so full that it had to go
    """

    def __init__(self, recall_id: str, namespace: str) -> None:
        self.recall_id = recall_id
        self.namespace = namespace
        super().__init__(
            f"no recall {shown(recall_id)} in the log of namespace {shown(namespace)}; the log may be off, "
            "or so full that it had to go"
        )

    def __reduce__(self) -> tuple[type[RecallNotFound], tuple[str, str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.recall_id, self.namespace)


class ExperimentNotFound(StoreError, LookupError):
    """No experiment has that name, here.

    Examples
    --------
    >>> raise ExperimentNotFound("shear", "default", ("share",))
    Traceback (most recent call last):
    ...
    memorata.model.errors.ExperimentNotFound: no experiment 'shear' in namespace 'default'; there is 'share'
    """

    def __init__(self, name: str, namespace: str, known: tuple[str, ...] = ()) -> None:
        self.name = name
        self.namespace = namespace
        self.known = known
        there = f"there is {', '.join(map(shown, known))}" if known else "there is none yet"
        super().__init__(f"no experiment {shown(name)} in namespace {shown(namespace)}; {there}")

    def __reduce__(self) -> tuple[type[ExperimentNotFound], tuple[str, str, tuple[str, ...]]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.name, self.namespace, self.known)


class WorkUnderWay(StoreError):
    """Another worker is doing the same at this moment; nothing was done here.

    Parameters
    ----------
    kind, namespace
        What is being done, and to whose memories; ``*`` for everybody's.
    holder
        Who does it; empty if they have just finished.
    until
        When it can be taken over if nothing more is heard of them; None if they have just finished.

    Examples
    --------
    >>> from datetime import datetime
    >>> raise WorkUnderWay("maintain", "acme", "kite, process 7", datetime(2026, 5, 7, 18, 30))
    Traceback (most recent call last):
    ...
    memorata.model.errors.WorkUnderWay: 'maintain' of 'acme' is being done by kite, process 7; if nothing is
    heard of them until 2026-05-07T18:30:00, another may take it over
    """

    def __init__(self, kind: str, namespace: str, holder: str, until: datetime | None) -> None:
        self.kind = kind
        self.namespace = namespace
        self.holder = holder
        self.until = until
        what = f"{shown(kind)} of {_whose(namespace)}"
        super().__init__(
            f"{what} was being done by another until a moment ago; try again"
            if until is None
            else f"{what} is being done by {holder}; if nothing is heard of them until {shown(until)}, "
            "another may take it over"
        )

    def __reduce__(self) -> tuple[type[WorkUnderWay], tuple[str, str, str, datetime | None]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.kind, self.namespace, self.holder, self.until)


class LeaseLost(StoreError):
    """Another worker has taken over what this one was doing; what was done stays, and no more is written.

    Examples
    --------
    >>> raise LeaseLost("reembed", "*", "kite, process 7")
    Traceback (most recent call last):
    ...
    memorata.model.errors.LeaseLost: 'reembed' of everybody's memories was taken from kite, process 7, of
    whom nothing had been heard for too long; another goes on from where they were
    """

    def __init__(self, kind: str, namespace: str, holder: str) -> None:
        self.kind = kind
        self.namespace = namespace
        self.holder = holder
        super().__init__(
            f"{shown(kind)} of {_whose(namespace)} was taken from {holder}, of whom nothing had been heard "
            "for too long; another goes on from where they were"
        )

    def __reduce__(self) -> tuple[type[LeaseLost], tuple[str, str, str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.kind, self.namespace, self.holder)


def _whose(namespace: str) -> str:
    return "everybody's memories" if namespace == "*" else shown(namespace)


class VersionConflict(StoreError):
    """Someone else changed the memory first; read it again and decide anew.

    Examples
    --------
    >>> raise VersionConflict("m7", expected=1, found=3)
    Traceback (most recent call last):
    ...
    memorata.model.errors.VersionConflict: memory 'm7' is at version 3, not 1; read it again
    """

    def __init__(self, memory_id: str, expected: int, found: int) -> None:
        self.memory_id = memory_id
        self.expected = expected
        self.found = found
        super().__init__(f"memory {shown(memory_id)} is at version {found}, not {expected}; read it again")

    def __reduce__(self) -> tuple[type[VersionConflict], tuple[str, int, int]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.memory_id, self.expected, self.found)
