"""mem0's routes under ``/mem0``: those of its self-hosted server, and those its client package calls.

Checked with the client of mem0ai 2.2, which sends a key as ``Authorization: Token …`` or ``X-API-Key``, asks
``/v1/ping/`` first, and reads the text of an error from the `detail` of a JSON object. Options that are about
language models are accepted and not used. A caller whose key is for one namespace works in it, all others in
the namespace ``mem0``, unless ``?namespace=`` says otherwise.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memorata import MemorataError
from memorata.extend.access import ADMIN, READ, WRITE, is_token
from memorata.extend.errors import InvalidArgument
from memorata_agents.mem0.filters import SCOPES
from memorata_agents.mem0.memory import NAMESPACE, Memory, UnknownMemory
from memorata_server.http.context import Caller, NamespaceQuery, RequestContext, authorised
from memorata_server.http.errors import respond
from memorata_server.http.telemetry import CREATE, DELETE, SEARCH, UPDATE
from memorata_server.schemas import MAX_RESULTS

Json = dict[str, Any]
_NOT_CONFIGURED: Final = "There is nothing to configure: memories are stored as they are."
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_REASONS: Final = {
    "feedback": "feedback is about a hit of a recall, and goes to /v1/feedback with the id of the recall",
    "webhooks": "it has no webhooks",
    "projects": "a project is a namespace, and there is nothing to configure",
}
"""Why a route of mem0's platform is refused, by a part of its path."""


class _Mem0Route(APIRoute):
    """A route that reads keys and answers errors as mem0 does."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """Return what answers a request."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            token = _token(request)
            request.scope["headers"] = [
                *((name, value) for name, value in request.scope["headers"] if name != b"authorization"),
                *([] if token is None else [(b"authorization", f"Bearer {token}".encode())]),
            ]
            try:
                return await handler(Request(request.scope, request.receive))
            except (MemorataError, HTTPException, RequestValidationError) as error:
                failure: Exception = error
            except ValueError as error:
                failure = HTTPException(400, str(error))
            response = await respond(request, failure)
            response.headers["content-type"] = "application/json"
            return response

        return handle


def _token(request: Request) -> str | None:
    """Return the key that a request shows; what cannot be one of ours is none where none is needed."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    token = request.headers.get("x-api-key") if not scheme else shown
    if token is None or (not request.app.state.server.keys.required and not is_token(token)):
        return None
    return token


def _context(scope: str) -> Any:  # noqa: ANN401 - a dependency
    async def allowed(request: Request, access: Caller, namespace: NamespaceQuery = None) -> RequestContext:
        own = access.namespaces
        usual = own[0] if len(own) == 1 and not own[0].endswith("*") else NAMESPACE
        return authorised(request, access, scope, usual if namespace is None else namespace)

    return Depends(allowed)


Reading = Annotated[RequestContext, _context(READ)]
Writing = Annotated[RequestContext, _context(WRITE)]
Administering = Annotated[RequestContext, _context(ADMIN)]
Scope = Annotated[str | None, Query(max_length=512)]
Number = Annotated[int, Query(ge=1, le=MAX_RESULTS)]


def _present(scope: Json) -> Json:
    return {name: value for name, value in scope.items() if value is not None}


async def _scope(
    user_id: Scope = None, agent_id: Scope = None, run_id: Scope = None, app_id: Scope = None
) -> Json:
    return _present({"user_id": user_id, "agent_id": agent_id, "run_id": run_id, "app_id": app_id})


ScopeQuery = Annotated[Json, Depends(_scope)]


class Scoped(BaseModel):
    """The fields that select a user, an agent or a run, beside or in `filters`."""

    user_id: str | int | None = None
    agent_id: str | int | None = None
    run_id: str | int | None = None
    app_id: str | int | None = None
    filters: Json | None = None
    show_expired: bool = False

    def conditions(self) -> Json:
        """Return the filters with the scopes among them."""
        return {**(self.filters or {}), **_present({name: getattr(self, name) for name in SCOPES})}


class Added(Scoped):
    """What is to be remembered."""

    messages: str | Json | list[Json]
    metadata: Json | None = None
    timestamp: float | str | None = None
    expiration_date: str | None = None


class Sought(Scoped):
    """What is looked for."""

    query: str
    top_k: int = Field(20, ge=0, le=MAX_RESULTS)
    threshold: float | None = None
    explain: bool = False
    reference_date: float | str | None = None


class Changed(BaseModel):
    """What is to change of a memory."""

    text: str | None = None
    data: str | None = None
    metadata: Json | None = None
    expiration_date: str | None = None


class Chosen(Changed):
    """One of several memories, and what is to change of it."""

    memory_id: str


class Batch(BaseModel):
    """Several memories."""

    memories: list[Chosen] = Field(max_length=MAX_RESULTS)


router = APIRouter(prefix="/mem0", route_class=_Mem0Route, include_in_schema=False)


def _memory(context: RequestContext) -> Memory:
    return Memory(engine=context.engine, namespace=context.namespace)


@router.get("/v1/ping/")
async def ping(context: Reading) -> Json:
    """Tell a client that its key is good, and the organisation and the project that it asks for."""
    return {"status": "ok", "org_id": "memorata", "project_id": context.namespace, "user_email": None}


@router.post("/memories")
@router.post("/v3/memories/add/")
async def add(context: Writing, body: Added) -> Response:
    """Remember messages."""
    # A client names the scope beside the messages, or in `filters`.
    scope = {name: value for name, value in body.conditions().items() if name in SCOPES}
    about = body.model_dump(include={"messages", "metadata", "timestamp", "expiration_date"})
    return await context.write(lambda: _memory(context).add(**about, **scope), CREATE)


@router.post("/search")
@router.post("/v3/memories/search/")
async def search(context: Reading, body: Sought) -> Response:
    """Recall."""
    options = body.model_dump(
        include={"query", "top_k", "threshold", "explain", "reference_date", "show_expired"}
    )
    return await context.read(lambda: _memory(context).search(**options, filters=body.conditions()), SEARCH)


@router.get("/memories")
async def get_all(
    context: Reading, scope: ScopeQuery, top_k: Number = 100, show_expired: bool = False
) -> Response:
    """List memories."""
    return await context.read(
        lambda: _memory(context).get_all(filters=scope, top_k=top_k, show_expired=show_expired), SEARCH
    )


@router.post("/v3/memories/")
async def get_page(context: Reading, body: Scoped, page: Number = 1, page_size: Number = 100) -> Response:
    """List memories, a page at a time."""
    return await context.read(
        lambda: _memory(context).page(body.conditions(), page, page_size, show_expired=body.show_expired),
        SEARCH,
    )


@router.delete("/memories")
@router.delete("/v1/memories/")
async def delete_all(context: Writing, scope: ScopeQuery) -> Response:
    """Forget all memories of a scope."""
    return await context.write(lambda: _memory(context).delete_all(**scope), DELETE)


@router.get("/memories/{memory_id}")
@router.get("/v1/memories/{memory_id}/")
async def get(context: Reading, memory_id: str) -> Response:
    """Return one memory."""

    def work() -> Json:
        if (row := _memory(context).get(memory_id)) is None:
            raise UnknownMemory(memory_id, context.namespace)
        return row

    return await context.read(work, SEARCH)


@router.put("/memories/{memory_id}")
@router.put("/v1/memories/{memory_id}/")
async def update(context: Writing, memory_id: str, body: Changed) -> Response:
    """Change one memory."""
    changes = body.model_dump(exclude_unset=True)
    return await context.write(lambda: _memory(context).update(memory_id, **changes), UPDATE)


@router.delete("/memories/{memory_id}")
@router.delete("/v1/memories/{memory_id}/")
async def delete(context: Writing, memory_id: str, delete_linked: bool = False) -> Response:
    """Forget one memory; its older versions are hidden already."""
    return await context.write(lambda: _memory(context).delete(memory_id), DELETE)


@router.get("/memories/{memory_id}/history")
@router.get("/v1/memories/{memory_id}/history/")
async def history(context: Reading, memory_id: str) -> Response:
    """Return the versions of a memory."""
    return await context.read(lambda: _memory(context).history(memory_id), SEARCH)


@router.put("/v1/batch/")
async def update_many(context: Writing, body: Batch) -> Response:
    """Change several memories; none is changed where one is not there."""
    changes = [memory.model_dump(exclude_unset=True) for memory in body.memories]
    return await context.write(lambda: _memory(context).update_many(changes), UPDATE)


@router.delete("/v1/batch/")
async def delete_many(context: Writing, body: Batch) -> Response:
    """Forget several memories, all or none."""
    ids = [memory.memory_id for memory in body.memories]
    return await context.write(lambda: _memory(context).delete_many(ids), DELETE)


@router.get("/v1/entities/")
async def entities(context: Reading) -> Response:
    """List the users, agents, runs and apps that have memories."""
    return await context.read(lambda: _memory(context).entities(), SEARCH)


@router.delete("/v2/entities/{kind}/{name}/")
async def delete_entity(context: Writing, kind: str, name: str) -> Response:
    """Forget all memories of a user, an agent, a run or an app."""
    scope = f"{kind}_id"
    if scope not in SCOPES:
        raise InvalidArgument("kind", kind, "user, agent, run or app")
    return await context.write(lambda: _memory(context).delete_all(**{scope: name}), DELETE)


@router.get("/api/v1/orgs/organizations/{organisation}/projects/{name:path}/")
async def project(
    context: Reading,
    name: str,
    fields: Annotated[list[str] | None, Query(max_length=64)] = None,
    org_id: Scope = None,
    project_id: Scope = None,
) -> Json:
    """Return the project of a client: its namespace, of which nothing is configured."""
    if name != context.namespace:
        raise HTTPException(404, f"there is no project {name!r}; there is {context.namespace!r}")
    settings = {"name": name, "custom_instructions": None, "custom_categories": None}
    return {field: settings.get(field) for field in fields} if fields else settings


@router.post("/reset")
async def reset(context: Administering) -> Response:
    """Remove everything in the namespace, for good."""

    def work() -> Json:
        _memory(context).reset()
        return {"message": "All memories reset"}

    return await context.write(work, DELETE)


@router.get("/configure")
@router.post("/configure")
async def configure(context: Administering) -> Json:
    """Tell that there is nothing to configure."""
    return {"message": _NOT_CONFIGURED}


@router.api_route("/v1/{rest:path}", methods=_METHODS)
@router.api_route("/v2/{rest:path}", methods=_METHODS)
@router.api_route("/v3/{rest:path}", methods=_METHODS)
@router.api_route("/api/{rest:path}", methods=_METHODS)
async def refuse(request: Request, rest: str) -> Json:
    """Refuse what only mem0's platform has; 404 would tell a client that a memory is not there."""
    part = next((name for name in _REASONS if name in rest), "")
    reason = _REASONS.get(part, "it has no exports, summaries, profiles and jobs of mem0's platform")
    raise HTTPException(501, f"Memorata does not offer {request.method} {request.url.path}: {reason}")
