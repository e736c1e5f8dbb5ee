"""Settings: what this memory is kept with, the vectors that are missing, recipes, keys, export and backup.

A change of the embedder takes effect when the server is started with it. Until everything has been embedded
anew, memories that have no vector of it are found by words alone; this page says how many those are, how long
it would take, and does it.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from memorata.embed.catalogue import available
from memorata.embed.port import PRESETS
from memorata.engine.access import EVERYWHERE, LOCAL, SCOPES
from memorata.engine.admin import duration
from memorata.engine.recipes.recipe import RECIPES
from memorata.engine.recipes.saved import IN_USE
from memorata.model.errors import EmbedderError
from memorata.service.jobs import Job
from memorata.web.context import PageContext, PageRoute

_KIND: Final = "re-embedding"


def settings(context: PageContext, secret: str = "") -> Response:
    """Show the settings, and a new key's secret, once."""
    engine = context.engine
    store: dict[str, Any] = {}
    if context.may_administer:
        store = {
            "path": engine.store.path,
            "statistics": engine.store.statistics(),
        }
    return context.page(
        "settings.html",
        secret=secret,
        keys=engine.admin.keys.list() if context.may_administer else (),
        scopes=SCOPES,
        models=available(),
        recipe=engine.recipes.get(namespace=context.namespace),
        opened=engine.recipe,
        saved=engine.recipes.list(namespace=context.namespace),
        shipped=tuple(RECIPES),
        was_changed=bool(engine.store.saved_settings.list(context.namespace, IN_USE)),
        remembered=context.remembered,
        store=store,
        duplicates=engine.dedupe_mode.value,
        dedupe=engine.runtime.dedupe,
        life=engine.lifecycle.rules,
        log=engine.recall_log.how,
        **_waiting(context),
    )


def progress(context: PageContext) -> Response:
    """Show how far the re-embedding is."""
    return context.page("settings_vectors.html", **_waiting(context))


def reembed(context: PageContext) -> Response:
    """Start to embed what has no vector of the embedder, in every namespace."""
    engine = context.engine
    context.jobs.start_once(
        _KIND, EVERYWHERE, LOCAL.name, lambda job: engine.admin.reembed(progress=job.progress)
    )
    if context.fragment:
        return progress(context)
    return context.go(context.url("/settings"))


def use(context: PageContext) -> Response:
    """Let the namespace use a recipe, or the one that the memory was opened with."""
    context.engine.recipes.use(context.values.text("name") or None, namespace=context.namespace)
    return context.go(context.url("/settings") + "#recipes")


def roll_back(context: PageContext) -> Response:
    """Take back the last version of a recipe, or the last change of which is in use."""
    context.engine.recipes.rollback(context.values.text("name") or None, namespace=context.namespace)
    return context.go(context.url("/settings") + "#recipes")


def _waiting(context: PageContext) -> dict[str, Any]:
    """Return what the part of the page about vectors needs."""
    job: Job | None = None
    waiting, time, problem = 0, "", ""
    if context.may_administer and context.engine.embedder is not None:
        job = context.jobs.last(_KIND, EVERYWHERE)
        waiting = context.engine.store.count_waiting()
        if waiting and (job is None or not job.running):
            try:
                time = duration(context.engine.admin.reembed(dry_run=True).seconds)
            except EmbedderError as error:
                problem = str(error)
    return {"job": job, "waiting": waiting, "time": time, "problem": problem, "presets": tuple(PRESETS)}


def create_key(context: PageContext) -> Response:
    """Make a key, and show its secret this once."""
    values = context.values
    _, secret = context.engine.admin.keys.create(
        values.text("name"),
        values.listed("namespaces") or ("*",),
        [values.text("scope", "read")],
        expires_at=values.instant("expires", end=True),
    )
    return settings(context, secret)


def revoke_key(context: PageContext) -> Response:
    """End a key."""
    context.engine.admin.keys.revoke(context.values.text("id"))
    return context.go(context.url("/settings") + "#keys-list")


def use_prompts(context: PageContext) -> Response:
    """Let the embedder use other prompts from now on; the page then says what has to be embedded again."""
    context.engine.admin.use_prompts(context.values.text("prompts"))
    return context.go(context.url("/settings"))


ROUTES: Final = (
    PageRoute("/settings", lambda context: settings(context)),
    PageRoute("/settings/vectors", progress),
    PageRoute("/settings/reembed", reembed, "POST", everywhere=True),
    PageRoute("/settings/prompts", use_prompts, "POST", everywhere=True),
    PageRoute("/settings/keys", create_key, "POST", everywhere=True),
    PageRoute("/settings/keys/revoke", revoke_key, "POST", everywhere=True),
    PageRoute("/settings/use", use, "POST"),
    PageRoute("/settings/rollback", roll_back, "POST"),
)
