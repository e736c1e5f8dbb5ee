"""Settings: what this memory is kept with, the vectors that are missing, and the recipes in use.

A change of the embedder takes effect when the server is started with it. Until everything has been embedded
anew, memories that have no vector of it are found by words alone; this page says how many those are, how long
it would take, and does it.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from memorata.engine.access import EVERYWHERE, LOCAL
from memorata.engine.admin import duration
from memorata.engine.recipes.saved import IN_USE
from memorata.engine.recipes.shipped import RECIPES
from memorata.model.errors import EmbedderError
from memorata.service.jobs import Job
from memorata.web.visit import Room, Visit

_KIND: Final = "re-embedding"


def settings(visit: Visit) -> Response:
    """Show the settings."""
    engine = visit.engine
    store: dict[str, Any] = {}
    if visit.may_administer:
        store = {
            "path": engine.store.path,
            "statistics": engine.store.statistics(),
        }
    return visit.page(
        "settings.html",
        recipe=engine.recipes.get(namespace=visit.namespace),
        opened=engine.recipe,
        saved=engine.recipes.list(namespace=visit.namespace),
        shipped=tuple(RECIPES),
        was_changed=bool(engine.store.saved_settings.list(visit.namespace, IN_USE)),
        remembered=engine.store.namespaces().get(visit.namespace, 0),
        store=store,
        duplicates=str(engine.duplicates),
        life=engine.lifecycle.rules,
        log=engine.recall_log.how,
        **_waiting(visit),
    )


def progress(visit: Visit) -> Response:
    """Show how far the re-embedding is."""
    return visit.page("settings_vectors.html", **_waiting(visit))


def reembed(visit: Visit) -> Response:
    """Start to embed what has no vector of the embedder, in every namespace."""
    engine = visit.engine
    visit.jobs.start_once(
        _KIND, EVERYWHERE, LOCAL.name, lambda job: engine.admin.reembed(progress=job.progress)
    )
    if visit.fragment:
        return progress(visit)
    return visit.go(visit.url("/settings"))


def use(visit: Visit) -> Response:
    """Let the namespace use a recipe, or the one that the memory was opened with."""
    visit.engine.recipes.use(visit.values.text("name") or None, namespace=visit.namespace)
    return visit.go(visit.url("/settings") + "#recipes")


def roll_back(visit: Visit) -> Response:
    """Take back the last version of a recipe, or the last change of which is in use."""
    visit.engine.recipes.rollback(visit.values.text("name") or None, namespace=visit.namespace)
    return visit.go(visit.url("/settings") + "#recipes")


def _waiting(visit: Visit) -> dict[str, Any]:
    """Return what the part of the page about vectors needs."""
    job: Job | None = None
    waiting, time, problem = 0, "", ""
    if visit.may_administer and visit.engine.embedder is not None:
        job = visit.jobs.last(_KIND, EVERYWHERE)
        waiting = visit.engine.store.count_waiting()
        if waiting and (job is None or not job.running):
            try:
                time = duration(visit.engine.admin.reembed(dry_run=True).seconds)
            except EmbedderError as error:
                problem = str(error)
    return {"job": job, "waiting": waiting, "time": time, "problem": problem}


ROOMS: Final = (
    Room("/settings", settings),
    Room("/settings/vectors", progress),
    Room("/settings/reembed", reembed, "POST", everywhere=True),
    Room("/settings/use", use, "POST"),
    Room("/settings/rollback", roll_back, "POST"),
)
