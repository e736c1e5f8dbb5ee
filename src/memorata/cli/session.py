"""One run of a command: the options of every command, the settings, and the memory it opens."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer import Option

from memorata._data_folder import make_folder
from memorata._frozen import frozen
from memorata.cli.output import Output
from memorata.model.errors import NotGiven, StoreUnavailable

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.engine.settings import Settings


_option = partial(Option, rich_help_panel="Options of every command")


@frozen
class GlobalOptions:
    """The options that every command takes; None or False where they are absent."""

    db: Annotated[
        str | None,
        _option("--db", metavar="PATH", help="The database: a file, or postgresql://… for a server."),
    ] = None
    namespace: Annotated[
        str | None, _option("--namespace", "-n", metavar="PATH", help="The namespace, such as acme/alice.")
    ] = None
    embedder: Annotated[
        str | None, _option("--embedder", metavar="NAME", help="auto, builtin, lexical, a model, …")
    ] = None
    analyser: Annotated[
        str | None,
        _option("--analyser", metavar="NAME", help="For a new store: snowball (otherwise) or plain."),
    ] = None
    json: Annotated[bool, _option("--json", help="Results as JSON.")] = False
    quiet: Annotated[bool, _option("--quiet", "-q", help="Only results and errors.")] = False
    debug: Annotated[bool, _option("--debug", help="Show the traceback of an error.")] = False
    replica: Annotated[
        str | None, _option("--replica", metavar="URL", help="A replica of --db to recall from.")
    ] = None
    read_only: Annotated[bool, _option("--read-only", help="Write nothing to the file.")] = False
    config: Annotated[
        str | None,
        _option("--config", metavar="FILE", help="A settings file, trusted; else ./memorata.toml."),
    ] = None

    def over(self, before: GlobalOptions) -> GlobalOptions:
        """Return the options that hold where these come after those of `before`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(
            before, **{name: value for name, value in values.items() if value not in (None, False)}
        )


class Session:
    """What a command works with: its options, its output, the settings and the memory."""

    def __init__(self, options: GlobalOptions) -> None:
        self.options = options
        self.output = Output(json=options.json, quiet=options.quiet)

    @cached_property
    def settings(self) -> Settings:
        """The settings; options of the command line come before everything else."""
        from memorata.engine.gc_pause import gc_paused

        with gc_paused():
            from memorata.engine.settings import Settings

        arguments = {
            name: getattr(self.options, name)
            for name in ("db", "replica", "namespace", "embedder", "analyser")
        }
        values: dict[str, Any] = {name: value for name, value in arguments.items() if value is not None}
        values |= {"read_only": True} if self.options.read_only else {}
        return Settings(config=self.options.config, **values)

    @property
    def api_key(self) -> str | None:
        """The API key of the settings, for a service that a command names itself."""
        key = self.settings.api_key
        return None if key is None else key.get_secret_value()

    @contextmanager
    def memory(
        self,
        *,
        create: bool = False,
        embed: bool = False,
        reranker: str | None = None,
        prompts: str | None = None,
        redact: bool | None = None,
    ) -> Iterator[Engine]:
        """Open the memory for the length of a block.

        With `create`, a missing database is created, with its folder if it is the default one; `embed` opens
        the embedder; `reranker`, `prompts` and `redact` take the place of those of the settings.
        """
        settings = self.settings
        overrides = {"reranker": reranker, "prompts": prompts, "redact": redact}
        if changes := {name: value for name, value in overrides.items() if value is not None}:
            settings = settings.model_copy(update=changes)
        path = settings.db
        if create and isinstance(path, Path) and settings.origin("db") == "default":
            try:
                make_folder(path.parent)
            except OSError as error:
                raise StoreUnavailable(
                    f"the folder {path.parent} cannot be made ({error.strerror}); name another file with --db"
                ) from error
        if not create and not path.exists() and str(path) != ":memory:":
            raise StoreUnavailable(
                f'there is no database at {path} yet; remember something first (memorata remember "…"), '
                "or name another file with --db"
            )
        new = not path.exists()
        with settings.open(must_exist=not create, embed=embed) as engine:
            if new:
                self.output.say(f"A new memory, in {path}")
            for note in engine.notes:
                self.output.say(f"Note: {note}")
            yield engine.through("cli")

    def confirm(
        self, question: str, *, yes: bool, lines: Sequence[str] = (), refused: str = "Nothing was removed."
    ) -> bool:
        """Return whether the user agrees, without asking if `yes`; `lines` are shown before the question."""
        if yes:
            return True
        if not sys.stdin.isatty():
            raise NotGiven("--yes", "where there is no terminal to ask at")
        for line in lines:
            self.output.errors.print(line)
        if typer.confirm(question, err=True):
            return True
        self.output.say(refused)
        return False

    def leave(self, code: int, note: str = "") -> NoReturn:
        """End the command with an exit code, after a note if there is one."""
        if note:
            self.output.say(note)
        raise typer.Exit(code)
