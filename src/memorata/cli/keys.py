"""Keys to the server: create, list, revoke."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memorata.cli.arguments import instant
from memorata.cli.command import command
from memorata.cli.flags import Group
from memorata.cli.output import visible
from memorata.cli.session import Session

if TYPE_CHECKING:
    from datetime import datetime

    from memorata.engine.access import ApiKeys
    from memorata.store.access import ApiKey

_SCOPES: Final = "read, write or admin"

Name = Annotated[str, typer.Argument(metavar="NAME", help="What people call the key.")]
Scope = Annotated[
    list[str] | None,
    typer.Option("--scope", "-s", help=f"What it may do: {_SCOPES}; each holds the one before."),
]
Expires = Annotated[str | None, typer.Option("--expires", metavar="TIME", help="Until when it is good.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the key.")]


def register(app: typer.Typer) -> None:
    """Add the group of commands to the application."""
    group = typer.Typer(cls=Group, no_args_is_help=True, help="Keys to the server.")
    command(group, "create")(create)
    command(group, "list")(list_)
    command(group, "revoke")(revoke)
    app.add_typer(group, name="key", rich_help_panel="For programs")


def create(session: Session, name: Name, scope: Scope = None, expires: Expires = None) -> None:
    """Make a key for the namespaces that --namespace names, such as 'acme/*'; its token is shown once."""
    from memorata.model.errors import NotGiven
    from memorata.service.codec import key_json

    until = instant("--expires", expires)
    given = session.given.namespace
    if given is None:
        raise NotGiven("--namespace", "as acme/alice, 'acme/*', '*', or several with commas")
    with _api_keys(session) as keys:
        key, token = keys.create(name, given.split(","), scope or ["read"], expires_at=until)
    output = session.output
    if output.json:
        output.data({**key_json(key), "token": token})
    else:
        output.line(token)
        output.say("Keep it: the database holds only its digest, and it is not shown again")


def list_(session: Session) -> None:
    """List the keys, revoked ones too."""
    from datetime import UTC, datetime

    from memorata.service.codec import key_json

    with _api_keys(session) as api_keys:
        keys = api_keys.list()
    output, now = session.output, datetime.now(UTC)
    if output.json:
        output.data({"keys": [key_json(key) for key in keys]})
        return
    for key in keys:
        said = (key.id, visible(key.name), ",".join(key.namespaces), ",".join(key.scopes), _state(key, now))
        output.line("\t".join(said))
    if not keys:
        output.say("There is no key yet; memorata key create makes one")


def revoke(session: Session, id: Id) -> None:
    """End a key; a server that is running notices within two seconds."""
    with _api_keys(session) as keys:
        keys.revoke(id)
    if session.output.json:
        session.output.data({"revoked": id})
    else:
        session.output.line(f"revoked {visible(id)}")


@contextmanager
def _api_keys(session: Session) -> Iterator[ApiKeys]:
    from memorata.engine.access import ApiKeys

    # Here --namespace is a pattern, which is no namespace to open.
    opening = Session(replace(session.given, namespace=None))
    with opening.memory(create=True) as engine:
        yield ApiKeys(engine.store)


def _state(key: ApiKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "good" if key.holds_at(now) else "expired"
