"""The code, HTTP status and exit code of every type of error.

The code is a word that programs can compare. Internal causes are in the log of the server, not in the detail
that a client gets.
"""

from __future__ import annotations

from typing import Final

from memorata._frozen import frozen
from memorata.model import errors

NOT_FOUND: Final = 1
USAGE: Final = 2
STORE: Final = 3
EMBEDDER: Final = 4


class Overloaded(errors.MemorataError):
    """Too many requests or jobs wait already."""

    def __str__(self) -> str:
        return "too many requests are waiting; try again in a moment"


class TimedOut(errors.MemorataError):
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
    (errors.NotAdmitted, ErrorKind("not-admitted", 401, USAGE)),
    (errors.AccessDenied, ErrorKind("access-denied", 403, USAGE)),
    (errors.VersionConflict, ErrorKind("version-conflict", 409, STORE)),
    (errors.WorkUnderWay, ErrorKind("version-conflict", 409, STORE)),
    (errors.LeaseLost, ErrorKind("version-conflict", 409, STORE)),
    (errors.ReplyErased, ErrorKind("answer-erased", 410, STORE)),
    (errors.MissingExtra, ErrorKind("not-installed", 501, EMBEDDER)),
    (errors.InvalidArgument, ErrorKind("invalid", 422, USAGE)),
    (errors.NotEnoughData, ErrorKind("invalid", 422, USAGE)),
    (errors.DatasetError, ErrorKind("invalid", 422, USAGE)),
    (Overloaded, ErrorKind("unavailable", 503, STORE)),
    (TimedOut, ErrorKind("took-too-long", 504, STORE)),
    (errors.StoreReadOnly, ErrorKind("read-only", 403, STORE)),
    (errors.StoreUnavailable, ErrorKind("unavailable", 503, STORE)),
    (errors.ServiceUnreachable, ErrorKind("unavailable", 503, EMBEDDER)),
    (errors.EmbedderError, ErrorKind("internal", 500, EMBEDDER)),
    (errors.StoreError, ErrorKind("internal", 500, STORE)),
)
_PUBLIC_DETAILS: Final = (
    (Overloaded, str(Overloaded())),
    (TimedOut, str(TimedOut())),
    (
        errors.PurgeUnfinished,
        "it is removed, but traces are left in the file; run `memorata admin vacuum` on the server",
    ),
    (
        errors.StoreReadOnly,
        "nothing was changed; the operator of the server can copy the file to where it can be written",
    ),
    (errors.StoreUnavailable, "the database cannot be used now; the server's log says why"),
)
LOGGED: Final = "the server's log says more"


def kind_of(error: Exception) -> ErrorKind:
    """Return the kind of an error."""
    if isinstance(error, errors.MemorataError) and isinstance(error, LookupError):
        return _MISSING
    return next((kind for type_, kind in _KINDS if isinstance(error, type_)), INTERNAL)


def public_detail(error: Exception) -> str:
    """Return the detail of an error for a client, without what only the operator should know."""
    detail = next((words for type_, words in _PUBLIC_DETAILS if isinstance(error, type_)), "")
    return detail or (str(error) if kind_of(error).status < 500 else LOGGED)
