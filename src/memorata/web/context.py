"""One request, as the pages see it: its namespace, fields and permissions, and its answers, errors too."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote, urlencode

from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from memorata._frozen import frozen
from memorata.engine import Engine
from memorata.model.errors import (
    EntityNotFound,
    ExperimentNotFound,
    InvalidArgument,
    MemorataError,
    MemoryNotFound,
    NotEnoughData,
    RecallNotFound,
    ServiceUnreachable,
    WorkUnderWay,
)
from memorata.service.errors import kind_of
from memorata.service.jobs import Job, Jobs
from memorata.web.forms import Values
from memorata.web.rendering import render

_NEAREST: Final = re.compile(r"\(did you mean ([^()]+)\?\)")
_DOTS: Final = re.compile(r"/\.\.?(?=/|$)")


@frozen(eq=False)
class PageContext:
    """One request: what it asks for, what its sender may do, and how it is answered.

    `values` are the fields of the address or the form, `parts` the named parts of the path, `prefix` is where
    the pages are mounted, `token` is what a form has to carry. With `fragment`, only the part of the page
    with the id `target` is asked for. `login` tells that a key was needed, so that one can log out. `theme`
    is what the visitor chose: ``"light"``, ``"dark"``, or nothing for what the system has.
    """

    engine: Engine
    namespace: str
    namespaces: tuple[str, ...]
    values: Values
    path: str
    parts: Mapping[str, str]
    prefix: str
    token: str
    now: datetime
    jobs: Jobs
    fragment: bool = False
    target: str = ""
    may_write: bool = True
    may_administer: bool = True
    login: bool = False
    theme: str = ""
    method: str = "GET"

    @property
    def remembered(self) -> int:
        """How many memories the namespace has, hidden ones included."""
        return self.engine.store.namespaces(counted=[self.namespace]).get(self.namespace, 0)

    def url(self, path: str, fields: Mapping[str, Any] | None = None, /, **more: Any) -> str:  # noqa: ANN401
        """Return the address of a page of the same namespace; fields that are None or empty are left out."""
        parameters: dict[str, Any] = {**(fields or {}), **more}
        if self.namespace != self.engine.namespace:
            parameters.setdefault("namespace", self.namespace)
        present = {name: value for name, value in parameters.items() if value not in (None, "", ())}
        query = urlencode(present, doseq=True)
        # A browser takes a step of dots as the way up, wherever it stands: behind %2F it is part of a name.
        steps = _DOTS.sub(lambda match: match[0].replace("/", "%2F"), quote(path, safe="/"))
        return self.prefix + steps + (f"?{query}" if query else "")

    def page(self, template: str, /, *, status: int = 200, **variables: Any) -> Response:  # noqa: ANN401
        """Return a page, or the part of it that was asked for."""
        return HTMLResponse(render(template, {"context": self, **variables}), status)

    def data(self, data: Any) -> Response:  # noqa: ANN401 - whatever JSON can hold
        """Return plain data, for a script."""
        return JSONResponse(data)

    def failure_of(self, job: Job) -> str:
        """Return why a job failed; details that only administrators may see are left to the log."""
        if job.error is None or (self.login and not self.may_administer):
            return job.problem
        return (
            str(job.error)
            if isinstance(job.error, MemorataError)
            else f"{type(job.error).__name__}: {job.error}"
        )

    def go(self, url: str) -> Response:
        """Send the browser on to another page."""
        if self.fragment:
            return Response(status_code=204, headers={"HX-Redirect": url})
        return RedirectResponse(url, 303)


Scope: TypeAlias = Literal["read", "write"]


@frozen
class PageRoute:
    """One address, what answers there, and what a visitor must be allowed to do.

    A page that concerns `everywhere`, and not one namespace, needs the right to administer all of them.
    """

    path: str
    answer: Callable[[PageContext], Response]
    method: Literal["GET", "POST"] = "GET"
    everywhere: bool = False

    @property
    def scope(self) -> Scope:
        """The scope that a key must have: read for a GET, write for the rest."""
        return "read" if self.method == "GET" else "write"


BROKEN: Final = "That did not work"
_TITLES: Final[dict[str, str]] = {
    "invalid": "That cannot be used",
    "access-denied": "You may not do that",
    "not-admitted": "You may not do that",
    "version-conflict": "It was changed meanwhile",
    "read-only": "This memory can only be read",
    "unavailable": "The store is busy",
}
_TITLES_BY_TYPE: Final[tuple[tuple[type[MemorataError], str], ...]] = (
    (MemoryNotFound, "No such memory"),
    (EntityNotFound, "No such entity"),
    (RecallNotFound, "No such recall"),
    (ExperimentNotFound, "No such experiment"),
    (WorkUnderWay, "This is running already"),
    (NotEnoughData, "Not enough data"),
    (ServiceUnreachable, "A service does not answer"),
)
_PAGE_STATUS: Final = {401: 403, 422: 400}
"""Statuses that a page has in place of those for programs."""
_SEE_LOG: Final = "the server's log says why"


def failure(context: PageContext, error: MemorataError) -> Response:
    """Return the page of an error, or the part of a page that shows it."""
    kind = kind_of(error)
    status = _PAGE_STATUS.get(kind.status, kind.status)
    title = next((text for type_, text in _TITLES_BY_TYPE if isinstance(error, type_)), "")
    title = title or _TITLES.get(kind.code, BROKEN)
    # Paths and addresses of the server are shown to administrators only.
    shown = status < 500 or context.may_administer or not context.login
    text = str(error) if shown else _SEE_LOG
    template = "error_notice.html" if context.fragment else "error.html"
    return context.page(
        template,
        status=status,
        title=title,
        text=text[:1].upper() + text[1:],
        suggestions=_suggestions(context, error),
        typed=_typed(context),
    )


def _suggestions(context: PageContext, error: MemorataError) -> tuple[tuple[str, str], ...]:
    """Return links to the same page with what may have been meant in place of what was written."""
    rejected, nearest_values = "", tuple[str, ...]()
    if isinstance(error, EntityNotFound):
        rejected, nearest_values = error.name, error.nearest
    elif isinstance(error, InvalidArgument) and (nearest := _NEAREST.search(str(error))):
        rejected, nearest_values = str(error.value), (nearest[1],)
    field = next((name for name in context.values if context.values.text(name) == rejected), None)
    if field is None or context.method != "GET":
        return ()
    other_fields = {name: list(values) for name, values in context.values.items() if name != field}
    path = context.path.removeprefix(context.prefix)
    return tuple((value, context.url(path, {**other_fields, field: value})) for value in nearest_values)


def _typed(context: PageContext) -> tuple[tuple[str, str], ...]:
    """Return the fields of a form that was refused, to be corrected and sent again."""
    if context.method != "POST":
        return ()
    return tuple(
        (name, value) for name, values in context.values.items() if name != "token" for value in values
    )
