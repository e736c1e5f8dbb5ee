"""The code, HTTP status and exit code of every type of error.

The code is a word that programs can compare. Internal causes are in the log of the server, not in the detail
that a client gets.
"""

from __future__ import annotations

from typing import Final

from memorata._frozen import frozen
from memorata.model.errors import (
    AccessDenied,
    DatasetError,
    EmbedderError,
    InvalidArgument,
    LeaseLost,
    MemorataError,
    MissingExtra,
    NotAdmitted,
    NotEnoughData,
    PurgeUnfinished,
    ReplyErased,
    ServiceUnreachable,
    StoreError,
    StoreReadOnly,
    StoreUnavailable,
    VersionConflict,
    WorkUnderWay,
)

NOT_FOUND: Final = 1
USAGE: Final = 2
STORE: Final = 3
EMBEDDER: Final = 4


class Overloaded(MemorataError):  # noqa: N818 - named after what went wrong
    """Too many requests or jobs wait already."""

    def __str__(self) -> str:
        return "too many requests are waiting; try again in a moment"


class TimedOut(MemorataError):  # noqa: N818 - named after what went wrong
    """The answer was not ready in time; the work continues to its end."""

    def __str__(self) -> str:
        return "it may still be carried out; a write can be sent again under the same Idempotency-Key"


@frozen
class ErrorKind:
    """The code of an error, the status of its answer, and the exit code of a command that it ends."""

    code: str
    status: int
    exit_code: int


INTERNAL: Final = ErrorKind("internal", 500, USAGE)
_MISSING: Final = ErrorKind("not-found", 404, NOT_FOUND)
_KINDS: Final[tuple[tuple[type[Exception], ErrorKind], ...]] = (
    (NotAdmitted, ErrorKind("not-admitted", 401, USAGE)),
    (AccessDenied, ErrorKind("access-denied", 403, USAGE)),
    (VersionConflict, ErrorKind("version-conflict", 409, STORE)),
    (WorkUnderWay, ErrorKind("version-conflict", 409, STORE)),
    (LeaseLost, ErrorKind("version-conflict", 409, STORE)),
    (ReplyErased, ErrorKind("answer-erased", 410, STORE)),
    (MissingExtra, ErrorKind("not-installed", 501, EMBEDDER)),
    (InvalidArgument, ErrorKind("invalid", 422, USAGE)),
    (NotEnoughData, ErrorKind("invalid", 422, USAGE)),
    (DatasetError, ErrorKind("invalid", 422, USAGE)),
    (Overloaded, ErrorKind("unavailable", 503, STORE)),
    (TimedOut, ErrorKind("took-too-long", 504, STORE)),
    (StoreReadOnly, ErrorKind("read-only", 403, STORE)),
    (StoreUnavailable, ErrorKind("unavailable", 503, STORE)),
    (ServiceUnreachable, ErrorKind("unavailable", 503, EMBEDDER)),
    (EmbedderError, ErrorKind("internal", 500, EMBEDDER)),
    (StoreError, ErrorKind("internal", 500, STORE)),
)
_PUBLIC_DETAILS: Final = (
    (Overloaded, str(Overloaded())),
    (TimedOut, str(TimedOut())),
    (PurgeUnfinished, "it is removed, but traces are left in the file; run `memorata vacuum` on the server"),
    (
        StoreReadOnly,
        "nothing was changed; the operator of the server can copy the file to where it can be written",
    ),
    (StoreUnavailable, "the database cannot be used now; the server's log says why"),
)
LOGGED: Final = "the server's log says more"


def kind_of(error: Exception) -> ErrorKind:
    """Return the kind of an error."""
    if isinstance(error, MemorataError) and isinstance(error, LookupError):
        return _MISSING
    return next((kind for type_, kind in _KINDS if isinstance(error, type_)), INTERNAL)


def public_detail(error: Exception) -> str:
    """Return the detail of an error for a client, without what only the operator should know."""
    detail = next((words for type_, words in _PUBLIC_DETAILS if isinstance(error, type_)), "")
    return detail or (str(error) if kind_of(error).status < 500 else LOGGED)
