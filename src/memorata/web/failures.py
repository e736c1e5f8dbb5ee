"""An error as a page: what was wrong, in the words of the error, and the status that programs read."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from memorata.model.errors import (
    AccessDenied,
    EntityNotFound,
    ExperimentNotFound,
    InvalidArgument,
    MemorataError,
    MemoryNotFound,
    NotEnoughData,
    RecallNotFound,
    ServiceUnreachable,
    StoreReadOnly,
    StoreUnavailable,
    VersionConflict,
    WorkUnderWay,
)
from memorata.web.visit import Visit

BROKEN: Final = "That did not work"
_KNOWN: Final[tuple[tuple[type[MemorataError], int, str], ...]] = (
    (InvalidArgument, 400, "That cannot be used"),
    (AccessDenied, 403, "You may not do that"),
    (MemoryNotFound, 404, "No such memory"),
    (EntityNotFound, 404, "Nobody has that name"),
    (RecallNotFound, 404, "No such question"),
    (ExperimentNotFound, 404, "No such experiment"),
    (VersionConflict, 409, "Somebody was faster"),
    (WorkUnderWay, 409, "Somebody is at it already"),
    (NotEnoughData, 400, "That is too little"),
    (StoreReadOnly, 403, "This memory can only be read"),
    (StoreUnavailable, 503, "The store is busy"),
    (ServiceUnreachable, 503, "A service does not answer"),
)
_ELSEWHERE: Final = "the server's log says why"


def failure(visit: Visit, error: MemorataError) -> Response:
    """Return the page of an error, or the part of a page that shows it."""
    status, title = next(
        ((status, title) for kind, status, title in _KNOWN if isinstance(error, kind)),
        (500, BROKEN),
    )
    # Where a server keeps what, and whom it asks, is for those who run it.
    told = status < 500 or visit.may_administer or not visit.login
    text = str(error) if told else _ELSEWHERE
    template = "error_notice.html" if visit.fragment else "error.html"
    return visit.page(template, status=status, title=title, text=text[:1].upper() + text[1:])
