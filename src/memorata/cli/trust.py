"""Agree to what came from somewhere else: a folder's settings file, or the embedder a database names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorata.cli.command import command
from memorata.cli.output import one_line
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine.settings import Settings

_SECRET = ("api_key", "anchors_key")

Where = Annotated[
    str | None,
    typer.Argument(metavar="[PATH]", help="A settings file, or the folder it is in; this one otherwise."),
]
Recorded = Annotated[
    bool, typer.Option("--recorded", help="Agree to the embedder that the database names, instead.")
]
Listed = Annotated[bool, typer.Option("--list", help="List what was agreed to.")]
Withdraw = Annotated[
    str | None, typer.Option("--withdraw", metavar="NAME", help="Take back what --list shows by that name.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "trust", "Look after it")(trust)


def trust(
    session: Session,
    path: Where = None,
    recorded: Recorded = False,
    listed: Listed = False,
    withdraw: Withdraw = None,
    yes: Yes = False,
) -> None:
    """Trust the settings file of a folder as it is now, after a look at what it changes.

    Until then such a file has no say in the database, the embedder, services, keys and models. A file that
    changes has to be trusted again. One that is named with --config needs no trust.
    """
    from memorata.embed.trust import user_trust
    from memorata.model.errors import InvalidArgument

    consent, output = user_trust(), session.output
    if listed:
        if output.json:
            output.data({"settings_files": consent.files, "sources": consent.sources})
        else:
            for name in (*consent.files, *consent.sources):
                output.line(one_line(name))
    elif withdraw is not None:
        if not consent.withdraw(withdraw):
            raise InvalidArgument("--withdraw", withdraw, "one of those that memorata trust --list shows")
        _report(session, {"withdrawn": withdraw})
    elif recorded:
        _trust_recorded(session, yes=yes)
    else:
        _trust_file(session, _settings_file(path), yes=yes)


def _settings_file(path: str | None) -> Path:
    from memorata.engine.config_file import at_home, config_file
    from memorata.model.errors import InvalidArgument

    where = Path.cwd() if path is None else at_home(path).absolute()
    file = config_file({}, where) if where.is_dir() else where
    if file is None or not file.is_file():
        raise InvalidArgument("PATH", str(where), "a folder with a memorata.toml, or a settings file")
    return file


def _trust_file(session: Session, file: Path, *, yes: bool) -> None:
    from memorata.embed.trust import user_trust
    from memorata.engine.config_file import HARMLESS
    from memorata.engine.settings import Settings

    wanted = Settings(config=str(file))
    config = wanted.config
    assert config is not None  # it was named
    now = session.settings
    changes = {
        name: {"now": _shown(now, name), "then": _shown(wanted, name)}
        for name in config.values
        if name not in HARMLESS and wanted.origin(name) == str(file)
    }
    lines = [f"{name}: {change['now']} → {change['then']}" for name, change in changes.items()]
    warnings = _warnings(wanted, changes)
    if _agreed(session, [f"{file} sets", *lines, *warnings], "Trust this file?", yes=yes):
        user_trust().agree_to_file(config.path, config.content)
        _report(session, {"trusted": str(file), "changes": changes, "warnings": warnings})


def _warnings(wanted: Settings, changes: dict[str, Any]) -> list[str]:
    """Return what such settings lead to that their names do not tell."""
    from memorata.embed.trust import is_service, source_of

    source = source_of(wanted.embedder) if "embedder" in changes else None
    if source is None or not is_service(source):
        return []
    keyed = wanted.api_key is not None and wanted.api_key_address in (None, source)
    what = "memories, questions and your API key" if keyed else "memories and questions"
    return [f"{what} will be sent to {source}"]


def _trust_recorded(session: Session, *, yes: bool) -> None:
    from memorata.embed.select import without_secrets
    from memorata.embed.trust import is_service, source_of, user_trust

    with session.memory() as engine:
        recorded = engine.store.setting("embedder")
    source = None if recorded is None else source_of(recorded)
    if recorded is None or source is None:
        session.output.say("The database names neither a service nor a folder: there is nothing to agree to.")
        return
    what = "memories and questions will be sent to" if is_service(source) else "a model will be loaded from"
    lines = [f"{session.settings.db} names the embedder {without_secrets(recorded)}", f"{what} {source}"]
    if _agreed(session, lines, "Agree to that?", yes=yes):
        user_trust().agree_to_source(source)
        _report(session, {"trusted": source, "embedder": without_secrets(recorded)})


def _agreed(session: Session, lines: list[str], question: str, *, yes: bool) -> bool:
    from memorata.model.errors import NotGiven

    for number, line in enumerate(lines):
        # From a file that is not trusted yet: it must not draw on the terminal.
        session.output.say(("  " if number else "") + one_line(line), "")
    if yes:
        return True
    if not sys.stdin.isatty():
        raise NotGiven("--yes", "where there is no terminal to ask at")
    if typer.confirm(question, err=True):
        return True
    session.output.say("Nothing was changed.")
    return False


def _report(session: Session, data: dict[str, Any]) -> None:
    if session.output.json:
        session.output.data(data)
    else:
        session.output.line(" ".join(next(iter(data.items()))))


def _shown(settings: Settings, name: str) -> str:
    from memorata.embed.select import without_secrets

    value = getattr(settings, name)
    if value is not None and name in _SECRET:
        return "(not shown)"
    # The address of a server shows no password by itself.
    return one_line(without_secrets(str(value)), 200) if value is not None else "nothing"
