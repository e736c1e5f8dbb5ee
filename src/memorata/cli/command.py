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
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

from memorata.cli.session import GlobalOptions, Session
from memorata.model.errors import MemorataError

NOT_FOUND: Final = 1
USAGE_ERROR: Final = 2
STORE_ERROR: Final = 3
EMBEDDER_ERROR: Final = 4
UNSOUND: Final = 5
INTERRUPTED: Final = 130

_PANEL: Final = "Options of every command"


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


def add_commands(app: typer.Typer, panel: str | None, *functions: Callable[..., None]) -> None:
    """Add functions as commands of `app` under a heading; ``list_`` becomes ``list``, ``a_b`` ``a-b``."""
    for function in functions:

        def run(ctx: typer.Context, function: Callable[..., None] = function, **arguments: Any) -> None:  # noqa: ANN401
            options = GlobalOptions(**{name: arguments.pop(name) for name in _GLOBAL})
            session = Session(options.over(ctx.obj) if isinstance(ctx.obj, GlobalOptions) else options)
            guarded(session, functools.partial(function, session, **arguments))

        name = function.__name__.strip("_").replace("_", "-")
        added = with_global_options(functools.wraps(function)(run), function)
        app.command(name, cls=Command, rich_help_panel=panel)(added)


def add_group(
    app: typer.Typer, name: str, help: str, panel: str, *functions: Callable[..., None]
) -> typer.Typer:
    """Add a group of commands to `app`, and return it."""
    group = typer.Typer(cls=Group, no_args_is_help=True, help=help)
    add_commands(group, None, *functions)
    app.add_typer(group, name=name, rich_help_panel=panel)
    return group


def with_global_options(run: Callable[..., None], function: Callable[..., None]) -> Callable[..., None]:
    """Give `run` the options of `function`, all but its first argument, and those of every command."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    parameters = [
        inspect.Parameter("ctx", keyword, annotation=typer.Context),
        *(
            parameter.replace(kind=keyword)
            for parameter in own
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ),
        *(
            inspect.Parameter(name, keyword, default=default, annotation=annotation)
            for name, (annotation, default) in _GLOBAL.items()
        ),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


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
