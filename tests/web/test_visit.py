"""Addresses carry the namespace where it is not the usual one, and leave out what is empty."""

from dataclasses import replace
from datetime import UTC, datetime

from memorata.engine import Engine
from memorata.service.jobs import Jobs
from memorata.web.values import Values
from memorata.web.visit import Room, Visit

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def visit(engine: Engine, **more: object) -> Visit:
    plain = Visit(engine, "default", ("default",), Values({}), "/", {}, "", "token", NOW, Jobs(lambda: NOW))
    return replace(plain, **more)  # type: ignore[arg-type]


def test_addresses(engine: Engine) -> None:
    here = visit(engine)
    assert here.url("/memories/a b") == "/memories/a%20b"
    assert (
        here.url("/", {"q": "ä&b", "recipe": ""}, limit=None, tag=("x", "y")) == "/?q=%C3%A4%26b&tag=x&tag=y"
    )
    assert visit(engine, namespace="acme/bob").url("/map") == "/map?ns=acme%2Fbob"
    assert visit(engine, prefix="/web").url("/map") == "/web/map"


def test_a_name_of_dots_is_no_way_up(engine: Engine) -> None:
    here = visit(engine)
    assert here.url("/memories/a/../b") == "/memories/a%2F../b"
    assert here.url("/memories/./b/act") == "/memories%2F./b/act"
    assert here.url("/memories/..") == "/memories%2F.."
    assert here.url("/memories/.../.b") == "/memories/.../.b"


def test_going_on(engine: Engine) -> None:
    assert visit(engine).go("/x").status_code == 303
    fragment = visit(engine, fragment=True).go("/x")
    assert (fragment.status_code, fragment.headers["hx-redirect"]) == (204, "/x")


def test_whoever_only_looks_needs_to_read() -> None:
    def nothing(visit: Visit) -> None:
        raise NotImplementedError

    assert Room("/", nothing).scope == "read"  # type: ignore[arg-type]
    assert Room("/", nothing, "POST").scope == "write"  # type: ignore[arg-type]
