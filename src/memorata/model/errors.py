"""Every error Memorata raises on purpose.

::

    MemorataError
    ├── InvalidArgument               a value that cannot be used (also a ValueError)
    │   ├── NotGiven                  a value that is needed and was left out
    │   └── AlreadySuperseded         a memory whose place another has taken before
    ├── MissingExtra                  a package that is not installed (also an ImportError)
    ├── DatasetError                  a data set, run or qrels file that cannot be read as what it should be
    ├── NotEnoughData                 too little was observed to learn from
    ├── AccessDenied                  the caller may not do that
    │   └── NotAdmitted               no key was shown, or one that is not good
    ├── StoreError                    the database cannot do what was asked
    │   ├── StoreCorrupt              its file is damaged, or is no Memorata database
    │   ├── StoreTooNew               its file was written by a newer Memorata
    │   ├── StoreUnavailable          locked for too long, out of reach, or its disk is full
    │   │   ├── StoreReadOnly         it can only be read, as it is or as it was opened
    │   │   ├── StoreReplaced         its file was removed, or another took its place, while it was open
    │   │   ├── StoreEncrypted        its file is encrypted with another key, or not at all
    │   │   ├── PoolExhausted         every connection to the server was in use for too long
    │   │   └── PurgeUnfinished       something was removed, but its traces could not be erased yet
    │   ├── ServerUnsuitable          the server is too old, or lacks something, or a right
    │   ├── NotSupportedHere          this kind of store does not do that
    │   ├── IndexCorrupt              derived data that does not check; it can be rebuilt
    │   ├── MemoryNotFound            no memory has that id
    │   ├── EntityNotFound            no entity has that name
    │   ├── RecallNotFound            no recall with that id is in the log
    │   ├── ExperimentNotFound        no experiment has that name
    │   ├── ReplyErased               a request was carried out, but its answer is gone
    │   ├── WorkUnderWay              another worker is doing the same at this moment
    │   ├── LeaseLost                 another worker has taken over what this one was doing
    │   └── VersionConflict           the memory was changed in the meantime
    └── EmbedderError                 a text could not be turned into a vector
        ├── ConsentNeeded             a database names a service or a folder without consent
        ├── ModelNotInstalled         the model's files are not on this machine
        ├── ModelCorrupt              the model's files are not the ones that were pinned
        ├── DimensionMismatch         vectors of another length than the store's
        └── EmbeddingServiceError     an embedding service did not answer as it should
            ├── ServiceUnreachable    no answer in time, after every retry
            ├── ServiceRefused        an answer that says no: a wrong key, an unknown model, a text too long
            └── ServiceAnswerInvalid  an answer that cannot be used: not JSON, too few vectors, NaN

Catch ``MemorataError`` to catch them all. A message says what was wrong, shows the value, and says what
to do about it.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from os import PathLike, fspath
from typing import Any, Self

_MAX_SHOWN = 80
"""Longest piece of a bad value that a message repeats; the whole of it may be a megabyte of text."""


def shown(value: object) -> str:
    """Return `value` as an error message shows it: its ``repr``, cut to a readable length; times in ISO 8601.

    >>> shown(float("nan")), len(shown("x" * 10_000)), shown(datetime(2026, 5, 7, 18, 30))
    ('nan', 81, '2026-05-07T18:30:00')
    """
    try:
        text = value.isoformat() if isinstance(value, datetime) else repr(value)
    except Exception as error:
        # An int of 5000 digits has no repr, and an error on the way to an error would hide the first one.
        text = f"a value of type {type(value).__name__} that cannot be shown ({type(error).__name__})"
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


class MemorataError(Exception):
    """The root of all errors raised by Memorata."""

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Keep the constructor's arguments, so that the error survives a process boundary."""
        error = super().__new__(cls, *args)
        error._arguments = args, kwargs
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the constructor's arguments; what was added later, such as notes, goes along."""
        args, kwargs = self._arguments
        return partial(type(self), **kwargs), args, vars(self)


class InvalidArgument(MemorataError, ValueError):
    """An argument whose value cannot be used; `expected` ends the sentence "… must be".

    >>> raise InvalidArgument("alpha", 1.5, "a number from 0 to 1")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: alpha must be a number from 0 to 1, got 1.5
    """

    def __init__(self, argument: str, value: object, expected: str) -> None:
        self.argument, self.value, self.expected = argument, value, expected
        super().__init__(f"{argument} must be {expected}, got {shown(value)}")

    def inside(self, outer: str) -> InvalidArgument:
        """Return the error of the same value as a part of `outer`: ``items[3].content``."""
        argument = f"{outer}.{self.argument}" if self.argument else outer
        return InvalidArgument(argument, self.value, self.expected)


class NotGiven(InvalidArgument):
    """An argument that is needed here and was left out; `when` ends the sentence "… must be given"."""

    def __init__(self, argument: str, when: str) -> None:
        super().__init__(argument, None, f"given {when}")
        self.args = (f"{argument} must be given {when}",)
        self.when = when


class AlreadySuperseded(InvalidArgument):
    """A memory that was to be superseded, and that another, `by`, has superseded before."""

    def __init__(self, memory_id: str, by: str) -> None:
        super().__init__("supersedes", memory_id, "a memory whose place no other has taken")
        self.memory_id, self.by = memory_id, by
        old, new = shown(memory_id), shown(by)
        self.args = (
            f"{old} cannot be superseded once more: {new} has taken its place; "
            f"correct or supersede {new} instead",
        )


class MissingExtra(MemorataError, ImportError):
    """A package that a feature needs is not installed; `requirement` is what ``pip install`` takes."""

    def __init__(self, feature: str, requirement: str) -> None:
        self.feature, self.requirement = feature, requirement
        super().__init__(f"{feature} needs a package that is not installed: pip install {requirement}")


class DatasetError(MemorataError):
    """A file of an evaluation that cannot be read as what it should be; lines are counted from 1."""

    def __init__(self, path: str | PathLike[str], line: int | None, reason: str) -> None:
        self.path, self.line, self.reason = fspath(path), line, reason
        super().__init__(f"{self.path}{'' if line is None else f', line {line}'}: {reason}")


class NotEnoughData(MemorataError):
    """Too little was observed to learn from; more of the same helps."""

    def __init__(self, what: str, found: int, needed: int) -> None:
        self.what, self.found, self.needed = what, found, needed
        super().__init__(
            f"{found} {what} are too few to learn from: at least {needed} are needed, "
            f"{needed - found} more than there are"
        )


class AccessDenied(MemorataError):
    """The caller may not do that; the message is the same whether or not what was asked about exists."""


class NotAdmitted(AccessDenied):
    """No key was shown where one is needed, or one that is unknown, revoked or expired."""


class StoreError(MemorataError):
    """The database cannot do what was asked; nothing was half-written."""


class StoreCorrupt(StoreError):
    """The file is damaged, or is not a Memorata database."""


class StoreTooNew(StoreError):
    """The file was written by a newer Memorata than this one."""


class StoreUnavailable(StoreError):
    """The file is locked for too long, cannot be written, or its disk is full."""


class StoreEncrypted(StoreUnavailable):
    """The file is encrypted with another key than the one given, or is not encrypted at all."""


class StoreReadOnly(StoreUnavailable):
    """The file can only be read, as it is or as it was opened; nothing was changed."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(f"{name} can only be read here, and nothing was changed: {reason}")


class StoreReplaced(StoreUnavailable):
    """The file was removed, or another one took its place, while it was open; nothing more goes into it."""

    def __init__(self, name: str, *, removed: bool) -> None:
        self.name, self.removed = name, removed
        happened = "was removed or moved away" if removed else "was replaced by another file"
        now = "move it back, or restore a backup" if removed else "open it again to use the file there now"
        super().__init__(
            f"{name} {happened} while it was open; nothing more is read from it, or written only to be lost; "
            f"{now}. `backup` of the memory that is open still copies all it holds (docs/backup.md)"
        )


class PoolExhausted(StoreUnavailable):
    """Every connection to the server was in use, for as long as the store waits for one."""

    def __init__(self, name: str, connections: int, seconds: float) -> None:
        self.name, self.connections, self.seconds = name, connections, seconds
        super().__init__(
            f"all {connections} connections to {name} were in use for {seconds:g} s; try again, or open the "
            "store with more connections"
        )


class PurgeUnfinished(StoreUnavailable):
    """Memories were purged and are returned no more, but their bytes may still be in the file."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(
            f"what was purged from {name} is removed, but traces of it may still be in the file ({reason}); "
            "`memorata admin vacuum` erases them"
        )


class ServerUnsuitable(StoreError):
    """The database server cannot be used as it is; the message says what has to change there."""


class NotSupportedHere(StoreError):
    """A kind of store does not do that; the message says what does."""


class IndexCorrupt(StoreError):
    """Derived data does not match its checksum or version; ``memorata admin check --repair`` rebuilds it."""


class MemoryNotFound(StoreError, LookupError):
    """No memory has that id, or is under that key, here; an error about a key has no `memory_id`."""

    def __init__(self, memory_id: str, namespace: str, *, key: str | None = None) -> None:
        self.memory_id, self.namespace, self.key = memory_id, namespace, key
        missing = shown(memory_id) if key is None else f"under the key {shown(key)}"
        super().__init__(f"no memory {missing} in namespace {shown(namespace)}")


class EntityNotFound(StoreError, LookupError):
    """No entity has that name, here; the message says which names are like it."""

    def __init__(self, name: str, namespace: str, nearest: tuple[str, ...] = (), in_texts: int = 0) -> None:
        self.name, self.namespace, self.nearest, self.in_texts = name, namespace, nearest, in_texts
        hint = f"; did you mean {' or '.join(map(shown, nearest))}?" if nearest else ""
        if in_texts:
            count = "1 memory has" if in_texts == 1 else f"{in_texts:,} memories have"
            hint += f"; {count} it as a word: text=True (--text) means those"
        super().__init__(f"no entity {shown(name)} in namespace {shown(namespace)}{hint}")


class RecallNotFound(StoreError, LookupError):
    """No recall with that id is in the log, here: it was not logged, or it was long ago."""

    def __init__(self, recall_id: str, namespace: str) -> None:
        self.recall_id, self.namespace = recall_id, namespace
        super().__init__(
            f"no recall {shown(recall_id)} in the log of namespace {shown(namespace)}; the log may be off, "
            "or so full that it had to go"
        )


class ExperimentNotFound(StoreError, LookupError):
    """No experiment has that name, here."""

    def __init__(self, name: str, namespace: str, known: tuple[str, ...] = ()) -> None:
        self.name, self.namespace, self.known = name, namespace, known
        existing = f"there is {', '.join(map(shown, known))}" if known else "there is none yet"
        super().__init__(f"no experiment {shown(name)} in namespace {shown(namespace)}; {existing}")


class ReplyErased(StoreError):
    """A request of that name was carried out, but a purge has erased its answer; it is not done again."""


class WorkUnderWay(StoreError):
    """Another worker is doing the same at this moment; nothing was done here.

    `namespace` is ``*`` for all of them; `until` is when the work can be taken over, None if it has just
    ended.
    """

    def __init__(self, kind: str, namespace: str, holder: str, until: datetime | None) -> None:
        self.kind, self.namespace, self.holder, self.until = kind, namespace, holder, until
        work = f"{shown(kind)} of {_work_scope(namespace)}"
        super().__init__(
            f"{work} was being done by another until a moment ago; try again"
            if until is None
            else f"{work} is being done by {holder}; if its lease is not renewed until {shown(until)}, "
            "another may take it over"
        )


class LeaseLost(StoreError):
    """Another worker has taken over what this one was doing; what was done stays, and no more is written."""

    def __init__(self, kind: str, namespace: str, holder: str) -> None:
        self.kind, self.namespace, self.holder = kind, namespace, holder
        super().__init__(
            f"{shown(kind)} of {_work_scope(namespace)} was taken from {holder}, whose lease was not renewed "
            "in time; another worker goes on from where it was"
        )


def _work_scope(namespace: str) -> str:
    return "all namespaces" if namespace == "*" else shown(namespace)


class VersionConflict(StoreError):
    """Someone else changed the memory first; read it again and decide anew."""

    def __init__(self, memory_id: str, expected: int, found: int) -> None:
        self.memory_id, self.expected, self.found = memory_id, expected, found
        super().__init__(f"memory {shown(memory_id)} is at version {found}, not {expected}; read it again")


class EmbedderError(MemorataError):
    """A text could not be turned into a vector."""


class ConsentNeeded(EmbedderError):
    """A database names a service or a folder without consent on this machine; it is left alone."""


class ModelNotInstalled(EmbedderError):
    """The model's files are not on this machine; the message says how to get them."""


class ModelCorrupt(EmbedderError):
    """The model's files are damaged, or not the ones whose hashes were pinned; they are not used."""


class DimensionMismatch(EmbedderError):
    """An embedder gives vectors of another length than it, or the store, declared."""

    def __init__(
        self,
        embedder: str,
        expected: int,
        got: int,
        advice: str = "name the model the store was written with, or re-embed the store",
    ) -> None:
        self.embedder, self.expected, self.got, self.advice = embedder, expected, got, advice
        super().__init__(
            f"{embedder} gave vectors of {got} dimensions where {expected} were expected: {advice}"
        )


class EmbeddingServiceError(EmbedderError):
    """An embedding service did not answer as it should."""


class ServiceUnreachable(EmbeddingServiceError):
    """The service could not be reached, was too slow, or kept failing after every retry.

    `status` is the HTTP status of the last answer, None if there was none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class ServiceRefused(EmbeddingServiceError):
    """The service answered, and the answer was no; asking again would not help.

    `status` is the HTTP status; `too_long` says whether the length of what was sent was the reason.
    """

    def __init__(self, message: str, status: int, *, too_long: bool = False) -> None:
        self.status, self.too_long = status, too_long
        super().__init__(message)


class ServiceAnswerInvalid(EmbeddingServiceError):
    """The service answered with something that is not the vectors asked for."""
