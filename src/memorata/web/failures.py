"""An error as a page: what was wrong, in the words of the error, and the status that programs read."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from memorata.model.errors import (
    EntityNotFound,
    ExperimentNotFound,
    MemorataError,
    MemoryNotFound,
    NotEnoughData,
    RecallNotFound,
    ServiceUnreachable,
    WorkUnderWay,
)
from memorata.service.errors import kind_of
from memorata.web.visit import Visit

BROKEN: Final = "That did not work"
_TITLES: Final[dict[str, str]] = {
    "invalid": "That cannot be used",
    "access-denied": "You may not do that",
    "not-admitted": "You may not do that",
    "version-conflict": "Somebody was faster",
    "read-only": "This memory can only be read",
    "unavailable": "The store is busy",
}
_TITLES_BY_TYPE: Final[tuple[tuple[type[MemorataError], str], ...]] = (
    (MemoryNotFound, "No such memory"),
    (EntityNotFound, "Nobody has that name"),
    (RecallNotFound, "No such question"),
    (ExperimentNotFound, "No such experiment"),
    (WorkUnderWay, "Somebody is at it already"),
    (NotEnoughData, "That is too little"),
    (ServiceUnreachable, "A service does not answer"),
)
_PAGE_STATUS: Final = {401: 403, 422: 400}
"""Statuses that a page has in place of those for programs."""
_ELSEWHERE: Final = "the server's log says why"


def failure(visit: Visit, error: MemorataError) -> Response:
    """Return the page of an error, or the part of a page that shows it."""
    kind = kind_of(error)
    status = _PAGE_STATUS.get(kind.status, kind.status)
    title = next((text for type_, text in _TITLES_BY_TYPE if isinstance(error, type_)), "")
    title = title or _TITLES.get(kind.code, BROKEN)
    # Where a server keeps what, and whom it asks, is for those who run it.
    told = status < 500 or visit.may_administer or not visit.login
    text = str(error) if told else _ELSEWHERE
    template = "error_notice.html" if visit.fragment else "error.html"
    return visit.page(template, status=status, title=title, text=text[:1].upper() + text[1:])
