"""All there is about somebody over HTTP, shown and removed; and a namespace removed as a whole."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.responses import Response

from memorata.engine.entities import About
from memorata.http.asked import Ending, Reading
from memorata.http.entities import RelationShown
from memorata.http.limits import WORD
from memorata.http.shapes import MemoryShown
from memorata.http.tracing import DELETE
from memorata.service.codec import memory_json, plain, relation_json

router = APIRouter(prefix="/v1", tags=["about somebody"])

Subject = Annotated[
    str, Query(min_length=1, max_length=WORD, description="A person or a thing, by any name.")
]
Named = Annotated[str, Query(max_length=512, description="The namespace, by its whole path.")]


class AboutShown(BaseModel):
    """Everything about a subject, hidden memories too."""

    subject: str
    memories: list[MemoryShown]
    entities: list[dict[str, Any]]
    relations: list[RelationShown]


class Removed(BaseModel):
    """How many memories were removed."""

    removed: int


@router.get("/about", response_model=None, responses={200: {"model": AboutShown}})
async def about(asked: Reading, subject: Subject) -> Response:
    """Return everything about a person or a thing."""
    return await asked.look(
        lambda: _about_json(asked.engine.entities.about(subject, namespace=asked.namespace))
    )


@router.delete("/about", response_model=None, responses={200: {"model": Removed}})
async def purge_subject(asked: Ending, subject: Subject) -> Response:
    """Remove everything about a person or a thing, for good. This cannot be undone, and takes a while."""

    def work() -> Any:  # noqa: ANN401
        removed = asked.engine.entities.purge(subject, namespace=asked.namespace)
        asked.service.jobs.forget(asked.namespace)
        return {"removed": len(removed.memories)}

    return await asked.look(work, DELETE)


@router.delete("/namespaces", response_model=None, responses={200: {"model": Removed}})
async def purge_namespace(asked: Ending, namespace: Named) -> Response:
    """Remove a namespace for good, with its name and all that belongs to it. This cannot be undone.

    It has to be named, even if it is the server's own.
    """

    def work() -> Any:  # noqa: ANN401
        removed = asked.engine.admin.purge_namespace(asked.namespace)
        asked.service.jobs.forget(asked.namespace)
        return {"removed": removed}

    return await asked.look(work, DELETE)


def _about_json(found: About) -> dict[str, Any]:
    return {
        "subject": found.subject,
        "memories": [memory_json(memory) for memory in found.memories],
        "entities": [plain(record) for record in found.entities],
        "relations": [relation_json(relation) for relation in found.relations],
    }
