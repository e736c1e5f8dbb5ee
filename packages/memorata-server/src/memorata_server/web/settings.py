"""Settings: what this memory is kept with, missing vectors, recipes, keys, and the demo, import and export.

A change of the embedder takes effect when the server is started with it. Until everything has been embedded
anew, memories that have no vector of it are found by words alone; this page says how many those are, how long
it would take, and does it. For an import, a script reads a chosen file into the field for text, so that a
form is a form like any other.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response, StreamingResponse

from memorata.extend.access import EVERYWHERE, LOCAL, SCOPES
from memorata.extend.embedding import PRESETS
from memorata.extend.errors import EmbedderError, InvalidArgument
from memorata.extend.model import duration
from memorata.extend.recall import IN_USE, RECIPES
from memorata.extend.transfer import Importer, conversation, export_rows, format_of, read
from memorata_server.jobs import Job
from memorata_server.web.context import PageContext, PageRoute

_KIND: Final = "re-embedding"


def settings(context: PageContext, secret: str = "") -> Response:
    """Show the settings, and a new key's secret, once."""
    engine = context.engine
    store: dict[str, Any] = {}
    if context.may_administer:
        store = {"path": engine.store.path, "statistics": engine.store.statistics()}
    return context.page(
        "settings.html",
        secret=secret,
        keys=engine.admin.keys.list() if context.may_administer else (),
        scopes=SCOPES,
        recipe=engine.admin.recipes.get(),
        opened=engine.recipe,
        saved=engine.admin.recipes.list(),
        shipped=tuple(RECIPES),
        was_changed=bool(engine.store.saved_settings.list(context.namespace, IN_USE)),
        remembered=context.remembered,
        store=store,
        duplicates=engine.dedupe_mode.value,
        dedupe=engine.runtime.dedupe,
        life=engine.admin.lifecycle.rules,
        log=engine.recall_log.how,
        **_waiting(context),
    )


def progress(context: PageContext) -> Response:
    """Show how far the re-embedding is."""
    return context.page("settings_vectors.html", **_waiting(context))


def reembed(context: PageContext) -> Response:
    """Start to embed what has no vector of the embedder, in every namespace."""
    reembed = context.engine.admin.reembed
    context.jobs.start_once(
        _KIND, EVERYWHERE, LOCAL.name, lambda job: reembed(progress=partial(job.progress, ""))
    )
    if context.fragment:
        return progress(context)
    return context.go(context.url("/settings"))


def use(context: PageContext) -> Response:
    """Let the namespace use a recipe, or the one that the memory was opened with."""
    context.engine.admin.recipes.use(context.values.text("name") or None)
    return context.go(context.url("/settings") + "#recipes")


def roll_back(context: PageContext) -> Response:
    """Take back the last version of a recipe, or the last change of which is in use."""
    context.engine.admin.recipes.rollback(context.values.text("name") or None)
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


_MAX_PROBLEMS: Final = 5


def load_demo(context: PageContext) -> Response:
    """Remember the demo's conversation, in a namespace that is empty."""
    if context.remembered:
        raise InvalidArgument("namespace", context.namespace, "one without memories, for the demo")
    memories = [replace(memory, namespace=context.namespace) for memory in conversation()]
    context.engine.remember_many(memories)
    return context.go(context.url("/", q="Why did we move the job queue to PostgreSQL?"))


def import_text(context: PageContext) -> Response:
    """Import what was pasted, or the file that a script read into the form."""
    values = context.values
    if not values.text("text"):
        raise InvalidArgument("text", "", "what is to be imported: notes, a transcript, or lines of JSON")
    data = values["text"][-1].encode()
    name = PurePath(values.text("file")).name or "pasted"
    importer = Importer(context.engine, context.namespace, max_problems=_MAX_PROBLEMS)
    reading = read(data, format_of(data, PurePath(name).suffix) or "text", name=name)
    for _ in importer.add_file(name, reading.records):
        pass
    imported, problems = importer.counts.imported, importer.notes.problems
    if problems and not imported:
        raise InvalidArgument("text", problems[0]["problem"], "text, Markdown, or what `import` reads")
    return context.go(context.url("/memories", imported=imported, failed=importer.notes.failed))


def export(context: PageContext) -> Response:
    """Send all of the namespace as lines of JSON, forgotten and superseded memories too."""
    rows = export_rows(context.engine, context.namespace)
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=_attached(context, "jsonl"))


def backup(context: PageContext) -> Response:
    """Send a copy of the whole store, made while others go on using it."""
    folder = tempfile.TemporaryDirectory(prefix="memorata-backup-")
    try:
        target = Path(folder.name) / "memories.db"
        context.engine.admin.backup(target)
    except BaseException:
        folder.cleanup()
        raise
    headers = _attached(context, "db", "memories")
    return FileResponse(target, headers=headers, background=BackgroundTask(folder.cleanup))


def _attached(context: PageContext, suffix: str, stem: str = "") -> dict[str, str]:
    """Return the headers by which a browser keeps an answer in a file."""
    name = stem or "".join(
        character if character.isalnum() and character.isascii() else "-" for character in context.namespace
    )
    return {"Content-Disposition": f'attachment; filename="{name}-{context.now:%Y-%m-%d}.{suffix}"'}


ROUTES: Final = (
    PageRoute("/settings", lambda context: settings(context)),
    PageRoute("/settings/vectors", progress),
    PageRoute("/settings/reembed", reembed, "POST", everywhere=True),
    PageRoute("/settings/prompts", use_prompts, "POST", everywhere=True),
    PageRoute("/settings/keys", create_key, "POST", everywhere=True),
    PageRoute("/settings/keys/revoke", revoke_key, "POST", everywhere=True),
    PageRoute("/settings/use", use, "POST"),
    PageRoute("/settings/rollback", roll_back, "POST"),
    PageRoute("/demo", load_demo, "POST"),
    PageRoute("/import", import_text, "POST"),
    PageRoute("/export", export),
    PageRoute("/backup", backup, "POST", everywhere=True),
)
