"""How a function becomes a command: the options every command takes, and errors as one clear line.

A command is a function whose first argument is a :class:`~memorata.cli.session.Session`. The options of
:class:`~memorata.cli.session.Given` are added to its signature, so that they work after the name of the
command as well as before it.
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

from memorata.cli.failures import INTERRUPTED, STORE, USAGE, exit_code
from memorata.cli.flags import Command
from memorata.cli.session import Given, Session

EVERYWHERE: Final = "Options of every command"

Db = Annotated[
    str | None,
    typer.Option(
        "--db", metavar="PATH", help="The file the memories are in, or postgresql://… for a server.",
        rich_help_panel=EVERYWHERE,
    ),
]  # fmt: skip
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace", "-n", metavar="PATH", help="Whose memories, such as acme/alice.",
        rich_help_panel=EVERYWHERE,
    ),
]  # fmt: skip
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder", metavar="NAME", help="What measures meaning: auto, builtin, lexical, a model, …",
        rich_help_panel=EVERYWHERE,
    ),
]  # fmt: skip
Replica = Annotated[
    str | None,
    typer.Option(
        "--replica", metavar="URL", help="A server that repeats what --db writes, to recall from.",
        rich_help_panel=EVERYWHERE,
    ),
]  # fmt: skip
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="Write nothing to the file.", rich_help_panel=EVERYWHERE)
]
Config = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="FILE", help="A settings file, taken as it is; memorata.toml here otherwise.",
        rich_help_panel=EVERYWHERE,
    ),
]  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="Results as JSON.", rich_help_panel=EVERYWHERE)]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Only results and errors.", rich_help_panel=EVERYWHERE)
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show where an error came from.", rich_help_panel=EVERYWHERE)
]

_SHARED: Final = {
    "db": (Db, None),
    "namespace": (Namespace, None),
    "embedder": (Embedder, None),
    "json": (Json, False),
    "quiet": (Quiet, False),
    "debug": (Debug, False),
    "replica": (Replica, None),
    "read_only": (ReadOnly, False),
    "config": (Config, None),
}


def command(
    app: typer.Typer, name: str, panel: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that makes a function the command `name` of `app`.

    Parameters
    ----------
    app
        The application or the group of commands.
    name
        What people type.
    panel
        The heading under which the command is listed.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

        @functools.wraps(function)
        def run(ctx: typer.Context, **arguments: Any) -> None:  # noqa: ANN401 - as declared
            local = Given(**{option: arguments.pop(option) for option in _SHARED})
            session = Session(local.over(ctx.obj) if isinstance(ctx.obj, Given) else local)
            guarded(session, functools.partial(function, session, **arguments))

        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter("ctx", keyword, annotation=typer.Context),
            *(parameter.replace(kind=keyword) for parameter in own),
            *(
                inspect.Parameter(option, keyword, default=default, annotation=kind)
                for option, (kind, default) in _SHARED.items()
            ),
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(name, cls=Command, rich_help_panel=panel)(run)
        return function

    return decorate


def guarded(session: Session, work: Callable[[], None]) -> None:
    """Do the work of a command; what can go wrong becomes one line and an exit code."""
    try:
        work()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads the results has had enough of them, as in `memorata list | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        session.leave(0)
    except KeyboardInterrupt:
        session.output.fail("interrupted")
        session.leave(INTERRUPTED)
    except Exception as error:
        said = _explained(error)
        if said is None:
            raise
        if session.given.debug:
            traceback.print_exc()
        session.output.fail(said[1])
        session.leave(said[0])


def _explained(error: Exception) -> tuple[int, str] | None:
    """Return the exit code and the words for an error that people can cause; None for one they cannot."""
    import sqlite3

    from memorata.model.errors import MemorataError

    if isinstance(error, MemorataError):
        return exit_code(error), str(error)
    if isinstance(error, sqlite3.Error):
        return STORE, f"the database says: {error}"
    if isinstance(error, OSError):
        name = "" if error.filename is None else f"{error.filename}: "
        return USAGE, f"{name}{error.strerror or error}"
    return None
