"""Every error Recollect raises on purpose.

::

    RecollectError
    ├── InvalidArgument               a value that cannot be used (also a ValueError)
    │   └── NotGiven                  a value that is needed and was left out
    ├── MissingExtra                  a package that is not installed (also an ImportError)
    ├── DatasetError                  a data set, run or qrels file that cannot be read as what it should be
    ├── NotEnoughData                 too little was observed to learn from
    ├── AccessDenied                  whoever asks may not do that
    │   └── NotAdmitted               no key was shown, or one that is not good
    ├── StoreError                    the database cannot do what was asked
    │   ├── StoreCorrupt              its file is damaged, or is no Recollect database
    │   ├── StoreTooNew               its file was written by a newer Recollect
    │   ├── StoreUnavailable          locked for too long, read-only, or its disk is full
    │   │   ├── PoolExhausted         every connection to the server was in use for too long
    │   │   └── PurgeUnfinished       something was removed, but its traces could not be erased yet
    │   ├── ServerUnsuitable          the server is too old, or lacks something, or a right
    │   ├── NotSupportedHere          this kind of store does not do that
    │   ├── IndexCorrupt              derived data that does not check; it can be rebuilt
    │   ├── MemoryNotFound            no memory has that id
    │   ├── EntityNotFound            nobody and nothing has that name
    │   ├── RecallNotFound            no recall with that id is in the log
    │   ├── ExperimentNotFound        no experiment has that name
    │   ├── ReplyErased               a request was carried out, but its answer is gone
    │   ├── WorkUnderWay              another worker is doing the same at this moment
    │   ├── LeaseLost                 another worker has taken over what this one was doing
    │   └── VersionConflict           someone else changed the memory first
    └── EmbedderError                 a text could not be turned into a vector
        ├── ModelNotInstalled         the model's files are not on this machine
        ├── ModelCorrupt              the model's files are not the ones that were pinned
        ├── DimensionMismatch         vectors of another length than the store's
        └── EmbeddingServiceError     an embedding service did not answer as it should
            ├── ServiceUnreachable    no answer in time, after every retry
            ├── ServiceRefused        an answer that says no: a wrong key, an unknown model, a text too long
            └── ServiceAnswerInvalid  an answer that cannot be used: not JSON, too few vectors, NaN

Catch ``RecollectError`` to catch them all. A message says what was wrong, shows the value, and says what
to do about it.
"""

from __future__ import annotations

from datetime import datetime
from os import PathLike, fspath

_SHOWN = 80
"""Longest piece of a bad value that a message repeats; the whole of it may be a megabyte of text."""


def shown(value: object) -> str:
    """Return `value` as an error message shows it: its ``repr``, cut to a readable length; times in ISO 8601.

    Examples
    --------
    >>> shown(float("nan"))
    'nan'
    >>> len(shown("x" * 10_000))
    81
    >>> shown(datetime(2026, 5, 7, 18, 30))
    '2026-05-07T18:30:00'
    """
    try:
        text = value.isoformat() if isinstance(value, datetime) else repr(value)
    except Exception as error:
        # An int of 5000 digits has no repr, and an error on the way to an error would hide the first one.
        text = f"a value of type {type(value).__name__} that cannot be shown ({type(error).__name__})"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


class RecollectError(Exception):
    """The root of all errors raised by Recollect."""


class InvalidArgument(RecollectError, ValueError):
    """An argument whose value cannot be used.

    Parameters
    ----------
    argument
        The name of the argument, with an index where one element is at fault: ``scores[3]``.
    value
        The value that was given.
    expected
        What would have been accepted, as the end of the sentence "… must be".

    Examples
    --------
    >>> raise InvalidArgument("alpha", 1.5, "a number from 0 to 1")
    Traceback (most recent call last):
    ...
    recollect.model.errors.InvalidArgument: alpha must be a number from 0 to 1, got 1.5
    """

    def __init__(self, argument: str, value: object, expected: str) -> None:
        self.argument = argument
        self.value = value
        self.expected = expected
        super().__init__(f"{argument} must be {expected}, got {shown(value)}")

    def __reduce__(self) -> tuple[type[InvalidArgument], tuple[str, object, str]]:
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (self.argument, self.value, self.expected)


class NotGiven(InvalidArgument):
    """An argument that is needed here and was left out.

    Parameters
    ----------
    argument
        Its name.
    when
        Where it is needed, or what it may be, as the end of the sentence "… must be given".

    Examples
    --------
    >>> raise NotGiven("--yes", "where there is no terminal to ask at")
    Traceback (most recent call last):
    ...
    recollect.model.errors.NotGiven: --yes must be given where there is no terminal to ask at
    """

    def __init__(self, argument: str, when: str) -> None:
        super().__init__(argument, None, f"given {when}")
        self.args = (f"{argument} must be given {when}",)
        self.when = when

    def __reduce__(self) -> tuple[type[NotGiven], tuple[str, str]]:  # type: ignore[override]
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (self.argument, self.when)


class MissingExtra(RecollectError, ImportError):
    """A package that this feature needs is not installed.

    Parameters
    ----------
    feature
        What the person wanted to use.
    requirement
        What ``pip install`` has to be given.

    Examples
    --------
    >>> raise MissingExtra("The ONNX embedder", "onnxruntime tokenizers")
    Traceback (most recent call last):
    ...
    recollect.model.errors.MissingExtra: The ONNX embedder needs a package that is not installed:
    pip install onnxruntime tokenizers
    """

    def __init__(self, feature: str, requirement: str) -> None:
        self.feature = feature
        self.requirement = requirement
        super().__init__(f"{feature} needs a package that is not installed: pip install {requirement}")

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (self.feature, self.requirement)


class DatasetError(RecollectError):
    """A file of an evaluation that cannot be read as what it should be.

    Parameters
    ----------
    path
        The file at fault.
    line
        Its line, counted from 1; None where the fault is not in one line.
    reason
        What is wrong there, as the end of the sentence "FILE, line N: …".

    Examples
    --------
    >>> raise DatasetError("run.jsonl", 7, "no 'ranking'")
    Traceback (most recent call last):
    ...
    recollect.model.errors.DatasetError: run.jsonl, line 7: no 'ranking'
    """

    def __init__(self, path: str | PathLike[str], line: int | None, reason: str) -> None:
        self.path = fspath(path)
        self.line = line
        self.reason = reason
        place = self.path if line is None else f"{self.path}, line {line}"
        super().__init__(f"{place}: {reason}")

    def __reduce__(self) -> tuple[type[DatasetError], tuple[str, int | None, str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.path, self.line, self.reason)


class NotEnoughData(RecollectError):
    """Too little was observed to learn from; more of the same helps.

    Parameters
    ----------
    what
        What is counted, as the plural that follows a number.
    found, needed
        How many there are, and how many it takes.

    Examples
    --------
    >>> raise NotEnoughData("labelled pairs", found=5, needed=20)
    Traceback (most recent call last):
    ...
    recollect.model.errors.NotEnoughData: 5 labelled pairs are too few to learn from: at least 20 are needed,
    15 more than there are
    """

    def __init__(self, what: str, found: int, needed: int) -> None:
        self.what = what
        self.found = found
        self.needed = needed
        super().__init__(
            f"{found} {what} are too few to learn from: at least {needed} are needed, "
            f"{needed - found} more than there are"
        )

    def __reduce__(self) -> tuple[type[NotEnoughData], tuple[str, int, int]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.what, self.found, self.needed)


class AccessDenied(RecollectError):
    """Whoever asks may not do that; the message is the same whether or not what they asked about exists."""


class NotAdmitted(AccessDenied):
    """No key was shown where one is needed, or one that is unknown, revoked or expired."""


class EmbedderError(RecollectError):
    """A text could not be turned into a vector."""


class ModelNotInstalled(EmbedderError):
    """The model's files are not on this machine; the message says how to get them."""


class ModelCorrupt(EmbedderError):
    """The model's files are damaged, or not the ones whose hashes were pinned; they are not used."""


class DimensionMismatch(EmbedderError):
    """An embedder gives vectors of another length than it, or the store, declared.

    Examples
    --------
    >>> raise DimensionMismatch("ollama:nomic-embed-text", expected=384, got=768)
    Traceback (most recent call last):
    ...
    recollect.model.errors.DimensionMismatch: ollama:nomic-embed-text gave vectors of 768 dimensions where 384
    were expected: name the model the store was written with, or re-embed the store
    """

    def __init__(self, embedder: str, expected: int, got: int) -> None:
        self.embedder = embedder
        self.expected = expected
        self.got = got
        super().__init__(
            f"{embedder} gave vectors of {got} dimensions where {expected} were expected: "
            "name the model the store was written with, or re-embed the store"
        )

    def __reduce__(self) -> tuple[type[DimensionMismatch], tuple[str, int, int]]:
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (self.embedder, self.expected, self.got)


class EmbeddingServiceError(EmbedderError):
    """An embedding service did not answer as it should."""


class ServiceUnreachable(EmbeddingServiceError):
    """The service could not be reached, was too slow, or kept failing after every retry."""


class ServiceRefused(EmbeddingServiceError):
    """The service answered, and the answer was no; asking again would not help.

    Parameters
    ----------
    message
        What happened and what to do about it.
    status
        The HTTP status of the answer.
    """

    def __init__(self, message: str, status: int) -> None:
        self.status = status
        super().__init__(message)

    def __reduce__(self) -> tuple[type[ServiceRefused], tuple[str, int]]:
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (str(self), self.status)


class ServiceAnswerInvalid(EmbeddingServiceError):
    """The service answered with something that is not the vectors asked for."""


class StoreError(RecollectError):
    """The database cannot do what was asked; nothing was half-written."""


class StoreCorrupt(StoreError):
    """The file is damaged, or is not a Recollect database."""


class StoreTooNew(StoreError):
    """The file was written by a newer Recollect than this one."""


class StoreUnavailable(StoreError):
    """The file is locked for too long, cannot be written, or its disk is full."""


class PoolExhausted(StoreUnavailable):
    """Every connection to the server was in use, for as long as the store waits for one.

    Examples
    --------
    >>> raise PoolExhausted("postgresql://localhost/m", 10, 30.0)
    Traceback (most recent call last):
    ...
    recollect.model.errors.PoolExhausted: all 10 connections to postgresql://localhost/m were in use for 30 s;
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
    recollect.model.errors.PurgeUnfinished: what was purged from m.db is removed, but traces of it may still
    be in the file (the disk of m.db is full); `recollect vacuum` erases them
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(
            f"what was purged from {name} is removed, but traces of it may still be in the file ({reason}); "
            "`recollect vacuum` erases them"
        )

    def __reduce__(self) -> tuple[type[PurgeUnfinished], tuple[str, str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.name, self.reason)


class IndexCorrupt(StoreError):
    """Derived data does not match its checksum or version; ``recollect check --repair`` rebuilds it."""


class MemoryNotFound(StoreError, LookupError):
    """No memory has that id, here.

    Examples
    --------
    >>> raise MemoryNotFound("m7", "default")
    Traceback (most recent call last):
    ...
    recollect.model.errors.MemoryNotFound: no memory 'm7' in namespace 'default'
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
    recollect.model.errors.EntityNotFound: no entity 'Ana' in namespace 'default'; did you mean 'Anna' or
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
    recollect.model.errors.RecallNotFound: no recall 'r7' in the log of namespace 'default'; the log may be
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
    recollect.model.errors.ExperimentNotFound: no experiment 'shear' in namespace 'default'; there is 'share'
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
    >>> raise WorkUnderWay("maintain", "acme", "kite, process 7", datetime(2026, 5, 7, 18, 30))
    Traceback (most recent call last):
    ...
    recollect.model.errors.WorkUnderWay: 'maintain' of 'acme' is being done by kite, process 7; if nothing is
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
    recollect.model.errors.LeaseLost: 'reembed' of everybody's memories was taken from kite, process 7, of
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
    recollect.model.errors.VersionConflict: memory 'm7' is at version 3, not 1; read it again
    """

    def __init__(self, memory_id: str, expected: int, found: int) -> None:
        self.memory_id = memory_id
        self.expected = expected
        self.found = found
        super().__init__(f"memory {shown(memory_id)} is at version {found}, not {expected}; read it again")

    def __reduce__(self) -> tuple[type[VersionConflict], tuple[str, int, int]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.memory_id, self.expected, self.found)
