"""Bringing memories in and out of the pages: the demo, an import of pasted text or a file, export, backup.

A script reads a chosen file into the field for text, so that a form is a form like any other.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Final

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response, StreamingResponse

from memorata.model.errors import InvalidArgument
from memorata.service.export import export_rows
from memorata.service.formats import format_of, read
from memorata.service.importer import Importer, conversation
from memorata.web.context import PageContext, PageRoute

_MAX_PROBLEMS: Final = 5


def load_demo(context: PageContext) -> Response:
    """Remember the demo's conversation, in a namespace that is empty."""
    if context.remembered:
        raise InvalidArgument("namespace", context.namespace, "one without memories, for the demo")
    memories = [replace(memory, namespace=context.namespace) for memory in conversation()]
    context.engine.remember_many(memories, namespace=context.namespace)
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
    PageRoute("/demo", load_demo, "POST"),
    PageRoute("/import", import_text, "POST"),
    PageRoute("/export", export),
    PageRoute("/backup", backup, "POST", everywhere=True),
)
