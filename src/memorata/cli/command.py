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
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

from memorata.cli.options import json_object, time_of
from memorata.cli.session import GlobalOptions, Session
from memorata.model.errors import MemorataError
from memorata.service.errors import STORE, USAGE, kind_of

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
