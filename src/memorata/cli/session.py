"""One run of a command: what was asked for everywhere, the settings, and the memory it opens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from memorata._frozen import frozen
from memorata.cli.output import Output

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.engine.settings import Settings


@frozen
class Given:
    """The options that every command takes; None or False where they were not given."""

    db: str | Path | None = None
    namespace: str | None = None
    embedder: str | None = None
    json: bool = False
    quiet: bool = False
    debug: bool = False
    replica: str | None = None
    read_only: bool = False
    config: str | None = None

    def over(self, before: Given) -> Given:
        """Return what holds when these options were given after others.

        Examples
        --------
        >>> Given(namespace="b").over(Given(namespace="a", json=True))
        Given(db=None, namespace='b', embedder=None, json=True, quiet=False, debug=False, replica=None,
        read_only=False, config=None)
        """
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(before, **{name: value for name, value in given.items() if value not in (None, False)})


class Session:
    """What a command works with.

    Parameters
    ----------
    given
        The options that every command takes.
    """

    def __init__(self, given: Given) -> None:
        self.given = given
        self.output = Output(json=given.json, quiet=given.quiet)

    @cached_property
    def settings(self) -> Settings:
        """The settings, with what was given on the command line before everything else."""
        from memorata.engine.gc_pause import gc_paused

        with gc_paused():
            from memorata.engine.settings import Settings

        named = {name: getattr(self.given, name) for name in ("db", "replica", "namespace", "embedder")}
        given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        given |= {"read_only": True} if self.given.read_only else {}
        return Settings(config=self.given.config, **given)

    @contextmanager
    def memory(
        self, *, create: bool = False, embed: bool = False, reranker: str | None = None
    ) -> Iterator[Engine]:
        """Open the memory for the length of a block.

        Parameters
        ----------
        create
            Whether a database that is not there is made; its folder too, if it is the usual place.
        embed
            Whether meaning is needed.
        reranker
            What reads the best candidates again, if not what the settings say.
        """
        from memorata.model.errors import StoreUnavailable

        settings = self.settings
        if reranker is not None:
            settings = settings.model_copy(update={"reranker": reranker})
        path = settings.db
        if create and isinstance(path, Path) and settings.origin("db") == "default":
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
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
            yield engine

    def leave(self, code: int) -> NoReturn:
        """End the command with an exit code."""
        raise typer.Exit(code)
