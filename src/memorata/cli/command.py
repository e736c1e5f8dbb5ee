"""Functions as commands: the options every command takes, and errors as one line and an exit code.

A command is a function whose first argument is a :class:`~memorata.cli.command.Session`. The options of
:class:`~memorata.cli.command.GlobalOptions` are added to its signature, so that they work after the name of
the command as well as before it.

======  ==============================================================================
``0``   success
``1``   not found: no memory answers the query, or nothing has that id or name
``2``   usage: a bad option, value, file or filter
``3``   the database cannot do it: missing, damaged, locked, read-only
``4``   the embedder, a model or an optional package cannot be used
``5``   ``memorata admin check`` found a problem
``130`` interrupted with Ctrl-C
======  ==============================================================================
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import fields, replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, get_args, get_origin, get_type_hints

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

from memorata._environment import make_folder
from memorata._frozen import frozen
from memorata.cli.options import json_object, time_of
from memorata.cli.output import Output
from memorata.model.errors import MemorataError, NotGiven, StoreUnavailable
from memorata.service.errors import STORE, USAGE, kind_of

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
        return self.settings.api_key

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
            settings = settings.changed(**changes)
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
            yield engine.scope(via="cli")

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


UNSOUND: Final = 5
INTERRUPTED: Final = 130

_KEYWORD: Final = inspect.Parameter.KEYWORD_ONLY
_GLOBAL: Final = [
    inspect.Parameter(name, _KEYWORD, default=getattr(GlobalOptions(), name), annotation=annotation)
    for name, annotation in get_type_hints(GlobalOptions, include_extras=True).items()
]
Parser = Callable[[str | None], object]
_PARSERS: Final[dict[type, tuple[str, Callable[[str, str | None], object]]]] = {
    datetime: ("TIME", time_of),
    dict: ("JSON", json_object),
}
"""By the type of a parameter, the metavar of its option and what reads its text."""


class _PlainFlags:
    """Clears the metavar of flags: typer writes ``<bool>`` behind them, as if a value had to follow."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - typer keeps its context's type to itself
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
        return parameters


class Command(_PlainFlags, TyperCommand):
    """A command whose help shows flags by their names alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as in `get_params`
        """Parse the arguments; where a text is missing or begins with -, the error says how to give it."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            # A missing parameter is the one error without a message of its own.
            if not error.message and "stdin" in (getattr(error.param, "help", None) or ""):
                error.message = "Use - to read it from stdin."
            raise
        except Exception as error:
            # typer exports no name for the error of an unknown option, which alone has possibilities.
            unknown: Any = error
            takes_text = any(parameter.param_type_name == "argument" for parameter in self.params)
            if takes_text and not getattr(error, "possibilities", True):
                unknown.message += ". Put -- before a text that begins with a dash."
            raise


class Group(_PlainFlags, TyperGroup):
    """A group of commands whose help shows flags by their names alone."""


def add_command(app: typer.Typer, name: str, panel: str | None, function: Callable[..., None]) -> None:
    """Add a function, whose first argument is the session, to `app` as a command under a heading."""
    parameters, parsers = _declared(function)

    def run(ctx: typer.Context, **arguments: Any) -> None:  # noqa: ANN401 - as declared
        options = GlobalOptions(**{option.name: arguments.pop(option.name) for option in _GLOBAL})
        session = Session(options.over(ctx.obj) if isinstance(ctx.obj, GlobalOptions) else options)

        def work() -> None:
            parsed = {name: parse(arguments[name]) for name, parse in parsers.items()}
            function(session, **{**arguments, **parsed})

        guarded(session, work)

    added = with_global_options(functools.wraps(function)(run), parameters)
    app.command(name, cls=Command, rich_help_panel=panel)(added)


def with_global_options(
    run: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Give `run` a signature of these parameters and of the options of every command."""
    signature = [
        inspect.Parameter("ctx", _KEYWORD, annotation=typer.Context),
        *(parameter.replace(kind=_KEYWORD) for parameter in parameters),
        *_GLOBAL,
    ]
    run.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in signature}
    return run


def _declared(function: Callable[..., None]) -> tuple[list[inspect.Parameter], dict[str, Parser]]:
    """Return the parameters of a command as typer takes them, and the parsers of some of them.

    ``**options: Unpack[Group]`` stands for an option of every key of that typed dictionary. An option without
    a long name is called after its parameter. One of type datetime or dict is a text to typer, in ISO 8601 or
    in JSON, so that what is wrong with it is reported as any other error.
    """
    parameters: list[inspect.Parameter] = []
    parsers: dict[str, Parser] = {}
    for parameter in _expanded(function):
        type_, info = parameter.annotation, parameter.default
        decls: Sequence[str] = ()
        if get_origin(type_) is Annotated:
            type_, info = get_args(type_)
            decls = (info.default,)
        elif isinstance(info, OptionInfo):
            decls = info.param_decls or ()
            if not any(decl.startswith("--") for decl in decls):
                decls = (f"--{parameter.name.replace('_', '-')}", *decls)
            info.param_decls = decls
        kinds = [get_origin(kind) or kind for kind in (type_, *get_args(type_))]
        for kind in _PARSERS.keys() & kinds:
            info.metavar, parse = _PARSERS[kind]
            parsers[parameter.name] = functools.partial(parse, decls[0])
            text = str | None
            parameter = parameter.replace(
                annotation=text if info is parameter.default else Annotated[text, info]
            )
        parameters.append(parameter)
    return parameters, parsers


def _expanded(function: Callable[..., None]) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command but the session, those of a group of options one by one."""
    for parameter in list(inspect.signature(function, eval_str=True).parameters.values())[1:]:
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            yield parameter
            continue
        (group,) = get_args(parameter.annotation)
        for name, declared in get_type_hints(group, include_extras=True).items():
            type_, info = get_args(declared)
            yield inspect.Parameter(name, _KEYWORD, default=copy(info), annotation=type_)


def guarded(session: Session, work: Callable[[], None]) -> None:
    """Run a command; an error that users can cause becomes one line and an exit code."""
    try:
        work()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the results has closed the pipe, as in `memorata list | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        session.leave(0)
    except KeyboardInterrupt:
        session.output.fail("interrupted")
        session.leave(INTERRUPTED)
    except Exception as error:
        explained = _explain(error)
        if explained is None:
            raise
        if session.options.debug:
            traceback.print_exc()
        session.output.fail(explained[1])
        session.leave(explained[0])


def _explain(error: Exception) -> tuple[int, str] | None:
    """Return the exit code and the message of an error that users can cause; None for any other."""
    import sqlite3

    if isinstance(error, MemorataError):
        return kind_of(error).exit_code, str(error)
    if isinstance(error, sqlite3.Error):
        return STORE, f"the database says: {error}"
    if isinstance(error, OSError):
        name = "" if error.filename is None else f"{error.filename}: "
        return USAGE, f"{name}{error.strerror or error}"
    return None
