"""Functions as commands: the options every command takes, and errors as one line and an exit code.

A command is a function whose first argument is a :class:`~memorata.cli.session.Session`. The options of
:class:`~memorata.cli.session.GlobalOptions` are added to its signature, so that they work after the name of
the command as well as before it.

======  ==============================================================================
``0``   success
``1``   not found: no memory answers the query, or nothing has that id or name
``2``   usage: a bad option, value, file or filter
``3``   the database cannot do it: missing, damaged, locked, read-only
``4``   the embedder, a model or an optional package cannot be used
``5``   ``memorata check`` found a problem
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
from copy import copy
from datetime import datetime
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

from memorata.cli.options import json_object, time_of
from memorata.cli.session import GlobalOptions, Session
from memorata.model.errors import MemorataError

NOT_FOUND: Final = 1
USAGE_ERROR: Final = 2
STORE_ERROR: Final = 3
EMBEDDER_ERROR: Final = 4
UNSOUND: Final = 5
INTERRUPTED: Final = 130

_PANEL: Final = "Options of every command"
Parser = Callable[[str | None], object]
_PARSERS: Final[dict[type, tuple[str, Callable[[str, str | None], object]]]] = {
    datetime: ("TIME", time_of),
    dict: ("JSON", json_object),
}
"""By the type of a parameter, the metavar of its option and what reads its text."""


def _text(*names: str, metavar: str, help: str) -> tuple[Any, None]:
    return Annotated[str | None, Option(*names, metavar=metavar, help=help, rich_help_panel=_PANEL)], None


def _flag(*names: str, help: str) -> tuple[Any, bool]:
    return Annotated[bool, Option(*names, help=help, rich_help_panel=_PANEL)], False


_GLOBAL: Final[dict[str, tuple[Any, bool | None]]] = {
    "db": _text("--db", metavar="PATH", help="The database: a file, or postgresql://… for a server."),
    "namespace": _text("--namespace", "-n", metavar="PATH", help="The namespace, such as acme/alice."),
    "embedder": _text("--embedder", metavar="NAME", help="auto, builtin, lexical, a model, …"),
    "analyser": _text("--analyser", metavar="NAME", help="For a new store: snowball (otherwise) or plain."),
    "json": _flag("--json", help="Results as JSON."),
    "quiet": _flag("--quiet", "-q", help="Only results and errors."),
    "debug": _flag("--debug", help="Show the traceback of an error."),
    "replica": _text("--replica", metavar="URL", help="A replica of --db to recall from."),
    "read_only": _flag("--read-only", help="Write nothing to the file."),
    "config": _text("--config", metavar="FILE", help="A settings file, trusted; else ./memorata.toml."),
}


def _without_types(parameters: list[Any]) -> list[Any]:
    """Clear the metavar of flags: typer writes ``<bool>`` behind them, as if a value had to follow."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


class Command(TyperCommand):
    """A command whose help shows flags by their names alone."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - typer keeps its context's type to itself
        """Return the arguments and options, ``--help`` among them."""
        return _without_types(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands whose help shows flags by their names alone."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - typer keeps its context's type to itself
        """Return the arguments and options, ``--help`` among them."""
        return _without_types(super().get_params(ctx))


def add_command(app: typer.Typer, name: str, panel: str | None, function: Callable[..., None]) -> None:
    """Add a function, whose first argument is the session, to `app` as a command under a heading."""
    parameters, parsers = _declared(function)

    def run(ctx: typer.Context, **arguments: Any) -> None:  # noqa: ANN401 - as declared
        options = GlobalOptions(**{name: arguments.pop(name) for name in _GLOBAL})
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
    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = [
        inspect.Parameter("ctx", keyword, annotation=typer.Context),
        *(parameter.replace(kind=keyword) for parameter in parameters),
        *(
            inspect.Parameter(name, keyword, default=default, annotation=annotation)
            for name, (annotation, default) in _GLOBAL.items()
        ),
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
            yield inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=copy(info), annotation=type_
            )


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


def exit_code(error: Exception) -> int:
    """Return the exit code of one of Memorata's errors."""
    # Imported here, for `memorata --help` must not wait for numpy.
    from memorata.service.errors import kind_of

    return kind_of(error).exit_code


def _explain(error: Exception) -> tuple[int, str] | None:
    """Return the exit code and the message of an error that users can cause; None for any other."""
    import sqlite3

    if isinstance(error, MemorataError):
        return exit_code(error), str(error)
    if isinstance(error, sqlite3.Error):
        return STORE_ERROR, f"the database says: {error}"
    if isinstance(error, OSError):
        name = "" if error.filename is None else f"{error.filename}: "
        return USAGE_ERROR, f"{name}{error.strerror or error}"
    return None
